"""Local logistic regression of the answers on the log-odds of the predictions.

P(yes) = expit(x + g(x)), x the log-odds of the prediction and g smooth. A
calibrated model has g = 0, and one whose log-odds are shifted or stretched a g
that is a straight line, so that neither is bent by smoothing. At each point a
polynomial is fitted to g with a normal kernel. The curve shown is the local line.
Its limits come from a local quadratic at a smaller bandwidth, which is the local
line with its bias removed (Calonico, Cattaneo & Farrell 2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._inference._fine_bins import SAME, FineBins, fine_bins, log_odds

# Fits are made at the means of so many fine bins: more than an eye can tell apart, and few
# enough for matrices. The bandwidth can be chosen with fewer.
MOST_POINTS = 200
_POINTS_TO_CHOOSE = 120

# The curve's bandwidth balances bias and noise. Limits need less bias: they have this share
# of it, and never more than so many log-odds.
_NARROWING, _WIDEST = 0.5, 0.6

# Prior standard deviations of g and of its slope and curvature over one bandwidth: weak,
# so that a stretch without a single yes has a finite fit.
_PRIOR_SD = (4.0, 2.0, 1.0)

# How many queries the prior may be worth: close to 0 and 1 it would be worth thousands, and there
# it must not outvote the few that are really there.
_PRIOR_QUERIES = 100.0
_PRIOR_SHARE = 3.0

# More answers of each kind than this are as good as normal.
_MANY = 1e4


@dataclass(frozen=True, eq=False)
class LocalFit:
    """Local polynomial fits of g.

    Attributes
    ----------
    g, p : ndarray of shape (n_points,)
        The fit, and expit(x + g).
    influence : ndarray of shape (n_points, n_points)
        Row i says how the sums of residuals of the bins move the fit at bin i.
    root : ndarray of shape (n_points, n_points + degree + 1)
        Times independent standard normals, this is the normal process of the
        fit. The last columns are the prior's: what is not known where there are
        no answers.
    number : ndarray of shape (n_points,)
        Queries under the kernel.
    """

    g: Array
    p: Array
    influence: Array
    root: Array
    number: Array

    @property
    def se(self) -> Array:
        """Standard error of g."""
        return np.sqrt(np.square(self.root).sum(axis=1))


def local_logistic(
    x: Array,
    n: Array,
    yes: Array,
    bandwidth: float,
    degree: int,
    start: Array | None = None,
    iterations: int = 25,
) -> LocalFit:
    """Fit g by local polynomials at every x, by Newton's method with halved steps."""
    scaled = (x[None, :] - x[:, None]) / bandwidth
    kernel = np.exp(-0.5 * np.square(scaled))
    powers = np.stack([scaled**k for k in range(degree + 1)])
    m = len(x)
    beta = np.zeros((m, degree + 1))
    if start is not None:
        beta[:, 0] = start
    precision = 1.0 / np.array(_PRIOR_SD[: degree + 1])
    prior = np.diag(np.square(precision))
    products = np.stack([a * b for a in powers for b in powers])

    def derivatives(at: Array) -> tuple[Array, Array, Array]:
        """Return gradient, information and value of each local likelihood."""
        eta = np.clip(x[None, :] + np.einsum("ik,kij->ij", at, powers), -30.0, 30.0)
        p = special.expit(eta)
        gradient = np.einsum("kij,ij->ik", powers, kernel * (yes - n * p)) - at @ prior
        information = np.einsum("kij,ij->ik", products, kernel * n * p * (1.0 - p))
        information = information.reshape(m, degree + 1, degree + 1) + prior
        value = (kernel * (yes * eta - n * np.logaddexp(0.0, eta))).sum(axis=1)
        return gradient, information, value - 0.5 * np.einsum("ik,kl,il->i", at, prior, at)

    gradient, information, value = derivatives(beta)
    for _ in range(iterations):
        move = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        size = np.ones(m)
        for _ in range(8):
            trial = beta + size[:, None] * move
            new = derivatives(trial)
            worse = new[2] < value - 1e-9 * (1.0 + np.abs(value))
            if not worse.any():
                break
            size[worse] *= 0.3
        beta, (gradient, information, value) = trial, new
        if np.abs(move[:, 0]).max() < 1e-5:
            break
    inverse = np.linalg.inv(information)[:, 0, :]
    influence = np.einsum("ik,kij->ij", inverse, powers) * kernel
    local = special.expit(np.clip(x + np.einsum("ik,kij->ij", beta, powers), -30.0, 30.0))
    root = influence * np.sqrt(n * local * (1.0 - local))
    p = special.expit(np.clip(x + beta[:, 0], -30.0, 30.0))
    root = np.concatenate((root, inverse * precision), axis=1)
    return LocalFit(beta[:, 0], p, influence, root, kernel @ n)


def choose_bandwidth(bins: FineBins) -> float:
    """Return the bandwidth of least leave-one-out deviance of local lines.

    To first order, leaving a query out moves the fit at its bin by its leverage
    times its residual.
    """
    x, n, yes = bins.x, bins.n, bins.yes
    if float(np.ptp(x)) < SAME:
        return 1.0
    if len(x) > _POINTS_TO_CHOOSE:
        part = np.arange(len(x)) * _POINTS_TO_CHOOSE // len(x)
        n, yes = np.bincount(part, n), np.bincount(part, yes)
        x = log_odds(np.bincount(part, bins.n * bins.q) / n)
    best, least, start = math.inf, math.inf, None
    # From wide to narrow, so that the smoother of two equals wins.
    for h in np.geomspace(4.0 * bins.spread, 0.12 * bins.spread, 10):
        fit = local_logistic(x, n, yes, float(h), 1, start, iterations=8)
        start = fit.g
        lever = np.diag(fit.influence)
        # A query that said yes has the residual 1 - p, one that said no has -p.
        without_yes = x + fit.g - lever * (1.0 - fit.p)
        without_no = x + fit.g + lever * fit.p
        risk = float(
            np.dot(yes, np.logaddexp(0.0, -without_yes))
            + np.dot(n - yes, np.logaddexp(0.0, without_no))
        )
        if risk < least - 1e-9:
            best, least = float(h), risk
    return best


@dataclass(frozen=True, eq=False)
class SmoothFit:
    """A curve, and what its limits are made from.

    Attributes
    ----------
    bins : FineBins
        Where the curve was fitted.
    curve : LocalFit
        The local line.
    corrected : LocalFit
        The local quadratic at a smaller bandwidth.
    bandwidth : float
        That of the curve.
    """

    bins: FineBins
    curve: LocalFit
    corrected: LocalFit
    bandwidth: float

    def limits(self, z: float, prior: float = 0.0) -> tuple[Array, Array]:
        """Return limits z standard errors from the corrected fit, stretched to hold the curve."""
        fit = self.corrected
        low, high = odds_limits(self.bins.x + fit.g, fit.se, fit.number, z, prior)
        return np.minimum(low, self.curve.p), np.maximum(high, self.curve.p)


def smooth_fit(queries: SortedQueries, bandwidth: float | None = None) -> SmoothFit:
    """Fit the smooth curve and its corrected version; groups make queries count for less."""
    all_bins = bins = fine_bins(queries, MOST_POINTS)
    if queries.grouped:
        bins = _deflate(all_bins, bins.spread)
    h = choose_bandwidth(bins) if bandwidth is None else bandwidth
    narrow = min(h * _NARROWING, _WIDEST)
    if queries.grouped:
        bins = _deflate(all_bins, narrow)
    curve = local_logistic(bins.x, bins.n, bins.yes, h, 1)
    corrected = local_logistic(bins.x, bins.n, bins.yes, narrow, 2, curve.g)
    return SmoothFit(bins, curve, corrected, h)


def _deflate(bins: FineBins, bandwidth: float) -> FineBins:
    pilot = local_logistic(bins.x, bins.n, bins.yes, max(bandwidth, bins.spread), 1)
    return bins.deflated(bins.group_inflation(pilot.p, bandwidth))


def grouped_bins(queries: SortedQueries, most: int) -> FineBins:
    """Return fine bins whose numbers are deflated by the dependence within groups."""
    bins = fine_bins(queries, most)
    if not queries.grouped:
        return bins
    return _deflate(bins, min(bins.spread, _WIDEST))


def odds_limits(
    centre: Array, se: Array, number: Array, z: float, prior: float = 0.0
) -> tuple[Array, Array]:
    """Return limits of a frequency from a fit of its log-odds.

    Plain limits of log-odds are too short on the side of the rarer answer, where
    only a few such answers stand behind the fit, and too long on the other. So
    these are the limits from as many queries as would give the same standard
    error: the exact ones (Clopper-Pearson), or with `prior=0.5` Jeffreys', which
    cover on average. With many answers of both kinds all of them are the same.
    `number` is how many queries are really there; the prior adds three times as many at most.
    """
    p = special.expit(centre)
    low, high = special.expit(centre - z * se), special.expit(centre + z * se)
    tail = float(special.ndtr(-z))
    n = 1.0 / np.maximum(np.square(se) * p * (1.0 - p), 1e-300)
    n = np.minimum(n, number + np.minimum(_PRIOR_QUERIES, _PRIOR_SHARE * number))
    few = np.flatnonzero(n * np.minimum(p, 1.0 - p) < _MANY)
    yes, no = np.maximum(n[few] * p[few], 1e-6), np.maximum(n[few] * (1.0 - p[few]), 1e-6)
    low[few] = special.betaincinv(yes + prior, no + 1.0 - prior, tail)
    high[few] = special.betainccinv(yes + 1.0 - prior, no + prior, tail)
    return low, high
