"""Queries at the edges of bins, held in order as a few bytes each, and their sums in small cells.

A bin ends at one of many queries that had to be read. Only around the ends they
are laid out one by one; the others stay in cells, a few neighbours each.
"""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._buckets import NARROW, POWERS, Buckets, ExactRows
from sklearn_calib.metrics._binning._sorted import ranges

# Rows of a cell.
_PER_CELL = 24

# Rows handled at a time.
_ROWS = 1 << 18


class HeldRows:
    """Queries of the buckets that were read one by one, in cells.

    Attributes
    ----------
    bucket : ndarray of int of shape (n_held,)
        The buckets that were read, in order.
    parent : ndarray of int of shape (n_cells,)
        The place of the bucket of each cell in `bucket`. Cells are in order of prediction.
    part : ndarray of int of shape (n_cells,)
        Which quarter of its bucket a cell is in.
    low, high : ndarray of shape (n_cells,)
        The least and the largest prediction of each cell.
    count : ndarray of shape (n_cells, 2)
        Queries of each cell and answer.
    sums : ndarray of shape (n_sums, n_cells, 2)
        The sums that `BucketSums` keeps, as seen from the least u of the bucket.
    """

    def __init__(self, buckets: Buckets, weighted: bool) -> None:
        self._buckets, self.weighted = buckets, weighted
        # Rows in order, and what they stand for where that is not one query each.
        self._key = np.empty(0, dtype=np.int64)
        self._sums = np.zeros((1 + len(POWERS), 0)) if weighted else None
        self.bucket = np.empty(0, dtype=np.int64)
        # Where the rows of each cell start, and all end.
        self._start = np.zeros(1, dtype=np.int64)
        self._clear_cells()

    def __len__(self) -> int:
        return len(self._key)

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return len(self.parent)

    def add(self, found: ExactRows) -> None:
        """Take queries over."""
        self.bucket = np.union1d(self.bucket, found.wanted)
        # What is made anew is not held while it is made.
        self._clear_cells()
        rows, old = found.take_rows(), self._key
        # What another process sent may not be written to.
        whole = len(old) == 0 and rows.flags.writeable
        self._key = rows if whole else np.concatenate((old, rows))
        if self._sums is None and len(found.key) == 0:
            self._key.sort()
        else:
            sums = np.ones((len(found.sums), len(self._key) + len(found.key)))
            if self._sums is not None:
                sums[:, : len(old)] = self._sums
            sums[:, len(self._key) :] = found.sums
            key = np.concatenate((self._key, found.key))
            order = np.argsort(key, kind="stable")
            self._key, self._sums = key[order], sums[:, order]
        self._divide()

    def keep(self, buckets: Array) -> None:
        """Forget the queries of all other buckets."""
        self._compress(np.isin(self.bucket, buckets)[self.parent])
        self.bucket = np.intersect1d(self.bucket, buckets)
        self._divide()

    def forget(self, chosen: Array) -> None:
        """Forget the queries of all cells but those chosen, and keep their sums."""
        length = np.where(chosen, np.diff(self._start), 0)
        self._compress(chosen)
        self._start = np.append(0, np.cumsum(length))

    def rows(self, chosen: Array) -> tuple[Array, Array, Array]:
        """Return distinct keys of cells in order, their sums, and the cell of each.

        `chosen` says of each cell whether its rows are wanted.
        """
        place = self._places(chosen)
        key = self._key[place]
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        cell = np.repeat(np.flatnonzero(chosen), np.diff(self._start)[chosen])[starts]
        if self._sums is None:
            return key[starts], np.diff(starts, append=len(key)).astype(float)[None, :], cell
        sums = self._sums[:, place]
        total = np.add.reduceat(sums, starts, axis=1) if len(starts) else sums
        return key[starts], total, cell

    def _places(self, chosen: Array) -> Array:
        """Return where the rows of cells are."""
        return ranges(self._start[:-1][chosen], self._start[1:][chosen] - 1)

    def _compress(self, chosen: Array) -> None:
        """Hold the rows of some cells only."""
        place = self._places(chosen)
        self._key = self._key[place]
        if self._sums is not None:
            self._sums = self._sums[:, place]

    def _clear_cells(self) -> None:
        self._start = np.zeros(1, dtype=np.int64)
        self.parent = self.part = np.empty(0, dtype=np.int32)
        self.low = self.high = np.empty(0)
        self.count = np.empty((0, 2), dtype=np.int64)
        self.sums = np.empty((2 * len(POWERS) + 1 if self.weighted else 2, 0, 2))

    def _divide(self) -> None:
        """Divide buckets into cells, and add up their queries."""
        self._clear_cells()
        n = len(self._key)
        if n == 0:
            return
        bucket = np.empty(n, dtype=np.int32)
        for first in range(0, n, _ROWS):
            rows = slice(first, first + _ROWS)
            bucket[rows] = self._buckets.of((self._key[rows] >> 1).view(np.float64))[0]
        first_row = np.flatnonzero(np.append(True, bucket[1:] != bucket[:-1]))
        parent = np.searchsorted(self.bucket, bucket[first_row])
        del bucket
        length = np.diff(first_row, append=n)
        n_cells = -(-length // _PER_CELL)
        within = ranges(np.zeros_like(n_cells), n_cells - 1)
        start = np.repeat(first_row, n_cells) + _PER_CELL * within
        part = 4 * within // np.repeat(n_cells, n_cells)
        # Equal predictions share a cell.
        own = (within == 0) | (self._key[start] >> 1 != self._key[start - 1] >> 1)
        self.parent = np.repeat(parent, n_cells)[own].astype(np.int32)
        self.part = part[own].astype(np.int32)
        start = start[own]
        self._start = np.append(start, n)
        self.low, self.high = (
            (self._key[at] >> 1).view(np.float64) for at in (start, self._start[1:] - 1)
        )
        self.count = np.empty((len(start), 2), dtype=np.int64)
        self.sums = np.zeros((len(self.sums), len(start), 2))
        for first in range(0, len(start), _ROWS // _PER_CELL):
            self._add_up(slice(first, min(first + _ROWS // _PER_CELL, len(start))))

    def _add_up(self, cells: slice) -> None:
        """Add up the queries of some cells."""
        begin, end = self._start[cells.start], self._start[cells.stop]
        starts = self._start[cells] - begin
        key = self._key[begin:end]
        yes = key & 1
        away = self._buckets.of((key >> 1).view(np.float64))[1]
        least, behind, _ = self._buckets.range(self.bucket[self.parent[cells]])
        # Beside the mean of a narrow bucket, its variance is lost in rounding.
        wide = bool((behind - least > NARROW * least).any())

        def put(into: Array, values: Array | None) -> None:
            """Add up values of rows, one for each where there are none."""
            if values is None:
                total = np.diff(starts, append=end - begin)
                into[cells, 1] = np.add.reduceat(yes, starts)
            else:
                total = np.add.reduceat(values, starts)
                into[cells, 1] = np.add.reduceat(values * yes, starts)
            if self.weighted and values is not None:
                # Beside large weights, the difference would lose the small ones.
                into[cells, 0] = np.add.reduceat(values * (1 - yes), starts)
            else:
                into[cells, 0] = total - into[cells, 1]

        sums = None if self._sums is None else self._sums[:, begin:end]
        put(self.count, None if sums is None else sums[0])
        if not self.weighted:
            moved = away if sums is None else away * sums[0]
            put(self.sums[0], moved)
            if wide:
                put(self.sums[1], moved * away)
            return
        assert sums is not None
        row = 0
        for power, weight in enumerate(sums[1:]):
            moved = weight * away
            put(self.sums[row], weight)
            put(self.sums[row + 1], moved)
            row += 2
            if power == 0:
                put(self.sums[row], moved * away)
                row += 1
