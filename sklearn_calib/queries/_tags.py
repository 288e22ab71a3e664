"""How the marginals of a sequence tagger become queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import (
    Array,
    check_option,
    check_probabilities,
    check_sample_weight,
    check_y_prob,
)
from sklearn_calib._validation_sequences import (
    check_tag_names,
    check_tag_pairs,
    check_tags,
    flatten,
)
from sklearn_calib.queries._classifier import AVERAGES
from sklearn_calib.queries._queries import Queries, object_array

__all__ = ["UNITS", "TagQuestions", "tag_queries"]

UNITS = ("tag", "pair")


def tag_queries(
    y: Iterable[Sequence[str]],
    y_prob: ArrayLike,
    *,
    classes: ArrayLike,
    unit: str = "tag",
    pairs: Sequence[tuple[str, str]] | None = None,
    average: str = "micro",
    pos_label: str | None = None,
    sample_weight: ArrayLike | None = None,
) -> Queries:
    """Turn the marginals of a sequence tagger into queries.

    For `unit="tag"` there is a query for each token and tag: is this token NN?
    For `unit="pair"` there is one for each two neighbours and each pair: are
    these two tokens DT NN? The marginals may come from any tagger.

    Parameters
    ----------
    y : list of lists of str
        The true tags of each sentence. Tags that the tagger never met are
        allowed: it gave them probability 0, and their queries say so.
    y_prob : array-like of shape (n_tokens, n_tags) or (n_neighbours, n_pairs)
        Marginal probabilities, one row per token, sentences end to end. For
        `unit="pair"` one row for each token but the first of a sentence: the
        pair that it ends.
    classes : array-like of str of shape (n_tags,)
        The tag of each column; for pairs, the tags that may occur in them.
    unit : {"tag", "pair"}, default="tag"
        What a query asks about.
    pairs : list of (str, str), default=None
        For `unit="pair"`: the pair of each column of `y_prob`.
    average : {"micro", "macro", "top_label"}, default="micro"
        "top_label" asks only whether the most probable tag, or pair, is the
        right one.
    pos_label : str, default=None
        With two tags, the positive one; by default the last.
    sample_weight : array-like of shape (n_sentences,), default=None
        Weights of the sentences.

    Returns
    -------
    Queries
        The label of a query is its tag or pair, its group the sentence.

    See Also
    --------
    classifier_queries : The same for a classifier.
    label_calibration : Calibration of each tag or pair on its own.

    Examples
    --------
    >>> from sklearn_calib import tag_queries
    >>> y = [["DT", "NN"], ["NN"]]
    >>> proba = [[0.8, 0.2], [0.1, 0.9], [0.4, 0.6]]
    >>> tag_queries(y, proba, classes=["DT", "NN"])
    <Queries: 3 queries, 2 of them true, 1 label, 2 groups>
    >>> tag_queries(y, [[0.75]], classes=["DT", "NN"], unit="pair", pairs=[("DT", "NN")])
    <Queries: 1 query, 1 of them true, 1 label, 1 group>
    """
    check_option(unit, "unit", UNITS)
    sentences = check_tags(y)
    names = check_tag_names(classes)
    lengths = np.array([len(tags) for tags in sentences], dtype=np.intp)
    columns = None
    if unit == "pair":
        if pairs is None:
            raise TypeError("unit='pair' needs pairs: the pair of tags of each column of y_prob.")
        if isinstance(pairs, (str, int)):
            raise TypeError(
                f"pairs={pairs!r} must be a list: the pair of tags of each column of y_prob."
            )
        columns = check_tag_pairs(list(pairs), (), names)
        n = len(_row_sentences(lengths, of_pairs=True))
        proba = check_probabilities(y_prob, "y_prob")
        if proba.ndim != 2 or proba.shape[1] != len(columns):
            raise ValueError(
                f"y_prob must have a column for each of the {len(columns)} pairs; got shape "
                f"{proba.shape}."
            )
    elif pairs is not None:
        raise ValueError(f"pairs={pairs!r} is set, but unit={unit!r}; pairs go with unit='pair'.")
    else:
        n = len(_row_sentences(lengths, of_pairs=False))
        proba = check_y_prob(y_prob, names)
    if len(proba) != n:
        thing = "token" if columns is None else "pair of neighbours"
        raise ValueError(
            f"y_prob has {len(proba)} rows, but y has {n} of what a row stands for: one row for "
            f"each {thing}, sentences end to end."
        )
    questions = TagQuestions(
        proba,
        lengths,
        classes=names,
        pairs=columns,
        average=average,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
    return questions._answered(sentences)


def _row_sentences(lengths: Array, *, of_pairs: bool) -> Array:
    """Return the sentence of each row; one has a pair fewer than tokens."""
    sentence = np.repeat(np.arange(len(lengths)), lengths - of_pairs)
    if len(sentence) == 0:
        raise ValueError("Every sentence has a single token, so that there are no pairs of tags.")
    return sentence


class TagQuestions:
    """What a tagger says about some sentences, to be answered by any tags.

    `calibration_questions` of a tagger returns this object: the tagger has
    predicted once, and any number of truths can answer.

    Parameters
    ----------
    y_prob : ndarray of shape (n_tokens, n_tags) or (n_neighbours, n_pairs)
        Marginal probabilities, one row per token or per pair of neighbours,
        sentences end to end. They are taken as they are; `tag_queries` checks
        those of other taggers.
    lengths : ndarray of int of shape (n_sentences,)
        Number of tokens of each sentence.
    classes : ndarray of str of shape (n_tags,)
        The tags that the tagger knows.
    pairs : list of (str, str), default=None
        The pair of each column of `y_prob`, where it is about pairs.
    average : {"micro", "macro", "top_label"}, default="micro"
        As in `tag_queries`.
    pos_label : str, default=None
        As in `tag_queries`.
    sample_weight : array-like of shape (n_sentences,), default=None
        Weights of the sentences.

    See Also
    --------
    tag_queries : Questions and answers in one step, for any marginals.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib.queries import TagQuestions
    >>> proba = np.array([[0.8, 0.2], [0.1, 0.9], [0.4, 0.6]])
    >>> questions = TagQuestions(proba, np.array([2, 1]), classes=np.array(["DT", "NN"]))
    >>> questions
    <TagQuestions: 2 tags, 3 tokens, 2 sentences>
    >>> questions.answer([["DT", "NN"], ["NN"]]).y_true
    array([False,  True,  True])
    """

    def __init__(
        self,
        y_prob: Array,
        lengths: Array,
        *,
        classes: Array,
        pairs: Sequence[tuple[str, str]] | None = None,
        average: str = "micro",
        pos_label: str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        check_option(average, "average", AVERAGES)
        weight = check_sample_weight(sample_weight, len(lengths), of="sentences")
        if pairs is not None and pos_label is not None:
            raise ValueError("pos_label does not apply to unit='pair': every pair is asked about.")
        self._sentence = _row_sentences(lengths, of_pairs=pairs is not None)
        self._lengths = lengths
        self._proba = y_prob
        self._names = classes if pairs is None else object_array(pairs)
        self._of_pairs = pairs is not None
        self._average = average
        self._pos_label = pos_label
        self._weight = None if weight is None else weight[self._sentence]
        # A sentence of one token has no pairs, and leaves a gap in the numbers of the groups.
        self._numbered = pairs is None or bool(lengths.min() > 1)

    def __repr__(self) -> str:
        kind = "pairs of tags" if self._of_pairs else "tags"
        return (
            f"<TagQuestions: {len(self._names):,} {kind}, {self._lengths.sum():,} tokens, "
            f"{len(self._lengths):,} sentences>"
        )

    def answer(self, y: Iterable[Sequence[str]]) -> Queries:
        """Return the queries with the answers that some tags give.

        Parameters
        ----------
        y : list of lists of str
            Tags of each sentence.

        Returns
        -------
        Queries
            The label of a query is its tag or pair, its group the sentence.
        """
        return self._answered(check_tags(y, lengths=self._lengths))

    def _answered(self, tags: Sequence[Sequence[str]]) -> Queries:
        """Return the queries for tags that are known to fit."""
        true: list[Any] = flatten(map(pairwise, tags) if self._of_pairs else tags)
        column = {name: j for j, name in enumerate(self._names.tolist())}
        codes = np.fromiter(map(column.get, true, repeat(-1)), np.intp, len(true))
        if self._average == "top_label":
            # A true tag without a column is simply not the top one.
            top = self._proba.argmax(axis=1)
            return Queries._from_checked(
                codes == top,
                self._proba[np.arange(len(top)), top],
                codes=top,
                names=self._names,
                group=self._sentence,
                weight=self._weight,
                numbered=self._numbered,
            )
        unmet = set() if self._of_pairs else {true[i] for i in np.flatnonzero(codes < 0)}
        if unmet:
            return self._with_columns_for(unmet)._answered(tags)
        if not self._of_pairs and len(column) <= 2:
            positive = len(column) - 1
            if self._pos_label is not None:
                if self._pos_label not in column:
                    raise ValueError(
                        f"pos_label={self._pos_label!r} is not a valid label: it should be one of "
                        f"{self._names.tolist()}."
                    )
                positive = column[self._pos_label]
            return Queries._from_checked(
                codes == positive,
                self._proba[:, positive],
                codes=np.zeros(len(codes), dtype=np.intp),
                names=self._names[[positive]],
                group=self._sentence,
                weight=self._weight,
                numbered=self._numbered,
            )
        if self._pos_label is not None:
            raise ValueError(
                f"pos_label={self._pos_label!r} is set, but there are {len(column)} classes, and "
                "every one of them is asked about. Leave pos_label out."
            )
        y_prob, asked, group, weight = self._every_column
        answers = np.zeros(self._proba.shape, dtype=bool)
        met = np.flatnonzero(codes >= 0)
        answers[met, codes[met]] = True
        return Queries._from_checked(
            answers.ravel(),
            y_prob,
            codes=asked,
            names=self._names,
            group=group,
            weight=weight,
            numbered=self._numbered,
        )

    @cached_property
    def _every_column(self) -> tuple[Array, Array, Array, Array | None]:
        """Prediction, column, group and weight of each query, whatever the answers are."""
        n, k = self._proba.shape
        return (
            np.ascontiguousarray(self._proba).ravel(),
            np.tile(np.arange(k), n),
            np.repeat(self._sentence, k),
            None if self._weight is None else np.repeat(self._weight, k),
        )

    def _with_columns_for(self, unmet: set[str]) -> TagQuestions:
        """Give a column of zeros to tags that the tagger never met, keeping tags in order."""
        names = np.concatenate([self._names, np.array(sorted(unmet))])
        order = np.argsort(names, kind="stable")
        zeros = np.zeros((len(self._proba), len(unmet)))
        wider = copy(self)
        wider.__dict__.pop("_every_column", None)
        wider._names = names[order]
        wider._proba = np.hstack([self._proba, zeros])[:, order]
        return wider
