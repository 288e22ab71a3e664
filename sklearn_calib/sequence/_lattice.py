"""Exact marginals of linear chains: forward-backward for anyone's scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._results import Columns, Result
from sklearn_calib._validation import Array
from sklearn_calib._validation_sequences import check_lattice, check_state_pairs
from sklearn_calib.sequence._log_recursions import log_backward, log_forward, softmax
from sklearn_calib.sequence._packing import chunks, pair_rows, starts_of
from sklearn_calib.sequence._scaled_recursions import Transitions, backward, forward
from sklearn_calib.sequence._vjp import marginals_vjp

__all__ = ["LatticeMarginals", "forward_backward", "marginals"]


@dataclass(frozen=True, eq=False, repr=False)
class LatticeMarginals(Result):
    """What `forward_backward` found.

    Attributes
    ----------
    proba : ndarray of shape (n_tokens, n_states)
        Probability of each state of each token, given the whole sequence.
    pair_proba : ndarray of shape (n_tokens - n_sequences, n_pairs) or None
        Probability of each chosen pair of states at two neighbours: one row for
        each token but the first of a sequence, in the order of the tokens.
    pairs : ndarray of int of shape (n_pairs, 2) or None
        The states of each column of `pair_proba`.
    expected_transitions : ndarray of shape (n_states, n_states) or None
        Expected number of each transition over all sequences.
    log_normalizer : ndarray of shape (n_sequences,)
        Log of the summed weight of all state sequences.

    See Also
    --------
    forward_backward : Makes this object.
    """

    proba: Array
    pair_proba: Array | None
    pairs: Array | None
    expected_transitions: Array | None
    log_normalizer: Array
    # Potentials, transitions and lengths: what `vjp` goes back to.
    _scores: tuple[Array, Array, Array] | None = None

    _shows_table = False

    def vjp(
        self, cotangent: ArrayLike, pair_cotangent: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Gradient of a function of the marginals with respect to the scores.

        Any function of the marginals, such as a loss of the probabilities of the
        true tags, can so be lowered by changing the scores that they come from.

        Parameters
        ----------
        cotangent : array-like of shape (n_tokens, n_states)
            The derivative of the function with respect to each entry of `proba`.
        pair_cotangent : array-like of shape (n_tokens - n_sequences, n_pairs), default=None
            The same for `pair_proba`, if the function depends on that, too.

        Returns
        -------
        log_potentials : ndarray of shape (n_tokens, n_states)
            The derivative with respect to each potential.
        log_transitions : ndarray of shape (n_states, n_states)
            The derivative with respect to each transition.

        Notes
        -----
        The derivative with respect to a score is a covariance under the chain,
        found by the expectation semiring of Li & Eisner (2009) in about the time
        of two forward-backward passes [1]_. The scores given to
        `forward_backward` are read again, as is `proba`: neither must have been
        changed since.
        A forbidden state or transition has the derivative 0.

        References
        ----------
        .. [1] Z. Li and J. Eisner (2009). First- and second-order expectation
           semirings with applications to minimum-risk training on translation
           forests. EMNLP.

        Examples
        --------
        The log of the probability of a tag, and a small step that raises it:

        >>> import numpy as np
        >>> from sklearn_calib.sequence import forward_backward
        >>> potentials = np.log([[0.5, 0.5], [0.9, 0.1]])
        >>> transitions = np.log([[0.8, 0.2], [0.2, 0.8]])
        >>> result = forward_backward(potentials, transitions)
        >>> cotangent = np.zeros((2, 2))
        >>> cotangent[0, 1] = 1 / result.proba[0, 1]
        >>> to_potentials, to_transitions = result.vjp(cotangent)
        >>> to_potentials.round(3)
        array([[-0.74 ,  0.74 ],
               [-0.208,  0.208]])
        >>> better = forward_backward(potentials + 0.1 * to_potentials, transitions)
        >>> bool(better.proba[0, 1] > result.proba[0, 1])
        True
        """
        if self._scores is None:
            raise ValueError("These marginals do not know their scores: use forward_backward.")
        slopes = _check_cotangent(cotangent, "cotangent", self.proba)
        pair_slopes = None
        if pair_cotangent is not None:
            if self.pair_proba is None:
                raise ValueError(
                    "pair_cotangent needs the pairs that it is about: pass pairs= to "
                    "forward_backward."
                )
            pair_slopes = _check_cotangent(pair_cotangent, "pair_cotangent", self.pair_proba)
        return marginals_vjp(
            *self._scores, self.proba, slopes, pairs=self.pairs, pair_cotangent=pair_slopes
        )

    def _sentence(self) -> str:
        n, k = self.proba.shape
        text = f"Marginals of {k:,} states: {n:,} tokens in {len(self.log_normalizer):,} sequences"
        return text if self.pairs is None else f"{text}; {len(self.pairs):,} pairs of states"

    def _columns(self) -> Columns:
        """Return one row per token, and one column per state."""
        return {f"state {j}": column for j, column in enumerate(self.proba.T)}


def forward_backward(
    log_potentials: ArrayLike,
    log_transitions: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    pairs: ArrayLike | Literal["all"] | None = None,
    expected_transitions: bool = False,
) -> LatticeMarginals:
    """Exact state and pair marginals of linear chains.

    A state sequence s of a sequence of tokens has the weight
    exp(sum of log_potentials[t, s[t]] + sum of log_transitions[s[t-1], s[t]]).
    Divided by the sum over all state sequences, that is its probability: an
    HMM's posterior and a linear-chain CRF both have this form.

    Parameters
    ----------
    log_potentials : array-like of shape (n_tokens, n_states)
        Score of each state of each token, the sequences end to end. Scores for
        starting or ending in a state belong to the first and last token. Minus
        infinity forbids a state.
    log_transitions : array-like of shape (n_states, n_states)
        Score of going from a state (row) to a state (column).
    lengths : array-like of int of shape (n_sequences,), default=None
        Length of each sequence; by default there is one.
    pairs : array-like of int of shape (n_pairs, 2) or "all", default=None
        Pairs of states whose joint probability at neighbouring tokens is wanted.
    expected_transitions : bool, default=False
        Whether to count the expected transitions.

    Returns
    -------
    LatticeMarginals
        The probabilities.

    See Also
    --------
    CRFTagger : A conditional random field that uses it.
    HMMTagger : A hidden Markov model that uses it.

    Notes
    -----
    Sequences are packed by length and processed in chunks, so that memory
    beyond the result stays bounded. Scores are shifted and rescaled; sequences
    in which that could lose a path are done in log space.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib.sequence import forward_backward
    >>> potentials = np.log([[0.5, 0.5], [0.9, 0.1]])
    >>> transitions = np.log([[0.8, 0.2], [0.2, 0.8]])
    >>> result = forward_backward(potentials, transitions, [2], pairs=[(0, 0)])
    >>> result
    Marginals of 2 states: 2 tokens in 1 sequences; 1 pairs of states
    >>> result.proba.round(3)
    array([[0.74, 0.26],
           [0.9 , 0.1 ]])
    >>> result.pair_proba.round(3)
    array([[0.72]])
    """
    potentials, transitions, length = check_lattice(log_potentials, log_transitions, lengths)
    states: Array | None
    if isinstance(pairs, str) and pairs == "all":
        states = np.indices(transitions.shape).reshape(2, -1).T
    else:
        states = None if pairs is None else check_state_pairs(pairs, len(transitions))
    found = marginals(
        potentials, transitions, length, pairs=states, expected_transitions=expected_transitions
    )
    return replace(found, _scores=(potentials, transitions, length))


def marginals(
    potentials: Array,
    log_transitions: Array,
    lengths: Array,
    *,
    pairs: Array | None = None,
    expected_transitions: bool = False,
    sequence_weight: Array | None = None,
    out: Array | None = None,
) -> LatticeMarginals:
    """Return the marginals of checked scores; `out` may be the potentials themselves.

    With `sequence_weight` the transitions of a sequence are expected so many times.
    """
    transitions = Transitions(log_transitions)
    k = len(log_transitions)
    proba = np.empty_like(potentials) if out is None else out
    log_normalizer = np.empty(len(lengths))
    pair_proba = None
    if pairs is not None:
        pair_proba = np.empty((len(potentials) - len(lengths), len(pairs)))
    expected = np.zeros((k, k)) if expected_transitions else None
    starts = starts_of(lengths)
    for chunk in chunks(lengths):
        found = forward(chunk, potentials, transitions)
        joint = pairs is not None or expected is not None
        gamma, v, flagged = backward(chunk, found, transitions, keep_alpha=joint)
        log_normalizer[chunk.sentences] = found.log_normalizer
        # Read before the rows are written: `out` may share memory with the potentials.
        redo = {
            sentence: potentials[starts[sentence] : starts[sentence] + lengths[sentence]].copy()
            for sentence in chunk.sentences[flagged].tolist()
        }
        proba[chunk.rows] = gamma
        if joint:
            # The rows that have a token before them come last: a slice of them is no copy.
            before, after = chunk.before, v[chunk.steps[0][1] :]
            rank = chunk.rank[chunk.steps[0][1] :]
            keep = None
            if len(flagged):
                keep = ~np.isin(rank, flagged)
                before, after, rank = before[keep], after[keep], rank[keep]
            alpha = found.alpha.take(before, axis=0)
            if pair_proba is not None and pairs is not None:
                rows = pair_rows(chunk) if keep is None else pair_rows(chunk)[keep]
                pair_proba[rows] = _pair_columns(alpha, after, transitions.weights, pairs)
            if expected is not None:
                if sequence_weight is not None:
                    alpha *= sequence_weight[chunk.sentences[rank], np.newaxis]
                expected += transitions.weights * (alpha.T @ after)
        for sentence, own in redo.items():
            where = slice(starts[sentence], starts[sentence] + lengths[sentence])
            alpha, log_normalizer[sentence] = log_forward(own, log_transitions, sentence)
            beta = log_backward(own, log_transitions)
            proba[where] = [softmax(row) for row in alpha + beta]
            if joint:
                part = None if pair_proba is None else pair_proba[_rows_of(where, sentence)]
                times = 1.0 if sequence_weight is None else float(sequence_weight[sentence])
                after = own[1:] + beta[1:]
                _log_pairs(alpha[:-1], after, log_transitions, pairs, part, expected, times)
    return LatticeMarginals(proba, pair_proba, pairs, expected, log_normalizer)


def _check_cotangent(values: ArrayLike, name: str, marginal: Array) -> Array:
    """Return derivatives that are finite, one for each marginal."""
    try:
        slopes = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must hold numbers, got {values!r:.60}.") from None
    if slopes.shape != marginal.shape:
        raise ValueError(
            f"{name} should have the shape of the marginals, {marginal.shape}, and has "
            f"{slopes.shape}."
        )
    if not np.isfinite(slopes).all():
        where = tuple(int(i[0]) for i in np.nonzero(~np.isfinite(slopes)))
        raise ValueError(f"{name} has the value {slopes[where]} at {where}; it must be finite.")
    return slopes


def _rows_of(tokens: slice, sentence: int) -> slice:
    return slice(tokens.start - sentence, tokens.stop - sentence - 1)


def _pair_columns(alpha: Array, v: Array, weights: Array, pairs: Array) -> Array:
    first, second = pairs[:, 0], pairs[:, 1]
    columns = alpha.take(first, axis=1)
    columns *= weights[first, second]
    columns *= v.take(second, axis=1)
    return np.minimum(columns, 1.0, out=columns)


def _log_pairs(
    alpha: Array,
    after: Array,
    log_transitions: Array,
    pairs: Array | None,
    pair_proba: Array | None,
    expected: Array | None,
    times: float,
) -> None:
    """Fill in the pairs of a sentence that was done in log space."""
    for t in range(len(alpha)):
        joint = softmax(alpha[t][:, None] + log_transitions + after[t])
        if pairs is not None and pair_proba is not None:
            pair_proba[t] = joint[pairs[:, 0], pairs[:, 1]]
        if expected is not None:
            expected += times * joint
