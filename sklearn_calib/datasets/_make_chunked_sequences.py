"""Simulated sentences with tagged spans, whose true model is known."""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import (
    Array,
    RandomState,
    check_generator,
    check_integer,
    check_number,
)
from sklearn_calib.datasets._make_tagged_sequences import TaggedSequences, draw_sentences

__all__ = ["make_chunked_sequences"]

_TYPES = ("PER", "LOC", "ORG", "MISC")


def make_chunked_sequences(
    n_sequences: int = 100,
    *,
    n_types: int = 3,
    n_words: int = 200,
    mean_length: float = 12.0,
    mean_span: float = 2.0,
    span_share: float = 0.3,
    word_concentration: float = 0.1,
    random_state: RandomState = None,
) -> TaggedSequences:
    """Simulate sentences with spans, such as names, that BIO tags mark.

    The model is a hidden Markov model in which an I- tag follows only the B-
    or I- tag of its type. How long a span goes on and where one begins is
    drawn for each type.

    Parameters
    ----------
    n_sequences : int, default=100
        Number of sentences.
    n_types : int, default=3
        Number of types of spans.
    n_words : int, default=200
        Number of different words.
    mean_length : float, default=12.0
        Mean number of words in a sentence; each has at least one.
    mean_span : float, default=2.0
        About how many words a span has.
    span_share : float, default=0.3
        Probability that a span begins at a word that is not inside one.
    word_concentration : float, default=0.1
        Parameter of the symmetric Dirichlet law of the words: the smaller, the
        more a word says about its tag.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    TaggedSequences
        The sentences, their tags, and the true model.

    See Also
    --------
    make_tagged_sequences : The same for tags without spans.
    sklearn_calib.sequence.span_probabilities : Exact probabilities of spans.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_chunked_sequences
    >>> data = make_chunked_sequences(200, random_state=0)
    >>> data
    Simulated: 200 sentences, 2,380 tokens, 7 tags
    >>> data.classes.tolist()
    ['B-LOC', 'B-ORG', 'B-PER', 'I-LOC', 'I-ORG', 'I-PER', 'O']
    >>> spans = data.true_tagger().predict_spans(data.X[:1])
    """
    check_integer(n_types, "n_types")
    if not check_number(mean_span, "mean_span") >= 1.0:
        raise ValueError(f"mean_span must be at least 1, got {mean_span!r}.")
    if not 0.0 < check_number(span_share, "span_share") < 1.0:
        raise ValueError(f"span_share must lie between 0 and 1, got {span_share!r}.")
    rng = check_generator(random_state)
    digits = len(str(n_types - 1))
    types = list(_TYPES[:n_types])
    if n_types > len(_TYPES):
        types = [f"T{i:0{digits}d}" for i in range(n_types)]
    types.sort()
    classes = np.array([f"B-{t}" for t in types] + [f"I-{t}" for t in types] + ["O"])
    start, transitions = _chain(n_types, mean_span, span_share, rng)
    return draw_sentences(
        classes,
        start,
        transitions,
        n_sequences=n_sequences,
        n_words=n_words,
        mean_length=mean_length,
        word_concentration=word_concentration,
        rng=rng,
    )


def _chain(
    n_types: int, mean_span: float, span_share: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return how a sentence starts, and how it goes on after each tag."""
    share = rng.dirichlet(np.full(n_types, 5.0))
    begin = np.concatenate([span_share * share, np.zeros(n_types), [1.0 - span_share]])
    transitions = np.tile(begin, (2 * n_types + 1, 1))
    # A span that goes on with probability 1 - 1/m has m words on the average; a beta law of
    # concentration 10 lets the types, and the first word of a span, differ.
    more = 1.0 - 1.0 / mean_span
    if more > 0.0:
        go_on = rng.beta(10.0 * more, 10.0 * (1.0 - more), size=2 * n_types)
        for row, p in enumerate(go_on):
            transitions[row] = (1.0 - p) * begin
            transitions[row, n_types + row % n_types] += p
    return begin, transitions
