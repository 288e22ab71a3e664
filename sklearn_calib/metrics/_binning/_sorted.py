"""Sorted queries and how they are cut into bins: plain arrays, no statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.queries._queries import Queries

if TYPE_CHECKING:
    from sklearn_calib.metrics._binning._rules import Rule

# Rows handled at a time where a pass over the data makes temporaries: they stay in cache.
CHUNK = 32_768

# Sums of weights are compared with a bin size; this much rounding is forgiven,
# so that ten weights of 0.1 do fill a bin of size 1.
TOLERANCE = 1e-9

# Runs so many times as long as usual say nothing of where other bins end.
_LONG = 20.0


@dataclass(frozen=True, eq=False)
class Pool:
    """What stands behind rows that hold many queries each, as those of a scan do.

    Attributes
    ----------
    n : ndarray of shape (n_rows,)
        Queries of each row.
    powers : Mapping of int to (ndarray, ndarray)
        For each power of the weights its sum over the queries of a row, and
        the mean prediction of the row in these weights.
    run_ends : ndarray of int of shape (n_runs,)
        Where each run ends. A run is all queries of one prediction, or a lump.
    lump : ndarray of bool of shape (n_runs,)
        Which runs hold queries of several predictions, so close to each other
        that their sums are known to rounding, though not where to cut them.
    lump_high : callable
        Returns what the predictions of each lump do not exceed.
    whole_weights : bool
        Whether all weights are whole numbers.
    one_weight : bool
        Whether all weights are the same.
    """

    n: Array
    powers: Mapping[int, tuple[Array, Array]]
    run_ends: Array
    lump: Array
    lump_high: Callable[[], Array]
    whole_weights: bool = True
    one_weight: bool = True

    @cached_property
    def cumulative_count(self) -> Array:
        """Number of queries up to and including each row."""
        return np.cumsum(self.n)

    @cached_property
    def run_counts(self) -> Array:
        """Number of queries up to the end of each run."""
        return np.rint(self.cumulative_count[self.run_ends - 1]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class SortedQueries:
    """Queries in order of prediction: answers, predictions, weights and units (or None).

    The unit of a query is the number of its group. In memory there is a row for
    each query. The rows of a scan stand for many queries each: `pool` says what
    is behind them.
    """

    y: Array
    q: Array
    w: Array | None = None
    unit: Array | None = None
    pool: Pool | None = None

    @property
    def grouped(self) -> bool:
        """Whether queries of one group may depend on each other."""
        return self.unit is not None

    def __len__(self) -> int:
        return len(self.q) if self.pool is None else int(self.pool.run_counts[-1])

    @property
    def total(self) -> float:
        """The number of queries, or the sum of their weights."""
        return float(self.cumulative[-1]) if self.w is not None else float(len(self))

    @cached_property
    def cumulative(self) -> Array:
        """Number or weight of queries up to and including each row."""
        if self.w is not None:
            return np.cumsum(self.w)
        if self.pool is not None:
            return self.pool.cumulative_count
        return np.arange(1, len(self.q) + 1)

    def power(self, k: int) -> tuple[Array | None, Array]:
        """Return the sum of the k-th powers of the weights of each row, and its prediction.

        Whatever adds up weight ** k times a function of answer and prediction is
        made from these two, in memory and in a scan. None stands for ones.
        """
        if self.pool is not None:
            return self.pool.powers[k]
        return (None if self.w is None else self.w if k == 1 else self.w**k), self.q

    @property
    def weights(self) -> Array:
        """The weight of each row: one where there are none."""
        weight = self.power(1)[0]
        return np.ones(len(self.q)) if weight is None else weight

    @property
    def squared_weights(self) -> Array:
        """The squared weights of each row."""
        weight = self.power(2)[0]
        return np.ones(len(self.q)) if weight is None else weight

    @property
    def weighted_residuals(self) -> Array:
        """Weight times answer minus prediction."""
        weight, q = self.power(1)
        residuals = np.subtract(self.y, q)
        if weight is not None:
            residuals *= weight
        return residuals

    @cached_property
    def whole_weights(self) -> bool:
        """Whether all weights are whole numbers, and so may stand for copies."""
        if self.pool is not None:
            return self.pool.whole_weights
        return self.w is None or not (self.w % 1).any()

    @property
    def one_weight(self) -> bool:
        """Whether all queries have the same weight."""
        if self.pool is not None:
            return self.pool.one_weight
        return self.w is None or bool(self.w.min() == self.w.max())

    @cached_property
    def has_ties(self) -> bool:
        """Whether any two predictions are equal."""
        q = self.q
        return any(
            bool((q[a + 1 : a + 1 + CHUNK] == q[a : a + CHUNK][: len(q) - a - 1]).any())
            for a in range(0, len(q) - 1, CHUNK)
        )

    @cached_property
    def runs(self) -> Array:
        """Where each run of equal predictions ends."""
        if self.pool is not None:
            return self.pool.run_ends
        ends = np.flatnonzero(self.q[1:] != self.q[:-1])
        ends += 1
        return np.append(ends, len(self.q))

    @property
    def run_counts(self) -> Array:
        """Number of queries up to the end of each run."""
        return self.runs if self.pool is None else self.pool.run_counts

    @cached_property
    def run_weights(self) -> Array:
        """Number or weight of queries up to the end of each run."""
        return self.run_counts if self.w is None else self.cumulative[self.runs - 1]

    @property
    def run_high(self) -> Array:
        """The prediction of each run of a scan; for a lump, what its predictions do not exceed."""
        assert self.pool is not None
        high = self.q[self.runs - 1]
        high[self.pool.lump] = self.pool.lump_high()
        return high

    @cached_property
    def usual_excess(self) -> tuple[float, float]:
        """By how much bins exceed their size, as mean and variance, from runs that are known."""
        return _usual_excess(self)

    def resolved(self, *rules: Rule) -> SortedQueries:
        """Return the same queries, known well enough for these rules to cut them exactly."""
        return self

    def apart(self) -> SortedQueries:
        """Return the same queries in lumps as small as they were read."""
        return self

    def cut_by_size(self, size: float, min_rows: int = 1) -> Array:
        """Return where each bin ends.

        A bin closes once it holds `size` queries (or that much weight), at
        least `min_rows` rows, and its last run of equal predictions is
        complete. A last bin that falls short is merged into the one before.
        """
        if self.w is None:
            size = max(int(size), min_rows)
            if self.pool is not None:
                targets = regular_ends(len(self), size)[:-1]
                found = np.searchsorted(self.run_counts, targets)
                if np.array_equal(self.run_counts[found], targets):
                    return np.append(self.runs[found], len(self.q))
            else:
                ends = regular_ends(len(self.q), size)
                # Without a tie across an edge, the cut is a plain slice.
                if len(ends) == 1 or not self._tied(ends[:-1]).any():
                    return ends
                if len(self.runs) > len(self.q) // 4:
                    return self._jumping_ends(int(size))
        return self._greedy_ends(size, min_rows)

    def _jumping_ends(self, size: int) -> Array:
        """Return the ends of bins where ties are rare: regular steps between tied edges."""
        n, ends, position, ahead = len(self.q), [], 0, 64
        while position + size <= n:
            edges = np.arange(position + size, min(position + ahead * size, n) + 1, size)
            inner = edges[edges < n]
            tied = np.flatnonzero(self._tied(inner))
            if len(tied) == 0:
                ends.append(edges)
                position = int(edges[-1])
                ahead = min(2 * ahead, 65_536)
                continue
            first = int(tied[0])
            ends.append(edges[:first])
            # The tied edge moves up to the end of its run.
            position = int(self.runs[np.searchsorted(self.runs, edges[first])])
            ends.append(np.array([position]))
            ahead = max(8, min(2 * first, ahead))
        found = np.concatenate(ends)
        found[-1] = n
        return found

    def _tied(self, edges: Array) -> Array:
        return self.q[edges - 1] == self.q[edges]

    def _greedy_ends(self, size: float, min_rows: int) -> Array:
        held, rows = self.run_weights, self.run_counts
        last = len(rows)
        if self.w is None:
            need: float = int(size)
            min_rows = 1
        else:
            need = size * (1.0 - TOLERANCE)

        def following(weight: Any, row: Any) -> Any:
            """Return the run that completes a bin which starts after so much."""
            found = np.searchsorted(held, weight + need)
            # Beside a large weight, a small one may be lost in rounding: a row is one all the same.
            return np.maximum(found, np.searchsorted(rows, row + min_rows))

        chosen: list[int] = []
        run = int(following(held.dtype.type(0), 0))
        if held[-1] < last * size / 128:
            # Few bins: look up each end.
            while run < last:
                chosen.append(run)
                run = int(following(held[run], rows[run]))
        else:
            # Many bins: find the successor of every run at once, then follow the links.
            links = following(held, rows).tolist()
            while run < last:
                chosen.append(run)
                run = links[run]
        if not chosen:
            return np.array([len(self.q)])
        ends = self.runs[chosen]
        # What is left after the last full bin joins it.
        ends[-1] = len(self.q)
        return ends

    def cut_by_number(self, n_bins: int) -> Array:
        """Return where each of `n_bins` bins of equal weight ends.

        Bins that would share a run of equal predictions become one.
        """
        if self.w is None:
            n = len(self)
            targets = -(-n * np.arange(1, n_bins + 1) // n_bins)
            ends = np.unique(targets)
            tied = self.pool is not None or (len(ends) > 1 and self._tied(ends[:-1]).any())
            if not tied:
                return ends
            found = np.searchsorted(self.run_counts, ends)
        else:
            shares = (np.arange(1, n_bins + 1) - TOLERANCE) / n_bins
            found = np.searchsorted(self.run_weights, self.total * shares)
        ends = np.unique(self.runs[np.minimum(found, len(self.runs) - 1)])
        # Rows of next to no weight at the end belong to the last bin.
        ends[-1] = len(self.q)
        return ends

    def cut_by_width(self, n_bins: int) -> Array:
        """Return where each non-empty bin of width 1 / n_bins ends."""
        edges = width_edges(n_bins)
        if self.pool is None:
            ends = np.searchsorted(self.q, edges, side="right")
        else:
            run = np.searchsorted(self.run_high, edges, side="right")
            ends = np.append(0, self.runs)[run]
        ends = np.append(ends, len(self.q))
        return np.unique(ends[ends > 0])


def _usual_excess(queries: SortedQueries) -> tuple[float, float]:
    """Return by how much bins exceed their size, as mean and variance, from runs that are known."""
    held, pool = queries.run_weights, queries.pool
    size = np.diff(held, prepend=0).astype(float)
    if pool is not None:
        # Whatever is at 0 and at 1, no other bin ends there.
        q = queries.q[queries.runs - 1]
        size = size[~pool.lump & (q > 0.0) & (q < 1.0)]
    if queries.w is None and len(size):
        # Neither are a few long runs what is usual elsewhere.
        size = size[size <= _LONG * _weighted_median(size)]
    if len(size) < 100 or size.sum() == 0.0:
        if queries.w is None:
            return 0.0, 0.0
        first, second, third = (_total(queries, k) for k in (1, 2, 3))
        mean, square = second / first / 2.0, third / first / 3.0
        return mean, max(0.0, square - mean**2)
    # A place in a run, drawn with equal probability of all places.
    step = 1.0 if queries.w is None else 0.0
    mean = float(np.dot(size, size - step) / size.sum()) / 2.0
    square = float(np.dot(size, (size - step) * (2.0 * size - step)) / size.sum()) / 6.0
    return mean, max(0.0, square - mean**2)


def _weighted_median(size: Array) -> float:
    """Return the length of the run that a query is in, for the median of the queries."""
    ordered = np.sort(size)
    held = np.cumsum(ordered)
    return float(ordered[np.searchsorted(held, held[-1] / 2.0)])


def _total(queries: SortedQueries, power: int) -> float:
    weight = queries.power(power)[0]
    return float(len(queries)) if weight is None else float(weight.sum())


def distinct(values: Array) -> Array:
    """Return distinct values in order: for many of them, sorting beats the table of np.unique."""
    values = np.sort(values)
    return values[np.append(True, values[1:] != values[:-1])] if len(values) else values


def ranges(first: Array, last: Array) -> Array:
    """Return all numbers from each first up to its last, where that is not before it."""
    length = np.maximum(last - first + 1, 0)
    before = np.cumsum(length) - length
    return np.repeat(first - before, length) + np.arange(length.sum())


def width_edges(n_bins: int) -> Array:
    """Return the predictions between bins of equal width; each belongs to the bin below it."""
    return np.linspace(0.0, 1.0, n_bins + 1)[1:-1]


def regular_ends(n: int, size: int) -> Array:
    """Return the ends of bins of `size` among n; what is left over joins the last bin."""
    ends = np.arange(size, n + 1, size)
    if len(ends) == 0:
        return np.array([n])
    ends[-1] = n
    return ends


def sort_queries(queries: Queries, *, units: Array | None = None) -> SortedQueries:
    """Sort queries by prediction, in an order that the order of rows cannot change.

    Queries of weight zero are left out: they stand for no query at all. `units`
    numbers the groups of the queries, where they are needed.
    """
    y, q, w = queries.y_true, queries.y_prob, queries.sample_weight
    if w is not None and not w.all():
        keep = w > 0
        y, q, w = y[keep], q[keep], w[keep]
        units = None if units is None else units[keep]
    # The bits of a float64 in [0, 1] leave the top two bits free. Shifted up by
    # one they make room for the label, and seen as a float64 again they are
    # still finite, positive and in the same order. So one plain sort carries
    # the labels along: no argsort, no gather, and nothing is lost.
    key = np.left_shift(q.view(np.int64), 1)
    np.bitwise_or(key, y, out=key)
    if w is not None and units is None:
        # Complex numbers are sorted by their real parts, and equal ones by their imaginary parts.
        # So weights are carried along as well, in an order of their own where predictions are tied.
        both = np.empty(len(key), dtype=np.complex128)
        both.real, both.imag = key.view(np.float64), w
        both.sort()
        key = np.ascontiguousarray(both.real).view(np.int64)
        weight = np.ascontiguousarray(both.imag)
        return SortedQueries((key & 1).astype(bool), (key >> 1).view(np.float64), weight)
    others = [values for values in (units, w) if values is not None]
    if others:
        order = np.argsort(key.view(np.float64))
        placed = key[order]
        if (placed[1:] == placed[:-1]).any():
            order = np.lexsort((*others, key))
        weights, unit = (None if values is None else values[order] for values in (w, units))
        return SortedQueries(y[order], q[order], weights, unit)
    key.view(np.float64).sort()
    answers = np.empty(len(key), dtype=bool)
    np.bitwise_and(key, 1, out=answers, casting="unsafe")
    key >>= 1
    return SortedQueries(answers, key.view(np.float64))
