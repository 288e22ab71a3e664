"""Simulated tagged sentences whose true model is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_calib._validation import Array, check_generator, check_integer, check_number
from sklearn_calib.datasets._corpus import Dataset, TokenTable
from sklearn_calib.sequence import HMMTagger
from sklearn_calib.sequence._hmm import import_hmm

__all__ = ["TaggedSequences", "draw_sentences", "make_tagged_sequences"]


@dataclass(frozen=True, eq=False, repr=False)
class TaggedSequences(TokenTable, Dataset):
    """Tagged sentences with the hidden Markov model that made them.

    Attributes
    ----------
    X : list of lists of str
        The words of each sentence.
    y : list of lists of str
        Their tags.
    classes : ndarray of str of shape (n_tags,)
        The tags.
    vocabulary : list of str
        The words that the model can emit.
    start : ndarray of shape (n_tags,)
        Probability of the first tag.
    transitions : ndarray of shape (n_tags, n_tags)
        Probability of the next tag (column), given a tag (row).
    emissions : ndarray of shape (n_tags, n_words)
        Probability of a word, given its tag.

    See Also
    --------
    make_tagged_sequences : Makes this object.
    make_chunked_sequences : Makes this object, with tags that mark spans.
    """

    X: list[list[str]]
    y: list[list[str]]
    classes: Array
    vocabulary: list[str]
    start: Array
    transitions: Array
    emissions: Array

    def _sentence(self) -> str:
        return f"Simulated: {self._counts()}"

    def true_tagger(self) -> HMMTagger:
        """Return the model that made the data, as a tagger: its marginals are calibrated."""
        model = import_hmm().CategoricalHMM(len(self.classes), init_params="", params="")
        model.startprob_, model.transmat_ = self.start, self.transitions
        model.emissionprob_ = self.emissions
        model.n_features = len(self.vocabulary)
        return HMMTagger.from_hmmlearn(model, self.classes, self.vocabulary)


def make_tagged_sequences(
    n_sequences: int = 100,
    *,
    n_tags: int = 5,
    n_words: int = 200,
    mean_length: float = 10.0,
    tag_concentration: float = 0.5,
    word_concentration: float = 0.1,
    random_state: Any = None,
) -> TaggedSequences:
    """Simulate tagged sentences from a random hidden Markov model.

    Parameters
    ----------
    n_sequences : int, default=100
        Number of sentences.
    n_tags : int, default=5
        Number of tags.
    n_words : int, default=200
        Number of different words.
    mean_length : float, default=10.0
        Mean number of words in a sentence; each has at least one.
    tag_concentration : float, default=0.5
        Parameter of the symmetric Dirichlet law of the transitions: the
        smaller, the more a tag says about the next.
    word_concentration : float, default=0.1
        The same for the words: the smaller, the more a word says about its tag.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    TaggedSequences
        The sentences, their tags, and the true model.

    See Also
    --------
    make_chunked_sequences : Sentences with spans, such as names.
    HMMTagger : A tagger of the same family.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_tagged_sequences
    >>> data = make_tagged_sequences(3, n_tags=2, mean_length=4, random_state=0)
    >>> data
    Simulated: 3 sentences, 10 tokens, 2 tags
    >>> data.classes
    array(['A', 'B'], dtype='<U1')
    """
    check_integer(n_sequences, "n_sequences")
    k = check_integer(n_tags, "n_tags")
    check_integer(n_words, "n_words")
    check_number(tag_concentration, "tag_concentration", positive=True)
    rng = check_generator(random_state)
    letters = [chr(ord("A") + i) for i in range(26)]
    return draw_sentences(
        np.array(letters[:k] if k <= 26 else _names("T", k)),
        rng.dirichlet(np.ones(k)),
        rng.dirichlet(np.full(k, float(tag_concentration)), size=k),
        n_sequences=n_sequences,
        n_words=n_words,
        mean_length=mean_length,
        word_concentration=word_concentration,
        rng=rng,
    )


def draw_sentences(
    classes: Array,
    start: Array,
    transitions: Array,
    *,
    n_sequences: int,
    n_words: int,
    mean_length: float,
    word_concentration: float,
    rng: np.random.Generator,
) -> TaggedSequences:
    """Draw emissions, then sentences, for a chain of tags."""
    n, k = check_integer(n_sequences, "n_sequences"), len(classes)
    v = check_integer(n_words, "n_words")
    check_number(word_concentration, "word_concentration", positive=True)
    if not mean_length >= 1.0:
        raise ValueError(f"mean_length must be at least 1, got {mean_length!r}.")
    emissions = rng.dirichlet(np.full(v, float(word_concentration)), size=k)
    lengths = 1 + rng.poisson(mean_length - 1.0, size=n)
    # All sentences take a step at the same time; those that have ended are cut off below.
    tags = np.empty((n, lengths.max()), dtype=np.intp)
    tags[:, 0] = rng.choice(k, size=n, p=start)
    upto = np.cumsum(transitions, axis=1)
    for t in range(1, tags.shape[1]):
        tags[:, t] = _inverse(upto[tags[:, t - 1]], rng.random(n))
    words = np.empty_like(tags)
    for tag, share in enumerate(np.cumsum(emissions, axis=1)):
        here = tags == tag
        u = rng.random(np.count_nonzero(here))
        words[here] = np.minimum(np.searchsorted(share, u, side="right"), v - 1)
    vocabulary = _names("w", v)
    return TaggedSequences(
        [[vocabulary[i] for i in row[:m]] for row, m in zip(words, lengths, strict=True)],
        [classes[row[:m]].tolist() for row, m in zip(tags, lengths, strict=True)],
        classes,
        vocabulary,
        start,
        transitions,
        emissions,
    )


def _names(letter: str, n: int) -> list[str]:
    """Return n numbered names that sort by number."""
    return [f"{letter}{i:0{len(str(n - 1))}d}" for i in range(n)]


def _inverse(cumulative: Array, u: Array) -> Array:
    """Return the first entry whose cumulative share exceeds u."""
    return np.minimum((cumulative <= u[..., None]).sum(axis=-1), cumulative.shape[-1] - 1)
