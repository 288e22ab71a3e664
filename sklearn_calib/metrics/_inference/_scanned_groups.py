"""Sums of groups in the bins of a scan, whose rows may be spread over all chunks.

Memory grows with the number of groups, and of the bins that each of them has
queries in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._buckets import added_up
from sklearn_calib.metrics._inference._grouped import PairForm, form_of_cells
from sklearn_calib.metrics._inference._unit_order import UnitContent
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan


class _GroupCells:
    """Sums of weight, of weighted residuals and answers for each group and bin: a reduction.

    `high` is the largest prediction of each bin.
    """

    def __init__(self, high: Array) -> None:
        self.high, self.n_rows = high, 0
        self.codes: dict[Any, int] = {}
        self.content = UnitContent()
        self.key = np.empty(0, dtype=np.int64)
        self.sums = np.zeros((3, 0))
        self._waiting: list[tuple[Array, Array]] = []
        self._held = 0

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk."""
        y, q, w = chunk.y_true, chunk.y_prob, chunk.sample_weight
        assert chunk.group is not None
        self.n_rows += len(q)
        names, local = np.unique(chunk.group, return_inverse=True)
        code = self._number(names.tolist())[local]
        self.content.add(code, y, q, w)
        weight = np.ones(len(q)) if w is None else w
        used = weight > 0.0
        bins = np.searchsorted(self.high, q[used])
        self._put(
            code[used] * len(self.high) + bins,
            np.stack((weight[used] * (y[used] - q[used]), weight[used], weight[used] * y[used])),
        )

    def _number(self, names: list[Any]) -> Array:
        found = np.array([self.codes.setdefault(name, len(self.codes)) for name in names])
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
