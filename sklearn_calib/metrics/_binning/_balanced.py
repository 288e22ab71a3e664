"""Bins that balance counts and information, cut the same from both ends.

A query with prediction q carries information q (1 - q): a bin of sure
predictions tells little, however many there are. These bins hold equal steps
of (share of the queries + share of the information) / 2. They depend neither
on the labels nor on which class is called positive: (y, q) and (1 - y, 1 - q)
are cut at the same places.
"""

from __future__ import annotations

import math

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._sorted import SortedQueries

# Rows, effective rows (where there are weights) and units (where there are groups) that
# a bin needs at least, for its variance to be estimated.
LEAST_ROWS = 5
LEAST_EFFECTIVE = 4.0
LEAST_UNITS = 8

# Bins are put together from so many blocks each, which are few enough to be handled one by one.
_BLOCKS_PER_BIN = 16


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
    q, w = queries.q, queries.w
    blocks = _block_ends(q)
    starts = np.concatenate(([0], blocks[:-1]))
    v = q * (1.0 - q)
    if w is None:
        weight = np.diff(blocks, prepend=0).astype(float)
        n_effective = float(len(q))
        info_effective = float(v.sum())
    else:
        weight = np.add.reduceat(w, starts)
        v *= w
        n_effective = float(w.sum() ** 2 / np.square(w).sum())
        squared = float(np.dot(w, v))
        info_effective = float(v.sum() ** 2 / squared) if squared > 0.0 else 0.0
    info = np.add.reduceat(v, starts)
    if by_count:
        info_effective, info = n_effective / 4.0, np.zeros_like(info)
    number = n_bins
    if number is None:
        wanted = min(math.sqrt(8.0 * math.sqrt(info_effective * n_effective)), len(q) // LEAST_ROWS)
        # Odd, so that no edge lies in the very middle.
        number = 2 * int(max(1.0, wanted if most is None else min(wanted, most - 1)) // 2) + 1
    index = _bin_of_blocks(weight, info, number)
    last = np.append(index[1:] != index[:-1], True)
    ends = blocks[last]
    if n_bins is not None:
        return ends
    return _merged_ends(queries, ends, index[last], number // 2)


def _block_ends(q: Array) -> Array:
    """Return the ends of small blocks, counted from both ends, that split no equal predictions."""
    n = len(q)
    size = max(1, math.isqrt(n) // (2 * _BLOCKS_PER_BIN))
    left = np.arange(size, n // 2 + 1, size)
    ends = np.append(np.concatenate((left, n - left)), n)
    inner = ends[ends < n]
    tied = q[inner[q[inner - 1] == q[inner]]]
    if len(tied):
        # An end inside a run of equal predictions moves to both ends of the run.
        runs = [np.searchsorted(q, tied, side) for side in ("left", "right")]
        ends = np.concatenate((inner[q[inner - 1] != q[inner]], *runs, [n]))
    ends = np.unique(ends)
    return ends[ends > 0]


def _bin_of_blocks(weight: Array, info: Array, n_bins: int) -> Array:
    """Return the number of the bin that holds the middle of each block."""
    share = np.cumsum(weight) / weight.sum()
    if info.sum() > 0.0:
        share = (share + np.cumsum(info) / info.sum()) / 2.0
    middle = (np.concatenate(([0.0], share[:-1])) + share) / 2.0 * n_bins
    # A middle on an edge goes outwards, whichever end one counts from.
    near = np.rint(middle)
    outwards = np.where(near > n_bins / 2.0, near, near - 1.0)
    index = np.where(np.abs(middle - near) < 1e-9, outwards, np.floor(middle))
    return np.clip(index, 0, n_bins - 1).astype(np.intp)


def _merged_ends(queries: SortedQueries, ends: Array, index: Array, centre: int) -> Array:
    """Join bins that are too small, from both ends towards the bin in the middle."""
    starts = np.concatenate(([0], ends[:-1]))
    size = _Size(queries, starts, ends)
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
        # What is left in the middle is too small: it takes its neighbours in.
        stops = [*lefts[:-1], rights[-1] if rights else n_bins, *rights[-2::-1]]
    return ends[np.array(stops) - 1]


class _Size:
    """Whether some consecutive bins are large enough together."""

    def __init__(self, queries: SortedQueries, starts: Array, ends: Array) -> None:
        self.rows = np.concatenate(([0], ends))
        self.weight = self.squared = None
        if queries.w is not None:
            w = np.add.reduceat(queries.w, starts)
            w2 = np.add.reduceat(np.square(queries.w), starts)
            self.weight, self.squared = np.append(0.0, np.cumsum(w)), np.append(0.0, np.cumsum(w2))
        self.unit = queries.unit

    def enough(self, start: int, stop: int) -> bool:
        a, b = int(self.rows[start]), int(self.rows[stop])
        if b - a < LEAST_ROWS:
            return False
        if self.weight is not None and self.squared is not None:
            total = self.weight[stop] - self.weight[start]
            if total**2 < LEAST_EFFECTIVE * (self.squared[stop] - self.squared[start]):
                return False
        return self.unit is None or len(set(self.unit[a:b].tolist())) >= LEAST_UNITS
