"""Gradients of functions of marginals, with respect to the scores of the chain.

Let f be a function of the marginals, and F(s) the sum over a state sequence s
of the derivatives of f with respect to the marginals that s takes part in. The
derivative of f with respect to a score is the covariance, under the chain, of F
and of how often s uses that score. The expectations in it are those of the
first-order expectation semiring (Li & Eisner 2009); they follow from two
recursions like those of forward-backward itself.
"""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.sequence._log_recursions import log_backward, log_forward, shares
from sklearn_calib.sequence._packing import (
    CHUNK_TOKENS,
    Chunk,
    chunks,
    pair_rows,
    starts_of,
)
from sklearn_calib.sequence._scaled_recursions import Transitions, backward, forward

__all__ = ["marginals_vjp"]

# More arrays are at work here than for the marginals: chunks of half the size stay in cache.
_CHUNK_TOKENS = CHUNK_TOKENS // 2


def marginals_vjp(
    potentials: Array,
    log_transitions: Array,
    lengths: Array,
    proba: Array,
    cotangent: Array,
    *,
    pairs: Array | None = None,
    pair_cotangent: Array | None = None,
) -> tuple[Array, Array]:
    """Return the gradients with respect to potentials and transitions.

    `proba` has the tag marginals of these scores. The cotangents are the
    derivatives of a function with respect to them and to the marginals of chosen
    pairs. Everything is taken as checked.
    """
    transitions = Transitions(log_transitions)
    to_potentials = np.empty_like(potentials)
    to_transitions = np.zeros_like(log_transitions)
    chosen = None
    if pairs is not None and pair_cotangent is not None:
        chosen = _Pairs(pairs, transitions.weights)
    starts = starts_of(lengths)
    for chunk in chunks(lengths, _CHUNK_TOKENS):
        slopes = cotangent.take(chunk.rows, axis=0)
        pair_slopes = None
        if chosen is not None and pair_cotangent is not None:
            pair_slopes = pair_cotangent[pair_rows(chunk)]
        found, step, flagged = _chunk_vjp(
            chunk, potentials, transitions, proba, slopes, chosen, pair_slopes
        )
        to_potentials[chunk.rows] = found
        to_transitions += step
        for sentence in chunk.sentences[flagged].tolist():
            where = slice(starts[sentence], starts[sentence] + lengths[sentence])
            along = _Steps(None, None, len(log_transitions))
            if pairs is not None and pair_cotangent is not None:
                own = pair_cotangent[where.start - sentence : where.stop - sentence - 1]
                along = _Steps(pairs, own, len(log_transitions))
            to_potentials[where], step = _log_vjp(
                potentials[where], log_transitions, sentence, cotangent[where], along
            )
            to_transitions += step
    return to_potentials, to_transitions


class _Pairs:
    """Chosen pairs of states, sorted so that those with one first or second state are summed."""

    def __init__(self, pairs: Array, weights: Array) -> None:
        self.first, self.second = pairs[:, 0], pairs[:, 1]
        self.weights = weights[self.first, self.second]
        self.k = len(weights)

    def by(self, states: Array, columns: Array) -> Array:
        """Return the sums of the columns whose pairs have the same state, for each state."""
        total = np.zeros((len(columns), self.k))
        order = np.argsort(states, kind="stable")
        found, start = np.unique(states[order], return_index=True)
        if len(found):
            total[:, found] = np.add.reduceat(columns[:, order], start, axis=1)
        return total


def _chunk_vjp(
    chunk: Chunk,
    potentials: Array,
    transitions: Transitions,
    proba: Array,
    slopes: Array,
    pairs: _Pairs | None,
    pair_slopes: Array | None,
) -> tuple[Array, Array, Array]:
    """Return the gradients of a chunk, and the ranks of the sentences that need log space.

    With prefix(t, j) the expected part of F up to token t given state j there, and
    rest(t, j) that after it, `ahead` is alpha * prefix and `behind` is beta * rest:
    no division is needed, and what is impossible adds nothing.
    """
    found = forward(chunk, potentials, transitions)
    alpha, weights = found.alpha, transitions.weights
    if found.reach is None:
        # What follows each token is known from its marginals: no backward recursion is needed.
        # A marginal too small for a float is one that adds nothing to any derivative.
        own, flagged = found.weights, found.flagged
        own *= (1.0 / found.scale)[:, None]
        gamma = proba.take(chunk.rows, axis=0)
        expected = np.einsum("ij,ij->i", gamma, slopes)
        beta = np.divide(gamma, alpha, out=gamma)
        v = own * beta
    else:
        with np.errstate(over="ignore"):  # of what cannot be reached, and of flagged sentences
            own = found.weights / found.scale[:, None]
        own[~found.reach] = 0.0
        gamma, v, flagged = backward(chunk, found, transitions, keep_alpha=True)
        # Whatever is wrong with a flagged sentence, it reaches no sum over the others.
        lost = np.isin(chunk.rank, flagged)
        for part in (alpha, gamma, own, v):
            part[lost] = 0.0
        expected = np.einsum("ij,ij->i", gamma, slopes)
        beta = np.divide(gamma, alpha, out=np.zeros_like(alpha), where=alpha > 0.0)
    n = len(chunk.sentences)
    # The rows that have a token before them come last: a slice needs no copy.
    before, later = chunk.before, slice(chunk.steps[0][1], None)
    total = np.bincount(chunk.rank, expected, minlength=n)
    joint = None
    if pairs is not None and pair_slopes is not None:
        joint = alpha[before][:, pairs.first] * pairs.weights * v[later][:, pairs.second]
        joint *= pair_slopes
        total += np.bincount(chunk.rank[later], joint.sum(axis=1), minlength=n)
    # With each sentence's mean taken out, covariances are plain expectations of products.
    length = np.bincount(chunk.rank, minlength=n)
    slopes -= (total / length)[chunk.rank][:, None]
    ahead = alpha * slopes
    v_slopes = np.multiply(v, slopes, out=slopes)
    behind, onward = np.zeros_like(alpha), None
    if joint is not None and pairs is not None and pair_slopes is not None:
        step = alpha[before][:, pairs.first] * pairs.weights * pair_slopes
        ahead[later] += pairs.by(pairs.second, step) * own[later]
        step = v[later][:, pairs.second] * pairs.weights * pair_slopes
        onward = pairs.by(pairs.first, step)
    for (start, _), (begin, end) in zip(chunk.steps, chunk.steps[1:], strict=False):
        ahead[begin:end] += (ahead[start : start + end - begin] @ weights) * own[begin:end]
    # Both terms of a later token go back through one product.
    first = chunk.steps[0][1]
    for (start, _), (begin, end) in zip(chunk.steps[-2::-1], chunk.steps[:0:-1], strict=True):
        rest, back = v_slopes[begin:end], behind[start : start + end - begin]
        rest += own[begin:end] * behind[begin:end]
        np.matmul(rest, transitions.transposed, out=back)
        if onward is not None:
            back += onward[begin - first : end - first]
    to_transitions = ahead.take(before, axis=0).T @ v[later]
    to_transitions += alpha.take(before, axis=0).T @ v_slopes[later]
    to_transitions *= weights
    ahead *= beta
    alpha *= behind
    ahead += alpha
    if joint is not None and pairs is not None:
        np.add.at(to_transitions, (pairs.first, pairs.second), joint.sum(axis=0))
    return ahead, to_transitions, flagged


class _Steps:
    """The derivatives of a sentence's steps, as a matrix of states that is made when asked for."""

    def __init__(self, pairs: Array | None, slopes: Array | None, k: int) -> None:
        self.pairs, self.slopes, self.k = pairs, slopes, k

    def __getitem__(self, t: int) -> Array:
        """Return the derivatives of the step from token t to the next."""
        table = np.zeros((self.k, self.k))
        if self.pairs is not None and self.slopes is not None:
            np.add.at(table, (self.pairs[:, 0], self.pairs[:, 1]), self.slopes[t])
        return table


def _log_vjp(
    potentials: Array, log_transitions: Array, sentence: int, slopes: Array, steps: _Steps
) -> tuple[Array, Array]:
    """Return the gradients of one sentence, by conditional probabilities from log space."""
    alpha, _ = log_forward(potentials, log_transitions, sentence)
    beta = log_backward(potentials, log_transitions)
    gamma = shares(alpha + beta, axis=1)
    prefix, rest = slopes.copy(), np.zeros_like(slopes)
    for t in range(1, len(alpha)):
        # Where each state may have come from, and what the way there adds.
        origin = shares(alpha[t - 1][:, None] + log_transitions, axis=0)
        prefix[t] += (origin * (prefix[t - 1][:, None] + steps[t - 1])).sum(axis=0)
    mean = float(gamma[-1] @ prefix[-1])
    to_transitions = np.zeros_like(log_transitions)
    for t in range(len(alpha) - 2, -1, -1):
        onward = shares(log_transitions + potentials[t + 1] + beta[t + 1], axis=1)
        after = steps[t] + slopes[t + 1] + rest[t + 1]
        rest[t] = (onward * after).sum(axis=1)
        after += prefix[t][:, None] - mean
        to_transitions += gamma[t][:, None] * onward * after
    return gamma * (prefix + rest - mean), to_transitions
