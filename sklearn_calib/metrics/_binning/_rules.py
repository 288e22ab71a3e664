"""Rules that cut queries into bins, and which predictions decide where they cut.

In memory a rule is applied as it is. In a scan most predictions are only known
to lie in narrow buckets. A rule says which runs of predictions must be known one
by one for its cut to be the same as in memory: those at the edges of bins. The
scan reads these again, and the rule is asked anew, until nothing is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._balanced import WELL_WITHIN, balanced_ends, runs_at_edges
from sklearn_calib.metrics._binning._sorted import TOLERANCE, SortedQueries, ranges, width_edges


class Rule(Protocol):
    """How to cut."""

    def ends(self, queries: SortedQueries) -> Array:
        """Return after which row each bin ends."""

    def touched(self, queries: SortedQueries) -> Array:
        """Return the runs that decide where bins end."""


@dataclass(frozen=True)
class ByNumber:
    """So many bins of equal weight."""

    n_bins: int

    def ends(self, queries: SortedQueries) -> Array:
        """Return after which row each bin ends."""
        return queries.cut_by_number(self.n_bins)

    def touched(self, queries: SortedQueries) -> Array:
        """Return the runs that decide where bins end."""
        return _beside(queries, self.ends(queries))


@dataclass(frozen=True)
class BySize:
    """Bins of a size, each complete with its last run of equal predictions."""

    size: float
    min_rows: int = 1

    def ends(self, queries: SortedQueries) -> Array:
        """Return after which row each bin ends."""
        return queries.cut_by_size(self.size, self.min_rows)

    def touched(self, queries: SortedQueries) -> Array:
        """Return the runs that decide where bins end.

        Where a bin ends within a lump, it is not known by how much it exceeds
        its size, and so neither where the next one ends. What is usual is
        assumed, and runs within three standard deviations are touched.
        """
        if queries.pool is None:
            return np.empty(0, dtype=np.intp)
        # Floats, so that none of the many searches below has to convert them.
        held = counts = np.asarray(queries.run_weights, float)
        if queries.w is not None:
            counts = np.asarray(queries.run_counts, float)
        lump = queries.pool.lump
        need = float(max(int(self.size), self.min_rows))
        if queries.w is not None:
            need = self.size * (1.0 - TOLERANCE)
        excess, variance = queries.usual_excess
        found, behind = [], []
        weight = row = 0.0
        # How many bins to look at ahead, and how many since the last end that is known.
        ahead, since = 64, 0
        while weight + need <= held[-1]:
            if queries.w is not None and since == 0:
                # Beside a large weight, a small one may be lost in rounding.
                run = int(counts.searchsorted(row + self.min_rows))
                if run >= len(held):
                    break
                full = run == 0 or held[run - 1] >= weight + need
                # A lump may hold several bins, but no more than it has rows: beyond, its weight
                # is that of a few.
                several = lump[run] and held[run] - weight <= need * (counts[run] - row)
                if full and held[run] >= weight + need and not several:
                    found.append(np.array([run]))
                    behind.append(found[-1])
                    weight, row = float(held[run]), float(counts[run])
                    continue
            step = np.arange(ahead)
            target = weight + need + step * (need + excess)
            target = target[target <= held[-1]]
            reach = 3.0 * np.sqrt(variance * (since + step[: len(target)]))
            first, last = held.searchsorted(target - reach), held.searchsorted(target + reach)
            last = np.minimum(last, len(held) - 1)
            # Where a bin ends at a run that is known, the next one starts there for sure.
            sure = (first == last) & ~lump[first] & (held[first] != target + excess)
            stop = int(np.argmax(sure)) + 1 if sure.any() else len(target)
            found.append(ranges(first[:stop], last[:stop]))
            # The run behind has the least prediction of the next bin, unless the bin ends well
            # within a lump.
            inside = lump[last] & (held[last] - target - reach > WELL_WITHIN)
            behind.append(last[:stop][~inside[:stop] | (queries.w is not None)])
            if sure.any():
                weight, row = float(held[first[stop - 1]]), float(counts[first[stop - 1]])
                ahead, since = max(4, 2 * stop), 0
            else:
                weight = float(target[-1]) + excess
                ahead, since = min(2 * ahead, 65_536), since + stop if variance > 0.0 else 0
        none = np.empty(0, dtype=np.intp)
        return _with_neighbours(
            queries, np.concatenate((none, *found)), np.concatenate((none, *behind))
        )


@dataclass(frozen=True)
class ByWidth:
    """Bins of equal width."""

    n_bins: int

    def ends(self, queries: SortedQueries) -> Array:
        """Return after which row each bin ends."""
        return queries.cut_by_width(self.n_bins)

    def touched(self, queries: SortedQueries) -> Array:
        """Return the runs that decide where bins end."""
        if queries.pool is None:
            return np.empty(0, dtype=np.intp)
        runs = np.searchsorted(queries.run_high, width_edges(self.n_bins))
        return _with_neighbours(queries, np.concatenate((runs, runs - 1)))


@dataclass(frozen=True)
class Balanced:
    """Balanced bins, see `balanced_ends`."""

    n_bins: int | None = None
    most: int | None = None
    by_count: bool = False

    def ends(self, queries: SortedQueries) -> Array:
        """Return after which row each bin ends."""
        return balanced_ends(queries, self.n_bins, most=self.most, by_count=self.by_count)

    def touched(self, queries: SortedQueries) -> Array:
        """Return the runs that decide where bins end."""
        found = runs_at_edges(queries, self.n_bins, most=self.most, by_count=self.by_count)
        return np.unique(np.append(found, (0, len(queries.runs) - 1)))


@dataclass(frozen=True)
class Fine:
    """One bin for each prediction where these are few, and balanced bins otherwise."""

    most: int
    by_count: bool = False

    def ends(self, queries: SortedQueries) -> Array:
        """Return after which row each bin ends."""
        if len(queries) <= self.most or len(queries.runs) <= self.most:
            return queries.runs
        return balanced_ends(queries, self.most, by_count=self.by_count)

    def touched(self, queries: SortedQueries) -> Array:
        """Return the runs that decide where bins end."""
        if len(queries.runs) <= self.most:
            return np.arange(len(queries.runs))
        return Balanced(self.most, by_count=self.by_count).touched(queries)


def _beside(queries: SortedQueries, ends: Array) -> Array:
    """Return the runs before and behind each end of a bin."""
    return _with_neighbours(queries, np.searchsorted(queries.runs, ends))


def _with_neighbours(queries: SortedQueries, runs: Array, behind: Array | None = None) -> Array:
    """Return runs, those behind some of them, and the first and the last: extremes of bins."""
    last = len(queries.runs) - 1
    found = np.zeros(last + 2, dtype=bool)
    found[[0, last]] = True
    for some, step in ((runs, 0), (runs if behind is None else behind, 1)):
        found[some[(some >= 0) & (some <= last)] + step] = True
    return np.flatnonzero(found[:-1])
