"""How large the bins are: one rule to estimate, one to draw, one to infer.

The best bins for the three purposes differ. An estimate wants the size that
predicts the residuals of held-out queries best. A curve wants smooth and
never single points, and about the cube root of N bins give that. An interval
or a test must not choose its bins by the labels, and wants bins narrow enough
that the curve is flat inside them: about twice the square root of N bins.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._sorting import CHUNK, SortedQueries, sorted_queries
from sklearn_calib.queries import as_queries

__all__ = ["select_bin_size"]

# At least this many rows go into a bin whose variance is estimated.
MIN_ROWS = 5


def effective_scale(queries: SortedQueries) -> float:
    """Return the factor that turns weights into numbers of queries.

    Scaled by it, the weights sum to Kish's effective number of queries. Copies
    tell nothing new, so that integer weights are no exception here.
    """
    w = queries.w
    return 1.0 if w is None else float(w.sum() / np.square(w).sum())


def n_effective(queries: SortedQueries) -> float:
    """Return how many queries these are, after the scale of the weights is fixed."""
    return queries.total * effective_scale(queries)


def drawing_size(queries: SortedQueries) -> float:
    """Return the size of about cbrt(N) bins; integer weights count as copies."""
    scale = 1.0 if queries.whole_weights else effective_scale(queries)
    n = queries.total * scale
    # cbrt of a perfect cube may come out a hair above its root.
    size = math.ceil(n / math.ceil(np.cbrt(n) - 1e-9) - 1e-9)
    return max(1, size) / scale


def inference_size(queries: SortedQueries) -> float:
    """Return the size of about 2 sqrt(N) bins."""
    n = n_effective(queries)
    return max(MIN_ROWS, math.floor(math.sqrt(n) / 2)) / effective_scale(queries)


def candidate_sizes(n: float) -> list[int]:
    """Return the sizes to try, largest first: 1 to N/5 bins in steps of sqrt(2)."""
    most = max(1.0, n / MIN_ROWS)
    numbers = np.sqrt(2.0) ** np.arange(math.floor(2 * math.log2(most) + 1e-9) + 1)
    return sorted({max(1, int(n // k)) for k in np.rint(numbers)}, reverse=True)


def leave_one_out_risks(queries: SortedQueries, sizes: Sequence[Any]) -> Array:
    """Return, for each size, how badly a residual is predicted by the others in its bin.

    This is the mean squared leave-one-out error of the residual regressogram.
    A bin that holds a single query has nothing to predict it from: infinite.
    """
    n, scale = len(queries), effective_scale(queries)
    if queries.w is None and not queries.has_ties:
        starts = [(max(n // size, 1) - 1) * size for size in sizes]
        running, unit, total, tails = _running_residuals(queries, starts)
        return np.array(
            [
                _regular_risk(running, unit, size, start, total - tail, tail)
                for size, start, tail in zip(sizes, starts, tails, strict=True)
            ]
        )
    # Running sums of the residuals give any bin's sum as a difference of two.
    running = np.zeros(n + 1)
    r = np.subtract(queries.y, queries.q, out=running[1:])
    cuts = [queries.cut_by_size(size / scale) for size in sizes]
    running2 = np.zeros(n + 1)
    r2 = np.square(r, out=running2[1:])
    held = held2 = None
    if queries.w is not None:
        r *= queries.w
        r2 *= queries.w
        held = np.concatenate(([0.0], queries.cumulative))
        held2 = np.concatenate(([0.0], np.cumsum(np.square(queries.w))))
    np.cumsum(r, out=r)
    np.cumsum(r2, out=r2)
    return np.array([_risk(running, running2, held, held2, ends) for ends in cuts])


def _sum_of_squares(values: Array) -> float:
    """Return the sum of squares, without the threads that a BLAS would start for it."""
    return float(np.einsum("i,i->", values, values))


def _running_residuals(
    queries: SortedQueries, starts: list[int]
) -> tuple[Array, float, float, list[float]]:
    """Return running sums of the residuals from 0, their unit, and sums of squares.

    The squares are summed in all, and from each of the starts to the end. One
    pass in pieces that fit into the cache does it all.

    The running sums are whole numbers of a unit, because integers are added up
    several times faster than floats, and without rounding. Adding 3 * 2**e to a
    residual leaves its value in such units in the low bits of the float.
    """
    n = len(queries)
    e = max(1, math.ceil(math.log2(n + 1)) - 10)
    shift, unit = 3.0 * 2.0**e, 2.0 ** (e - 51)
    shift_bits = np.float64(shift).view(np.int64)
    running = np.empty(n + 1, dtype=np.int64)
    running[0] = 0
    buffer = np.empty(min(n, CHUNK))
    points = sorted({*range(0, n, CHUNK), *starts})
    squares = []
    for a, b in pairwise([*points, n]):
        r = np.subtract(queries.y[a:b], queries.q[a:b], out=buffer[: b - a])
        squares.append(_sum_of_squares(r))
        piece = running[a + 1 : b + 1]
        np.add(r, shift, out=piece.view(np.float64))
        piece -= shift_bits
        piece[0] += running[a]
        np.cumsum(piece, out=piece)
    tails = dict(zip(points, np.cumsum(squares[::-1])[::-1].tolist(), strict=True))
    return running, unit, tails[0], [tails[start] for start in starts]


def _regular_risk(
    running: Array, unit: float, size: int, start: int, before: float, after: float
) -> float:
    """Return the risk for untied queries: equal bins up to `start`, and one after it.

    `before` and `after` are the sums of squared residuals on either side.
    """
    n = len(running) - 1
    if size < 2 or n - start < 2:
        return math.inf
    # Bins of one size share one factor, so that only their squared sums are needed.
    sums = np.diff(running[: start + 1 : size]) * unit
    full = max(0.0, before - _sum_of_squares(sums) / size)
    tail = n - start
    rest = max(0.0, after - (float(running[-1] - running[start]) * unit) ** 2 / tail)
    return (full * (size / (size - 1)) ** 2 + rest * (tail / (tail - 1)) ** 2) / n


def _risk(
    running: Array, running2: Array, held: Array | None, held2: Array | None, ends: Array
) -> float:
    edges = np.concatenate(([0], ends))
    w = np.diff(edges if held is None else held[edges]).astype(float)
    # A row is left out whole, whatever its weight: a bin has so many rows in effect.
    n = w if held2 is None else np.square(w) / np.diff(held2[edges])
    if (n <= 1.0 + 1e-9).any():
        return math.inf
    # A bin whose residuals are all equal can come out below zero by rounding.
    within = np.maximum(np.diff(running2[edges]) - np.square(np.diff(running[edges])) / w, 0.0)
    return float(np.sum(np.square(n / (n - 1.0)) * within) / w.sum())


def estimation_size(queries: SortedQueries, least_bins: int = 1) -> float:
    """Return the size of least leave-one-out risk; the largest of equals."""
    n = n_effective(queries)
    sizes = [size for size in candidate_sizes(n) if size * least_bins <= n] or [max(1, int(n))]
    best = int(np.argmin(leave_one_out_risks(queries, sizes)))
    return sizes[best] / effective_scale(queries)


AUTO = {"draw": drawing_size, "infer": inference_size}


def cut(
    queries: SortedQueries,
    bin_size: Any,
    n_bins: int | None,
    *,
    purpose: str,
    min_rows: int = 1,
    least_bins: int = 1,
) -> tuple[Array, float | None]:
    """Return where the bins end, and the size that was aimed at (None for a number of bins)."""
    if n_bins is not None:
        if n_bins > len(queries):
            warnings.warn(
                f"n_bins={n_bins} is larger than the number of queries ({len(queries)}): "
                "no bin can hold less than one query.",
                UserWarning,
                stacklevel=3,
            )
        return queries.cut_by_number(min(int(n_bins), len(queries))), None
    if isinstance(bin_size, str):
        if purpose == "estimate":
            size = estimation_size(queries, least_bins)
        else:
            size = AUTO[purpose](queries)
        size = int(size) if queries.w is None else size
    else:
        size = int(bin_size)
        if size > queries.total:
            what = "number of queries" if queries.w is None else "sum of the weights"
            warnings.warn(
                f"bin_size={size} is larger than the {what} ({queries.total:g}): "
                "all queries fall into one bin.",
                UserWarning,
                stacklevel=3,
            )
    return queries.cut_by_size(size, min_rows), size


def select_bin_size(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> int:
    """Choose the bin size that estimates the calibration error best.

    The residuals `y_true - y_prob` are predicted by the mean of the other
    residuals in their bin; the size with the least mean squared error wins.
    The sizes tried run from one bin to N/5 bins, in steps of sqrt(2).

    Parameters
    ----------
    y_true : array-like of shape (n_queries,) or Queries
        Binary labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_queries,)
        Predicted probabilities.
    sample_weight : array-like of shape (n_queries,), default=None
        Non-negative weights; an integer weight stands for so many copies.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.

    Returns
    -------
    int
        The number of queries a bin (the weight a bin, rounded, where weights are given).

    See Also
    --------
    adaptive_bin_calibration_error : Uses this choice when `bin_size="auto"`.

    Examples
    --------
    >>> from sklearn_calib import select_bin_size
    >>> from sklearn_calib.datasets import make_queries
    >>> queries = make_queries(10_000, distortion="slope", strength=2.0, random_state=0).queries
    >>> 100 < select_bin_size(queries) < 5000
    True
    """
    queries = as_queries(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
    ordered = sorted_queries(queries)
    return max(1, round(estimation_size(ordered)))
