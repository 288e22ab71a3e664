"""Intervals of counts: exact, normal, or from the quantiles of the sampled counts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from sklearn_calib._results import ConfidenceInterval
from sklearn_calib._validation import Array
from sklearn_calib.explore._sums import Distribution, empirical, sum_of

if TYPE_CHECKING:
    from sklearn_calib.explore._posterior import CountPosterior

METHODS = ("auto", "exact", "normal", "quantile")

# Intervals from fewer samples cover too little: 76 % with 2 samples, 92 % with 5, for 95 %.
_FEW = 20
# Sums of unequal weights with more possible values than this are taken as continuous.
_MOST_VALUES = 20_000


class NoUnitError(ValueError):
    """Weights are not multiples of a common unit, or of one that is far too small."""


def check_enough(n_samples: int) -> None:
    """Refuse an interval from one sample, and warn about few."""
    if n_samples == 1:
        raise ValueError(
            "An interval needs at least two samples of each document: one says nothing about how "
            "uncertain a count is. Draw 100."
        )
    if n_samples < _FEW:
        warnings.warn(
            f"Intervals from {n_samples} samples of each document are too narrow. Draw at least "
            f"{_FEW}, better 100.",
            UserWarning,
            stacklevel=3,
        )


def count_interval(posterior: CountPosterior, level: float, method: str) -> ConfidenceInterval:
    """Return the intervals of all counts."""
    if method == "normal":
        half = stats.norm.ppf((1.0 + level) / 2.0) * posterior.standard_deviation
        return ConfidenceInterval(posterior.mean - half, posterior.mean + half)
    if method == "quantile":
        return _quantiles(posterior, level)
    try:
        return _exact(posterior, level)
    except NoUnitError:
        if method == "exact":
            raise
        return _quantiles(posterior, level)


def _quantiles(posterior: CountPosterior, level: float) -> ConfidenceInterval:
    tables = [posterior._sampled(i) for i in range(len(posterior.keys))]
    ends = np.array([sample_interval(table, level) for table in tables])
    low, high = np.moveaxis(ends.reshape(-1, 2, len(posterior.periods)), 0, -1)
    return ConfidenceInterval(low, high)


def sample_interval(sampled: Array, level: float) -> tuple[Array, Array]:
    """Return quantiles over the last axis: sampled values, the nearest outwards."""
    tail = (1.0 - level) / 2.0
    low = np.quantile(sampled, tail, axis=-1, method="lower")
    return low, np.quantile(sampled, 1.0 - tail, axis=-1, method="higher")


def _exact(posterior: CountPosterior, level: float) -> ConfidenceInterval:
    shape = (len(posterior.periods), len(posterior.keys))
    ends = np.zeros((2, shape[0] * shape[1]))
    for cell, rows in _rows_by_cell(posterior._cell):
        try:
            unit, total = distribution(posterior._weight[rows], posterior.hit_counts[rows])
        except NoUnitError as error:
            period, key = divmod(cell, shape[1])
            raise NoUnitError(
                f"method='exact' needs weights that are small multiples of a common unit; those "
                f"of {posterior.keys[key]!r} in {posterior.period_labels[period]} are not: {error} "
                "Use method='quantile' or 'normal'."
            ) from None
        ends[:, cell] = unit * np.array(total.interval(level))
    low, high = ends.reshape(2, *shape)
    return ConfidenceInterval(low, high)


def _rows_by_cell(cell: Array) -> Iterable[tuple[int, Array]]:
    """Yield the cells of the table that have hits, and their hits."""
    if len(cell) == 0:
        return
    order = np.argsort(cell, kind="stable")
    cells, start = np.unique(cell[order], return_index=True)
    yield from zip(cells.tolist(), np.split(order, start[1:]), strict=True)


def distribution(weight: Array, counts: Array) -> tuple[float, Distribution]:
    """Return the exact distribution of a weighted sum, in multiples of a unit.

    Parameters
    ----------
    weight : ndarray of shape (n,)
        The weight of each term.
    counts : ndarray of int of shape (n, n_samples)
        The sampled values of each term; the terms are independent.

    Returns
    -------
    tuple of float and Distribution
        The unit, and the distribution of the sum over the unit.
    """
    unit, times = _multiples(weight, np.ptp(counts, axis=1))
    terms = counts.astype(np.int64) * times[:, np.newaxis]
    return unit, sum_of([empirical(row) for row in terms])


def _multiples(weight: Array, spread: Array) -> tuple[float, Array]:
    """Return the largest unit of which all weights are multiples, and how many times they are."""
    distinct = np.unique(weight[weight > 0.0])
    if len(distinct) <= 1:
        return float(distinct[0]) if len(distinct) else 1.0, (weight > 0.0).astype(np.int64)
    least = float(distinct[0])
    parts = 1
    for value in distinct.tolist():
        ratio = Fraction(value / least).limit_denominator(1000)
        if not math.isclose(ratio, value / least, rel_tol=1e-9):
            raise NoUnitError(f"{value:g} and {least:g} have no common unit.")
        parts = math.lcm(parts, ratio.denominator)
    times = np.rint(weight / least * parts)
    width = times * spread
    # By Hoeffding's inequality the values beyond 6 of these norms on each side are negligible.
    if not min(width.sum(), 12.0 * np.sqrt(np.square(width).sum())) <= _MOST_VALUES:
        raise NoUnitError(f"their common unit is {least / parts:g}, far below their sum.")
    return least / parts, times.astype(np.int64)
