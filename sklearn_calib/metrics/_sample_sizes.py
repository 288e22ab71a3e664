"""How the error settles as the sample grows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._results import ConfidenceInterval, PlottedResult
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_array_like,
    check_generator,
    check_integer,
)
from sklearn_calib.metrics._bin_sizes import RunningSums
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._inference._sample import LEAST_ROWS
from sklearn_calib.metrics._interval import IntervalMaker
from sklearn_calib.queries._as_queries import as_queries
from sklearn_calib.queries._queries import Queries

__all__ = ["SampleSizeCurve", "sample_size_curve"]


@dataclass(frozen=True, eq=False, repr=False)
class SampleSizeCurve(PlottedResult):
    """Calibration errors of nested random subsamples.

    Attributes
    ----------
    sample_size : ndarray of int of shape (n_sizes,)
        Queries in each subsample, smallest first.
    error : ndarray of shape (n_sizes,)
        Plug-in error in bins of sqrt(N) queries.
    debiased_error : ndarray of shape (n_sizes,)
        Error without what sampling noise adds, in the bins of the interval.
    confidence_interval : ConfidenceInterval
        Arrays `low` and `high` of the interval of each subsample.
    null_interval : ConfidenceInterval
        Arrays `low` and `high`: where the plug-in error of a perfectly
        calibrated model would fall.
    confidence_level : float
        Level of both.

    See Also
    --------
    sample_size_curve : Makes this object.
    """

    sample_size: Array
    error: Array
    debiased_error: Array
    confidence_interval: ConfidenceInterval
    null_interval: ConfidenceInterval
    confidence_level: float

    def _columns(self) -> dict[str, Array]:
        return {
            "sample_size": self.sample_size,
            "error": self.error,
            "debiased_error": self.debiased_error,
            "low": self.confidence_interval.low,
            "high": self.confidence_interval.high,
            "null_low": self.null_interval.low,
            "null_high": self.null_interval.high,
        }


def sample_size_curve(
    y_true: ArrayLike | Queries,
    y_prob: ArrayLike | None = None,
    sample_sizes: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    classes: ArrayLike | None = None,
    pos_label: object = None,
    random_state: RandomState = None,
) -> SampleSizeCurve:
    """Calibration error of nested random subsamples, to see whether the sample is large enough.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Queries
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    sample_sizes : array-like of int, default=None
        Sizes of the subsamples; by default from 50 to all, doubling.
    confidence_level : float, default=0.95
        Level of the intervals and of the band of a calibrated model.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the order in which queries are taken.

    Returns
    -------
    SampleSizeCurve
        Errors with intervals, and the band of a perfectly calibrated model.

    See Also
    --------
    bin_size_curve : The error against bin size.

    Examples
    --------
    >>> from sklearn_calib import sample_size_curve
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(10_000, distortion="shift", random_state=0)
    >>> curve = sample_size_curve(sample.queries, [100, 1000, 10_000], random_state=0)
    >>> width = curve.confidence_interval.high - curve.confidence_interval.low
    >>> bool(width[0] > width[1] > width[2])
    True
    """
    maker = IntervalMaker(confidence_level=confidence_level)
    level = float(confidence_level)
    # With queries in place of both arrays, the sizes come second.
    if isinstance(y_true, Queries) and y_prob is not None and sample_sizes is None:
        y_prob, sample_sizes = None, y_prob
    queries = as_queries(y_true, y_prob, classes=classes, pos_label=pos_label)
    n = len(queries)
    if sample_sizes is None:
        doublings = max(0, math.floor(math.log2(max(n, 1) / 50)))
        sizes = sorted({min(50 * 2**k, n) for k in range(doublings + 1)} | {n})
    else:
        sizes = sorted(
            {
                check_integer(size, "each of sample_sizes", LEAST_ROWS)
                for size in check_array_like(sample_sizes, "sample_sizes").tolist()
            }
        )
    if not sizes or sizes[-1] > n:
        raise ValueError(f"sample_sizes must name sizes up to the number of queries, {n}.")
    order = check_generator(random_state).permutation(n)
    rows = []
    for size in sizes:
        part = queries._take(np.sort(order[:size]))
        ordered = sort_queries(part)
        ends = ordered.cut_by_size(max(1, round(math.sqrt(size))))
        _, plug_in, _, *null = RunningSums(ordered).at(ends, level)
        result = maker.of_queries(part)
        rows.append((plug_in, result.error, *result.confidence_interval, *null))
    error, debiased, low, high, null_low, null_high = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    return SampleSizeCurve(
        np.array(sizes),
        error,
        debiased,
        ConfidenceInterval(low, high),
        ConfidenceInterval(null_low, null_high),
        level,
    )
