"""What is known about each hit: how often a document has a key.

Either samples say it, or a probability does. A hit is one document with one key
that it may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_calib._results import read_only
from sklearn_calib._validation import Array
from sklearn_calib.explore._poisson_binomial import (
    WeightedSum,
    weighted_sum,
    weighted_sum_of_laws,
)


@dataclass(frozen=True, eq=False)
class SampledHits:
    """Hits of which samples are known.

    Attributes
    ----------
    counts : ndarray of int of shape (n_hits, n_samples)
        How often a document has a key, sample by sample. Samples of one document
        belong together: its keys depend on each other.
    """

    counts: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", read_only(self.counts))

    def __reduce__(self) -> tuple[type[SampledHits], tuple[Array]]:
        return SampledHits, (self.counts,)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.counts.shape[1])

    @cached_property
    def mean(self) -> Array:
        """Mean of each hit."""
        return self.counts.mean(axis=1)

    @cached_property
    def probability(self) -> Array:
        """Probability that a document has the key at all."""
        return (self.counts > 0).mean(axis=1)

    @cached_property
    def spread(self) -> Array:
        """Standard deviation of each hit."""
        return self.counts.std(axis=1)

    @cached_property
    def variance(self) -> Array:
        """Variance of each hit, without the bias of few samples; NaN for one sample."""
        if self.n_samples == 1:
            return np.full(len(self), np.nan)
        return self.counts.var(axis=1, ddof=1)

    @cached_property
    def smoothed(self) -> Array:
        """Probability of each hit as `rule_queries` has it: no finite sample makes certainty."""
        often = self.probability * self.n_samples
        return (often + 0.5) / (self.n_samples + 1.0)

    @property
    def several(self) -> bool:
        """Whether a document may count more than once."""
        return bool(self.counts.size and self.counts.max() > 1)

    def take(self, rows: Array) -> SampledHits:
        """Return some of the hits."""
        return SampledHits(self.counts[rows])

    def joined(self, rows: Array, start: Array, how: str | None) -> SampledHits:
        """Return one hit for each run of rows: of any of its keys, or of their sum."""
        if len(start) == 0:
            return SampledHits(np.zeros((0, self.n_samples), dtype=np.uint8))
        if how == "sum":
            counts = np.add.reduceat(self.counts[rows].astype(np.int64), start, axis=0)
        else:
            counts = np.logical_or.reduceat(self.counts[rows] > 0, start, axis=0).astype(np.uint8)
        return SampledHits(counts)

    def sum(self, weight: Array, rows: Array) -> WeightedSum:
        """Return the distribution of a weighted sum of hits of different documents."""
        return weighted_sum(weight, self.counts[rows])

    def changes(self, first: Array, second: Array, place: Array) -> Array:
        """Return what documents add to a difference, of shape (n_documents, n_samples).

        `place` has the place of the document of each of the `first` hits and then
        of each of the `second`.
        """
        change = np.zeros((int(place.max(initial=-1)) + 1, self.n_samples), dtype=np.int64)
        np.add.at(change, place[: len(first)], self.counts[first].astype(np.int64))
        np.subtract.at(change, place[len(first) :], self.counts[second].astype(np.int64))
        return change

    def difference(self, weight: Array, first: Array, second: Array, place: Array) -> WeightedSum:
        """Return the distribution of a difference of sums of hits."""
        return weighted_sum(weight, self.changes(first, second, place))

    def draw(self, rows: Array, owner: Array, n: int, rng: np.random.Generator) -> Array:
        """Draw hits of some documents, of shape (n_rows, n); 1 where a document has the key.

        Hits with the same `owner` are of one document and come from one sample.
        """
        n_owners = int(owner.max(initial=-1)) + 1
        column = rng.integers(self.n_samples, size=(n_owners, n), dtype=np.int32)
        return np.take_along_axis(self.counts[rows], column[owner], axis=1) > 0


@dataclass(frozen=True, eq=False)
class ExactHits:
    """Hits of which the probability is known.

    Attributes
    ----------
    probability : ndarray of float of shape (n_hits,)
        Probability that a document has a key, once.
    exclusive : bool
        Whether a document has one key at most, as with the classes of a
        classifier. Otherwise its keys are independent.
    """

    probability: Array
    exclusive: bool = False

    n_samples = None
    several = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "probability", read_only(self.probability))

    def __reduce__(self) -> tuple[type[ExactHits], tuple[Array, bool]]:
        return ExactHits, (self.probability, self.exclusive)

    def __len__(self) -> int:
        return len(self.probability)

    @property
    def mean(self) -> Array:
        """Mean of each hit."""
        return self.probability

    @property
    def smoothed(self) -> Array:
        """Probability of each hit as a query has it."""
        return self.probability

    @cached_property
    def variance(self) -> Array:
        """Variance of each hit."""
        return self.probability * (1.0 - self.probability)

    @property
    def spread(self) -> Array:
        """Standard deviation of each hit."""
        return np.sqrt(self.variance)

    def take(self, rows: Array) -> ExactHits:
        """Return some of the hits."""
        return ExactHits(self.probability[rows], self.exclusive)

    def joined(self, rows: Array, start: Array, how: str | None) -> ExactHits:
        """Return one hit for each run of rows: whether a document has any of its keys."""
        if how == "sum" and not self.exclusive and len(start) < len(rows):
            raise ValueError(
                "how='sum' would count a document more than once, which is only possible for "
                "counts from samples: pass how='any', or add the columns of the probabilities."
            )
        if len(start) == 0:
            return ExactHits(np.zeros(0), self.exclusive)
        p = self.probability[rows]
        if self.exclusive:
            return ExactHits(np.minimum(np.add.reduceat(p, start), 1.0), True)
        return ExactHits(1.0 - np.multiply.reduceat(1.0 - p, start), False)

    def sum(self, weight: Array, rows: Array, *, rounded: bool = False) -> WeightedSum:
        """Return the distribution of a weighted sum of hits of different documents."""
        p = self.probability[rows]
        return weighted_sum_of_laws(weight, 0, np.stack([1.0 - p, p], axis=1), rounded=rounded)

    def difference(
        self, weight: Array, first: Array, second: Array, place: Array, *, rounded: bool = False
    ) -> WeightedSum:
        """Return the distribution of a difference of sums of hits, as that of samples."""
        # A hit on both sides adds nothing.
        sides = [(first, ~np.isin(first, second), place[: len(first)])]
        sides += [(second, ~np.isin(second, first), place[len(first) :])]
        plus, minus = (
            np.bincount(at[kept], self.probability[rows[kept]], minlength=len(weight))
            for rows, kept, at in sides
        )
        both = 0.0 if self.exclusive else plus * minus
        law = np.stack([minus - both, 1.0 - plus - minus + 2.0 * both, plus - both], axis=1)
        return weighted_sum_of_laws(weight, -1, np.maximum(law, 0.0), rounded=rounded)

    def draw(self, rows: Array, owner: Array, n: int, rng: np.random.Generator) -> Array:
        """Draw hits of some documents, as those of samples; the owners are in order."""
        p = self.probability[rows]
        if not self.exclusive:
            return rng.random((len(rows), n)) < p[:, np.newaxis]
        total = np.cumsum(p)
        before = total - p
        start = np.flatnonzero(np.diff(owner, prepend=-1))
        before -= np.repeat(before[start], np.diff(start, append=len(rows)))
        chance = rng.random((int(owner.max(initial=-1)) + 1, n))[owner]
        return (chance >= before[:, np.newaxis]) & (chance < (before + p)[:, np.newaxis])


Hits = SampledHits | ExactHits


def concatenated(parts: Sequence[Array]) -> Array:
    """Return arrays of places end to end, which may be none."""
    return np.concatenate([np.empty(0, dtype=np.intp), *parts])
