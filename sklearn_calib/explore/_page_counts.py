"""The numbers of a page of counts: series by period, and the documents behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_calib._results import percent
from sklearn_calib._validation import Array
from sklearn_calib.explore._corrected import CorrectedPosterior
from sklearn_calib.explore._keys import key_name
from sklearn_calib.explore._periods import PERIODS, longer_periods
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._reading_plan import ReadingPlan

# Rows of the lists of documents that a page holds, and numbers of each kind in its series.
_MOST_ROWS = 60_000
_MOST_NUMBERS = 200_000
# Characters that are kept of a title.
_TITLE = 200


@dataclass(frozen=True, eq=False)
class Listed:
    """The hits and the documents that a page lists one by one; others are there as numbers.

    Attributes
    ----------
    keys : list of int
        Places of the keys that the page shows, most common first.
    rows : ndarray of int
        The hits.
    documents : ndarray of int
        Places of the documents: of these hits, of the plan, and those that were
        read. In the order in which their texts are wanted.
    """

    keys: list[int]
    rows: Array
    documents: Array


def listed(plain: CountPosterior, plan: ReadingPlan | None, read: Array, n_keys: int) -> Listed:
    """Choose what is listed: the likeliest and the least certain of each count.

    `read` has the places of documents that were read. What is in a plan comes
    first, in the order of reading.
    """
    order = np.argsort(-plain.mean.sum(axis=0), kind="stable")
    most = max(1, _MOST_NUMBERS // max(len(plain.periods), 1))
    keys = order[: min(n_keys, most)].tolist()
    rows = np.flatnonzero(np.isin(plain.hit_key, keys))
    cell = plain._cell[rows]
    rank = np.minimum(
        _rank_within(cell, -plain.hits.mean[rows]),
        _rank_within(cell, -np.nan_to_num(plain.hits.spread[rows])),
    )
    by_rank = rows[np.argsort(rank, kind="stable")][:_MOST_ROWS]
    planned = np.empty(0, dtype=np.intp)
    if plan is not None:
        place = {name: i for i, name in enumerate(plain.documents)}
        planned = np.array([place[name] for name in plan.documents], dtype=np.intp)
    wanted = np.concatenate([planned, read, plain.hit_document[by_rank]])
    documents, first = np.unique(wanted, return_index=True)
    return Listed(keys, np.sort(by_rank), documents[np.argsort(first)])


def _rank_within(cell: Array, value: Array) -> Array:
    """Return the place of each value among those of its cell, smallest first."""
    order = np.lexsort((value, cell))
    start = np.flatnonzero(np.diff(cell[order], prepend=-1))
    rank = np.empty(len(cell), dtype=np.int64)
    rank[order] = np.arange(len(cell)) - np.repeat(start, np.diff(start, append=len(cell)))
    return rank


def _numbers(values: Array) -> list[Any]:
    """Return numbers as JSON has them: whole ones without a point, unknown ones as null."""
    return [
        [None if v != v else int(v) if v == int(v) else v for v in row]
        for row in np.atleast_2d(values).tolist()
    ]


def _short(values: Array) -> list[float]:
    """Return probabilities to six digits."""
    return [float(f"{value:.6g}") for value in np.nan_to_num(values).tolist()]


def _series(posterior: CountPosterior, keys: list[int], level: float) -> dict[str, Any]:
    """Return the counts of the keys, one list a key with one number a period."""
    interval = posterior._unknown_interval()
    if posterior.n_samples != 1:
        interval = posterior._interval(level, "auto")
    found = {
        "mean": _numbers(posterior.mean.T[keys]),
        "low": _numbers(interval.low.T[keys]),
        "high": _numbers(interval.high.T[keys]),
    }
    if posterior.best is not None:
        found["best"] = _numbers(posterior.best.T[keys])
    return found


def _grain(
    plain: CountPosterior, corrected: CorrectedPosterior | None, keys: list[int], level: float
) -> dict[str, Any]:
    """Return the counts by periods of one kind."""
    kind = PERIODS[plain.period] if isinstance(plain.period, str) else "period"
    dated = isinstance(plain.period, str)
    return {
        "kind": kind,
        "labels": plain.period_labels,
        "starts": [str(start) for start in plain.periods] if dated else None,
        "documents": plain.n_documents.tolist(),
        "plain": _series(plain, keys, level),
        "corrected": None if corrected is None else _series(corrected, keys, level),
    }


def _places(short: CountPosterior, long: CountPosterior) -> list[int]:
    """Return in which of the long periods each of the short ones lies."""
    if len(long.periods) == len(short.periods):
        return list(range(len(short.periods)))
    if not isinstance(long.period, str):
        return [0] * len(short.periods)
    after = np.searchsorted(long.periods, short.periods, side="right")
    return (after - 1).tolist()


def counts_data(
    plain: CountPosterior, corrected: CorrectedPosterior | None, found: Listed, level: float
) -> dict[str, Any]:
    """Return all numbers of a page."""
    grains = []
    for letter in ("", *longer_periods(plain.period), "all"):
        if letter == "all" and len(plain.periods) == 1:
            continue
        long, better = plain, corrected
        if letter == "all":
            long, better = plain.total(), None if corrected is None else corrected.total()
        elif letter:
            long = plain.coarser(letter)
            better = None if corrected is None else corrected.coarser(letter)
        grain = _grain(long, better, found.keys, level)
        grains.append({**grain, "of": _places(plain, long)})
    grains[-1]["kind"] = "all" if len(grains) > 1 else grains[-1]["kind"]
    return {
        "level": percent(level),
        "condition": plain.condition,
        "correctedCondition": None if corrected is None else corrected.condition,
        "keys": [key_name(plain.keys[i]) for i in found.keys],
        "otherKeys": len(plain.keys) - len(found.keys),
        "several": plain.hits.several,
        "samples": plain.n_samples,
        "grains": grains,
        "documents": _documents_data(plain, corrected, found),
        "rows": _rows_data(plain, corrected, found),
        "rest": _rest_data(plain, found),
    }


def _documents_data(
    plain: CountPosterior, corrected: CorrectedPosterior | None, found: Listed
) -> dict[str, Any]:
    places = found.documents.tolist()
    titles = plain.titles or ("",) * len(plain.documents)
    data: dict[str, Any] = {
        "id": [plain.documents[i] for i in places],
        "title": [titles[i][:_TITLE] for i in places],
        "period": plain.document_period[found.documents].tolist(),
    }
    if (plain.document_weight != 1.0).any():
        data["weight"] = plain.document_weight[found.documents].tolist()
    if corrected is not None and corrected.evidence.read is not None:
        data["read"] = np.flatnonzero(
            np.isin(found.documents, corrected.evidence.read.place)
        ).tolist()
    return data


def _rows_data(
    plain: CountPosterior, corrected: CorrectedPosterior | None, found: Listed
) -> dict[str, Any]:
    """Return one entry a hit: document, key, probability and standard deviation."""
    place = np.full(len(plain.documents), -1)
    place[found.documents] = np.arange(len(found.documents))
    column = np.full(len(plain.keys), -1)
    column[found.keys] = np.arange(len(found.keys))
    rows = found.rows
    mean, probability, spread = plain._hit_numbers
    data: dict[str, Any] = {
        "document": place[plain.hit_document[rows]].tolist(),
        "key": column[plain.hit_key[rows]].tolist(),
        "probability": _short(probability[rows]),
        "deviation": _short(spread[rows]),
    }
    if plain.hits.several:
        data["mean"] = _short(mean[rows])
    if plain.hit_best is not None:
        data["best"] = plain.hit_best[rows].tolist()
    if corrected is None:
        return data
    better = corrected._hit_numbers
    data["correctedProbability"] = _short(better.probability[rows])
    data["correctedDeviation"] = _short(better.standard_deviation[rows])
    if plain.hits.several:
        data["correctedMean"] = _short(better.mean[rows])
    read = corrected.evidence.read
    if read is None:
        return data
    # What a reader found where the model saw nothing.
    seen = set(zip(plain.hit_document.tolist(), plain.hit_key.tolist(), strict=True))
    for at, key in zip(*np.nonzero(read.counts), strict=True):
        document = int(read.place[at])
        if (document, int(key)) in seen or column[key] < 0:
            continue
        known = {
            "document": int(place[document]),
            "key": int(column[key]),
            "correctedProbability": 1,
            "correctedMean": int(read.counts[at, key]),
        }
        for name, values in data.items():
            values.append(known.get(name, 0))
    return data


def _rest_data(plain: CountPosterior, found: Listed) -> list[list[float]]:
    """Return what is not listed: period, key, number of documents and what they add."""
    shown = np.zeros(len(plain.hits), dtype=bool)
    shown[found.rows] = True
    column = {key: i for i, key in enumerate(found.keys)}
    rows = np.flatnonzero(~shown & np.isin(plain.hit_key, found.keys))
    cells, which, number = np.unique(plain._cell[rows], return_inverse=True, return_counts=True)
    total = np.bincount(which, (plain._weight * plain.hits.mean)[rows], minlength=len(cells))
    return [
        [cell // len(plain.keys), column[cell % len(plain.keys)], n, float(f"{adds:.6g}")]
        for cell, n, adds in zip(cells.tolist(), number.tolist(), total.tolist(), strict=True)
    ]


def plan_data(plan: ReadingPlan, found: Listed) -> dict[str, Any]:
    """Return the questions of a plan, one a document and key, in the order of reading."""
    plain = plan.posterior
    names = {plain.documents[i]: at for at, i in enumerate(found.documents.tolist())}
    questions = plan._questions()
    return {
        "fingerprint": f"{plain.fingerprint}-{plan.seed}",
        "documents": [names[name] for name in plan.documents],
        # As the file of answers names them, and as people read them.
        "keys": list(plan._key_names),
        "names": [key_name(key) for key in plan._key_names.values()],
        "question": [names[name] for name in questions["document"]],
        "period": questions["period"],
        "title": questions["title"],
        "key": questions["key"],
        "why": questions["why"],
        "answer": questions["answer"],
    }
