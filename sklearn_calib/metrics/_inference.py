"""What intervals, tests and comparisons share: bins, groups and the moments of T."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sklearn_calib._validation import Array, check_bin_options, check_groups
from sklearn_calib.metrics._bin_size import cut
from sklearn_calib.metrics._bins import CalibrationBins, bin_means
from sklearn_calib.metrics._moments import ResidualMoments, residual_moments
from sklearn_calib.metrics._pairs import PairForm, grouped_moments, pair_form
from sklearn_calib.metrics._sorting import SortedQueries, sort_queries
from sklearn_calib.queries import Queries

# The variance of the debiased error is estimated from four queries at a time.
LEAST_ROWS = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """Sorted queries in bins that were chosen without a look at the labels."""

    ordered: SortedQueries
    ends: Array
    size: float | None

    @cached_property
    def bins(self) -> CalibrationBins:
        """Means of the bins."""
        return bin_means(self.ordered, self.ends, self.size, "adaptive")

    @property
    def grouped(self) -> bool:
        """Whether the units are groups of more than one query."""
        return self.ordered.group is not None

    @cached_property
    def starts(self) -> Array:
        """Where each bin starts."""
        return np.concatenate(([0], self.ends[:-1]))

    @cached_property
    def form(self) -> PairForm:
        """The debiased error as a sum over pairs of units."""
        group = self.ordered.group
        return pair_form(
            self.ordered, self.ends, np.arange(len(self.ordered)) if group is None else group
        )

    @cached_property
    def moments(self) -> ResidualMoments:
        """Moments of the debiased squared error."""
        if not self.grouped:
            return residual_moments(self.ordered, self.ends)
        v = self.ordered.q * (1.0 - self.ordered.q)
        if self.ordered.w is not None:
            v *= self.ordered.w
        return grouped_moments(self.form, np.add.reduceat(v, self.starts) / self.bins.weight)


def check_inference_bins(bin_size: Any, n_bins: Any) -> None:
    """Refuse bins in which no variance can be estimated."""
    check_bin_options(bin_size, n_bins)
    if not isinstance(bin_size, str) and bin_size < LEAST_ROWS:
        raise ValueError(
            f"bin_size={bin_size} is too small: how much a bin varies is estimated from at least "
            f"{LEAST_ROWS} queries."
        )


def choose_groups(queries: Queries, groups: Any) -> Array | None:
    """Return the groups to use, or None where every query stands for itself."""
    if groups is False:
        return None
    group = queries.group if groups is None else check_groups(groups, len(queries))
    if group is None or len(np.unique(group)) == len(group):
        return None
    return group


def make_sample(queries: Queries, bin_size: Any, n_bins: int | None, groups: Any = None) -> Sample:
    """Sort and cut queries for inference."""
    group = choose_groups(queries, groups)
    ordered = sort_queries(queries.y_true, queries.y_prob, queries.sample_weight, group)
    if len(ordered) < LEAST_ROWS:
        raise ValueError(
            f"An interval or a test needs at least {LEAST_ROWS} queries, got {len(ordered)}"
            f"{'' if queries.sample_weight is None else ' with a weight above zero'}."
        )
    if ordered.group is not None and ordered.group.max() == 0:
        raise ValueError(
            "All queries belong to one group, so that nothing is known about how much groups "
            "differ. Pass groups=False to take the queries as independent."
        )
    ends, size = cut(ordered, bin_size, n_bins, purpose="infer", min_rows=LEAST_ROWS)
    if np.diff(ends, prepend=0).min() < LEAST_ROWS:
        raise ValueError(
            f"n_bins={n_bins} leaves bins with fewer than {LEAST_ROWS} queries, too few to "
            "estimate how much they vary; ask for fewer bins."
        )
    return Sample(ordered, ends, size)
