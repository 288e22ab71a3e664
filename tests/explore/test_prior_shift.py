"""Frequencies that differ from those of training."""

import numpy as np
import pytest
from scipy.special import expit, logit

from sklearn_calib.explore._prior_shift import class_frequencies, prior_shift


def _shifted(rng, n, frequency, training=0.2):
    """Draw documents whose events look as in training, at another frequency."""
    y = rng.random(n) < frequency
    evidence = rng.normal(np.where(y, 1.0, -1.0), 1.0)
    # Two normal laws with unit variance: the log of the likelihood ratio is twice the evidence.
    return expit(2.0 * evidence + logit(training)), y


def test_the_maximum_of_the_likelihood():
    p, _ = _shifted(np.random.default_rng(0), 500, 0.5)
    found = prior_shift(p, 0.2)
    grid = np.linspace(0.001, 0.999, 999)
    height = np.log(np.outer(grid, p / 0.2) + np.outer(1 - grid, (1 - p) / 0.8)).sum(axis=1)
    assert found.frequency == pytest.approx(grid[np.argmax(height)], abs=1e-3)
    # The interval is where the height is within 1.92 of its maximum.
    inside = grid[height >= height.max() - 1.9207]
    assert (found.low, found.high) == pytest.approx((inside[0], inside[-1]), abs=1.1e-3)
    assert found.density.sum() == pytest.approx(1.0)


def test_a_calibrated_model_at_its_own_frequency_is_left_alone():
    p = np.linspace(0.01, 0.99, 99)
    shift = prior_shift(p, 0.5)
    assert shift.frequency == pytest.approx(0.5)
    assert np.allclose(shift.adjusted(p), p)


def test_adjusted_probabilities_have_the_estimated_frequency():
    p, _ = _shifted(np.random.default_rng(1), 1000, 0.6)
    shift = prior_shift(p, 0.2)
    assert shift.adjusted(p).mean() == pytest.approx(shift.frequency, abs=1e-6)
    assert np.allclose(shift.adjusted([0.0, 1.0]), [0.0, 1.0], atol=1e-9)
    assert shift.adjusted(p[:5], [[0.2], [0.5]]).shape == (2, 5)
    assert np.allclose(shift.adjusted(p, 0.2), p)


@pytest.mark.parametrize("frequency", [0.03, 0.5, 0.9])
def test_intervals_hold_the_frequency(frequency):
    held = 0
    for seed in range(150):
        p, _ = _shifted(np.random.default_rng([seed, 7]), 400, frequency)
        found = prior_shift(p, 0.2)
        held += found.low <= frequency <= found.high
    # Three standard errors below 95 %.
    assert held / 150 > 0.89


def test_draws_follow_the_likelihood():
    p, _ = _shifted(np.random.default_rng(2), 400, 0.4)
    found = prior_shift(p, 0.2)
    drawn = found.draw(4000, rng=np.random.default_rng(0))
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx([found.low, found.high], abs=0.015)


def test_weights_are_repetition():
    p = np.array([0.1, 0.4, 0.8])
    one, two = prior_shift(p, 0.3, weight=[5, 2, 3]), prior_shift(np.repeat(p, [5, 2, 3]), 0.3)
    assert one.frequency == pytest.approx(two.frequency)
    assert (one.low, one.high) == pytest.approx((two.low, two.high))


def test_no_evidence_of_any_event():
    found = prior_shift(np.full(50, 1e-6), 0.3)
    assert found.frequency == pytest.approx(0.0, abs=1e-6)
    assert found.low == 0.0
    assert 0.0 < found.high < 0.1


def test_several_classes():
    rng = np.random.default_rng(3)
    training, here = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, 0.7])
    y = rng.choice(3, size=20_000, p=here)
    density = np.exp(-0.5 * np.square(rng.normal(y * 2.0, 1.0)[:, np.newaxis] - 2.0 * np.arange(3)))
    proba = density * training / (density * training).sum(axis=1, keepdims=True)
    assert class_frequencies(proba, training) == pytest.approx(np.bincount(y) / len(y), abs=0.02)
