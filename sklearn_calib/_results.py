"""How every result object shows itself: as a line, as a table, in a notebook, as a picture."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame

Columns = Mapping[str, Sequence[Any] | np.ndarray[Any, Any]]

# Rows of a table that are shown as the last line of a notebook cell.
_SHOWN = 10

# What a terminal would obey and not show: control characters, marks that reverse the direction of
# writing, and halves of characters, which cannot be written at all.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class ConfidenceInterval(NamedTuple):
    """An interval, or one interval for each entry of an array.

    Examples
    --------
    >>> from sklearn_calib import ConfidenceInterval
    >>> low, high = ConfidenceInterval(0.1, 0.2)
    >>> low
    0.1
    """

    low: Any
    high: Any


class Result(ABC):
    """What a function returns: it reads well, and becomes a table.

    A result says in a sentence what was found, and has its numbers as columns
    of equal length. The sentence and, where `_shows_table` says so, the first
    rows are what a notebook shows.
    """

    _shows_table = True

    def _sentence(self) -> str:
        """Say in a line or two what was found; empty where the table says it all."""
        return ""

    @abstractmethod
    def _columns(self) -> Columns:
        """Return the numbers as columns."""

    def __repr__(self) -> str:
        return self._text(_SHOWN)

    def __str__(self) -> str:
        return self._text(2 * _SHOWN)

    def _text(self, most: int) -> str:
        table = format_table(self._columns(), most) if self._shows_table else ""
        return "\n".join(part for part in (table, self._sentence()) if part)

    def _repr_html_(self) -> str:
        table = html_table(self._columns(), _SHOWN) if self._shows_table else ""
        lines = escape(self._sentence()).replace("\n", "<br>")
        return table + (f"<p>{lines}</p>" if lines else "")

    def to_frame(self) -> DataFrame:
        """Return the numbers as a pandas DataFrame."""
        return to_frame(self._columns())


class PlottedResult(Result):
    """A result that has a picture."""

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the result.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options
            Further keywords of the display's `plot`.

        Returns
        -------
        display
            The drawn display.
        """
        # The one call that goes up the house: results do not know how they are drawn.
        return import_module("sklearn_calib.display").draw(self, ax=ax, **options)


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def percent(level: float) -> str:
    """Return a level as it is written: 95%, or 99.5%."""
    return f"{100.0 * level:g}%"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 sentence, or 2,012 sentences."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def pvalue_text(value: float) -> str:
    """Return a p-value as it is written."""
    # Below the smallest numbers there are, nothing is left but their order of size.
    return f"p = {value:.3g}" if value > 0.0 else "p < 1e-300"


def cell(value: Any, decimals: int = 4) -> str:
    """Return a value as it stands in a printed table."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        return f"{value:,.{decimals}f}"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    return printable(str(value))


def printable(text: str, keep: str = "") -> str:
    """Return text whose control characters are written out, so that a terminal shows them."""
    return _UNPRINTABLE.sub(
        lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text
    )


def _shown_rows(columns: Columns, most: int) -> list[list[str]]:
    """Return the columns as text; the middle of a long table is left out."""
    n = len(next(iter(columns.values())))
    shown = list(range(n))
    if n > most:
        shown = [*range(most // 2), -1, *range(n - most // 2, n)]
    rows = []
    for values in columns.values():
        decimals = _decimals([values[i] for i in shown if i >= 0])
        rows.append(["..." if i < 0 else cell(values[i], decimals) for i in shown])
    return rows


def _decimals(values: Sequence[Any]) -> int:
    """Return how many decimals the numbers of a column need: counts need fewer than shares."""
    sizes = [abs(float(value)) for value in values if isinstance(value, (float, np.floating))]
    sizes = [size for size in sizes if math.isfinite(size)]
    largest = max(sizes, default=0.0)
    if largest <= 1.0:
        return 4
    if all(size.is_integer() for size in sizes):
        return 0
    return 3 if largest < 10.0 else 2 if largest < 1000.0 else 1


def format_table(columns: Columns, most: int = 20) -> str:
    """Return a plain-text table with aligned columns; the middle of a long one is left out."""
    texts = [
        [name, *column] for name, column in zip(columns, _shown_rows(columns, most), strict=True)
    ]
    widths = [max(map(len, column)) for column in texts]
    return "\n".join(
        "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
        for row in zip(*texts, strict=True)
    )


def html_table(columns: Columns, most: int) -> str:
    """Return the same table as HTML."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = zip(*_shown_rows(columns, most), strict=True)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def to_frame(columns: Mapping[str, Any], index: Any = None) -> DataFrame:
    """Return a pandas DataFrame, or say how to get pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "to_frame() needs pandas, which is not installed: pip install pandas."
        ) from None
    return pd.DataFrame(dict(columns), index=index)
