"""The calibration curve by a Gaussian process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize, special

from sklearn_calib._results import ConfidenceInterval
from sklearn_calib._validation import Array, check_confidence_level
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._curves import CalibrationCurve
from sklearn_calib.metrics._inference._local_fit import grouped_bins
from sklearn_calib.queries._as_queries import Groups, queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

__all__ = ["gaussian_process_calibration_curve"]

# The process is fitted to so many bins: its cost grows with the cube of their number.
_POINTS = 100

# Whole weights stand for copies; with more of them than this, noise is lost in rounding.
_MOST_COPIES = 1e10

# Rounds of Laplace's approximation, and those after which the kernel is fitted again.
_ROUNDS = 12
_KERNEL_ROUNDS = (0, 2, 4)

# Steps of more log-odds than this overshoot where answers are few.
_LONGEST_STEP = 2.0


def gaussian_process_calibration_curve(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    kernel: Kernel | None = None,
    confidence_level: float = 0.95,
    groups: Groups = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> CalibrationCurve:
    """Calibration curve by a Gaussian process over bins, with credible intervals.

    The true log-odds are those of the prediction plus a Gaussian process of mean
    zero: before any data, the model is believed. Nguyen & O'Connor (2015) [1]_
    propose such a curve as future work. The answers of a bin are binomial;
    Laplace's approximation [2]_ turns them into a response with normal noise,
    to which scikit-learn's `GaussianProcessRegressor` is fitted.

    A credible interval is right for curves that the prior finds likely, and so it is
    too short for curves with jumps or waves. It holds for one point at a time.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    kernel : sklearn.gaussian_process.kernels.Kernel, default=None
        Covariance of the process over log-odds; by default a straight line plus
        a smooth departure from it. Its parameters maximise the marginal
        likelihood, within their bounds.
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
    smooth_calibration_curve : A smooth curve without a prior.
    calibration_band : A band that holds the whole curve.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor, "Posterior calibration and exploratory
       analysis for natural language processing models", EMNLP 2015.
    .. [2] C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine
       Learning", MIT Press, 2006, section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib import gaussian_process_calibration_curve
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(5000, a=1, b=1, distortion="shift", random_state=0)
    >>> curve = gaussian_process_calibration_curve(sample.queries)
    >>> middle = np.searchsorted(curve.prob_pred, 0.5)
    >>> bool(abs(curve.prob_true[middle] - 0.6) < 0.05)
    True
    """
    # Loaded when it is asked for: the rest of the package does not need it.
    from sklearn.gaussian_process.kernels import Kernel

    level = check_confidence_level(confidence_level)
    if kernel is not None and not isinstance(kernel, Kernel):
        raise TypeError(
            f"kernel must be one of sklearn.gaussian_process.kernels, got {type(kernel).__name__}."
        )
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    bins = grouped_bins(sort_or_scan(queries, summed=True), _POINTS)
    x, n = bins.x, np.minimum(bins.n, _MOST_COPIES)
    mean, sd, fitted = _laplace(
        x, n, bins.yes / bins.n, _default_kernel() if kernel is None else kernel
    )
    z = float(special.ndtri(0.5 + level / 2.0))
    noise = _null_noise(fitted(x[:, None]), 1.0 / (n * _variance(special.expit(x))))
    return CalibrationCurve(
        bins.q,
        special.expit(x + mean),
        ConfidenceInterval(special.expit(x + mean - z * sd), special.expit(x + mean + z * sd)),
        ConfidenceInterval(special.expit(x - z * noise), special.expit(x + z * noise)),
        level,
        "gaussian_process",
        kernel=fitted,
    )


def _default_kernel() -> Kernel:
    """Return the prior: a straight line in log-odds, and a smooth departure from it."""
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

    line = ConstantKernel(0.1, (1e-4, 10.0)) * DotProduct(1.0, (0.3, 10.0))
    departure = ConstantKernel(0.1, (1e-4, 10.0)) * RBF(1.0, (0.25, 10.0))
    return line + departure


def _variance(p: Array) -> Array:
    return np.maximum(p * (1.0 - p), 1e-9)


def _laplace(x: Array, n: Array, share: Array, kernel: Kernel) -> tuple[Array, Array, Kernel]:
    """Return mean and standard deviation of the process at x, and the kernel as fitted."""
    from sklearn.gaussian_process import GaussianProcessRegressor

    g, fitted = np.zeros(len(x)), kernel
    for step in range(_ROUNDS):
        p = special.expit(x + g)
        v = _variance(p)
        response, noise = g + (share - p) / v, 1.0 / (n * v)
        if step in _KERNEL_ROUNDS:
            fitted = _best_kernel(kernel, x, response, noise)
        regressor = GaussianProcessRegressor(fitted, alpha=noise, optimizer=None)
        regressor.fit(x[:, None], response)
        mean, sd = regressor.predict(x[:, None], return_std=True)
        moved = np.clip(mean - g, -_LONGEST_STEP, _LONGEST_STEP)
        g = g + moved
        if step > max(_KERNEL_ROUNDS) and np.abs(moved).max() < 1e-4:
            break
    return g, sd, fitted


def _best_kernel(kernel: Kernel, x: Array, response: Array, noise: Array) -> Kernel:
    """Return the kernel of largest marginal likelihood, from a few fixed starts.

    The search is done here because the regressor's own warns where a parameter ends
    at its bound, as an amplitude does when the model is calibrated.
    """
    from sklearn.gaussian_process import GaussianProcessRegressor

    if len(kernel.theta) == 0:
        return kernel
    regressor = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None)
    regressor.fit(x[:, None], response)
    centre, bounds = kernel.theta.copy(), kernel.bounds
    # A log-normal prior a decade and a half wide keeps flat directions in place.
    width = 3.5

    def objective(theta: Array) -> tuple[float, Array]:
        value, gradient = regressor.log_marginal_likelihood(
            theta, eval_gradient=True, clone_kernel=False
        )
        away = (theta - centre) / width
        return -value + 0.5 * float(away @ away), -gradient + away / width

    found = [
        optimize.minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds)
        for start in (centre, *(np.clip(centre + side, *bounds.T) for side in (1.5, -1.5)))
    ]
    return kernel.clone_with_theta(min(found, key=lambda result: result.fun).x)


def _null_noise(covariance: Array, noise: Array) -> Array:
    """Return the standard deviation of the process after answers that are just as predicted.

    It is a little more than what chance moves the mean by with this kernel, which
    allows for the kernel that chance moves as well.
    """
    smoother = linalg.solve(covariance + np.diag(noise), covariance, assume_a="pos")
    return np.sqrt(np.maximum(noise * np.diag(smoother), 0.0))
