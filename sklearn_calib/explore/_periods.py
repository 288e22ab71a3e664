"""Periods: days, weeks, months, quarters and years, without gaps."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import date as Date
from typing import Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.explore._keys import is_hashable

# A letter of the calendar; or a function of a document, of the tokens of a sentence; or None.
Period = str | Callable[[Any], Hashable] | None

PERIODS = {"D": "day", "W": "week", "M": "month", "Q": "quarter", "Y": "year"}

# More than this is a slip in a date, not a corpus.
_MOST = 100_000

# How precise a date must be.
_NEEDS = {"D": "D", "W": "D", "M": "DM", "Q": "DM", "Y": "DMY"}


class UndatedError(ValueError):
    """A document has no date, or one that is too coarse for the period."""


def check_period(period: Period, other: str = "a function of a document") -> Period:
    """Refuse a period that is neither known nor callable; `other` is what else it may be."""
    known = period is None or callable(period) or (isinstance(period, str) and period in PERIODS)
    if not known:
        names = ", ".join(f"{letter!r} ({name})" for letter, name in PERIODS.items())
        raise ValueError(
            f"period={period!r} is not known; it should be one of {names}, None for a single "
            f"period, or {other}."
        )
    return period


def period_of(item: object, date: np.datetime64 | None, period: Period, *, name: str) -> Hashable:
    """Return the number of the period of a date, or what a function says of the item.

    `name` is what messages call the item.
    """
    if period is None:
        return "all"
    if callable(period):
        found = period(item)
        if found is None:
            raise UndatedError(f"{name} has no period: the function returned None.")
        if not is_hashable(found):
            raise TypeError(
                f"{name}: its period {found!r} is not hashable. Return a str, a number or a tuple."
            )
        return found
    if date is None:
        raise UndatedError(f"{name} has no date, so that its {PERIODS[period]} is not known.")
    unit = np.datetime_data(date.dtype)[0]
    if unit not in _NEEDS[period]:
        raise UndatedError(f"{name} is dated {date}, so that its {PERIODS[period]} is not known.")
    if period in "DW":
        day = int(date.astype("datetime64[D]").astype(int))
        return day if period == "D" else (day + 3) // 7  # 1970-01-01 was a Thursday
    return int(date.astype("datetime64[M]").astype(int)) // {"M": 1, "Q": 3, "Y": 12}[period]


def span(found: Sequence[Hashable], period: Period, names: Sequence[str]) -> tuple[Array, Array]:
    """Return the periods in order, and the place of each document among them.

    Periods of the calendar run from the first to the last without gaps.
    """
    if isinstance(period, str):
        codes = np.array(found, dtype=np.int64)
        if len(codes) == 0:
            return np.empty(0, dtype="datetime64[D]"), codes
        first, last = int(codes.min()), int(codes.max())
        if last - first >= _MOST:
            raise ValueError(
                f"The documents run from the {PERIODS[period]} of {start_of(first, period)} "
                f"({names[int(codes.argmin())]!r}) to that of {start_of(last, period)} "
                f"({names[int(codes.argmax())]!r}), more than {_MOST:,} periods. Is a date wrong? "
                "Otherwise use a longer period."
            )
        starts = [start_of(code, period) for code in range(first, last + 1)]
        return np.array(starts, dtype="datetime64[D]"), codes - first
    distinct: list[Any] = list(dict.fromkeys(found))
    try:
        distinct.sort()
    except TypeError:  # of several kinds, which have no order
        distinct.sort(key=str)
    place = {value: i for i, value in enumerate(distinct)}
    periods = np.empty(len(distinct), dtype=object)
    periods[:] = distinct
    return periods, np.array([place[value] for value in found], dtype=np.int64)


# How periods of the calendar are written.
_WRITTEN = {
    "Y": re.compile(r"\d{4}"),
    "M": re.compile(r"\d{4}-(0[1-9]|1[0-2])"),
    "D": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "Q": re.compile(r"(\d{4})-?Q([1-4])"),
    "W": re.compile(r"(\d{4})-?W(\d{2})"),
}


def spanned(found: Sequence[Hashable], names: Sequence[str]) -> tuple[Period, Array, Array]:
    """Return what periods are, the periods in order, and the place of each entry.

    Texts that are all written as one kind of period of the calendar, such as
    2003-Q1, are such periods, and run without gaps; anything else is a name.
    """
    texts = [str(value) for value in dict.fromkeys(found)]
    for letter, pattern in _WRITTEN.items():
        matches = [pattern.fullmatch(text) for text in texts]
        if texts and all(matches):
            code = {
                value: _code_of(match, letter)
                for value, match in zip(dict.fromkeys(found), matches, strict=True)
            }
            return letter, *span([code[value] for value in found], letter, names)
    return None, *span(found, None, names)


def _code_of(match: Any, letter: str) -> Hashable:
    """Return the number of a period of the calendar from the way it is written."""
    if letter == "Q":
        return (int(match.group(1)) - 1970) * 4 + int(match.group(2)) - 1
    date = np.datetime64(match.group()) if letter != "W" else _monday(match.groups())
    return period_of(None, date, letter, name="A document")


def _monday(week: tuple[str, str]) -> np.datetime64:
    return np.datetime64(Date.fromisocalendar(int(week[0]), int(week[1]), 1))


def start_of(code: int, period: str) -> np.datetime64:
    """Return the first day of a period."""
    if period == "D":
        return np.datetime64(code, "D")
    if period == "W":
        return np.datetime64(code * 7 - 3, "D")
    months = code * {"M": 1, "Q": 3, "Y": 12}[period]
    return np.datetime64(months, "M").astype("datetime64[D]")


def end_of(starts: Array, period: str) -> Array:
    """Return the first day after each period."""
    if period in "DW":
        return starts + np.timedelta64(1 if period == "D" else 7, "D")
    months = np.timedelta64({"M": 1, "Q": 3, "Y": 12}[period], "M")
    return (starts.astype("datetime64[M]") + months).astype("datetime64[D]")


# Which longer periods are made of whole shorter ones. Weeks run across months and years.
_LONGER = {"D": "WMQY", "W": "", "M": "QY", "Q": "Y", "Y": ""}


def longer_periods(period: Period) -> str:
    """Return the periods of the calendar that are made of whole periods of this kind."""
    return _LONGER[period] if isinstance(period, str) else ""


def coarsened(periods: Array, period: str, wanted: str) -> tuple[Array, Array]:
    """Return the longer periods, and in which of them each of the shorter ones lies."""
    found = [period_of(None, start, wanted, name="A period") for start in periods]
    return span(found, wanted, [label_of(start, period) for start in periods])


def label_of(value: Any, period: Period) -> str:
    """Return a period as it is written: 2003-Q1, 2003-W05, 2003-02, 2003 or 2003-02-14."""
    if not isinstance(period, str):
        return str(value)
    date = value.item()
    if period == "W":
        year, week, _ = date.isocalendar()
        return f"{year}-W{week:02d}"
    if period == "Q":
        return f"{date.year}-Q{(date.month + 2) // 3}"
    return {"D": date.isoformat(), "M": date.isoformat()[:7], "Y": f"{date.year:04d}"}[period]


def places_of(wanted: Hashable | Iterable[Hashable], periods: Array, period: Period) -> Array:
    """Return the places of the periods that names or dates stand for: one of them or a list."""
    values: list[object] = [wanted]
    if isinstance(wanted, Iterable) and not isinstance(wanted, str):
        values = list(wanted)
    if not values:
        raise ValueError("A list of periods is empty; leave it out to take all periods.")
    labels = [label_of(value, period) for value in periods]
    return np.concatenate([_places_of_one(value, labels, periods, period) for value in values])


def _places_of_one(value: Any, labels: list[str], periods: Array, period: Period) -> Array:
    if isinstance(period, str) and isinstance(value, (int, np.integer)):
        value = f"{value:04d}"  # a year
    found = [i for i, label in enumerate(labels) if label == value]
    if not found and isinstance(period, str):
        try:
            date = np.datetime64(value)
        except ValueError:
            date = np.datetime64("NaT", "D")
        if not np.isnat(date):
            if np.datetime_data(date.dtype)[0] not in "YMWD":
                date = date.astype("datetime64[D]")
            first = date.astype("datetime64[D]")
            one = np.array(1).astype(f"timedelta64[{np.datetime_data(date.dtype)[0]}]")
            after = (date + one).astype("datetime64[D]")
            found = np.flatnonzero((periods < after) & (end_of(periods, period) > first)).tolist()
    elif not found:
        found = [i for i, name in enumerate(periods) if name == value]
    if not found:
        raise ValueError(
            f"There is no period {value!r}; the periods are {labels[0]!r} to {labels[-1]!r}."
        )
    return np.array(found)
