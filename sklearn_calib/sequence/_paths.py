"""Whole state sequences: the most probable one, and draws from the posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_generator, check_integer
from sklearn_calib._validation_sequences import check_lattice
from sklearn_calib.sequence._log_recursions import ImpossibleError, log_forward
from sklearn_calib.sequence._packing import chunks, starts_of
from sklearn_calib.sequence._scaled_recursions import Transitions, forward

__all__ = ["best_paths", "sample_paths", "sample_sequences", "viterbi"]

# Cells of the largest working array.
MOST_CELLS = 2_000_000


def viterbi(
    log_potentials: ArrayLike, log_transitions: ArrayLike, lengths: ArrayLike | None = None
) -> Array:
    """Most probable state sequence of linear chains.

    Parameters
    ----------
    log_potentials : array-like of shape (n_tokens, n_states)
        Score of each state of each token, as in `forward_backward`.
    log_transitions : array-like of shape (n_states, n_states)
        Score of going from a state (row) to a state (column).
    lengths : array-like of int of shape (n_sequences,), default=None
        Length of each sequence; by default there is one.

    Returns
    -------
    ndarray of int of shape (n_tokens,)
        The state of each token. Of equally good sequences, one with low states.

    See Also
    --------
    forward_backward : The probabilities of single states and of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib.sequence import viterbi
    >>> potentials = np.log([[0.5, 0.5], [0.9, 0.1]])
    >>> viterbi(potentials, np.log([[0.8, 0.2], [0.2, 0.8]]))
    array([0, 0])
    """
    return best_paths(*check_lattice(log_potentials, log_transitions, lengths))


def best_paths(potentials: Array, transitions: Array, lengths: Array) -> Array:
    """Return the most probable paths of checked scores."""
    path = np.empty(len(potentials), dtype=np.intp)
    into = np.ascontiguousarray(transitions.T)
    for chunk in chunks(lengths):
        own = potentials[chunk.rows]
        back = np.zeros(own.shape, dtype=np.int32)
        block = max(1, MOST_CELLS // into.size)
        for (start, _), (begin, end) in zip(chunk.steps, chunk.steps[1:], strict=False):
            for first in range(begin, end, block):
                last = min(first + block, end)
                before = own[start + first - begin : start + last - begin]
                ways = before[:, None, :] + into
                choice = back[first:last] = ways.argmax(axis=2)
                own[first:last] += np.take_along_axis(ways, choice[:, :, None], axis=2)[:, :, 0]
        packed = np.empty(len(own), dtype=np.intp)
        previous = 0
        for t in range(len(chunk.steps) - 1, -1, -1):
            start, stop = chunk.steps[t]
            # Sentences that end here start from their best tag; the others follow the pointers.
            packed[start + previous : stop] = own[start + previous : stop].argmax(axis=1)
            if previous:
                begin = chunk.steps[t + 1][0]
                rows = np.arange(begin, begin + previous)
                packed[start : start + previous] = back[rows, packed[rows]]
            previous = stop - start
        dead = ~np.isfinite(own[np.arange(len(own)), packed])
        if dead.any():
            sentence = int(chunk.sentences[chunk.rank[dead.argmax()]])
            first = starts_of(lengths)[sentence]
            log_forward(potentials[first : first + lengths[sentence]], transitions, sentence)
            raise ImpossibleError(sentence, 0)  # pragma: no cover - log_forward has raised
        path[chunk.rows] = packed
    return path


def sample_sequences(
    log_potentials: ArrayLike,
    log_transitions: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    n_samples: int = 1,
    random_state: Any = None,
) -> Array:
    """Draw state sequences of linear chains from their posterior.

    Parameters
    ----------
    log_potentials : array-like of shape (n_tokens, n_states)
        Score of each state of each token, as in `forward_backward`.
    log_transitions : array-like of shape (n_states, n_states)
        Score of going from a state (row) to a state (column).
    lengths : array-like of int of shape (n_sequences,), default=None
        Length of each sequence; by default there is one.
    n_samples : int, default=1
        Number of independent draws.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    ndarray of int of shape (n_samples, n_tokens)
        The state of each token in each draw.

    See Also
    --------
    forward_backward : The probabilities of single states and of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib.sequence import sample_sequences
    >>> potentials = np.log([[0.5, 0.5], [0.9, 0.1]])
    >>> transitions = np.log([[0.8, 0.2], [0.2, 0.8]])
    >>> draws = sample_sequences(potentials, transitions, n_samples=5000, random_state=0)
    >>> round(float((draws[:, 0] == 0).mean()), 1)
    0.7
    """
    potentials, transitions, length = check_lattice(log_potentials, log_transitions, lengths)
    check_integer(n_samples, "n_samples")
    return sample_paths(potentials, transitions, length, n_samples, check_generator(random_state))


def sample_paths(
    potentials: Array,
    log_transitions: Array,
    lengths: Array,
    n_samples: int,
    rng: np.random.Generator,
) -> Array:
    """Draw from the posterior: filter forward, then sample backward."""
    transitions = Transitions(log_transitions)
    draws = np.empty((n_samples, len(potentials)), dtype=np.int32)
    starts = starts_of(lengths)
    for chunk in chunks(lengths):
        found = forward(chunk, potentials, transitions)
        packed = np.empty((len(chunk.rows), n_samples), dtype=np.int32)
        following = 0
        for t in range(len(chunk.steps) - 1, -1, -1):
            start, stop = chunk.steps[t]
            ended = found.alpha[start + following : stop]
            packed[start + following : stop] = _draw(ended, None, None, n_samples, rng)
            if following:
                begin = chunk.steps[t + 1][0]
                after = packed[begin : begin + following]
                alpha = found.alpha[start : start + following]
                packed[start : start + following] = _draw(
                    alpha, transitions.transposed, after, n_samples, rng
                )
            following = stop - start
        draws[:, chunk.rows] = packed.T
        for sentence in chunk.sentences[found.flagged].tolist():
            where = slice(starts[sentence], starts[sentence] + lengths[sentence])
            alpha, _ = log_forward(potentials[where], log_transitions, sentence)
            draws[:, where] = _log_draws(alpha, log_transitions, n_samples, rng)
    return draws


def _draw(
    alpha: Array,
    into: Array | None,
    after: Array | None,
    n_samples: int,
    rng: np.random.Generator,
) -> Array:
    """Draw a state for each row and sample, in proportion to alpha times the way onwards."""
    n, k = alpha.shape
    state = np.empty((n, n_samples), dtype=np.int32)
    block = max(1, MOST_CELLS // max(1, n * k))
    for first in range(0, n_samples, block):
        part = slice(first, min(first + block, n_samples))
        if into is None or after is None:
            weight = np.broadcast_to(alpha[:, None, :], (n, part.stop - first, k))
        else:
            weight = into[after[:, part]] * alpha[:, None, :]
        state[:, part] = _pick(weight, rng)
    return state


def _pick(weight: Array, rng: np.random.Generator) -> Array:
    """Draw an index along the last axis; one of weight zero is never drawn."""
    total = np.cumsum(weight, axis=-1)
    u = rng.random(weight.shape[:-1]) * total[..., -1]
    # Where rounding left no weight at all (a flagged sentence, drawn again), stay in range.
    return np.minimum((total <= u[..., None]).sum(axis=-1), weight.shape[-1] - 1)


def _log_draws(
    alpha: Array, log_transitions: Array, n_samples: int, rng: np.random.Generator
) -> Array:
    states = np.empty((n_samples, len(alpha)), dtype=np.int32)
    score = np.broadcast_to(alpha[-1], (n_samples, alpha.shape[1]))
    for t in range(len(alpha) - 1, -1, -1):
        if t < len(alpha) - 1:
            score = alpha[t] + log_transitions.T[states[:, t + 1]]
        states[:, t] = _pick(np.exp(score - score.max(axis=1, keepdims=True)), rng)
    return states
