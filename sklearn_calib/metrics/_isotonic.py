"""The isotonic calibration curve, and the decomposition of a score that it gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from sklearn.isotonic import isotonic_regression

from sklearn_calib._results import ConfidenceInterval
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_confidence_level,
    check_generator,
    check_integer,
    check_option,
)
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._curves import CalibrationCurve, CorpDecomposition
from sklearn_calib.metrics._inference._fine_bins import FineBins
from sklearn_calib.metrics._inference._local_fit import grouped_bins
from sklearn_calib.queries._as_queries import Groups, queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["isotonic_calibration_curve"]

# Limits are computed at the means of so many bins.
_POINTS = 100


def isotonic_calibration_curve(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    score: str = "brier",
    confidence_level: float = 0.95,
    n_resamples: int = 200,
    groups: Groups = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    random_state: RandomState = None,
) -> CalibrationCurve:
    """Calibration curve by isotonic regression, with the CORP decomposition of a score.

    The curve is the best one that never falls (Dimitriadis, Gneiting & Jordan
    2021) [1]_; it needs no bins and no bandwidth.

    Its confidence interval has at each point all values through which a curve
    that never falls can be forced without losing too much likelihood (Banerjee
    & Wellner 2001) [2]_. It is never of zero width. It is conservative where the
    curve rises, and may fall short at the very ends of a curve that is flat.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    score : {"brier", "log"}, default="brier"
        Which score to split into miscalibration, discrimination and
        uncertainty.
    confidence_level : float, default=0.95
        Level of the bands at each point.
    n_resamples : int, default=200
        Number of refits behind the consistency band.
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
    random_state : int, RandomState, Generator or None, default=None
        Seed of the refits.

    Returns
    -------
    CalibrationCurve
        The curve with its bands and the decomposition.

    See Also
    --------
    calibration_band : A band that holds the whole of a curve that never falls.
    smooth_calibration_curve : A smooth curve.
    score_decomposition : The decomposition by bins.

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability
       diagrams for probabilistic classifiers", PNAS 118(8), 2021.
    .. [2] M. Banerjee and J. A. Wellner, "Likelihood ratio tests for monotone
       functions", Annals of Statistics 29(6), 2001.

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
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    ordered = sort_or_scan(queries, summed=True).apart()
    # Equal predictions get one value: pool them before the fit.
    runs = BinnedQueries(ordered, ordered.runs)
    fit = isotonic_regression(runs.prob_true, sample_weight=runs.weight, y_min=0.0, y_max=1.0)
    parts = _corp(score, ordered, runs.of_queries(fit))
    bins = grouped_bins(ordered, _POINTS)
    fitted = np.interp(bins.q, runs.prob_pred, fit)
    low, high = _likelihood_limits(bins.n, bins.yes, level)
    return CalibrationCurve(
        bins.q,
        fitted,
        ConfidenceInterval(np.minimum(low, fitted), np.maximum(high, fitted)),
        _consistency_band(bins, n_resamples, level, check_generator(random_state)),
        level,
        "isotonic",
        decomposition=parts,
    )


def _likelihood_limits(n: Array, yes: Array, level: float) -> tuple[Array, Array]:
    """Return limits of the frequency in each of several cells, in which it never falls.

    Twice the log-likelihood ratio has a limit law that depends on nothing where
    the curve rises, so that neither a bandwidth nor a derivative is needed. That
    law is stochastically smaller than chi-squared with one degree of freedom,
    which is the limit where many queries share a prediction. The latter is used,
    so that the limits hold for both.
    """
    quantile = float(special.chdtri(1, 1.0 - level))
    share = yes / n
    fit = isotonic_regression(share, sample_weight=n, y_min=0.0, y_max=1.0)
    free = float(_log_likelihood(fit, n, yes).sum())
    low, high = np.empty_like(fit), np.empty_like(fit)
    for i in range(len(n)):
        loss = _forced_loss(n, yes, i, free)
        low[i] = _edge(loss, fit[i], 0.0, quantile)
        high[i] = _edge(loss, fit[i], 1.0, quantile)
    return low, high


def _log_likelihood(p: Array, n: Array, yes: Array) -> Array:
    with np.errstate(divide="ignore"):
        return special.xlogy(yes, p) + special.xlog1py(n - yes, -p)


def _forced_loss(n: Array, yes: Array, i: int, free: float) -> Callable[[Array], Array]:
    """Return the function that says what it costs to force the curve through a value at cell i."""
    share = yes / n
    empty = np.empty(0)
    left = isotonic_regression(share[:i], sample_weight=n[:i]) if i else empty
    right = share[i + 1 :]
    right = isotonic_regression(right, sample_weight=n[i + 1 :]) if len(right) else empty

    def loss(values: Array) -> Array:
        value = values[:, None]
        # Cells to the left are fitted below the value, those to the right above it.
        forced = np.concatenate((np.minimum(left, value), value, np.maximum(right, value)), axis=1)
        return 2.0 * (free - _log_likelihood(forced, n, yes).sum(axis=1))

    return loss


def _edge(loss: Callable[[Array], Array], inside: float, outside: float, quantile: float) -> float:
    """Return where the loss passes the quantile between the fit and an end of [0, 1]."""
    # Four rounds of 12 points bring the bracket below 1e-4 of its length.
    for _ in range(4):
        path = np.linspace(inside, outside, 14)
        over = ~(loss(path[1:-1]) <= quantile)
        first = int(np.argmax(over)) if over.any() else len(over)
        inside, outside = path[first], path[first + 1]
    return float(outside)


def _consistency_band(
    bins: FineBins, n_resamples: int, level: float, rng: np.random.Generator
) -> ConfidenceInterval:
    """Draw answers from the predictions, fit again, and return the quantiles of the fits."""
    n = np.maximum(np.rint(bins.n), 1).astype(int)
    fits = [
        isotonic_regression(rng.binomial(n, bins.q) / n, sample_weight=bins.n)
        for _ in range(n_resamples)
    ]
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(fits, [tail, 1.0 - tail], axis=0)
    return ConfidenceInterval(low, high)


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
