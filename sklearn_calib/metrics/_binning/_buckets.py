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

# Octaves of both ends, by the exponent of u: zero takes one that no u has.
_SIDE_BITS = 10
_SIDE, _SIDES = 1024, 2048
_ZERO = 1023
_NO_ROOM = -(1 << 62)

# A bucket is narrow where so many bits behind the leading one of u agree: beside the mean of its
# predictions, their variance is lost in rounding.
_NARROW_BITS = 16
NARROW = 2.0**-_NARROW_BITS

# How far a query is in its bucket, as a share of this, and what stands for one query beside it:
# fewer than 256 of them can be told from the sum of the others. Shares of the narrowest buckets
# are lifted on the way, so that their reciprocals stay within floats.
_UNIT, _ONE, _FULL, _LIFT = 2.0**37, 2.0**45, 2.0**53, 2.0**500

# Rows handled at a time: their temporaries stay in cache.
_ROWS = 32_768

# Rows whose sums are made at a time, and which wait until then.
_BUFFER = 1 << 20

# Cells of an even grid of predictions, as powers of two, which tells rows that are not wanted.
_LEAST_GRID, _GRID = 12, 21

# So few buckets are looked up in their list, and more in a table of all.
_LISTED = 1000

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

    @cached_property
    def narrow_from(self) -> float:
        """The least u from which on buckets are narrow: no variance is needed there."""
        narrow = np.flatnonzero(52 - self._shift[1:] >= _NARROW_BITS) + 1
        return float((np.int64(narrow[0]) << 52).view(np.float64)) if len(narrow) else 1.0

    # An octave is an exponent of u, and which end it is counted from. Zero has one of its own.

    @cached_property
    def _shift_of_octave(self) -> Array:
        shift = np.append(self._shift, 52)
        return np.concatenate((shift, shift))

    def leading(self, octave: int) -> int:
        """Return the leading bits of u in the first bucket of an octave."""
        exponent = octave % _SIDE
        return 0 if exponent == _ZERO else exponent << int(52 - self._shift[exponent])

    def size(self, octave: int) -> int:
        """Return how many buckets an octave has; one half and zero have one each."""
        exponent = octave % _SIDE
        return 1 if exponent >= _TOP else 1 << int(52 - self._shift[exponent])

    def number_of(self, octave: int, place: Array) -> Array:
        """Return the numbers of buckets of an octave."""
        exponent = octave % _SIDE
        number = place + (0 if exponent == _ZERO else self._first[exponent])
        return number if octave < _SIDE else 2 * self._half - 1 - number

    def place(self, q: Array, offset: Array, slot: Array, away: Array) -> tuple[Array, Array]:
        """Write the slot of each prediction, and how far u lies above the least of its bucket.

        The slot of a bucket is twice the leading bits of u, plus the offset of
        its octave. Returns u and the octaves.
        """
        u = np.subtract(1.0, q)
        np.minimum(u, q, out=u)
        bits = u.view(np.int64)
        octave = np.right_shift(bits, 52)
        # NumPy before 2 would shift within eight bits, whatever it writes to.
        np.left_shift(np.greater(q, 0.5).view(np.int8), _SIDE_BITS, out=slot, dtype=np.int64)
        octave += slot
        if u.min() == 0.0:
            octave[bits == 0] |= _ZERO
        shift = self._shift_of_octave.take(octave, mode="clip")
        leading = np.right_shift(bits, shift)
        np.left_shift(leading, shift, out=shift)
        np.subtract(u, shift.view(np.float64), out=away)
        leading <<= 1
        np.take(offset, octave, out=slot, mode="clip")
        slot += leading
        return u, octave

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

    @cached_property
    def width(self) -> Array:
        """The width of the buckets of each octave, in u."""
        exponent = np.maximum(np.arange(_TOP + 1), 1)
        # The least exponent is shared by all numbers below it.
        width = np.ldexp(1.0, exponent - 1075 + self._shift)
        return np.tile(np.append(width, 1.0), 2)

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

    Queries wait in a buffer of `room` rows, so that large tables are not added up for a few rows.
    """

    def __init__(self, buckets: Buckets, weighted: bool, room: int | None = None) -> None:
        self.buckets, self.weighted = buckets, weighted
        self.n_rows, self.n_used = 0, 0
        self.largest_weight, self.least_weight, self.whole_weights = 0.0, np.inf, True
        # An octave has room for its sums once a prediction falls into it.
        self._start = np.full(_SIDES, -1, dtype=np.int64)
        self._offset = np.full(_SIDES, _NO_ROOM, dtype=np.int64)
        self._n_slots = 0
        self._counts = np.zeros(0, dtype=np.int64)
        # Sums of u - least and of its square, which narrow buckets do not need; with weights, for
        # each power sums of the weights and of weight times u - least, and of weight times its
        # square.
        self._sums = np.zeros((2 * len(POWERS) + 1 if weighted else 2, 0))
        # Counts and sums in one number, from before they are told apart.
        self._both, self._bound = np.zeros(0), 0.0
        self._scale = _UNIT / _LIFT / buckets.width
        self._room = _BUFFER if room is None else room
        self._wait()

    def _wait(self) -> None:
        """Make room for queries that wait."""
        self._n_waiting = 0
        self._slot = np.empty(0, dtype=np.int64)
        self._away, self._weight = np.empty(0), np.empty(0)
        self._wide: list[tuple[Array, Array]] = []

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
        step = min(_ROWS, self._room)
        for first in range(0, len(q), step):
            rows = slice(first, first + step)
            self._put(y[rows], q[rows], None if w is None else w[rows])

    def _put(self, y: Array, q: Array, w: Array | None) -> None:
        """Let a few rows wait."""
        if self._n_waiting + len(q) > self._room:
            self.flush()
        end = self._n_waiting + len(q)
        if len(self._slot) == 0:
            self._slot = np.empty(self._room, dtype=np.int64)
            self._away = np.empty(self._room)
            self._weight = np.empty(self._room if self.weighted else 0)
        here = slice(self._n_waiting, end)
        slot, away = self._slot[here], self._away[here]
        u, octave = self.buckets.place(q, self._offset, slot, away)
        if slot.min() < 0:
            self._make_room(np.unique(octave[slot < 0]))
            u, octave = self.buckets.place(q, self._offset, slot, away)
        slot |= y
        self._n_waiting = end
        if w is not None:
            self._weight[here] = w
            return
        # One query, and as a small number beside it how far it is in its bucket.
        away *= _LIFT
        away *= self._scale.take(octave, mode="clip")
        if self.buckets.narrow_from <= 0.5:
            wide = np.flatnonzero(u < self.buckets.narrow_from)
            self._wide.append((slot[wide], away[wide]))
        away += _ONE

    def _make_room(self, octaves: Array) -> None:
        """Give octaves a place for their sums."""
        for octave in octaves.tolist():
            self._start[octave] = self._n_slots
            # The leading bits of u begin with its exponent.
            self._offset[octave] = self._n_slots - 2 * self.buckets.leading(octave)
            self._n_slots += 2 * self.buckets.size(octave)

    def flush(self) -> None:
        """Add up the queries that wait."""
        slot, away, w = (x[: self._n_waiting] for x in (self._slot, self._away, self._weight))
        if self._n_waiting == 0:
            return
        self._grow()
        if self.weighted:
            self._counts += np.bincount(slot, minlength=self._n_slots)
            self._add_weighted(slot, away, w)
        else:
            self._add_both(slot, away)
        self._n_waiting = 0

    def _grow(self) -> None:
        """Make room for the octaves that were given a place."""
        more = self._n_slots - len(self._counts)
        if more:
            self._counts = np.append(self._counts, np.zeros(more, dtype=np.int64))
            self._sums = np.concatenate((self._sums, np.zeros((len(self._sums), more))), axis=1)
            if not self.weighted:
                self._both = np.append(self._both, np.zeros(more))

    def _add_both(self, slot: Array, away: Array) -> None:
        """Add up counts and sums at once: they are told apart as long as counts are small."""
        size = self._n_slots
        both = np.bincount(slot, away, size)
        most = float(both.max())
        if most >= _FULL:
            self._counts += np.bincount(slot, minlength=size)
        else:
            if self._bound + most >= _FULL:
                self._tell_apart()
            self._both += both
            self._bound += most
        del both
        away -= _ONE
        if most >= _FULL:
            self._sums[0] += np.bincount(slot, away, size)
        if self._wide:
            slot, away = (np.concatenate(parts) for parts in zip(*self._wide, strict=True))
            self._wide = []
        np.square(away, out=away)
        if 4 * len(slot) < size:
            np.add.at(self._sums[1], slot, away)
        else:
            self._sums[1] += np.bincount(slot, away, size)

    def _tell_apart(self) -> None:
        """Add what counts and sums have in common to each of them."""
        count = np.floor(self._both / _ONE)
        self._counts += count.astype(np.int64)
        count *= _ONE
        self._sums[0] += np.subtract(self._both, count, out=count)
        self._both[:], self._bound = 0.0, 0.0

    def _add_weighted(self, slot: Array, away: Array, w: Array) -> None:
        size = self._n_slots
        power = np.ones_like(w)
        row = 0
        for k in range(1, max(POWERS) + 1):
            power *= w
            if k not in POWERS:
                continue
            self._sums[row] += np.bincount(slot, power, size)
            self._sums[row + 1] += np.bincount(slot, power * away, size)
            row += 2
            if k == 1:
                self._sums[row] += np.bincount(slot, power * away * away, size)
                row += 1

    def finish(self) -> None:
        """Add up all that waits."""
        self.flush()
        if self._bound:
            self._tell_apart()

    def merge(self, other: BucketSums) -> None:
        """Add the sums of other chunks."""
        self.finish()
        other.finish()
        self.n_rows += other.n_rows
        self.n_used += other.n_used
        self.largest_weight = max(self.largest_weight, other.largest_weight)
        self.least_weight = min(self.least_weight, other.least_weight)
        self.whole_weights = self.whole_weights and other.whole_weights
        octaves = np.flatnonzero(other._start >= 0)
        self._make_room(octaves[self._start[octaves] < 0])
        self._grow()
        for octave in octaves.tolist():
            size = 2 * self.buckets.size(octave)
            here, there = (
                slice(start, start + size) for start in (self._start[octave], other._start[octave])
            )
            self._counts[here] += other._counts[there]
            self._sums[:, here] += other._sums[:, there]

    def filled(self) -> tuple[Array, Array, Array]:
        """Return the buckets that hold queries, in order, and their counts and sums by answer.

        Counts have the shape (n_buckets, 2), sums (n_sums, n_buckets, 2).
        """
        self.finish()
        buckets, slots = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        widths = [np.empty(0)]
        counts = self._counts.reshape(-1, 2)
        for octave in np.flatnonzero(self._start >= 0).tolist():
            start = self._start[octave] // 2
            some = np.flatnonzero(counts[start : start + self.buckets.size(octave)].any(axis=1))
            buckets.append(self.buckets.number_of(octave, some))
            slots.append(start + some)
            widths.append(np.full(len(some), self.buckets.width[octave]))
        bucket, slot = np.concatenate(buckets), np.concatenate(slots)
        order = np.argsort(bucket)
        bucket, slot = bucket[order], slot[order]
        sums = self._sums.reshape(len(self._sums), -1, 2)[:, slot]
        if not self.weighted:
            width = np.concatenate(widths)[order, None]
            for power in (0, 1):
                for _ in range(power + 1):
                    sums[power] /= _UNIT
                    sums[power] *= width
        return bucket, counts[slot], sums

    def __getstate__(self) -> dict[str, object]:
        """Send no more than what is filled."""
        self.finish()
        state = self.__dict__.copy()
        for name in ("_slot", "_away", "_weight", "_wide", "_n_waiting", "_both"):
            del state[name]
        used = np.flatnonzero(self._counts)
        state["_counts"], state["_sums"] = (used, self._counts[used]), self._sums[:, used]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        used, counts = state["_counts"]
        sums = state["_sums"]
        self._counts = np.zeros(self._n_slots, dtype=np.int64)
        self._counts[used] = counts
        self._sums = np.zeros((len(sums), len(self._counts)))
        self._sums[:, used] = sums
        self._both = np.zeros(0 if self.weighted else self._n_slots)
        self._wait()


class Near:
    """Ranges of predictions on an even grid, which quickly tells most of the rows outside them."""

    def __init__(self, low: Array, high: Array) -> None:
        # The more ranges there are, the finer.
        self._size = 1 << int(np.clip(math.log2(len(low) + 1) + 5, _LEAST_GRID, _GRID))
        change = np.zeros(self._size + 2, dtype=np.int32)
        np.add.at(change, (low * self._size).astype(np.int64), 1)
        np.add.at(change, (high * self._size).astype(np.int64) + 1, -1)
        self._inside = np.cumsum(change[:-1], dtype=np.int32) > 0

    def rows(self, q: Array) -> Array:
        """Return the rows that may be in one of the ranges: all that are, and a few others."""
        cell = (q * self._size).astype(np.int64)
        return np.flatnonzero(np.take(self._inside, cell, mode="clip"))


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
        self._single: list[Array] = []
        self._weights: list[Array] = []
        self._waiting, self._most = 0, _WAITING // (8 if weighted else 1)
        self.n_rows = 0
        self._look_for()

    def _look_for(self) -> None:
        """Mark the wanted buckets, and where they are."""
        self._table = None
        if len(self.wanted) > _LISTED:
            self._table = np.zeros(self.buckets.number, dtype=bool)
            self._table[self.wanted] = True
        least, behind, upper = self.buckets.range(self.wanted)
        self._near = Near(
            np.where(upper, 1.0 - behind, least), np.where(upper, 1.0 - least, behind)
        )

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk that fall into the wanted buckets."""
        y, q, w = chunk.y_true, chunk.y_prob, chunk.sample_weight
        self.n_rows += len(q)
        keys, weights = [], []
        for first in range(0, len(q), _ROWS):
            rows = slice(first, first + _ROWS)
            # Most rows are nowhere near, which is quickly seen.
            place = self._near.rows(q[rows])
            found = q[rows][place]
            hit = self._is_wanted(self.buckets.of(found)[0])
            if w is not None:
                hit &= w[rows][place] > 0.0
            place, found = place[hit], found[hit]
            keys.append(np.left_shift(found.view(np.int64), 1) | y[rows][place])
            if w is not None:
                weights.append(w[rows][place])
        key = np.concatenate(keys) if keys else self.key[:0]
        if len(key) == 0:
            return
        self._single.append(key)
        if weights:
            self._weights.append(np.concatenate(weights))
        self._waiting += len(key)
        if self._waiting > self._most:
            self.settle()

    def _is_wanted(self, bucket: Array) -> Array:
        if self._table is not None:
            return self._table[bucket]
        place = np.searchsorted(self.wanted, bucket)
        return np.take(self.wanted, place, mode="clip") == bucket

    def settle(self) -> None:
        """Put rows of equal prediction and answer together, where they are many."""
        if not self._single:
            return
        key = _joined(self._single)
        if self.weighted:
            weight = _joined(self._weights)
            self._put_together(key, np.stack([np.ones(len(key)), *(weight**k for k in POWERS)]))
            self._waiting, self._most = 0, max(self._most, len(self.key))
            return
        key.sort()
        often = key[: 1 - _OFTEN or None] == key[_OFTEN - 1 :]
        if often.any():
            many = np.unique(key[: len(often)][often])
            first, behind = (np.searchsorted(key, many, side) for side in ("left", "right"))
            change = np.zeros(len(key) + 1, dtype=np.int8)
            change[first] += 1
            change[behind] -= 1
            key = key[np.cumsum(change[:-1], dtype=np.int8) == 0]
            self._put_together(many, (behind - first).astype(float)[None, :])
        self._single.append(key)
        self._waiting, self._most = len(key), max(self._most, 2 * len(key))

    def _put_together(self, key: Array, values: Array) -> None:
        key, values = (
            np.concatenate((self.key, key)),
            np.concatenate((self.sums, values), axis=1),
        )
        self.key, self.sums = added_up(key, values)

    def merge(self, other: ExactRows) -> None:
        """Add the rows of other chunks."""
        self.n_rows += other.n_rows
        self._single += other._single
        self._weights += other._weights
        self._waiting += other._waiting
        self._put_together(other.key, other.sums)
        if self._waiting > self._most:
            self.settle()

    def take_singles(self) -> list[Array]:
        """Return the rows that were not put together, and hold them no longer."""
        if self.weighted:
            self.settle()
        found, self._single = self._single, []
        return found

    def __getstate__(self) -> dict[str, object]:
        """Send the rows, and the wanted buckets as a list."""
        state = self.__dict__.copy()
        del state["_table"], state["_near"]
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._look_for()


def _joined(parts: list[Array]) -> Array:
    """Return arrays one after the other, and empty the list that holds them."""
    whole = np.empty(sum(map(len, parts)), dtype=parts[0].dtype)
    # One part after the other, so that there are never two copies of all of them.
    end = len(whole)
    while parts:
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)
    return whole


def added_up(key: Array, values: Array) -> tuple[Array, Array]:
    """Return distinct keys in order, and the sums of their values."""
    if len(key) == 0:
        return key, values
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    return key[starts], np.add.reduceat(values[:, order], starts, axis=1)
