"""Intervals for the calibration error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from sklearn_calib._results import ConfidenceInterval, percent
from sklearn_calib._validation import (
    Array,
    check_bin_options,
    check_confidence_level,
    check_generator,
    check_integer,
    check_option,
)
from sklearn_calib.metrics._bin_size import cut
from sklearn_calib.metrics._bins import CalibrationBins, bin_means
from sklearn_calib.metrics._inference import check_inference_bins, make_sample
from sklearn_calib.metrics._resampling import bca_limits, bootstrap_squares, sampled_errors
from sklearn_calib.metrics._score_interval import score_interval
from sklearn_calib.metrics._sorting import sorted_queries
from sklearn_calib.queries import Queries, as_queries

__all__ = ["CalibrationErrorResult", "calibration_error_interval"]

METHODS = ("auto", "score", "sampling", "bootstrap")


@dataclass(frozen=True, eq=False)
class CalibrationErrorResult:
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

    @property
    def mean_gap(self) -> float:
        """Mean prediction minus share of yes: positive where predictions are too high."""
        return self.bins.mean_gap

    @property
    def mean_overconfidence(self) -> float:
        """Positive where predictions are too extreme, negative where they are too cautious."""
        return self.bins.mean_overconfidence

    def __str__(self) -> str:
        low, high = self.confidence_interval
        name = "squared calibration error" if self.squared else "calibration error"
        text = f"{name} {self.error:.4f} [{low:.4f}, {high:.4f}]"
        text += f" ({percent(self.confidence_level)}, {self.method}, {len(self.bins)} bins)"
        if self.pvalue is not None:
            text += f", p = {self.pvalue:.3g} for perfect calibration"
        direction = "high" if self.mean_gap > 0 else "low"
        confidence = "over" if self.mean_overconfidence > 0 else "under"
        return (
            f"{text}\npredictions are on average {abs(self.mean_gap):.4f} too {direction}, "
            f"and {abs(self.mean_overconfidence):.4f} {confidence}confident"
        )


def interval_of_queries(
    queries: Queries,
    *,
    bin_size: Any,
    n_bins: int | None,
    squared: bool,
    method: str,
    level: float,
    n_resamples: int,
    groups: Any = None,
    random_state: Any = None,
) -> CalibrationErrorResult:
    """Return the interval for checked queries and options."""
    z = float(stats.norm.ppf(0.5 + level / 2.0))
    if method == "sampling":
        if groups is not None and groups is not False:
            raise ValueError(
                "method='sampling' takes the queries as independent; leave groups out, or use "
                "another method."
            )
        ordered = sorted_queries(queries)
        ends, size = cut(ordered, bin_size, n_bins, purpose="infer")
        bins = bin_means(ordered, ends, size, "adaptive")
        errors = sampled_errors(bins, n_resamples, check_generator(random_state), squared)
        centre, sd = float(errors.mean()), float(errors.std(ddof=1))
        low, high = max(0.0, centre - z * sd), min(1.0, centre + z * sd)
        return CalibrationErrorResult(
            error=bins.error(squared=squared),
            confidence_interval=ConfidenceInterval(low, high),
            confidence_level=level,
            method="sampling",
            squared=squared,
            standard_error=sd,
            pvalue=None,
            distribution=errors,
            bins=bins,
        )
    sample = make_sample(queries, bin_size, n_bins, groups)
    distribution = None
    if method == "bootstrap":
        squares = bootstrap_squares(sample.form, n_resamples, check_generator(random_state))
        limits = bca_limits(sample.form, squares, level)
        distribution = np.maximum(squares, 0.0)
        distribution = distribution if squared else np.sqrt(distribution)
    else:
        limits = score_interval(sample.moments, level, sample.pvalue)
    square = max(0.0, sample.moments.square)
    if not squared:
        limits = (math.sqrt(limits[0]), math.sqrt(limits[1]))
    interval = ConfidenceInterval(*limits)
    return CalibrationErrorResult(
        error=square if squared else math.sqrt(square),
        confidence_interval=interval,
        confidence_level=level,
        method="bootstrap" if method == "bootstrap" else "score",
        squared=squared,
        standard_error=(interval.high - interval.low) / (2.0 * z),
        pvalue=sample.pvalue,
        distribution=distribution,
        bins=sample.bins,
    )


def check_interval_options(
    bin_size: Any, n_bins: Any, method: str, confidence_level: Any, n_resamples: Any
) -> float:
    """Check the options that intervals share, and return the level."""
    check_option(method, "method", METHODS)
    if method == "sampling":
        check_bin_options(bin_size, n_bins)
    else:
        check_inference_bins(bin_size, n_bins)
    check_integer(n_resamples, "n_resamples", low=2)
    return check_confidence_level(confidence_level)


def calibration_error_interval(
    y_true: Any,
    y_prob: Any = None,
    *,
    bin_size: Any = "auto",
    n_bins: int | None = None,
    squared: bool = False,
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> CalibrationErrorResult:
    """Calibration error with a confidence interval.

    Parameters
    ----------
    y_true : array-like of shape (n_queries,) or Queries
        Binary labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_queries,)
        Predicted probabilities.
    bin_size : int or "auto", default="auto"
        Queries a bin. "auto" makes about 2 sqrt(N) bins: narrow enough that
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
    groups : array-like of shape (n_queries,), False or None, default=None
        Which sentence, document or person each query belongs to. Queries of
        one group may depend on each other; groups are taken as independent.
        None uses the groups of a Queries object, where it has some, and False
        ignores them.
    sample_weight : array-like of shape (n_queries,), default=None
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
    level = check_interval_options(bin_size, n_bins, method, confidence_level, n_resamples)
    queries = as_queries(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
    return interval_of_queries(
        queries,
        bin_size=bin_size,
        n_bins=n_bins,
        squared=squared,
        method=method,
        level=level,
        n_resamples=n_resamples,
        groups=groups,
        random_state=random_state,
    )
