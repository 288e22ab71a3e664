"""One sentence in log space: slow, and right for every finite score.

The scaled recursions lose paths whose share is below the smallest float. That
takes scores of several hundreds, or transitions that are forbidden; the few
sentences it can happen to come here. Weights are normalised at each token, so
that digits do not get lost in long sentences.
"""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array

__all__ = ["ImpossibleError", "log_backward", "log_forward", "shares", "softmax"]


class ImpossibleError(ValueError):
    """No tag sequence has a probability above zero."""

    def __init__(self, sentence: int, token: int) -> None:
        super().__init__(
            f"Sentence {sentence} is impossible under the model: at token {token} every tag has "
            "probability zero, given the tokens before it. Give unseen transitions or words a "
            "probability above zero (for example by a pseudocount), or forbid less."
        )


def _logsumexp(x: Array, axis: int) -> Array:
    """Return the log of the sum of exponentials; a row of minus infinities gives just that."""
    top = x.max(axis=axis, keepdims=True)
    base = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(x - base).sum(axis=axis)) + base.squeeze(axis)


def softmax(x: Array) -> Array:
    """Return shares in proportion to the exponentials of all entries."""
    weight = np.exp(x - x.max())
    return weight / weight.sum()


def shares(x: Array, axis: int) -> Array:
    """Return shares along an axis; where all is impossible, zeros."""
    top = x.max(axis=axis, keepdims=True)
    weight = np.exp(x - np.where(np.isfinite(top), top, 0.0))
    total = weight.sum(axis=axis, keepdims=True)
    return weight / np.where(total > 0.0, total, 1.0)


def log_forward(potentials: Array, transitions: Array, sentence: int) -> tuple[Array, float]:
    """Return the log share of each tag, given the tokens up to it, and the log normalizer."""
    alpha = np.empty_like(potentials)
    log_normalizer = 0.0
    for t, own in enumerate(potentials):
        top = own.max()
        alpha[t] = own - (top if np.isfinite(top) else 0.0)
        if t:
            alpha[t] += _logsumexp(alpha[t - 1][:, None] + transitions, axis=0)
        total = _logsumexp(alpha[t], axis=0)
        if not np.isfinite(total):
            raise ImpossibleError(sentence, t)
        alpha[t] -= total
        log_normalizer += float(total + top)
    return alpha, log_normalizer


def log_backward(potentials: Array, transitions: Array) -> Array:
    """Return the log weight of all ways to go on after each tag, the best of a token being 0."""
    beta = np.zeros_like(potentials)
    for t in range(len(beta) - 2, -1, -1):
        beta[t] = _logsumexp(transitions + (potentials[t + 1] + beta[t + 1]), axis=1)
        beta[t] -= beta[t].max()
    return beta
