"""Draw documents with known, unequal inclusion probabilities, so that more can follow later.

Every document keeps one random number for ever. The documents with the smallest
ratio of that number to their size are read (sequential Poisson sampling, Ohlsson
1998). A larger sample holds every smaller one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array

# Neighbours of this number have random numbers that are spread evenly.
_BLOCK = 10


def sampling_sizes(uncertainty: ArrayLike, *, share_uniform: float = 0.4) -> Array:
    """Return the size of each document: how much it is worth to read, summing to 1.

    Parameters
    ----------
    uncertainty : array-like of shape (n_documents,)
        Standard deviation of what each document adds to the counts.
    share_uniform : float, default=0.4
        The share of the sample that is spread over all documents alike, because
        confident errors and misses hide where the model is sure.
    """
    spread = np.asarray(uncertainty, dtype=float)
    total = spread.sum()
    even = np.full(len(spread), 1.0 / len(spread))
    if total <= 0.0:
        return even
    return share_uniform * even + (1.0 - share_uniform) * spread / total


def inclusion_probabilities(uncertainty: ArrayLike, n: int, *, share_uniform: float = 0.4) -> Array:
    """Return the probability that each document is among n that are read.

    Proportional to `sampling_sizes`, but never above 1; the sum is n.
    """
    return scaled_to(sampling_sizes(uncertainty, share_uniform=share_uniform), n)


def scaled_to(size: Array, n: int) -> Array:
    """Return min(1, t size) with the t for which the sum is n."""
    if n >= len(size):
        return np.ones(len(size))
    order = np.argsort(-size, kind="stable")
    falling = size[order]
    # With k certain documents, t is (n - k) / (the sum of the other sizes).
    rest = falling.sum() - np.concatenate([[0.0], np.cumsum(falling)[:-1]])
    k = np.arange(len(size))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (n - k) / rest
    certain = int(np.argmax(t * falling <= 1.0))
    return np.minimum(1.0, size * t[certain])


def permanent_numbers(
    n_documents: int, *, rng: np.random.Generator, order: ArrayLike | None = None
) -> Array:
    """Return one uniform random number for each document, which it keeps for ever.

    Parameters
    ----------
    n_documents : int
        How many.
    rng : Generator
        The source of randomness.
    order : array-like of int, default=None
        Documents in an order in which neighbours are alike, such as by period
        and probability. Runs of ten neighbours have numbers in different tenths,
        so that the sample is spread evenly; each number by itself is uniform.
    """
    if order is None:
        return rng.random(n_documents)
    blocks = -(-n_documents // _BLOCK)
    tenth = rng.permuted(np.tile(np.arange(_BLOCK), (blocks, 1)), axis=1).ravel()[:n_documents]
    numbers = np.empty(n_documents)
    numbers[np.asarray(order)] = (tenth + rng.random(n_documents)) / _BLOCK
    return numbers


def draw_sample(size: ArrayLike, number: ArrayLike, n: int) -> tuple[Array, Array]:
    """Return the n documents to read, in order of reading, and all inclusion probabilities.

    Parameters
    ----------
    size : array-like of shape (n_documents,)
        From `sampling_sizes`.
    number : array-like of shape (n_documents,)
        From `permanent_numbers`. With the same numbers, a larger n returns the
        same documents and then more, and its inclusion probabilities are those
        of all of them together.
    n : int
        How many.

    Returns
    -------
    tuple of ndarray
        The places of the documents, and the inclusion probability of every
        document. Probabilities are those of independent draws with the same
        expected number, which differ from the exact ones by less than a tenth of
        their standard error even for small n.
    """
    sizes = np.asarray(size, dtype=float)
    n = min(n, len(sizes))
    rank = np.asarray(number, dtype=float) / sizes
    return np.argsort(rank, kind="stable")[:n], scaled_to(sizes, n)


def joined_inclusion(first: Array, second: Array) -> Array:
    """Return the inclusion probabilities of two samples together that share their random numbers.

    A document is in one of them if its number is below the larger probability.
    """
    return np.maximum(first, second)
