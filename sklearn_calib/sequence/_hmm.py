"""A hidden Markov model that learns from tagged sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_number, check_option
from sklearn_calib._validation_sequences import (
    check_observations,
    check_tag_names,
    check_tagged_sentences,
    check_tokens,
    check_vocabulary,
    flatten,
)
from sklearn_calib.sequence._packing import starts_of
from sklearn_calib.sequence._tagger import SequenceTagger
from sklearn_calib.sequence._unknown_words import UNKNOWN, learn_signatures, signatures

__all__ = ["HMMTagger", "import_hmm"]


class HMMTagger(SequenceTagger):
    """Hidden Markov model for tagging, with exact tag and tag-pair marginals.

    Start, transition and emission probabilities are relative frequencies in
    the training sentences, with pseudocounts added. The model is kept as an
    `hmmlearn.hmm.CategoricalHMM`. Needs the extra `hmm`.

    Parameters
    ----------
    transition_pseudocount : float, default=1.0
        Added to the count of each first tag and of each transition.
    emission_pseudocount : float, default=1.0
        Added to the count of each word in each tag.
    unknown : {"signature", "hapax", "uniform", "dirichlet"}, default="signature"
        What a word that was not seen in training says about its tag:
        "signature" looks at its ending and its kinds of characters, learned
        from words seen once; "hapax" treats it as the average word seen once;
        "uniform" lets the context decide; "dirichlet" gives it the pseudocount
        alone, which favours rare tags.

    Attributes
    ----------
    classes_ : ndarray of str of shape (n_tags,)
        The tags, sorted.
    pairs_ : list of (str, str)
        Tag pairs of the training sentences, most frequent first. For a wrapped
        model: all possible pairs, most probable first.
    hmm_ : hmmlearn model
        The hidden Markov model. Its states are the tags.
    vocabulary_ : dict of str to int
        The symbol of each word; symbols of unknown words follow the words.

    See Also
    --------
    CRFTagger : A conditional random field.
    AdaptiveBinCalibrationError : Scorer for the calibration of its marginals.

    Notes
    -----
    With a pseudocount a, the estimate of a probability is (count + a) divided
    by (total + a times the number of outcomes). That is the mean of the
    posterior under a symmetric Dirichlet(a) prior, and its mode (MAP) under
    Dirichlet(1 + a). hmmlearn names the latter: its `transmat_prior` and
    `startprob_prior` are 1 + a.

    Examples
    --------
    >>> from sklearn_calib.sequence import HMMTagger
    >>> X = [["the", "dog", "barks"], ["the", "cat"], ["dogs", "bark"]]
    >>> y = [["D", "N", "V"], ["D", "N"], ["N", "V"]]
    >>> tagger = HMMTagger(emission_pseudocount=0.1).fit(X, y)
    >>> tagger.predict([["the", "dogs", "bark"]])
    [['D', 'N', 'V']]
    >>> tagger.predict_proba([["the", "dogs"]]).shape
    (2, 3)
    >>> tagger.predict_proba([["the", "dogs"]], unit="pair", pairs=[("D", "N")]).round(2)
    array([[0.88]])
    """

    hmm_: Any
    vocabulary_: dict[str, int] | None

    def __init__(
        self,
        *,
        transition_pseudocount: float = 1.0,
        emission_pseudocount: float = 1.0,
        unknown: str = "signature",
    ) -> None:
        self.transition_pseudocount = transition_pseudocount
        self.emission_pseudocount = emission_pseudocount
        self.unknown = unknown

    def fit(self, X: Iterable[Sequence[Any]], y: Iterable[Sequence[str]]) -> HMMTagger:
        """Learn from tagged sentences.

        Parameters
        ----------
        X : list of lists of str
            The tokens of each sentence.
        y : list of lists of str
            Their tags.

        Returns
        -------
        HMMTagger
            The fitted tagger.
        """
        hmm = import_hmm()
        check_option(self.unknown, "unknown", UNKNOWN)
        a = check_number(self.transition_pseudocount, "transition_pseudocount")
        b = check_number(self.emission_pseudocount, "emission_pseudocount")
        sentences, tags = check_tagged_sentences(X, y)
        check_tokens(sentences)
        self._learn_tags(tags)
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.intp)
        words, codes = flatten(sentences), self._codes(flatten(tags))
        k = len(self.classes_)
        first = np.zeros(len(words), dtype=bool)
        first[starts_of(lengths)] = True
        start = np.bincount(codes[first], minlength=k).astype(float)
        later = np.flatnonzero(~first)
        steps = np.bincount(codes[later - 1] * k + codes[later], minlength=k * k)

        model = hmm.CategoricalHMM(n_components=k, init_params="", params="")
        model.startprob_ = _normalize(start + a)
        model.transmat_ = _normalize(steps.reshape(k, k) + a)
        model.emissionprob_ = self._learn_emissions(words, codes, b)
        model.n_features = model.emissionprob_.shape[1]
        self.hmm_ = model
        self._states = np.arange(k)
        self._unknown = self.unknown
        return self

    def _learn_emissions(self, words: list[str], codes: Array, pseudocount: float) -> Array:
        times = Counter(words)
        self.vocabulary_ = vocabulary = {word: i for i, word in enumerate(sorted(times))}
        v = len(vocabulary)
        hapax = [word for word, n in times.items() if n == 1]
        names = learn_signatures(hapax) if self.unknown == "signature" else ["<unknown>"]
        self._signatures = {name: v + i for i, name in enumerate(names)}
        symbols = np.array([vocabulary[word] for word in words])
        count = np.zeros((len(self.classes_), v + len(names)))
        np.add.at(count, (codes, symbols), 1.0)
        if self.unknown in ("signature", "hapax"):
            # A word seen once stands for all those that were not seen.
            once = set(hapax)
            at = [i for i, word in enumerate(words) if word in once]
            np.add.at(count, (codes[at], self._unknown_symbols([words[i] for i in at])), 1.0)
        if self.unknown != "uniform":
            return _normalize(count + pseudocount)
        # The same share for every tag says nothing about the tag.
        known = _normalize(count[:, :-1] + pseudocount)
        share = 1.0 / (len(words) + 1.0)
        return np.hstack([known * (1.0 - share), np.full((len(known), 1), share)])

    def _unknown_symbols(self, words: list[str]) -> Array:
        found = self._signatures
        symbols = (next(found[n] for n in signatures(word) if n in found) for word in words)
        return np.fromiter(symbols, dtype=np.intp, count=len(words))

    def _symbols(self, sentences: list[Any], vocabulary: dict[str, int]) -> Array:
        """Return the symbol of each token."""
        check_tokens(sentences)
        words: list[str] = flatten(sentences)
        get = vocabulary.get
        symbols = np.fromiter(map(get, words, repeat(-1)), np.intp, len(words))
        new = np.flatnonzero(symbols < 0)
        if len(new) and self._unknown != "error":
            unknown = [words[i] for i in new]
            distinct = list(dict.fromkeys(unknown))
            symbol = dict(zip(distinct, self._unknown_symbols(distinct), strict=True))
            symbols[new] = [symbol[word] for word in unknown]
        elif len(new):
            sentence = np.repeat(np.arange(len(sentences)), [len(s) for s in sentences])[new[0]]
            raise ValueError(
                f"Sentence {sentence} has the word {words[new[0]]!r}, which is not in the "
                "vocabulary of the wrapped model."
            )
        return symbols

    def _potentials(self, sentences: list[Any]) -> Array:
        with np.errstate(divide="ignore"):
            log_start = np.log(self.hmm_.startprob_)[self._states]
            if self.vocabulary_ is not None:
                symbols = self._symbols(sentences, self.vocabulary_)
                # Logarithms of the words that occur, each taken once.
                used = np.zeros(self.hmm_.emissionprob_.shape[1], dtype=bool)
                used[symbols] = True
                emission = np.ascontiguousarray(self.hmm_.emissionprob_[self._states][:, used].T)
                potentials = np.log(emission)[np.cumsum(used)[symbols] - 1]
            else:
                potentials = self._observed(sentences)
        lengths = np.array([len(sentence) for sentence in sentences])
        potentials[starts_of(lengths)] += log_start
        return potentials

    def _observed(self, sentences: list[Any]) -> Array:
        """Return the likelihoods of observations that the wrapped model takes as they are."""
        symbols = _takes_symbols(self.hmm_)
        # A model whose parameters were set by hand may lack n_features.
        n = getattr(self.hmm_, "n_features", None)
        n = self.hmm_.emissionprob_.shape[1] if symbols else n
        # hmmlearn itself would take the symbol -1 for the last one.
        rows = check_observations(sentences, n, symbols=symbols)
        # The point that hmmlearn's own models override; there is no public name for it.
        return np.ascontiguousarray(self.hmm_._compute_log_likelihood(rows)[:, self._states])

    @property
    def _log_transitions(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(self.hmm_.transmat_[np.ix_(self._states, self._states)])

    @classmethod
    def from_hmmlearn(
        cls,
        model: Any,
        classes: ArrayLike,
        vocabulary: Iterable[str] | Mapping[str, int] | None = None,
    ) -> HMMTagger:
        """Wrap a fitted hmmlearn model.

        Parameters
        ----------
        model : hmmlearn model
            Any fitted model of hmmlearn: categorical, Gaussian or another.
        classes : array-like of str of shape (n_components,)
            The tag of each hidden state.
        vocabulary : list of str or dict of str to int, default=None
            For a `CategoricalHMM` over words: the word of each symbol, or the
            symbol of each word. Without it, X holds what the model itself
            takes: a sequence of symbols or an array of features per sentence.

        Returns
        -------
        HMMTagger
            A fitted tagger that asks the model. Words outside the vocabulary
            are refused. A clone of it, as cross-validation makes one, is
            trained anew; `sklearn.frozen.FrozenEstimator` keeps it as it is.
        """
        names = check_tag_names(classes)
        n = getattr(model, "n_components", None)
        if n is None or not hasattr(model, "startprob_prior"):
            raise TypeError(f"A model of hmmlearn is needed, got {type(model).__name__}.")
        if len(names) != n:
            raise ValueError(f"The model has {n} hidden states, but classes names {len(names)}.")
        if not hasattr(model, "transmat_"):
            raise ValueError("The model has no transmat_: fit it first, or set its probabilities.")
        tagger = cls()
        tagger.hmm_ = model
        tagger._states = np.argsort(names)
        tagger._unknown = "error"
        tagger.classes_ = names[tagger._states]
        tagger.vocabulary_ = None
        if vocabulary is not None:
            if not _takes_symbols(model):
                raise ValueError(
                    f"A vocabulary goes with a model of symbols; {type(model).__name__} is none."
                )
            tagger.vocabulary_ = check_vocabulary(vocabulary, model.emissionprob_.shape[1])
        tagger.pairs_ = _probable_pairs(
            model.transmat_[np.ix_(tagger._states, tagger._states)], tagger.classes_
        )
        return tagger


def _takes_symbols(model: Any) -> bool:
    """Tell whether a model of hmmlearn observes symbols: plain, variational, or a subclass."""
    return any(base.__name__ == "BaseCategoricalHMM" for base in type(model).__mro__)


def _probable_pairs(transitions: Array, classes: Array) -> list[tuple[str, str]]:
    """Return the possible pairs, by their share in the long run."""
    share = np.full(len(classes), 1.0 / len(classes))
    for _ in range(100):
        # A step of the lazy chain, which does not oscillate.
        share = 0.5 * (share + share @ transitions)
    joint = share[:, None] * transitions
    names = classes.tolist()
    order = np.argsort(-joint, axis=None, kind="stable")
    rows, columns = np.unravel_index(order, joint.shape)
    return [
        (names[i], names[j]) for i, j in zip(rows, columns, strict=True) if transitions[i, j] > 0
    ]


def _normalize(count: Array) -> Array:
    """Return shares of the last axis; where nothing was seen, all are equal."""
    total = count.sum(axis=-1, keepdims=True)
    return np.where(total > 0, count, 1.0) / np.where(total > 0, total, count.shape[-1])


def import_hmm() -> Any:
    try:
        from hmmlearn import hmm
    except ImportError:
        raise ImportError(
            'HMMTagger needs hmmlearn, which is not installed: pip install "sklearn-calib[hmm]".'
        ) from None
    return hmm
