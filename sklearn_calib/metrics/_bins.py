"""Bins of queries: their means, their error, and the intervals around each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from sklearn_calib._results import ConfidenceInterval, PlottedResult, counted
from sklearn_calib._validation import (
    Array,
    check_bin_options,
    check_confidence_level,
    check_option,
)
from sklearn_calib.metrics._binning._binned import BinnedQueries, bin_queries, cut
from sklearn_calib.metrics._binning._partly_sorted import sort_for_bins
from sklearn_calib.metrics._binning._rules import Balanced, ByWidth
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._binning._sizes import n_effective, number_of_bins, standard_number
from sklearn_calib.queries._as_queries import queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["CalibrationBins", "calibration_bins"]

NORMS = ("l1", "l2", "max")
STRATEGIES = ("adaptive", "balanced", "uniform")
INTERVALS = ("wilson", "normal", "clopper-pearson")


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationBins(PlottedResult):
    """Bins of queries, in order of prediction.

    Attributes
    ----------
    count : ndarray of int of shape (n_bins,)
        Queries in each bin.
    weight : ndarray of shape (n_bins,)
        Sum of their weights; equal to `count` without weights.
    prob_pred : ndarray of shape (n_bins,)
        Mean prediction in each bin.
    prob_true : ndarray of shape (n_bins,)
        Share of queries in each bin whose answer is yes.
    low, high : ndarray of shape (n_bins,)
        Smallest and largest prediction in each bin.
    bin_size : float or None
        The size that was aimed at; None where a number of bins was asked for.
    strategy : {"adaptive", "balanced", "uniform"}
        How the bins were cut.
    effective_count : ndarray of shape (n_bins,)
        How many queries a bin is worth: its weight where all weights are whole
        numbers, and Kish's effective number where they are not.

    See Also
    --------
    calibration_bins : Makes this object.
    """

    count: Array
    weight: Array
    prob_pred: Array
    prob_true: Array
    low: Array
    high: Array
    bin_size: float | None = None
    strategy: str = "adaptive"
    effective_count: Array = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if len(self.effective_count) != len(self.count):
            object.__setattr__(self, "effective_count", self.weight)

    def __len__(self) -> int:
        return len(self.count)

    @property
    def gap(self) -> Array:
        """Signed gap of each bin: positive where the predictions are too high."""
        return self.prob_pred - self.prob_true

    @property
    def overconfidence(self) -> Array:
        """Signed overconfidence of each bin.

        Positive where the predictions are too extreme (too far from one half),
        negative where they are not extreme enough.
        """
        return np.where(self.prob_pred >= 0.5, self.gap, -self.gap)

    @property
    def mean_gap(self) -> float:
        """Mean prediction minus share of yes, over all queries."""
        return self._mean(self.gap)

    @property
    def mean_overconfidence(self) -> float:
        """Mean of `overconfidence` over all queries."""
        return self._mean(self.overconfidence)

    @property
    def refinement(self) -> float:
        """Mean of prob_true (1 - prob_true) over queries: small where bins are pure."""
        return self._mean(self.prob_true * (1.0 - self.prob_true))

    def _mean(self, values: Array) -> float:
        return float(np.dot(self.weight, values) / self.weight.sum())

    def error(self, norm: str = "l2", squared: bool = False) -> float:
        """Calibration error of the bins.

        Parameters
        ----------
        norm : {"l2", "l1", "max"}, default="l2"
            Root mean square, mean, or largest absolute gap; the means are
            taken over queries.
        squared : bool, default=False
            Return the mean square instead of its root (only with "l2").

        Returns
        -------
        float
            Between 0 and 1.
        """
        check_option(norm, "norm", NORMS)
        check_squared(squared, norm)
        return self._error(norm, squared)

    def _error(self, norm: str, squared: bool) -> float:
        """Return the error by options that were checked before."""
        gap = np.abs(self.gap)
        if norm == "max":
            return float(gap.max())
        if norm == "l1":
            return self._mean(gap)
        mean_square = self._mean(np.square(gap))
        return mean_square if squared else math.sqrt(mean_square)

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "wilson"
    ) -> ConfidenceInterval:
        """Confidence interval for the frequency behind each bin.

        It says how well the bin's share of yes is known. Whole weights count
        as so many queries; other weights by their effective number.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Level of each interval on its own.
        method : {"wilson", "normal", "clopper-pearson"}, default="wilson"
            "normal" is p +- z se, the interval of Nguyen & O'Connor (2015),
            cut at 0 and 1; it is too short, even empty of width, in bins near
            0 and 1. "clopper-pearson" covers at least as often as it says.

        Returns
        -------
        ConfidenceInterval
            Arrays `low` and `high` of shape (n_bins,).
        """
        level = check_confidence_level(confidence_level)
        check_option(method, "method", INTERVALS)
        p, n = self.prob_true, self.effective_count
        if method == "clopper-pearson":
            tail = (1.0 - level) / 2.0
            yes = p * n
            # The limits solve a binomial tail; at no yes (or no no) one of them is the end.
            with np.errstate(invalid="ignore"):
                low = np.where(yes > 0, special.betaincinv(yes, n - yes + 1.0, tail), 0.0)
                high = np.where(yes < n, special.betaincinv(yes + 1.0, n - yes, 1.0 - tail), 1.0)
            return ConfidenceInterval(low, high)
        z = stats.norm.ppf(0.5 + level / 2.0)
        if method == "normal":
            half = z * np.sqrt(p * (1.0 - p) / n)
            return ConfidenceInterval(np.maximum(p - half, 0.0), np.minimum(p + half, 1.0))
        return ConfidenceInterval(*wilson(p, n, z))

    def consistency_band(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Where each bin's frequency would fall if the predictions were right.

        The quantiles are those of a binomial count with the bin's mean
        prediction. The count is really a sum of queries with slightly
        different probabilities, which varies less, so the band holds at least
        the stated share of bins (Hoeffding 1956).

        Parameters
        ----------
        confidence_level : float, default=0.95
            Level of the band at each bin on its own.

        Returns
        -------
        ConfidenceInterval
            Arrays `low` and `high` of shape (n_bins,), around `prob_pred`.
        """
        level = check_confidence_level(confidence_level)
        n = np.maximum(np.rint(self.effective_count), 1.0)
        tail = (1.0 - level) / 2.0
        low = stats.binom.ppf(tail, n, self.prob_pred) / n
        high = stats.binom.ppf(1.0 - tail, n, self.prob_pred) / n
        return ConfidenceInterval(np.maximum(low, 0.0), np.minimum(high, 1.0))

    def _sentence(self) -> str:
        return (
            f"{counted(len(self), f'{self.strategy} bin')} of "
            f"{counted(self.count.sum(), 'query', 'queries')}, "
            f"calibration error {self.error():.4f}"
        )

    def _columns(self) -> dict[str, Array]:
        columns = {
            "low": self.low,
            "high": self.high,
            "count": self.count,
            "prob_pred": self.prob_pred,
            "prob_true": self.prob_true,
            "gap": self.gap,
        }
        if not np.array_equal(self.weight, self.count):
            columns["weight"] = self.weight
        return columns


def wilson(p: Array, n: Array, z: float) -> tuple[Array, Array]:
    """Return Wilson's limits for the frequency p among n."""
    centre = (p + z**2 / (2.0 * n)) / (1.0 + z**2 / n)
    half = z / (1.0 + z**2 / n) * np.sqrt(p * (1.0 - p) / n + z**2 / (4.0 * n**2))
    # At p = 0 and p = 1 the exact limit is the end itself; rounding must not cross it.
    low = np.where(p == 0.0, 0.0, np.clip(centre - half, 0.0, p))
    high = np.where(p == 1.0, 1.0, np.clip(centre + half, p, 1.0))
    return low, high


def check_squared(squared: bool, norm: str) -> None:
    """Refuse `squared` where there is no square to keep."""
    if squared and norm != "l2":
        raise ValueError(f"squared=True goes with norm='l2' only, got norm={norm!r}.")


def bins_of(binned: BinnedQueries, strategy: str = "adaptive") -> CalibrationBins:
    """Return the means of queries in bins."""
    return CalibrationBins(
        count=binned.count,
        weight=binned.weight,
        prob_pred=binned.prob_pred,
        prob_true=binned.prob_true,
        low=binned.low,
        high=binned.high,
        bin_size=binned.size,
        strategy=strategy,
        effective_count=binned.effective_count,
    )


def join_bins(bins: CalibrationBins) -> CalibrationBins:
    """Join neighbouring bins where there are more than `bin_size="auto"` makes.

    Intervals and tests use many narrow bins, which are too noisy to look at one by one.
    """
    squares = np.square(bins.weight) / bins.effective_count
    number = number_of_bins(bins.effective_count.sum())
    if len(bins) <= number:
        return bins
    # A bin belongs to the part of the total weight that its middle lies in.
    middle = np.cumsum(bins.weight) - bins.weight / 2.0
    part = np.floor(middle * (number / bins.weight.sum())).astype(int)
    starts = np.flatnonzero(np.diff(part, prepend=-1))

    def add(values: Array) -> Array:
        return np.add.reduceat(values, starts)

    weight = add(bins.weight)
    return CalibrationBins(
        count=add(bins.count),
        weight=weight,
        prob_pred=add(bins.weight * bins.prob_pred) / weight,
        prob_true=np.clip(add(bins.weight * bins.prob_true) / weight, 0.0, 1.0),
        low=bins.low[starts],
        high=bins.high[np.append(starts[1:], len(bins)) - 1],
        strategy=bins.strategy,
        effective_count=np.square(weight) / add(squares),
    )


def calibration_bins(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    strategy: str = "adaptive",
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> CalibrationBins:
    """Sort queries by prediction and cut them into bins.

    The means of the bins are the points of a calibration curve, also known as
    a reliability diagram. Over bins of equal width, ``error("l1")`` of the
    result is the expected calibration error (ECE).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    bin_size : int or "auto", default="auto"
        Queries per bin. "auto" makes max(10, cbrt(N)) bins. A bin closes once
        it holds this many queries and its last run of equal predictions is
        complete; a last bin that falls short joins the one before it.
    n_bins : int, default=None
        Ask for a number of bins instead of a size. There are fewer where
        equal predictions fill several.
    strategy : {"adaptive", "balanced", "uniform"}, default="adaptive"
        "adaptive" bins hold equal numbers of queries. "balanced" bins hold
        equal steps of (share of the queries + share of the information) / 2,
        where a query with prediction q carries the information q (1 - q): where
        most predictions are near 0, as those about many classes are, half of
        the bins go to the others. "uniform" bins have equal width, 1 / n_bins,
        and those that hold no query are left out.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; an integer weight stands for so many copies.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.

    Returns
    -------
    CalibrationBins
        Counts, means and extremes of the bins.

    See Also
    --------
    adaptive_bin_calibration_error : A single number.
    sklearn.calibration.calibration_curve : Two arrays, without intervals.

    Examples
    --------
    >>> from sklearn_calib import calibration_bins
    >>> bins = calibration_bins([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bin_size=2)
    >>> bins.prob_pred, bins.prob_true
    (array([0.2, 0.7]), array([0.5, 0.5]))
    >>> round(bins.error(), 4)
    0.255
    """
    check_option(strategy, "strategy", STRATEGIES)
    check_bin_options(bin_size, n_bins)
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, sample_weight=sample_weight, pos_label=pos_label
    )
    if strategy == "adaptive":
        ordered = (
            sort_for_bins(queries, bin_size, n_bins)
            if isinstance(queries, Queries)
            else sort_or_scan(queries)
        )
        return bins_of(bin_queries(ordered, bin_size, n_bins))
    if not isinstance(bin_size, str):
        kind = "bins of equal width" if strategy == "uniform" else "balanced bins"
        raise ValueError(f"bin_size={bin_size!r} has no meaning for {kind}; set n_bins.")
    ordered = sort_or_scan(queries)
    if strategy == "balanced":
        number = standard_number(ordered) if n_bins is None else n_bins
        return bins_of(cut(ordered, Balanced(number)), strategy)
    if n_bins is None:
        n_bins = number_of_bins(n_effective(ordered))
    return bins_of(cut(ordered, ByWidth(n_bins)), strategy)
