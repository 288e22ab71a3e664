"""One sentence in log space: slow, and right for every finite score.

The scaled recursions lose paths whose share is below the smallest float. That
takes scores of several hundreds, or transitions that are forbidden; the few
sentences it can happen to come here.
"""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array

__all__ = ["ImpossibleError", "log_backward", "log_forward", "logsumexp"]


class ImpossibleError(ValueError):
    """No tag sequence has a probability above zero."""

    def __init__(self, sentence: int, token: int) -> None:
        super().__init__(
            f"Sentence {sentence} is impossible under the model: at token {token} every tag has "
            "probability zero, given the tokens before it. Give unseen transitions or words a "
            "probability above zero (for example by a pseudocount)."
        )


def logsumexp(x: Array, axis: int) -> Array:
    """Return the log of the sum of exponentials; a row of minus infinities gives just that."""
    top = x.max(axis=axis, keepdims=True)
    base = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(x - base).sum(axis=axis)) + base.squeeze(axis)


def log_forward(potentials: Array, transitions: Array, sentence: int) -> Array:
    """Return the log of the summed weight of all ways to reach each tag of each token."""
    alpha = np.empty_like(potentials)
    alpha[0] = potentials[0]
    for t in range(1, len(alpha)):
        alpha[t] = logsumexp(alpha[t - 1][:, None] + transitions, axis=0) + potentials[t]
    dead = ~np.isfinite(alpha.max(axis=1))
    if dead.any():
        raise ImpossibleError(sentence, int(dead.argmax()))
    return alpha


def log_backward(potentials: Array, transitions: Array) -> Array:
    """Return the log of the summed weight of all ways to go on after each tag of each token."""
    beta = np.zeros_like(potentials)
    for t in range(len(beta) - 2, -1, -1):
        beta[t] = logsumexp(transitions + (potentials[t + 1] + beta[t + 1]), axis=1)
    return beta
