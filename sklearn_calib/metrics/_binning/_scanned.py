"""Queries of a scan in order of prediction, without ever holding all of them.

One pass adds up the queries of narrow buckets. Where a bin may end within a
bucket, a second pass reads its queries one by one. Bins are then cut at exactly
the places where they would be cut in memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from sklearn_calib._validation import LARGEST_WEIGHT, Array
from sklearn_calib.metrics._binning._buckets import POWERS, Buckets, BucketSums, ExactRows
from sklearn_calib.metrics._binning._held_rows import HeldRows
from sklearn_calib.metrics._binning._rules import Rule
from sklearn_calib.metrics._binning._sorted import Pool, SortedQueries, sort_queries
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

# Buckets of an octave (as a power of two) for few bins, and at most.
_BITS, _MOST_BITS = 14, 18

# Variances are kept for weights as they are, and not for their powers: buckets make up for it.
_WEIGHTED_BITS = 2

# Buckets are narrow where they are no wider than this share of their least u.
_NARROW = 2.0**-16

# Where there are about sqrt(N) bins, a bucket should hold no more queries than this.
_CROWDED = 300

# Queries of buckets that are read one by one and held, at most.
_MOST_HELD = 16_000_000

# Buckets of an octave for each of many labels.
_LABEL_BITS = 13

# Rows of a label that are few enough to be kept, and rows of all such labels at most.
_FEW, _MOST_KEPT = 50_000, 5_000_000


@dataclass(frozen=True, eq=False)
class ScannedQueries(SortedQueries):
    """Queries of a scan: rows that stand for many queries each."""

    reader: ScanReader | None = None

    def resolved(self, *rules: Rule) -> SortedQueries:
        """Return the same queries, known well enough for these rules to cut them exactly."""
        return self if self.reader is None else self.reader.resolved(rules)


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
        self._take_sums(self._scan._reduce(make, "sums of buckets"))

    def _take_sums(self, sums: BucketSums) -> None:
        self._buckets, weighted = sums.buckets, self._scan.weighted
        if sums.n_used == 0:
            raise ValueError("All queries have weight zero, so that no query is left.")
        if weighted and abs(math.frexp(sums.largest_weight)[1]) > LARGEST_WEIGHT:
            raise ValueError(
                f"The largest weight is {sums.largest_weight:g}; powers of such weights are beyond "
                "what a float can hold. Only ratios of weights count: divide them by the largest."
            )
        self._whole = sums.whole_weights
        self._one_weight = not weighted or sums.least_weight == sums.largest_weight
        self._bucket, self._count, self._sums = sums.filled()
        # Which buckets were read one by one, and in which of their cells each query is laid out.
        self._held = HeldRows(self._buckets, weighted)
        self._read = np.zeros(len(self._bucket), dtype=bool)
        self._laid_out = np.zeros(0, dtype=bool)
        self._ordered: ScannedQueries | None = None
        self.__dict__.pop("_distinct", None)

    @property
    def ordered(self) -> ScannedQueries:
        """The queries, as well as they are known."""
        if self._ordered is None:
            self._ordered = self._pooled()
        return self._ordered

    def resolved(self, rules: tuple[Rule, ...]) -> ScannedQueries:
        """Read again what these rules need to know one by one."""
        for attempt in itertools.count():
            rows = self.open_rows(rules, attempt)
            if rows is None:
                break
            self.accept(self._scan._reduce(rows, "queries at the edges of bins"))
        return self.ordered

    def open_rows(self, rules: tuple[Rule, ...], attempt: int) -> partial[ExactRows] | None:
        """Return what makes the reduction of the rows that rules need, or None if all are known."""
        for inner in itertools.count():
            pool = self.ordered.pool
            assert pool is not None
            is_touched = np.zeros(len(pool.lump), dtype=bool)
            for rule in rules:
                is_touched[rule.touched(self.ordered)] = True
            touched = np.flatnonzero(is_touched)
            open_runs = touched[pool.lump[touched]]
            if len(open_runs) == 0:
                return None
            held = self._run_cell >= 0
            if held[open_runs].any():
                # These were read already, and only have to be laid out.
                inside = open_runs[held[open_runs]]
                if inner > 1:
                    inside = _around(inside, pool.lump & held, 4**inner)
                self._laid_out[self._run_cell[inside]] = True
                # What is made anew is not held while it is made.
                self._ordered = pool = None
                continue
            if attempt > 1:
                # What was read did not settle it: look further around.
                open_runs = _around(open_runs, pool.lump & ~held, 4**attempt)
            wanted = np.unique(pool.bucket[open_runs])
            room = np.cumsum(self._distinct[np.searchsorted(self._bucket, wanted)])
            if room[-1] <= self._most_held or self._buckets.bits >= _MOST_BITS:
                break
            self._read_sums(min(_MOST_BITS, self._buckets.bits + 2))
        if len(self._held) > self._most_held and pool is not None:
            self._held.keep(np.unique(pool.bucket[touched]))
            self._read = np.isin(self._bucket, self._held.parent)
            self._lay_out()
        # As many as there is room for, from the left: bins depend on those before them.
        wanted = wanted[: max(1, int(np.searchsorted(room, self._most_held, side="right")))]
        return partial(ExactRows, self._buckets, wanted, self._scan.weighted)

    @property
    def _most_held(self) -> int:
        # With weights, a row takes seven times as much.
        return _MOST_HELD // (4 if self._scan.weighted else 1)

    @cached_property
    def _distinct(self) -> Array:
        """How many distinct predictions each bucket may hold."""
        weight, first, second = (
            self._sums[:3] if self._scan.weighted else (self._count.astype(float), *self._sums[:2])
        )
        total = weight.sum(axis=1)
        mean = first.sum(axis=1) / total
        variance = second.sum(axis=1) / total - np.square(mean)
        least, behind, _ = self._buckets.range(self._bucket)
        # Where next to nothing varies, all predictions are the same.
        same = variance <= 1e-12 * np.square(behind - least)
        return np.where(same, 2, self._count.sum(axis=1))

    def accept(self, found: ExactRows) -> None:
        """Take in the queries of buckets that were read one by one."""
        self._held.add(found)
        self._lay_out()
        place = np.searchsorted(self._bucket, found.wanted)
        total = self._count.sum(axis=1)
        held = np.bincount(
            np.searchsorted(self._bucket, self._held.parent),
            self._held.count.sum(axis=1),
            len(total),
        )
        if not np.array_equal(held[place], total[place]):
            raise RuntimeError(
                "The scan returned other rows than before: every pass must see the same. If the "
                "source is a function, it must return a new iterator over the same chunks each "
                "time; if it is files, they were changed while they were read."
            )
        self._read[place] = True
        self._ordered = None

    def _lay_out(self) -> None:
        """Lay out cells of a single query only; rules will say what else they need."""
        self._laid_out = self._held.count.sum(axis=1) == 1

    def _pooled(self) -> ScannedQueries:
        """Put lumps and single predictions together, in order."""
        held, laid, n_cells = self._held, self._laid_out, len(self._held.cell)
        parent = np.searchsorted(self._bucket, held.parent)
        # The place of a bucket, with room for its cells.
        place = np.arange(len(self._bucket)) * (n_cells + 1)
        at, cell = np.flatnonzero(~self._read), np.flatnonzero(~laid)
        parts = [
            self._lump_rows(
                self._buckets, self._bucket[at], self._count[at], self._sums[:, at], place[at]
            ),
            self._lump_rows(
                held.buckets,
                held.cell[cell],
                held.count[cell],
                held.sums[:, cell],
                place[parent[cell]] + cell + 1,
            ),
        ]
        key, sums, cell = held.rows(laid)
        parts.append(self._exact_rows(key, sums, place[parent[cell]] + cell + 1))
        del key, sums
        order = np.argsort(np.concatenate([part["place"] for part in parts]), kind="stable")
        rows = {}
        for name in list(parts[0]):
            # One column at a time, so that there are never two copies of all of them.
            rows[name] = np.concatenate([part.pop(name) for part in parts])[order]
        del order
        # Rows of a run are those of one bucket or cell, or of one prediction in it.
        place, q, single = rows.pop("place"), rows["q"], rows.pop("single")
        new = np.append(True, (place[1:] != place[:-1]) | (single[1:] & (q[1:] != q[:-1])))
        starts = np.flatnonzero(new)
        bucket, cell = np.divmod(place[starts], n_cells + 1)
        lump = ~single[starts]
        self._run_cell = np.where(lump, cell - 1, -1)
        weighted = self._scan.weighted
        powers = {k: (rows[f"w{k}"], rows[f"q{k}"]) if weighted else (rows["n"], q) for k in POWERS}
        pool = Pool(
            n=rows["n"],
            powers=powers,
            run_ends=np.append(starts[1:], len(q)),
            run_high=rows.pop("high")[starts],
            lump=lump,
            bucket=self._bucket[bucket],
            whole_weights=self._whole,
            one_weight=self._one_weight,
        )
        return ScannedQueries(
            rows["y"], q, rows["w1"] if weighted else None, pool=pool, reader=self
        )

    def _lump_rows(
        self, buckets: Buckets, bucket: Array, count: Array, sums: Array, place: Array
    ) -> dict[str, Array]:
        """Return two rows for each bucket and answer: their mean and variance are the bucket's.

        Where nothing varies, or next to nothing, there is one.
        """
        weighted = self._scan.weighted
        least, behind, upper = buckets.range(bucket)
        # A single query is known as it is.
        alone = count.sum(axis=1) == 1
        at, answer = np.nonzero(count)
        n, sums = count[at, answer].astype(float), sums[:, at, answer]
        mean, sd = _mean_and_sd(*(sums[:3] if weighted else (n, *sums[:2])))
        sd[n == 1.0] = 0.0
        # Beside the mean of so narrow a bucket, its variance is lost in rounding.
        sd[(behind - least <= _NARROW * least)[at]] = 0.0
        copies = 1 + (sd > 0.0)
        if (copies > 1).any():
            at, answer, n, mean = (np.repeat(x, copies) for x in (at, answer, n, mean))
            sd, share = (np.repeat(x, copies) for x in (sd, 1.0 / copies))
            sums = np.repeat(sums, copies, axis=1) if weighted else sums
            first = np.cumsum(copies) - copies
            # The first of the two lies below the mean.
            sd[first] *= -1.0
            n *= share
        else:
            share = np.ones(1)
        start, above = least[at], upper[at]

        def prediction(u: Array) -> Array:
            u = start + (u + sd)
            return np.where(above, 1.0 - u, np.maximum(u, 0.0))

        rows = {
            "place": place[at],
            "single": alone[at],
            "y": answer.astype(bool),
            "n": n,
            "q": prediction(mean),
        }
        # None of the predictions of a lump exceeds this.
        high = np.where(above, 1.0 - start, np.nextafter(behind, 0.0)[at])
        rows["high"] = np.where(rows["single"], rows["q"], high)
        if weighted:
            for k, row in {1: 0, 2: 3, 3: 5, 4: 7, 6: 9}.items():
                rows[f"w{k}"] = sums[row] * share
                rows[f"q{k}"] = prediction(sums[row + 1] / sums[row])
        return rows

    def _exact_rows(self, key: Array, sums: Array, place: Array) -> dict[str, Array]:
        q = (key >> 1).view(np.float64)
        rows = {
            "place": place,
            "single": np.ones(len(q), dtype=bool),
            "y": (key & 1).astype(bool),
            "n": sums[0],
            "q": q,
            "high": q,
        }
        if self._scan.weighted:
            for row, k in enumerate(POWERS, start=1):
                rows[f"w{k}"], rows[f"q{k}"] = sums[row], q
        return rows


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
    least = min(_BITS + _WEIGHTED_BITS * scan.weighted, _MOST_BITS)
    if not fine or scan.n_rows is None:
        return least
    # Most queries are in about five octaves.
    wanted = round(math.log2(max(scan.n_rows, 1) / (5 * _CROWDED)))
    return min(max(wanted, least), _MOST_BITS)


def sort_or_scan(
    queries: Queries | QueryScan, *, grouped: bool = False, fine: bool = False
) -> SortedQueries:
    """Return queries in order of prediction, in memory or from a scan.

    `grouped` says that their groups are needed, where they have some, and `fine`
    that they will be cut into very many bins.
    """
    if isinstance(queries, Queries):
        return sort_queries(queries, units=queries.units if grouped else None)
    if grouped and queries.grouped:
        raise TypeError(
            "This function needs all groups at once, and does not take a scan with groups. Pass "
            "groups=False to take the queries as independent, scan.sample(100_000) for some of "
            "them, or scan.collect() where all of them fit into memory."
        )
    return reader_of(queries, fine=fine).ordered


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
            plain = part.with_labels(None)
            if name not in self.sums:
                self.sums[name] = BucketSums(self._buckets, self.weighted)
                self.rows[name] = []
            self.sums[name].add(plain)
            self._keep(name, [plain])

    def _keep(self, name: Any, parts: list[Queries]) -> None:
        kept = self.rows.get(name)
        if kept is None:
            return
        before = sum(map(len, kept))
        more = sum(map(len, parts))
        if before + more > _FEW or self._held + more > _MOST_KEPT:
            # Too many: their sums have to do.
            self._held -= before
            del self.rows[name]
            return
        kept += parts
        self._held += more

    def merge(self, other: _LabelSums) -> None:
        self.n_rows += other.n_rows
        for name, sums in other.sums.items():
            if name not in self.sums:
                self.sums[name] = BucketSums(self._buckets, self.weighted)
                self.rows[name] = []
            self.sums[name].merge(sums)
            if name in other.rows:
                self._keep(name, other.rows[name])
            elif name in self.rows:
                self._held -= sum(map(len, self.rows.pop(name)))


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
        found: _LabelSums = scan._reduce(partial(_LabelSums, scan.weighted), "sums of labels")
        parts: dict[Any, Queries | QueryScan] = {}
        for name in sorted(found.sums, key=_sortable):
            sums = found.sums[name]
            if name in found.rows:
                parts[name] = Queries.concat(found.rows[name], shared_groups=True)
                continue
            part = scan.where(label=name)
            part.n_rows = sums.n_rows
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
