"""Queries in bins: the shape that every statistic is made from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._rules import ByNumber, BySize, Rule
from sklearn_calib.metrics._binning._sizes import standard_number
from sklearn_calib.metrics._binning._sorted import SortedQueries


@dataclass(frozen=True, eq=False)
class BinnedQueries:
    """Sorted queries, and where each bin ends.

    Attributes
    ----------
    queries : SortedQueries
        The queries in order of prediction.
    ends : ndarray of int of shape (n_bins,)
        After which row each bin ends.
    size : float or None
        The size that was aimed at; None where a number of bins was asked for.
    """

    queries: SortedQueries
    ends: Array
    size: float | None = None

    def __len__(self) -> int:
        return len(self.ends)

    @cached_property
    def starts(self) -> Array:
        """Where each bin starts."""
        return np.concatenate(([0], self.ends[:-1]))

    @cached_property
    def count(self) -> Array:
        """Queries in each bin."""
        if self.queries.pool is None:
            return self.ends - self.starts
        counts = np.rint(self.queries.pool.cumulative_count[self.ends - 1])
        return np.diff(counts, prepend=0.0).astype(np.int64)

    def sum(self, values: Array) -> Array:
        """Return the sum of each bin, over the last axis of values of the rows."""
        dtype = np.int64 if values.dtype == bool else None
        return np.add.reduceat(values, self.starts, axis=-1, dtype=dtype)

    def of_queries(self, values: Array) -> Array:
        """Return for each row of the queries the value of its bin."""
        return np.repeat(values, self.ends - self.starts)

    def total(self, power: int, values: Callable[[Array], Array]) -> Array:
        """Return the sum of each bin of weight ** power times a function of the prediction.

        The function is given the prediction of every row.
        """
        weight, q = self.queries.power(power)
        found = values(q)
        return self.sum(found if weight is None else weight * found)

    @cached_property
    def weight(self) -> Array:
        """Number or weight of the queries of each bin."""
        return self.count.astype(float) if self.queries.w is None else self.sum(self.queries.w)

    @cached_property
    def squared_weight(self) -> Array:
        """Sum of the squared weights of each bin."""
        if self.queries.w is None:
            return self.weight
        return self.sum(self.queries.squared_weights)

    @cached_property
    def effective_count(self) -> Array:
        """How many queries a bin is worth: whole weights count as copies, others as Kish says."""
        if self.queries.whole_weights:
            return self.weight
        return np.square(self.weight) / self.squared_weight

    @property
    def low(self) -> Array:
        """Smallest prediction of each bin."""
        return self.queries.q[self.starts]

    @property
    def high(self) -> Array:
        """Largest prediction of each bin."""
        return self.queries.q[self.ends - 1]

    @cached_property
    def prob_pred(self) -> Array:
        """Mean prediction of each bin."""
        total = self.total(1, lambda q: q)
        # A mean lies between the extremes, whatever the rounding of the sums.
        return np.clip(total / self.weight, self.low, self.high)

    @cached_property
    def prob_true(self) -> Array:
        """Share of queries in each bin whose answer is yes."""
        total = self.total(1, lambda q: self.queries.y)
        return np.clip(total / self.weight, 0.0, 1.0)


def cut(queries: SortedQueries, rule: Rule, size: float | None = None) -> BinnedQueries:
    """Cut queries into bins by a rule; those of a scan are looked at again where it cuts."""
    resolved = queries.resolved(rule)
    return BinnedQueries(resolved, rule.ends(resolved), size)


def bin_queries(
    queries: SortedQueries,
    bin_size: int | str,
    n_bins: int | None,
    *,
    min_rows: int = 1,
) -> BinnedQueries:
    """Cut sorted queries into adaptive bins of a size or a number that was checked before.

    Where both are left open, there are max(10, cbrt(N)) bins.
    """
    if n_bins is not None:
        if n_bins > len(queries):
            warnings.warn(
                f"n_bins={n_bins} is larger than the number of queries ({len(queries)}): "
                "no bin can hold less than one query.",
                UserWarning,
                stacklevel=3,
            )
        return cut(queries, ByNumber(min(int(n_bins), len(queries))))
    if isinstance(bin_size, str):
        n_bins = standard_number(queries)
        if min_rows > 1:
            n_bins = max(1, min(n_bins, len(queries) // min_rows))
        return cut(queries, ByNumber(n_bins), queries.total / n_bins)
    size = int(bin_size)
    if size > queries.total:
        what = "number of queries" if queries.w is None else "sum of the weights"
        warnings.warn(
            f"bin_size={size} is larger than the {what} ({queries.total:g}): "
            "all queries fall into one bin.",
            UserWarning,
            stacklevel=3,
        )
    return cut(queries, BySize(size, min_rows), size)
