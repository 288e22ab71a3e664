"""Which bin size is best for an estimate, and how much does the choice matter?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_calib._results import ConfidenceInterval, PlottedResult
from sklearn_calib._validation import (
    Array,
    check_array_like,
    check_confidence_level,
    check_integer,
)
from sklearn_calib.metrics._binning._rules import BySize
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._binning._sizes import (
    effective_scale,
    least_risk_size,
    leave_one_out_risks,
    sizes_to_try,
)
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._inference._debiased import debiased_square, pair_factor
from sklearn_calib.queries._as_queries import queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["BinSizeCurve", "bin_size_curve", "select_bin_size"]


def select_bin_size(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> int:
    """Choose the bin size that estimates the calibration error best.

    The residuals `y_true - y_prob` are predicted by the mean of the other
    residuals in their bin; the size with the least mean squared error wins.
    The sizes tried run from one bin to N/5 bins, in steps of sqrt(2).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; an integer weight stands for so many copies.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.

    Returns
    -------
    int
        Queries per bin (weight per bin, rounded, where weights are given).

    See Also
    --------
    bin_size_curve : What the error would be with other sizes.

    Notes
    -----
    With `debias=True`, the error in bins of this size has a smaller error of
    its own than in bins of any other rule that was tried. It is not the
    default, because it looks at the labels: it would differ from fold to fold,
    and gives a well-calibrated model a single bin.

    Examples
    --------
    >>> from sklearn_calib import select_bin_size
    >>> from sklearn_calib.datasets import make_queries
    >>> queries = make_queries(10_000, distortion="slope", strength=2.0, random_state=0).queries
    >>> 100 < select_bin_size(queries) < 5000
    True
    """
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, sample_weight=sample_weight, pos_label=pos_label
    )
    return max(1, round(least_risk_size(sort_or_scan(queries))))


@dataclass(frozen=True, eq=False, repr=False)
class BinSizeCurve(PlottedResult):
    """Calibration errors of the same queries in bins of many sizes.

    Attributes
    ----------
    bin_size : ndarray of shape (n_sizes,)
        The sizes, smallest first.
    n_bins : ndarray of int of shape (n_sizes,)
        Number of bins of each size.
    error : ndarray of shape (n_sizes,)
        Plug-in error, which falls as bins grow whatever the truth is.
    debiased_error : ndarray of shape (n_sizes,)
        Error without what sampling noise adds; NaN for bins of one query.
    risk : ndarray of shape (n_sizes,)
        Leave-one-out risk, the least of which `select_bin_size` takes.
    null_interval : ConfidenceInterval
        Arrays `low` and `high`: where the plug-in error of a perfectly
        calibrated model would fall.
    selected : float
        The size of least risk, as `select_bin_size` returns it.
    confidence_level : float
        Level of `null_interval`.

    See Also
    --------
    bin_size_curve : Makes this object.
    """

    bin_size: Array
    n_bins: Array
    error: Array
    debiased_error: Array
    risk: Array
    null_interval: ConfidenceInterval
    selected: float
    confidence_level: float

    def _columns(self) -> dict[str, Array]:
        return {
            "bin_size": self.bin_size,
            "n_bins": self.n_bins,
            "error": self.error,
            "debiased_error": self.debiased_error,
            "null_low": self.null_interval.low,
            "null_high": self.null_interval.high,
            "risk": self.risk,
        }

    def _sentence(self) -> str:
        return f"selected for an estimate: bin_size {self.selected:g}"


def bin_size_curve(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    bin_sizes: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> BinSizeCurve:
    """Calibration error for many bin sizes, in one pass over running sums.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    bin_sizes : array-like of int, default=None
        The sizes to try; by default those that `select_bin_size` tries.
    confidence_level : float, default=0.95
        Level of the band of a perfectly calibrated model.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; an integer weight stands for so many copies.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.

    Returns
    -------
    BinSizeCurve
        Errors, risks and the band of a perfectly calibrated model.

    See Also
    --------
    select_bin_size : The size of least risk alone.

    Examples
    --------
    >>> from sklearn_calib import bin_size_curve
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(4096, distortion="shift", strength=0.1, random_state=0)
    >>> curve = bin_size_curve(sample.queries, bin_sizes=[8, 64, 512])
    >>> curve.n_bins
    array([512,  64,   8])
    >>> bool(curve.error[0] > curve.error[1] > sample.error)
    True
    """
    level = check_confidence_level(confidence_level)
    # With queries in place of both arrays, the sizes come second.
    if isinstance(y_true, (Queries, QueryScan)) and y_prob is not None and bin_sizes is None:
        y_prob, bin_sizes = None, y_prob
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, sample_weight=sample_weight, pos_label=pos_label
    )
    ordered = sort_or_scan(queries)
    scale = effective_scale(ordered)
    tried = sizes_to_try(ordered)
    ordered = ordered.resolved(*(BySize(size / scale) for size in tried))
    risks = leave_one_out_risks(ordered, tried)
    selected = tried[int(np.argmin(risks))] / scale
    if bin_sizes is None:
        sizes = np.array(tried[::-1]) / scale
        risk = risks[::-1]
    else:
        chosen = [
            check_integer(size, "each of bin_sizes")
            for size in check_array_like(bin_sizes, "bin_sizes").tolist()
        ]
        if not chosen:
            raise ValueError("bin_sizes is empty: name at least one size.")
        chosen_sizes = sorted(set(chosen))
        sizes = np.array(chosen_sizes)
        in_queries = chosen_sizes if scale == 1.0 else [size * scale for size in chosen_sizes]
        ordered = ordered.resolved(*(BySize(size) for size in chosen_sizes))
        risk = leave_one_out_risks(ordered, in_queries)
    sums = RunningSums(ordered)
    rows = [sums.at(ordered.cut_by_size(size), level) for size in sizes]
    n_bins, error, debiased, low, high = (np.array(column) for column in zip(*rows, strict=True))
    return BinSizeCurve(
        bin_size=sizes if scale != 1.0 else sizes.astype(int),
        n_bins=n_bins.astype(int),
        error=error,
        debiased_error=debiased,
        risk=risk,
        null_interval=ConfidenceInterval(low, high),
        selected=selected,
        confidence_level=level,
    )


class RunningSums:
    """Running sums over sorted queries, so that each size costs no more than its bins."""

    def __init__(self, queries: SortedQueries) -> None:
        y, pool = queries.y, queries.pool

        def running(power: int, values: Callable[[Array], Array]) -> Array:
            weight, q = queries.power(power)
            found = values(q)
            column = found if weight is None else weight * found
            return np.concatenate(([0.0], np.cumsum(column)))

        def fourth(q: Array) -> Array:
            """Fourth cumulant of a residual."""
            v = q * (1.0 - q)
            return v * (1.0 - 6.0 * v)

        self.sums = [
            running(1, np.ones_like),
            running(2, np.ones_like),
            running(1, lambda q: y - q),
            running(2, lambda q: np.square(y - q)),
            running(2, lambda q: q * (1.0 - q)),
            running(4, fourth),
        ]
        rows = np.arange(len(queries.q) + 1)
        self.count = rows if pool is None else np.append(0.0, pool.cumulative_count)

    def at(self, ends: Array, level: float) -> tuple[float, float, float, float, float]:
        """Return the number of bins, both errors and the null band for one cut."""
        edges = np.concatenate(([0], ends))
        w, w2, r, r2, v, k4 = (np.diff(column[edges]) for column in self.sums)
        total = w.sum()
        error = np.sqrt(np.sum(np.square(r) / w) / total)
        debiased = np.nan
        if (np.diff(self.count[edges]) > 1.5).all():
            debiased = np.sqrt(max(0.0, float(debiased_square(r, r2, pair_factor(w, w2)))))
        # Under perfect calibration: mean and variance of the squared error, by a gamma law.
        mean = np.sum(v / w) / total
        variance = np.sum((2.0 * np.square(v) + k4) / np.square(w)) / total**2
        if mean <= 0.0 or variance <= 0.0:
            return len(ends), float(error), float(debiased), 0.0, 0.0
        tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        low, high = np.sqrt(stats.gamma.ppf(tails, mean**2 / variance, scale=variance / mean))
        return len(ends), float(error), float(debiased), float(low), float(high)
