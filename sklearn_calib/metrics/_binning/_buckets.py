"""Sums of queries in narrow buckets of predictions, added up over chunks of any size and order.

A bucket is a range of predictions whose bits agree up to some place, seen from
the nearer end of [0, 1]: with u = min(q, 1 - q), buckets are narrow relative to u,
and so fine at both ends. Exactly 0 and exactly 1 have buckets of their own. For
each bucket and answer, count, mean and variance of the predictions are kept, so
that the sum of any smooth function over a bucket is known to rounding. Only
where a bin ends within a bucket its queries are looked at one by one.
"""

from __future__ import annotations

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

# Sums are kept for pages of so many neighbouring buckets, once a prediction falls into one.
_PAGE = 12

# Rows handled at a time: their temporaries stay in cache.
_ROWS = 32_768

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
        # The bucket of zero ends right after it.
        behind = np.where(place == 0, 1, first + (np.int64(1) << shift))
        return first.view(np.float64), behind.view(np.float64), upper


class BucketSums:
    """Sums over the queries of each bucket and answer: a reduction over chunks."""

    def __init__(self, buckets: Buckets, weighted: bool) -> None:
        self.buckets, self.weighted = buckets, weighted
        self.n_rows, self.n_used = 0, 0
        self.largest_weight, self.least_weight, self.whole_weights = 0.0, np.inf, True
        self._page = np.full((buckets.number >> _PAGE) + 1, -1, dtype=np.int64)
        self._n_pages = 0
        self._counts = np.zeros(0, dtype=np.int64)
        # Sums of u - least and of its square; with weights, for each power sums of the weights
        # and of weight times u - least, and of weight times its square.
        self._sums = np.zeros((2 * len(POWERS) + 1 if weighted else 2, 0))

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
        slot, away = np.empty(len(q), dtype=np.int64), np.empty(len(q))
        for first in range(0, len(q), _ROWS):
            rows = slice(first, first + _ROWS)
            bucket, away[rows] = self.buckets.of(q[rows])
            slot[rows] = self._slots(bucket)
            slot[rows] <<= 1
            slot[rows] |= y[rows]
        self._grow()
        size = len(self._counts)
        self._counts += np.bincount(slot, minlength=size)
        if w is None:
            self._sums[0] += np.bincount(slot, away, size)
            self._sums[1] += np.bincount(slot, away * away, size)
            return
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

    def _slots(self, bucket: Array) -> Array:
        """Return where the sums of buckets are kept; new pages are given a place."""
        page = self._page[bucket >> _PAGE]
        if (page < 0).any():
            new = np.unique(bucket[page < 0] >> _PAGE)
            self._page[new] = self._n_pages + np.arange(len(new))
            self._n_pages += len(new)
            page = self._page[bucket >> _PAGE]
        page <<= _PAGE
        page |= bucket & ((1 << _PAGE) - 1)
        return page

    def _grow(self) -> None:
        """Make room for the pages that were given a place."""
        size = self._n_pages << (_PAGE + 1)
        if size > len(self._counts):
            more = size - len(self._counts)
            self._counts = np.append(self._counts, np.zeros(more, dtype=np.int64))
            self._sums = np.concatenate((self._sums, np.zeros((len(self._sums), more))), axis=1)

    def merge(self, other: BucketSums) -> None:
        """Add the sums of other chunks."""
        self.n_rows += other.n_rows
        self.n_used += other.n_used
        self.largest_weight = max(self.largest_weight, other.largest_weight)
        self.least_weight = min(self.least_weight, other.least_weight)
        self.whole_weights = self.whole_weights and other.whole_weights
        pages = np.flatnonzero(other._page >= 0)
        self._slots(pages << _PAGE)
        self._grow()
        here = self._page[pages, None] * (2 << _PAGE) + np.arange(2 << _PAGE)
        there = other._page[pages, None] * (2 << _PAGE) + np.arange(2 << _PAGE)
        self._counts[here] += other._counts[there]
        self._sums[:, here] += other._sums[:, there]

    def filled(self) -> tuple[Array, Array, Array]:
        """Return the buckets that hold queries, in order, and their counts and sums by answer.

        Counts have the shape (n_buckets, 2), sums (n_sums, n_buckets, 2).
        """
        pages = np.flatnonzero(self._page >= 0)
        bucket = (pages[:, None] << _PAGE) + np.arange(1 << _PAGE)
        slot = (self._page[pages, None] << _PAGE) + np.arange(1 << _PAGE)
        bucket, slot = bucket.ravel(), slot.ravel()
        counts = self._counts.reshape(-1, 2)
        some = (counts[slot, 0] > 0) | (counts[slot, 1] > 0)
        bucket, slot = bucket[some], slot[some]
        return bucket, counts[slot], self._sums.reshape(len(self._sums), -1, 2)[:, slot]

    def __getstate__(self) -> dict[str, object]:
        """Send no more than what is filled."""
        state = self.__dict__.copy()
        used = np.flatnonzero(self._counts)
        state["_counts"], state["_sums"] = (used, self._counts[used]), self._sums[:, used]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        used, counts = state["_counts"]
        sums = state["_sums"]
        self._counts = np.zeros(self._n_pages << (_PAGE + 1), dtype=np.int64)
        self._counts[used] = counts
        self._sums = np.zeros((len(sums), len(self._counts)))
        self._sums[:, used] = sums


class ExactRows:
    """The queries of some buckets, with sums where a prediction and its answer return: a reduction.

    Queries whose prediction is their own take eight bytes each, where there are no weights.
    """

    def __init__(self, buckets: Buckets, wanted: Array, weighted: bool) -> None:
        self.buckets, self.weighted = buckets, weighted
        self.wanted = wanted
        self._wanted = np.zeros(buckets.number, dtype=bool)
        self._wanted[wanted] = True
        # Bits of the prediction, shifted up by one to make room for the answer.
        self.key = np.empty(0, dtype=np.int64)
        self.sums = np.zeros((1 + (len(POWERS) if weighted else 0), 0))
        self._single: list[Array] = []
        self._parts: list[tuple[Array, Array | None]] = []
        self._waiting = 0
        self.n_rows = 0

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk that fall into the wanted buckets."""
        y, q, w = chunk.y_true, chunk.y_prob, chunk.sample_weight
        self.n_rows += len(q)
        keys, weights = [], []
        for first in range(0, len(q), _ROWS):
            rows = slice(first, first + _ROWS)
            bucket, _ = self.buckets.of(q[rows])
            hit = self._wanted[bucket]
            if w is not None:
                hit &= w[rows] > 0.0
            place = np.flatnonzero(hit)
            if len(place):
                keys.append(np.left_shift(q[rows][place].view(np.int64), 1) | y[rows][place])
                weights.append(w[rows][place] if w is not None else None)
        if not keys:
            return
        weight = (
            None if w is None else np.concatenate([part for part in weights if part is not None])
        )
        self._parts.append((np.concatenate(keys), weight))
        self._waiting += len(self._parts[-1][0])
        if self._waiting > max(_WAITING // (8 if self.weighted else 1), len(self.key)):
            self.settle()

    def settle(self) -> None:
        """Put rows of equal prediction and answer together, where they are many."""
        if not self._parts:
            return
        weights = [part[1] for part in self._parts if part[1] is not None]
        key = _joined([part[0] for part in self._parts], self._parts)
        self._waiting = 0
        if weights:
            weight = np.concatenate(weights)
            self._put_together(key, np.stack([np.ones(len(key)), *(weight**k for k in POWERS)]))
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

    def _put_together(self, key: Array, values: Array) -> None:
        key, values = (
            np.concatenate((self.key, key)),
            np.concatenate((self.sums, values), axis=1),
        )
        self.key, self.sums = added_up(key, values)

    def merge(self, other: ExactRows) -> None:
        """Add the rows of other chunks."""
        self.settle()
        other.settle()
        self.n_rows += other.n_rows
        self._single += other._single
        self._put_together(other.key, other.sums)

    def take_singles(self) -> Array:
        """Return the rows that were not put together, in order, and hold them no longer."""
        self.settle()
        if len(self._single) == 1:
            return self._single.pop()
        key = _joined(self._single, self._single)
        key.sort()
        return key

    def __getstate__(self) -> dict[str, object]:
        """Send the rows, and the wanted buckets as a list."""
        self.settle()
        state = self.__dict__.copy()
        del state["_wanted"]
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._wanted = np.zeros(self.buckets.number, dtype=bool)
        self._wanted[self.wanted] = True


def _joined(keys: list[Array], held: list[Any]) -> Array:
    """Return keys one after the other, and empty the list that holds them."""
    keys = list(keys)
    held.clear()
    key = np.empty(sum(map(len, keys)), dtype=np.int64)
    # One part after the other, so that there are never two copies of all of them.
    end = len(key)
    while keys:
        part = keys.pop()
        key[end - len(part) : end] = part
        end -= len(part)
    return key


def added_up(key: Array, values: Array) -> tuple[Array, Array]:
    """Return distinct keys in order, and the sums of their values."""
    if len(key) == 0:
        return key, values
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    return key[starts], np.add.reduceat(values[:, order], starts, axis=1)
