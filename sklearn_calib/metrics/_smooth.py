"""The smooth calibration curve."""

from __future__ import annotations

import numbers

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sklearn_calib._results import ConfidenceInterval
from sklearn_calib._validation import check_confidence_level, check_option
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._curves import CalibrationCurve
from sklearn_calib.metrics._inference._local_fit import local_logistic, smooth_fit
from sklearn_calib.queries._as_queries import Groups, queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["smooth_calibration_curve"]


def smooth_calibration_curve(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float | str = "auto",
    confidence_level: float = 0.95,
    groups: Groups = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> CalibrationCurve:
    """Calibration curve by local logistic regression on the log-odds of the predictions.

    What is smoothed is the difference between the true and the predicted
    log-odds, so that a calibrated model gives the diagonal, and one whose
    log-odds are shifted or stretched its true curve, at every bandwidth.

    The confidence interval is bias-corrected (Calonico, Cattaneo & Farrell
    2018) [1]_: it comes from a local quadratic at no more than half the
    bandwidth, and so need not lie evenly around the curve. It holds for one point at a
    time; `calibration_band` holds for the curve as a whole.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    bandwidth : float or "auto", default="auto"
        Standard deviation of the kernel in log-odds; "auto" takes the one of
        least leave-one-out deviance.
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
    calibration_band : A band that holds the whole curve.
    isotonic_calibration_curve : A curve that never falls.
    gaussian_process_calibration_curve : A curve with a prior.
    calibration_bins : A curve from bins.

    References
    ----------
    .. [1] S. Calonico, M. D. Cattaneo and M. H. Farrell, "On the effect of bias
       estimation on coverage accuracy in nonparametric inference", Journal of
       the American Statistical Association 113(522), 2018.

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
    chosen = check_bandwidth(bandwidth)
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    fit = smooth_fit(sort_or_scan(queries, summed=True), chosen)
    bins = fit.bins
    z = float(special.ndtri(0.5 + level / 2.0))
    # The fit to answers that are just as predicted says how chance would move it.
    null = local_logistic(bins.x, bins.n, bins.n * bins.q, fit.bandwidth, 1)
    noise = np.sqrt(np.square(null.influence) @ (bins.n * bins.q * (1.0 - bins.q)))
    return CalibrationCurve(
        bins.q,
        fit.curve.p,
        ConfidenceInterval(*fit.limits(z, prior=0.5)),
        ConfidenceInterval(special.expit(bins.x - z * noise), special.expit(bins.x + z * noise)),
        level,
        "smooth",
        bandwidth=fit.bandwidth,
    )


def check_bandwidth(bandwidth: float | str) -> float | None:
    """Return a bandwidth, or None where it is to be chosen."""
    if isinstance(bandwidth, str):
        check_option(bandwidth, "bandwidth", ("auto",))
        return None
    if not isinstance(bandwidth, numbers.Real) or not float(bandwidth) > 0.0:
        raise ValueError(f"bandwidth must be a positive number or 'auto', got {bandwidth!r}.")
    return float(bandwidth)
