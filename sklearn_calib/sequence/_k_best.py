"""The k most probable state sequences of linear chains, with exact probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_integer
from sklearn_calib._validation_sequences import check_lattice
from sklearn_calib.sequence._lattice import marginals
from sklearn_calib.sequence._packing import Chunk, chunks

__all__ = ["k_best_paths", "k_best_sequences"]

# Cells of the largest working array.
MOST_CELLS = 2_000_000


def k_best_sequences(
    log_potentials: ArrayLike,
    log_transitions: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    k: int,
) -> list[list[tuple[Array, float]]]:
    """Most probable state sequences of linear chains, with exact probabilities.

    Parameters
    ----------
    log_potentials : array-like of shape (n_tokens, n_states)
        Score of each state of each token, as in `forward_backward`.
    log_transitions : array-like of shape (n_states, n_states)
        Score of going from a state (row) to a state (column).
    lengths : array-like of int of shape (n_sequences,), default=None
        Length of each sequence; by default there is one.
    k : int
        How many state sequences to return for each sequence.

    Returns
    -------
    list of lists of (ndarray of int, float)
        For each sequence its k most probable state sequences, each with its
        probability, most probable first. Where fewer than k are possible,
        these.

    See Also
    --------
    viterbi : The most probable sequence alone.
    sample_sequences : Draws from the posterior.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib.sequence import k_best_sequences
    >>> potentials = np.log([[0.5, 0.5], [0.9, 0.1]])
    >>> transitions = np.log([[0.8, 0.2], [0.2, 0.8]])
    >>> for states, proba in k_best_sequences(potentials, transitions, k=2)[0]:
    ...     print(states, round(proba, 2))
    [0 0] 0.72
    [1 0] 0.18
    """
    potentials, transitions, length = check_lattice(log_potentials, log_transitions, lengths)
    return k_best_paths(potentials, transitions, length, check_integer(k, "k"))


def k_best_paths(
    potentials: Array, transitions: Array, lengths: Array, k: int
) -> list[list[tuple[Array, float]]]:
    """Return the k best paths of checked scores.

    Of every state of every token the k best ways to get there are kept, each
    with its score and where it came from.
    """
    # Raises where a sentence is impossible, before anything else is done.
    log_normalizer = marginals(potentials, transitions, lengths).log_normalizer
    found: list[list[tuple[Array, float]]] = [[] for _ in range(len(lengths))]
    into = np.ascontiguousarray(transitions.T)
    # The back pointers of a chunk are k times as many as its marginals.
    for chunk in chunks(lengths, max(256, 4096 // k)):
        score, back = _forward(chunk, potentials, into, k)
        # The packed row of each step of the sentence that is so many places down.
        first = np.array([start for start, _ in chunk.steps], dtype=np.intp)
        for place, sentence in enumerate(chunk.sentences.tolist()):
            rows = first[: lengths[sentence]] + place
            found[sentence] = _trace(rows, score, back, float(log_normalizer[sentence]))
    return found


def _forward(chunk: Chunk, potentials: Array, into: Array, k: int) -> tuple[Array, Array]:
    """Return score and origin of the k best ways to each state of each packed row.

    The origin is a number of the state before and of the way to it: state * k + way.
    """
    n_states = len(into)
    own = potentials[chunk.rows]
    score = np.full((len(own), n_states, k), -np.inf)
    back = np.zeros((len(own), n_states, k), dtype=np.int32)
    start, stop = chunk.steps[0]
    score[start:stop, :, 0] = own[start:stop]
    block = max(1, MOST_CELLS // (n_states * n_states * k))
    for (start, _), (begin, end) in zip(chunk.steps, chunk.steps[1:], strict=False):
        for first in range(begin, end, block):
            last = min(first + block, end)
            before = score[start + first - begin : start + last - begin]
            ways = (before[:, None] + into[None, :, :, None]).reshape(last - first, n_states, -1)
            best = _largest(ways, k)
            back[first:last] = best
            score[first:last] = np.take_along_axis(ways, best, axis=2) + own[first:last, :, None]
    return score, back


def _largest(values: Array, k: int) -> Array:
    """Return where the k largest values along the last axis are, largest first."""
    if k < values.shape[-1]:
        part = np.sort(np.argpartition(values, -k, axis=-1)[..., -k:], axis=-1)
        order = np.argsort(-np.take_along_axis(values, part, axis=-1), axis=-1, kind="stable")
        return np.take_along_axis(part, order, axis=-1)
    return np.argsort(-values, axis=-1, kind="stable")[..., :k]


def _trace(
    rows: Array, score: Array, back: Array, log_normalizer: float
) -> list[tuple[Array, float]]:
    """Follow the back pointers of one sentence, whose packed rows are given in order."""
    k = score.shape[2]
    last = score[rows[-1]].ravel()
    ends = _largest(last, k)
    ends = ends[np.isfinite(last[ends])]
    place = ends
    paths = np.empty((len(ends), len(rows)), dtype=np.intp)
    for t in range(len(rows) - 1, -1, -1):
        state, way = np.divmod(place, k)
        paths[:, t] = state
        place = back[rows[t], state, way]
    proba = np.minimum(np.exp(last[ends] - log_normalizer), 1.0)
    return list(zip(paths, proba.tolist(), strict=True))
