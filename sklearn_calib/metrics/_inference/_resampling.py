"""Resampled errors: Algorithm 2 of the paper, and the bootstrap."""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._inference._debiased import debiased_square, pair_factor
from sklearn_calib.metrics._inference._grouped import PairForm

# Numbers drawn at a time, so that they stay in cache and memory stays bounded.
_CHUNK = 65_536
_BOOTSTRAP_CHUNK = 4_000_000


def sampled_errors(
    bins: BinnedQueries, n_resamples: int, rng: np.random.Generator, squared: bool
) -> Array:
    """Draw errors as Algorithm 2 does: each bin's frequency from its normal law, then recompute."""
    p = bins.prob_true
    sd = np.sqrt(p * (1.0 - p) / bins.effective_count)
    share = bins.weight / bins.weight.sum()
    # Bins whose answers all agree have no spread to draw from.
    drawn = np.flatnonzero(sd > 0.0)
    fixed = float(np.dot(share, np.where(sd > 0.0, 0.0, np.square(bins.prob_pred - p))))
    errors = np.full(n_resamples, fixed)
    width = max(1, min(len(drawn), _CHUNK))
    for start in range(0, len(drawn), width):
        part = drawn[start : start + width]
        step = max(1, _CHUNK // len(part))
        for row in range(0, n_resamples, step):
            stop = min(row + step, n_resamples)
            draws = rng.standard_normal((stop - row, len(part)))
            draws *= sd[part]
            draws += p[part]
            np.clip(draws, 0.0, 1.0, out=draws)
            draws -= bins.prob_pred[part]
            np.square(draws, out=draws)
            errors[row:stop] += np.einsum("ij,j->i", draws, share[part])
    return errors if squared else np.sqrt(errors)


def bootstrap_squares(form: PairForm, n_resamples: int, rng: np.random.Generator) -> Array:
    """Draw units with replacement, and return the debiased squared error of each draw.

    A unit that is drawn twice counts twice, but is not paired with itself:
    its own noise would come back as a bias otherwise.
    """
    n_units, n_bins = form.sums.shape
    own_sums = form.sums.multiply(form.sums).tocsr()
    own_weights = form.weights.multiply(form.weights).tocsr()
    step = max(1, _BOOTSTRAP_CHUNK // max(n_units, n_bins))
    squares = np.empty(n_resamples)
    for row in range(0, n_resamples, step):
        stop = min(row + step, n_resamples)
        counts = np.empty((n_units, stop - row))
        for i in range(stop - row):
            counts[:, i] = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
        sums, weights = (form.sums.T @ counts).T, (form.weights.T @ counts).T
        np.square(counts, out=counts)
        factor = pair_factor(weights, (own_weights.T @ counts).T)
        squares[row:stop] = debiased_square(sums, (own_sums.T @ counts).T, factor)
    return squares


def _influence(form: PairForm) -> Array:
    """Return how T changes with the weight of each unit."""
    total = form.bin_weight.sum()
    product = form.products
    per_weight = product / total - 2.0 * form.factor * product * form.bin_weight
    own = form.weights.multiply(form.weights) @ (2.0 * form.factor * product)
    return (
        2.0 * form.rows + form.weights @ per_weight + own - form.unit_weight * form.square / total
    )


def bca_limits(form: PairForm, squares: Array, level: float) -> tuple[float, float]:
    """Return the bias-corrected and accelerated bootstrap limits for the squared error."""
    below = np.mean(squares < form.square) + 0.5 * np.mean(squares == form.square)
    half = 0.5 / len(squares)
    bias = special.ndtri(np.clip(below, half, 1.0 - half))
    influence = _influence(form)
    influence -= influence.mean()
    scale = float(np.sum(influence**2)) ** 1.5
    acceleration = float(np.sum(influence**3)) / (6.0 * scale) if scale else 0.0
    z = stats.norm.ppf([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    shifted = bias + z
    quantiles = special.ndtr(bias + shifted / (1.0 - acceleration * shifted))
    low, high = np.quantile(squares, quantiles)
    return max(0.0, float(low)), max(0.0, float(high))
