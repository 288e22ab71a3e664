"""What intervals, tests and comparisons share: bins, groups and the moments of T."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sklearn_calib._validation import Array, check_bin_options
from sklearn_calib.metrics._binning._balanced import balanced_ends, merged_ends, separate_ends
from sklearn_calib.metrics._binning._binned import BinnedQueries, bin_queries, cut
from sklearn_calib.metrics._binning._rules import Balanced, ByNumber, BySize, Rule
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._binning._sorted import SortedQueries, sort_queries
from sklearn_calib.metrics._inference._grouped import PairForm, grouped_moments, pair_form
from sklearn_calib.metrics._inference._moments import ResidualMoments, TooFewError, residual_moments
from sklearn_calib.metrics._inference._null_law import DEPENDENT_UP_TO, null_score
from sklearn_calib.metrics._inference._scanned_groups import GroupSums, group_sums_of_scan
from sklearn_calib.metrics._inference._score_interval import ScoreInterval
from sklearn_calib.metrics._inference._unit_order import units_by_content
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

# With groups, moments need a square matrix of bins: more of them would cost and not help.
MOST_GROUPED_BINS = 600

# The variance of the debiased error is estimated from four queries at a time.
LEAST_ROWS = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """Queries in bins that were chosen without a look at the labels.

    `grouped` says whether the units are groups of more than one query,
    `strategy` how the bins were cut, and `groups` has the sums of the groups of
    a scan.
    """

    bins: BinnedQueries
    grouped: bool
    strategy: str
    groups: GroupSums | None = None

    @property
    def ordered(self) -> SortedQueries:
        """The queries in order of prediction."""
        return self.bins.queries

    @cached_property
    def score(self) -> ScoreInterval:
        """Limits and p-value that agree with each other."""
        found = null_score(self.bins, self.moments, self.form if self.grouped else None)
        if not self.grouped:
            return ScoreInterval(self.moments, found)
        # The variance of groups is estimated from few of them, and from fewer where a few
        # have large residuals.
        own = self.form.self_terms
        carriers = float(own.sum() ** 2 / max(np.square(own).sum(), 1e-300))
        units = self.moments.n
        freedom = (max(n - 1.0, 1.0) for n in (units, min(units, carriers)))
        return ScoreInterval(self.moments, found, *freedom)

    @cached_property
    def form(self) -> PairForm:
        """The debiased error as a sum over pairs of units."""
        return pair_form(self.bins) if self.groups is None else self.groups.form(len(self.bins))

    @cached_property
    def moments(self) -> ResidualMoments:
        """Moments of the debiased squared error."""
        if not self.grouped:
            return residual_moments(self.bins)
        bins = self.bins
        variance = bins.total(1, lambda q: q * (1.0 - q)) / bins.weight
        query_weight = float(bins.weight.sum() / bins.count.sum())
        return grouped_moments(self.form, variance, bins.prob_pred, query_weight)


def check_inference_bins(bin_size: int | str, n_bins: int | None) -> None:
    """Refuse bins in which no variance can be estimated."""
    check_bin_options(bin_size, n_bins)
    if not isinstance(bin_size, str) and bin_size < LEAST_ROWS:
        raise ValueError(
            f"bin_size={bin_size} is too small: how much a bin varies is estimated from at least "
            f"{LEAST_ROWS} queries."
        )


def refuse_one_group(unit: Array | None) -> None:
    """Refuse queries of a single group."""
    if unit is not None and (unit == unit[0]).all():
        raise TooFewError(
            "All queries belong to one group, so that nothing is known about how much groups "
            "differ. Pass groups=False to take the queries as independent."
        )


def mixed_bins(bins: BinnedQueries, unit: Array) -> BinnedQueries:
    """Join bins until each of them holds queries of at least two units."""
    low, high = np.minimum.reduceat(unit, bins.starts), np.maximum.reduceat(unit, bins.starts)
    if (low < high).all():
        return bins
    return BinnedQueries(bins.queries, _mixed_ends(bins.ends, low, high), bins.size)


def _mixed_ends(ends: Array, low: Array, high: Array) -> Array:
    """Return the ends that are kept; `low` and `high` are the extreme units of each bin."""
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


def make_sample(
    queries: Queries | QueryScan, bin_size: int | str, n_bins: int | None, *, numbered: bool = False
) -> Sample:
    """Sort and cut queries for inference; options were checked by `check_inference_bins`.

    `numbered` numbers the queries by their rows where they have no groups, and
    cuts them by counts alone, so that two samples of the same rows can be compared.
    """
    if isinstance(queries, QueryScan):
        return _scanned_sample(queries, bin_size, n_bins, numbered)
    units = queries.units
    if numbered:
        units = np.arange(len(queries)) if units is None else units
    elif units is not None:
        units = units_by_content(units, queries.y_true, queries.y_prob, queries.sample_weight)
    ordered = sort_queries(queries, units=units)
    if len(ordered) < LEAST_ROWS:
        raise TooFewError(
            f"An interval or a test needs at least {LEAST_ROWS} queries, got {len(ordered)}"
            f"{'' if queries.sample_weight is None else ' with a weight above zero'}."
        )
    unit = ordered.unit
    refuse_one_group(unit)
    if isinstance(bin_size, str) and n_bins is None:
        grouped = queries.units is not None
        # Units that only number the rows ask nothing of the bins.
        kept = ordered if grouped else replace(ordered, unit=None)
        most = None if unit is None else MOST_GROUPED_BINS
        ends = balanced_ends(kept, most=most, by_count=numbered)
        bins = BinnedQueries(ordered, ends, ordered.total / len(ends))
    else:
        bins = bin_queries(ordered, bin_size, n_bins, min_rows=LEAST_ROWS)
    if unit is not None:
        bins = mixed_bins(bins, unit)
    return _checked(Sample(bins, queries.units is not None, _strategy(bin_size, n_bins)), n_bins)


def _strategy(bin_size: int | str, n_bins: int | None) -> str:
    return "balanced" if isinstance(bin_size, str) and n_bins is None else "adaptive"


def _checked(sample: Sample, n_bins: int | None) -> Sample:
    """Refuse bins in which no variance can be estimated."""
    if sample.bins.count.min() < LEAST_ROWS:
        raise TooFewError(
            f"n_bins={n_bins} leaves bins with fewer than {LEAST_ROWS} queries, too few to "
            "estimate how much they vary; ask for fewer bins."
        )
    return sample


def inference_rule(ordered: SortedQueries, bin_size: int | str, n_bins: int | None) -> Rule:
    """Return the rule by which `make_sample` cuts a scan."""
    if n_bins is not None:
        return ByNumber(min(int(n_bins), len(ordered)))
    return Balanced() if isinstance(bin_size, str) else BySize(int(bin_size), LEAST_ROWS)


def _scanned_sample(
    scan: QueryScan, bin_size: int | str, n_bins: int | None, numbered: bool = False
) -> Sample:
    """Cut the queries of a scan for inference; see `make_sample`."""
    ahead: Rule | None = None
    if n_bins is None and not scan.grouped and not numbered:
        ahead = Balanced() if isinstance(bin_size, str) else BySize(int(bin_size), LEAST_ROWS)
    ordered = sort_or_scan(scan, fine=True, ahead=ahead)
    if len(ordered) < LEAST_ROWS:
        raise TooFewError(
            f"An interval or a test needs at least {LEAST_ROWS} queries, got {len(ordered)}."
        )
    strategy = _strategy(bin_size, n_bins)
    if scan.grouped and len(ordered) <= DEPENDENT_UP_TO and not numbered:
        # So few that answers of groups may have to be drawn one by one.
        return make_sample(scan.collect(), bin_size, n_bins)
    if scan.grouped:
        sample = _grouped_scan(scan, ordered, bin_size, n_bins, numbered)
        if sample is not None:
            return _checked(sample, n_bins)
    if strategy == "balanced":
        rule = Balanced(most=MOST_GROUPED_BINS, by_count=True) if numbered else Balanced()
        bins = cut(ordered, rule)
        bins = replace(bins, size=ordered.total / len(bins))
    else:
        bins = bin_queries(ordered, bin_size, n_bins, min_rows=LEAST_ROWS)
    return _checked(Sample(bins, False, strategy), n_bins)


def _grouped_scan(
    scan: QueryScan,
    ordered: SortedQueries,
    bin_size: int | str,
    n_bins: int | None,
    numbered: bool,
) -> Sample | None:
    """Cut a scan with groups; None where every query is a group of its own."""
    strategy = _strategy(bin_size, n_bins)
    if strategy == "balanced":
        rule = Balanced(most=MOST_GROUPED_BINS, by_count=numbered)
        ordered = ordered.resolved(rule)
        ends, index, number = separate_ends(
            ordered, None, most=MOST_GROUPED_BINS, by_count=numbered
        )
    else:
        bins = bin_queries(ordered, bin_size, n_bins, min_rows=LEAST_ROWS)
        ordered, ends = bins.queries, bins.ends
    groups = group_sums_of_scan(scan, ordered.q[ends - 1], by_name=numbered)
    if groups.n_units == scan.n_rows:
        return None
    if groups.n_units == 1:
        refuse_one_group(np.zeros(1, dtype=int))
    if strategy == "balanced":
        joined = merged_ends(ordered, ends, index, number // 2, groups.distinct(len(ends)))
        groups = groups.joined(np.searchsorted(joined, ends))
        bins = BinnedQueries(ordered, joined, ordered.total / len(joined))
    kept = _mixed_ends(bins.ends, *_least_and_most(groups, len(bins)))
    groups = groups.joined(np.searchsorted(kept, bins.ends))
    return Sample(replace(bins, ends=kept), True, strategy, groups)


def _least_and_most(groups: GroupSums, n_bins: int) -> tuple[Array, Array]:
    """Return the smallest and the largest number of a unit in each bin."""
    starts = np.searchsorted(groups.bin, np.arange(n_bins))
    return np.minimum.reduceat(groups.unit, starts), np.maximum.reduceat(groups.unit, starts)
