"""How the predictions of a classifier become queries."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import (
    Array,
    check_array_like,
    check_binary_labels,
    check_classes,
    check_columns,
    check_labels,
    check_option,
    check_probability_matrix,
    check_row_sums,
    check_same_length,
    check_sample_weight,
    distinct_labels,
)
from sklearn_calib.queries._queries import Queries

__all__ = ["classifier_queries"]

AVERAGES = ("micro", "macro", "top_label")


def classifier_queries(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    average: str = "micro",
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> Queries:
    """Turn the predictions of a classifier into queries.

    With two classes there is one query per row: is it the positive class? With
    more there is one for each row and class: is this row of class c?

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        The true classes, or a 0/1 indicator matrix for multilabel problems.
        Classes that the model never met are allowed: it gave them
        probability 0, and their queries say so.
    y_prob : array-like of shape (n_samples, n_classes)
        What `predict_proba` returned.
    classes : array-like of shape (n_classes,), default=None
        The class of each column, e.g. `classifier.classes_`; by default the
        names of the columns of a data frame, where they are the labels of
        `y_true`, and else the sorted labels, if there are as many as columns.
    average : {"micro", "macro", "top_label"}, default="micro"
        "micro" and "macro" ask about every class; "top_label" asks only
        whether the class with the largest probability is the right one.
    pos_label : object, default=None
        With two classes, the positive one; by default the last.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    Queries
        With labels (the class asked about). With more than two classes, the
        queries of one row form a group, because they depend on each other.

    See Also
    --------
    adaptive_bin_calibration_error : The calibration error of queries.

    Examples
    --------
    >>> from sklearn_calib import classifier_queries
    >>> proba = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    >>> queries = classifier_queries(["a", "b"], proba, classes=["a", "b", "c"])
    >>> queries
    <Queries: 6 queries, 2 of them true, 3 labels, 2 groups>
    >>> queries.where(label="b").y_prob
    array([0.2, 0.3])
    """
    return matrix_queries(
        y_true, y_prob, classes, average, pos_label, sample_weight, "y_prob", column_names(y_prob)
    )


def matrix_queries(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    classes: ArrayLike | None,
    average: str,
    pos_label: object,
    sample_weight: ArrayLike | None,
    name: str,
    columns: list[object] | None = None,
) -> Queries:
    """Return the queries of a matrix of probabilities, which messages call `name`.

    `columns` are the names that its columns have in a data frame.
    """
    check_option(average, "average", AVERAGES)
    proba = check_probability_matrix(y_prob, name)
    y = check_array_like(y_true, "y_true")
    if y.ndim == 2 and y.shape[1] > 1:
        names = np.arange(proba.shape[1]) if classes is None else check_classes(classes)
        return _multilabel_queries(y, proba, names, average, pos_label, sample_weight, name)
    y = check_labels(y)
    if classes is None:
        names, proba = _inferred_classes(y, proba, name, columns)
    else:
        names = check_classes(classes)
    check_columns(proba, names, name)
    check_same_length(**{"y_true": y, name: proba})
    check_same_types(y, names)
    check_row_sums(proba, name)
    weight = check_sample_weight(sample_weight, len(y))
    return class_queries(y, proba, names, average=average, pos_label=pos_label, weight=weight)


def class_queries(
    y: Array,
    proba: Array,
    classes: Array,
    *,
    average: str,
    pos_label: object,
    weight: Array | None,
    group: Array | None = None,
) -> Queries:
    """Return the queries of checked classes and probabilities; `group` numbers groups of rows."""
    if average == "top_label":
        top = proba.argmax(axis=1)
        # Equality, not look-up: a true class without a column is simply not the top one.
        return Queries._from_checked(
            np.asarray(classes[top] == y, dtype=bool),
            proba[np.arange(len(y)), top],
            codes=top,
            names=classes,
            group=group,
            weight=weight,
        )
    classes, proba = with_unmet_classes(y, proba, classes)
    if len(classes) <= 2:
        positive = len(classes) - 1 if pos_label is None else _index(classes, pos_label)
        return Queries._from_checked(
            np.asarray(y == classes[positive], dtype=bool),
            proba[:, positive],
            codes=np.zeros(len(y), dtype=np.intp),
            names=classes[[positive]],
            group=group,
            weight=weight,
        )
    if pos_label is not None:
        raise ValueError(
            f"pos_label={pos_label!r} is set, but there are {len(classes)} classes, and every one "
            "of them is asked about. Leave pos_label out."
        )
    return entry_queries(y[:, None] == classes[None, :], proba, classes, weight, group)


def column_names(y_prob: ArrayLike) -> list[object] | None:
    """Return the names of the columns of a data frame; arrays have none."""
    columns = getattr(y_prob, "columns", None)
    return None if columns is None else list(columns)


def _inferred_classes(
    y: Array, proba: Array, name: str, columns: list[object] | None
) -> tuple[Array, Array]:
    """Return sorted classes and their columns, where the true classes leave no doubt about them."""
    classes = distinct_labels(y)
    if columns is not None and len(set(columns)) == len(columns):
        met = set(classes.tolist())
        # Numbers are what columns without names have, so that they must match in full.
        named = all(isinstance(column, str) for column in columns)
        if met == set(columns) or (named and met < set(columns)):
            names = np.array(columns)
            order = np.argsort(names)
            return names[order], proba[:, order]
    if len(classes) != proba.shape[1]:
        raise ValueError(
            f"y_true has {len(classes)} distinct labels but {name} has {proba.shape[1]} columns: "
            "name the class of each column with classes=, e.g. classifier.classes_."
        )
    return classes, proba


def check_same_types(y: Array, classes: Array) -> None:
    """Refuse to compare text with numbers, which would never be equal."""
    one, two = y[:1].tolist()[0], classes[:1].tolist()[0]
    if isinstance(one, str) != isinstance(two, str):
        raise TypeError(
            f"y_true has labels such as {one!r} and classes has {two!r}: they must be of one type "
            "to be compared."
        )


def with_unmet_classes(y: Array, proba: Array, classes: Array) -> tuple[Array, Array]:
    """Give a column of zeros to every true class that has none, keeping the classes in order."""
    known = set(classes.tolist())
    unmet = [label for label in distinct_labels(y).tolist() if label not in known]
    if not unmet:
        return classes, proba
    joined = np.concatenate([classes, np.array(unmet)])
    order = np.argsort(joined, kind="stable")
    padded = np.hstack([proba, np.zeros((len(y), len(unmet)))])
    return joined[order], padded[:, order]


def _index(classes: Array, label: object) -> int:
    found = np.flatnonzero(classes == label)
    if len(found) == 0:
        raise ValueError(
            f"pos_label={label!r} is not a valid label: it should be one of {classes.tolist()}."
        )
    return int(found[0])


def entry_queries(
    y: Array, proba: Array, names: Array, weight: Array | None, group: Array | None = None
) -> Queries:
    """Return one query for each entry of a matrix.

    The rows have groups and weights; by default each row is a group of its own.
    """
    n, k = proba.shape
    return Queries._from_checked(
        np.ascontiguousarray(y, dtype=bool).ravel(),
        np.ascontiguousarray(proba).ravel(),
        codes=np.tile(np.arange(k), n),
        names=names,
        group=np.repeat(np.arange(n) if group is None else group, k),
        weight=None if weight is None else np.repeat(weight, k),
        numbered=group is None,
    )


def _multilabel_queries(
    y: Array,
    proba: Array,
    classes: Array,
    average: str,
    pos_label: object,
    sample_weight: ArrayLike | None,
    name: str,
) -> Queries:
    if average == "top_label" or pos_label is not None:
        raise ValueError(
            "y_true is an indicator matrix, where a row may have several labels: "
            "average='top_label' and pos_label do not apply."
        )
    check_columns(proba, classes, name)
    if y.shape != proba.shape:
        raise ValueError(
            f"y_true has shape {y.shape} and {name} has shape {proba.shape}: an indicator matrix "
            "needs the same shape as the probabilities."
        )
    answers = check_binary_labels(y.ravel()).reshape(y.shape)
    return entry_queries(answers, proba, classes, check_sample_weight(sample_weight, len(y)))
