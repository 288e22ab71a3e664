"""Two models on the rows of two scans: what a comparison needs, in one pass over both in step.

A row is in one bin of each model. Products of the residuals of the two models are
added up for each pair of bins, and everything else row by row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._inference._debiased import pair_factor
from sklearn_calib.metrics._inference._expected_difference import (
    BinPairs,
    ExpectedVariance,
    moments_of_answers,
)
from sklearn_calib.queries._scan import QueryScan
from sklearn_calib.queries._scan_in_step import in_step

# Pairs of bins, at most.
_MOST_PAIRS = 1 << 22

# Rows handled at a time.
_ROWS = 65_536


class _Side:
    """The bins of one model."""

    def __init__(self, bins: BinnedQueries) -> None:
        y = bins.queries.y
        self.high, self.weight = bins.high, bins.weight
        self.factor = pair_factor(bins.weight, bins.squared_weight)
        self.sum = bins.total(1, lambda q: y - q)
        self.own_squares = bins.total(2, lambda q: np.square(y - q))
        self.mean = self.sum / self.weight
        units = np.square(self.weight) / bins.squared_weight
        self.scale = np.sqrt(units / np.maximum(units - 1.0, 0.5))
        # How much the predictions of a bin are below the mean of both models'.
        self.below = np.zeros(len(bins))

    def square(self) -> float:
        """Return the debiased squared error."""
        return float(np.dot(self.factor, np.square(self.sum) - self.own_squares))


class _Products:
    """Sums of products of one kind of residuals: those of pairs of rows."""

    def __init__(self, one: _Side, two: _Side) -> None:
        self.between = np.zeros(len(one.high) * len(two.high))
        self.own = [np.zeros(len(side.high)) for side in (one, two)]
        self.selves = np.zeros(3)

    def add(
        self, pair: Array, bins: tuple[Array, Array], sides: tuple[_Side, _Side], x: Array, z: Array
    ) -> None:
        """Add residuals of both models."""
        self.between += np.bincount(pair, x * z, len(self.between))
        terms = []
        for number, (at, side, r) in enumerate(zip(bins, sides, (x, z), strict=True)):
            square = np.square(r)
            self.own[number] += np.bincount(at, square, len(side.high))
            terms.append(side.factor[at] * square)
        a, b = terms
        self.selves += (np.dot(a, a), np.dot(b, b), np.dot(a, b))

    def pairs(self, one: _Side, two: _Side) -> float:
        """Return the sum over pairs of rows of the squared difference of their products."""
        own = [
            float(np.dot(np.square(side.factor), np.square(total)))
            for side, total in zip((one, two), self.own, strict=True)
        ]
        between = np.square(self.between).reshape(len(one.high), len(two.high))
        both = float(one.factor @ between @ two.factor)
        found = (*own, both) - self.selves
        return max(0.0, float(found[0] + found[1] - 2.0 * found[2]))


@dataclass(frozen=True)
class Differences:
    """What the variance of the difference of two squared errors is made from.

    Attributes
    ----------
    squares : tuple of two floats
        Debiased squared errors.
    pairs, centred_pairs : float
        Sum over pairs of units of the squared difference of their products, and
        that of residuals without their bin means.
    whole : float
        Four times the sum of squares of the rows of the difference.
    n_units : float
        Effective number of units.
    freedom : float
        Degrees of freedom of `whole`, which matter where units are groups.
    expected : ExpectedVariance or None
        What is expected if the mean of both predictions is right.
    """

    squares: tuple[float, float]
    pairs: float
    centred_pairs: float
    whole: float
    n_units: float
    freedom: float = math.inf
    expected: ExpectedVariance | None = None


def differences_of_scans(
    scans: tuple[QueryScan, QueryScan], bins: tuple[BinnedQueries, BinnedQueries]
) -> Differences:
    """Read two scans of the same rows in step, with the bins of each."""
    sides = one, two = _Side(bins[0]), _Side(bins[1])
    if len(one.high) * len(two.high) > _MOST_PAIRS:
        raise ValueError(
            f"{len(one.high):,} and {len(two.high):,} bins are too many to compare two scans, "
            "which adds up products for each pair of bins: ask for fewer with bin_size or n_bins; "
            "about 2,000 bins are enough for any comparison."
        )
    products, centred = (_Products(one, two) for _ in range(2))
    expected = np.zeros((3, len(products.between)))
    total = np.zeros(2)
    weights = np.zeros(2)
    n, done = 0, 0
    for here, there in in_step(*scans):
        for first in range(0, len(here), _ROWS):
            rows = slice(first, first + _ROWS)
            y, w = here.y_true[rows], here.sample_weight
            q = here.y_prob[rows], there.y_prob[rows]
            middle = (q[0] + q[1]) / 2.0
            weight = np.ones(len(y)) if w is None else w[rows]
            used = np.flatnonzero(weight > 0.0)
            if len(used) < len(y):
                y, weight, middle = y[used], weight[used], middle[used]
                q = q[0][used], q[1][used]
            if len(used):
                n = done + int(used[-1]) + 1
            done += len(here.y_true[rows])
            at = np.searchsorted(one.high, q[0]), np.searchsorted(two.high, q[1])
            pair = at[0] * len(two.high) + at[1]
            x, z = (weight * (y - p) for p in q)
            products.add(pair, at, sides, x, z)
            cut = (
                (r - weight * s.mean[b]) * s.scale[b]
                for r, s, b in zip((x, z), sides, at, strict=True)
            )
            centred.add(pair, at, sides, *cut)
            for sums, values in zip(expected, moments_of_answers(q, weight), strict=True):
                sums += np.bincount(pair, values, len(sums))
            rho = _row(x, one, at[0]) - _row(z, two, at[1])
            total += (rho.sum(), np.dot(rho, rho))
            weights += (weight.sum(), np.dot(weight, weight))
            for s, p, b in zip(sides, q, at, strict=True):
                s.below += np.bincount(b, weight * (middle - p), len(s.high))
    number = np.arange(len(products.between))
    expectation = BinPairs(number // len(two.high), number % len(two.high), *expected)
    return Differences(
        squares=(one.square(), two.square()),
        pairs=products.pairs(one, two),
        centred_pairs=centred.pairs(one, two),
        whole=4.0 * max(0.0, float(total[1] - total[0] ** 2 / n)),
        n_units=float(weights[0] ** 2 / weights[1]),
        expected=expectation.expected((one.factor, two.factor), (one.below, two.below)),
    )


def _row(x: Array, side: _Side, at: Array) -> Array:
    """Return the sum of products of each row with all others."""
    return side.factor[at] * x * (side.sum[at] - x)
