"""How large the bins are where nobody says: one rule to estimate, draw and select.

A number, its picture and its parts share the same bins, max(10, cbrt(N)) of
equal count, which are blind to the labels and the same from fold to fold. (An
interval or a test wants narrower bins: see `_balanced`.)

A second rule looks at the labels: the size that predicts the residuals of
held-out queries best. It is there for those who ask for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._rules import BySize
from sklearn_calib.metrics._binning._sorted import CHUNK, SortedQueries

# At least this many rows go into a bin whose variance is estimated.
MIN_ROWS = 5

# Bins of a scan, at most, where sizes are compared.
MOST_SCANNED = 4096


def effective_scale(queries: SortedQueries) -> float:
    """Return the factor that turns weights into numbers of queries.

    Scaled by it, the weights sum to Kish's effective number of queries. Copies
    tell nothing new, so that integer weights are no exception here.
    """
    w = queries.w
    return 1.0 if w is None else float(w.sum() / queries.squared_weights.sum())


def n_effective(queries: SortedQueries) -> float:
    """Return how many queries these are, after the scale of the weights is fixed."""
    return queries.total * effective_scale(queries)


def standard_number(queries: SortedQueries) -> int:
    """Return max(10, cbrt(N)) bins; integer weights count as copies."""
    whole = queries.whole_weights
    n = queries.total if whole else n_effective(queries)
    return int(min(queries.total if whole else len(queries), number_of_bins(n)))


def number_of_bins(n: float) -> int:
    """Return max(10, cbrt(n)), the number of bins for so many queries."""
    # cbrt of a perfect cube may come out a hair above its root.
    return max(10, math.ceil(np.cbrt(n) - 1e-9))


def sizes_to_try(queries: SortedQueries) -> list[int]:
    """Return the sizes to try; a scan has to read every end of a bin, and so has fewer bins."""
    return candidate_sizes(n_effective(queries), None if queries.pool is None else MOST_SCANNED)


def candidate_sizes(n: float, most_bins: int | None = None) -> list[int]:
    """Return the sizes to try, largest first: 1 to N/5 bins in steps of sqrt(2)."""
    most = max(1.0, n / MIN_ROWS)
    if most_bins is not None:
        most = min(most, most_bins)
    numbers = np.sqrt(2.0) ** np.arange(math.floor(2 * math.log2(most) + 1e-9) + 1)
    return sorted({max(1, int(n // k)) for k in np.rint(numbers)}, reverse=True)


def leave_one_out_risks(queries: SortedQueries, sizes: Sequence[float]) -> Array:
    """Return, for each size, how badly a residual is predicted by the others in its bin.

    This is the mean squared leave-one-out error of the residual regressogram.
    A bin that holds a single query has nothing to predict it from: infinite.
    """
    n, scale = len(queries.q), effective_scale(queries)
    if queries.pool is None and queries.w is None and not queries.has_ties:
        whole = [int(size) for size in sizes]
        starts = [(max(n // size, 1) - 1) * size for size in whole]
        running, unit, total, tails = _running_residuals(queries, starts)
        return np.array(
            [
                _regular_risk(running, unit, size, start, total - tail, tail)
                for size, start, tail in zip(whole, starts, tails, strict=True)
            ]
        )
    # Running sums of the residuals give any bin's sum as a difference of two.
    weight, q = queries.power(1)
    running = np.zeros(n + 1)
    r = np.subtract(queries.y, q, out=running[1:])
    cuts = [queries.cut_by_size(size / scale) for size in sizes]
    running2 = np.zeros(n + 1)
    r2 = np.square(r, out=running2[1:])
    held = held2 = None
    if weight is not None:
        r *= weight
        r2 *= weight
        held = np.concatenate(([0.0], np.cumsum(weight)))
    if queries.w is not None:
        held2 = np.concatenate(([0.0], np.cumsum(queries.squared_weights)))
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


def least_risk_size(queries: SortedQueries) -> float:
    """Return the size of least leave-one-out risk; the largest of equals."""
    sizes = sizes_to_try(queries)
    scale = effective_scale(queries)
    queries = queries.resolved(*(BySize(size / scale) for size in sizes))
    best = int(np.argmin(leave_one_out_risks(queries, sizes)))
    return sizes[best] / effective_scale(queries)
