"""Tests of perfect calibration whose level holds from eight queries on.

Where few surprises (answers that went against the prediction) are expected,
answers are drawn from the predictions themselves, every statistic is computed on
the same draws, and their combination is ranked among its own draws: an exact
test, ties and rare answers included. Where there are many, the limits of the
statistics are accurate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._inference._impossible import ImpossibleAnswers, impossible_answers
from sklearn_calib.metrics._inference._null_cells import NullCells
from sklearn_calib.metrics._inference._null_groups import dependent, flipped
from sklearn_calib.metrics._inference._null_law import DEPENDENT_UP_TO
from sklearn_calib.metrics._inference._null_statistics import (
    NullStatistics,
    cauchy_pvalue,
    cauchy_score,
    ranked_combination,
)
from sklearn_calib.metrics._inference._scanned_null import cells_in_memory, cells_of_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

# Up to so many expected surprises the null is drawn; beyond, the limits are accurate.
RESAMPLE_UP_TO = 5_000


@dataclass(frozen=True, eq=False)
class NullTest:
    """What a test found.

    `parts` are the p-values of the single statistics. `statistic` is that of a
    test of one statistic, and otherwise the combination of the parts. Where
    there are `impossible` answers, the p-value is 0.
    """

    statistic: float
    pvalue: float
    parts: dict[str, float]
    method: str
    impossible: ImpossibleAnswers = field(default_factory=ImpossibleAnswers)


def null_method(method: str, surprises: float) -> str:
    """Return the method that "auto" stands for."""
    if method != "auto":
        return method
    return "resampling" if surprises <= RESAMPLE_UP_TO else "asymptotic"


def null_test(
    queries: Queries | QueryScan,
    names: Sequence[str],
    *,
    method: str,
    n_resamples: int,
    rng: np.random.Generator,
) -> NullTest:
    """Test perfect calibration with the statistics of these names, combined.

    Parameters
    ----------
    queries : Queries or QueryScan
        What is tested; its groups count.
    names : sequence of str
        Which statistics.
    method : {"auto", "resampling", "asymptotic"}
        "auto" resamples where there are groups, or where few surprises are expected.
    n_resamples : int
        Number of draws.
    rng : Generator
        Source of the draws.

    Returns
    -------
    NullTest
    """
    cells, impossible = cells_of(queries, tuple(names) == ("kuiper",))
    if cells is None or impossible:
        found = null_method(method, 0.0 if cells is None else cells.surprises)
        pvalue, statistic = (0.0, math.inf) if impossible else (1.0, 0.0)
        return NullTest(statistic, pvalue, dict.fromkeys(names, pvalue), found, impossible)
    method = null_method(method, 0.0 if cells.grouped else cells.surprises)
    statistics = NullStatistics(cells, names, by_group=cells.grouped)
    own = statistics.of(cells.observed(statistics.basis))
    if method == "asymptotic":
        parts = statistics.limits(own[0])
        return _made(names, own[0], cauchy_pvalue(parts), parts, method)
    if not cells.grouped:
        drawn = [statistics.of(part) for part in cells.redrawn(statistics.basis, n_resamples, rng)]
        pvalue, parts = ranked_combination(np.concatenate([own, *drawn]))
    else:
        pvalue, parts = _grouped(cells, statistics, n_resamples, rng)
    return _made(names, own[0], pvalue, parts, method)


def cells_of(
    queries: Queries | QueryScan, walk: bool = False
) -> tuple[NullCells | None, ImpossibleAnswers]:
    """Return the cells of queries, and how many answers contradict a sure prediction.

    `walk` says that only the running sum is looked at, after more steps.
    """
    if isinstance(queries, Queries):
        return cells_in_memory(queries, walk), impossible_answers(queries)
    return cells_of_scan(queries, walk)


def _made(
    names: Sequence[str], values: Array, pvalue: float, parts: Array, method: str
) -> NullTest:
    single = len(names) == 1
    return NullTest(
        float(values[0] if single else cauchy_score(parts)),
        float(parts[0]) if single else pvalue,
        dict(zip(names, map(float, parts), strict=True)),
        method,
    )


def _grouped(
    cells: NullCells,
    statistics: NullStatistics,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[float, Array]:
    """Return the larger p-values of flipped groups and of dependent draws.

    With very many queries the groups alone decide.
    """
    basis = statistics.basis
    flips = flipped(cells, basis, n_resamples, rng)
    seen = cells.observed(basis)
    pvalue, parts = ranked_combination(np.concatenate([statistics.of(seen), statistics.of(flips)]))
    if cells.group is None or len(cells) > DEPENDENT_UP_TO:
        return pvalue, parts
    alone = NullStatistics(cells, statistics.names)
    drawn = [alone.of(part) for part in dependent(cells, cells.group, basis, n_resamples, rng)]
    other, other_parts = ranked_combination(np.concatenate([alone.of(seen), *drawn]))
    return max(pvalue, other), np.maximum(parts, other_parts)
