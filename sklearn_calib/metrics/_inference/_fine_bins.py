"""Queries in fine bins, for curves: what each bin is worth, and where it lies in log-odds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse, special

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._binned import BinnedQueries, cut
from sklearn_calib.metrics._binning._rules import Fine
from sklearn_calib.metrics._binning._scanned import ScannedQueries
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._inference._scanned_groups import group_sums_of_scan
from sklearn_calib.queries._numbered import numbered

# Log-odds are kept within those of one in a million.
LEAST = 1e-6
# Log-odds that differ by less are the same but for rounding.
SAME = 1e-9

# Numbers handled at a time, where a dense row is made for each group.
_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class FineBins:
    """Queries in fine bins.

    Attributes
    ----------
    binned : BinnedQueries
        The queries and where each bin ends.
    n : ndarray of shape (n_bins,)
        How many independent queries each bin is worth.
    """

    binned: BinnedQueries
    n: Array

    def __len__(self) -> int:
        return len(self.n)

    @property
    def q(self) -> Array:
        """Mean prediction of each bin."""
        return self.binned.prob_pred

    @property
    def yes(self) -> Array:
        """Share of yes of each bin, as a number out of `n`."""
        return self.binned.prob_true * self.n

    @cached_property
    def x(self) -> Array:
        """Log-odds of the mean prediction."""
        return log_odds(self.q)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the log-odds; 1 where there is none."""
        if float(np.ptp(self.x)) < SAME:
            return 1.0
        mean = np.average(self.x, weights=self.n)
        return math.sqrt(np.average(np.square(self.x - mean), weights=self.n))

    def deflated(self, inflation: Array) -> FineBins:
        """Return the bins with fewer queries, as groups make them worth less."""
        return replace(self, n=self.n / inflation)

    def group_inflation(self, fit: Array, bandwidth: float) -> Array:
        """Return by how much groups inflate the variance of a local mean at each bin.

        `fit` has a frequency at each bin, from which the residuals are taken, and
        `bandwidth` is that of the local means.
        """
        distance = (self.x[None, :] - self.x[:, None]) / bandwidth
        kernel = np.exp(-0.5 * np.square(distance))
        own = np.square(kernel) @ own_squares(self.binned, fit)
        return inflation(group_sums(self.binned, fit), lambda part: part @ kernel.T, own)


def log_odds(q: Array) -> Array:
    """Return the log-odds of probabilities, which are kept away from 0 and 1."""
    return special.logit(np.clip(q, LEAST, 1.0 - LEAST))


def fine_bins(queries: SortedQueries, most: int) -> FineBins:
    """Cut queries into at most so many balanced bins; few predictions have one bin each."""
    binned = cut(queries, Fine(most))
    return FineBins(binned, binned.effective_count)


def own_squares(binned: BinnedQueries, fit: Array) -> Array:
    """Return the sum of squares, in each bin, of residuals from the frequency fitted to it."""
    away = binned.queries.y - binned.of_queries(fit)
    return binned.total(2, lambda q: np.square(away))


def group_sums(binned: BinnedQueries, fit: Array) -> sparse.csr_array:
    """Return the sum of the residuals of each group in each bin."""
    queries = binned.queries
    if isinstance(queries, ScannedQueries) and queries.scan is not None:
        found = group_sums_of_scan(queries.scan, binned.high)
        shape = (found.n_units, len(binned))
        values = found.yes - fit[found.bin] * found.weight
        return sparse.coo_array((values, (found.unit, found.bin)), shape=shape).tocsr()
    assert queries.unit is not None
    group = numbered(queries.unit)
    column = np.repeat(np.arange(len(binned)), binned.count)
    shape = (int(group.max()) + 1, len(binned))
    values = queries.weights * (queries.y - binned.of_queries(fit))
    return sparse.coo_array((values, (group, column)), shape=shape).tocsr()


def inflation(sums: sparse.csr_array, combine: Callable[[Array], Array], own: Array) -> Array:
    """Return by how much groups inflate the variances of sums over bins.

    `combine` turns the sums of some groups by bin into those of interest, and
    `own` has the latter's variance if queries were independent. The factor is at
    least one. A variance from few groups is uncertain, so that it grows by one
    standard error: too large a factor widens an interval, too small a one breaks
    its promise.
    """
    second, fourth = np.zeros_like(own), np.zeros_like(own)
    part = max(1, _AT_A_TIME // len(own))
    for first in range(0, sums.shape[0], part):
        squares = np.square(combine(sums[first : first + part].toarray()))
        second += squares.sum(axis=0)
        fourth += np.square(squares).sum(axis=0)
    ratio = np.divide(second, own, out=np.ones_like(own), where=own > 0.0)
    kish = np.divide(np.square(second), fourth, out=np.ones_like(own), where=fourth > 0.0)
    return np.maximum(1.0, ratio * (1.0 + np.sqrt(2.0 / np.maximum(kish, 1.0))))
