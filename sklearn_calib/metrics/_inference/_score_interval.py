"""An interval for the squared calibration error that covers, calibrated model or not.

The debiased squared error T is modelled as having mean tau and variance
a + b tau + c tau^2; the interval holds every tau that a test would not reject.
The coefficients move from their values under perfect calibration to those
estimated from the residuals as the evidence against calibration grows. The
lower limit allows for the skewness of T, and at tau = 0 its test is the test
of perfect calibration itself: the interval excludes 0 exactly when that
rejects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from scipy import optimize, special

from sklearn_calib.metrics._inference._moments import ResidualMoments
from sklearn_calib.metrics._inference._null_law import skewed_quantile, skewed_score, skewness_of

# The law of T is that of the data from tau = T / _BRIDGE on, and on its way to that of perfect
# calibration below.
_BRIDGE = 10.0

# How much T must exceed its null standard deviation for the data's own moments to be trusted:
# at four times, half.
_TRUST = 16.0

# The upper limit allows for a skewness of T up to this: more is not estimated well.
_MOST_UPPER_SKEWNESS = 0.5

# What is smaller is lost to rounding: quantiles of t laws so far out, and squares.
_FAR = 1e-100

# A squared error that is not zero, whatever follows.
_TINY = 1e-300


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


@dataclass(frozen=True)
class ErrorLaw:
    """Variance and third cumulant of T as functions of the true squared error tau.

    Where T is within the noise, the data's estimates are shrunk towards the
    values that they have under perfect calibration.

    Attributes
    ----------
    moments : ResidualMoments
        Moments of T.
    """

    moments: ResidualMoments

    @cached_property
    def square(self) -> float:
        """T, or 0 where it is negative or its square would be lost to rounding."""
        return self.moments.square if self.moments.square > _FAR else 0.0

    @cached_property
    def trust(self) -> float:
        """How much the data's own moments count, from 0 to 1."""
        if self.square <= 0.0:
            return 0.0
        return self.square**2 / (self.square**2 + _TRUST * self.moments.noise)

    def _shrunk(self, own: float, null: float) -> float:
        return self.trust * own + (1.0 - self.trust) * null if self.trust > 0.0 else null

    @cached_property
    def residual_variance(self) -> float:
        """Variance of a residual, averaged with the squared error as weight."""
        m = self.moments
        own = _clip(m.mean_variance / self.square, 0.0, 0.25) if self.trust > 0.0 else 0.0
        return self._shrunk(own, m.null_mean_variance)

    @cached_property
    def _together(self) -> float:
        """Variance of a unit's residual over that of a query's: 1 where queries are the units."""
        m = self.moments
        if m.residual_variance <= 0.0:
            return 1.0
        found = _clip(m.null_mean_variance / m.residual_variance, 0.0, 1.0)
        # Where it is estimated from few residuals, the root meets it half way.
        return self._shrunk(found, math.sqrt(found))

    @cached_property
    def spread(self) -> float:
        """How unevenly the squared error is spread over queries."""
        return self._shrunk(_clip(self.moments.spread, 0.0, 100.0), self.moments.null_spread)

    def variance(self, tau: float, z: float) -> float:
        """Return the variance of T where the true squared error is tau, for limits at score z."""
        m = self.moments
        # Where all predictions are close to 0 or 1, an error of e means answers that
        # vary by at least e (1 - e), however little they vary in the sample.
        error = math.sqrt(tau)
        floor = max(0.0, error * (1.0 - error) - m.residual_variance)
        noise = max(self._shrunk(m.variance, m.null_variance), m.unit_variance * floor**2)
        # The same of a unit: residuals of a group that vary on their own average out.
        together = self._together
        single = max(self.residual_variance, together * floor)
        if tau > self.square:
            # An error towards one half makes the answers vary more.
            found = math.sqrt(self.square)
            more = max(0.0, (error - found) * (self._one_sided - error - found))
            most = max(together * 0.25, self.residual_variance)
            single = max(single, min(most, self.residual_variance + together * more))
            if m.together > 0.0:
                # Where errors have one sign, those of a group add up, and a sample in which only
                # small groups had rare answers shows too little of their variance.
                sized = m.together * (m.one_sided_variance + more)
                single = max(single, math.sqrt(single * sized))
        elif self.residual_variance < m.null_mean_variance:
            # So does a smaller error where answers vary less than predicted: those that go
            # against the others are rare, and a sample may have none of them.
            own = min(0.25, self.residual_variance / together)
            less = math.sqrt(self.square) - error
            more = together * max(0.0, less * (math.sqrt(1.0 - 4.0 * own) - less))
            single = max(single, min(m.null_mean_variance, self.residual_variance + more))
        # In a tiny sample the variance must not outgrow the square it is compared with.
        uneven = min(self.spread / m.n, 0.77 / max(z**2, 1e-12))
        return noise + 4.0 * single / m.n * tau + uneven * tau**2

    def third_cumulant(self, tau: float) -> float:
        """Return the third cumulant of T where the true squared error is tau."""
        m = self.moments
        own = _clip(m.mean_square_variance / self.square, 0.0, 0.0625) if self.trust > 0.0 else 0.0
        linear = 24.0 * self._shrunk(own, m.null_mean_square_variance) / m.n**2
        cubic = 2.0 * self.spread**2 / m.n**2
        return self._shrunk(m.third, m.null_third) + linear * tau + cubic * tau**3

    @cached_property
    def _one_sided(self) -> float:
        """How far a residual is from varying to both sides alike: 0 for odds of 1, 1 for rare."""
        return math.sqrt(max(0.0, 1.0 - 4.0 * min(0.25, self.moments.residual_variance)))

    def _upper_skewness(self, tau: float, variance: float) -> float:
        """Return the skewness of T that makes its lower tail short, as far as it is certain."""
        m = self.moments
        third = self.third_cumulant(tau)
        if self.square > 0.0:
            # Answers that are less often yes than predicted, and rare, pull the other way.
            third += 8.0 * min(0.0, m.mean_cube) / m.n**2 * (tau / self.square) ** 1.5
        # Where answers are rare, a sample with few of them shows too little of the variance.
        certain = min(1.0, 2.0 * (1.0 - self._one_sided))
        return certain * skewness_of(third, variance)

    def upper(self, square: float, z: float) -> float:
        """Return the largest tau that a test at score z keeps."""

        def excess(tau: float) -> float:
            variance = self.variance(tau, z)
            away = z
            if variance > 0.0:
                # Less where the limit lies far out, whose tail three moments do not tell.
                most = min(_MOST_UPPER_SKEWNESS, 1.0 / z)
                skewness = _clip(self._upper_skewness(tau, variance), 0.0, most)
                away = -skewed_quantile(-z, skewness)
            return tau - square - away * math.sqrt(variance)

        if z <= 0.0:
            return square
        if excess(1.0) <= 0.0:
            return 1.0
        # Outwards from a point that is surely kept, to one that surely is not.
        low, high = square, max(2.0 * square, 1e-12)
        while excess(high) <= 0.0:
            low, high = high, min(1.0, 4.0 * high)
        return float(optimize.brentq(excess, low, high, xtol=1e-18, rtol=1e-10))

    def lower(self, z: float, null_score: float) -> float:
        """Return the smallest tau that a test at score z keeps; at 0 its score is `null_score`."""
        if null_score <= z or self.square <= 0.0:
            return 0.0
        m = self.moments
        sd = math.sqrt(m.null_variance)
        skewness = skewness_of(m.null_third, m.null_variance)
        at_null = skewed_score(self.square / sd, skewness) if sd > 0.0 else 0.0
        # What the true law of T at 0 takes away from the score stays away.
        shift = 0.0 if math.isinf(null_score) else null_score - at_null

        def score(tau: float) -> float:
            if tau == 0.0:
                return min(null_score, 1e3)
            share = min(1.0, _BRIDGE * tau / self.square)
            variance = (1.0 - share) * m.null_variance + share * self.variance(tau, z)
            third = (1.0 - share) * m.null_third + share * self.third_cumulant(tau)
            sd = math.sqrt(variance)
            if sd == 0.0:
                return 1e3
            plain = skewed_score((self.square - tau) / sd, skewness_of(third, variance))
            return min(plain + shift * (1.0 if shift < 0.0 else 1.0 - share), 1e3)

        if score(self.square) > z:
            return self.square
        root = optimize.brentq(lambda tau: score(tau) - z, 0.0, self.square, xtol=1e-18, rtol=1e-10)
        return float(root)


def _quantile(freedom: float, tail: float) -> float:
    """Return the upper quantile of a t law, or of the normal law."""
    if math.isinf(freedom):
        return -float(special.ndtri(tail))
    return -float(special.stdtrit(freedom, tail))


@dataclass(frozen=True)
class ScoreInterval:
    """Limits and p-values that agree with each other.

    Attributes
    ----------
    moments : ResidualMoments
        Moments of T.
    null_score : float
        How large T is under perfect calibration, as a score.
    units : float
        Degrees of freedom of the variance, by the number of units: upper limits
        are compared with a t law, which is the normal law where it is infinite.
    carriers : float
        The same by the number of units that carry the residuals, for lower
        limits. The p-value needs none: the null law of T is that of units whose
        signs are flipped, which is right however few they are.
    """

    moments: ResidualMoments
    null_score: float
    units: float = math.inf
    carriers: float = math.inf

    @cached_property
    def _law(self) -> ErrorLaw:
        return ErrorLaw(self.moments)

    @cached_property
    def pvalue(self) -> float:
        """Probability of so large a T if every prediction were right."""
        return float(special.ndtr(-self.null_score))

    @cached_property
    def _carried_score(self) -> float:
        """The score that has this p-value under the t law of the lower limits."""
        if math.isinf(self.carriers) or math.isinf(self.null_score):
            return self.null_score
        # Beyond that, a t quantile grows at least as fast as the normal one.
        beyond = max(0.0, self.null_score + float(special.ndtri(_FAR)))
        return _quantile(self.carriers, max(self.pvalue, _FAR)) + beyond

    def upper(self, tail: float) -> float:
        """Return the limit that the squared error exceeds with a probability of at most `tail`."""
        return min(1.0, self._law.upper(self._law.square, _quantile(self.units, tail)))

    def limits(self, level: float) -> tuple[float, float]:
        """Return the limits of the squared error."""
        alpha = 1.0 - level
        high = self.upper(alpha / 2.0)
        if self.pvalue >= alpha:
            return 0.0, high
        one, two = (_quantile(self.carriers, tail) for tail in (alpha, alpha / 2.0))
        # Near the null the whole error probability may go to one side.
        low = max(
            self._law.lower(two, self._carried_score),
            min(self._law.lower(one, self._carried_score), self._law.upper(0.0, two)),
        )
        return min(max(low, _TINY), high), high

    def pvalue_of_at_least(self, square: float) -> float:
        """Return the p-value of the hypothesis that the squared error is at least so large.

        It is the smallest tail whose upper limit lies below: below 0.025
        exactly when the upper end of the 95 % interval does.
        """
        least, most = 1e-12, 0.5
        if self.upper(most) >= square:
            return 1.0
        if self.upper(least) < square:
            return least
        low, high = math.log(least), math.log(most)
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.upper(math.exp(middle)) < square else (middle, high)
        return math.exp(high)
