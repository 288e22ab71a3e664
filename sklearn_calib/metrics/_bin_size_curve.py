"""How much the choice of a bin size matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from sklearn_calib._results import ConfidenceInterval, format_table, to_frame
from sklearn_calib._validation import (
    Array,
    check_array_like,
    check_confidence_level,
    check_integer,
)
from sklearn_calib.metrics._bin_size import (
    candidate_sizes,
    effective_scale,
    leave_one_out_risks,
    n_effective,
)
from sklearn_calib.metrics._sorting import SortedQueries, sorted_queries
from sklearn_calib.queries import Queries, as_queries

__all__ = ["BinSizeCurve", "bin_size_curve"]


@dataclass(frozen=True, eq=False)
class BinSizeCurve:
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
        The size that `bin_size="auto"` takes for an estimate.
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

    def _columns(self) -> dict[str, Any]:
        return {
            "bin_size": self.bin_size,
            "n_bins": self.n_bins,
            "error": self.error,
            "debiased_error": self.debiased_error,
            "null_low": self.null_interval.low,
            "null_high": self.null_interval.high,
            "risk": self.risk,
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row a size."""
        return to_frame(self._columns())

    def __str__(self) -> str:
        table = format_table(self._columns(), most=60)
        return f"{table}\nselected for an estimate: bin_size {self.selected:g}"


def bin_size_curve(
    y_true: Any,
    y_prob: Any = None,
    bin_sizes: Any = None,
    *,
    confidence_level: float = 0.95,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> BinSizeCurve:
    """Calibration error for many bin sizes, in one pass over running sums.

    Parameters
    ----------
    y_true : array-like of shape (n_queries,) or Queries
        Binary labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_queries,)
        Predicted probabilities.
    bin_sizes : array-like of int, default=None
        The sizes to try; by default those that `select_bin_size` tries.
    confidence_level : float, default=0.95
        Level of the band of a perfectly calibrated model.
    sample_weight : array-like of shape (n_queries,), default=None
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
    if isinstance(y_true, Queries) and y_prob is not None and bin_sizes is None:
        y_prob, bin_sizes = None, y_prob
    queries = as_queries(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
    ordered = sorted_queries(queries)
    scale = effective_scale(ordered)
    tried = candidate_sizes(n_effective(ordered))
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
        w = np.ones(len(queries)) if queries.w is None else queries.w
        r = (queries.y - queries.q) * w
        v = queries.q * (1.0 - queries.q)
        w2 = np.square(w)
        # Fourth cumulant of a residual: v (1 - 6 v).
        columns = (w, w2, r, np.square(r), w2 * v, np.square(w2) * v * (1.0 - 6.0 * v))
        self.sums = [np.concatenate(([0.0], np.cumsum(column))) for column in columns]

    def at(self, ends: Array, level: float) -> tuple[float, float, float, float, float]:
        """Return the number of bins, both errors and the null band for one cut."""
        edges = np.concatenate(([0], ends))
        w, w2, r, r2, v, k4 = (np.diff(column[edges]) for column in self.sums)
        total = w.sum()
        error = np.sqrt(np.sum(np.square(r) / w) / total)
        pairs = np.square(w) - w2
        debiased = np.nan
        if (np.diff(edges) > 1).all():
            debiased = np.sqrt(max(0.0, np.sum(w * (np.square(r) - r2) / pairs) / total))
        # Under perfect calibration: mean and variance of the squared error, by a gamma law.
        mean = np.sum(v / w) / total
        variance = np.sum((2.0 * np.square(v) + k4) / np.square(w)) / total**2
        if mean <= 0.0 or variance <= 0.0:
            return len(ends), float(error), float(debiased), 0.0, 0.0
        tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        low, high = np.sqrt(stats.gamma.ppf(tails, mean**2 / variance, scale=variance / mean))
        return len(ends), float(error), float(debiased), float(low), float(high)
