"""What every sequence tagger shares: from scores of a lattice to tags, marginals and queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklearn_calib._validation import (
    Array,
    check_generator,
    check_integer,
    check_option,
    check_sample_weight,
)
from sklearn_calib._validation_sequences import (
    check_sentences,
    check_tag_pairs,
    check_tags,
    flatten,
)
from sklearn_calib._version import VersionedEstimator
from sklearn_calib.queries._classifier import AVERAGES
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._span_schemes import SchemeTags, read_scheme
from sklearn_calib.queries._spans import SpanQuestions
from sklearn_calib.queries._tags import UNITS, TagQuestions
from sklearn_calib.sequence._k_best import k_best_paths
from sklearn_calib.sequence._lattice import marginals
from sklearn_calib.sequence._packing import starts_of
from sklearn_calib.sequence._paths import best_paths, sample_paths
from sklearn_calib.sequence._spans import (
    MIN_PROBA,
    SentenceSpans,
    check_min_proba,
    find_spans,
)

__all__ = ["SequenceTagger", "frequent_pairs"]

METHODS = ("viterbi", "marginal")

# What `pairs` may be: how many, or which.
Pairs = int | Iterable[tuple[str, str]]


def frequent_pairs(y: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Return the tag pairs of neighbours, most frequent first, equal counts in order of name."""
    count = Counter(pair for tags in y for pair in pairwise(tags))
    return sorted(count, key=lambda pair: (-count[pair], pair))


class SequenceTagger(VersionedEstimator, ABC):
    """A tagger whose posterior is a linear chain.

    X holds one entry per sentence, so that cross-validation moves whole
    sentences. It is not a classifier in scikit-learn's sense, which has one
    label for each entry of X.
    """

    classes_: Array
    pairs_: list[tuple[str, str]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        tags.no_validation = True
        return tags

    @abstractmethod
    def _potentials(self, sentences: list[Any]) -> Array:
        """Return a new array of log potentials, a row for each token of checked sentences."""

    @property
    @abstractmethod
    def _log_transitions(self) -> Array:
        """Log transition scores, in the order of `classes_`."""

    @property
    def log_transitions_(self) -> Array:
        """Score of going from a tag (row) to a tag (column), in the order of `classes_`."""
        check_is_fitted(self, "classes_")
        return self._log_transitions.copy()

    def log_potentials(self, X: Iterable[Sequence[Any]]) -> Array:
        """Return the score of each tag of each token.

        With `log_transitions_` they are all that the posterior depends on.
        Whoever has further knowledge, such as a list of names or tags that
        must not follow each other, changes them (minus infinity forbids) and
        passes both on to `forward_backward`, `viterbi`, `sample_sequences`,
        `k_best_sequences` or `span_probabilities`.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_tokens, n_tags)
            One row per token, sentences end to end, and one column for each of
            `classes_`. Scores for starting or ending in a tag are part of the
            first and last row of a sentence.
        """
        sentences, _ = self._check(X)
        return self._potentials(sentences)

    def _learn_tags(self, y: Sequence[Sequence[str]]) -> None:
        self.classes_ = np.unique(flatten(y))
        self.pairs_ = frequent_pairs(y)

    def _check(self, X: Iterable[Sequence[Any]]) -> tuple[list[Any], Array]:
        """Return the sentences and their lengths: the door of every method."""
        check_is_fitted(self, "classes_")
        sentences = check_sentences(X)
        return sentences, np.array([len(sentence) for sentence in sentences], dtype=np.intp)

    def _check_pairs(self, unit: str, pairs: Pairs | None) -> list[tuple[str, str]] | None:
        """Return the pairs that are asked about, or None for single tags."""
        if unit == "span":
            raise ValueError(
                "unit='span' has no table of probabilities: predict_spans returns the spans, and "
                "calibration_queries takes unit='span'."
            )
        check_option(unit, "unit", UNITS)
        if unit == "tag":
            if pairs is not None:
                raise ValueError(
                    f"pairs={pairs!r} is set, but unit='tag'; set unit='pair' as well."
                )
            return None
        chosen = check_tag_pairs(pairs, self.pairs_, self.classes_)
        if not chosen:
            raise ValueError(
                "The tagger knows no pair of tags: its training sentences had a single token each, "
                "or its model has no transitions. Name the pairs to ask about."
            )
        return chosen

    def _marginals(
        self, sentences: list[Any], lengths: Array, pairs: list[tuple[str, str]] | None
    ) -> Array:
        """Return the marginals of tags, or of some pairs of tags, of checked sentences."""
        potentials = self._potentials(sentences)
        codes = None if pairs is None else np.searchsorted(self.classes_, pairs).reshape(-1, 2)
        found = marginals(potentials, self._log_transitions, lengths, pairs=codes, out=potentials)
        return found.proba if found.pair_proba is None else found.pair_proba

    def predict(self, X: Iterable[Sequence[Any]], *, method: str = "viterbi") -> list[list[str]]:
        """Predict the tags of each sentence.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        method : {"viterbi", "marginal"}, default="viterbi"
            The most probable tag sequence, or the most probable tag of each
            token, which has the fewest wrong tags to be expected.

        Returns
        -------
        list of lists of str
            One tag per token.
        """
        sentences, lengths = self._check(X)
        check_option(method, "method", METHODS)
        potentials = self._potentials(sentences)
        if method == "viterbi":
            codes = best_paths(potentials, self._log_transitions, lengths)
        else:
            result = marginals(potentials, self._log_transitions, lengths, out=potentials)
            codes = result.proba.argmax(axis=1)
        flat = self.classes_[codes].tolist()
        starts = starts_of(lengths)
        return [flat[s : s + n] for s, n in zip(starts, lengths, strict=True)]

    def predict_proba(
        self, X: Iterable[Sequence[Any]], *, unit: str = "tag", pairs: Pairs | None = None
    ) -> Array:
        """Predict exact marginal probabilities.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        unit : {"tag", "pair"}, default="tag"
            Probabilities of single tags, or of the tags of two neighbours.
        pairs : int or list of (str, str), default=None
            For `unit="pair"`: so many of the first of `pairs_` (all, if there
            are fewer), or the pairs named; by default all of `pairs_`. Pairs
            that training lacked are not among them.

        Returns
        -------
        ndarray of shape (n_tokens, n_tags) or (n_tokens - n_sentences, n_pairs)
            One row per token, sentences end to end, and one column for each of
            `classes_`. For pairs, one row for each token but the first of a
            sentence: the pair that it ends.
        """
        sentences, lengths = self._check(X)
        return self._marginals(sentences, lengths, self._check_pairs(unit, pairs))

    def predict_log_proba(
        self, X: Iterable[Sequence[Any]], *, unit: str = "tag", pairs: Pairs | None = None
    ) -> Array:
        """Predict the logarithms of exact marginal probabilities.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        unit : {"tag", "pair"}, default="tag"
            As in `predict_proba`.
        pairs : int or list of (str, str), default=None
            As in `predict_proba`.

        Returns
        -------
        ndarray
            Of the shape of `predict_proba`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, unit=unit, pairs=pairs))

    def predict_spans(
        self, X: Iterable[Sequence[Any]], *, min_proba: float = MIN_PROBA, scheme: str = "auto"
    ) -> SentenceSpans:
        """Predict spans, such as entities or chunks, with exact probabilities.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        min_proba : float, default=0.01
            Return all spans with this probability or a larger one; 0 asks for
            every possible span.
        scheme : {"auto", "BIO", "BIOES", "BILOU", "IO"}, default="auto"
            How tags spell spans, as in `span_probabilities`, which says what
            each scheme takes for a span; "auto" looks at the prefixes of
            `classes_`.

        Returns
        -------
        SentenceSpans
            For each sentence a list of its spans (`Span`), most probable first.
            They may overlap: the probabilities of two that do add up to at most
            1. `to_frame` has all spans as one table.
        """
        sentences, lengths = self._check(X)
        tags, least = self._scheme_tags(scheme), check_min_proba(min_proba)
        return self._spans(sentences, lengths, tags, least)

    def _scheme_tags(self, scheme: str) -> SchemeTags:
        return read_scheme(self.classes_.tolist(), scheme)

    def _spans(
        self, sentences: list[Any], lengths: Array, tags: SchemeTags, min_proba: float
    ) -> SentenceSpans:
        potentials = self._potentials(sentences)
        return find_spans(
            potentials, self._log_transitions, lengths, tags, min_proba, out=potentials
        )

    def predict_k_best(
        self, X: Iterable[Sequence[Any]], k: int
    ) -> list[list[tuple[list[str], float]]]:
        """Predict the k most probable tag sequences with exact probabilities.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        k : int
            How many tag sequences to return for each sentence.

        Returns
        -------
        list of lists of (list of str, float)
            For each sentence its k most probable tag sequences, each with its
            probability, most probable first. Where fewer than k are possible,
            these.
        """
        sentences, lengths = self._check(X)
        most = check_integer(k, "k")
        paths = k_best_paths(self._potentials(sentences), self._log_transitions, lengths, most)
        return [[(self.classes_[codes].tolist(), proba) for codes, proba in own] for own in paths]

    def log_likelihood(self, X: Iterable[Sequence[Any]], y: Iterable[Sequence[str]]) -> Array:
        """Return the log probability of each tag sequence, given its sentence.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        y : list of lists of str
            Tags of each sentence.

        Returns
        -------
        ndarray of shape (n_sentences,)
            Minus infinity where a tag is unknown to the tagger.
        """
        sentences, lengths = self._check(X)
        tags = check_tags(y, lengths=lengths)
        codes = self._codes(flatten(tags))
        known = np.maximum(codes, 0)
        potentials = self._potentials(sentences)
        score = potentials[np.arange(len(codes)), known]
        starts = starts_of(lengths)
        later = np.ones(len(codes), dtype=bool)
        later[starts] = False
        step = np.flatnonzero(later)
        score[step] += self._log_transitions[known[step - 1], known[step]]
        score[codes < 0] = -np.inf
        result = marginals(potentials, self._log_transitions, lengths, out=potentials)
        return np.add.reduceat(score, starts) - result.log_normalizer

    def sample(
        self, X: Iterable[Sequence[Any]], n_samples: int = 1, *, random_state: Any = None
    ) -> list[Array]:
        """Draw whole tag sequences from the posterior.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        n_samples : int, default=1
            Number of draws of each sentence.
        random_state : int, RandomState, Generator or None, default=None
            Seed.

        Returns
        -------
        list of ndarray of shape (n_samples, n_tokens)
            For each sentence its draws, one per row.
        """
        sentences, lengths = self._check(X)
        check_integer(n_samples, "n_samples")
        rng = check_generator(random_state)
        potentials = self._potentials(sentences)
        codes = sample_paths(potentials, self._log_transitions, lengths, n_samples, rng)
        starts = starts_of(lengths)
        return [self.classes_[codes[:, s : s + n]] for s, n in zip(starts, lengths, strict=True)]

    def score(
        self,
        X: Iterable[Sequence[Any]],
        y: Iterable[Sequence[str]],
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the share of tokens whose predicted tag is right.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        y : list of lists of str
            True tags.
        sample_weight : array-like of shape (n_sentences,), default=None
            Weights of the sentences.

        Returns
        -------
        float
            Accuracy of the most probable tag sequences.
        """
        predicted = self.predict(X)
        lengths = [len(row) for row in predicted]
        tags = check_tags(y, lengths=lengths)
        right = np.array(flatten(predicted)) == np.array(flatten(tags))
        weight = check_sample_weight(sample_weight, len(tags), of="sentences")
        if weight is not None:
            weight = np.repeat(weight, lengths)
        return float(np.average(right, weights=weight))

    def calibration_questions(
        self,
        X: Iterable[Sequence[Any]],
        *,
        unit: str = "tag",
        pairs: Pairs | None = None,
        min_proba: float | None = None,
        scheme: str | None = None,
        average: str = "micro",
        pos_label: str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> TagQuestions | SpanQuestions:
        """Predict once, and return the questions, to be answered by any tags.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        unit : {"tag", "pair", "span"}, default="tag"
            Ask about single tags, about the tags of two neighbours, or about
            spans of tokens, such as entities.
        pairs : int or list of (str, str), default=None
            As in `predict_proba`.
        min_proba : float, default=None
            For `unit="span"`: ask about the spans with this probability or a
            larger one; 0.01 by default.
        scheme : {"auto", "BIO", "BIOES", "BILOU", "IO"}, default=None
            For `unit="span"`: how tags spell spans, as in `predict_spans`;
            "auto" by default.
        average : {"micro", "macro", "top_label"}, default="micro"
            As in `tag_queries`.
        pos_label : str, default=None
            As in `tag_queries`.
        sample_weight : array-like of shape (n_sentences,), default=None
            Weights of the sentences.

        Returns
        -------
        TagQuestions or SpanQuestions
            Its method `answer` takes the tags of the sentences and returns
            Queries. For spans it has `missed_share` as well: the share of true
            spans that are not asked about, because they are below `min_proba`.
        """
        sentences, lengths = self._check(X)
        if unit == "span":
            _refuse_tag_options(pairs=pairs, average=average, pos_label=pos_label)
            tags = self._scheme_tags("auto" if scheme is None else scheme)
            least = check_min_proba(MIN_PROBA if min_proba is None else min_proba)
            found = self._spans(sentences, lengths, tags, least).most_probable_first()
            return SpanQuestions(
                found.sentence,
                found.start,
                found.stop,
                found.kind,
                found.proba,
                lengths,
                types=found.types,
                scheme=tags.scheme,
                sample_weight=sample_weight,
            )
        for name, value in (("min_proba", min_proba), ("scheme", scheme)):
            if value is not None:
                raise ValueError(
                    f"{name}={value!r} is set, but unit={unit!r}; set unit='span' as well."
                )
        chosen = self._check_pairs(unit, pairs)
        return TagQuestions(
            self._marginals(sentences, lengths, chosen),
            lengths,
            classes=self.classes_,
            pairs=chosen,
            average=average,
            pos_label=pos_label,
            sample_weight=sample_weight,
        )

    def calibration_queries(
        self,
        X: Iterable[Sequence[Any]],
        y: Iterable[Sequence[str]],
        *,
        unit: str = "tag",
        pairs: Pairs | None = None,
        min_proba: float | None = None,
        scheme: str | None = None,
        average: str = "micro",
        pos_label: str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Queries:
        """Return the yes/no questions that the tagger answers about sentences.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        y : list of lists of str
            True tags.
        unit : {"tag", "pair", "span"}, default="tag"
            Ask about single tags, about the tags of two neighbours, or about
            spans of tokens, such as entities.
        pairs : int or list of (str, str), default=None
            As in `predict_proba`.
        min_proba : float, default=None
            For `unit="span"`: ask about the spans with this probability or a
            larger one; 0.01 by default.
        scheme : {"auto", "BIO", "BIOES", "BILOU", "IO"}, default=None
            For `unit="span"`: how tags spell spans, as in `predict_spans`;
            "auto" by default.
        average : {"micro", "macro", "top_label"}, default="micro"
            As in `tag_queries`.
        pos_label : str, default=None
            As in `tag_queries`.
        sample_weight : array-like of shape (n_sentences,), default=None
            Weights of the sentences.

        Returns
        -------
        Queries
            The label of a query is its tag, its pair or the type of its span,
            its group the sentence.
        """
        questions = self.calibration_questions(
            X,
            unit=unit,
            pairs=pairs,
            min_proba=min_proba,
            scheme=scheme,
            average=average,
            pos_label=pos_label,
            sample_weight=sample_weight,
        )
        return questions.answer(y)

    def _codes(self, tags: list[str]) -> Array:
        """Return the column of each tag; -1 for one that was not seen in training."""
        index = {tag: code for code, tag in enumerate(self.classes_.tolist())}
        return np.array([index.get(tag, -1) for tag in tags], dtype=np.intp)


def _refuse_tag_options(*, pairs: Pairs | None, average: str, pos_label: str | None) -> None:
    """Refuse options that say nothing about spans."""
    if pairs is not None:
        raise ValueError(f"pairs={pairs!r} is set, but unit='span'; pairs go with unit='pair'.")
    if pos_label is not None:
        raise ValueError("pos_label does not apply to unit='span': every span is asked about.")
    check_option(average, "average", AVERAGES)
    if average == "top_label":
        raise ValueError(
            "average='top_label' does not apply to unit='span': a token has one tag, but any "
            "number of spans. Raise min_proba to ask about probable spans only."
        )
