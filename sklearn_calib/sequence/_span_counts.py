"""The exact distribution of the number of spans of a sentence, under the posterior of a chain.

The posterior is a Markov chain (see _spans.py). Walking along it, the state is
the tag of the token together with the number of spans so far. All terms are
products and sums of probabilities, so that nothing cancels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.queries._span_schemes import SchemeTags
from sklearn_calib.sequence._lattice import marginals
from sklearn_calib.sequence._packing import chunks, starts_of

__all__ = ["span_count_distributions"]

# Numbers of all pairs of tags that are held at a time.
_PAIRS = 2_000_000
# Counts that no sentence of a chunk reaches with more than this probability are dropped.
_NEGLIGIBLE = 1e-40


def span_count_distributions(
    potentials: Array, transitions: Array, lengths: Array, tags: SchemeTags
) -> Array:
    """Return the probability of each number of spans of each type, for checked scores.

    The shape is (n_sentences, n_types, n_counts): entry [s, x, c] is the
    probability that sentence s has exactly c spans of type x.
    """
    k = len(transitions)
    every = np.indices((k, k)).reshape(2, -1).T
    starts = starts_of(lengths)
    steps = [_steps(tags, kind, k) for kind in range(len(tags.types))]
    found: list[tuple[Array, int, Array]] = []
    for chunk in chunks(lengths, max(1, _PAIRS // (k * k))):
        own = lengths[chunk.sentences]
        rows = np.concatenate(
            [np.arange(starts[s], starts[s] + lengths[s]) for s in chunk.sentences.tolist()]
        )
        known = marginals(potentials[rows], transitions, own, pairs=every)
        pairs = known.pair_proba
        assert pairs is not None
        after = _given_first(pairs.reshape(-1, k, k))
        first = known.proba[starts_of(own)]
        for kind, step in enumerate(steps):
            found.append((chunk.sentences, kind, _walk(first, after, own, step)))
    most = max((part.shape[1] for _, _, part in found), default=1)
    proba = np.zeros((len(lengths), len(tags.types), most))
    proba[:, :, 0] = 1.0
    for sentences, kind, part in found:
        proba[sentences, kind, : part.shape[1]] = part
    return proba


class _Steps(NamedTuple):
    """How the number of spans of one type grows from state to state.

    A state is a tag. Under schemes that mark the end of a span, the inside tag
    of the type has a second state, for runs that nothing has begun.

    Attributes
    ----------
    tag : ndarray of int of shape (n_states,)
        The tag of each state.
    first : ndarray of int of shape (n_states,)
        1 where a sentence that starts in a state has a span, -1 where no sentence
        starts in it.
    same, more : ndarray of shape (n_states, n_states)
        1 where a step is possible without a further span, and with one.
    """

    tag: Array
    first: Array
    same: Array
    more: Array


def _steps(tags: SchemeTags, kind: int, n_tags: int) -> _Steps:
    begin, inside = int(tags.first[kind]), int(tags.inside[kind])
    last, single = int(tags.last[kind]), int(tags.single[kind])
    n = n_tags + (inside >= 0 and tags.scheme.last is not None)
    tag = np.arange(n)
    tag[n_tags:] = inside
    first = np.zeros(n, dtype=np.intp)
    same, more = np.ones((n, n)), np.zeros((n, n))
    if tags.scheme.last is None:
        # A span is counted where it begins; under IO, where the run begins.
        if begin >= 0:
            first[begin] = 1
            same[:, begin], more[:, begin] = 0.0, 1.0
            if begin == inside:
                same[inside, begin], more[inside, begin] = 1.0, 0.0
        return _Steps(tag, first, same, more)
    # A span is counted where it is brought to its end.
    if single >= 0:
        first[single] = 1
        same[:, single], more[:, single] = 0.0, 1.0
    opened = [state for state in (begin, inside) if state >= 0]
    if n > n_tags:
        loose = n_tags
        first[inside] = -1
        same[:, inside] = 0.0
        same[opened, inside], same[opened, loose] = 1.0, 0.0
    if last >= 0:
        same[opened, last], more[opened, last] = 0.0, 1.0
    return _Steps(tag, first, same, more)


def _given_first(pairs: Array) -> Array:
    """Return the probability of each next tag, given the tag before it."""
    total = pairs.sum(axis=2, keepdims=True)
    return np.divide(pairs, total, out=np.zeros_like(pairs), where=total > 0.0)


def _walk(first: Array, after: Array, lengths: Array, step: _Steps) -> Array:
    """Return the distribution of the count of each sentence; the longest comes first."""
    n = len(lengths)
    states = first[:, step.tag]
    here = np.zeros((n, 2, len(step.tag)))
    here[:, 0] = np.where(step.first == 0, states, 0.0)
    here[:, 1] = np.where(step.first == 1, states, 0.0)
    done = np.zeros((n, int(lengths[0]) + 1))
    # Each sentence has one pair fewer than tokens.
    at = starts_of(lengths) - np.arange(n)
    grown = np.flatnonzero(step.more.any(axis=0))
    for t in range(1, int(lengths[0]) + 1):
        alive = int(np.searchsorted(-lengths, -t, side="left"))
        done[alive : len(here), : here.shape[1]] = here[alive:].sum(axis=2)
        here = here[:alive]
        if alive == 0:
            break
        move = after[at[:alive] + t - 1][:, step.tag[:, None], step.tag]
        shape = (alive, here.shape[1] + 1, here.shape[2])
        there = np.zeros(shape)
        there[:, :-1] = here @ (move * step.same)
        there[:, 1:, grown] += here @ (move * step.more)[:, :, grown]
        reached = np.flatnonzero(there.max(axis=(0, 2)) > _NEGLIGIBLE)
        here = there[:, : int(reached[-1]) + 1]
    return done[:, : int(np.flatnonzero(done.any(axis=0))[-1]) + 1]
