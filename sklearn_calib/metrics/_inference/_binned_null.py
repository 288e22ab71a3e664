"""The debiased squared error of drawn answers, in the bins of a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._inference._debiased import debiased_square
from sklearn_calib.metrics._inference._grouped import unit_adders
from sklearn_calib.metrics._inference._sample import Sample

# Answers drawn at a time.
_CHUNK = 1_000_000


def resampled_pvalue(sample: Sample, n_resamples: int, rng: np.random.Generator) -> float:
    """Return how often drawn answers have so large a debiased squared error.

    With groups, the signs of whole groups of residuals are flipped instead.
    """
    value = sample.moments.square
    own_squares = _own_squares(sample)
    # Rounding must not decide between draws that are really equal.
    least = value - 1e-12 * max(1.0, abs(value))
    draw = _flipped if sample.grouped else _redrawn
    above = 0
    for draws in draw(sample, n_resamples, rng):
        squares = debiased_square(sample.bins.sum(draws), own_squares(draws), sample.form.factor)
        above += int(np.count_nonzero(squares >= least))
    return (above + 1) / (n_resamples + 1)


def _redrawn(sample: Sample, n: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield weighted residuals of answers drawn from the predictions, one row per draw."""
    q, w = sample.ordered.q, sample.ordered.weights
    step = max(1, _CHUNK // len(q))
    for start in range(0, n, step):
        answers = rng.random((min(step, n - start), len(q))) < q
        yield np.subtract(answers, q) * w


def _flipped(sample: Sample, n: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield weighted residuals with the sign of whole groups flipped, one row per draw."""
    r = sample.ordered.weighted_residuals
    group = np.arange(len(r)) if sample.ordered.unit is None else sample.ordered.unit
    step = max(1, _CHUNK // len(r))
    n_groups = int(group.max()) + 1
    for start in range(0, n, step):
        signs = rng.integers(0, 2, size=(min(step, n - start), n_groups)) * 2.0 - 1.0
        yield signs[:, group] * r


def _own_squares(sample: Sample) -> Callable[[Array], Array]:
    """Return the function that sums the squares of units by bin, one row per draw."""
    bins, unit = sample.bins, sample.ordered.unit
    if unit is None:
        return lambda draws: bins.sum(np.square(draws))
    # Residuals of one group in one bin are added up before they are squared.
    bin_of = bins.of_queries(np.arange(len(bins)))
    to_cells, to_bins = unit_adders(bin_of, unit, len(bins))
    return lambda draws: (to_bins @ np.square(to_cells @ draws.T)).T
