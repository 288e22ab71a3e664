"""The Brier score of the marginals of linear chains, with its gradient.

The posterior of a chain is Markov, forwards and backwards. So what one token
says about its tag spreads to its neighbours by the same two recursions that
made the marginals, and the gradient costs about as much as they do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.sequence._log_recursions import log_backward, log_forward, softmax
from sklearn_calib.sequence._packing import Chunk, chunks, starts_of
from sklearn_calib.sequence._scaled_recursions import Transitions, backward, forward

__all__ = ["Chains", "MarginalLoss", "marginal_loss"]

# Smaller shares are as good as none: what is divided by them would leave the range of a float.
_TINY = 1e-250


class Chains(NamedTuple):
    """Scores of some sentences, and their true tags."""

    potentials: Array  # a row for each token
    transitions: Array
    lengths: Array
    gold: Array  # the true tag of each token, -1 for one without a column
    weight: Array  # of each token


class MarginalLoss(NamedTuple):
    """A loss summed over tokens, and its gradient."""

    value: float
    potentials: Array  # gradient by each potential
    transitions: Array  # gradient by each transition score


def marginal_loss(chains: Chains) -> MarginalLoss:
    """Return the squared gaps between marginals and truth, summed over tokens and tags."""
    potentials, log_transitions, lengths, gold, token_weight = chains
    transitions = Transitions(log_transitions)
    by_potential = np.zeros_like(potentials)
    by_transition = np.zeros_like(log_transitions)
    value = 0.0
    starts = starts_of(lengths)
    for chunk in chunks(lengths):
        found = forward(chunk, potentials, transitions)
        gamma, v, flagged = backward(chunk, found, transitions, keep_alpha=True)
        weight = token_weight[chunk.rows].copy()
        if len(flagged):
            # What scaled numbers cannot hold is done below, one sentence at a time.
            lost = np.isin(chunk.rank, flagged)
            weight[lost] = 0.0
            gamma[lost], v[lost], found.alpha[lost] = 0.0, 0.0, 0.0
        part, source = _source(gamma, gold[chunk.rows], weight)
        value += part
        into, out = _spread(chunk, source, gamma, v, found.alpha, transitions.weights)
        n = len(chunk.sentences)
        total = np.bincount(chunk.rank, source.sum(axis=1), minlength=n)
        by_potential[chunk.rows] = into.all + out.all - source - total[chunk.rank, None] * gamma
        before, later = chunk.before, chunk.later
        alpha = found.alpha[before]
        by_transition += transitions.weights * (
            into.step.T @ v[later]
            + alpha.T @ (out.step - total[chunk.rank[later], None] * v[later])
        )
        for sentence in chunk.sentences[flagged].tolist():
            where = slice(starts[sentence], starts[sentence] + lengths[sentence])
            value += _one_sentence(sentence, where, chains, by_potential[where], by_transition)
    return MarginalLoss(value, by_potential, by_transition)


def _source(gamma: Array, gold: Array, weight: Array) -> tuple[float, Array]:
    """Return the loss, and its derivative by the logarithm of each marginal."""
    gap = gamma.copy()
    known = np.flatnonzero(gold >= 0)
    gap[known, gold[known]] -= 1.0
    value = float(weight @ np.einsum("ij,ij->i", gap, gap))
    return value, 2.0 * weight[:, None] * gap * gamma


class _Spread(NamedTuple):
    all: Array  # what reaches each token, its own share among it
    step: Array  # what goes from each token but the last of a sentence to the next, or back


def _spread(
    chunk: Chunk, source: Array, gamma: Array, v: Array, alpha: Array, weights: Array
) -> tuple[_Spread, _Spread]:
    """Carry what each token says forwards and backwards along its sentence."""
    # Of a pair (i, j) of neighbours, alpha[i] * weights[i, j] * v[j] is the probability.
    onward, back = np.zeros_like(gamma), np.zeros_like(gamma)
    usable = gamma > _TINY
    np.divide(alpha, gamma, out=onward, where=usable)
    np.divide(v, gamma, out=back, where=usable)
    forth, home = source.copy(), source.copy()
    steps = list(zip(chunk.steps, chunk.steps[1:], strict=False))
    for (start, _), (begin, end) in steps:
        previous = slice(start, start + end - begin)
        forth[begin:end] += ((forth[previous] * onward[previous]) @ weights) * v[begin:end]
    for (start, _), (begin, end) in reversed(steps):
        previous = slice(start, start + end - begin)
        home[previous] += ((home[begin:end] * back[begin:end]) @ weights.T) * alpha[previous]
    before, later = chunk.before, chunk.later
    return (
        _Spread(forth, forth[before] * onward[before]),
        _Spread(home, home[later] * back[later]),
    )


def _one_sentence(
    sentence: int, where: slice, chains: Chains, by_potential: Array, by_transition: Array
) -> float:
    """Add the gradient of a sentence in log space, and return its loss."""
    own = chains.potentials[where]
    alpha, _ = log_forward(own, chains.transitions, sentence)
    beta = log_backward(own, chains.transitions)
    gamma = np.array([softmax(row) for row in alpha + beta])
    value, source = _source(gamma, chains.gold[where], chains.weight[where])
    joints = [
        softmax(alpha[t - 1][:, None] + chains.transitions + (own[t] + beta[t]))
        for t in range(1, len(own))
    ]
    forth, home = source.copy(), source.copy()
    total = source.sum()
    for t, joint in enumerate(joints, start=1):
        onward = _divided(joint, joint.sum(axis=1, keepdims=True))
        forth[t] += forth[t - 1] @ onward
        by_transition += forth[t - 1][:, None] * onward - total * joint
    for t in range(len(joints), 0, -1):
        back = _divided(joints[t - 1], joints[t - 1].sum(axis=0, keepdims=True))
        home[t - 1] += back @ home[t]
        by_transition += back * home[t]
    by_potential[:] = forth + home - source - total * gamma
    return value


def _divided(joint: Array, total: Array) -> Array:
    return np.divide(joint, total, out=np.zeros_like(joint), where=total > _TINY)
