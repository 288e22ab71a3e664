"""What intervals, tests and comparisons share: bins, groups and the moments of T."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_calib._validation import Array, check_bin_options
from sklearn_calib.metrics._binning._binned import BinnedQueries, bin_queries
from sklearn_calib.metrics._binning._sorted import SortedQueries, sort_queries
from sklearn_calib.metrics._inference._grouped import PairForm, grouped_moments, pair_form
from sklearn_calib.metrics._inference._moments import ResidualMoments, residual_moments
from sklearn_calib.metrics._inference._score_interval import null_pvalue
from sklearn_calib.queries._queries import Queries

# With groups, moments need a square matrix of bins: more of them would cost and not help.
MOST_GROUPED_BINS = 1000

# The variance of the debiased error is estimated from four queries at a time.
LEAST_ROWS = 4


class TooFewError(ValueError):
    """There are too few queries, or too few groups, to infer anything."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Queries in bins that were chosen without a look at the labels.

    `grouped` says whether the units are groups of more than one query.
    """

    bins: BinnedQueries
    grouped: bool

    @property
    def ordered(self) -> SortedQueries:
        """The queries in order of prediction."""
        return self.bins.queries

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
    def form(self) -> PairForm:
        """The debiased error as a sum over pairs of units."""
        return pair_form(self.bins)

    @cached_property
    def moments(self) -> ResidualMoments:
        """Moments of the debiased squared error."""
        if not self.grouped:
            return residual_moments(self.bins)
        variance = self.ordered.q * (1.0 - self.ordered.q) * self.ordered.weights
        return grouped_moments(self.form, self.bins.sum(variance) / self.bins.weight)


def check_inference_bins(bin_size: int | str, n_bins: int | None) -> None:
    """Refuse bins in which no variance can be estimated."""
    check_bin_options(bin_size, n_bins)
    if not isinstance(bin_size, str) and bin_size < LEAST_ROWS:
        raise ValueError(
            f"bin_size={bin_size} is too small: how much a bin varies is estimated from at least "
            f"{LEAST_ROWS} queries."
        )


def mixed_bins(bins: BinnedQueries, unit: Array) -> BinnedQueries:
    """Join bins until each of them holds queries of at least two units."""
    low, high = np.minimum.reduceat(unit, bins.starts), np.maximum.reduceat(unit, bins.starts)
    if (low < high).all():
        return bins
    kept: list[int] = []
    least, most = None, None
    for end, a, b in zip(bins.ends.tolist(), low.tolist(), high.tolist(), strict=True):
        least = a if least is None else min(least, a)
        most = b if most is None else max(most, b)
        if least < most:
            kept.append(end)
            least = most = None
    # What is left after the last mixed bin joins it.
    kept[-1] = int(bins.ends[-1])
    return BinnedQueries(bins.queries, np.array(kept), bins.size)


def make_sample(
    queries: Queries, bin_size: int | str, n_bins: int | None, *, numbered: bool = False
) -> Sample:
    """Sort and cut queries for inference; options were checked by `check_inference_bins`.

    `numbered` numbers the queries by their rows where they have no groups, so
    that the units of two samples of the same rows can be compared.
    """
    units = queries.units
    if units is None and numbered:
        units = np.arange(len(queries))
    ordered = sort_queries(queries, units=units)
    if len(ordered) < LEAST_ROWS:
        raise TooFewError(
            f"An interval or a test needs at least {LEAST_ROWS} queries, got {len(ordered)}"
            f"{'' if queries.sample_weight is None else ' with a weight above zero'}."
        )
    unit = ordered.unit
    if unit is None:
        bins = bin_queries(ordered, bin_size, n_bins, infer=True, min_rows=LEAST_ROWS)
    else:
        if (unit == unit[0]).all():
            raise TooFewError(
                "All queries belong to one group, so that nothing is known about how much groups "
                "differ. Pass groups=False to take the queries as independent."
            )
        automatic = isinstance(bin_size, str) and n_bins is None
        if automatic and len(ordered) >= (MOST_GROUPED_BINS / 2) ** 2:
            bins = bin_queries(ordered, bin_size, MOST_GROUPED_BINS, min_rows=LEAST_ROWS)
        else:
            bins = bin_queries(ordered, bin_size, n_bins, infer=True, min_rows=LEAST_ROWS)
        bins = mixed_bins(bins, unit)
    if bins.count.min() < LEAST_ROWS:
        raise TooFewError(
            f"n_bins={n_bins} leaves bins with fewer than {LEAST_ROWS} queries, too few to "
            "estimate how much they vary; ask for fewer bins."
        )
    return Sample(bins, grouped=queries.units is not None)
