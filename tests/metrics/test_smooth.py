"""The smooth curve."""

import numpy as np
import pytest
from scipy import special

from sklearn_calib import smooth_calibration_curve
from sklearn_calib.datasets import make_queries


def test_smooth_confidence_band_covers():
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(25):
        sample = make_queries(1000, a=2, b=2, distortion="slope", random_state=rng)
        curve = smooth_calibration_curve(sample.queries)
        order = np.argsort(sample.y_prob)
        truth = np.interp(curve.prob_pred, sample.y_prob[order], sample.probability[order])
        low, high = curve.confidence_interval
        covered.append(np.mean((low <= truth) & (truth <= high)))
    # Points of one curve hang together: a standard error of about 2 %.
    assert 0.91 <= np.mean(covered) <= 0.99


def test_grouped_band_is_wider():
    sample = make_queries(2000, a=2, b=2, group_size=20, dependence=0.9, random_state=0)
    widths = []
    for groups in (None, False):
        low, high = smooth_calibration_curve(
            sample.queries, groups=groups, bandwidth=0.5
        ).confidence_interval
        widths.append(np.mean(high - low))
    assert widths[0] > 1.3 * widths[1]


def test_wide_bandwidth_is_a_logistic_regression_of_the_log_odds():
    """Log-odds that are shifted and stretched are found without bias, however wide the kernel."""
    rng = np.random.default_rng(0)
    q = rng.uniform(0.02, 0.98, 200_000)
    truth = special.expit(0.4 + 0.6 * special.logit(q))
    curve = smooth_calibration_curve(rng.random(len(q)) < truth, q, bandwidth=30.0)
    expected = special.expit(0.4 + 0.6 * special.logit(curve.prob_pred))
    np.testing.assert_allclose(curve.prob_true, expected, atol=0.01)


def test_the_interval_of_a_rare_answer_is_not_too_short():
    """Five yes among 2,000 queries with one prediction: near the exact interval."""
    y = np.zeros(2000, dtype=int)
    y[:5] = 1
    low, high = smooth_calibration_curve(y, np.full(2000, 0.0025)).confidence_interval
    assert low[0] == pytest.approx(special.betaincinv(5.5, 1995.5, 0.025), rel=0.1)
    assert high[0] == pytest.approx(special.betaincinv(5.5, 1995.5, 0.975), rel=0.1)


def test_bad_options():
    with pytest.raises(ValueError, match="bandwidth must be a positive number"):
        smooth_calibration_curve([0, 1], [0.1, 0.9], bandwidth=0)
    with pytest.raises(ValueError, match="bandwidth='scott' is not known"):
        smooth_calibration_curve([0, 1], [0.1, 0.9], bandwidth="scott")
