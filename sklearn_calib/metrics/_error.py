"""The calibration error: one number for a set of queries."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import (
    check_array_like,
    check_bin_options,
    check_option,
)
from sklearn_calib.metrics._binning._binned import bin_queries
from sklearn_calib.metrics._binning._partly_sorted import sort_for_bins
from sklearn_calib.metrics._binning._rules import ByNumber, BySize, Rule
from sklearn_calib.metrics._binning._scanned import label_parts, sort_or_scan, used
from sklearn_calib.metrics._binning._sizes import standard_number
from sklearn_calib.metrics._binning._sorted import SortedQueries, sort_queries
from sklearn_calib.metrics._bins import NORMS, bins_of, check_squared
from sklearn_calib.metrics._inference._debiased import debiased_square_of
from sklearn_calib.queries._as_queries import as_queries, queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["adaptive_bin_calibration_error"]


@dataclass(frozen=True)
class ErrorMeasure:
    """How a calibration error is measured: options that were checked when it was made."""

    bin_size: int | str = "auto"
    n_bins: int | None = None
    norm: str = "l2"
    squared: bool = False
    debias: bool = False

    def __post_init__(self) -> None:
        check_option(self.norm, "norm", NORMS)
        check_bin_options(self.bin_size, self.n_bins)
        check_squared(self.squared, self.norm)
        if self.debias and self.norm != "l2":
            raise ValueError(f"debias=True goes with norm='l2' only, got norm={self.norm!r}.")
        if self.debias and not isinstance(self.bin_size, str) and self.bin_size < 2:
            raise ValueError(
                "debias=True compares pairs of queries, so that bin_size must exceed 1."
            )

    def of_sorted(self, ordered: SortedQueries) -> float:
        """Return the error of sorted queries."""
        if not self.debias:
            bins = bins_of(bin_queries(ordered, self.bin_size, self.n_bins))
            return bins._error(self.norm, self.squared)
        if len(ordered) < 2:
            raise ValueError("debias=True needs at least two queries, because it compares pairs.")
        binned = bin_queries(ordered, self.bin_size, self.n_bins, min_rows=2)
        if self.n_bins is not None and binned.count.min() < 2:
            raise ValueError(
                f"n_bins={self.n_bins} leaves bins with a single query, where debias=True has no "
                "pair of queries to compare; ask for fewer bins."
            )
        square = max(0.0, debiased_square_of(binned))
        return square if self.squared else math.sqrt(square)

    def of_queries(
        self, queries: Queries, average: str = "micro", labels: ArrayLike | None = None
    ) -> float:
        """Return the error of queries, pooled or averaged over their labels.

        Those about top labels were made so, and are pooled. Whoever made the
        queries has checked `average`.
        """
        if average == "macro":
            chosen = _choose_labels(queries, labels)
            parts = [part for name, part in queries.by_label() if name in chosen]
            # A label whose queries all have weight zero is not there.
            parts = [p for p in parts if p.sample_weight is None or p.sample_weight.any()]
            if not parts:
                raise ValueError("None of the labels has a query with a weight above zero.")
            return float(np.mean([self.of_sorted(self._sort(part)) for part in parts]))
        if labels is not None:
            chosen = _choose_labels(queries, labels)
            asked = () if queries.label is None else queries.label.tolist()
            queries = queries.where(mask=np.array([name in chosen for name in asked], dtype=bool))
        return self.of_sorted(self._sort(queries))

    def _sort(self, queries: Queries) -> SortedQueries:
        """Sort queries as far as this error needs it: debiasing looks at each one."""
        if self.debias:
            return sort_queries(queries)
        return sort_for_bins(queries, self.bin_size, self.n_bins)

    def of_scan(self, scan: QueryScan, average: str, labels: ArrayLike | None) -> float:
        """Return the error of the queries of a scan, pooled or averaged over their labels."""
        if average == "micro" and labels is None:
            # Bins as large as the standard ones are few, and asked for in rows they may be many.
            asked = self.n_bins is not None or not isinstance(self.bin_size, str)
            by_size = asked and self.n_bins is None
            ahead = BySize(int(self.bin_size)) if by_size else None
            return self.of_sorted(sort_or_scan(scan, fine=asked, ahead=ahead))
        if average == "micro":
            raise TypeError(
                "The error of a scan is over all of its queries. For some of the labels pass "
                "scan.where(label=...), scan.sample(100_000) or scan.collect()."
            )
        if not scan.labelled:
            raise ValueError("This scan has no labels: scan_queries(..., label='its name').")
        parts = dict(label_parts(scan, self._rule))
        wanted = list(parts) if labels is None else check_array_like(labels, "classes").tolist()
        for label in wanted:
            if label not in parts:
                raise ValueError(
                    f"classes has {label!r}, which no query has: it should be in {list(parts)}."
                )
        # A label whose queries all have weight zero is not there.
        errors = [self.of_sorted(sort_or_scan(parts[name])) for name in wanted if used(parts[name])]
        if not errors:
            raise ValueError("None of the labels has a query with a weight above zero.")
        return float(np.mean(errors))

    def _rule(self, ordered: SortedQueries) -> Rule:
        """Return how the queries of a scan are cut."""
        if self.n_bins is not None:
            return ByNumber(min(self.n_bins, len(ordered)))
        if isinstance(self.bin_size, str):
            return ByNumber(standard_number(ordered))
        return BySize(self.bin_size, 2 if self.debias else 1)


def _choose_labels(queries: Queries, labels: ArrayLike | None) -> set[object]:
    """Return the labels to look at: all, or those that were named."""
    if queries.labels is None:
        raise ValueError("These queries have no labels: pass label= to Queries to make some.")
    known = queries.labels.tolist()
    if labels is None:
        return set(known)
    wanted = check_array_like(labels, "classes").tolist()
    wanted = [tuple(label) if isinstance(label, list) else label for label in wanted]
    for label in wanted:
        if label not in known:
            raise ValueError(f"classes has {label!r}, which no query has: it should be in {known}.")
    return set(wanted)


def adaptive_bin_calibration_error(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    norm: str = "l2",
    squared: bool = False,
    debias: bool = False,
    average: str = "micro",
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> float:
    """Calibration error by adaptive (equal-count) binning: adaptive ECE.

    The queries are sorted by prediction and cut into bins of `bin_size`; the
    error is the root mean square, over queries, of the gap between a bin's
    mean prediction and its share of yes. With an integer `bin_size` this is
    Algorithm 1 of Nguyen & O'Connor (2015) [1]_. With `norm="l1"` it is the
    expected calibration error (ECE) over bins of equal count.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    bin_size : int or "auto", default="auto"
        Queries per bin; "auto" makes max(10, cbrt(N)) bins. Larger than the
        number of queries means a single bin, with a warning. Equal
        predictions always share a bin.
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
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`. With queries, the labels to look at.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; an integer weight stands for so many copies.
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
    measure = ErrorMeasure(bin_size, n_bins, norm, squared, debias)
    if isinstance(y_true, QueryScan):
        found = queries_or_scan(
            y_true, y_prob, average=average, sample_weight=sample_weight, pos_label=pos_label
        )
        if isinstance(found, QueryScan):
            return measure.of_scan(found, average, classes)
        y_true = found
    if isinstance(y_true, Queries):
        # Here the classes are not the columns of a matrix, but the labels to look at.
        queries = as_queries(
            y_true, y_prob, average=average, sample_weight=sample_weight, pos_label=pos_label
        )
        return measure.of_queries(queries, average, classes)
    queries = as_queries(
        y_true, y_prob, classes=classes, average=average, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    if average == "macro" and queries.labels is None:
        average = "micro"  # one question, one error
    return measure.of_queries(queries, average)
