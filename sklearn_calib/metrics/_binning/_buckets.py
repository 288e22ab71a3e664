"""Sums of queries in narrow buckets of predictions, added up over chunks of any size and order.

A bucket is a range of predictions whose bits agree up to some place, seen from
the nearer end of [0, 1]: with u = min(q, 1 - q), buckets are narrow relative to u,
and so fine at both ends. Exactly 0 and exactly 1 have buckets of their own. For
each bucket and answer, count, mean and variance of the predictions are kept, so
that the sum of any smooth function over a bucket is known to rounding. Only
where a bin ends within a bucket its queries are looked at one by one.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.queries._queries import Queries

# An octave of u has 2 ** bits buckets from 2 ** -5 on, half as many each octave below, and in the
# end 2 ** 10: narrow enough for sums, where there are not many queries.
_LAST_FULL = 1018  # the exponent of 2 ** -5, as its bits have it
_FEWEST = 10
_TOP = 1022  # the exponent of 0.5

# An octave is the first twelve bits of a signed distance: its sign, which says from which end it
# is counted, and its exponent.
_OCTAVES, _LOWER = 4096, 2048

# A bucket is narrow where so many bits behind the leading one of u agree: beside the mean of its
# predictions, their variance is lost in rounding.
_NARROW_BITS = 15
NARROW = 2.0**-_NARROW_BITS

# So many bits of u are added up in octaves that have all their buckets; places have so many of them
# at least, and at most, so that there is room for a block of rows.
_ADDED_BITS, _LEAST_PLACE_BITS, _MOST_PLACE_BITS = 39, 23, 33

# Rows handled at a time: their temporaries stay in a core's own cache.
_ROWS = 16_384

# Cells of an even grid of predictions, as powers of two, which tells rows that are not wanted.
_LEAST_GRID, _GRID = 12, 21

# Rows are looked through for equal ones when so many are waiting.
_WAITING = 16_000_000

# Rows of one prediction and answer are put together where so many of them come at a time.
_OFTEN = 8

# Powers of the weights that statistics add up.
POWERS = (1, 2, 3, 4, 6)


@dataclass(frozen=True)
class Buckets:
    """How predictions fall into buckets, numbered in order of prediction.

    Attributes
    ----------
    bits : int
        Buckets of an octave of u: 2 ** bits.
    """

    bits: int

    @cached_property
    def _shift(self) -> Array:
        """How many bits of u do not count, by its exponent."""
        below = np.maximum(_LAST_FULL - np.arange(_TOP + 1), 0)
        return 52 - np.maximum(self.bits - below, min(self.bits, _FEWEST))

    @cached_property
    def _first(self) -> Array:
        """The first bucket of each exponent; the bucket of 0 comes before all of them."""
        sizes = np.int64(1) << (52 - self._shift)
        return np.concatenate(([1], 1 + np.cumsum(sizes)))

    @property
    def _half(self) -> int:
        # One half is a bucket of its own, the last of its side.
        return int(self._first[_TOP]) + 1

    @property
    def number(self) -> int:
        """How many buckets there are."""
        return 2 * self._half

    def of(self, q: Array) -> tuple[Array, Array]:
        """Return the bucket of each prediction, and how far u lies above the bucket's least."""
        u = np.subtract(1.0, q)
        np.minimum(u, q, out=u)
        bits = u.view(np.int64)
        exponent = np.right_shift(bits, 52)
        shift = self._shift[exponent]
        bucket = np.right_shift(bits, shift)
        least = np.left_shift(bucket, shift)
        bucket += self._offset[exponent]
        bucket *= bits != 0
        np.subtract(u, least.view(np.float64), out=u)
        np.subtract(2 * self._half - 1, bucket, out=bucket, where=q > 0.5)
        return bucket, u

    # Each bucket has two slots, one for each answer: first exactly 0 and exactly 1, then one half,
    # then one octave after the other, away from it. So those that are not there come last.

    @cached_property
    def _start(self) -> Array:
        """The first slot of each octave; what is behind the last one is the number of slots."""
        exponent = np.arange(_TOP - 1, -1, -1)
        size = np.int64(2) << (52 - self._shift[exponent])
        behind = 6 + 2 * np.cumsum(size)
        start = np.full(_OCTAVES + 1, behind[-1])
        start[_LOWER + _TOP] = 4
        start[_LOWER + exponent] = behind - 2 * size
        start[exponent] = behind - size
        return start

    @property
    def n_slots(self) -> int:
        """Two slots for each bucket."""
        return int(self._start[-1])

    @cached_property
    def shift_of_octave(self) -> Array:
        """How many bits do not count, by octave."""
        shift = np.zeros(_OCTAVES, dtype=np.int64)
        shift[: _TOP + 1] = shift[_LOWER : _LOWER + _TOP + 1] = self._shift
        return shift

    @cached_property
    def offset_of_octave(self) -> Array:
        """What leads from twice the leading bits to the slot; below zero where zero may be."""
        octave = np.arange(_OCTAVES)
        offset = self._start[:-1] - (octave << (53 - self.shift_of_octave))
        offset[[0, _LOWER]] -= self.n_slots
        return offset

    @property
    def place_bits(self) -> int:
        """Bits that say where in its bucket a query is."""
        return min(max(_ADDED_BITS - self.bits, _LEAST_PLACE_BITS), _MOST_PLACE_BITS)

    @property
    def one_bits(self) -> int:
        """Bits of the sum of places; behind them, queries are counted."""
        return (63 + self.place_bits) // 2

    @property
    def most(self) -> int:
        """How many queries can be told from the sum of their places."""
        return (1 << (self.one_bits - self.place_bits)) - 1

    def slots(self, used: Array) -> tuple[Array, Array, Array]:
        """Return places, numbers and widths of buckets in order of prediction.

        `used` says which are wanted, in order of their slots, in which they have their places.
        """
        zero = np.flatnonzero(used[:1])
        places, numbers, widths = [zero], [zero], [np.zeros(len(zero))]
        lower = range(_LOWER, _LOWER + _TOP + 1)
        for octave in (*lower, *range(_TOP - 1, -1, -1)):
            first, exponent = int(self._start[octave]) // 2, octave % _LOWER
            if first >= len(used):
                continue
            size = 1 if exponent == _TOP else 1 << int(52 - self._shift[exponent])
            place = np.flatnonzero(used[first : first + size])
            number = place + self._first[exponent]
            if octave < _LOWER:
                place, number = place[::-1], 2 * self._half - 1 - number[::-1]
            places.append(first + place)
            numbers.append(number)
            # One half is alone in its bucket. The least exponent is that of all numbers below it.
            width = math.ldexp(1.0, max(exponent, 1) - 1075 + int(self._shift[exponent]))
            widths.append(np.full(len(place), 0.0 if exponent == _TOP else width))
        if used[1:2].any():
            places.append(np.array([1]))
            numbers.append(np.array([self.number - 1]))
            widths.append(np.zeros(1))
        return np.concatenate(places), np.concatenate(numbers), np.concatenate(widths)

    @cached_property
    def _offset(self) -> Array:
        """What leads from the leading bits of u to its bucket, by exponent."""
        exponent = np.arange(_TOP + 1)
        return self._first[:-1] - (exponent << (52 - self._shift))

    def range(self, bucket: Array) -> tuple[Array, Array, Array]:
        """Return the least u of buckets, the u at which the next one starts, and if u is 1 - q."""
        upper = bucket >= self._half
        place = np.where(upper, 2 * self._half - 1 - bucket, bucket)
        exponent = np.maximum(np.searchsorted(self._first, place, side="right") - 1, 0)
        shift = self._shift[exponent]
        first = np.where(place == 0, 0, (place - self._offset[exponent]) << shift)
        # The buckets of zero and of one half end right after them.
        step = np.int64(1) << np.where(exponent == _TOP, 0, shift)
        behind = np.where(place == 0, 1, first + step)
        return first.view(np.float64), behind.view(np.float64), upper

    def leading_bits(self, bucket: Array, bits: int) -> Array:
        """Return numbers that buckets share if these bits behind the leading one of u agree."""
        upper = bucket >= self._half
        place = np.where(upper, 2 * self._half - 1 - bucket, bucket)
        exponent = np.maximum(np.searchsorted(self._first, place, side="right") - 1, 0)
        shared = np.maximum(52 - self._shift[exponent] - bits, 0)
        number = ((place - self._first[exponent]) >> shared << shared) + self._first[exponent]
        number = np.where(place == 0, 0, number)
        return np.where(upper, 2 * self._half - 1 - number, number)


class BucketSums:
    """Sums over the queries of each bucket and answer: a reduction over chunks.

    Without weights, one whole number holds the count of a slot (a bucket and an
    answer) and how far its queries are in the bucket, so that a query costs one
    visit to a large table. The two are told apart before they run into each other.
    """

    def __init__(self, buckets: Buckets, weighted: bool) -> None:
        self.buckets, self.weighted = buckets, weighted
        self.n_rows, self.n_used = 0, 0
        self.largest_weight, self.least_weight, self.whole_weights = 0.0, np.inf, True
        # Slots in use are the first ones of the tables.
        self._extent = 0
        # Counts and places in one number, and no more of a slot than this.
        self._both, self._bound = np.zeros(0, dtype=np.int64), 0
        # Squares of places, which narrow buckets do not need.
        self._squares = np.zeros(0)
        # What was told apart: counts, and sums of places; with weights, for each power sums of the
        # weights and of weight times u - least, and of weight times its square.
        self._counts = np.zeros(0, dtype=np.int64)
        self._sums = np.zeros((2 * len(POWERS) + 1 if weighted else 1, 0))
        self._work: _Work | None = None

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk."""
        y, q, w = chunk.y_true, chunk.y_prob, chunk.sample_weight
        self.n_rows += len(q)
        if self.weighted and w is not None:
            if not w.all():
                keep = w > 0.0
                y, q, w = y[keep], q[keep], w[keep]
            if len(q) == 0:
                return
            self.largest_weight = max(self.largest_weight, float(w.max()))
            self.least_weight = min(self.least_weight, float(w.min()))
            self.whole_weights = self.whole_weights and not bool((w % 1.0).any())
        self.n_used += len(q)
        if self._work is None:
            self._work = _Work(self.buckets)
        for first in range(0, len(q), _ROWS):
            rows = slice(first, first + _ROWS)
            slot, shift, extent = self._work.place(q[rows], y[rows])
            if extent > self._extent:
                self._extend(extent)
            if w is None:
                self._add(slot, shift)
            else:
                # Weights beyond reach are seen, and read again.
                with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                    self._add_weighted(slot, self._work.away(shift), w[rows])

    def _add(self, slot: Array, shift: Array) -> None:
        assert self._work is not None
        if self._bound + len(slot) > self.buckets.most:
            self._bound = self._largest_count()
            if self._bound > self.buckets.most // 2:
                self._tell_apart()
        self._bound += len(slot)
        both = self._work.both(shift)
        np.add.at(self._both, slot, both)
        if self.buckets.bits >= _NARROW_BITS:
            wide = np.flatnonzero(shift > 52 - _NARROW_BITS)
            slot, both = slot[wide], both[wide]
        both &= (1 << self.buckets.place_bits) - 1
        place = both.astype(float)
        place += 0.5
        place *= place
        np.add.at(self._squares, slot, place)

    def _extend(self, extent: int) -> None:
        """Let the tables reach up to a slot."""
        self._extent = extent
        size = len(self._counts if self.weighted else self._both)
        if extent <= size:
            return
        size = min(max(2 * size, extent), self.buckets.n_slots)
        if self.weighted:
            self._counts, self._sums = longer(self._counts, size), longer(self._sums, size)
            return
        self._both, self._squares = longer(self._both, size), longer(self._squares, size)

    def _largest_count(self) -> int:
        """Return what no slot counts more of, but what was told apart."""
        return int(self._both[: self._extent].max(initial=0) >> self.buckets.one_bits) + 1

    def _tell_apart(self) -> None:
        """Move counts and places to tables of their own."""
        size, both = self._extent, self._both[: self._extent]
        self._counts, self._sums = longer(self._counts, size), longer(self._sums, size)
        self._counts[:size] += both >> self.buckets.one_bits
        both &= (1 << self.buckets.one_bits) - 1
        self._sums[0, :size] += both
        both[:], self._bound = 0, 0

    def _add_weighted(self, slot: Array, away: Array, w: Array) -> None:
        np.add.at(self._counts, slot, 1)
        power = np.ones_like(w)
        row = 0
        for k in range(1, max(POWERS) + 1):
            power *= w
            if k not in POWERS:
                continue
            moved = power * away
            np.add.at(self._sums[row], slot, power)
            np.add.at(self._sums[row + 1], slot, moved)
            row += 2
            if k == 1:
                np.add.at(self._sums[row], slot, moved * away)
                row += 1

    def merge(self, other: BucketSums) -> None:
        """Add the sums of other chunks."""
        self.n_rows += other.n_rows
        self.n_used += other.n_used
        self.largest_weight = max(self.largest_weight, other.largest_weight)
        self.least_weight = min(self.least_weight, other.least_weight)
        self.whole_weights = self.whole_weights and other.whole_weights
        if other._extent > self._extent:
            self._extend(other._extent)
        if self._bound + other._bound > self.buckets.most:
            self._bound, other._bound = self._largest_count(), other._largest_count()
            if self._bound + other._bound > self.buckets.most:
                self._tell_apart()
                # Its tables stay as they are: a merge may be made again.
                other = copy(other)
                other._both = other._both.copy()
                other._tell_apart()
        self._bound += other._bound
        for name in _TABLES:
            used, values, shape = _packed(getattr(other, name), other._extent)
            table = longer(getattr(self, name), shape[-1])
            # What is not filled is not touched: it may take no memory yet.
            table[..., used] += values
            setattr(self, name, table)

    def filled(self) -> tuple[Array, Array, Array]:
        """Return the buckets that hold queries, in order, and their counts and sums by answer.

        Counts have the shape (n_buckets, 2), sums (n_sums, n_buckets, 2).
        """
        at, bucket, width = self.buckets.slots(self._used)
        if self.weighted:
            return bucket, self._by_answer(self._counts)[at], self._by_answer(self._sums)[:, at]
        both = self._by_answer(self._both)[at]
        count = both >> self.buckets.one_bits
        both &= (1 << self.buckets.one_bits) - 1
        sums = np.empty((2, *both.shape))
        sums[0] = both
        del both
        if len(self._counts):
            count += self._by_answer(self._counts)[at]
            sums[0] += self._by_answer(self._sums)[0, at]
        # A place stands for the middle of what it stands for.
        sums[0] += 0.5 * count
        sums[1] = self._by_answer(self._squares)[at]
        sums *= 2.0**-self.buckets.place_bits
        sums *= width[:, None]
        # Two steps: the square of a width may be too small for a float.
        sums[1] *= 2.0**-self.buckets.place_bits
        sums[1] *= width[:, None]
        return bucket, count, sums

    def _by_answer(self, table: Array) -> Array:
        """Return a table of slots as one of buckets and answers."""
        size = self._extent
        return longer(table, size)[..., :size].reshape(*table.shape[:-1], -1, 2)

    @property
    def _used(self) -> Array:
        """Which buckets hold queries, in order of their slots."""
        used = np.any(self._by_answer(self._counts), axis=1)
        if not self.weighted:
            used |= np.any(self._by_answer(self._both), axis=1)
        return used

    def __deepcopy__(self, memo: dict[int, Any]) -> BucketSums:
        """Copy the tables as they are, which is faster than to send them."""
        other = copy(self)
        other._work = None
        for name in _TABLES:
            used, values, shape = _packed(getattr(self, name), self._extent)
            values = values.copy() if isinstance(used, slice) else values
            setattr(other, name, _unpacked(used, values, shape))
        return other

    def __getstate__(self) -> dict[str, object]:
        """Send no more than what is filled."""
        packed = {name: _packed(getattr(self, name), self._extent) for name in _TABLES}
        return self.__dict__ | {"_work": None} | packed

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _TABLES:
            setattr(self, name, _unpacked(*state[name]))


_TABLES = ("_both", "_squares", "_counts", "_sums")

_Packed = tuple["Array | slice", Array, tuple[int, ...]]


def _packed(table: Array, extent: int) -> _Packed:
    """Return where a table is filled, with what, and its shape up to the last slot in use."""
    table = table[..., :extent]
    used = np.flatnonzero(table if table.ndim == 1 else table.any(axis=0))
    # Places that are worth more than what lies between them.
    if 2 * len(used) < table.shape[-1]:
        return used.astype(np.int32), table[..., used], table.shape
    return slice(None, table.shape[-1]), table, table.shape


def _unpacked(used: Array | slice, values: Array, shape: tuple[int, ...]) -> Array:
    """Return a table, which is the values themselves where they are all of it."""
    if isinstance(used, slice):
        return values
    table = np.zeros(shape, dtype=values.dtype)
    table[..., used] = values
    return table


class _Work:
    """Where a few rows are in the tables, with room for what is needed on the way."""

    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets
        self._above = np.empty(_ROWS, dtype=bool)
        self._signed = np.empty(_ROWS)
        self._octave, self._shift, self._slot, self._leading = np.empty((4, _ROWS), dtype=np.int64)

    def place(self, q: Array, y: Array) -> tuple[Array, Array, int]:
        """Return slots, how many bits of each query do not count, and what is behind all slots."""
        n = len(q)
        above, signed = self._above[:n], self._signed[:n]
        octave, shift, slot, leading = (
            x[:n] for x in (self._octave, self._shift, self._slot, self._leading)
        )
        # The distance to 1 with its sign, and that to 0 with the other one.
        np.greater(q, 0.5, out=above)
        np.subtract(above, q, out=signed)
        bits = signed.view(np.uint64)
        np.right_shift(bits, np.uint64(52), out=octave.view(np.uint64))
        np.take(self._buckets.shift_of_octave, octave, out=shift, mode="clip")
        np.right_shift(bits, shift.view(np.uint64), out=leading.view(np.uint64))
        leading <<= 1
        np.take(self._buckets.offset_of_octave, octave, out=slot, mode="clip")
        slot += leading
        slot |= y
        self._n = n
        last = int(slot.view(np.uint64).max())
        if last >= self._buckets.n_slots:
            # Exactly 0 and 1 have no octave; the sign does not tell them apart.
            zero = np.flatnonzero(signed == 0.0)
            slot += self._buckets.n_slots * (slot < 0)
            slot[zero] = 2 * above[zero] + y[zero]
            shift[zero] = 0
            last = int(slot.max())
        return slot, shift, (last | 1) + 1

    def both(self, shift: Array) -> Array:
        """Return one query, and as a small number beside it how far it is in its bucket."""
        bits, found = self._signed[: self._n].view(np.int64), self._leading[: self._n]
        np.subtract(64, shift, out=found)
        np.left_shift(bits, found, out=found)
        np.right_shift(
            found.view(np.uint64),
            np.uint64(64 - self._buckets.place_bits),
            out=found.view(np.uint64),
        )
        found += 1 << self._buckets.one_bits
        return found

    def away(self, shift: Array) -> Array:
        """Return how far u lies above the least of its bucket."""
        bits = self._signed[: self._n].view(np.int64)
        least = np.left_shift(np.right_shift(bits, shift), shift)
        return np.abs(self._signed[: self._n] - least.view(np.float64))


class Near:
    """Ranges of predictions on an even grid, which quickly tells most of the rows outside them."""

    def __init__(self, low: Array, high: Array) -> None:
        # The more ranges there are, the finer.
        self._size = 1 << int(np.clip(math.log2(len(low) + 1) + 8, _LEAST_GRID, _GRID))
        change = np.zeros(self._size + 2, dtype=np.int32)
        np.add.at(change, (low * self._size).astype(np.int64), 1)
        np.add.at(change, (high * self._size).astype(np.int64) + 1, -1)
        self._inside = np.cumsum(change[:-1], dtype=np.int32) > 0

    def rows(self, q: Array) -> Array:
        """Return the rows that may be in one of the ranges: all that are, and a few others."""
        found = [np.empty(0, dtype=np.intp)]
        scaled, cell = np.empty(_ROWS), np.empty(_ROWS, dtype=np.intp)
        for first in range(0, len(q), _ROWS):
            part = q[first : first + _ROWS]
            n = len(part)
            np.multiply(part, self._size, out=scaled[:n])
            np.copyto(cell[:n], scaled[:n], casting="unsafe")
            inside = np.flatnonzero(np.take(self._inside, cell[:n], mode="clip"))
            inside += first
            found.append(inside)
        return np.concatenate(found)


class ExactRows:
    """The queries of some buckets, with sums where a prediction and its answer return: a reduction.

    Queries whose prediction is their own take eight bytes each, where there are no weights.
    """

    def __init__(self, buckets: Buckets, wanted: Array, weighted: bool) -> None:
        self.buckets, self.weighted = buckets, weighted
        self.wanted = wanted
        # Bits of the prediction, shifted up by one to make room for the answer.
        self.key = np.empty(0, dtype=np.int64)
        self.sums = np.zeros((1 + (len(POWERS) if weighted else 0), 0))
        # Rows of one query each are the first so many of these.
        self._rows, self._waiting = np.empty(0, dtype=np.int64), 0
        self._weights: list[Array] = []
        self._most = _WAITING // (8 if weighted else 1)
        self.n_rows = 0

    @cached_property
    def _is_wanted(self) -> Array:
        """Of each bucket, whether it is wanted."""
        table = np.zeros(self.buckets.number, dtype=bool)
        table[self.wanted] = True
        return table

    @cached_property
    def _near(self) -> Near:
        """Where the wanted buckets are."""
        least, behind, upper = self.buckets.range(self.wanted)
        return Near(np.where(upper, 1.0 - behind, least), np.where(upper, 1.0 - least, behind))

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk that fall into the wanted buckets."""
        y, q, w = chunk.y_true, chunk.y_prob, chunk.sample_weight
        self.n_rows += len(q)
        # Most rows are nowhere near, which is quickly seen.
        place = self._near.rows(q)
        found = q[place]
        hit = self._is_wanted[self.buckets.of(found)[0]]
        if w is not None:
            hit &= w[place] > 0.0
        place, found = place[hit], found[hit]
        if len(place) == 0:
            return
        key = np.left_shift(found.view(np.int64), 1)
        key |= y[place]
        if w is not None:
            self._weights.append(w[place])
        self._append(key)

    def _append(self, key: Array) -> None:
        """Let rows wait behind the others, in an array that grows without a second copy of it."""
        end = self._waiting + len(key)
        if end > len(self._rows):
            if not self._rows.flags.owndata:
                self._rows = self._rows.copy()
            self._rows.resize(max(end, 9 * len(self._rows) // 8), refcheck=False)
        self._rows[self._waiting : end] = key
        self._waiting = end
        if self._waiting > self._most:
            self.settle()

    def settle(self) -> None:
        """Put rows of equal prediction and answer together, where they are many."""
        if self._waiting == 0:
            return
        key = self._rows[: self._waiting]
        if self.weighted:
            weight = np.concatenate(self._weights)
            self._put_together(key, np.stack([np.ones(len(key)), *(weight**k for k in POWERS)]))
            self._weights, self._waiting, self._most = [], 0, max(self._most, len(self.key))
            return
        key.sort()
        often = key[: 1 - _OFTEN or None] == key[_OFTEN - 1 :]
        if often.any():
            many = np.unique(key[: len(often)][often])
            first, behind = (np.searchsorted(key, many, side) for side in ("left", "right"))
            change = np.zeros(len(key) + 1, dtype=np.int8)
            change[first] += 1
            change[behind] -= 1
            self._rows = key[np.cumsum(change[:-1], dtype=np.int8) == 0]
            self._waiting = len(self._rows)
            self._put_together(many, (behind - first).astype(float)[None, :])
        self._most = max(self._most, 2 * self._waiting)

    def _put_together(self, key: Array, values: Array) -> None:
        key, values = (
            np.concatenate((self.key, key)),
            np.concatenate((self.sums, values), axis=1),
        )
        self.key, self.sums = added_up(key, values)

    def merge(self, other: ExactRows) -> None:
        """Add the rows of other chunks."""
        self.n_rows += other.n_rows
        self._weights += other._weights
        self._put_together(other.key, other.sums)
        self._append(other._rows[: other._waiting])

    def take_rows(self) -> Array:
        """Return the rows that were not put together, and hold them no longer."""
        if self.weighted:
            self.settle()
        found, self._rows = self._rows[: self._waiting], np.empty(0, dtype=np.int64)
        self._waiting = 0
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> ExactRows:
        """Copy what a merge writes to."""
        other = copy(self)
        other._rows, other._weights = self._rows[: self._waiting].copy(), list(self._weights)
        return other

    def __getstate__(self) -> dict[str, object]:
        """Send the rows, and the wanted buckets as a list."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("_is_wanted", "_near")}
        return state | {"_rows": self._rows[: self._waiting]}


def longer(table: Array, size: int) -> Array:
    """Return a table with zeros behind it, so that its last axis has at least a size."""
    if table.shape[-1] >= size:
        return table
    # Pages of zeros that nobody writes to take no memory.
    found = np.zeros((*table.shape[:-1], size), dtype=table.dtype)
    found[..., : table.shape[-1]] = table
    return found


def added_up(key: Array, values: Array) -> tuple[Array, Array]:
    """Return distinct keys in order, and the sums of their values."""
    if len(key) == 0:
        return key, values
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    return key[starts], np.add.reduceat(values[:, order], starts, axis=1)
