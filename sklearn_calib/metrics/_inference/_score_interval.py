"""An interval for the squared calibration error that covers, calibrated model or not.

The debiased squared error T is modelled as having mean tau and variance
a + b tau + c tau^2; the interval holds every tau that a test would not reject.
The coefficients move from their values under perfect calibration to those
estimated from the residuals as the evidence against calibration grows. The
lower limit allows for the skewness of T by a Pearson III tail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import optimize, stats

from sklearn_calib.metrics._inference._moments import ResidualMoments


def skewed_score(x: float, skewness: float) -> float:
    """Return the normal score of x under a standardised Pearson III law (Wilson-Hilferty)."""
    if abs(skewness) < 1e-8:
        return x
    base = 1.0 + skewness * x / 2.0
    root = math.copysign(abs(base) ** (1.0 / 3.0), base)
    return 6.0 / skewness * (root - 1.0) + skewness / 6.0


def null_pvalue(moments: ResidualMoments) -> float:
    """Return the probability of so large a T if every prediction were right."""
    sd = math.sqrt(moments.null_variance)
    if sd == 0.0:
        return 1.0 if moments.square <= 0.0 else 0.0
    skewness = moments.null_third / sd**3
    return float(stats.norm.sf(skewed_score(moments.square / sd, skewness)))


@dataclass(frozen=True)
class _Model:
    """Variance and third cumulant of T as functions of the true squared error tau."""

    a: float
    b: float
    c: float
    third: float
    third_linear: float
    third_cubic: float
    n: float
    null_residual_variance: float
    unit_variance: float

    def variance(self, tau: float) -> float:
        # Where all predictions are close to 0 or 1, an error of e means answers that
        # vary by at least e (1 - e), however little they vary in the sample.
        error = math.sqrt(tau)
        floor = max(0.0, error * (1.0 - error) - self.null_residual_variance)
        a = max(self.a, self.unit_variance * floor**2)
        b = max(self.b, 4.0 * floor / self.n)
        return a + b * tau + self.c * tau**2

    def upper(self, square: float, z: float) -> float:
        """Return the largest tau that a two-sided test keeps."""

        def excess(tau: float) -> float:
            return tau - square - z * math.sqrt(self.variance(tau))

        if excess(1.0) <= 0.0:
            return 1.0
        # Outwards from a point that is surely kept, to one that surely is not.
        low, high = square, max(2.0 * square, 1e-12)
        while excess(high) <= 0.0:
            low, high = high, min(1.0, 4.0 * high)
        return float(optimize.brentq(excess, low, high, xtol=1e-18, rtol=1e-10))

    def score(self, square: float, tau: float) -> float:
        """Return how far T lies above tau, as a normal score."""
        sd = math.sqrt(self.variance(tau))
        if sd == 0.0:
            return math.inf if square > tau else 0.0
        third = self.third + self.third_linear * tau + self.third_cubic * tau**3
        return skewed_score((square - tau) / sd, third / sd**3)

    def lower(self, square: float, z: float) -> float:
        """Return the smallest tau that the test keeps."""
        if square <= 0.0 or self.score(square, 0.0) <= z:
            return 0.0
        if self.score(square, square) > z:
            return square
        root = optimize.brentq(lambda tau: self.score(square, tau) - z, 0.0, square, xtol=1e-15)
        return float(root)


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _model(m: ResidualMoments, z: float) -> _Model:
    """Shrink the data's estimates towards their null values while T is within the noise."""
    t = max(m.square, 0.0)
    trust = 0.0
    variance, square_variance, spread = (
        m.null_mean_variance,
        m.null_mean_square_variance,
        m.null_spread,
    )
    if t > 0.0:
        trust = t**2 / (t**2 + 4.0 * m.null_variance)
        variance = trust * _clip(m.mean_variance / t, 0.0, 0.25) + (1.0 - trust) * variance
        square_variance = (
            trust * _clip(m.mean_square_variance / t, 0.0, 0.0625) + (1.0 - trust) * square_variance
        )
        spread = trust * _clip(m.spread, 0.0, 100.0) + (1.0 - trust) * spread
    return _Model(
        a=trust * m.variance + (1.0 - trust) * m.null_variance,
        b=4.0 * variance / m.n,
        # In a tiny sample the variance must not outgrow the square it is compared with.
        c=min(spread / m.n, 0.77 / z**2),
        third=trust * m.third + (1.0 - trust) * m.null_third,
        third_linear=24.0 * square_variance / m.n**2,
        third_cubic=2.0 * spread**2 / m.n**2,
        n=m.n,
        null_residual_variance=m.residual_variance,
        unit_variance=m.unit_variance,
    )


def score_interval(
    moments: ResidualMoments, level: float, pvalue: float | None = None
) -> tuple[float, float]:
    """Return limits for the squared calibration error; `pvalue` is that of the null test."""
    pvalue = null_pvalue(moments) if pvalue is None else pvalue
    alpha = 1.0 - level
    two_sided = float(stats.norm.ppf(1.0 - alpha / 2.0))
    one_sided = float(stats.norm.ppf(1.0 - alpha))
    model = _model(moments, two_sided)
    high = min(1.0, model.upper(max(moments.square, 0.0), two_sided))
    if pvalue > alpha:
        return 0.0, high
    # Near the null the whole error probability may go to one side.
    low = max(
        model.lower(moments.square, two_sided),
        min(model.lower(moments.square, one_sided), model.upper(0.0, two_sided)),
    )
    return min(low, high), high
