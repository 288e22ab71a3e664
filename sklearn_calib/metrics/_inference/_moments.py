"""Sums of residuals by bin: all that the debiased error and its interval need.

Every statistic here is a function of per-bin sums, which can be added up over
chunks of the data. Weighted and unweighted queries share the formulas: a sum
over distinct queries is written in power sums of w**a * r**b, which are plain
power sums of r where there are no weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import CHUNK
from sklearn_calib.metrics._inference._debiased import debiased_square, pair_factor

# (power of w, power of r) for residuals; the null sums are of (w**2 v)**k and (w**3 m)**k.
_POWERS = ((1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4), (4, 4))


# Weights tell the answers where the two go together by so many standard deviations.
_TELLING = 4.0

# Sums over four rows that are a smaller share of all fours, repeated ones included, are rounding.
_LOST = 1e-12


class TooFewError(ValueError):
    """There are too few queries, or too few groups, to infer anything."""


@dataclass(frozen=True, eq=False)
class ResidualMoments:
    """Moments of the debiased squared error, given the predictions.

    Attributes
    ----------
    n : float
        Number of queries, or Kish's effective number where they are weighted.
    square : float
        The debiased squared error; it may be negative.
    null_variance, null_third : float
        Variance and third cumulant of `square` under perfect calibration.
    variance, third : float
        Estimates of the same from the residuals, without the part that grows
        with the error itself.
    noise : float
        Variance of `square` without an error, by which the evidence for one is
        judged: the null variance, less the error that is part of it for groups.
    linear : float
        Estimate of that part of the variance.
    spread : float
        Estimate of how unevenly the squared error is spread over queries: the
        squared coefficient of variation.
    mean_variance, null_mean_variance : float
        Variance of a residual, averaged with the squared error (or the null
        variance) as weight.
    mean_square_variance, null_mean_square_variance : float
        The same of its square.
    mean_cube : float
        Mean of the cubed error times the third cumulant of a residual; 0 for
        groups, where it is not known.
    null_spread : float
        The same for an error in proportion to the null variance.
    unit_variance : float
        Variance of `square` if every residual had mean zero and variance one;
        0 for groups, where it is not known.
    residual_variance : float
        Null variance of a single residual, averaged like `null_mean_variance`,
        which for groups is that of a whole group.
    one_sided_variance, together : float
        For groups, the variance of a single answer as far as errors have one
        sign, because the predictions lean to one side; and how much of it the
        mean of a whole group keeps. 0 where queries are the units.
    weights_tell : bool
        Whether weights depend on the answers, as those of a sample in which yes
        was drawn more often. What answers drawn from the predictions would do
        is then not known, and the null moments are those of the residuals.
    """

    n: float
    square: float
    null_variance: float
    null_third: float
    variance: float
    third: float
    noise: float
    linear: float
    spread: float
    mean_variance: float
    null_mean_variance: float
    mean_square_variance: float
    null_mean_square_variance: float
    mean_cube: float
    null_spread: float
    unit_variance: float
    residual_variance: float
    one_sided_variance: float = 0.0
    together: float = 0.0
    weights_tell: bool = False


def _bin_sums(
    bins: BinnedQueries,
) -> tuple[dict[tuple[int, int], Array], Array, dict[int, Array]]:
    """Return residual power sums, null sums (v, v^2, v^3, m, m^2, plain v), and weight sums.

    They are made in pieces that fit into the cache.
    """
    if bins.queries.pool is not None:
        return _pooled_sums(bins)
    queries, starts, ends, n_bins = bins.queries, bins.starts, bins.ends, len(bins)
    weighted = queries.w is not None
    powers = _POWERS if weighted else ((1, 1), (2, 2), (3, 3), (4, 4))
    sums = {power: np.empty(n_bins) for power in powers}
    null = np.empty((6, n_bins))
    weights = {k: np.empty(n_bins) for k in (1, 2, 3, 4)}
    first = 0
    while first < n_bins:
        row = int(starts[first])
        last = int(np.searchsorted(ends, row + CHUNK, side="right"))
        last = max(last, first + 1)
        rows, at = slice(row, int(ends[last - 1])), starts[first:last] - row
        here = slice(first, last)
        q = queries.q[rows]
        r = queries.y[rows] - q
        v = q * (1.0 - q)
        m = v * (1.0 - 2.0 * q)
        if queries.w is not None:
            w = queries.w[rows]
            w_powers = {1: w, 2: w * w}
            w_powers[3] = w_powers[2] * w
            w_powers[4] = w_powers[2] * w_powers[2]
            r_powers = {1: r, 2: r * r}
            r_powers[3] = r_powers[2] * r
            r_powers[4] = r_powers[2] * r_powers[2]
            for a, b in powers:
                sums[a, b][here] = np.add.reduceat(w_powers[a] * r_powers[b], at)
            for k in weights:
                weights[k][here] = np.add.reduceat(w_powers[k], at)
            null[5, here] = np.add.reduceat(w * v, at)
            v = v * w_powers[2]
            m *= w_powers[3]
        else:
            r2 = r * r
            sums[1, 1][here] = np.add.reduceat(r, at)
            sums[2, 2][here] = np.add.reduceat(r2, at)
            r *= r2
            sums[3, 3][here] = np.add.reduceat(r, at)
            r2 *= r2
            sums[4, 4][here] = np.add.reduceat(r2, at)
        null[0, here] = np.add.reduceat(v, at)
        v2 = v * v
        null[1, here] = np.add.reduceat(v2, at)
        v *= v2
        null[2, here] = np.add.reduceat(v, at)
        null[3, here] = np.add.reduceat(m, at)
        m *= m
        null[4, here] = np.add.reduceat(m, at)
        first = last
    if not weighted:
        weights = {k: bins.weight for k in weights}
        for a, b in _POWERS:
            sums[a, b] = sums[b, b]
        null[5] = null[0]
    return sums, null, weights


def _pooled_sums(
    bins: BinnedQueries,
) -> tuple[dict[tuple[int, int], Array], Array, dict[int, Array]]:
    """Return the same sums for rows that stand for many queries each."""
    y = bins.queries.y

    def variance(q: Array) -> Array:
        return q * (1.0 - q)

    def third(q: Array) -> Array:
        return q * (1.0 - q) * (1.0 - 2.0 * q)

    def residual(q: Array, k: int) -> Array:
        # Products, because powers of negative numbers are slow.
        r = y - q
        return r if k == 1 else r * r if k == 2 else r * r * r if k == 3 else np.square(r * r)

    sums = {(a, b): bins.total(a, partial(residual, k=b)) for a, b in _POWERS}
    null = (
        bins.total(2, variance),
        bins.total(4, lambda q: np.square(variance(q))),
        bins.total(6, lambda q: np.square(variance(q)) * variance(q)),
        bins.total(3, third),
        bins.total(6, lambda q: np.square(third(q))),
        bins.total(1, variance),
    )
    return sums, np.stack(null), {k: bins.total(k, np.ones_like) for k in (1, 2, 3, 4)}


def _pairs(one: Array, both: Array) -> Array:
    """Sum of f_i f_j over distinct i, j."""
    return one**2 - both


def _triples(f: Array, g: Array, ff: Array, fg: Array, ffg: Array) -> Array:
    """Sum of f_i f_j g_k over distinct i, j, k."""
    return f**2 * g - ff * g - 2.0 * f * fg + 2.0 * ffg


def _quadruples(p1: Array, p2: Array, p3: Array, p4: Array) -> Array:
    """Sum of f_i f_j f_k f_l over distinct i, j, k, l."""
    return p1**4 - 6.0 * p1**2 * p2 + 8.0 * p1 * p3 + 3.0 * p2**2 - 6.0 * p4


def residual_moments(bins: BinnedQueries) -> ResidualMoments:
    """Return the moments of the debiased squared error; every bin needs at least four rows."""
    s, null, w = _bin_sums(bins)
    fours = _quadruples(*w.values())
    if (fours <= _LOST * w[1] ** 4).any():
        raise TooFewError(
            "Fewer than four queries of a bin have next to all of its weight, so that how much it "
            "varies cannot be estimated; ask for larger bins, or look at the largest weights."
        )
    total = float(w[1].sum())
    share = w[1] / total
    n = total**2 / float(w[2].sum())
    pairs = _pairs(w[1], w[2])
    per_pair = pair_factor(w[1], w[2])
    square = float(debiased_square(s[1, 1], s[2, 2], per_pair))
    if abs(square) <= 1e-14 * float(np.dot(s[2, 2], per_pair)):
        square = 0.0  # a difference of equal sums, but for rounding

    v1, v2, v3, m1, m2, plain = null
    telling = _weights_tell(s, w)
    if telling:
        v1, v2, m1 = s[2, 2], s[4, 4], s[3, 3]
        # Sums of sixth powers are not at hand: those of equal residuals, which are the least.
        v3 = m2 = np.divide(v2**2, v1, out=np.zeros_like(v1), where=v1 > 0.0)
    null_variance = float(np.sum(per_pair**2 * 2.0 * _pairs(v1, v2)))
    triple_v = v1**3 - 3.0 * v1 * v2 + 2.0 * v3
    null_third = float(np.sum(per_pair**3 * (8.0 * triple_v + 4.0 * _pairs(m1, m2))))

    # With mu and s2 the mean and variance of a bin's residuals, these estimate
    # (mu^2 + s2)^2, mu^2 (mu^2 + s2) and mu^4 without bias.
    both = _pairs(s[1, 2], s[2, 4]) / pairs
    one = _triples(s[1, 1], s[1, 2], s[2, 2], s[2, 3], s[3, 4])
    one /= _triples(w[1], w[1], w[2], w[2], w[3])
    none = _quadruples(s[1, 1], s[2, 2], s[3, 3], s[4, 4]) / fours
    square_variance = both - 2.0 * one + none
    variance_error = one - none
    mean = s[1, 1] / w[1]
    within = np.maximum(s[1, 2] / w[1] - mean**2, 0.0)
    # The mean is cubed as the product of itself and the debiased square.
    third_within = s[1, 3] / w[1] - 3.0 * mean * s[1, 2] / w[1] + 2.0 * mean**3
    mean_cube = float(np.sum(per_pair * _pairs(s[1, 1], s[2, 2]) * mean * third_within))

    four = _pairs(w[2], w[4])
    cross = w[1] ** 2 * w[2] - 2.0 * w[1] * w[3] + w[4]
    variance = max(0.0, float(np.sum(per_pair**2 * 2.0 * four * square_variance)))
    linear = float(np.sum(per_pair**2 * 4.0 * cross * variance_error))
    third = float(np.sum((per_pair * w[2]) ** 3 * 8.0 * square_variance * within))

    v0 = plain / w[1]
    null_square = float(np.dot(share, v0**2))
    null_scale = null_square or 1.0
    null_fourth = float(np.dot(share, v0**4)) / null_scale
    spread_square = max(square**2 - variance - max(linear, 0.0), square**2 / 4.0)
    fourth = float(np.dot(share, none))
    return ResidualMoments(
        n=n,
        square=square,
        null_variance=max(0.0, null_variance),
        null_third=null_third,
        variance=variance,
        third=third,
        noise=max(0.0, null_variance),
        linear=linear,
        spread=fourth / spread_square - 1.0 if min(square, spread_square) > 0.0 else 0.0,
        mean_variance=linear * n / 4.0,
        null_mean_variance=float(np.dot(share, v0**3)) / null_scale,
        mean_square_variance=float(np.dot(share, variance_error * within)),
        null_mean_square_variance=null_fourth,
        mean_cube=mean_cube,
        null_spread=max(0.0, null_fourth / null_scale - 1.0),
        unit_variance=float(np.sum(per_pair**2 * 2.0 * four)),
        residual_variance=float(np.dot(share, v0**3)) / null_scale,
        weights_tell=telling,
    )


def _weights_tell(s: dict[tuple[int, int], Array], w: dict[int, Array]) -> bool:
    """Tell whether weights and answers go together within bins."""
    mean = w[2] / w[1]
    away = float(np.sum(s[2, 1] - mean * s[1, 1]))
    spread = w[4] - 2.0 * mean * w[3] + mean**2 * w[2]
    within = np.maximum(s[1, 2] / w[1] - np.square(s[1, 1] / w[1]), 0.0)
    # Equal weights differ by rounding alone.
    noise = float(np.dot(within, np.maximum(spread - 1e-9 * w[4], 0.0)))
    return away**2 > _TELLING**2 * noise > 0.0
