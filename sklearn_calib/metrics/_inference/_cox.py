"""Cox's regression of the answers on the log-odds of the predictions.

A calibrated model has an intercept of 0 and a slope of 1. A slope below 1 says
that log-odds are too extreme by its inverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import optimize, special, stats

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._inference._null_statistics import log_odds
from sklearn_calib.metrics._inference._scanned_groups import group_totals
from sklearn_calib.queries._numbered import numbered
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

# Slopes beyond this are infinite for all purposes.
_STEEPEST = 200.0

# Intercepts beyond this are infinite for all purposes.
_FARTHEST = 1e3

# Up to so many queries the limits are those of the profile likelihood.
_PROFILE_UP_TO = 20_000

Limits = tuple[float, float]

# What is added up over groups is made from answers, predictions and weights.
Columns = Callable[[Array, Array, Array], Array]
GroupSums = Callable[[Columns], Array]
_LINE: Limits = (-math.inf, math.inf)


@dataclass(frozen=True)
class CoxFit:
    """Intercept and slope with their limits, which may be infinite.

    The slope is NaN where all predictions are equal, and so is the intercept
    where yes and no are separated.
    """

    intercept: float
    slope: float
    intercept_limits: Limits = _LINE
    slope_limits: Limits = _LINE

    @property
    def meaning(self) -> str:
        """What the fit says about the log-odds, in a sentence."""
        low, high = self.slope_limits
        if low <= 1.0 <= high or math.isnan(self.slope):
            return self._shift()
        if self.slope <= 0.0:
            return f"Log-odds point the wrong way: slope {self.slope:.2f} [{low:.2f} to {high:.2f}]"
        if self.slope < 1.0:
            most = "or more" if low <= 0.0 else f"to {1.0 / low:.2f}"
            return f"Log-odds are too extreme by {1.0 / self.slope:.2f} [{1.0 / high:.2f} {most}]"
        most = "or more" if math.isinf(high) else f"to {high:.2f}"
        return f"Log-odds are not extreme enough by {self.slope:.2f} [{low:.2f} {most}]"

    def _shift(self) -> str:
        low, high = self.intercept_limits
        if low <= 0.0 <= high:
            if math.isnan(self.slope):
                return "Log-odds are neither surely too high nor surely too low"
            return (
                "Log-odds are neither surely too extreme nor surely too timid: slope "
                f"{self.slope:.2f} [{self.slope_limits[0]:.2f} to {self.slope_limits[1]:.2f}]"
            )
        word = "low" if low > 0.0 else "high"
        near, far = sorted((abs(low), abs(high)))
        most = "or more" if math.isinf(far) else f"to {far:.2f}"
        by = near if math.isinf(self.intercept) else abs(self.intercept)
        return f"Log-odds are too {word} by {by:.2f} [{near:.2f} {most}]"


def fit_cox(queries: Queries | QueryScan, level: float = 0.95) -> CoxFit:
    """Fit intercept and slope, with limits at a level.

    The limits are those of the profile likelihood, which stay valid where yes
    and no are separated. With groups, with weights that are not whole numbers or
    with very many queries they are Wald's, with the variance of the sums of
    groups. Predictions of exactly 0 and 1 have no log-odds and are left out.
    """
    if isinstance(queries, QueryScan):
        return _fit_scan(queries, level)
    q, w = queries.y_prob, queries.sample_weight
    w = np.ones(len(q)) if w is None else w
    keep = (q > 0.0) & (q < 1.0) & (w > 0.0)
    if not keep.any():
        return CoxFit(math.nan, math.nan)
    y, x, w = queries.y_true[keep].astype(float), log_odds(q[keep]), w[keep]
    whole = not (w % 1.0).any()
    # Whole weights stand for copies; of others, the scale says nothing.
    likelihood = _Likelihood(y, x, w if whole else w / w.max())
    constant = float(np.ptp(x)) < 1e-9
    units = queries.units
    if units is None and whole and len(x) <= _PROFILE_UP_TO:
        return _by_profile(likelihood, constant, level)
    code = np.arange(len(x)) if units is None else numbered(units[keep])

    def group_sums(columns: Columns) -> Array:
        return np.stack([np.bincount(code, column) for column in columns(y, q[keep], likelihood.w)])

    return _by_wald(likelihood, constant, group_sums, level)


def _fit_scan(scan: QueryScan, level: float) -> CoxFit:
    """Fit the rows of a scan, each of which stands for many queries, with Wald's limits."""
    queries = sort_or_scan(scan)
    q = queries.power(1)[1]
    keep = (q > 0.0) & (q < 1.0)
    if not keep.any():
        return CoxFit(math.nan, math.nan)
    x = log_odds(q[keep])
    likelihood = _Likelihood(queries.y[keep].astype(float), x, queries.weights[keep])
    rows = np.ones(len(q)) if queries.pool is None else queries.pool.n
    squares = queries.squared_weights[keep]
    constant = float(np.ptp(x)) < 1e-9
    n_queries = float(rows[keep].sum())
    group_sums: GroupSums | None = partial(group_totals, scan) if scan.grouped else None
    return _by_wald(likelihood, constant, group_sums, level, squares, n_queries)


class _Likelihood:
    """Log-likelihood of an intercept and a slope."""

    def __init__(self, y: Array, x: Array, w: Array) -> None:
        self.y, self.x, self.w = y, x, w
        self.yes, self.total = float(np.dot(w, y)), float(w.sum())

    @property
    def unanimous(self) -> bool:
        """Whether all answers are the same."""
        return self.yes <= 0.0 or self.yes >= self.total

    def value(self, a: float, b: float) -> float:
        eta = a + b * self.x
        return float(np.dot(self.w, self.y * eta - np.logaddexp(0.0, eta)))

    def intercept_at(self, b: float) -> float:
        """Return the best intercept given the slope; infinite where all answers agree."""
        if self.unanimous:
            return -math.inf if self.yes <= 0.0 else math.inf
        start = float(special.logit(self.yes / self.total))
        reach = abs(b) * float(np.abs(self.x).max()) + 1e-6

        def gap(a: float) -> float:
            return float(np.dot(self.w, special.expit(a + b * self.x))) - self.yes

        return float(optimize.brentq(gap, start - reach, start + reach, xtol=1e-10))

    def slope_at(self, a: float) -> float:
        """Return the best slope given the intercept, within the steepest."""

        def gap(b: float) -> float:
            return float(np.dot(self.w * self.x, special.expit(a + b * self.x) - self.y))

        return _root(gap)

    def best_slope(self) -> float:
        """Return the best slope where the intercept is free, within the steepest."""

        def gap(b: float) -> float:
            a = self.intercept_at(b)
            return float(np.dot(self.w * self.x, special.expit(a + b * self.x) - self.y))

        return _root(gap)


def _root(rising: Callable[[float], float]) -> float:
    """Return where a rising function of the slope is zero, within the steepest."""
    # Where yes and no are separated, it never gets there but for rounding.
    if rising(_STEEPEST) <= 1e-9:
        return _STEEPEST
    if rising(-_STEEPEST) >= -1e-9:
        return -_STEEPEST
    return float(optimize.brentq(rising, -_STEEPEST, _STEEPEST, xtol=1e-10))


def _limit(profile: Callable[[float], float], start: float, step: float, most: float) -> float:
    """Return where a falling profile crosses zero, seen from start; infinite if it never does."""
    inner, outer = start, start + step
    while profile(outer) > 0.0:
        if abs(outer) >= most:
            return math.copysign(math.inf, step)
        inner, step = outer, 2.0 * step
        outer = inner + step
    return float(optimize.brentq(profile, inner, outer, xtol=1e-8))


def _by_profile(likelihood: _Likelihood, constant: bool, level: float) -> CoxFit:
    cut = float(stats.chi2.ppf(level, 1)) / 2.0
    if constant or likelihood.unanimous:
        return _shift_by_profile(likelihood, constant, cut)
    slope = likelihood.best_slope()
    intercept = likelihood.intercept_at(slope)
    best = max(likelihood.value(intercept, slope), likelihood.value(0.0, 1.0))

    def slope_profile(b: float) -> float:
        return likelihood.value(likelihood.intercept_at(b), b) - best + cut

    def intercept_profile(a: float) -> float:
        return likelihood.value(a, likelihood.slope_at(a)) - best + cut

    steep = [_limit(slope_profile, slope, step, _STEEPEST) for step in (-0.05, 0.05)]
    if abs(slope) >= _STEEPEST:
        # Yes and no are separated: any place between them is as good an intercept.
        infinite = math.copysign(math.inf, slope)
        return CoxFit(math.nan, infinite, slope_limits=(steep[0], steep[1]))
    shifts = [_limit(intercept_profile, intercept, step, _FARTHEST) for step in (-0.05, 0.05)]
    return CoxFit(intercept, slope, (shifts[0], shifts[1]), (steep[0], steep[1]))


def _shift_by_profile(likelihood: _Likelihood, constant: bool, cut: float) -> CoxFit:
    """Fit the intercept given a slope of 1, where nothing else can be told."""
    shift = likelihood.intercept_at(1.0)
    same = likelihood.unanimous
    best = 0.0 if same else likelihood.value(shift, 1.0)

    def profile(a: float) -> float:
        return likelihood.value(a, 1.0) - best + cut

    start = math.copysign(40.0, shift) if same else shift
    low, high = (_limit(profile, start, step, _FARTHEST) for step in (-0.1, 0.1))
    return CoxFit(shift, math.nan if constant else 1.0, (low, high))


def _by_wald(
    likelihood: _Likelihood,
    constant: bool,
    group_sums: GroupSums | None,
    level: float,
    squares: Array | None = None,
    n_queries: float | None = None,
) -> CoxFit:
    """Fit, with limits from the variance of the sums of groups.

    `group_sums` adds up over each group what is made from answers, predictions and
    weights. Without it every query is a group. A row may stand for many queries,
    with the sum of their squared weights in `squares`.
    """
    y, x, w = likelihood.y, likelihood.x, likelihood.w
    design = np.ones((len(x), 1)) if constant else np.stack([np.ones_like(x), x], axis=1)
    offset = x if constant else np.zeros_like(x)
    null = np.zeros(1) if constant else np.array([0.0, 1.0])
    # A weak pull towards calibration keeps the fit finite where answers are separated.
    n_rows = float(len(w)) if n_queries is None else n_queries
    pull = 1e-2 * float(w.sum()) / n_rows * np.eye(len(null))
    w2 = np.square(w) if squares is None else squares

    def objective(b: Array) -> float:
        eta, away = offset + design @ b, b - null
        loss = float(np.dot(w, np.logaddexp(0.0, eta) - y * eta))
        return loss + 0.5 * float(away @ pull @ away)

    def information(p: Array, weight: Array) -> Array:
        found: Array = (design * (weight * p * (1.0 - p))[:, None]).T @ design
        return found

    beta, value = null.copy(), objective(null)
    for _ in range(100):
        p = special.expit(offset + design @ beta)
        gradient = design.T @ (w * (y - p)) - pull @ (beta - null)
        move = np.linalg.solve(information(p, w) + pull, gradient)
        size = 1.0
        while size > 1e-6 and objective(beta + size * move) > value + 1e-12 * abs(value):
            size /= 2.0
        beta = beta + size * move
        value = objective(beta)
        if np.abs(size * move).max() < 1e-9:
            break
    p = special.expit(offset + design @ beta)
    bread = np.linalg.inv(information(p, w) + pull)
    if group_sums is None:
        n_groups, kish = n_rows, float(w.sum() ** 2 / w2.sum())
        meat = (design * (w2 * np.square(y - p))[:, None]).T @ design
    else:
        *scores, in_group = group_sums(partial(_scores, beta, constant))
        n_groups, meat = float(len(in_group)), np.array(scores) @ np.array(scores).T
        kish = float(in_group.sum() ** 2 / np.square(in_group).sum())
    together = bread @ meat @ bread * n_groups / max(n_groups - len(beta), 1)
    # Never less than the variance that answers have on their own.
    alone = bread @ information(p, w2) @ bread
    se = np.sqrt(np.maximum(np.diag(together), np.diag(alone)))
    t = float(stats.t.ppf(0.5 + level / 2.0, max(kish - len(beta), 1.0)))
    limits = [(float(b - t * s), float(b + t * s)) for b, s in zip(beta, se, strict=True)]
    if constant:
        return CoxFit(float(beta[0]), math.nan, limits[0])
    return CoxFit(float(beta[0]), float(beta[1]), limits[0], limits[1])


def _scores(beta: Array, constant: bool, y: Array, q: Array, w: Array) -> Array:
    """Return weighted residuals of a fit times each column of its design, and the weights."""
    x = log_odds(q)
    away = w * (y - special.expit(beta[0] + (x if constant else beta[1] * x)))
    return np.stack((away, w) if constant else (away, away * x, w))
