"""How much a difference of two squared errors varies if the predictions are to be believed.

Where few answers decide, residuals show too little of their own variance: a sample
of rare answers may have none of them. What the predictions expect is known, however
few there are. If the mean of both predictions is right, both errors are the same;
if one of the models is right, its answers may vary more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib.metrics._inference._grouped import PairForm, squared_difference
from sklearn_calib.metrics._inference._null_groups import untold_dependence

# Pairs of bins that are kept in a table, without a look for those that have rows.
_TABLE = 1 << 22


@dataclass(frozen=True)
class ExpectedVariance:
    """Parts of a variance, as they are expected.

    Attributes
    ----------
    noise, linear : float
        The part made of pairs, and the one that grows with the errors.
    answers : float
        How well residuals can tell the variance: by so many rare answers, each as
        important as the others.
    """

    noise: float
    linear: float
    answers: float


@dataclass(frozen=True, eq=False)
class BinPairs:
    """Sums over the rows that are in one bin of the first model and one of the second.

    Attributes
    ----------
    one, two : ndarray of int
        The bins of each pair that has rows.
    variance, squares, fourth : ndarray
        Sum of the expected squares of weighted residuals, of the squares of these
        expectations, and of the expected fourth powers.
    """

    one: Array
    two: Array
    variance: Array
    squares: Array
    fourth: Array

    def expected(
        self, factors: tuple[Array, Array], below: tuple[Array, Array]
    ) -> ExpectedVariance:
        """Return the variance of rows that do not depend on each other.

        `below` is how much the (weighted) predictions of each bin are below the
        mean of both models' in all. Each row is counted among those it is paired
        with, which makes the part that grows with the errors larger in small
        bins: there residuals are least to be trusted.
        """
        a, b = factors[0][self.one], factors[1][self.two]
        total = [
            np.bincount(at, self.variance, len(factor))
            for at, factor in zip((self.one, self.two), factors, strict=True)
        ]
        # What a squared residual is multiplied with: how it is paired with all others.
        apart = np.square(a * below[0][self.one] - b * below[1][self.two])
        paired = np.square(a) * total[0][self.one] + np.square(b) * total[1][self.two]
        paired -= 2.0 * a * b * self.variance
        noise = np.dot(self.variance, paired) - np.dot(self.squares, np.square(a - b))
        scale = 4.0 * apart + 2.0 * np.maximum(paired, 0.0)
        # The scale is taken out, because fourth powers of small numbers are lost to rounding.
        scale /= scale.max() or 1.0
        fourth = float(np.dot(np.square(scale), self.fourth))
        answers = float(np.dot(scale, self.variance)) ** 2 / fourth if fourth > 0.0 else 0.0
        return ExpectedVariance(
            noise=2.0 * max(0.0, float(noise)),
            linear=4.0 * float(np.dot(self.variance, apart)),
            answers=answers,
        )


def answer_variance(q: tuple[Array, Array]) -> Array:
    """Return how much each answer varies if one of the models or their mean is right, at most."""
    one, middle, two = (p * (1.0 - p) for p in (q[0], (q[0] + q[1]) / 2.0, q[1]))
    found: Array = np.maximum(np.maximum(one, two), middle)
    return found


def moments_of_answers(q: tuple[Array, Array], weight: Array) -> tuple[Array, Array, Array]:
    """Return what `BinPairs` sums up, for each row."""
    v, square = answer_variance(q), np.square(weight)
    variance = square * v
    return variance, np.square(variance), np.square(square) * v * (1.0 - 3.0 * v)


def bin_pairs(
    at: tuple[Array, Array], sizes: tuple[int, int], q: tuple[Array, Array], weight: Array
) -> BinPairs:
    """Return the sums of rows in these bins, with the predictions of both models."""
    key, n = at[0] * sizes[1] + at[1], sizes[0] * sizes[1]
    some = np.arange(n)
    if n > _TABLE:
        some, key = np.unique(key, return_inverse=True)
    sums = (np.bincount(key, x, len(some)) for x in moments_of_answers(q, weight))
    return BinPairs(some // sizes[1], some % sizes[1], *sums)


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Rows with the predictions of two models, in any order.

    Attributes
    ----------
    y, weight : ndarray
        Answers, and weights above zero.
    q, at : tuple of two ndarrays
        Predictions of both models, and the bins that they lie in.
    factors : tuple of two ndarrays
        The c of each bin.
    unit : ndarray of int or None
        The number of the group of each row.
    """

    y: Array
    weight: Array
    q: tuple[Array, Array]
    at: tuple[Array, Array]
    factors: tuple[Array, Array]
    unit: Array | None = None

    @property
    def middle(self) -> Array:
        """The mean of both predictions."""
        return (self.q[0] + self.q[1]) / 2.0

    def expected(self) -> ExpectedVariance:
        """Return the variance of the difference if the middle is right."""
        middle, sizes = self.middle, (len(self.factors[0]), len(self.factors[1]))
        pairs = bin_pairs(self.at, sizes, self.q, self.weight)
        below = [
            np.bincount(at, self.weight * (middle - q), size)
            for at, q, size in zip(self.at, self.q, sizes, strict=True)
        ]
        alone = pairs.expected(self.factors, (below[0], below[1]))
        return alone if self.unit is None else self._of_groups(self.unit, middle, alone)

    def _of_groups(self, unit: Array, middle: Array, alone: ExpectedVariance) -> ExpectedVariance:
        """Return it for groups, between answers that stand alone and ones that go together."""
        sd = self.weight * np.sqrt(answer_variance(self.q))
        forms = []
        reach = np.zeros(len(sd))
        for sign, at, q, factor in zip((1.0, -1.0), self.at, self.q, self.factors, strict=True):
            shape = (int(unit.max()) + 1, len(factor))
            sums, weights, below = (
                sparse.coo_array((x, (unit, at)), shape).tocsr()
                for x in (sd, self.weight, self.weight * (middle - q))
            )
            forms.append(PairForm(sums, weights))
            # A group is not paired with itself.
            others = below.sum(axis=0)[at] - np.asarray(below[unit, at]).ravel()
            reach += sign * factor[at] * others
        noise = 2.0 * squared_difference(*forms)
        each = sd * reach
        linear = 4.0 * float(max(np.sum(np.square(np.bincount(unit, each))), np.dot(each, each)))
        share = self._dependence(unit, middle, sd)
        noise = (1.0 - share) * alone.noise + share * max(noise, alone.noise)
        linear = (1.0 - share) * alone.linear + share * max(linear, alone.linear)
        # Answers that go together tell as much as fewer that do not.
        fewer = (alone.noise + alone.linear) / max(noise + linear, 1e-300)
        return ExpectedVariance(noise, linear, fewer * alone.answers)

    def _dependence(self, unit: Array, middle: Array, sd: Array) -> float:
        """Return how much answers of a group go together: 0 not at all, 1 as much as they can."""
        residual = self.weight * (self.y - middle)

        def products(x: Array) -> float:
            return float(np.sum(np.square(np.bincount(unit, x))) - np.dot(x, x))

        most = products(sd)
        seen = products(residual) / most if most > 0.0 else 1.0
        # Both answers to one half are as surprising, whichever class is called positive.
        surprising = (self.y != (middle > 0.5)) | (middle == 0.5)
        return float(np.clip(max(seen, untold_dependence(unit, surprising)), 0.0, 1.0))
