"""Calibration curves without bins: a smooth one, and the isotonic (CORP) one."""

from __future__ import annotations

import numbers
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats
from sklearn.isotonic import isotonic_regression

from sklearn_calib._results import ConfidenceInterval, PlottedResult, Result
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_confidence_level,
    check_generator,
    check_integer,
    check_option,
)
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import SortedQueries, sort_queries
from sklearn_calib.metrics._bins import wilson
from sklearn_calib.metrics._inference._grouped import pair_form
from sklearn_calib.queries._as_queries import Groups, as_queries
from sklearn_calib.queries._queries import Queries

__all__ = [
    "CalibrationCurve",
    "CorpDecomposition",
    "isotonic_calibration_curve",
    "smooth_calibration_curve",
]

# Curves are computed at the means of so many fine bins: more than an eye can
# tell apart, and few enough for matrices.
_POINTS = 400

# Log-odds are kept within those of one in a million.
_LEAST = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class CorpDecomposition(Result):
    """A mean score as miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    name : {"brier", "log"}
        Which score.
    score : float
        Mean score of the predictions.
    miscalibration : float
        What the isotonic recalibration would win; never negative.
    discrimination : float
        What the recalibrated predictions win over a constant; never negative.
    uncertainty : float
        Score of the best constant prediction.

    See Also
    --------
    isotonic_calibration_curve : Makes this object.
    """

    name: str
    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    def _columns(self) -> dict[str, list[object]]:
        parts = ("miscalibration", "discrimination", "uncertainty", "score")
        label = {"brier": "Brier score", "log": "log loss"}[self.name]
        return {"part": list(parts), label: [getattr(self, part) for part in parts]}

    def _sentence(self) -> str:
        return "score = miscalibration - discrimination + uncertainty"


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCurve(PlottedResult):
    """A calibration curve at fine steps, with bands.

    Attributes
    ----------
    prob_pred : ndarray of shape (n_points,)
        Predictions, in increasing order.
    prob_true : ndarray of shape (n_points,)
        Estimated frequency of yes at each of them.
    confidence_interval : ConfidenceInterval
        Arrays `low` and `high`: how well the curve is known at each point.
    consistency_band : ConfidenceInterval
        Arrays `low` and `high`: where the estimate would fall at each point
        if the predictions were right.
    confidence_level : float
        Level of both, at each point on its own.
    method : {"smooth", "isotonic"}
        Which estimate.
    bandwidth : float or None
        Of the smooth curve, in units of log-odds.
    decomposition : CorpDecomposition or None
        Of the isotonic curve.

    See Also
    --------
    smooth_calibration_curve : Makes this object.
    isotonic_calibration_curve : Makes this object.
    """

    prob_pred: Array
    prob_true: Array
    confidence_interval: ConfidenceInterval
    consistency_band: ConfidenceInterval
    confidence_level: float
    method: str
    bandwidth: float | None = None
    decomposition: CorpDecomposition | None = None

    def _columns(self) -> dict[str, Array]:
        low, high = self.confidence_interval
        return {"prob_pred": self.prob_pred, "prob_true": self.prob_true, "low": low, "high": high}

    def _sentence(self) -> str:
        bandwidth = "" if self.bandwidth is None else f", bandwidth {self.bandwidth:.3g} log-odds"
        return f"{self.method} calibration curve at {len(self.prob_pred)} points{bandwidth}"


def _fine_bins(ordered: SortedQueries) -> BinnedQueries:
    """Return at most `_POINTS` bins of equal weight."""
    return BinnedQueries(ordered, ordered.cut_by_number(min(_POINTS, len(ordered))))


def _unit(values: Array) -> Array:
    return np.clip(values, 0.0, 1.0)


def _smoother(x: Array, weight: Array, bandwidth: float) -> Array:
    """Return the matrix of a local linear fit with a normal kernel: row j gives the fit at x_j."""
    distance = x[None, :] - x[:, None]
    kernel = weight * np.exp(-0.5 * np.square(distance / bandwidth))
    s0 = kernel.sum(axis=1, keepdims=True)
    s1 = (kernel * distance).sum(axis=1, keepdims=True)
    s2 = (kernel * np.square(distance)).sum(axis=1, keepdims=True)
    determinant = s0 * s2 - np.square(s1)
    # Where all the weight sits at one point there is no slope to fit: take the mean.
    flat = determinant <= 1e-10 * s0 * s2 + 1e-300
    with np.errstate(divide="ignore", invalid="ignore"):
        sloped = kernel * (s2 - s1 * distance) / determinant
    return np.where(flat, kernel / s0, sloped)


def smooth_calibration_curve(
    y_true: ArrayLike | Queries,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float | str = "auto",
    confidence_level: float = 0.95,
    groups: Groups = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> CalibrationCurve:
    """Calibration curve by local linear regression on the log-odds of the predictions.

    The residuals `y_true - y_prob` are smoothed, and the predictions added
    back, so that a calibrated model gives the diagonal at every bandwidth.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Queries
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    bandwidth : float or "auto", default="auto"
        Standard deviation of the kernel in log-odds; "auto" takes the one of
        least leave-one-out error.
    confidence_level : float, default=0.95
        Level of the bands at each point on its own.
    groups : array-like of shape (n_samples,), False or None, default=None
        Queries of one group may depend on each other, as in
        `calibration_error_interval`.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.

    Returns
    -------
    CalibrationCurve
        The curve with its bands.

    See Also
    --------
    isotonic_calibration_curve : A curve that never falls.
    calibration_bins : A curve from bins.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib import smooth_calibration_curve
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(5000, a=1, b=1, distortion="shift", random_state=0)
    >>> curve = smooth_calibration_curve(sample.queries)
    >>> middle = np.searchsorted(curve.prob_pred, 0.5)
    >>> bool(abs(curve.prob_true[middle] - 0.6) < 0.05)
    True
    """
    level = check_confidence_level(confidence_level)
    queries = as_queries(
        y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    ordered = sort_queries(queries, units=queries.units)
    bins = _fine_bins(ordered)
    q, n = bins.prob_pred, bins.weight
    residual = bins.prob_true - q
    x = special.logit(np.clip(q, _LEAST, 1.0 - _LEAST))
    if isinstance(bandwidth, str):
        check_option(bandwidth, "bandwidth", ("auto",))
        bandwidth = _choose_bandwidth(x, bins)
    elif not isinstance(bandwidth, numbers.Real) or not float(bandwidth) > 0.0:
        raise ValueError(f"bandwidth must be a positive number or 'auto', got {bandwidth!r}.")
    matrix = _smoother(x, n, float(bandwidth))
    fitted = _unit(q + matrix @ residual)
    z = float(stats.norm.ppf(0.5 + level / 2.0))
    # With weights, a bin's mean has the variance of its effective number of queries.
    shrink = bins.squared_weight / np.square(n)
    null_sd = np.sqrt(np.square(matrix) @ (q * (1.0 - q) * shrink))
    # The best bandwidth balances bias against noise; the interval is about noise
    # alone, so it is made at half that bandwidth, where little bias is left.
    narrow = _smoother(x, n, float(bandwidth) / 2.0)
    centre = _unit(q + narrow @ residual)
    effective = 1.0 / (np.square(narrow) @ shrink)
    if ordered.unit is not None:
        form = pair_form(bins).centred()
        by_group = form.sums.multiply(1.0 / n[None, :]).tocsr()
        variance = np.square(by_group @ narrow.T).sum(axis=0)
        binomial = centre * (1.0 - centre) / effective
        inflation = np.divide(variance, binomial, out=np.ones_like(variance), where=binomial > 0)
        effective = np.maximum(effective / np.maximum(inflation, 1.0), 1.0)
        null_sd = np.maximum(null_sd, np.sqrt(np.square(by_group @ matrix.T).sum(axis=0)))
    low, high = wilson(centre, effective, z)
    low, high = np.minimum(low, fitted), np.maximum(high, fitted)
    return CalibrationCurve(
        q,
        fitted,
        ConfidenceInterval(low, high),
        ConfidenceInterval(_unit(q - z * null_sd), _unit(q + z * null_sd)),
        level,
        "smooth",
        bandwidth=float(bandwidth),
    )


def _choose_bandwidth(x: Array, bins: BinnedQueries) -> float:
    """Return the bandwidth of least leave-one-out error of the residuals."""
    span = float(x[-1] - x[0])
    if span == 0.0:
        return 1.0
    n = bins.weight
    residual = bins.prob_true - bins.prob_pred
    square = bins.sum(np.square(bins.queries.y - bins.queries.q) * bins.queries.weights)
    best, least = span, np.inf
    # From wide to narrow, so that the smoother of two equals wins.
    for bandwidth in np.geomspace(2.0 * span, span / 50.0, 18):
        matrix = _smoother(x, n, float(bandwidth))
        fit = matrix @ residual
        leverage = np.minimum(np.diag(matrix) / np.maximum(bins.count, 1), 0.999)
        errors = square - 2.0 * fit * n * residual + n * np.square(fit)
        risk = float(np.sum(errors / np.square(1.0 - leverage)))
        if risk < least:
            best, least = float(bandwidth), risk
    return best


def isotonic_calibration_curve(
    y_true: ArrayLike | Queries,
    y_prob: ArrayLike | None = None,
    *,
    score: str = "brier",
    confidence_level: float = 0.95,
    n_resamples: int = 200,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    random_state: RandomState = None,
) -> CalibrationCurve:
    """Calibration curve by isotonic regression, with the CORP decomposition of a score.

    The curve is the best one that never falls (Dimitriadis, Gneiting & Jordan
    2021) [1]_; it needs no bins and no bandwidth. Its bands take the queries
    as independent.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Queries
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    score : {"brier", "log"}, default="brier"
        Which score to split into miscalibration, discrimination and
        uncertainty.
    confidence_level : float, default=0.95
        Level of the bands at each point.
    n_resamples : int, default=200
        Number of refits behind the bands.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the refits.

    Returns
    -------
    CalibrationCurve
        The curve with its bands and the decomposition.

    See Also
    --------
    smooth_calibration_curve : A smooth curve.
    score_decomposition : The decomposition by bins.

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability
       diagrams for probabilistic classifiers", PNAS 118(8), 2021.

    Examples
    --------
    >>> from sklearn_calib import isotonic_calibration_curve
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(2000, distortion="slope", random_state=0)
    >>> curve = isotonic_calibration_curve(sample.queries, random_state=0)
    >>> parts = curve.decomposition
    >>> bool(
    ...     abs(parts.score - (parts.miscalibration - parts.discrimination + parts.uncertainty))
    ...     < 1e-12
    ... )
    True
    """
    level = check_confidence_level(confidence_level)
    check_option(score, "score", ("brier", "log"))
    check_integer(n_resamples, "n_resamples", low=20)
    queries = as_queries(
        y_true, y_prob, classes=classes, sample_weight=sample_weight, pos_label=pos_label
    )
    ordered = sort_queries(queries)
    # Equal predictions get one value: pool them before the fit.
    runs = BinnedQueries(ordered, ordered.runs)
    fit = isotonic_regression(runs.prob_true, sample_weight=runs.weight, y_min=0.0, y_max=1.0)
    parts = _corp(score, ordered, runs.of_queries(fit))
    bins = _fine_bins(ordered)
    fitted = np.interp(bins.prob_pred, runs.prob_pred, fit)
    rng = check_generator(random_state)
    interval = _refit_band(bins, fitted, n_resamples, level, rng)
    consistency = _refit_band(bins, bins.prob_pred, n_resamples, level, rng, spread=False)
    return CalibrationCurve(
        bins.prob_pred, fitted, interval, consistency, level, "isotonic", decomposition=parts
    )


def _refit_band(
    bins: BinnedQueries,
    law: Array,
    n_resamples: int,
    level: float,
    rng: np.random.Generator,
    spread: bool = True,
) -> ConfidenceInterval:
    """Draw answers from a law, fit again, and return the quantiles of the fits.

    With `spread` they are turned into limits around the law, as a basic bootstrap does.
    """
    n = np.maximum(np.rint(bins.effective_count), 1).astype(int)
    fits = np.array(
        [
            isotonic_regression(rng.binomial(n, law) / n, sample_weight=bins.weight)
            for _ in range(n_resamples)
        ]
    )
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(fits, [tail, 1.0 - tail], axis=0)
    if not spread:
        return ConfidenceInterval(low, high)
    centre = np.median(fits, axis=0)
    return ConfidenceInterval(
        _unit(np.minimum(law, law + (centre - high))), _unit(np.maximum(law, law + (centre - low)))
    )


def _corp(score: str, queries: SortedQueries, recalibrated: Array) -> CorpDecomposition:
    y, q, w = queries.y, queries.q, queries.weights
    base = np.full(len(q), np.average(y, weights=w))

    def mean_score(p: Array) -> float:
        if score == "brier":
            return float(np.average(np.square(p - y), weights=w))
        eps = np.finfo(float).eps
        p = np.clip(p, eps, 1.0 - eps)
        return float(-np.average(np.where(y, np.log(p), np.log1p(-p)), weights=w))

    whole, best, constant = mean_score(q), mean_score(recalibrated), mean_score(base)
    return CorpDecomposition(score, whole, whole - best, constant - best, constant)
