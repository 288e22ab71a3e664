"""The scaled forward and backward recursions over one chunk of packed sentences.

Potentials are divided by their largest, transitions by theirs, and the forward
weights of each token by their sum. Exponentials are taken once; every step is a
matrix product. Where a path could get lost below the smallest float, the
sentence is flagged, and log space takes over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.sequence._packing import Chunk

__all__ = ["Forward", "Transitions", "backward", "forward"]

# As long as one step cannot shrink a share by more than exp(-600), no product
# leaves the range of a float (its smallest is about exp(-708)).
SAFE_RANGE = 600.0
# A share below this is too near the smallest float for the steps that follow.
TINY = 1e-280


class Transitions:
    """Transition scores, with their exponentials and what is to know about their range."""

    def __init__(self, log_transitions: Array) -> None:
        self.log = log_transitions
        finite = np.isfinite(log_transitions)
        values = log_transitions[finite]
        self.top = float(values.max()) if values.size else 0.0
        self.range = float(values.max() - values.min()) if values.size else 0.0
        self.allowed = None if finite.all() else finite.astype(np.float32)
        self.weights = np.exp(log_transitions - self.top)
        self.transposed = np.ascontiguousarray(self.weights.T)


@dataclass(frozen=True, eq=False)
class Forward:
    """What the forward recursion leaves behind for one chunk.

    Attributes
    ----------
    alpha : ndarray of shape (n_tokens, n_tags)
        The share of each tag, given the tokens up to it.
    weights : ndarray of shape (n_tokens, n_tags)
        Potentials divided by the largest of their token.
    scale : ndarray of shape (n_tokens,)
        What each row of alpha was divided by.
    reach : ndarray of bool or None
        Which tags can be reached at all; None means all of them.
    flagged : ndarray
        Ranks of the sentences that need log space.
    log_normalizer : ndarray of shape (n_sentences,)
        Log of the summed weight of all tag sequences.
    """

    alpha: Array
    weights: Array
    scale: Array
    reach: Array | None
    flagged: Array
    log_normalizer: Array


def forward(chunk: Chunk, log_potentials: Array, transitions: Transitions) -> Forward:
    """Run the forward recursion; `log_potentials` has a row for each flat token."""
    # `take` and `argmax` do what an index and `max` do, in a third of the time.
    weights = log_potentials.take(chunk.rows, axis=0)
    n, k = weights.shape
    top = weights.ravel().take(weights.argmax(axis=1) + np.arange(0, n * k, k))
    top_or_zero = np.where(np.isfinite(top), top, 0.0)
    weights -= top_or_zero[:, None]
    reach = None
    risky = not transitions.range - float(weights.min()) < SAFE_RANGE
    if risky or transitions.allowed is not None:
        reach = _reachable(chunk, np.isfinite(weights), transitions.allowed)
    np.exp(weights, out=weights)

    alpha = np.empty_like(weights)
    scale = np.empty(len(weights))
    previous = None
    for start, stop in chunk.steps:
        here = alpha[start:stop]
        if previous is None:
            here[:] = weights[start:stop]
        else:
            np.matmul(alpha[previous : previous + stop - start], transitions.weights, out=here)
            here *= weights[start:stop]
        # Faster than sum, and unlike a product with ones the same whatever the other rows are.
        total = np.einsum("ij->i", here, out=scale[start:stop])
        if reach is not None:
            # No way on, or none that a float can hold: the sentence is flagged below.
            total[total == 0.0] = np.inf
        here /= total[:, None]
        previous = start

    flagged = np.empty(0, dtype=np.intp)
    if reach is not None:
        # What it was before the division decides whether bits were lost.
        with np.errstate(invalid="ignore"):
            lost = (reach & ~(alpha * scale[:, None] >= TINY)).any(axis=1) | (scale == np.inf)
        flagged = np.unique(chunk.rank[lost])
    n = len(chunk.sentences)
    log_scale = np.bincount(chunk.rank, np.log(scale) + top_or_zero, minlength=n)
    log_normalizer = log_scale + transitions.top * (np.bincount(chunk.rank, minlength=n) - 1)
    return Forward(alpha, weights, scale, reach, flagged, log_normalizer)


def _reachable(chunk: Chunk, possible: Array, allowed: Array | None) -> Array:
    """Return which tags some path of allowed transitions reaches."""
    if allowed is None:
        return possible
    for (start, _), (begin, end) in zip(chunk.steps, chunk.steps[1:], strict=False):
        ways = possible[start : start + end - begin].astype(np.float32) @ allowed
        possible[begin:end] &= ways > 0
    return possible


def backward(
    chunk: Chunk, found: Forward, transitions: Transitions, *, keep_alpha: bool
) -> tuple[Array, Array, Array]:
    """Run the backward recursion.

    Returns the tag marginals; the weights v with which a pair of neighbours has
    the probability alpha[before, i] * A[i, j] * v[j]; and the ranks of the
    sentences that need log space.
    """
    v = found.weights
    gamma = found.alpha.copy() if keep_alpha else found.alpha
    # A row that overflows stays alone: its sentence is flagged below.
    with np.errstate(over="ignore", invalid="ignore"):
        v *= (1.0 / found.scale)[:, None]
        if found.reach is not None:
            v[~found.reach] = 0.0
        for (start, _), (begin, end) in zip(chunk.steps[-2::-1], chunk.steps[:0:-1], strict=True):
            beta = v[begin:end] @ transitions.transposed
            v[start : start + end - begin] *= beta
            gamma[start : start + end - begin] *= beta
    flagged = found.flagged
    total = np.einsum("ij->i", gamma)[:, None]
    if found.reach is not None:
        lost = ~(np.isfinite(total[:, 0]) & (total[:, 0] > 0.5))
        flagged = np.union1d(flagged, chunk.rank[lost])
        total[lost] = 1.0
    # The rows sum to 1 but for rounding; dividing makes sure that none exceeds it.
    gamma /= total
    return gamma, v, flagged
