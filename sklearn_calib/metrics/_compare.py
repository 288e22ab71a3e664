"""Is one model better calibrated than another?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_calib._results import ConfidenceInterval, Result, percent
from sklearn_calib._validation import Array, check_confidence_level
from sklearn_calib.metrics._inference._grouped import PairForm, pair_form
from sklearn_calib.metrics._inference._sample import Sample, check_inference_bins, make_sample
from sklearn_calib.metrics._inference._surprises import expected_surprises
from sklearn_calib.queries._as_queries import Groups, as_queries
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["CalibrationComparison", "compare_calibration"]


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationComparison(Result):
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

    _shows_table = False

    def _columns(self) -> dict[str, list[object]]:
        low, high = self.confidence_interval
        row = {
            "error_a": self.error_a,
            "error_b": self.error_b,
            "difference": self.difference,
            "low": low,
            "high": high,
            "confidence_level": self.confidence_level,
            "pvalue": self.pvalue,
        }
        return {name: [value] for name, value in row.items()}

    def _sentence(self) -> str:
        low, high = self.confidence_interval
        return (
            f"calibration error A {self.error_a:.4f}, B {self.error_b:.4f}; difference of squares "
            f"{self.difference:.3g} [{low:.3g}, {high:.3g}] ({percent(self.confidence_level)}), "
            f"p = {self.pvalue:.3g}"
        )


def compare_calibration(
    y_true: ArrayLike | Queries,
    y_prob_a: ArrayLike | Queries,
    y_prob_b: ArrayLike | None = None,
    *,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    confidence_level: float = 0.95,
    groups: Groups = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> CalibrationComparison:
    """Compare the calibration of two models on the same labels.

    Both models saw the same answers, so that much of their noise is shared;
    the comparison takes that into account. It is about squared errors, which
    can be estimated without bias; a difference of roots cannot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Queries
        True labels. Or the queries of the one model, followed by those of
        the other, in place of the three arrays.
    y_prob_a, y_prob_b : array-like of shape (n_samples,) or (n_samples, n_classes)
        The predictions of the two models.
    bin_size : int or "auto", default="auto"
        Queries per bin; "auto" makes about 2 sqrt(N) bins of equal count.
    n_bins : int, default=None
        Ask for a number of bins instead of a size.
    confidence_level : float, default=0.95
        Level of the interval.
    groups : array-like of shape (n_samples,), False or None, default=None
        Queries of one group may depend on each other. None uses the groups of
        Queries objects, where they have some, and the rows of 2-D
        predictions; False takes all queries as independent.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of 2-D predictions; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
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
    if isinstance(y_true, QueryScan) or isinstance(y_prob_a, QueryScan):
        raise TypeError(
            "A comparison looks at the rows of both models side by side, and does not take scans. "
            "Pass scan.collect() of both where they fit into memory; to compare some of the rows, "
            "keep both predictions in one table and sample that, since scan.sample(100_000) of two "
            "scans draws different rows."
        )
    if isinstance(y_true, Queries):
        for name, value in (("pos_label", pos_label), ("sample_weight", sample_weight)):
            if value is not None:
                raise TypeError(f"{name} is part of the Queries objects; do not pass it as well.")
        if not isinstance(y_prob_a, Queries) or y_prob_b is not None:
            raise TypeError("After a Queries object, pass the Queries of the other model alone.")
        one = as_queries(y_true, classes=classes, groups=groups)
        two = as_queries(y_prob_a, groups=groups)
        _refuse_other_questions(one, two)
    elif isinstance(y_prob_a, Queries) or y_prob_b is None:
        raise TypeError("Pass y_true and the predictions of two models, or two Queries objects.")
    else:
        one, two = (
            as_queries(
                y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
                pos_label=pos_label, name=name,
            )
            for name, y_prob in (("y_prob_a", y_prob_a), ("y_prob_b", y_prob_b))
        )  # fmt: skip
    # The units are numbered by rows, so that both models have the same.
    first, second = (
        make_sample(queries, bin_size, n_bins, numbered=True) for queries in (one, two)
    )
    difference = first.form.square - second.form.square
    middle = (one.y_prob + two.y_prob) / 2.0
    se = math.sqrt(_variance_of_difference(first, second, middle))
    # The variance of groups is estimated from few of them.
    freedom = max(first.form.n_units - 1.0, 1.0) if first.grouped else math.inf
    z = float(stats.t.ppf(0.5 + level / 2.0, freedom))
    if se > 0.0:
        pvalue = 2.0 * float(stats.t.sf(abs(difference) / se, freedom))
    else:
        pvalue = 1.0 if difference == 0.0 else 0.0
    error_a, error_b = (math.sqrt(max(0.0, sample.form.square)) for sample in (first, second))
    return CalibrationComparison(
        error_a=error_a,
        error_b=error_b,
        difference=difference,
        confidence_interval=ConfidenceInterval(difference - z * se, difference + z * se),
        confidence_level=level,
        standard_error=se,
        pvalue=pvalue,
    )


def _refuse_other_questions(one: Queries, two: Queries) -> None:
    """Refuse the queries of a second model that was asked something else."""
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


def _pairs(one: PairForm, two: PairForm) -> float:
    """Return the sum over pairs of units of the squared difference of their products."""
    return max(0.0, one.cross_moment(one) + two.cross_moment(two) - 2.0 * one.cross_moment(two))


def _variance_of_difference(one: Sample, two: Sample, middle: Array) -> float:
    """Return the variance of T_a - T_b: pairs of units, and the part that grows with the errors.

    `middle` is the mean of the two predictions, in order of rows. If it were
    right, the answers would vary by so much: that keeps the estimate from
    being too small where hardly an answer varies.
    """
    noise = 2.0 * _pairs(one.form.centred, two.form.centred)
    rows = one.form.rows - two.form.rows
    whole = 4.0 * float(np.sum(np.square(rows - rows.mean())))
    linear = max(0.0, whole - 4.0 * _pairs(one.form, two.form))
    if not one.grouped:
        # The more answers go against the predictions, the less the residuals need such help.
        share = min(1.0, 10.0 / max(expected_surprises(middle), 1e-300))
        sd = np.sqrt(middle * (1.0 - middle))
        pairs = _pairs(*(_scaled_form(sample, sd) for sample in (one, two)))
        reach = _reach(one, middle) - _reach(two, middle)
        noise = max(noise, share * 2.0 * pairs)
        linear = max(linear, share * 4.0 * float(np.sum(np.square(sd * reach))))
    # In a small sample the two parts are hard to tell apart, and the whole is safer.
    caution = min(1.0, math.sqrt(50.0 / one.form.n_units))
    return noise + linear + caution * max(0.0, whole - noise - linear)


def _rows(sample: Sample) -> Array:
    """Return the row of each sorted query."""
    queries = sample.ordered
    return np.arange(len(queries)) if queries.unit is None else queries.unit


def _scaled_form(sample: Sample, sd: Array) -> PairForm:
    """Return the form of residuals that are as large as they would vary."""
    return pair_form(sample.bins, sample.ordered.weights * sd[_rows(sample)])


def _reach(sample: Sample, middle: Array) -> Array:
    """Return how much T grows with the residual of each row, if `middle` were right."""
    rows, queries, bins = _rows(sample), sample.ordered, sample.bins
    expected = bins.sum(queries.weights * (middle[rows] - queries.q))
    reach = np.zeros(len(middle))
    reach[rows] = queries.weights * bins.of_queries(sample.form.factor * expected)
    return reach
