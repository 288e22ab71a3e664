"""The exact distribution of a sum of independent counts, with weights or without.

For counts of zero and one this is the Poisson-binomial distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sklearn_calib._validation import Array

_NEGLIGIBLE = 1e-30
# Sums of unequal weights with more possible values than this are taken as continuous.
_MOST_VALUES = 20_000


class NoUnitError(ValueError):
    """Weights are not multiples of a common unit, or of one that is far too small."""


class Distribution(NamedTuple):
    """Probabilities of the integers from `low` on."""

    low: int
    probability: Array

    def quantile(self, level: float) -> int:
        """Return the smallest value whose cumulative probability reaches a level."""
        cumulative = np.cumsum(self.probability)
        # A level that is met but for rounding is met.
        place = int(np.searchsorted(cumulative, level - 1e-12))
        return self.low + min(place, len(cumulative) - 1)

    def interval(self, confidence_level: float) -> tuple[int, int]:
        """Return the equal-tailed interval."""
        tail = (1.0 - confidence_level) / 2.0
        return self.quantile(tail), self.quantile(1.0 - tail)

    def above(self, value: int) -> float:
        """Return the probability of more than a value."""
        return float(self.probability[max(value + 1 - self.low, 0) :].sum())


def empirical(values: Array) -> Distribution:
    """Return the distribution of sampled integers."""
    low = int(values.min())
    counts = np.bincount(values.astype(np.int64) - low)
    return Distribution(low, counts / len(values))


def sum_of(parts: Sequence[Distribution]) -> Distribution:
    """Return the distribution of a sum of independent integers.

    Neighbours are convolved pair by pair, in the manner of a tournament. All
    terms are positive, so that small probabilities keep their precision. Tails
    below 1e-30 are cut off, which keeps sums of many terms short.
    """
    if not parts:
        return Distribution(0, np.ones(1))
    low = sum(part.low for part in parts)
    level = [part.probability for part in parts]
    while len(level) > 1:
        joined = []
        for a, b in zip(level[::2], level[1::2], strict=False):
            both = np.convolve(a, b)
            start, stop = np.flatnonzero(both > _NEGLIGIBLE)[[0, -1]]
            low += int(start)
            joined.append(both[start : stop + 1])
        level = joined + level[len(joined) * 2 :]
    return Distribution(low, level[0])


class WeightedSum(NamedTuple):
    """The distribution of a weighted sum: of `unit` times an integer, plus a `shift`."""

    unit: float
    times: Distribution
    shift: float = 0.0

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the equal-tailed interval."""
        low, high = self.times.interval(confidence_level)
        return self.unit * low + self.shift, self.unit * high + self.shift

    def sign(self) -> tuple[float, float]:
        """Return the probabilities that the sum is above 0, and that it is 0."""
        zero = round(-self.shift / self.unit)
        above = self.times.above(zero)
        return above, self.times.above(zero - 1) - above


def weighted_sum(weight: Array, counts: Array) -> WeightedSum:
    """Return the exact distribution of a weighted sum of sampled counts.

    Parameters
    ----------
    weight : ndarray of shape (n,)
        The weight of each term.
    counts : ndarray of int of shape (n, n_samples)
        The sampled values of each term; the terms are independent.
    """
    unit, times = _multiples(weight, np.ptp(counts, axis=1))
    terms = counts.astype(np.int64) * times[:, np.newaxis]
    return WeightedSum(unit, sum_of([empirical(row) for row in terms]))


def weighted_sum_of_laws(
    weight: Array, low: int, probability: Array, *, rounded: bool = False
) -> WeightedSum:
    """Return the distribution of a weighted sum of independent integers whose laws are known.

    Parameters
    ----------
    weight : ndarray of shape (n,)
        The weight of each term.
    low : int
        The smallest value of each term.
    probability : ndarray of shape (n, n_values)
        The probabilities of `low`, `low` + 1 and so on.
    rounded : bool, default=False
        Round weights to a common unit, and keep the mean of the sum. The
        distribution is exact without it, and an error where weights have no
        common unit.
    """
    values = low + np.arange(probability.shape[1])
    spread = np.full(len(weight), values[-1] - low)
    shift = 0.0
    if rounded:
        unit, times = _rounded(weight, spread)
        shift = float(((weight - unit * times) * (probability @ values)).sum())
    else:
        unit, times = _multiples(weight, spread)
    parts = []
    for often in np.unique(times[times > 0]).tolist():
        total = _sum_of_rows(probability[times == often], low)
        stretched = np.zeros((len(total.probability) - 1) * often + 1)
        stretched[::often] = total.probability
        parts.append(Distribution(total.low * often, stretched))
    return WeightedSum(unit, sum_of(parts), shift)


def _sum_of_rows(probability: Array, low: int) -> Distribution:
    """Return the sum of independent integers from `low` on, one per row.

    As `sum_of`, but all pairs of a round are convolved together while they are
    many and short.
    """
    n = len(probability)
    rows = probability
    while len(rows) > 64 and rows.shape[1] <= 64:
        if len(rows) % 2:  # a term that is always 0 changes nothing
            nothing = np.zeros((1, rows.shape[1]))
            nothing[0, 0] = 1.0
            rows = np.concatenate([rows, nothing])
        a, b = rows[::2], rows[1::2]
        width = rows.shape[1]
        rows = np.zeros((len(a), 2 * width - 1))
        for i in range(width):
            rows[:, i : i + width] += a[:, i, np.newaxis] * b
    # Values count from 0 here, so that only the total has to be moved.
    total = sum_of([Distribution(0, row) for row in rows])
    return Distribution(total.low + n * low, total.probability)


def _rounded(weight: Array, spread: Array) -> tuple[float, Array]:
    """Return a unit that is small enough, and the nearest multiple of it to each weight."""
    width = weight * spread
    reach = float(min(width.sum(), 12.0 * np.sqrt(np.square(width).sum())))
    if reach == 0.0:
        return 1.0, np.zeros(len(weight), dtype=np.int64)
    unit = reach / _MOST_VALUES
    return unit, np.rint(weight / unit).astype(np.int64)


def _multiples(weight: Array, spread: Array) -> tuple[float, Array]:
    """Return the largest unit of which all weights are multiples, and how many times they are."""
    distinct = np.unique(weight[weight > 0.0])
    if len(distinct) <= 1:
        return float(distinct[0]) if len(distinct) else 1.0, (weight > 0.0).astype(np.int64)
    least = float(distinct[0])
    parts = 1
    for value in distinct.tolist():
        ratio = Fraction(value / least).limit_denominator(1000)
        if not math.isclose(ratio, value / least, rel_tol=1e-9):
            raise NoUnitError(f"{value:g} and {least:g} have no common unit.")
        parts = math.lcm(parts, ratio.denominator)
    times = np.rint(weight / least * parts)
    width = times * spread
    # By Hoeffding's inequality the values beyond 6 of these norms on each side are negligible.
    if not min(width.sum(), 12.0 * np.sqrt(np.square(width).sum())) <= _MOST_VALUES:
        raise NoUnitError(f"their common unit is {least / parts:g}, far below their sum.")
    return least / parts, times.astype(np.int64)
