"""Queries in cells of predictions, and answers drawn from the predictions themselves.

Every test of perfect calibration compares sums of weighted residuals with those
of drawn answers. Neither the order of rows nor which of the two classes is
called positive decides which random number belongs to which query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._sorted import SortedQueries, sort_queries
from sklearn_calib.metrics._inference._surprises import draw_surprises, expected_surprises
from sklearn_calib.metrics._inference._unit_order import units_by_content
from sklearn_calib.queries._queries import Queries

# The running sum is looked at after each of at most so many cells of predictions.
MOST_CELLS = 256

# Kuiper's walk alone is looked at after so many steps: where there are fewer distinct
# predictions, after each of them.
MOST_STEPS = 4_096

# Draws of a scan are made on so many stretches of predictions.
_STRETCHES = 4096

# Where more answers than this share go against their prediction, all are drawn one by one.
_DENSE = 0.06

# Entries drawn at a time.
CHUNK = 2_000_000


class Draws(NamedTuple):
    """Sums over draws, one row per draw.

    `sums` are those of weighted residuals by cell, and `scores` those of weighted
    residuals times each column of a basis.
    """

    sums: Array
    scores: Array


@dataclass(frozen=True, eq=False)
class NullCells:
    """Sorted queries in cells of predictions.

    Attributes
    ----------
    y, q, w : ndarray of shape (n_queries,)
        Answers, predictions and weights, sorted by prediction. Predictions of
        exactly 0 and 1 are left out, as their residual is always zero.
    cell : ndarray of int of shape (n_queries,)
        The cell of each query. Equal predictions share one.
    group : ndarray of int of shape (n_queries,) or None
        The group of each query, numbered from 0; None where every query stands
        for itself.
    """

    y: Array
    q: Array
    w: Array
    cell: Array
    group: Array | None

    def __len__(self) -> int:
        return len(self.q)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.cell[-1]) + 1

    @cached_property
    def starts(self) -> Array:
        """Where each cell starts."""
        return np.flatnonzero(np.diff(self.cell, prepend=-1))

    @cached_property
    def residuals(self) -> Array:
        """Weight times answer minus prediction."""
        return self.w * (self.y - self.q)

    @cached_property
    def variance(self) -> Array:
        """Variance of the weighted residual of each query, if its prediction is right."""
        return np.square(self.w) * self.q * (1.0 - self.q)

    @cached_property
    def surprises(self) -> float:
        """Expected number of answers that go against their prediction."""
        return expected_surprises(self.q)

    @property
    def grouped(self) -> bool:
        """Whether queries of a group may depend on each other."""
        return self.group is not None

    @cached_property
    def by_group(self) -> sparse.csr_array:
        """Sums of weighted residuals, one row a group and one column a cell."""
        assert self.group is not None
        shape = (int(self.group.max()) + 1, self.n_cells)
        return sparse.coo_array((self.residuals, (self.group, self.cell)), shape=shape).tocsr()

    def group_scores(self, basis: Array) -> Array:
        """Return sums of weighted residuals times each column of a basis, one row a group."""
        assert self.group is not None
        r = self.residuals
        return np.stack([np.bincount(self.group, r * column) for column in basis.T], axis=1)

    def observed(self, basis: Array) -> Draws:
        """Return the sums of the answers themselves, as a single draw."""
        r = self.residuals
        return Draws(np.bincount(self.cell, r)[None, :], (r @ basis)[None, :])

    def redrawn(self, basis: Array, n: int, rng: np.random.Generator) -> Iterator[Draws]:
        """Yield the sums of answers drawn from the predictions, in parts."""
        rounded = (self.q > 0.5).astype(float)
        base = self.w * (rounded - self.q)
        # What a surprise adds to the weighted residual.
        step = self.w * (1.0 - 2.0 * rounded)
        base_sums, base_scores = np.bincount(self.cell, base), base @ basis
        n_cells = self.n_cells
        if self.surprises > _DENSE * len(self):
            chance = np.minimum(self.q, 1.0 - self.q)
            part = int(np.clip(CHUNK / (len(self) + n_cells), 1, n))
            for first in range(0, n, part):
                added = (rng.random((min(part, n - first), len(self))) < chance) * step
                sums = np.add.reduceat(added, self.starts, axis=1)
                yield Draws(base_sums + sums, base_scores + added @ basis)
            return
        for size, row, column in draw_surprises(self.q, n, rng, width=n_cells):
            key = row * n_cells + self.cell[column]
            sums = np.bincount(key, step[column], size * n_cells).reshape(size, n_cells)
            weighted = step[column, None] * basis[column]
            scores = [np.bincount(row, values, size) for values in weighted.T]
            yield Draws(base_sums + sums, base_scores + np.stack(scores, axis=1))


@dataclass(frozen=True, eq=False)
class PooledCells(NullCells):
    """Queries of a scan in cells of predictions: a row stands for many queries.

    Attributes
    ----------
    n, w2, q2 : ndarray of shape (n_rows,)
        Queries of each row, the sum of their squared weights, and their mean
        prediction in these weights.
    stretch : ndarray of int of shape (n_rows,)
        A finer cut of the predictions than the cells, for draws.
    high : ndarray of shape (n_cells,)
        The largest prediction of each cell.
    """

    n: Array
    w2: Array
    q2: Array
    stretch: Array
    high: Array

    def __len__(self) -> int:
        return round(float(self.n.sum()))

    @cached_property
    def variance(self) -> Array:
        """Variance of the sum of weighted residuals of each row, if its prediction is right."""
        return self.w2 * self.q2 * (1.0 - self.q2)

    @cached_property
    def surprises(self) -> float:
        """Expected number of answers that go against their prediction."""
        return float(np.dot(self.n, np.minimum(self.q, 1.0 - self.q)))

    def redrawn(self, basis: Array, n: int, rng: np.random.Generator) -> Iterator[Draws]:
        """Yield the sums of answers drawn from the predictions, in parts.

        The number of yes on each stretch of predictions is binomial. Unequal
        weights count as so many equal ones as have the same variance.
        """
        first = np.flatnonzero(np.diff(self.stretch, prepend=-1))

        def add(values: Array) -> Array:
            return np.add.reduceat(values, first, axis=0)

        weight, square = add(self.w), add(self.w2)
        number = np.maximum(np.rint(np.square(weight) / square), 1.0)
        q = np.clip(add(self.w * self.q) / weight, 0.0, 1.0)
        variance = add(self.variance)
        of_stretch = add(self.variance[:, None] * basis) / np.maximum(variance, 1e-300)[:, None]
        starts = np.flatnonzero(np.diff(self.cell[first], prepend=-1))
        part = int(np.clip(CHUNK / len(first), 1, n))
        for done in range(0, n, part):
            yes = rng.binomial(number.astype(np.int64), q, (min(part, n - done), len(first)))
            residuals = (yes - number * q) * np.sqrt(square / number)
            yield Draws(np.add.reduceat(residuals, starts, axis=1), residuals @ of_stretch)


# Rows of a scan are close where all but so many bits of the smaller of q and 1 - q agree.
_CLOSE = 52 - 16


@dataclass(frozen=True)
class Cells:
    """Cells of about equal weight and variance, as a rule that cuts a scan."""

    most: int

    def _of_runs(self, queries: SortedQueries) -> Array:
        return equal_cells(_measure(queries), self.most)

    def ends(self, queries: SortedQueries) -> Array:
        """Return after which row each cell ends."""
        cell = self._of_runs(queries)
        return queries.runs[np.append(cell[1:] != cell[:-1], True)]

    def touched(self, queries: SortedQueries) -> Array:
        """Return the runs that decide where cells end."""
        if len(queries.runs) <= self.most:
            return np.arange(len(queries.runs))
        cell = self._of_runs(queries)
        edge = np.flatnonzero(cell[1:] != cell[:-1])
        return np.unique(np.concatenate((edge, edge + 1)))


def _measure(queries: SortedQueries) -> Array:
    """Return half the share of the weight and half that of the variance, for each run."""
    weight = queries.weights
    squares, q = queries.squared_weights, queries.power(2)[1]
    variance = squares * q * (1.0 - q)
    inside = variance > 0.0
    share = np.where(inside, weight, 0.0) / weight[inside].sum() + variance / variance.sum()
    starts = np.concatenate(([0], queries.runs[:-1]))
    return np.add.reduceat(share, starts)


def pooled_cells(queries: SortedQueries, most: int = MOST_CELLS) -> PooledCells | None:
    """Return the queries of a scan in cells, cut where they are cut in memory."""
    squares, q2 = queries.squared_weights, queries.power(2)[1]
    if not (squares * q2 * (1.0 - q2) > 0.0).any():
        return None
    queries = queries.resolved(Cells(most))
    pool = queries.pool
    assert pool is not None
    measure = _measure(queries)
    # Cells and stretches are numbered without gaps, and a cell starts where a stretch does.
    cell = equal_cells(measure, most)
    high = queries.q[queries.runs[np.append(cell[1:] != cell[:-1], True)] - 1]
    fine = equal_cells(measure, max(_STRETCHES, most)) * (cell[-1] + 1) + cell
    fine = np.cumsum(np.diff(fine, prepend=fine[0]) != 0)
    rows = _condensed(queries, fine)
    keep = rows["w2"] * rows["q2"] * (1.0 - rows["q2"]) > 0.0
    rows = {name: values[keep] for name, values in rows.items()}
    stretch = rows.pop("stretch")
    cell = cell[np.flatnonzero(np.diff(fine, prepend=-1))][stretch]
    return PooledCells(
        y=rows["y"].astype(float),
        q=rows["q"],
        w=rows["w"],
        cell=np.cumsum(np.diff(cell, prepend=cell[0]) > 0),
        group=None,
        n=rows["n"],
        w2=rows["w2"],
        q2=rows["q2"],
        stretch=np.cumsum(np.diff(stretch, prepend=stretch[0]) > 0),
        high=high[np.unique(cell)],
    )


def _condensed(queries: SortedQueries, stretch: Array) -> dict[str, Array]:
    """Return the rows of a scan with the stretch of each; without weights, close ones are one row.

    Single queries at the edges of bins are far closer to each other than matters here.
    """
    pool = queries.pool
    assert pool is not None
    length = np.diff(queries.runs, prepend=0)
    if queries.w is not None:
        return {
            "y": queries.y,
            "n": pool.n,
            "q": queries.power(1)[1],
            "w": queries.weights,
            "w2": queries.squared_weights,
            "q2": queries.power(2)[1],
            "stretch": np.repeat(stretch, length),
        }
    near = np.minimum(queries.q, 1.0 - queries.q).view(np.int64) >> _CLOSE
    new = near[1:] != near[:-1]
    del near
    starts = queries.runs[:-1]
    new[starts - 1] |= stretch[1:] != stretch[:-1]
    slot = np.append(0, np.cumsum(new))
    part = np.flatnonzero(np.append(True, new))
    del new
    slot <<= 1
    slot |= queries.y
    n = np.bincount(slot, pool.n)
    some = np.flatnonzero(n)
    n, q = n[some], np.bincount(slot, pool.n * queries.q)[some] / n[some]
    # The last run that starts at or before the first row of a part.
    run = np.searchsorted(queries.runs, part, side="right")
    y, stretch = (some & 1).astype(bool), stretch[run[some >> 1]]
    return {"y": y, "n": n, "q": q, "w": n, "w2": n, "q2": q, "stretch": stretch}


def null_cells(queries: Queries, most: int = MOST_CELLS) -> NullCells | None:
    """Sort queries and cut them into cells without a look at the answers.

    None is returned where no answer is open: all predictions are 0 or 1.
    """
    y, q, w, units = queries.y_true, queries.y_prob, queries.sample_weight, queries.units
    # The scale of the weights says nothing; the largest is 1, so that squares do not overflow.
    w = None if w is None else w / w.max()
    variance = q * (1.0 - q) if w is None else np.square(w) * q * (1.0 - q)
    if not variance.all():
        keep = variance > 0.0
        y, q, w = y[keep], q[keep], None if w is None else w[keep]
        units = None if units is None else units[keep]
    if len(q) == 0:
        return None
    if units is not None:
        units = units_by_content(units, y, q, w)
        units = None if units.max() + 1 == len(units) else units
    ordered = canonical_order(y, q, w, units)
    weights = ordered.weights
    run = np.repeat(np.arange(len(ordered.runs)), np.diff(ordered.runs, prepend=0))
    variance = np.square(weights) * ordered.q * (1.0 - ordered.q)
    # Half of the measure that is cut evenly is the weight, half the variance.
    measure = np.bincount(run, variance / variance.sum() + weights / weights.sum())
    cell = equal_cells(measure, most)[run]
    group = ordered.unit
    if group is not None:
        # Numbered as they first appear.
        _, first, group = np.unique(group, return_index=True, return_inverse=True)
        group = np.argsort(np.argsort(first))[group]
    return NullCells(ordered.y.astype(float), ordered.q, weights, cell, group)


def canonical_order(y: Array, q: Array, w: Array | None, units: Array | None) -> SortedQueries:
    """Sort queries so that neither row order nor the name of the positive class matters.

    Of the two ways to put the question, (y, q) and (1 - y, 1 - q), the one whose
    sorted rows come first is taken.
    """
    ours = sort_queries(Queries._from_checked(y, q, weight=w), units=units)
    mirrored = 1.0 - ours.q[::-1]
    differ = np.flatnonzero(ours.q != mirrored)
    if len(differ) and ours.q[differ[0]] < mirrored[differ[0]]:
        return ours
    theirs = sort_queries(Queries._from_checked(~y, 1.0 - q, weight=w), units=units)
    if len(differ):
        return theirs
    # The predictions are their own mirror image: what comes with them decides.
    for here, there in ((ours.y, theirs.y), (ours.w, theirs.w), (ours.unit, theirs.unit)):
        if here is not None and there is not None:
            unequal = np.flatnonzero(here != there)
            if len(unequal):
                return ours if here[unequal[0]] < there[unequal[0]] else theirs
    return ours


def equal_cells(measure: Array, most: int) -> Array:
    """Cut runs of equal predictions into at most `most` cells of about equal measure.

    `measure` is that of each run. The number of the cell of each run is
    returned, counted from 0 without gaps.
    """
    if len(measure) <= most:
        return np.arange(len(measure))
    total = np.cumsum(measure)
    # The middle of a run decides, so that the cut is the same from both ends.
    middle = (total - 0.5 * measure) / total[-1]
    raw = np.minimum((middle * most).astype(np.intp), most - 1)
    return np.cumsum(np.diff(raw, prepend=raw[0]) > 0)
