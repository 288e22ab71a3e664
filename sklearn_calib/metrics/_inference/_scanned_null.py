"""Cells of the queries of a scan, and sums of its groups in them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._inference._impossible import ImpossibleAnswers, impossible_answers
from sklearn_calib.metrics._inference._null_cells import (
    MOST_CELLS,
    MOST_STEPS,
    NullCells,
    PooledCells,
    null_cells,
    pooled_cells,
)
from sklearn_calib.metrics._inference._null_law import DEPENDENT_UP_TO
from sklearn_calib.metrics._inference._null_statistics import log_odds
from sklearn_calib.metrics._inference._sample import refuse_one_group
from sklearn_calib.metrics._inference._scanned_groups import open_queries, open_sums
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan


@dataclass(frozen=True, eq=False)
class GroupedCells(PooledCells):
    """Queries of a scan in cells, and sums of its groups.

    Attributes
    ----------
    sums : sparse array of shape (n_groups, n_cells)
        Sums of weighted residuals.
    odds : ndarray of shape (n_groups,)
        Sums of weighted residuals times log-odds.
    """

    sums: sparse.csr_array
    odds: Array

    @property
    def grouped(self) -> bool:
        """Whether queries of a group may depend on each other."""
        return True

    @cached_property
    def by_group(self) -> sparse.csr_array:
        """Sums of weighted residuals, one row a group and one column a cell."""
        return self.sums

    def group_scores(self, basis: Array) -> Array:
        """Return sums of weighted residuals times each column of a basis, one row a group.

        The columns are straight lines over the log-odds.
        """
        x = log_odds(self.q)
        low, high = int(np.argmin(x)), int(np.argmax(x))
        rise = (basis[high] - basis[low]) / max(x[high] - x[low], 1e-300)
        start = basis[low] - rise * x[low]
        return np.outer(self.sums.sum(axis=1), start) + np.outer(self.odds, rise)


def cells_in_memory(queries: Queries, walk: bool = False) -> NullCells | None:
    """Return the cells of queries; see `cells_of_scan`."""
    return null_cells(queries, MOST_STEPS if walk and queries.units is None else MOST_CELLS)


def cells_of_scan(
    scan: QueryScan, walk: bool = False
) -> tuple[NullCells | None, ImpossibleAnswers]:
    """Return the cells of a scan, and how many answers contradict a sure prediction.

    `walk` says that only the running sum is looked at, after more steps.
    """
    alone = MOST_STEPS if walk else MOST_CELLS
    ordered = sort_or_scan(scan)
    impossible = impossible_answers(ordered)
    cells = pooled_cells(ordered, MOST_CELLS if scan.grouped else alone)
    if cells is None or impossible or not scan.grouped:
        return cells, impossible
    if len(cells) <= DEPENDENT_UP_TO:
        # So few that answers of groups are drawn one by one.
        queries = open_queries(scan)
        refuse_one_group(queries.units)
        return cells_in_memory(queries, walk), impossible
    sums, odds = open_sums(scan, cells.high)
    if sums.shape[0] == len(cells):
        # Every query is a group of its own.
        return pooled_cells(ordered, alone), impossible
    refuse_one_group(np.arange(sums.shape[0]))
    values = {field.name: getattr(cells, field.name) for field in fields(cells)}
    return GroupedCells(**values, sums=sums, odds=odds), impossible
