"""The door from arrays: labels and predictions become queries, and are checked once."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import (
    check_array_like,
    check_binary_labels,
    check_groups,
    check_option,
    check_probability_vector,
    check_same_length,
    check_sample_weight,
    refuse_swapped,
    warn_if_hard,
)
from sklearn_calib.queries._classifier import AVERAGES, column_names, matrix_queries
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

Groups = ArrayLike | Literal[False] | None


def as_queries(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    average: str = "micro",
    groups: Groups = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    name: str = "y_prob",
) -> Queries:
    """Return the queries behind labels and predictions, or those given in their place.

    `y_prob` is a vector, or a matrix with a column for each of the `classes`.
    `groups` has one entry per row; None keeps the groups that the queries have
    (those of a matrix with more than two columns: its rows), and False takes
    all queries as independent. `name` is what messages call the predictions.
    """
    if isinstance(y_true, QueryScan):
        raise TypeError(
            "This function needs all queries at once, and does not take a scan. Pass "
            "scan.sample(100_000, random_state=0) for an estimate from some of the rows, or "
            "scan.collect() where all of them fit into memory."
        )
    if isinstance(y_true, Queries):
        _refuse_extras(
            "Queries object", y_prob=y_prob, classes=classes, sample_weight=sample_weight,
            pos_label=pos_label,
        )  # fmt: skip
        if average not in ("micro", "macro"):
            check_option(average, "average", AVERAGES)
            raise ValueError(
                "average='top_label' needs the probabilities of all classes, which queries no "
                "longer hold: make them with classifier_queries(..., average='top_label')."
            )
        if len(y_true) == 0:
            raise ValueError("The Queries object is empty: at least one query is needed.")
        if y_true.sample_weight is not None and not y_true.sample_weight.any():
            raise ValueError("All queries have weight zero, so that no query is left.")
        return _with_groups(y_true, groups, len(y_true))
    if y_prob is None:
        raise TypeError("Pass y_true and y_prob, or a single Queries object.")
    proba = check_array_like(y_prob, name)
    if proba.ndim == 2 and proba.shape[1] > 1:
        queries = matrix_queries(
            y_true, proba, classes, average, pos_label, sample_weight, name, column_names(y_prob)
        )
        warn_if_hard(proba)
        return _with_groups(queries, groups, len(proba))
    check_option(average, "average", AVERAGES)
    if classes is not None:
        raise ValueError(f"classes names the columns of a 2-D {name}, but {name} is 1-D.")
    y = check_array_like(y_true, "y_true")
    refuse_swapped(y, proba)
    q = check_probability_vector(proba, name)
    warn_if_hard(q)
    answers = check_binary_labels(y, pos_label)
    check_same_length(**{"y_true": answers, name: q})
    weight = check_sample_weight(sample_weight, len(q))
    if average == "top_label":
        # Of two classes, the one with the larger probability.
        answers, q = answers == (q > 1.0 - q), np.maximum(q, 1.0 - q)
    return _with_groups(Queries._from_checked(answers, q, weight=weight), groups, len(q))


def queries_or_scan(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    groups: Groups = None,
    **options: Any,
) -> Queries | QueryScan:
    """Return a scan that was given in place of arrays, and what `as_queries` returns otherwise.

    A scan of few rows is read into memory.
    """
    if not isinstance(y_true, QueryScan):
        return as_queries(y_true, y_prob, groups=groups, **options)
    average = options.pop("average", "micro")
    options.pop("name", None)
    _refuse_extras("scan", y_prob=y_prob, **options)
    if groups is not None and groups is not False:
        raise TypeError("groups is a column of the scan: scan_queries(..., group='its name').")
    scan = y_true.without_groups() if groups is False and y_true.grouped else y_true
    small = scan.in_memory()
    return scan if small is None else as_queries(small, average=average)


def _refuse_extras(what: str, **options: Any) -> None:
    for option, value in options.items():
        if value is not None:
            raise TypeError(f"{option} is part of the {what}; do not pass it as well.")


def _with_groups(queries: Queries, groups: Groups, n_rows: int) -> Queries:
    """Return the queries with these groups of rows, with their own (None), or with none (False)."""
    if groups is None:
        return queries
    if groups is False:
        return queries._grouped(None)
    rows = check_groups(groups, n_rows)
    return queries._grouped(np.repeat(rows, len(queries) // n_rows))
