"""Queries at the edges of bins, held as a few bytes each, and their sums in small cells.

A bin ends at one of many queries that had to be read. Only around the ends they
are laid out one by one; the others stay in cells, which are buckets once more.
"""

from __future__ import annotations

import math

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._buckets import POWERS, Buckets, ExactRows, added_up

# Queries of a cell, on average.
_PER_CELL = 24

# Leading bits of a prediction that a cell looks at, at most.
_MOST_BITS = 40

# Rows handled at a time.
_ROWS = 262_144


class HeldRows:
    """Queries of the buckets that were read one by one, in cells.

    Attributes
    ----------
    buckets : Buckets
        How queries fall into cells: finer than the buckets that were read.
    cell : ndarray of int of shape (n_cells,)
        The cells that hold queries, in order.
    parent : ndarray of int of shape (n_cells,)
        The bucket that each cell lies in.
    count : ndarray of shape (n_cells, 2)
        Queries of each cell and answer.
    sums : ndarray of shape (n_sums, n_cells, 2)
        The sums that `BucketSums` keeps.
    """

    def __init__(self, parents: Buckets, weighted: bool) -> None:
        self._parents, self.weighted = parents, weighted
        # Rows of one query each, and rows that stand for several.
        self._single = np.empty(0, dtype=np.int64)
        self._key = np.empty(0, dtype=np.int64)
        self._sums = np.zeros((1 + (len(POWERS) if weighted else 0), 0))
        self._n_read = 0
        self.buckets = parents
        self._divide()

    def __len__(self) -> int:
        return len(self._single) + len(self._key)

    def add(self, found: ExactRows) -> None:
        """Take queries over."""
        single = found.take_singles()
        if len(self._single):
            single = np.concatenate((self._single, single))
            single.sort()
        self._single = single
        self._key, self._sums = added_up(
            np.concatenate((self._key, found.key)),
            np.concatenate((self._sums, found.sums), axis=1),
        )
        self._n_read += len(found.wanted)
        crowd = max(1.0, len(self) / self._n_read / _PER_CELL)
        bits = min(self._parents.bits + round(math.log2(crowd)), _MOST_BITS)
        self.buckets = Buckets(bits)
        self._divide()

    def keep(self, parents: Array) -> None:
        """Forget the queries of all other buckets."""
        self._n_read = len(parents)
        kept = np.isin(self.parent, parents)
        self._single = self._single[self._rows_in(kept, self._single_cells)]
        rows = self._rows_in(kept, self._key_cells)
        self._key, self._sums = self._key[rows], self._sums[:, rows]
        self._divide()

    def rows(self, chosen: Array) -> tuple[Array, Array, Array]:
        """Return distinct keys of cells in order, their sums, and the place of the cell of each.

        `chosen` says of each cell whether its rows are wanted.
        """
        own = (self._single_cells, self._key_cells)
        single, several = (self._rows_in(chosen, cells) for cells in own)
        ones = np.ones((len(self._sums), len(single)))
        key, sums = added_up(
            np.concatenate((self._single[single], self._key[several])),
            np.concatenate((ones, self._sums[:, several]), axis=1),
        )
        cell = self.buckets.of((key >> 1).view(np.float64))[0]
        return key, sums, np.searchsorted(self.cell, cell)

    def _rows_in(self, chosen: Array, owned: tuple[Array, Array]) -> Array:
        """Return the rows of cells, where `owned` has cells and the starts of their rows."""
        cell, starts = owned
        at = np.flatnonzero(chosen[np.searchsorted(self.cell, cell)])
        length = starts[at + 1] - starts[at]
        before = np.cumsum(length) - length
        return np.repeat(starts[at] - before, length) + np.arange(length.sum())

    def _divide(self) -> None:
        """Add up the queries of each cell."""
        parts = []
        owned = []
        for key, sums in ((self._single, None), (self._key, self._sums)):
            cells, starts = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
            for first in range(0, len(key), _ROWS):
                rows = slice(first, first + _ROWS)
                cell, start, *rest = self._cells_of(
                    key[rows], None if sums is None else sums[:, rows]
                )
                cells.append(cell)
                starts.append(start + first)
                parts.append((cell, *rest))
            cell, start = np.concatenate(cells), np.concatenate(starts)
            # A cell may go on in the next rows.
            new = np.flatnonzero(np.diff(cell, prepend=-1))
            owned.append((cell[new], np.append(start[new], len(key))))
        self._single_cells, self._key_cells = owned
        n_sums = 2 * len(POWERS) + 1 if self.weighted else 2
        if not parts:
            self.cell = self.parent = np.empty(0, dtype=np.int64)
            self.count, self.sums = np.zeros((0, 2)), np.zeros((n_sums, 0, 2))
            return
        values = np.concatenate([part[2] for part in parts], axis=1)
        cell = np.concatenate([part[0] for part in parts])
        inside = np.concatenate([part[1] for part in parts])
        order = np.argsort(cell, kind="stable")
        cell = cell[order]
        starts_of = np.flatnonzero(np.diff(cell, prepend=-1))
        self.cell = cell[starts_of]
        self.parent = self._parents.of(inside[order][starts_of])[0]
        added = np.add.reduceat(values[:, order], starts_of, axis=1)
        self.count, self.sums = added[0], added[1:]

    def _cells_of(self, key: Array, sums: Array | None) -> tuple[Array, Array, Array, Array]:
        """Return cells of rows in order, where each starts, a prediction in it, and its sums."""
        q = (key >> 1).view(np.float64)
        cell, away = self.buckets.of(q)
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        slot = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(key)))
        slot <<= 1
        slot |= key & 1

        def total(values: Array | None) -> Array:
            found = np.bincount(slot, values, 2 * len(starts))
            return found.astype(float).reshape(-1, 2)

        count = None if sums is None else sums[0]
        found = [total(count)]
        if self.weighted:
            assert sums is not None
            for number, weight in enumerate(sums[1:]):
                found += [total(weight), total(weight * away)]
                if number == 0:
                    found.append(total(weight * away * away))
        else:
            found += [total(away if count is None else count * away)]
            found += [total(away * away if count is None else count * away * away)]
        return cell[starts], starts, q[starts], np.stack(found)
