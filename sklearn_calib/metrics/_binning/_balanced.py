"""Bins that balance counts and information, cut the same from both ends.

A query with prediction q carries information q (1 - q): a bin of sure
predictions tells little, however many there are. These bins hold equal steps
of (share of the queries + share of the information) / 2. They depend neither
on the labels nor on which class is called positive: (y, q) and (1 - y, 1 - q)
are cut at the same places.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._sorted import SortedQueries, distinct

# Rows, effective rows (where there are weights) and units (where there are groups) that
# a bin needs at least, for its variance to be estimated.
LEAST_ROWS = 5
LEAST_EFFECTIVE = 4.0
LEAST_UNITS = 8

# Bins are put together from so many blocks each, which are few enough to be handled one by one.
_BLOCKS_PER_BIN = 16

# With fewer queries, the number of bins is found by trial: most bins hold hardly more than the
# fewest rows allowed, and with one bin too many they would be joined until one in the middle took
# in what is left, and hid an error that changes its sign there.
_BY_TRIAL = 200

# Queries between the end of a bin and that of its lump for it to matter what is behind the lump.
WELL_WITHIN = 4

# A middle of a block that is so far from the edge of a bin lies on the side where it seems to lie.
_SURE = 1e-6


def balanced_ends(
    queries: SortedQueries,
    n_bins: int | None = None,
    *,
    most: int | None = None,
    by_count: bool = False,
) -> Array:
    """Return where each balanced bin ends; equal predictions share a bin.

    Without a number, there are sqrt(8 sqrt(N I)) bins, with I the sum of
    q (1 - q): about 2 sqrt(N) where predictions are spread, fewer where most of
    them are sure. They are never more than `most`, and each is large enough for
    its variance to be estimated. With a number, only equal predictions join bins.

    `by_count` looks at counts alone: two models that order the same queries in
    the same way then have the same bins.
    """
    ends, index, number = separate_ends(queries, n_bins, most=most, by_count=by_count)
    if n_bins is not None:
        return ends
    unit = queries.unit
    distinct = None
    if unit is not None:
        rows = np.append(0, ends)

        def distinct(first: int, last: int) -> int:
            # The first rows are enough to see that there are enough.
            some = unit[rows[first] : rows[last]]
            found = len(set(some[: 8 * LEAST_UNITS].tolist()))
            return found if found >= LEAST_UNITS else len(set(some.tolist()))

    return merged_ends(queries, ends, index, number // 2, distinct)


def separate_ends(
    queries: SortedQueries, n_bins: int | None, *, most: int | None, by_count: bool = False
) -> tuple[Array, Array, int]:
    """Return where bins end before small ones are joined, their places, and how many there are."""
    blocks, index, number = blocks_of_bins(queries, n_bins, most=most, by_count=by_count)
    last = np.append(index[1:] != index[:-1], True)
    return blocks[last], index[last], number


def blocks_of_bins(
    queries: SortedQueries, n_bins: int | None, *, most: int | None, by_count: bool
) -> tuple[Array, Array, int]:
    """Return where each block ends, the number of its bin, and the number of bins."""
    blocks = _block_ends(queries)
    starts = np.concatenate(([0], blocks[:-1]))
    v, n_effective, info_effective = _information(queries, by_count)
    if queries.w is None:
        counts = blocks if queries.pool is None else queries.cumulative[blocks - 1]
        weight = np.diff(counts, prepend=0).astype(float)
    else:
        weight = np.add.reduceat(queries.w, starts)
    number = _number(queries, n_bins, most, n_effective, info_effective)
    info = np.add.reduceat(v, starts)
    if n_bins is None and len(queries) < _BY_TRIAL:
        number = _best_number(queries, blocks, weight, info, number)
    return blocks, _bin_of_blocks(weight, info, number), number


def _best_number(
    queries: SortedQueries, blocks: Array, weight: Array, info: Array, most: int
) -> int:
    """Return the number of bins of which most are left once small ones are joined.

    Of several, it is the one whose largest bin has the fewest rows.
    """
    best, found = (0, 0), 1
    for number in range(most, 0, -2):
        if number < best[0]:
            break
        index = _bin_of_blocks(weight, info, number)
        last = np.append(index[1:] != index[:-1], True)
        ends = merged_ends(queries, blocks[last], index[last], number // 2)
        rows = ends if queries.pool is None else queries.pool.cumulative_count[ends - 1]
        left = (len(ends), -int(np.diff(rows, prepend=0).max()))
        if left > best:
            best, found = left, number
    return found


def runs_at_edges(
    queries: SortedQueries, n_bins: int | None, *, most: int | None, by_count: bool
) -> Array:
    """Return the runs of a scan that decide where balanced bins end.

    A bin ends between two blocks, and where these start and end decides it.
    Blocks that end inside a lump are taken to end right there, with their share
    of its information: without ties that is so.
    """
    counts, runs = queries.run_counts, queries.runs
    if len(queries) < _BY_TRIAL:
        return np.arange(len(runs))
    lump = np.zeros(len(runs), dtype=bool) if queries.pool is None else queries.pool.lump
    targets = _targets(len(queries))
    run = np.searchsorted(counts, targets)
    inside = counts[run] != targets
    moved = run[inside & ~lump[run]]
    ends = np.concatenate(
        (targets[~inside | lump[run]], counts[moved], counts[moved[moved > 0] - 1])
    )
    ends = distinct(ends)
    v, n_effective, info_effective = _information(queries, by_count)
    at = np.append(0, counts)
    held = np.append(0.0, queries.run_weights)
    known = np.append(0.0, np.cumsum(v)[runs - 1])
    number = _number(queries, n_bins, most, n_effective, info_effective)
    if known[-1] > 0.0:
        share = (held / held[-1] + known / known[-1]) / 2.0 * number
    else:
        share = held / held[-1] * number
    end_share = np.interp(ends, at, share)
    index = _bin_of_middles((np.append(0.0, end_share[:-1]) + end_share) / 2.0, number)
    edge = np.flatnonzero(index[1:] != index[:-1])
    run = np.searchsorted(counts, ends)
    at_end, before = run[edge], run[np.maximum(edge - 1, 0)]
    # Wherever in its lump the block before the last of a bin ends, it matters only if the middle
    # of the last one may then lie in the next bin; and likewise behind the end of the bin.
    last = (share[before + 1] + end_share[edge]) / 2.0
    before = before[(edge > 0) & (last > index[edge] + 1 - _SURE)]
    after = run[edge + 1]
    next_ = (end_share[edge] + share[after]) / 2.0
    after = after[next_ < index[edge + 1] + _SURE]
    # The run behind the end of a bin has its least prediction. Where the end lies well within a
    # lump, that is in the lump as well.
    inside = (counts[at_end] - ends[edge] > WELL_WITHIN) & lump[at_end]
    behind = np.minimum(at_end[~inside] + 1, len(runs) - 1)
    found = np.zeros(len(runs), dtype=bool)
    for some in (before, after, at_end, behind):
        found[some] = True
    return np.flatnonzero(found)


def _information(queries: SortedQueries, by_count: bool) -> tuple[Array, float, float]:
    """Return the information of each row, and the effective numbers of queries and of it."""
    weights, q = queries.power(1)
    v = q * (1.0 - q)
    if weights is not None:
        v *= weights
    if queries.w is None:
        n_effective, info_effective = float(len(queries)), float(v.sum())
    else:
        squares, q = queries.squared_weights, queries.power(2)[1]
        n_effective = float(queries.w.sum() ** 2 / squares.sum())
        squared = float(np.dot(squares, q * (1.0 - q)))
        info_effective = float(v.sum() ** 2 / squared) if squared > 0.0 else 0.0
    if by_count:
        return np.zeros_like(v), n_effective, n_effective / 4.0
    return v, n_effective, info_effective


def _number(
    queries: SortedQueries,
    n_bins: int | None,
    most: int | None,
    n_effective: float,
    info_effective: float,
) -> int:
    """Return the number of bins: the one asked for, or the one that the rule says."""
    if n_bins is not None:
        return n_bins
    fewest = len(queries) // LEAST_ROWS
    wanted = min(math.sqrt(8.0 * math.sqrt(info_effective * n_effective)), fewest)
    # Odd, so that no edge lies in the very middle.
    return 2 * int(max(1.0, wanted if most is None else min(wanted, most - 1)) // 2) + 1


def _targets(n: int) -> Array:
    """Return after how many queries blocks end, counted from both ends."""
    size = max(1, math.isqrt(n) // (2 * _BLOCKS_PER_BIN))
    left = np.arange(size, n // 2 + 1, size)
    return np.append(np.concatenate((left, n - left)), n)


def _block_ends(queries: SortedQueries) -> Array:
    """Return the ends of small blocks, counted from both ends, that split no equal predictions."""
    q, n = queries.q, len(queries)
    ends = _targets(n)
    if queries.pool is not None:
        counts = queries.run_counts
        run = np.searchsorted(counts, ends)
        # An end inside a run of equal predictions moves to both ends of the run.
        inside = run[counts[run] != ends]
        return queries.runs[distinct(np.concatenate((run, inside[inside > 0] - 1)))]
    inner = ends[ends < n]
    tied = q[inner[q[inner - 1] == q[inner]]]
    if len(tied):
        # An end inside a run of equal predictions moves to both ends of the run.
        runs = [np.searchsorted(q, tied, side) for side in ("left", "right")]
        ends = np.concatenate((inner[q[inner - 1] != q[inner]], *runs, [n]))
    ends = distinct(ends)
    return ends[ends > 0]


def _bin_of_blocks(weight: Array, info: Array, n_bins: int) -> Array:
    """Return the number of the bin that holds the middle of each block."""
    share = np.cumsum(weight) / weight.sum()
    if info.sum() > 0.0:
        share = (share + np.cumsum(info) / info.sum()) / 2.0
    return _bin_of_middles((np.concatenate(([0.0], share[:-1])) + share) / 2.0 * n_bins, n_bins)


def _bin_of_middles(middle: Array, n_bins: int) -> Array:
    """Return the number of the bin that holds each middle, as a share of the number of bins."""
    # A middle on an edge goes outwards, whichever end one counts from.
    near = np.rint(middle)
    outwards = np.where(near > n_bins / 2.0, near, near - 1.0)
    index = np.where(np.abs(middle - near) < 1e-9, outwards, np.floor(middle))
    return np.clip(index, 0, n_bins - 1).astype(np.intp)


def merged_ends(
    queries: SortedQueries,
    ends: Array,
    index: Array,
    centre: int,
    distinct: Callable[[int, int], int] | None = None,
) -> Array:
    """Join bins that are too small, from both ends towards the bin in the middle.

    `distinct` counts the units of consecutive bins, where there are groups.
    """
    starts = np.concatenate(([0], ends[:-1]))
    size = _Size(queries, starts, ends, distinct)
    n_bins = len(ends)
    lefts, first = [], 0
    for stop in range(1, int(np.searchsorted(index, centre)) + 1):
        if size.enough(first, stop):
            lefts.append(stop)
            first = stop
    rights, last = [], n_bins
    for start in range(n_bins - 1, int(np.searchsorted(index, centre, side="right")) - 1, -1):
        if size.enough(start, last):
            rights.append(last)
            last = start
    if first == last:
        stops = [*lefts, *rights[::-1]]
    elif size.enough(first, last) or not (lefts or rights):
        stops = [*lefts, last, *rights[::-1]]
    else:
        # What is left in the middle is too small, and joins the smaller of its neighbours: two
        # piles of predictions with little between them stay apart. Equal ones are both joined, as
        # none comes first whichever class is called positive.
        left = size.rows[first] - size.rows[lefts[-2] if len(lefts) > 1 else 0]
        right = size.rows[rights[-1] if rights else n_bins] - size.rows[last]
        if lefts and rights and left < right:
            stops = [*lefts[:-1], last, *rights[::-1]]
        elif lefts and rights and right < left:
            stops = [*lefts, *rights[::-1]]
        else:
            stops = [*lefts[:-1], rights[-1] if rights else n_bins, *rights[-2::-1]]
    return ends[np.array(stops) - 1]


class _Size:
    """Whether some consecutive bins are large enough together."""

    def __init__(
        self,
        queries: SortedQueries,
        starts: Array,
        ends: Array,
        distinct: Callable[[int, int], int] | None,
    ) -> None:
        self.rows = np.concatenate(([0], ends))
        if queries.pool is not None:
            self.rows = np.append(0.0, queries.pool.cumulative_count)[self.rows]
        self.weight = self.squared = None
        if queries.w is not None:
            w = np.add.reduceat(queries.w, starts)
            w2 = np.add.reduceat(queries.squared_weights, starts)
            self.weight, self.squared = np.append(0.0, np.cumsum(w)), np.append(0.0, np.cumsum(w2))
        self.distinct = distinct

    def enough(self, start: int, stop: int) -> bool:
        a, b = int(self.rows[start]), int(self.rows[stop])
        if b - a < LEAST_ROWS:
            return False
        if self.weight is not None and self.squared is not None:
            total = self.weight[stop] - self.weight[start]
            if total**2 < LEAST_EFFECTIVE * (self.squared[stop] - self.squared[start]):
                return False
        return self.distinct is None or self.distinct(start, stop) >= LEAST_UNITS
