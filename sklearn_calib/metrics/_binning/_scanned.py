"""Queries of a scan in order of prediction, without ever holding all of them.

One pass adds up the queries of narrow buckets. Where a bin may end within a
bucket, a second pass reads its queries one by one. Bins are then cut at exactly
the places where they would be cut in memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._buckets import (
    NARROW,
    POWERS,
    Buckets,
    BucketSums,
    ExactRows,
)
from sklearn_calib.metrics._binning._held_rows import HeldRows
from sklearn_calib.metrics._binning._rules import Rule
from sklearn_calib.metrics._binning._sorted import Pool, SortedQueries, ranges, sort_queries
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

# Buckets of an octave (as a power of two) for few rows, for many rows in few bins, and at most.
_BITS, _NARROW_BITS, _MOST_BITS = 14, 16, 18

# Variances are kept for weights as they are, and not for their powers: buckets make up for it.
_WEIGHTED_BITS = 2

# Where there are about sqrt(N) bins, a bucket should hold no more queries than this.
_CROWDED = 300

# Queries of buckets that are read one by one and held, at most.
_MOST_HELD = 12_000_000

# Buckets with so few queries are read along with those beside them: a bin may move by as many.
_SMALL = 4

# So many queries of cells in which a bin may end are laid out at once.
_LITTLE = 1 << 20

# Buckets are joined, where no bin ends, if so many bits behind the leading one of u agree.
_JOINED_BITS = 12

# Lumps whose rows are made at a time.
_LUMPS = 65_536

# How a cell of queries that are held is shown: with a few neighbours, on its own, or laid out.
_JOINED, _APART, _LAID_OUT = 0, 1, 2

# Buckets of an octave for each of many labels.
_LABEL_BITS = 13

# Rows of a label that are few enough to be kept, and rows of all such labels at most.
_FEW, _MOST_KEPT = 50_000, 5_000_000


@dataclass(frozen=True, eq=False)
class ScannedQueries(SortedQueries):
    """Queries of a scan: rows that stand for many queries each."""

    reader: ScanReader | None = None
    scan: QueryScan | None = None

    @property
    def grouped(self) -> bool:
        """Whether queries of one group may depend on each other: sums of groups can be read."""
        return self.scan is not None

    def resolved(self, *rules: Rule) -> SortedQueries:
        """Return the same queries, known well enough for these rules to cut them exactly."""
        return self if self.reader is None else replace(self.reader.resolved(rules), scan=self.scan)

    def apart(self) -> SortedQueries:
        """Return the same queries in lumps as small as they were read."""
        return self if self.reader is None else replace(self.reader.apart(), scan=self.scan)


class ScanReader:
    """What has been read of a scan so far."""

    def __init__(
        self, scan: QueryScan, sums: BucketSums | None = None, *, fine: bool = False
    ) -> None:
        self._scan = scan
        if sums is None:
            self._read_sums(_bits(scan, fine))
        else:
            self._take_sums(sums)

    def _read_sums(self, bits: int) -> None:
        make = partial(BucketSums, Buckets(bits), self._scan.weighted)
        sums: BucketSums = self._scan._reduce(make, "sums of buckets")
        used = sums.n_used > 0 and self._scan.weighted
        if used and self._scan._hold_weights(sums.largest_weight, sums.least_weight):
            sums = self._scan._reduce(make, "sums of buckets")
        self._take_sums(sums)

    def _take_sums(self, sums: BucketSums) -> None:
        self._buckets, weighted = sums.buckets, self._scan.weighted
        if sums.n_used == 0:
            raise ValueError("All queries have weight zero, so that no query is left.")
        self._whole = sums.whole_weights
        self._one_weight = not weighted or sums.least_weight == sums.largest_weight
        self._bucket, self._count, self._sums = sums.filled()
        self.__dict__.pop("_common", None)
        self._start_anew()

    def _start_anew(self) -> None:
        """Know no more than sums of buckets."""
        # Which buckets were read one by one, and how the others and the cells of these are shown.
        self._held = HeldRows(self._buckets, self._scan.weighted)
        self._read = np.zeros(len(self._bucket), dtype=bool)
        self._apart = np.ones(len(self._bucket), dtype=bool)
        # Rows of buckets that were not read one by one.
        self._unread: tuple[dict[str, Array], Array, Array] | None = None
        self._shown = np.zeros(0, dtype=np.int8)
        self._forgotten = False
        self._ordered: ScannedQueries | None = None
        # Rules that cut the queries exactly, as they are ordered now.
        self._settled: set[Rule] = set()

    @property
    def ordered(self) -> ScannedQueries:
        """The queries, as well as they are known."""
        if self._ordered is None:
            self._settled.clear()
            self._ordered = self._pooled()
        return self._ordered

    def resolved(self, rules: tuple[Rule, ...]) -> ScannedQueries:
        """Read again what these rules need to know one by one."""
        for attempt in itertools.count():
            rows = self.open_rows(rules, attempt)
            if rows is None:
                break
            # What is made anew is not held while rows are read.
            self._ordered = None
            self.accept(self._scan._reduce(rows, "queries at the edges of bins"))
        return self.ordered

    def open_rows(self, rules: tuple[Rule, ...], attempt: int) -> partial[ExactRows] | None:
        """Return what makes the reduction of the rows that rules need, or None if all are known."""
        for inner in itertools.count():
            pool = self.ordered.pool
            assert pool is not None
            if self._settled.issuperset(rules):
                return None
            is_touched = np.zeros(len(pool.lump), dtype=bool)
            for rule in rules:
                is_touched[rule.touched(self.ordered)] = True
            touched = np.flatnonzero(is_touched)
            open_runs = touched[pool.lump[touched]]
            if len(open_runs) == 0:
                self._settled.update(rules)
                return None
            first, last = self._run_units
            n_cells = self._held.n_cells
            held = (first >= 0) & (first < n_cells)
            inside = open_runs[held[open_runs]]
            if len(inside) and self._forgotten:
                self._start_anew()
                pool = None
                continue
            if len(inside):
                # These were read already, and only have to be laid out.
                if inner > 3:
                    inside = _around(inside, pool.lump & held, 4 ** (inner - 2))
                self._lay_out(first[inside], last[inside])
            elif attempt > 1:
                # What was read did not settle it: look further around.
                open_runs = _around(open_runs, pool.lump & ~held, 4**attempt)
            several = open_runs[(first[open_runs] < last[open_runs]) & ~held[open_runs]]
            if len(several):
                self._apart[ranges(first[several] - n_cells, last[several] - n_cells)] = True
                self._unread = None
            if len(inside) or len(several):
                # What is made anew is not held while it is made.
                self._ordered = pool = None
                continue
            at = np.unique(self._run_bucket[open_runs])
            wanted, room = self._bucket[at], np.cumsum(self._distinct(at))
            if room[-1] <= self._most_held or self._buckets.bits >= _MOST_BITS:
                break
            self._read_sums(min(_MOST_BITS, self._buckets.bits + 2))
        if len(self._held) > self._most_held and pool is not None:
            self._held.keep(np.unique(self._bucket[self._run_bucket[touched]]))
            self._read = np.isin(self._bucket, self._held.bucket)
            self._unread = None
            self._show_apart()
        if not self._scan.weighted:
            # What nobody asked for is joined, to save memory. Weights would need finer sums.
            self._apart[:] = False
            self._apart[at] = True
            self._unread = None
        if room[-1] <= self._most_held:
            wanted = self._bucket[self._with_small(at)]
            return partial(ExactRows, self._buckets, wanted, self._scan.weighted)
        # As many as there is room for, from the left: bins depend on those before them.
        wanted = wanted[: max(1, int(np.searchsorted(room, self._most_held, side="right")))]
        return partial(ExactRows, self._buckets, wanted, self._scan.weighted)

    def _with_small(self, at: Array) -> Array:
        """Return buckets in order, and those beside them that hold next to nothing."""
        wanted = np.zeros(len(self._bucket) + 2, dtype=bool)
        for step in (0, 2):
            wanted[at + step] = True
        wanted[1:-1] &= (self._count.sum(axis=1) <= _SMALL) & ~self._read
        wanted[at + 1] = True
        return np.flatnonzero(wanted[1:-1])

    @property
    def _most_held(self) -> int:
        # With weights, a row takes seven times as much.
        return _MOST_HELD // (4 if self._scan.weighted else 1)

    def _distinct(self, at: Array) -> Array:
        """Return how many distinct predictions buckets may hold."""
        count, sums = self._count[at], self._sums[:, at]
        weight, first, second = (
            sums[:3] if self._scan.weighted else (count.astype(float), *sums[:2])
        )
        total = weight.sum(axis=1)
        mean = first.sum(axis=1) / total
        least, behind, _ = self._buckets.range(self._bucket[at])
        width = behind - least
        if self._scan.weighted:
            variance = second.sum(axis=1) / total - np.square(mean)
            # Where next to nothing varies, all predictions are the same.
            same = variance <= 1e-12 * np.square(width)
        else:
            # Where yes and no have the same mean, all predictions are the same.
            some = np.where(weight > 0.0, weight, 1.0)
            no, yes = (first / some).T
            same = (weight > 0.0).all(axis=1) & (np.abs(yes - no) <= 1e-9 * width)
        return np.where(same, 2, count.sum(axis=1))

    def forget(self) -> None:
        """Hold only the queries that are laid out; for others, the scan is read again."""
        self._held.forget(self._shown == _LAID_OUT)
        self._forgotten = True

    def apart(self) -> ScannedQueries:
        """Return the queries with no buckets joined."""
        if not self._apart.all():
            self._apart[:] = True
            self._ordered = self._unread = None
        return self.ordered

    def accept(self, found: ExactRows) -> None:
        """Take in the queries of buckets that were read one by one."""
        if self._forgotten:
            self._start_anew()
        # What is made anew is not held while it is made.
        self._ordered = None
        self._held.add(found)
        self._show_apart()
        place = np.searchsorted(self._bucket, self._held.bucket)
        held = np.bincount(self._held.parent, self._held.count.sum(axis=1), len(place))
        if not np.array_equal(held, self._count[place].sum(axis=1)):
            raise RuntimeError(
                "The scan returned other rows than before: every pass must see the same. If the "
                "source is a function, it must return a new iterator over the same chunks each "
                "time; if it is files, they were changed while they were read."
            )
        self._read[place] = True
        self._unread = None

    def _show_apart(self) -> None:
        """Show a few cells together; rules will say what else they need."""
        alone = self._held.count.sum(axis=1) == 1
        self._shown = np.where(alone, _LAID_OUT, _JOINED).astype(np.int8)

    def _lay_out(self, first: Array, last: Array) -> None:
        """Lay out the queries of single cells, and show cells apart that are joined in a run.

        All of them are laid out where that is little.
        """
        asked = np.zeros(len(self._shown), dtype=bool)
        asked[ranges(first, last)] = True
        if self._held.count[asked].sum() > _LITTLE:
            self._shown[asked] = np.maximum(self._shown[asked], _APART)
            asked = first[first == last]
        self._shown[asked] = _LAID_OUT

    def _pooled(self) -> ScannedQueries:
        """Put lumps and single predictions together, in order."""
        held, n_cells = self._held, self._held.n_cells
        parent = np.searchsorted(self._bucket, held.bucket)
        # A single query is known as it is.
        laid = (self._shown == _LAID_OUT) & (held.count.sum(axis=1) > 1)
        cells, first_cell, last_cell = self._cell_rows(np.flatnonzero(~laid))
        if self._unread is None:
            self._unread = self._bucket_rows(np.flatnonzero(~self._read))
        buckets, first, last = self._unread
        if self._apart.all():
            # They are many, and will be joined.
            self._unread = None
        buckets = dict(buckets)
        # The place of a bucket, with room for its cells.
        room = n_cells + 1
        buckets["place"] = (first * room)[buckets.pop("at")]
        at = parent[held.parent[first_cell]] * room + first_cell + 1
        cells["place"] = at[cells.pop("at")]
        key, sums, cell = held.rows(laid)
        exact = self._exact_rows(key, sums, parent[held.parent[cell]] * room + cell + 1)
        del key, sums, cell
        rows = _merged(buckets, cells, exact)
        # Rows of a run are those of one lump, or of one prediction.
        place, q, single = rows.pop("place"), rows["q"], rows.pop("single")
        new = np.append(True, (place[1:] != place[:-1]) | (single[1:] & (q[1:] != q[:-1])))
        starts = np.flatnonzero(new)
        lump = ~single[starts]
        bucket, cell = np.divmod(place[starts], room)
        del place, single, new
        # The first and the last of the cells behind a run; buckets are counted after the cells.
        ends = np.full(n_cells + len(self._bucket), -1)
        ends[first_cell], ends[n_cells + first] = last_cell, n_cells + last
        unit = np.where(cell > 0, cell - 1, n_cells + bucket)
        self._run_units = np.where(lump, (unit, ends[unit]), -1).astype(np.int32)
        self._run_bucket = bucket.astype(np.int32)
        del bucket, cell, unit, ends
        weighted = self._scan.weighted
        powers = {k: (rows[f"w{k}"], rows[f"q{k}"]) if weighted else (rows["n"], q) for k in POWERS}
        pool = Pool(
            n=rows["n"],
            powers=powers,
            run_ends=np.append(starts[1:], len(q)),
            lump=lump,
            lump_high=self._lump_high,
            whole_weights=self._whole,
            one_weight=self._one_weight,
        )
        return ScannedQueries(
            rows["y"], q, rows["w1"] if weighted else None, pool=pool, reader=self
        )

    def _lump_high(self) -> Array:
        """Return what no prediction of each lump exceeds."""
        n_cells, last = self._held.n_cells, self._run_units[1]
        last = last[last >= 0]
        held, high = last < n_cells, np.empty(len(last))
        high[held] = self._held.high[last[held]]
        least, behind, upper = self._buckets.range(self._bucket[last[~held] - n_cells])
        high[~held] = np.where(upper, 1.0 - least, np.nextafter(behind, 0.0))
        return high

    def _cell_rows(self, cell: Array) -> tuple[dict[str, Array], Array, Array]:
        """Return rows of cells, joined or not, and the first and the last cell of each lump."""
        held = self._held
        shown = self._shown[cell]
        # A few cells are those of a quarter of a bucket.
        new = np.diff(shown, prepend=-1) != 0
        for own in (held.part, held.parent):
            new |= np.diff(own[cell], prepend=-1) != 0
        starts, last = _lumps(cell, shown >= _APART, new)

        def rows(some: Array, starts: Array) -> dict[str, Array]:
            count, sums = (
                np.add.reduceat(x, starts, axis=-2) for x in (held.count[some], held.sums[:, some])
            )
            bucket = held.bucket[held.parent[some[starts]]]
            least, behind, upper = self._buckets.range(bucket)
            narrow = behind - least <= NARROW * least
            alone = count.sum(axis=1) == 1
            return _lump_rows(least, upper, narrow, count, sums, self._scan.weighted, alone)

        return _in_parts(rows, cell, starts), cell[starts], last

    def _bucket_rows(self, at: Array) -> tuple[dict[str, Array], Array, Array]:
        """Return rows of buckets, joined or not, and the first and the last bucket of each lump."""
        starts, last = _lumps(at, self._apart[at], np.diff(self._common[at], prepend=-1) != 0)

        def rows(some: Array, starts: Array) -> dict[str, Array]:
            least, behind, upper = self._buckets.range(self._bucket[some])
            narrow = behind - least <= NARROW * least
            count, sums = self._count[some], self._sums[:, some]
            if len(starts) < len(some):
                length = np.diff(starts, append=len(some))
                base = _joined_sums(least, upper, narrow, count, sums, starts, length)
                count, sums = (np.add.reduceat(x, starts, axis=-2) for x in (count, sums))
                least, upper, narrow = base, upper[starts], narrow[starts] & (length == 1)
            return _lump_rows(least, upper, narrow, count, sums, self._scan.weighted)

        return _in_parts(rows, at, starts), at[starts], last

    @cached_property
    def _common(self) -> Array:
        """What buckets have in common that may be joined: two rows then have their sums."""
        return self._buckets.leading_bits(self._bucket, _JOINED_BITS)

    def _exact_rows(self, key: Array, sums: Array, place: Array) -> dict[str, Array]:
        q = (key >> 1).view(np.float64)
        rows = {
            "place": place,
            "single": np.ones(len(q), dtype=bool),
            "y": (key & 1).astype(bool),
            "n": sums[0],
            "q": q,
        }
        if self._scan.weighted:
            for row, k in enumerate(POWERS, start=1):
                rows[f"w{k}"], rows[f"q{k}"] = sums[row], q
        return rows


def _joined_sums(
    least: Array,
    upper: Array,
    narrow: Array,
    count: Array,
    sums: Array,
    starts: Array,
    length: Array,
) -> Array:
    """Make the sums of buckets those from the least u of their lump, which is returned."""
    # It is that of the last bucket where u is 1 - q.
    base = least[np.where(upper[starts], starts + length - 1, starts)]
    moved = (least - np.repeat(base, length))[:, None]
    first, second = sums
    second[narrow] = np.square(first[narrow]) / np.maximum(count[narrow], 1)
    second += moved * (2.0 * first + moved * count)
    first += moved * count
    return base


def _in_parts(
    make: Callable[[Array, Array], dict[str, Array]], unit: Array, starts: Array
) -> dict[str, Array]:
    """Return rows of lumps, a few at a time: what is needed on the way stays small."""
    parts = []
    for first in range(0, max(len(starts), 1), _LUMPS):
        some = starts[first : first + _LUMPS + 1]
        begin, end = (some[0], some[-1]) if len(some) > _LUMPS else (some[:1].sum(), len(unit))
        part = make(unit[begin:end], some[:_LUMPS] - begin)
        part["at"] = (part["at"] + first).astype(np.int32)
        parts.append(part)
    return {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}


def _lump_rows(
    least: Array,
    upper: Array,
    narrow: Array,
    count: Array,
    sums: Array,
    weighted: bool,
    alone: Array | None = None,
) -> dict[str, Array]:
    """Return two rows for each lump and answer: their mean and variance are the lump's.

    Where nothing varies, or next to nothing as in narrow ones, there is one. Sums
    are seen from the least u, which is 1 - q where it is `upper`. The prediction of
    a query that is `alone` is exact.
    """
    at, answer = np.nonzero(count)
    n, sums = count[at, answer].astype(float), sums[:, at, answer]
    mean, sd = _mean_and_sd(*(sums[:3] if weighted else (n, *sums[:2])))
    sd[(n == 1.0) | narrow[at]] = 0.0
    copies = 1 + (sd > 0.0)
    share = np.ones(1)
    if (copies > 1).any():
        at, answer, n, mean = (np.repeat(x, copies) for x in (at, answer, n, mean))
        sd, share = (np.repeat(x, copies) for x in (sd, 1.0 / copies))
        sums = np.repeat(sums, copies, axis=1) if weighted else sums
        first = np.cumsum(copies) - copies
        # The first of the two lies below the mean.
        sd[first] *= -1.0
        n *= share
    start, above = least[at], upper[at]

    def prediction(u: Array) -> Array:
        u = start + (u + sd)
        return np.where(above, 1.0 - u, np.maximum(u, 0.0))

    rows = {
        "at": at,
        "single": np.zeros(len(at), bool) if alone is None else alone[at],
        "y": answer.astype(bool),
        "n": n,
        "q": prediction(mean),
    }
    if weighted:
        for k, row in {1: 0, 2: 3, 3: 5, 4: 7, 6: 9}.items():
            rows[f"w{k}"] = sums[row] * share
            rows[f"q{k}"] = prediction(sums[row + 1] / sums[row])
    return rows


def _lumps(unit: Array, apart: Array, new: Array) -> tuple[Array, Array]:
    """Return where lumps of consecutive units start, and the last unit of each.

    A unit that is apart is a lump of its own, and so are those that start anew.
    """
    new = new | apart | (np.diff(unit, prepend=-2) != 1)
    new[1:] |= apart[:-1]
    starts = np.flatnonzero(new)
    return starts, unit[np.append(starts[1:], len(unit))[: len(starts)] - 1]


def _merged(*parts: dict[str, Array]) -> dict[str, Array]:
    """Return rows in order of their places; takes the parts apart."""
    order = np.argsort(np.concatenate([part["place"] for part in parts]), kind="stable")
    order = order.astype(np.int32)
    # One column at a time, so that there are never two copies of all of them.
    return {
        name: np.concatenate([part.pop(name) for part in parts])[order] for name in list(parts[0])
    }


def _mean_and_sd(weight: Array, first: Array, second: Array) -> tuple[Array, Array]:
    mean = first / weight
    return mean, np.sqrt(np.maximum(second / weight - np.square(mean), 0.0))


def _around(runs: Array, lump: Array, reach: int) -> Array:
    """Return lumps with those within reach of them."""
    near = np.zeros(len(lump) + 1, dtype=np.int64)
    np.add.at(near, np.maximum(runs - reach, 0), 1)
    np.add.at(near, np.minimum(runs + reach + 1, len(lump)), -1)
    return np.flatnonzero((np.cumsum(near)[:-1] > 0) & lump)


def _bits(scan: QueryScan, fine: bool) -> int:
    """Return how fine buckets should be; `fine` is for about sqrt(N) bins."""
    if scan.weighted:
        return min(_BITS + _WEIGHTED_BITS, _MOST_BITS)
    most = _MOST_BITS if fine else min(_NARROW_BITS, _MOST_BITS)
    rows = scan._source.estimated_rows() if scan.n_rows is None else scan.n_rows
    if rows is None:
        return min(_NARROW_BITS, _MOST_BITS)
    # Most queries are in about five octaves.
    wanted = round(math.log2(max(rows, 1) / (5 * _CROWDED)))
    return min(max(wanted, _BITS), most)


def sort_or_scan(
    queries: Queries | QueryScan,
    *,
    summed: bool = False,
    fine: bool = False,
    ahead: Rule | None = None,
) -> SortedQueries:
    """Return queries in order of prediction, in memory or from a scan.

    `summed` says that sums of their groups in bins are needed, where they have some,
    and `fine` that there will be very many bins.
    What a rule needs to know of a scan is read `ahead`: sums of all buckets are then
    not held beside it.
    """
    if isinstance(queries, Queries):
        return sort_queries(queries, units=queries.units if summed else None)
    reader = reader_of(queries, fine=fine)
    if ahead is not None:
        reader.resolved((ahead,))
    ordered = reader.ordered
    return replace(ordered, scan=queries) if summed and queries.grouped else ordered


class _LabelSums:
    """Sums of buckets for each label, and all rows of labels that have few: a reduction."""

    def __init__(self, weighted: bool) -> None:
        self.weighted, self.n_rows, self._held = weighted, 0, 0
        self._buckets = Buckets(_LABEL_BITS + _WEIGHTED_BITS * weighted)
        self.sums: dict[Any, BucketSums] = {}
        self.rows: dict[Any, list[Queries]] = {}

    def add(self, chunk: Queries) -> None:
        self.n_rows += len(chunk)
        for name, part in chunk.by_label():
            self._put(name, [part.with_labels(None)])

    def _put(self, name: Any, parts: list[Queries]) -> None:
        if name not in self.sums:
            kept = self.rows.setdefault(name, [])
            kept += parts
            self._held += sum(map(len, parts))
            if sum(map(len, kept)) > _FEW or self._held > _MOST_KEPT:
                self._add_up(name)
            return
        for part in parts:
            self.sums[name].add(part)

    def _add_up(self, name: Any) -> None:
        """Keep the sums of a label with many rows, and not the rows."""
        self.sums[name] = BucketSums(self._buckets, self.weighted)
        kept = self.rows.pop(name, [])
        self._held -= sum(map(len, kept))
        self._put(name, kept)

    def merge(self, other: _LabelSums) -> None:
        self.n_rows += other.n_rows
        for name, parts in other.rows.items():
            self._put(name, parts)
        for name, sums in other.sums.items():
            if name not in self.sums:
                self._add_up(name)
            self.sums[name].merge(sums)

    def extreme_weights(self) -> tuple[float, float]:
        """Return the largest weight, and the least above 0; 1 where there is none."""
        largest = [sums.largest_weight for sums in self.sums.values() if sums.n_used]
        least = [sums.least_weight for sums in self.sums.values() if sums.n_used]
        for parts in self.rows.values():
            for part in parts:
                w = part.sample_weight
                if w is not None and w.any():
                    largest.append(float(w.max()))
                    least.append(float(w[w > 0.0].min()))
        return max(largest, default=1.0), min(least, default=1.0)


class _LabelRows:
    """Single rows of each label: a reduction."""

    def __init__(self, makers: dict[Any, partial[ExactRows]]) -> None:
        self.rows = {name: make() for name, make in makers.items()}

    def add(self, chunk: Queries) -> None:
        for name, part in chunk.by_label():
            if name in self.rows:
                self.rows[name].add(part)

    def merge(self, other: _LabelRows) -> None:
        for name, rows in self.rows.items():
            rows.merge(other.rows[name])


def label_parts(
    scan: QueryScan, rule: Callable[[SortedQueries], Rule]
) -> list[tuple[Any, Queries | QueryScan]]:
    """Return the queries of each label, in order of the labels: in memory where they are few.

    All labels share the passes. `rule` says how the queries of a label will be
    cut, so that what it needs is read for all of them at once.
    """
    if "labels" not in scan._cache:
        make = partial(_LabelSums, scan.weighted)
        found: _LabelSums = scan._reduce(make, "sums of labels")
        if scan.weighted and scan._hold_weights(*found.extreme_weights()):
            found = scan._reduce(make, "sums of labels")
        parts: dict[Any, Queries | QueryScan] = {}
        for name in sorted((*found.sums, *found.rows), key=_sortable):
            if name in found.rows:
                parts[name] = Queries.concat(found.rows[name], shared_groups=True)
                continue
            sums = found.sums[name]
            part = scan.where(label=name)
            part.n_rows = sums.n_rows
            part._cache |= {k: v for k, v in scan._cache.items() if k == "largest_weight"}
            if sums.n_used:
                part._cache["reader"] = ScanReader(part, sums)
            parts[name] = part
        scan._cache["labels"] = parts
    parts = scan._cache["labels"]
    readers = {
        name: part._cache["reader"]
        for name, part in parts.items()
        if isinstance(part, QueryScan) and "reader" in part._cache
    }
    for attempt in itertools.count():
        makers = {}
        for name, reader in readers.items():
            rows = reader.open_rows((rule(reader.ordered),), attempt)
            if rows is not None:
                makers[name] = rows
        if not makers:
            break
        read: _LabelRows = scan._reduce(partial(_LabelRows, makers), "edges of bins of labels")
        for name, rows_of_label in read.rows.items():
            readers[name].accept(rows_of_label)
    return list(parts.items())


def used(part: Queries | QueryScan) -> bool:
    """Whether any query of a label has a weight above zero."""
    if isinstance(part, QueryScan):
        return "reader" in part._cache
    return part.sample_weight is None or bool(part.sample_weight.any())


def _sortable(name: Any) -> tuple[str, Any]:
    return (type(name).__name__, name)


def reader_of(scan: QueryScan, *, fine: bool = False) -> ScanReader:
    """Return what was read of a scan; the first call reads it."""
    if "reader" not in scan._cache:
        scan._cache["reader"] = ScanReader(scan, fine=fine)
    reader: ScanReader = scan._cache["reader"]
    return reader
