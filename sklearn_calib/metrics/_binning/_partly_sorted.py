"""Queries in memory of which only those at the edges of bins are sorted.

Which queries a bin holds is decided at its edges. One pass counts and adds up the
queries of narrow buckets of predictions, fine at both ends of [0, 1]; only the
buckets that an edge falls into are then sorted. Bins end at the very places where
a full sort would end them, and their means agree with its to rounding.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cache

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._rules import Rule
from sklearn_calib.metrics._binning._sizes import number_of_bins
from sklearn_calib.metrics._binning._sorted import Pool, SortedQueries, sort_queries
from sklearn_calib.queries._queries import Queries

# Fewer rows are sorted before a sample of them is drawn.
_LEAST_ROWS = 500_000

# Rows of the sample that tells where predictions lie.
_SAMPLE = 4096

# Predictions of the sample that are rare enough to share one bucket at each end.
_RARE = 16

# What things cost in nanoseconds, on a machine that sorts neither fast nor slowly: a step of a
# sort, of which a row takes log2(N), and what a sort takes besides; adding up a row, by the
# number of buckets of an octave (as a power of two); looking a row up; a row of a bucket with an
# edge; a bucket; and finding the edge of a bin.
_STEP, _SORT = 1.6, 6.0
# A step with the instructions of newer processors.
_FAST_STEP = 0.3
_ADD_UP = {8: 10.0, 10: 10.5, 11: 12.0, 12: 18.0, 13: 24.0}
_LOOK_UP, _NEAR_EDGE, _BUCKET, _EDGE = 3.0, 60.0, 150.0, 30_000.0

# Rows that are sorted, once in a process, to see how fast that is.
_TIMED = 1 << 16

# Slots for sums, at most: they should stay in cache.
_MOST_SLOTS = 1 << 19

# Rows handled at a time: their temporaries stay in a core's own cache.
_CHUNK = 8192

# Rows behind one addition to all slots, at least.
_BLOCK = 1 << 18

# Cells of a bucket.
_CELLS = 16

# A full sort takes over after so many attempts to sort the rows at edges only, or when these
# are a larger share than this.
_ATTEMPTS, _MOST_HELD = 6, 0.5

# The exponent of 0.5, as its bits have it.
_TOP = 1022


@dataclass(frozen=True)
class _Octaves:
    """Buckets of u = min(q, 1 - q): 2 ** bits in each of some octaves below 0.5.

    A bucket holds its upper end and not its lower one. So exactly 0 has a bucket of its own;
    what lies below the octaves shares the next one.
    """

    bits: int
    number: int

    @property
    def n_buckets(self) -> int:
        """Buckets on one side of 0.5, which itself is the last."""
        return (self.number << self.bits) + 1

    @property
    def _base(self) -> int:
        return (_TOP - self.number) << self.bits

    def of(self, u: Array) -> tuple[Array, Array]:
        """Return the bucket of each u, and how far u lies from the place of its bucket."""
        shift = 52 - self.bits
        code = np.add(u.view(np.int64), (1 << shift) - 1)
        code >>= shift
        end = np.subtract(code, self._base)
        np.maximum(end, 1, out=end)
        np.minimum(code, end, out=code)
        np.add(code, self._base, out=end)
        end <<= shift
        return code, np.subtract(u, end.view(np.float64))

    def place(self, code: Array) -> Array:
        """Return the upper end of each bucket, from which u is measured."""
        return ((code + self._base) << (52 - self.bits)).view(np.float64)


def _nearer_end(q: Array) -> Array:
    """Return how far predictions are from the nearer end of [0, 1]."""
    u = np.subtract(1.0, q)
    np.minimum(u, q, out=u)
    # Minus zero is zero.
    u += 0.0
    return u


@dataclass(frozen=True, eq=False)
class PartlySorted(SortedQueries):
    """Rows that stand for the queries of a bucket each, but at the edges of bins.

    The answer and the prediction of a row are the means of its queries. So sums of
    answers and predictions are known, and those of other functions are not.
    """

    reader: _EdgeReader | None = None

    def resolved(self, *rules: Rule) -> SortedQueries:
        """Return the same queries, sorted well enough for these rules to cut them exactly."""
        return self if self.reader is None else self.reader.resolved(rules)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows in order of prediction, each of which stands for all queries in a range.

    Attributes
    ----------
    end : ndarray of int of shape (n_rows,)
        How many queries there are up to the end of each row.
    sums : ndarray of shape (6, n_rows)
        Counts, weights, their squares and cubes, and weights times answer and times prediction.
    lump : ndarray of bool of shape (n_rows,)
        Which rows may hold several predictions.
    high : ndarray of shape (n_rows,)
        What none of the predictions exceeds.
    """

    end: Array
    sums: Array
    lump: Array
    high: Array

    def __len__(self) -> int:
        return len(self.end)

    @classmethod
    def none(cls) -> _Rows:
        """Return no rows."""
        return cls(np.empty(0, np.int64), np.empty((6, 0)), np.empty(0, bool), np.empty(0))


_Held = tuple[Array, Array, Array, Array | None]


def _end_to_end(parts: list[_Held]) -> _Held:
    bucket, q, y = (np.concatenate([part[k] for part in parts]) for k in range(3))
    weights = [part[3] for part in parts if part[3] is not None]
    return bucket, q, y, np.concatenate(weights) if weights else None


class _EdgeReader:
    """Sums of the buckets of queries; of some, sums of their cells, or all their queries.

    The queries of a bucket are divided into cells when a bin may end in it. Only those of
    cells in which bins end are sorted.
    """

    def __init__(self, queries: Queries, octaves: _Octaves) -> None:
        self._queries = queries
        y, q, w = queries.y_true, queries.y_prob, queries.sample_weight
        if w is not None and not w.all():
            keep = w > 0.0
            y, q, w = y[keep], q[keep], w[keep]
        self._y, self._q, self._w, self._octaves = y, q, w, octaves
        self._whole = w is None or not (w % 1.0).any()
        self._one_weight = w is None or bool(w.min() == w.max())
        self._buckets = self._add_up()
        self._cells = self._singles = _Rows.none()
        self._is_held = np.zeros(len(self._buckets), dtype=bool)
        self._is_laid_out = np.zeros(0, dtype=bool)
        # Bucket, prediction, answer and weight of the queries that are held.
        self._held: _Held = (np.empty(0, np.int32), np.empty(0), np.empty(0, bool), None)
        if w is not None:
            self._held = (*self._held[:3], np.empty(0))
        self.ordered = self._put_together()

    def resolved(self, rules: tuple[Rule, ...]) -> SortedQueries:
        """Sort the queries that decide where these rules cut."""
        for _ in range(_ATTEMPTS):
            pool = self.ordered.pool
            assert pool is not None
            touched = np.concatenate([rule.touched(self.ordered) for rule in rules])
            number = self._run_number[touched[pool.lump[touched]]]
            if len(number) == 0:
                return self.ordered
            in_bucket = number < len(self._buckets)
            self._is_laid_out[number[~in_bucket] - len(self._buckets)] = True
            if in_bucket.any():
                wanted = np.unique(number[in_bucket])
                self._is_held[wanted] = True
                if self._buckets.sums[0, self._is_held].sum() > _MOST_HELD * len(self._q):
                    break
                self._look_up(wanted)
            else:
                self._lay_out()
            self.ordered = self._put_together()
        # So many queries are close to edges that a full sort is the shorter way.
        return sort_queries(self._queries)

    def _add_up(self) -> _Rows:
        """Return the sums of each bucket, in order of prediction."""
        y, q, w, octaves = self._y, self._q, self._w, self._octaves
        n, n_slots = len(q), 4 * octaves.n_buckets
        # The bucket and the side of each row, for when rows are looked up.
        self._of_row = np.empty(n, dtype=np.int32)
        # Counts and sums of distances; with weights, sums of these, of their squares and cubes.
        sums = np.zeros((2 if w is None else 5, n_slots))
        block = max(_BLOCK, 4 * n_slots)
        slot, away = np.empty(min(n, block), dtype=np.int64), np.empty(min(n, block))
        for first in range(0, n, block):
            last = min(first + block, n)
            for a in range(first, last, _CHUNK):
                rows = slice(a, min(a + _CHUNK, last))
                here = slice(a - first, rows.stop - first)
                code, away[here] = octaves.of(_nearer_end(q[rows]))
                code <<= 1
                code |= q[rows] > 0.5
                self._of_row[rows] = code
                code <<= 1
                np.bitwise_or(code, y[rows], out=slot[here])
            size = last - first
            sums[0] += np.bincount(slot[:size], minlength=n_slots)
            if w is not None:
                weight = w[first:last]
                away[:size] *= weight
                for k, row in enumerate(sums[2:], start=1):
                    row += np.bincount(slot[:size], weight**k, n_slots)
            sums[1] += np.bincount(slot[:size], away[:size], n_slots)
        # The buckets of the upper half go downwards.
        by_side = sums.reshape(len(sums), octaves.n_buckets, 2, 2)
        sums = np.concatenate((by_side[:, :, 0], by_side[:, ::-1, 1]), axis=1)
        code = np.arange(octaves.n_buckets)
        number = np.concatenate((2 * code, 2 * code[::-1] + 1))
        some = np.flatnonzero(sums[0].any(axis=1))
        self._number = number[some]
        return self._bucket_rows(sums[:, some, 1], sums[:, some].sum(axis=-1))

    def _bucket_rows(self, yes: Array, both: Array) -> _Rows:
        """Return the rows of buckets from the sums of their queries, and of those with a yes."""
        code, above = self._number >> 1, (self._number & 1).astype(bool)
        end, below = self._octaves.place(code), self._octaves.place(np.maximum(code - 1, 0))
        # Exactly 0 has a bucket of its own, and below the octaves u may be anything.
        end[code == 0] = below[code <= 1] = 0.0
        weights, yes = (both[[0, 0, 0]], yes[0]) if self._w is None else (both[2:], yes[2])
        count, weight = both[0], weights[0]
        u = np.where(code == 0, 0.0, np.maximum(end * weight + both[1], 0.0))
        # A query that is alone in its bucket is known as it is, but for a weight's rounding.
        alone = (count == 1.0) & (code > 1) & (self._w is None)
        total = np.where(above, weight - u, u)
        self._low = np.where(above, 1.0 - end, below)
        return _Rows(
            end=np.cumsum(count).astype(np.int64),
            sums=np.stack((count, *weights, yes, total)),
            lump=~(alone | (code == 0)),
            high=np.where(alone, total, np.where(above, 1.0 - below, end)),
        )

    def _look_up(self, wanted: Array) -> None:
        """Hold the queries of buckets, and add them up in cells."""
        place = np.full(2 * self._octaves.n_buckets, -1, dtype=np.int32)
        place[self._number[wanted]] = wanted
        parts = [self._held]
        for first in range(0, len(self._of_row), _BLOCK):
            bucket = place[self._of_row[first : first + _BLOCK]]
            rows = np.flatnonzero(bucket >= 0)
            bucket, rows = bucket[rows], rows + first
            w = None if self._w is None else self._w[rows]
            parts.append((bucket, self._q[rows], self._y[rows], w))
        self._held = _end_to_end(parts)
        bucket, q, y, w = self._held
        held = np.flatnonzero(self._is_held)
        rank = np.empty(len(self._buckets), dtype=np.int64)
        rank[held] = np.arange(len(held))
        # Cells divide the range of a bucket evenly. Rounding never swaps two predictions.
        low, width = self._low[held], self._buckets.high[held] - self._low[held]
        scale = _CELLS / np.maximum(width, 1e-290)
        row_rank = rank[bucket]
        away = q - low[row_rank]
        cell = np.clip(away * scale[row_rank], 0.0, _CELLS - 1.0).astype(np.int64)
        cell += row_rank * _CELLS
        self._row_cell, n_cells = cell, len(held) * _CELLS
        count = np.bincount(cell, minlength=n_cells)
        some = np.flatnonzero(count)
        self._cell_number, at = some, some // _CELLS

        def total(values: Array) -> Array:
            return np.bincount(cell, values, n_cells)[some]

        counts = count[some].astype(float)
        weights = [counts] * 3 if w is None else [total(w**k) for k in (1, 2, 3)]
        yes = total(y if w is None else w * y)
        predictions = low[at] * weights[0] + total(away if w is None else w * away)
        end = np.cumsum(count[some])
        # Queries that are not held lie before and behind.
        ahead = self._buckets.end[held] - np.cumsum(self._buckets.sums[0, held]).astype(np.int64)
        self._cells = _Rows(
            end=end + ahead[at],
            sums=np.stack((counts, *weights, yes, predictions)),
            lump=np.ones(len(some), dtype=bool),
            high=self._buckets.high[held][at],
        )
        self._is_laid_out, self._singles = np.zeros(len(some), dtype=bool), _Rows.none()

    def _lay_out(self) -> None:
        """Sort the queries of the cells in which bins end, and make a row for each prediction."""
        chosen = np.zeros(int(self._is_held.sum()) * _CELLS, dtype=bool)
        chosen[self._cell_number[self._is_laid_out]] = True
        rows = np.flatnonzero(chosen[self._row_cell])
        _, q, y, w = self._held
        key = np.left_shift(q[rows].view(np.int64), 1) | y[rows]
        order = np.argsort(key.view(np.float64), kind="stable")
        key = key[order]
        q, y = (key >> 1).view(np.float64), (key & 1).astype(float)
        ends = np.append(np.flatnonzero(q[1:] != q[:-1]) + 1, len(q))
        starts = np.append(0, ends[:-1])
        count = np.diff(ends, prepend=0).astype(float)
        weights, value = [count] * 3, q[starts]
        if w is not None:
            w = w[rows][order]
            weights = [np.add.reduceat(w**k, starts) for k in (1, 2, 3)]
            y *= w
        yes = np.add.reduceat(y, starts)
        laid_out = np.cumsum(self._cells.sums[0, self._is_laid_out]).astype(np.int64)
        ahead = self._cells.end[self._is_laid_out] - laid_out
        self._singles = _Rows(
            end=ends + ahead[np.searchsorted(laid_out, ends)],
            sums=np.stack((count, *weights, yes, value * weights[0])),
            lump=np.zeros(len(ends), dtype=bool),
            high=value,
        )

    def _put_together(self) -> PartlySorted:
        """Put buckets, cells and single predictions together, in order."""
        parts = (self._buckets, self._cells, self._singles)
        shown = np.ones(sum(map(len, parts)), dtype=bool)
        shown[: len(self._buckets)] = ~self._is_held
        shown[len(self._buckets) :][: len(self._cells)] = ~self._is_laid_out
        number = np.flatnonzero(shown)
        # Each part is in order, so that this is a merge.
        end = np.concatenate([part.end for part in parts])[number]
        number = number[np.argsort(end, kind="stable")]
        sums = np.concatenate([part.sums for part in parts], axis=1)
        n, *weights, yes, total = (row[number] for row in sums)
        high = np.concatenate([part.high for part in parts])[number]
        lump = np.concatenate([part.lump for part in parts])[number]
        self._run_number = number
        # Where there is one prediction, a mean would only add rounding.
        q = np.where(lump, total / weights[0], high)
        pool = Pool(
            n=n,
            powers={k: (weight, q) for k, weight in enumerate(weights, start=1)},
            run_ends=np.arange(1, len(n) + 1),
            lump=lump,
            lump_high=lambda: high[lump],
            whole_weights=self._whole,
            one_weight=self._one_weight,
        )
        weight = None if self._w is None else weights[0]
        return PartlySorted(yes / weights[0], q, weight, pool=pool, reader=self)


def sort_for_bins(queries: Queries, bin_size: int | str, n_bins: int | None) -> SortedQueries:
    """Sort queries as far as adaptive bins need it: at their edges, or in full.

    What comes back is good for the bins' counts, weights, means and extremes.
    """
    if len(queries) >= _LEAST_ROWS:
        octaves = _plan(queries, bin_size, n_bins)
        if octaves is not None:
            return partly_sorted(queries, octaves)
    return sort_queries(queries)


def partly_sorted(queries: Queries, octaves: _Octaves | None = None) -> PartlySorted:
    """Add up queries in buckets, without a look at whether that is faster than to sort them."""
    return _EdgeReader(queries, octaves or _Octaves(10, 32)).ordered


def _plan(queries: Queries, bin_size: int | str, n_bins: int | None) -> _Octaves | None:
    """Return the buckets that make the least work, or None if a full sort makes less.

    A sample tells which share of the queries will be in buckets with an edge, and
    how many queries share a prediction: bins that wait for the end of such a run
    drift away from where they would end without ties.
    """
    n, w = len(queries), queries.sample_weight
    if n_bins is not None:
        number = float(n_bins)
    elif isinstance(bin_size, str):
        number = float(number_of_bins(n))
    else:
        number = (n if w is None else float(w.sum())) / bin_size
    # Weighted rows are sorted by their places, which takes longer.
    best, found = _SORT + (_step() if w is None else _STEP) * math.log2(n), None
    if _EDGE * number / n + _LOOK_UP + min(_ADD_UP.values()) > best:
        return None
    rows = np.random.default_rng(0).integers(n, size=_SAMPLE)
    q = queries.y_prob[rows]
    u = _nearer_end(q)
    u[q > 0.5] *= -1.0
    u = u[u != 0.0]
    if len(u) < 2:
        return None
    u.sort()
    above, u = u < 0.0, np.abs(u)
    drift = 0.0
    if n_bins is None and not isinstance(bin_size, str):
        run = _mean_run(u, n)
        if w is not None:
            weight = w[rows]
            run += float(np.square(weight).sum() / (weight.mean() * weight.sum()))
        # Bins that end somewhere in a run walk at random; three standard deviations either way.
        drift = number * 6.0 * run * math.sqrt(number / 24.0) / n if run > 2.0 else 0.0
    # Octaves down to the rarest predictions, which may share a bucket.
    least = math.frexp(float(np.partition(u, _RARE)[min(_RARE, len(u) - 1)]))[1]
    for bits, cost in _ADD_UP.items():
        octaves = _Octaves(bits, max(1, min(1 - least, _MOST_SLOTS >> (bits + 2), _TOP - 1)))
        cost += (_BUCKET * octaves.n_buckets + _EDGE * number) / n + _LOOK_UP
        code = octaves.of(u)[0]
        np.negative(code, out=code, where=above)
        near = min(1.0, _share_near_edges(code, number) + drift)
        cost += near * _NEAR_EDGE
        if cost < best:
            best, found = cost, octaves
    return found


@cache
def _step() -> float:
    """Return what a step of a sort costs here: one of two numbers, so that noise cannot choose."""
    values = np.random.default_rng(0).random(_TIMED)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        np.sort(values)
        taken.append(time.perf_counter() - start)
    step = 1e9 * min(taken) / (_TIMED * math.log2(_TIMED))
    return _FAST_STEP if step < (_STEP * _FAST_STEP) ** 0.5 else _STEP


def _mean_run(ordered: Array, n: int) -> float:
    """Return how many of n queries share the prediction of one, from an ordered sample."""
    count = _run_lengths(ordered)
    return 1.0 + max(0.0, float((count * (count - 1)).sum()) / len(ordered) ** 2 * n - 1.0)


def _run_lengths(ordered: Array) -> Array:
    ends = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.diff(ends, prepend=0, append=len(ordered))


def _share_near_edges(ordered: Array, n_bins: float) -> float:
    """Return the share of queries in buckets with the edge of a bin, from ordered buckets."""
    count = _run_lengths(ordered)
    # Leave a query itself out, or a bucket of one would seem crowded.
    others = (count - 1) / len(ordered)
    return float((count * np.minimum(1.0, others * n_bins)).sum()) / len(ordered)
