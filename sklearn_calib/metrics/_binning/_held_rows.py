"""Queries at the edges of bins, held as a few bytes each, and their sums in small cells.

A bin ends at one of many queries that had to be read. Only around the ends they
are laid out one by one; the others stay in cells, equal parts of the bucket that
they are in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._buckets import (
    NARROW,
    POWERS,
    Buckets,
    ExactRows,
    Near,
    added_up,
)

# Queries of a cell, on average.
_PER_CELL = 16

# Leading bits of a prediction that a cell looks at, at most.
_MOST_BITS = 40

# Rows handled at a time.
_ROWS = 32_768


class HeldRows:
    """Queries of the buckets that were read one by one, in cells.

    Attributes
    ----------
    bucket : ndarray of int of shape (n_held,)
        The buckets that were read, in order.
    bits : int
        A bucket has 2 ** bits cells.
    cell : ndarray of int of shape (n_cells,)
        The cells that hold queries, in order of prediction.
    count : ndarray of shape (n_cells, 2)
        Queries of each cell and answer.
    sums : ndarray of shape (n_sums, n_cells, 2)
        The sums that `BucketSums` keeps, as seen from the least u of the bucket.
    """

    def __init__(self, buckets: Buckets, weighted: bool) -> None:
        self._buckets, self.weighted = buckets, weighted
        # Rows of one query each, in no order, and rows that stand for several.
        self._single: list[Array] = []
        self._key = np.empty(0, dtype=np.int64)
        self._sums = np.zeros((1 + (len(POWERS) if weighted else 0), 0))
        self.bucket = np.empty(0, dtype=np.int64)
        self._divide()

    @property
    def parent(self) -> Array:
        """The place of the bucket of each cell in `bucket`."""
        return np.right_shift(self.cell, self.bits)

    def parent_of(self, cell: Array) -> Array:
        """Return the place of the bucket of some cells."""
        return np.right_shift(self.cell[cell], self.bits)

    def range(self, cell: Array) -> tuple[Array, Array]:
        """Return what no prediction of cells falls below, and what none exceeds."""
        at = self.parent_of(cell)
        least, behind, upper = self._buckets.range(self.bucket[at])
        split = self._scale[at] != 0.0
        step = (behind - least) / np.where(split, 1 << self.bits, 1)
        start = least + np.abs(self.cell[cell] - self._first[at]) * step
        behind = start + step
        return (
            np.where(upper, 1.0 - behind, start),
            np.where(upper, 1.0 - start, np.nextafter(behind, 0.0)),
        )

    def __len__(self) -> int:
        return sum(map(len, self._single)) + len(self._key)

    def add(self, found: ExactRows) -> None:
        """Take queries over."""
        self._single += found.take_singles()
        self._key, self._sums = added_up(
            np.concatenate((self._key, found.key)),
            np.concatenate((self._sums, found.sums), axis=1),
        )
        self.bucket = np.union1d(self.bucket, found.wanted)
        self._divide()

    def keep(self, buckets: Array) -> None:
        """Forget the queries of all other buckets."""
        kept = np.zeros(self._buckets.number, dtype=bool)
        kept[buckets] = True

        def among(key: Array) -> Array:
            return kept[self._buckets.of((key >> 1).view(np.float64))[0]]

        self._single = [key[among(key)] for key in self._single]
        rows = among(self._key)
        self._key, self._sums = self._key[rows], self._sums[:, rows]
        self.bucket = np.intersect1d(self.bucket, buckets)
        self._divide()

    def rows(self, chosen: Array) -> tuple[Array, Array, Array]:
        """Return distinct keys of cells in order, their sums, and the place of the cell of each.

        `chosen` says of each cell whether its rows are wanted.
        """
        keys, several, sums = [self._key[:0]], [self._key[:0]], [self._sums[:, :0]]
        place_of = self._places()
        if chosen.any():
            wanted = np.zeros(len(self.bucket) << self.bits, dtype=bool)
            wanted[self.cell[chosen]] = True
            near = Near(*self.range(np.flatnonzero(chosen)))
            for key, values in self._parts():
                place = near.rows((key >> 1).view(np.float64))
                place = place[wanted[self._cells(key[place], place_of)[0]]]
                if values is None:
                    keys.append(key[place])
                else:
                    several.append(key[place])
                    sums.append(values[:, place])
        found = np.concatenate(keys)
        found.sort()
        starts = np.flatnonzero(np.diff(found, prepend=-1))
        total = np.diff(starts, append=len(found)).astype(float)[None, :]
        found = found[starts]
        if self.weighted or len(several) > 1:
            total = np.broadcast_to(total, (len(self._sums), len(found)))
            found, total = added_up(
                np.concatenate((found, *several)), np.concatenate((total, *sums), axis=1)
            )
        cell = self._cells(found, place_of)[0]
        return found, total, np.searchsorted(self.cell, cell)

    def forget(self, chosen: Array) -> None:
        """Forget the queries of all cells but those chosen, and keep their sums."""
        wanted = np.zeros(len(self.bucket) << self.bits, dtype=bool)
        wanted[self.cell[chosen]] = True
        place_of = self._places()
        for number, key in enumerate(self._single):
            self._single[number] = key[wanted[self._cells(key, place_of)[0]]]
        rows = wanted[self._cells(self._key, place_of)[0]]
        self._key, self._sums = self._key[rows], self._sums[:, rows]

    def _places(self) -> Array:
        """Return the place of each bucket of all; it is large, and not kept."""
        place = np.zeros(self._buckets.number, dtype=np.int32)
        place[self.bucket] = np.arange(len(self.bucket))
        return place

    def _parts(self) -> Iterator[tuple[Array, Array | None]]:
        """Yield rows a few at a time, and their sums where they stand for several queries."""
        for single in self._single:
            for first in range(0, len(single), _ROWS):
                yield single[first : first + _ROWS], None
        for first in range(0, len(self._key), _ROWS):
            rows = slice(first, first + _ROWS)
            yield self._key[rows], self._sums[:, rows]

    def _divide(self) -> None:
        """Add up the queries of each cell."""
        crowd = max(1.0, len(self) / max(len(self.bucket), 1) / _PER_CELL)
        self.bits = max(0, min(round(math.log2(crowd)), _MOST_BITS - self._buckets.bits))
        n_parts = 1 << self.bits
        least, behind, upper = self._buckets.range(self.bucket)
        width = behind - least
        self._narrow = width <= NARROW * least
        # The cells of a bucket are numbered from its other end where u is 1 - q. Where predictions
        # have next to no bits, all queries share the first cell.
        first = np.arange(len(self.bucket), dtype=np.int64) << self.bits
        split = (width > 1e-300) & (least + width / n_parts > least)
        self._first = np.where(upper & split, first + n_parts - 1, first)
        self._scale = n_parts / np.where(split, width, np.inf)
        self._scale[upper] *= -1.0
        place_of = self._places()
        size = 2 * n_parts * len(self.bucket)
        count = np.zeros(size)
        sums = np.zeros((2 * len(POWERS) + 1 if self.weighted else 2, size))
        waiting: list[tuple[Array, Array]] = []
        held = 0
        for key, values in self._parts():
            cell, away = self._cells(key, place_of)
            cell <<= 1
            cell |= key & 1
            if values is not None:
                self._add_up(cell, away, values, count, sums)
                continue
            # Large tables are not added up for a few rows.
            waiting.append((cell, away))
            held += len(key)
            if held > size:
                self._add_up(*_joined(waiting), None, count, sums)
                held = 0
        if waiting:
            self._add_up(*_joined(waiting), None, count, sums)
        of_cell = count.reshape(-1, 2)
        cell = np.flatnonzero(of_cell.any(axis=1))
        self.cell = cell.astype(np.int32 if size < 2**31 else np.int64)
        self.count = of_cell[cell].astype(np.int64)
        self.sums = sums.reshape(len(sums), -1, 2)[:, cell]

    def _cells(self, key: Array, place_of: Array) -> tuple[Array, Array]:
        """Return the cell of each row, and how far u is above the least of its bucket."""
        bucket, away = self._buckets.of((key >> 1).view(np.float64))
        place = place_of.take(bucket, mode="clip")
        cell = (away * self._scale.take(place, mode="clip")).astype(np.int64)
        cell += self._first.take(place, mode="clip")
        return cell, away

    def _add_up(
        self, slot: Array, away: Array, values: Array | None, count: Array, sums: Array
    ) -> None:
        """Add rows to the sums of their cells and answers."""

        def total(weight: Array | None) -> Array:
            return np.bincount(slot, weight, len(count))

        if values is None:
            count += total(None)
            sums[0] += total(away)
            # Beside the mean of a narrow bucket, its variance is lost in rounding.
            wide = np.flatnonzero(~self._narrow.take(slot >> (self.bits + 1)))
            slot, away = slot[wide], away[wide]
            sums[1] += total(np.square(away))
            return
        count += total(values[0])
        # Without weights, the number of queries is their weight.
        for power, weight in enumerate(values[1:] if self.weighted else values[:1]):
            row = 2 * power + (power > 0) if self.weighted else -1
            if self.weighted:
                sums[row] += total(weight)
            sums[row + 1] += total(weight * away)
            if power == 0:
                sums[row + 2] += total(weight * away * away)


def _joined(waiting: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return cells and distances one after the other, and empty the list."""
    slot, away = (np.concatenate([part[i] for part in waiting]) for i in (0, 1))
    waiting.clear()
    return slot, away
