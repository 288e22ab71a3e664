"""Is one model better calibrated than another?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_calib._results import ConfidenceInterval, Result, percent
from sklearn_calib._validation import Array, check_confidence_level
from sklearn_calib.metrics._inference._expected_difference import ComparedRows
from sklearn_calib.metrics._inference._grouped import squared_difference
from sklearn_calib.metrics._inference._sample import (
    Sample,
    check_inference_bins,
    make_sample,
)
from sklearn_calib.metrics._inference._scanned_pairs import Differences, differences_of_scans
from sklearn_calib.queries._as_queries import Groups, as_queries, queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan
from sklearn_calib.queries._scan_in_step import in_step

__all__ = ["CalibrationComparison", "compare_calibration"]

# With fewer rare answers than this, residuals are not left to tell how much they vary.
_TELLING = 10.0

# Up to so many rows in groups, what is expected of their answers is found: a scan keeps them.
_MOST_IN_GROUPS = 200_000


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
    y_true: ArrayLike | Queries | QueryScan,
    y_prob_a: ArrayLike | Queries | QueryScan,
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
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels. Or the queries of the one model, followed by those of
        the other, in place of the three arrays. Two scans of the same rows
        are read in step.
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
        for name, value in (("pos_label", pos_label), ("sample_weight", sample_weight)):
            if value is not None:
                raise TypeError(f"{name} is an option of scan_queries; do not pass it here.")
        if not (isinstance(y_true, QueryScan) and isinstance(y_prob_a, QueryScan)):
            raise TypeError("After a scan, pass a scan of the same rows for the other model.")
        if y_prob_b is not None:
            raise TypeError("After a scan, pass the scan of the other model alone.")
        small = [
            queries_or_scan(scan, classes=classes, groups=groups) for scan in (y_true, y_prob_a)
        ]
        if not all(isinstance(queries, Queries) for queries in small):
            return _of_scans(y_true, y_prob_a, groups, bin_size, n_bins, level)
        y_true, y_prob_a = small
        groups = None
    if isinstance(y_true, Queries):
        for name, value in (("pos_label", pos_label), ("sample_weight", sample_weight)):
            if value is not None:
                raise TypeError(f"{name} is part of the Queries objects; do not pass it as well.")
        if not isinstance(y_prob_a, Queries) or y_prob_b is not None:
            raise TypeError("After a Queries object, pass the Queries of the other model alone.")
        one = as_queries(y_true, classes=classes, groups=groups)
        two = as_queries(y_prob_a, groups=groups)
        _refuse_other_questions(one, two)
    elif isinstance(y_prob_a, (Queries, QueryScan)) or y_prob_b is None:
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
    rows = _compared_rows(one, two, first, second)
    return _made(_differences(first, second, rows), first.grouped, level)


def _made(found: Differences, grouped: bool, level: float) -> CalibrationComparison:
    difference = found.squares[0] - found.squares[1]
    se = math.sqrt(_variance(found))
    # The variance of groups is estimated from few of them, or from the few that carry it.
    freedom = max(min(found.n_units - 1.0, found.freedom), 1.0) if grouped else math.inf
    z = float(stats.t.ppf(0.5 + level / 2.0, freedom))
    if se > 0.0:
        pvalue = 2.0 * float(stats.t.sf(abs(difference) / se, freedom))
    else:
        pvalue = 1.0 if difference == 0.0 else 0.0
    error_a, error_b = (math.sqrt(max(0.0, square)) for square in found.squares)
    return CalibrationComparison(
        error_a=error_a,
        error_b=error_b,
        difference=difference,
        confidence_interval=ConfidenceInterval(difference - z * se, difference + z * se),
        confidence_level=level,
        standard_error=se,
        pvalue=pvalue,
    )


def _of_scans(
    one: QueryScan,
    two: QueryScan,
    groups: Groups,
    bin_size: int | str,
    n_bins: int | None,
    level: float,
) -> CalibrationComparison:
    """Compare two scans of the same rows."""
    if groups is False:
        one, two = one.without_groups(), two.without_groups()
    if one.grouped != two.grouped:
        raise ValueError(
            "One of the scans has groups and the other has none: both models must be asked the "
            "same questions."
        )
    first, second = (make_sample(scan, bin_size, n_bins, numbered=True) for scan in (one, two))
    if not first.grouped:
        return _made(differences_of_scans((one, two), (first.bins, second.bins)), False, level)
    # The sums of groups are made already: this looks whether rows agree, and keeps a few.
    chunks = in_step(one, two)
    if len(first.ordered) > _MOST_IN_GROUPS:
        for _ in chunks:
            pass
        return _made(_differences(first, second, None), True, level)
    here, there = (Queries.concat(side, shared_groups=True) for side in zip(*chunks, strict=True))
    rows = _compared_rows(here, there, first, second)
    return _made(_differences(first, second, rows), True, level)


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


def _compared_rows(
    one: Queries, two: Queries, first: Sample, second: Sample
) -> ComparedRows | None:
    """Return the rows of two models in their bins; None for too many rows in groups."""
    if first.grouped and len(one) > _MOST_IN_GROUPS:
        return None
    weight = np.ones(len(one)) if one.sample_weight is None else one.sample_weight
    used = slice(None) if one.sample_weight is None else np.flatnonzero(weight > 0.0)
    qs = one.y_prob[used], two.y_prob[used]
    bins = first.bins, second.bins
    return ComparedRows(
        y=one.y_true[used],
        weight=weight[used],
        q=qs,
        at=(np.searchsorted(bins[0].high, qs[0]), np.searchsorted(bins[1].high, qs[1])),
        factors=(first.form.factor, second.form.factor),
        unit=None if one.units is None else one.units[used],
    )


def _differences(one: Sample, two: Sample, rows: ComparedRows | None) -> Differences:
    """Return what the variance of T_a - T_b is made from."""
    products = one.form.rows - two.form.rows
    squares = np.square(products - products.mean())
    return Differences(
        squares=(one.form.square, two.form.square),
        pairs=squared_difference(one.form, two.form),
        centred_pairs=squared_difference(one.form.centred, two.form.centred),
        whole=4.0 * float(np.sum(squares)),
        n_units=one.form.n_units,
        freedom=_freedom(squares),
        expected=None if rows is None else rows.expected(),
    )


def _freedom(squares: Array) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of squares: n for n normal variables."""
    total = float(squares.sum())
    unequal = float(np.sum(np.square(squares / total))) if total > 0.0 else 0.0
    return 2.0 / max(unequal - 1.0 / len(squares), 1e-9)


def _variance(found: Differences) -> float:
    """Return the variance of T_a - T_b: pairs of units, and the part that grows with the errors.

    If the mean of the two predictions were right, the answers would vary by so
    much: that keeps the estimate from being too small where hardly an answer varies.
    """
    noise = 2.0 * found.centred_pairs
    linear = max(0.0, found.whole - 4.0 * found.pairs)
    expected = found.expected
    if expected is not None:
        # The more answers tell the variance, the less the residuals need such help.
        share = min(1.0, _TELLING / max(expected.answers, 1e-300))
        noise = max(noise, share * expected.noise)
        linear = max(linear, share * expected.linear)
    # In a small sample the two parts are hard to tell apart, and the whole is safer.
    caution = min(1.0, math.sqrt(50.0 / found.n_units))
    return noise + linear + caution * max(0.0, found.whole - noise - linear)
