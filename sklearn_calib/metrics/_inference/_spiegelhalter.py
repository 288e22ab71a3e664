"""Spiegelhalter's z: is the Brier score what the predictions promise?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special, stats

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._inference._impossible import ImpossibleAnswers, impossible_answers
from sklearn_calib.metrics._inference._null_cells import NullCells, null_cells, pooled_cells
from sklearn_calib.metrics._inference._null_tests import null_method
from sklearn_calib.metrics._inference._sample import refuse_one_group
from sklearn_calib.metrics._inference._scanned_groups import group_totals
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan


@dataclass(frozen=True)
class Spiegelhalter:
    """Spiegelhalter's z with what it compares.

    Above 0 the Brier score is worse than promised: predictions are too extreme.
    Below 0 it is better: they are not extreme enough. Errors that are the same
    at q and 1 - q, such as a shift in a symmetric sample, cancel out.
    """

    z: float
    pvalue: float
    brier: float
    promised: float
    method: str
    impossible: ImpossibleAnswers = field(default_factory=ImpossibleAnswers)

    @property
    def meaning(self) -> str:
        """What z says, in a sentence."""
        found = f"Brier score {self.brier:.4f}"
        if self.pvalue > 0.05:
            return f"{found}, as promised ({self.promised:.4f})"
        how = "too extreme" if self.z > 0.0 else "not extreme enough"
        return f"{found} where {self.promised:.4f} was promised: predictions are {how}"


def spiegelhalter_test(
    queries: Queries | QueryScan, *, method: str, n_resamples: int, rng: np.random.Generator
) -> Spiegelhalter:
    """Return Spiegelhalter's z with a two-sided p-value.

    The p-value is resampled where few surprises are expected (exact), and
    normal where there are many. With groups, the variance is that of the sums
    of groups, where larger, with a t law on Kish's number of groups less one.
    """
    if isinstance(queries, Queries):
        y, q, w = queries.y_true, queries.y_prob, queries.sample_weight
        cells, impossible = null_cells(queries, most=1), impossible_answers(queries)
    else:
        ordered = sort_or_scan(queries)
        y, (w, q) = ordered.y, ordered.power(1)
        cells, impossible = pooled_cells(ordered, most=1), impossible_answers(ordered)
    brier = float(np.average(np.square(y - q), weights=w))
    promised = float(np.average(q * (1.0 - q), weights=w))
    surprises = 0.0 if cells is None else cells.surprises
    sums = _group_sums(queries, cells)
    found = null_method(method, surprises) if sums is None else "asymptotic"
    if impossible:
        return Spiegelhalter(math.inf, 0.0, brier, promised, found, impossible)
    # Where all predictions are one half, the Brier score is the same whatever the answers.
    if cells is None or not (cells.q != 0.5).any():
        return Spiegelhalter(0.0, 1.0, brier, promised, found)
    if sums is not None:
        z, pvalue = _grouped(*sums)
    else:
        z, pvalue = _independent(cells, found, n_resamples, rng)
    return Spiegelhalter(z, pvalue, brier, promised, found)


def _group_sums(queries: Queries | QueryScan, cells: NullCells | None) -> Array | None:
    """Return for each group what it adds to z, and its variance if every prediction is right."""
    if cells is None:
        return None
    if isinstance(queries, Queries):
        if cells.group is None:
            return None
        columns = _columns(cells.y, cells.q, cells.w)
        return np.stack([np.bincount(cells.group, column) for column in columns])
    if not queries.grouped:
        return None
    found = group_totals(queries, _columns)
    refuse_one_group(np.arange(found.shape[1]))
    return None if found.shape[1] == len(cells) else found


def _columns(y: Array, q: Array, w: Array) -> Array:
    lever = w * (1.0 - 2.0 * q)
    return np.stack((lever * (y - q), np.square(lever) * q * (1.0 - q)))


def _grouped(sums: Array, null: Array) -> tuple[float, float]:
    kish = float(null.sum() ** 2 / np.square(null).sum())
    z = float(sums.sum()) / math.sqrt(max(float(null.sum()), float(np.square(sums).sum())))
    return z, float(2.0 * stats.t.sf(abs(z), max(kish - 1.0, 1.0)))


def _independent(
    cells: NullCells, method: str, n_resamples: int, rng: np.random.Generator
) -> tuple[float, float]:
    lever = 1.0 - 2.0 * cells.q
    sd = math.sqrt(float(np.sum(np.square(lever) * cells.variance)))
    basis = lever[:, None] / sd
    z = float(cells.observed(basis).scores[0, 0])
    if method == "asymptotic":
        return z, float(2.0 * special.ndtr(-abs(z)))
    drawn = np.concatenate([part.scores[:, 0] for part in cells.redrawn(basis, n_resamples, rng)])
    # Each tail on its own, doubled: the law is skewed where answers are rare. Rounding must
    # not decide between draws that are really equal.
    slack = 1e-10 * max(1.0, abs(z))
    above, below = np.count_nonzero(drawn >= z - slack), np.count_nonzero(drawn <= z + slack)
    return z, min(1.0, 2.0 * (1 + min(above, below)) / (n_resamples + 1))
