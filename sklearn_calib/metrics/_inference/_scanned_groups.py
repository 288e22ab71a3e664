"""Sums of groups in the bins of a scan, whose rows may be spread over all chunks.

Memory grows with the number of groups, and of the bins that each of them has
queries in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._buckets import added_up
from sklearn_calib.metrics._inference._grouped import PairForm, form_of_cells
from sklearn_calib.metrics._inference._null_statistics import log_odds
from sklearn_calib.metrics._inference._unit_order import UnitContent
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan


class _Groups:
    """A reduction that numbers the groups it meets."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.codes: dict[Any, int] = {}

    def _numbers(self, chunk: Queries) -> Array:
        """Return the number of the group of each query."""
        assert chunk.group is not None
        self.n_rows += len(chunk)
        names, local = np.unique(chunk.group, return_inverse=True)
        return self._number(names.tolist())[local]

    def _number(self, names: list[Any]) -> Array:
        return np.array([self.codes.setdefault(name, len(self.codes)) for name in names])


class _GroupCells(_Groups):
    """Sums of weight, of weighted residuals and answers for each group and bin: a reduction.

    `high` is the largest prediction of each bin.
    """

    _n_sums = 3

    def __init__(self, high: Array) -> None:
        super().__init__()
        self.high = high
        self.content = UnitContent()
        self.key = np.empty(0, dtype=np.int64)
        self.sums = np.zeros((self._n_sums, 0))
        self._waiting: list[tuple[Array, Array]] = []
        self._held = 0

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk."""
        y, q, w = chunk.y_true, chunk.y_prob, chunk.sample_weight
        code = self._numbers(chunk)
        self.content.add(code, y, q, w)
        if w is None:
            w = np.ones(len(q))
        elif not w.all():
            used = w > 0.0
            code, y, q, w = code[used], y[used], q[used], w[used]
        bins = np.searchsorted(self.high, q)
        self._put(code * len(self.high) + bins, np.stack(self._values(y, q, w)))

    def _values(self, y: Array, q: Array, w: Array) -> tuple[Array, ...]:
        return w * (y - q), w, w * y

    def _number(self, names: list[Any]) -> Array:
        found = super()._number(names)
        self.content.extend(len(self.codes))
        return found

    def _put(self, key: Array, values: Array) -> None:
        self._waiting.append(added_up(key, values))
        self._held += len(self._waiting[-1][0])
        if self._held > max(1_000_000, len(self.key)):
            self.settle()

    def settle(self) -> None:
        """Put the sums of equal groups and bins together."""
        key = np.concatenate([self.key, *(part[0] for part in self._waiting)])
        values = np.concatenate([self.sums, *(part[1] for part in self._waiting)], axis=1)
        self.key, self.sums = added_up(key, values)
        self._waiting, self._held = [], 0

    def merge(self, other: _GroupCells) -> None:
        """Add the sums of other chunks."""
        other.settle()
        self.n_rows += other.n_rows
        code = self._number(list(other.codes))
        self.content.merge(other.content, code)
        n_bins = len(self.high)
        self._put(code[other.key // n_bins] * n_bins + other.key % n_bins, other.sums)


class _OpenCells(_GroupCells):
    """The same for queries whose answer is open, and sums of their residuals times log-odds."""

    _n_sums = 4

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk."""
        part = _open(chunk)
        self.n_rows += len(chunk) - len(part)
        super().add(part)

    def _values(self, y: Array, q: Array, w: Array) -> tuple[Array, ...]:
        return *super()._values(y, q, w), w * (y - q) * log_odds(q)


class _GroupTotals(_Groups):
    """Sums over the queries of each group whose answer is open: a reduction.

    `columns` makes from answers, predictions and weights what is added up.
    """

    def __init__(self, columns: Callable[[Array, Array, Array], Array]) -> None:
        super().__init__()
        self._columns = columns
        self.sums = np.zeros((0, 0))

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk."""
        part = _open(chunk)
        self.n_rows += len(chunk) - len(part)
        w = np.ones(len(part)) if part.sample_weight is None else part.sample_weight
        self._put(self._numbers(part), self._columns(part.y_true, part.y_prob, w))

    def _put(self, code: Array, values: Array) -> None:
        # Where nothing was added yet, it is not known how many rows there are.
        sums = np.zeros((max(len(values), len(self.sums)), len(self.codes)))
        sums[: len(self.sums), : self.sums.shape[1]] = self.sums
        for row, more in zip(sums, values, strict=False):
            row += np.bincount(code, more, len(self.codes))
        self.sums = sums

    def merge(self, other: _GroupTotals) -> None:
        """Add the sums of other chunks."""
        self.n_rows += other.n_rows
        self._put(self._number(list(other.codes)), other.sums)


class _OpenRows:
    """All queries whose answer is open: a reduction."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.parts: list[Queries] = []

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk."""
        self.n_rows += len(chunk)
        self.parts.append(_open(chunk))

    def merge(self, other: _OpenRows) -> None:
        """Add those of other chunks."""
        self.n_rows += other.n_rows
        self.parts += other.parts


def _open(chunk: Queries) -> Queries:
    """Return the queries whose prediction is neither 0 nor 1, and whose weight is not 0."""
    q, w = chunk.y_prob, chunk.sample_weight
    keep = (q > 0.0) & (q < 1.0)
    if w is not None:
        keep &= w > 0.0
    return chunk if keep.all() else chunk._take(np.flatnonzero(keep))


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums of groups in bins.

    Attributes
    ----------
    unit, bin : ndarray of int of shape (n_cells,)
        Group and bin of each cell, in order of the bins.
    residual, weight, yes : ndarray of shape (n_cells,)
        Sum of weighted residuals, of weights, and of the weights of answers that are yes.
    n_units : int
        Number of groups.
    """

    unit: Array
    bin: Array
    residual: Array
    weight: Array
    yes: Array
    n_units: int

    def distinct(self, n_bins: int) -> Any:
        """Return the function that counts the groups of bins from a first up to a last one."""
        starts = np.searchsorted(self.bin, np.arange(n_bins + 1))
        return lambda first, last: len(np.unique(self.unit[starts[first] : starts[last]]))

    def joined(self, part: Array) -> GroupSums:
        """Return the sums where each bin belongs to a part, numbered in order."""
        key = part[self.bin] * self.n_units + self.unit
        key, sums = added_up(key, np.stack((self.residual, self.weight, self.yes)))
        residual, weight, yes = sums
        unit, cell = key % self.n_units, key // self.n_units
        return GroupSums(unit, cell, residual, weight, yes, self.n_units)

    def form(self, n_bins: int) -> PairForm:
        """Return the debiased error as a sum over pairs of groups."""
        shape = (self.n_units, n_bins)
        return form_of_cells(self.unit, self.bin, self.residual, self.weight, shape)


def group_sums_of_scan(scan: QueryScan, high: Array, *, by_name: bool = False) -> GroupSums:
    """Read the sums of the groups of a scan in bins with these largest predictions.

    Groups are numbered by what they hold, so that their names do not matter, or
    `by_name`, so that those of two scans are the same.
    """
    # The same bins may be asked for several times.
    known: dict[Any, GroupSums] = scan._cache.setdefault("groups", {})
    key = (by_name, high.tobytes())
    if key not in known:
        known.clear()
        known[key] = _read(scan, high, by_name)
    return known[key]


def _read(scan: QueryScan, high: Array, by_name: bool) -> GroupSums:
    found: _GroupCells = scan._reduce(partial(_GroupCells, high), "sums of groups")
    found.settle()
    scan._cache["n_groups"] = len(found.codes)
    n_bins = len(high)
    if by_name:
        place = np.unique(np.array(list(found.codes)), return_inverse=True)[1]
    else:
        place = found.content.order()
    unit, cell = place[found.key // n_bins], found.key % n_bins
    order = np.lexsort((unit, cell))
    residual, weight, yes = found.sums[:, order]
    return GroupSums(unit[order], cell[order], residual, weight, yes, len(found.codes))


def group_totals(scan: QueryScan, columns: Callable[[Array, Array, Array], Array]) -> Array:
    """Return sums over the queries of each group whose answer is open, one column a group.

    `columns` makes from answers, predictions and weights the rows that are added up.
    """
    found: _GroupTotals = scan._reduce(partial(_GroupTotals, columns), "sums of groups")
    return found.sums


def open_queries(scan: QueryScan) -> Queries:
    """Read the queries of a scan whose answer is open into memory."""
    found: _OpenRows = scan._reduce(_OpenRows, "open queries")
    return Queries.concat(found.parts, shared_groups=True)


def open_sums(scan: QueryScan, high: Array) -> tuple[sparse.csr_array, Array]:
    """Return sums of residuals of the groups of open queries.

    The first has one row a group, in order of what they hold, and one column a bin; the
    second the sums of residuals times log-odds of each group. `high` is the largest
    prediction of each bin.
    """
    found: _OpenCells = scan._reduce(partial(_OpenCells, high), "sums of groups")
    found.settle()
    n_bins = len(high)
    unit, cell = found.content.order()[found.key // n_bins], found.key % n_bins
    shape = (len(found.codes), n_bins)
    by_cell = sparse.coo_array((found.sums[0], (unit, cell)), shape=shape).tocsr()
    return by_cell, np.bincount(unit, found.sums[3], len(found.codes))
