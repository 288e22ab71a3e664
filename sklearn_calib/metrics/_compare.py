"""Is one model better calibrated than another?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from sklearn_calib._results import ConfidenceInterval, percent
from sklearn_calib._validation import (
    check_binary_labels,
    check_confidence_level,
    check_groups,
    check_probability_vector,
    check_same_length,
    check_sample_weight,
)
from sklearn_calib.metrics._bin_size import cut
from sklearn_calib.metrics._inference import (
    LEAST_ROWS,
    TooFewError,
    check_inference_bins,
    mixed_ends,
)
from sklearn_calib.metrics._pairs import PairForm, pair_form
from sklearn_calib.metrics._sorting import sort_queries
from sklearn_calib.queries import Queries

__all__ = ["CalibrationComparison", "compare_calibration"]


@dataclass(frozen=True, eq=False)
class CalibrationComparison:
    """Two models on the same labels.

    Attributes
    ----------
    error_a, error_b : float
        Debiased calibration errors.
    difference : float
        Squared error of A minus that of B, each without bias: negative where
        A is better calibrated.
    confidence_interval : ConfidenceInterval
        Limits for the difference of the true squared errors.
    confidence_level : float
        Level of the interval.
    standard_error : float
        Standard error of the difference.
    pvalue : float
        Two-sided, of the hypothesis that both errors are the same.

    See Also
    --------
    compare_calibration : Makes this object.
    """

    error_a: float
    error_b: float
    difference: float
    confidence_interval: ConfidenceInterval
    confidence_level: float
    standard_error: float
    pvalue: float

    def __str__(self) -> str:
        low, high = self.confidence_interval
        return (
            f"calibration error A {self.error_a:.4f}, B {self.error_b:.4f}; difference of squares "
            f"{self.difference:.3g} [{low:.3g}, {high:.3g}] ({percent(self.confidence_level)}), "
            f"p = {self.pvalue:.3g}"
        )


def compare_calibration(
    y_true: Any,
    y_prob_a: Any,
    y_prob_b: Any = None,
    *,
    bin_size: Any = "auto",
    n_bins: int | None = None,
    confidence_level: float = 0.95,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> CalibrationComparison:
    """Compare the calibration of two models on the same labels.

    Both models saw the same answers, so that much of their noise is shared;
    the comparison takes that into account. It is about squared errors, which
    can be estimated without bias; a difference of roots cannot.

    Parameters
    ----------
    y_true : array-like of shape (n_queries,) or Queries
        Binary labels. Or the queries of the one model, followed by those of
        the other, in place of the three arrays.
    y_prob_a, y_prob_b : array-like of shape (n_queries,)
        The predictions of the two models.
    bin_size : int or "auto", default="auto"
        Queries a bin; "auto" makes about 2 sqrt(N) bins.
    n_bins : int, default=None
        Ask for a number of bins instead of a size.
    confidence_level : float, default=0.95
        Level of the interval.
    groups : array-like of shape (n_queries,), False or None, default=None
        Queries of one group may depend on each other. None uses the groups of
        Queries objects, where they have some, and False takes all queries as
        independent.
    sample_weight : array-like of shape (n_queries,), default=None
        Non-negative weights, which say how reliable a row is.
    pos_label : object, default=None
        The label whose probability the predictions give.

    Returns
    -------
    CalibrationComparison
        Both errors, and their difference with interval and p-value.

    See Also
    --------
    calibration_error_interval : The error of one model.

    Examples
    --------
    >>> from sklearn_calib import compare_calibration
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(3000, distortion="slope", strength=0.5, random_state=0)
    >>> result = compare_calibration(sample.y_true, sample.y_prob, sample.probability)
    >>> result.pvalue < 0.01 and result.difference > 0
    True
    """
    level = check_confidence_level(confidence_level)
    check_inference_bins(bin_size, n_bins)
    if isinstance(y_true, Queries):
        if pos_label is not None or sample_weight is not None:
            raise TypeError("pos_label and sample_weight are part of the Queries objects.")
        one, two = _same_questions(y_true, y_prob_a, y_prob_b)
        groups = one.group if groups is None else groups
        y_true, y_prob_a, y_prob_b = one.y_true, one.y_prob, two.y_prob
        sample_weight = one.sample_weight
    elif y_prob_b is None:
        raise TypeError("Pass y_true and the predictions of two models, or two Queries objects.")
    y = check_binary_labels(y_true, pos_label)
    a = check_probability_vector(y_prob_a, "y_prob_a")
    b = check_probability_vector(y_prob_b, "y_prob_b")
    check_same_length(y_true=y, y_prob_a=a, y_prob_b=b)
    w = check_sample_weight(sample_weight, len(y))
    unit = np.arange(len(y))
    if groups is not None and groups is not False:
        unit = np.unique(check_groups(groups, len(y)), return_inverse=True)[1]
    if w is not None and not w.all():
        keep = w > 0
        y, a, b, w, unit = y[keep], a[keep], b[keep], w[keep], unit[keep]
    if len(y) >= LEAST_ROWS and (unit == unit[0]).all():
        raise TooFewError("All queries belong to one group; at least two are needed.")
    if len(y) < LEAST_ROWS:
        raise TooFewError(f"A comparison needs at least {LEAST_ROWS} queries, got {len(y)}.")
    forms = []
    for q in (a, b):
        ordered = sort_queries(y, q, w, unit)
        ends, _ = cut(ordered, bin_size, n_bins, purpose="infer", min_rows=LEAST_ROWS)
        assert ordered.group is not None
        ends = mixed_ends(ends, ordered.group)
        forms.append(pair_form(ordered, ends, ordered.group))
    first, second = forms
    difference = first.square - second.square
    se = math.sqrt(_variance_of_difference(first, second))
    z = float(stats.norm.ppf(0.5 + level / 2.0))
    if se > 0.0:
        pvalue = 2.0 * float(stats.norm.sf(abs(difference) / se))
    else:
        pvalue = 1.0 if difference == 0.0 else 0.0
    return CalibrationComparison(
        error_a=math.sqrt(max(0.0, first.square)),
        error_b=math.sqrt(max(0.0, second.square)),
        difference=difference,
        confidence_interval=ConfidenceInterval(difference - z * se, difference + z * se),
        confidence_level=level,
        standard_error=se,
        pvalue=pvalue,
    )


def _same_questions(one: Queries, two: Any, more: Any) -> tuple[Queries, Queries]:
    """Return the queries of two models, refusing those that ask something else."""
    if not isinstance(two, Queries) or more is not None:
        raise TypeError("After a Queries object, pass the Queries of the other model alone.")
    for name in ("y_true", "group", "sample_weight", "label"):
        here, there = getattr(one, name), getattr(two, name)
        same = here is there is None or (
            here is not None and there is not None and np.array_equal(here, there)
        )
        if not same:
            raise ValueError(
                f"The two Queries objects differ in {name}: both models must be asked the same "
                "questions, in the same order."
            )
    return one, two


def _variance_of_difference(one: PairForm, two: PairForm) -> float:
    """Return the variance of T_a - T_b: pairs of units, and the part that grows with the errors."""

    def pairs(first: PairForm, second: PairForm) -> float:
        return max(
            0.0,
            first.cross_moment(first)
            + second.cross_moment(second)
            - 2.0 * first.cross_moment(second),
        )

    rows = one.rows - two.rows
    linear = float(np.sum(np.square(rows))) - pairs(one, two)
    linear -= (one.square - two.square) ** 2 / one.n_units
    return 2.0 * pairs(one.centred(), two.centred()) + 4.0 * max(0.0, linear)
