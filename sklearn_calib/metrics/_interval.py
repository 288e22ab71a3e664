"""Intervals for the calibration error."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_calib._results import (
    ConfidenceInterval,
    PlottedResult,
    counted,
    percent,
    pvalue_text,
)
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_bin_options,
    check_confidence_level,
    check_generator,
    check_integer,
    check_option,
)
from sklearn_calib.metrics._binning._binned import bin_queries, cut
from sklearn_calib.metrics._binning._rules import BySize
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._binning._sizes import effective_scale, n_effective
from sklearn_calib.metrics._bins import CalibrationBins, bins_of
from sklearn_calib.metrics._inference._impossible import ImpossibleAnswers, impossible_answers
from sklearn_calib.metrics._inference._resampling import (
    bca_limits,
    bootstrap_squares,
    sampled_errors,
)
from sklearn_calib.metrics._inference._sample import check_inference_bins, make_sample
from sklearn_calib.queries._as_queries import Groups, queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["CalibrationErrorResult", "calibration_error_interval"]

METHODS = ("auto", "score", "sampling", "bootstrap")


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationErrorResult(PlottedResult):
    """A calibration error with its interval.

    Attributes
    ----------
    error : float
        The estimate. It is debiased, except for `method="sampling"`, where it
        is the plug-in error.
    confidence_interval : ConfidenceInterval
        Limits `low` and `high`.
    confidence_level : float
        The level of the interval.
    method : {"score", "bootstrap", "sampling"}
        How the interval was made.
    squared : bool
        Whether all numbers are squared errors.
    standard_error : float
        Half the width of the interval in units of the normal quantile; for
        `method="sampling"` the standard deviation of `distribution`.
    pvalue : float or None
        Of the hypothesis that every prediction is right.
    distribution : ndarray or None
        The resampled errors, where the method resamples.
    bins : CalibrationBins
        The bins that were used.
    impossible : tuple of int
        Answers that no calibrated model could have given, as `yes` (where the
        prediction is 0) and `no` (where it is 1). One of them is enough for a
        p-value of 0, however small the error.

    See Also
    --------
    calibration_error_interval : Makes this object.
    """

    error: float
    confidence_interval: ConfidenceInterval
    confidence_level: float
    method: str
    squared: bool
    standard_error: float
    pvalue: float | None
    distribution: Array | None
    bins: CalibrationBins
    impossible: ImpossibleAnswers = field(default_factory=ImpossibleAnswers)

    @property
    def mean_gap(self) -> float:
        """Mean prediction minus share of yes: positive where predictions are too high."""
        return self.bins.mean_gap

    @property
    def mean_overconfidence(self) -> float:
        """Positive where predictions are too extreme, negative where they are too cautious."""
        return self.bins.mean_overconfidence

    _shows_table = False

    def _columns(self) -> dict[str, list[object]]:
        low, high = self.confidence_interval
        row = {
            "error": self.error,
            "low": low,
            "high": high,
            "confidence_level": self.confidence_level,
            "pvalue": self.pvalue,
            "mean_gap": self.mean_gap,
            "mean_overconfidence": self.mean_overconfidence,
            "n_bins": len(self.bins),
            "n_impossible": sum(self.impossible),
            "method": self.method,
        }
        return {name: [value] for name, value in row.items()}

    def _sentence(self) -> str:
        low, high = self.confidence_interval
        name = "squared calibration error" if self.squared else "calibration error"
        text = f"{name} {self.error:.4f} [{low:.4f}, {high:.4f}]"
        bins = counted(len(self.bins), "bin")
        text += f" ({percent(self.confidence_level)}, {self.method}, {bins})"
        if self.pvalue is not None:
            chance = "p = 0" if self.impossible else pvalue_text(self.pvalue)
            text += f", {chance} for perfect calibration"
        if self.impossible:
            text += f"\nimpossible if the predictions were right: {self.impossible.text}"
        direction = f"{abs(self.mean_gap):.4f} too {'high' if self.mean_gap > 0 else 'low'}"
        if abs(self.mean_gap) < 5e-5:
            direction = "as high as the share of yes"
        confidence = "over" if self.mean_overconfidence > 0 else "under"
        return (
            f"{text}\npredictions are on average {direction}, "
            f"and {abs(self.mean_overconfidence):.4f} {confidence}confident"
        )


@dataclass(frozen=True)
class IntervalMaker:
    """How an interval is made: options that were checked when it was made."""

    bin_size: int | str = "auto"
    n_bins: int | None = None
    squared: bool = False
    method: str = "auto"
    confidence_level: float = 0.95
    n_resamples: int = 10_000

    def __post_init__(self) -> None:
        check_option(self.method, "method", METHODS)
        if self.method == "sampling":
            check_bin_options(self.bin_size, self.n_bins)
        else:
            check_inference_bins(self.bin_size, self.n_bins)
        check_integer(self.n_resamples, "n_resamples", low=2)
        check_confidence_level(self.confidence_level)

    @property
    def z(self) -> float:
        """The normal quantile of the level."""
        return float(stats.norm.ppf(0.5 + self.confidence_level / 2.0))

    def of_queries(
        self, queries: Queries | QueryScan, random_state: RandomState = None
    ) -> CalibrationErrorResult:
        """Return the error of queries with its interval."""
        if self.method == "sampling":
            return self._sampled(queries, check_generator(random_state))
        sample = make_sample(queries, self.bin_size, self.n_bins)
        level, distribution = float(self.confidence_level), None
        if self.method == "bootstrap":
            if isinstance(queries, QueryScan):
                raise TypeError(
                    "method='bootstrap' draws queries, and needs all of them at once. Leave "
                    "method out, or pass scan.collect() or scan.sample(100_000)."
                )
            rng = check_generator(random_state)
            squares = bootstrap_squares(sample.form, self.n_resamples, rng)
            limits = bca_limits(sample.form, squares, level)
            distribution = np.maximum(squares, 0.0)
            distribution = distribution if self.squared else np.sqrt(distribution)
        else:
            limits = sample.score.limits(level)
        square = max(0.0, sample.moments.square)
        if not self.squared:
            limits = (math.sqrt(limits[0]), math.sqrt(limits[1]))
        interval = ConfidenceInterval(*limits)
        return CalibrationErrorResult(
            error=square if self.squared else math.sqrt(square),
            confidence_interval=interval,
            confidence_level=level,
            method="bootstrap" if self.method == "bootstrap" else "score",
            squared=self.squared,
            standard_error=(interval.high - interval.low) / (2.0 * self.z),
            pvalue=sample.score.pvalue,
            distribution=distribution,
            bins=bins_of(sample.bins, sample.strategy),
            impossible=impossible_answers(sample.ordered),
        )

    def _sampled(
        self, queries: Queries | QueryScan, rng: np.random.Generator
    ) -> CalibrationErrorResult:
        """Return the interval of Algorithm 2, which takes the queries as independent."""
        ordered = sort_or_scan(queries)
        if isinstance(self.bin_size, str) and self.n_bins is None:
            # About 2 sqrt(N) bins.
            wanted = max(5, math.floor(math.sqrt(n_effective(ordered)) / 2.0))
            size = wanted / effective_scale(ordered)
            binned = cut(ordered, BySize(size), size)
        else:
            binned = bin_queries(ordered, self.bin_size, self.n_bins)
        bins = bins_of(binned)
        errors = sampled_errors(binned, self.n_resamples, rng, self.squared)
        centre, sd = float(errors.mean()), float(errors.std(ddof=1))
        low, high = max(0.0, centre - self.z * sd), min(1.0, centre + self.z * sd)
        return CalibrationErrorResult(
            error=bins.error(squared=self.squared),
            confidence_interval=ConfidenceInterval(low, high),
            confidence_level=float(self.confidence_level),
            method="sampling",
            squared=self.squared,
            standard_error=sd,
            pvalue=None,
            distribution=errors,
            bins=bins,
            impossible=impossible_answers(ordered),
        )


def calibration_error_interval(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    squared: bool = False,
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    groups: Groups = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    random_state: RandomState = None,
) -> CalibrationErrorResult:
    """Calibration error with a confidence interval.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    bin_size : int or "auto", default="auto"
        Queries per bin. "auto" makes about 2 sqrt(N) bins: narrow enough that
        nothing is lost inside them, and chosen without a look at the labels.
    n_bins : int, default=None
        Ask for a number of bins instead of a size.
    squared : bool, default=False
        Give everything for the squared error.
    method : {"auto", "score", "sampling", "bootstrap"}, default="auto"
        "score" (what "auto" means) inverts a test of the debiased error; it
        needs no resampling. "bootstrap" is the BCa bootstrap of the debiased
        error over queries, or over groups; it is slower, and wider than it
        need be. "sampling" is Algorithm 2 of Nguyen & O'Connor
        (2015) [1]_: draw each bin's frequency from a normal law, recompute
        the error, and report mean +- z standard deviations. It is biased
        upwards, so that it rarely covers the truth for well-calibrated
        models; it is here to reproduce published numbers, and takes the
        queries as independent.
    confidence_level : float, default=0.95
        Level of the interval.
    n_resamples : int, default=10000
        Number of draws for "sampling" and "bootstrap".
    groups : array-like of shape (n_samples,), False or None, default=None
        Which sentence, document or person each query belongs to. Queries of
        one group may depend on each other; groups are taken as independent.
        None uses the groups of a Queries object, where it has some, and the
        rows of a 2-D `y_prob`; False takes all queries as independent.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. For "sampling" an integer weight stands for so
        many copies; otherwise weights say how reliable a row is.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws; "score" needs none.

    Returns
    -------
    CalibrationErrorResult
        Error, interval, p-value and bins.

    See Also
    --------
    adaptive_bin_calibration_error : The error alone.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor, "Posterior calibration and exploratory
       analysis for natural language processing models", EMNLP 2015.

    Examples
    --------
    >>> from sklearn_calib import calibration_error_interval
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(5000, distortion="shift", strength=0.1, random_state=0)
    >>> result = calibration_error_interval(sample.queries)
    >>> result.confidence_interval.low < sample.error < result.confidence_interval.high
    True
    """
    maker = IntervalMaker(bin_size, n_bins, squared, method, confidence_level, n_resamples)
    if method == "sampling" and groups is not None and groups is not False:
        raise ValueError(
            "method='sampling' takes the queries as independent; leave groups out, or use another "
            "method."
        )
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    return maker.of_queries(queries, random_state)
