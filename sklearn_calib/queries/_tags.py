"""How the marginals of a sequence tagger become queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

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
from sklearn_calib.queries._classifier import (
    AVERAGES,
    classifier_queries,
    entry_queries,
    with_unmet_classes,
)
from sklearn_calib.queries._queries import Queries, object_array

__all__ = ["UNITS", "tag_queries"]

UNITS = ("tag", "pair")


def tag_queries(
    y: Any,
    y_prob: Any,
    *,
    classes: Any,
    unit: str = "tag",
    pairs: Any = None,
    average: str = "micro",
    pos_label: Any = None,
    sample_weight: Any = None,
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
        Marginal probabilities, one row a token, sentences end to end. For
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
    pos_label : object, default=None
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
    <Queries: 3 queries, 2 of them true, 1 labels, 2 groups>
    >>> tag_queries(y, [[0.75]], classes=["DT", "NN"], unit="pair", pairs=[("DT", "NN")])
    <Queries: 1 queries, 1 of them true, 1 labels, 1 groups>
    """
    check_option(unit, "unit", UNITS)
    check_option(average, "average", AVERAGES)
    sentences = check_tags(y)
    classes = check_tag_names(classes)
    weight = check_sample_weight(sample_weight, len(sentences))
    lengths = np.array([len(tags) for tags in sentences])
    if unit == "pair":
        if pairs is None:
            raise TypeError("unit='pair' needs pairs: the pair of tags of each column of y_prob.")
        if isinstance(pairs, (str, int)):
            raise TypeError(
                f"pairs={pairs!r} must be a list: the pair of tags of each column of y_prob."
            )
        if pos_label is not None:
            raise ValueError("pos_label does not apply to unit='pair': every pair is asked about.")
        columns = check_tag_pairs(list(pairs), (), classes)
        return _pair_queries(sentences, lengths, y_prob, columns, average, weight)
    if pairs is not None:
        raise ValueError(f"pairs={pairs!r} is set, but unit={unit!r}; pairs go with unit='pair'.")
    proba = check_y_prob(y_prob, classes)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    _check_rows(proba, len(sentence), "token")
    weight = None if weight is None else weight[sentence]
    tags = np.array(flatten(sentences))
    if average == "top_label" or len(classes) <= 2 or pos_label is not None:
        queries = classifier_queries(
            tags,
            proba,
            classes=classes,
            average=average,
            pos_label=pos_label,
            sample_weight=weight,
        )
        return queries.with_groups(np.repeat(sentence, len(queries) // len(sentence)))
    classes, proba = with_unmet_classes(tags, proba, classes)
    answers = _one_hot(tags.tolist(), classes.tolist())
    return entry_queries(answers, proba, classes, weight, sentence)


def _pair_queries(
    sentences: Sequence[Sequence[str]],
    lengths: Array,
    y_prob: Any,
    pairs: list[tuple[str, str]],
    average: str,
    weight: Array | None,
) -> Queries:
    sentence = np.repeat(np.arange(len(lengths)), lengths - 1)
    if len(sentence) == 0:
        raise ValueError("Every sentence has a single token, so that there are no pairs of tags.")
    proba = check_probabilities(y_prob, "y_prob")
    if proba.ndim != 2 or proba.shape[1] != len(pairs):
        raise ValueError(
            f"y_prob must have a column for each of the {len(pairs)} pairs; got shape "
            f"{proba.shape}."
        )
    _check_rows(proba, len(sentence), "pair of neighbours")
    weight = None if weight is None else weight[sentence]
    true = [pair for tags in sentences for pair in pairwise(tags)]
    answers = _one_hot(true, pairs)
    names = object_array(pairs)
    if average == "top_label":
        top = proba.argmax(axis=1)
        rows = np.arange(len(top))
        return Queries._from_checked(
            answers[rows, top],
            proba[rows, top],
            codes=top,
            names=names,
            group=sentence,
            weight=weight,
        )
    return entry_queries(answers, proba, names, weight, sentence)


def _check_rows(proba: Array, n: int, thing: str) -> None:
    if len(proba) != n:
        raise ValueError(
            f"y_prob has {len(proba)} rows, but y has {n} of what a row stands for: one row for "
            f"each {thing}, sentences end to end."
        )


def _one_hot(values: list[Any], columns: list[Any]) -> Array:
    """Return which column each value is; a value without a column has an empty row."""
    index = {column: j for j, column in enumerate(columns)}
    codes = np.array([index.get(value, -1) for value in values])
    answers = np.zeros((len(values), len(columns)), dtype=bool)
    rows = np.flatnonzero(codes >= 0)
    answers[rows, codes[rows]] = True
    return answers
