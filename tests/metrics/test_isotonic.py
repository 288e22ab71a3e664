"""The isotonic curve and its decomposition."""

import numpy as np
import pytest
from scipy import special
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from sklearn_calib import isotonic_calibration_curve
from sklearn_calib.datasets import make_queries


def test_isotonic_curve_is_that_of_scikit_learn():
    sample = make_queries(300, decimals=2, random_state=0)
    curve = isotonic_calibration_curve(sample.queries, random_state=0)
    fit = IsotonicRegression().fit(sample.y_prob, sample.y_true)
    assert curve.prob_true == pytest.approx(fit.predict(curve.prob_pred))
    assert (np.diff(curve.prob_true) >= -1e-12).all()
    low, high = curve.confidence_interval
    assert (low <= curve.prob_true + 1e-12).all()
    assert (high >= curve.prob_true - 1e-12).all()


@pytest.mark.parametrize("score", ["brier", "log"])
def test_corp_decomposition(score):
    sample = make_queries(1000, distortion="slope", random_state=0)
    w = np.random.default_rng(0).random(1000)
    peer = {"brier": brier_score_loss, "log": log_loss}[score]
    for weight in (None, w):
        parts = isotonic_calibration_curve(
            sample.y_true, sample.y_prob, score=score, sample_weight=weight, n_resamples=20
        ).decomposition
        expected = peer(sample.y_true, sample.y_prob, sample_weight=weight)
        assert parts.score == pytest.approx(expected)
        assert parts.miscalibration >= 0
        assert parts.discrimination >= 0
        base = np.full(1000, np.average(sample.y_true, weights=weight))
        assert parts.uncertainty == pytest.approx(peer(sample.y_true, base, sample_weight=weight))


def test_limits_of_one_prediction_are_those_of_the_likelihood_ratio():
    """With a single cell, the limits solve the binomial likelihood-ratio equation."""
    y = np.repeat([1, 0], [30, 70])
    low, high = isotonic_calibration_curve(y, np.full(100, 0.4), random_state=0).confidence_interval
    best = special.xlogy(30, 0.3) + special.xlogy(70, 0.7)
    for limit in (low[0], high[0]):
        loss = 2 * (best - special.xlogy(30, limit) - special.xlogy(70, 1 - limit))
        assert loss == pytest.approx(special.chdtri(1, 0.05), abs=0.05)


@pytest.mark.parametrize("flat", [False, True])
def test_interval_is_never_of_zero_width_and_covers(flat):
    rng = np.random.default_rng(0)
    covered, least = [], 1.0
    for _ in range(10):
        q = rng.random(300)
        truth = 0.3 if flat else q
        curve = isotonic_calibration_curve(rng.random(300) < truth, q, n_resamples=20)
        low, high = curve.confidence_interval
        truth = 0.3 if flat else curve.prob_pred
        covered.append(np.mean((low <= truth) & (truth <= high)))
        least = min(least, float((high - low).min()))
    assert np.mean(covered) >= 0.92
    assert least > 0.01


def test_groups_widen_the_intervals():
    sample = make_queries(2000, a=2, b=2, group_size=20, dependence=0.9, random_state=0)
    widths = []
    for groups in (None, False):
        curve = isotonic_calibration_curve(sample.queries, groups=groups, n_resamples=20)
        widths.append(np.mean(np.subtract(*curve.confidence_interval[::-1])))
    assert widths[0] > 1.3 * widths[1]


def test_bad_options():
    with pytest.raises(ValueError, match="score='crps' is not known"):
        isotonic_calibration_curve([0, 1], [0.1, 0.9], score="crps")
