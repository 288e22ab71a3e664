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
from sklearn_calib.metrics._score_interval import null_pvalue
from sklearn_calib.metrics._sorting import SortedQueries, sorted_queries
from sklearn_calib.queries import Queries

# With groups, moments need a square matrix of bins: more of them would cost and not help.
MOST_GROUPED_BINS = 1000

# The variance of the debiased error is estimated from four queries at a time.
LEAST_ROWS = 4


class TooFewError(ValueError):
    """There are too few queries, or too few groups, to infer anything."""


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
    def impossible(self) -> bool:
        """Whether an answer contradicts a prediction of exactly 0 or 1."""
        y, q = self.ordered.y, self.ordered.q
        return bool(y[: np.searchsorted(q, 0.0, "right")].any()) or not bool(
            y[np.searchsorted(q, 1.0) :].all()
        )

    @cached_property
    def pvalue(self) -> float:
        """Probability of so large a debiased error if every prediction were right."""
        return 0.0 if self.impossible else null_pvalue(self.moments)

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


def mixed_ends(ends: Array, group: Array) -> Array:
    """Join bins until each of them holds queries of at least two groups."""
    starts = np.concatenate(([0], ends[:-1]))
    low, high = np.minimum.reduceat(group, starts), np.maximum.reduceat(group, starts)
    if (low < high).all():
        return ends
    kept: list[int] = []
    least, most = None, None
    for end, a, b in zip(ends.tolist(), low.tolist(), high.tolist(), strict=True):
        least = a if least is None else min(least, a)
        most = b if most is None else max(most, b)
        if least < most:
            kept.append(end)
            least = most = None
    # What is left after the last mixed bin joins it.
    kept[-1] = int(ends[-1])
    return np.array(kept)


def make_sample(queries: Queries, bin_size: Any, n_bins: int | None, groups: Any = None) -> Sample:
    """Sort and cut queries for inference."""
    group = choose_groups(queries, groups)
    ordered = sorted_queries(queries, group)
    if len(ordered) < LEAST_ROWS:
        raise TooFewError(
            f"An interval or a test needs at least {LEAST_ROWS} queries, got {len(ordered)}"
            f"{'' if queries.sample_weight is None else ' with a weight above zero'}."
        )
    if ordered.group is not None and ordered.group.max() == 0:
        raise TooFewError(
            "All queries belong to one group, so that nothing is known about how much groups "
            "differ. Pass groups=False to take the queries as independent."
        )
    if ordered.group is not None and isinstance(bin_size, str) and n_bins is None:
        n_bins = None if len(ordered) < (MOST_GROUPED_BINS / 2) ** 2 else MOST_GROUPED_BINS
    ends, size = cut(ordered, bin_size, n_bins, purpose="infer", min_rows=LEAST_ROWS)
    if ordered.group is not None:
        ends = mixed_ends(ends, ordered.group)
    if np.diff(ends, prepend=0).min() < LEAST_ROWS:
        raise TooFewError(
            f"n_bins={n_bins} leaves bins with fewer than {LEAST_ROWS} queries, too few to "
            "estimate how much they vary; ask for fewer bins."
        )
    return Sample(ordered, ends, size)
