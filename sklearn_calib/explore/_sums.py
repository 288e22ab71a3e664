"""The exact distribution of a sum of independent counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sklearn_calib._validation import Array

_NEGLIGIBLE = 1e-30


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
    terms are positive, so that small probabilities keep their precision. For
    zeros and ones this is the Poisson-binomial distribution. Tails below 1e-30
    are cut off, which keeps sums of many terms short.
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
