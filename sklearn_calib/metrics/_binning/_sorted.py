"""Sorted queries and how they are cut into bins: plain arrays, no statistics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.queries._queries import Queries

# Rows handled at a time where a pass over the data makes temporaries: they stay in cache.
CHUNK = 32_768

# Sums of weights are compared with a bin size; this much rounding is forgiven,
# so that ten weights of 0.1 do fill a bin of size 1.
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class SortedQueries:
    """Queries in order of prediction: answers, predictions, weights and units (or None).

    The unit of a query is the number of its group.
    """

    y: Array
    q: Array
    w: Array | None = None
    unit: Array | None = None

    def __len__(self) -> int:
        return len(self.q)

    @property
    def total(self) -> float:
        """The number of queries, or the sum of their weights."""
        return float(self.cumulative[-1]) if self.w is not None else float(len(self.q))

    @cached_property
    def cumulative(self) -> Array:
        """Number or weight of queries up to and including each query."""
        return np.arange(1, len(self.q) + 1) if self.w is None else np.cumsum(self.w)

    @property
    def weights(self) -> Array:
        """The weights; one for each query where there are none."""
        return np.ones(len(self.q)) if self.w is None else self.w

    @property
    def weighted_residuals(self) -> Array:
        """Weight times answer minus prediction."""
        residuals = np.subtract(self.y, self.q)
        if self.w is not None:
            residuals *= self.w
        return residuals

    @property
    def whole_weights(self) -> bool:
        """Whether all weights are whole numbers, and so may stand for copies."""
        return self.w is None or not (self.w % 1).any()

    @cached_property
    def has_ties(self) -> bool:
        """Whether any two predictions are equal."""
        q = self.q
        return any(
            bool((q[a + 1 : a + 1 + CHUNK] == q[a : a + CHUNK][: len(q) - a - 1]).any())
            for a in range(0, len(q) - 1, CHUNK)
        )

    @cached_property
    def runs(self) -> Array:
        """Where each run of equal predictions ends."""
        ends = np.flatnonzero(self.q[1:] != self.q[:-1])
        ends += 1
        return np.append(ends, len(self.q))

    @cached_property
    def run_weights(self) -> Array:
        """Number or weight of queries up to the end of each run."""
        return self.runs if self.w is None else self.cumulative[self.runs - 1]

    def cut_by_size(self, size: float, min_rows: int = 1) -> Array:
        """Return where each bin ends.

        A bin closes once it holds `size` queries (or that much weight), at
        least `min_rows` rows, and its last run of equal predictions is
        complete. A last bin that falls short is merged into the one before.
        """
        if self.w is None:
            size = max(int(size), min_rows)
            ends = regular_ends(len(self.q), size)
            # Without a tie across an edge, the cut is a plain slice.
            if len(ends) == 1 or not self._tied(ends[:-1]).any():
                return ends
            if len(self.runs) > len(self.q) // 4:
                return self._jumping_ends(int(size))
        return self._greedy_ends(size, min_rows)

    def _jumping_ends(self, size: int) -> Array:
        """Return the ends of bins where ties are rare: regular steps between tied edges."""
        n, ends, position, ahead = len(self.q), [], 0, 64
        while position + size <= n:
            edges = np.arange(position + size, min(position + ahead * size, n) + 1, size)
            inner = edges[edges < n]
            tied = np.flatnonzero(self._tied(inner))
            if len(tied) == 0:
                ends.append(edges)
                position = int(edges[-1])
                ahead = min(2 * ahead, 65_536)
                continue
            first = int(tied[0])
            ends.append(edges[:first])
            # The tied edge moves up to the end of its run.
            position = int(self.runs[np.searchsorted(self.runs, edges[first])])
            ends.append(np.array([position]))
            ahead = max(8, min(2 * first, ahead))
        found = np.concatenate(ends)
        found[-1] = n
        return found

    def _tied(self, edges: Array) -> Array:
        return self.q[edges - 1] == self.q[edges]

    def _greedy_ends(self, size: float, min_rows: int) -> Array:
        held, rows = self.run_weights, self.runs
        last = len(rows)
        if self.w is None:
            need: float = int(size)
            min_rows = 1
        else:
            need = size * (1.0 - _TOLERANCE)

        def following(weight: Any, row: Any) -> Any:
            """Return the run that completes a bin which starts after so much."""
            found = np.searchsorted(held, weight + need)
            # Beside a large weight, a small one may be lost in rounding: a row is one all the same.
            return np.maximum(found, np.searchsorted(rows, row + min_rows))

        chosen: list[int] = []
        run = int(following(held.dtype.type(0), 0))
        if held[-1] < last * size / 128:
            # Few bins: look up each end.
            while run < last:
                chosen.append(run)
                run = int(following(held[run], rows[run]))
        else:
            # Many bins: find the successor of every run at once, then follow the links.
            links = following(held, rows).tolist()
            while run < last:
                chosen.append(run)
                run = links[run]
        if not chosen:
            return np.array([len(self.q)])
        ends = rows[chosen]
        # What is left after the last full bin joins it.
        ends[-1] = len(self.q)
        return ends

    def cut_by_number(self, n_bins: int) -> Array:
        """Return where each of `n_bins` bins of equal weight ends.

        Bins that would share a run of equal predictions become one.
        """
        n = len(self.q)
        if self.w is None:
            targets = -(-n * np.arange(1, n_bins + 1) // n_bins)
            ends = np.unique(targets)
            if len(ends) == 1 or not self._tied(ends[:-1]).any():
                return ends
            found = np.searchsorted(self.runs, ends)
        else:
            shares = (np.arange(1, n_bins + 1) - _TOLERANCE) / n_bins
            found = np.searchsorted(self.run_weights, self.total * shares)
        ends = np.unique(self.runs[np.minimum(found, len(self.runs) - 1)])
        # Rows of next to no weight at the end belong to the last bin.
        ends[-1] = n
        return ends

    def cut_by_width(self, n_bins: int) -> Array:
        """Return where each non-empty bin of width 1 / n_bins ends."""
        edges = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
        ends = np.append(np.searchsorted(self.q, edges, side="right"), len(self.q))
        return np.unique(ends[ends > 0])


def regular_ends(n: int, size: int) -> Array:
    """Return the ends of bins of `size` among n; what is left over joins the last bin."""
    ends = np.arange(size, n + 1, size)
    if len(ends) == 0:
        return np.array([n])
    ends[-1] = n
    return ends


def sort_queries(queries: Queries, *, units: Array | None = None) -> SortedQueries:
    """Sort queries by prediction, in an order that the order of rows cannot change.

    Queries of weight zero are left out: they stand for no query at all. `units`
    numbers the groups of the queries, where they are needed.
    """
    y, q, w = queries.y_true, queries.y_prob, queries.sample_weight
    if w is not None and not w.all():
        keep = w > 0
        y, q, w = y[keep], q[keep], w[keep]
        units = None if units is None else units[keep]
    # The bits of a float64 in [0, 1] leave the top two bits free. Shifted up by
    # one they make room for the label, and seen as a float64 again they are
    # still finite, positive and in the same order. So one plain sort carries
    # the labels along: no argsort, no gather, and nothing is lost.
    key = np.left_shift(q.view(np.int64), 1)
    np.bitwise_or(key, y, out=key)
    others = [values for values in (units, w) if values is not None]
    if others:
        order = np.argsort(key.view(np.float64))
        placed = key[order]
        if (placed[1:] == placed[:-1]).any():
            order = np.lexsort((*others, key))
        rest = (None if values is None else values[order] for values in (w, units))
        return SortedQueries(y[order], q[order], *rest)
    key.view(np.float64).sort()
    answers = np.empty(len(key), dtype=bool)
    np.bitwise_and(key, 1, out=answers, casting="unsafe")
    key >>= 1
    return SortedQueries(answers, key.view(np.float64))
