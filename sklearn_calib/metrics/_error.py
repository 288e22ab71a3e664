"""The calibration error: one number for a set of queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sklearn_calib._validation import (
    Array,
    check_array_like,
    check_bin_options,
    check_classes,
    check_labels,
    check_option,
    distinct_labels,
)
from sklearn_calib.metrics._bin_size import cut
from sklearn_calib.metrics._bins import NORMS, bin_means, check_squared
from sklearn_calib.metrics._sorting import SortedQueries, sorted_queries
from sklearn_calib.queries import AVERAGES, Queries, as_queries, classifier_queries

__all__ = ["adaptive_bin_calibration_error"]


def check_error_options(
    bin_size: Any, n_bins: Any, norm: Any, squared: bool, debias: bool
) -> dict[str, Any]:
    """Check the options that say how the error is measured, and return them by name."""
    check_option(norm, "norm", NORMS)
    check_bin_options(bin_size, n_bins)
    check_squared(squared, norm)
    if debias and norm != "l2":
        raise ValueError(f"debias=True goes with norm='l2' only, got norm={norm!r}.")
    if debias and not isinstance(bin_size, str) and bin_size < 2:
        raise ValueError("debias=True compares pairs of queries, so that bin_size must exceed 1.")
    return {
        "bin_size": bin_size,
        "n_bins": n_bins,
        "norm": norm,
        "squared": squared,
        "debias": debias,
    }


def debiased_square(queries: SortedQueries, ends: Array) -> float:
    """Return the unbiased estimate of the binned squared error; it may be negative.

    Within a bin, the products of two different residuals have the squared
    mean residual as their expectation; a square alone would add its variance.
    """
    starts = np.concatenate(([0], ends[:-1]))
    r = np.subtract(queries.y, queries.q)
    if queries.w is None:
        n = (ends - starts).astype(float)
        s1 = np.add.reduceat(r, starts)
        np.square(r, out=r)
        s2 = np.add.reduceat(r, starts)
        return float(np.sum((np.square(s1) - s2) / (n - 1.0)) / len(r))
    w = queries.w
    r *= w
    s1, s2 = np.add.reduceat(r, starts), np.add.reduceat(np.square(r), starts)
    w1, w2 = np.add.reduceat(w, starts), np.add.reduceat(np.square(w), starts)
    pairs = np.square(w1) - w2
    # A bin in which one row has all the weight has no pair to compare, and is left out.
    use = pairs > 1e-12 * np.square(w1)
    if not use.any():
        raise ValueError("In every bin one row has all the weight: there are no pairs to compare.")
    product = (np.square(s1) - s2)[use] / pairs[use]
    return float(np.dot(w1[use], product) / w1[use].sum())


def pooled_error(
    queries: Queries,
    *,
    bin_size: Any = "auto",
    n_bins: int | None = None,
    norm: str = "l2",
    squared: bool = False,
    debias: bool = False,
    least_bins: int = 1,
) -> float:
    """Return the calibration error of checked queries with checked options."""
    return sorted_error(
        sorted_queries(queries),
        bin_size=bin_size,
        n_bins=n_bins,
        norm=norm,
        squared=squared,
        debias=debias,
        least_bins=least_bins,
    )


def sorted_error(
    ordered: SortedQueries,
    *,
    bin_size: Any,
    n_bins: int | None,
    norm: str,
    squared: bool,
    debias: bool,
    least_bins: int = 1,
) -> float:
    """Return the calibration error of sorted queries with checked options."""
    if not debias:
        ends, size = cut(ordered, bin_size, n_bins, purpose="estimate", least_bins=least_bins)
        return bin_means(ordered, ends, size, "adaptive").error(norm, squared)
    if len(ordered) < 2:
        raise ValueError("debias=True needs at least two queries, because it compares pairs.")
    ends, _ = cut(ordered, bin_size, n_bins, purpose="estimate", min_rows=2, least_bins=least_bins)
    if np.diff(ends, prepend=0).min() < 2:
        raise ValueError(
            f"n_bins={n_bins} leaves bins with a single query, where debias=True has no pair of "
            "queries to compare; ask for fewer bins."
        )
    square = max(0.0, debiased_square(ordered, ends))
    return square if squared else math.sqrt(square)


def _choose_labels(queries: Queries, labels: Any) -> list[Any]:
    known = None if queries.labels is None else queries.labels.tolist()
    if known is None:
        raise ValueError("These queries have no labels: pass label= to Queries to make some.")
    if labels is None:
        return known
    wanted = check_array_like(labels, "labels").tolist()
    wanted = [tuple(label) if isinstance(label, list) else label for label in wanted]
    for label in wanted:
        if label not in known:
            raise ValueError(f"labels has {label!r}, which no query has: it should be in {known}.")
    return wanted


def error_of_queries(
    queries: Queries, *, average: str, labels: Any = None, **options: Any
) -> float:
    """Return the error of queries, pooled or averaged over their labels."""
    if average == "macro":
        chosen = set(_choose_labels(queries, labels))
        parts = [part for name, part in queries.by_label() if name in chosen]
        # A label whose queries all have weight zero is not there.
        parts = [p for p in parts if p.sample_weight is None or p.sample_weight.any()]
        if not parts:
            raise ValueError("None of the labels has a query with a weight above zero.")
        return float(np.mean([pooled_error(part, **options) for part in parts]))
    if labels is not None:
        chosen = set(_choose_labels(queries, labels))
        assert queries.label is not None
        keep = np.array([name in chosen for name in queries.label.tolist()], dtype=bool)
        queries = queries.where(mask=keep)
    # The probabilities of one row sum to 1, and one of its answers is yes: a single
    # bin over all classes would have no error by construction.
    many = queries.labels is not None and len(queries.labels) > 1
    return pooled_error(queries, least_bins=2 if many else 1, **options)


def adaptive_bin_calibration_error(
    y_true: Any,
    y_prob: Any = None,
    *,
    bin_size: Any = "auto",
    n_bins: int | None = None,
    norm: str = "l2",
    squared: bool = False,
    debias: bool = False,
    average: str = "micro",
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Calibration error by adaptive (equal-count) binning.

    The queries are sorted by prediction and cut into bins of `bin_size`; the
    error is the root mean square, over queries, of the gap between a bin's
    mean prediction and its share of yes. With an integer `bin_size` this is
    Algorithm 1 of Nguyen & O'Connor (2015) [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Queries
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    bin_size : int or "auto", default="auto"
        Queries a bin; "auto" takes the size of `select_bin_size`. Larger than
        the number of queries means a single bin, with a warning. Equal
        predictions always share a bin. Where several classes are pooled,
        "auto" makes at least two bins.
    n_bins : int, default=None
        Ask for a number of bins instead of a size.
    norm : {"l2", "l1", "max"}, default="l2"
        Root mean square, mean, or largest absolute gap.
    squared : bool, default=False
        Return the mean square instead of its root (only with "l2").
    debias : bool, default=False
        Take away what sampling noise adds (only with "l2"). The estimate of
        the squared error is then unbiased, so that it is sometimes negative;
        0 is returned in its place. Weights then say how reliable a row is,
        and no longer stand for copies.
    average : {"micro", "macro", "top_label"}, default="micro"
        With more than two classes: pool the queries of all classes, average
        the errors of the classes, or ask only whether the class with the
        largest probability is right.
    labels : array-like, default=None
        With 2-D `y_prob`, the class of each column; by default the sorted
        labels of `y_true`. With queries, the labels to look at.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; an integer weight stands for so many copies. The
        choice of `bin_size="auto"` knows that copies tell nothing new.
    pos_label : object, default=None
        With two classes, the one whose probability counts.

    Returns
    -------
    float
        Between 0 (no gap in any bin) and 1.

    See Also
    --------
    calibration_error_interval : The error with an interval.
    AdaptiveBinCalibrationError : The same as a scorer for model selection.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor, "Posterior calibration and exploratory
       analysis for natural language processing models", EMNLP 2015.

    Examples
    --------
    >>> from sklearn_calib import adaptive_bin_calibration_error
    >>> y_true, y_prob = [0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]
    >>> round(adaptive_bin_calibration_error(y_true, y_prob, bin_size=2), 4)
    0.255
    >>> round(adaptive_bin_calibration_error(y_true, y_prob, bin_size=2, squared=True), 4)
    0.065
    """
    check_option(average, "average", AVERAGES)
    options = check_error_options(bin_size, n_bins, norm, squared, debias)
    if isinstance(y_true, Queries):
        queries = as_queries(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
        if average == "top_label":
            raise ValueError(
                "average='top_label' needs the probabilities of all classes, which queries no "
                "longer hold: make them with classifier_queries(..., average='top_label')."
            )
        return error_of_queries(queries, average=average, labels=labels, **options)

    if y_prob is None:
        raise TypeError("Pass y_true and y_prob, or a single Queries object.")
    proba = check_array_like(y_prob, "y_prob")
    if proba.ndim == 2 and proba.shape[1] > 1:
        queries = matrix_queries(y_true, proba, labels, average, pos_label, sample_weight)
        return error_of_queries(queries, average=average, **options)
    if labels is not None:
        raise ValueError("labels names the columns of a 2-D y_prob, but y_prob is 1-D.")
    queries = as_queries(y_true, proba, sample_weight=sample_weight, pos_label=pos_label)
    if average == "top_label":
        q = queries.y_prob
        queries = classifier_queries(
            queries.y_true,
            np.column_stack([1.0 - q, q]),
            classes=[False, True],
            average="top_label",
            sample_weight=sample_weight,
        )
    return pooled_error(queries, **options)


def matrix_queries(
    y_true: Any, proba: Array, labels: Any, average: str, pos_label: Any, sample_weight: Any
) -> Queries:
    """Return the queries of a 2-D `y_prob`, working out its classes where they are not named."""
    y = check_array_like(y_true, "y_true")
    if labels is not None:
        classes = check_classes(labels, "labels")
    elif y.ndim == 2 and y.shape[1] > 1:
        classes = np.arange(proba.shape[1])
    else:
        classes = distinct_labels(check_labels(y_true))
        if len(classes) != proba.shape[1]:
            raise ValueError(
                f"y_true has {len(classes)} distinct labels but y_prob has {proba.shape[1]} "
                "columns: name the class of each column with labels=, e.g. classifier.classes_."
            )
    return classifier_queries(
        y_true,
        proba,
        classes=classes,
        average=average,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
