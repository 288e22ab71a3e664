"""Binless curves."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from sklearn_calib import isotonic_calibration_curve, smooth_calibration_curve
from sklearn_calib.datasets import make_queries


@pytest.mark.parametrize("curve", [smooth_calibration_curve, isotonic_calibration_curve])
@pytest.mark.parametrize(
    "options",
    [{"a": 1, "b": 1, "distortion": "shift"}, {"a": 2, "b": 2, "distortion": lambda q: q**2}],
)
def test_curves_find_the_truth(curve, options):
    sample = make_queries(20_000, random_state=0, **options)
    found = curve(sample.queries)
    truth = np.interp(found.prob_pred, np.sort(sample.y_prob), np.sort(sample.probability))
    assert np.sqrt(np.mean((found.prob_true - truth) ** 2)) < 0.02
    assert ((found.prob_true >= 0) & (found.prob_true <= 1)).all()


def test_smooth_confidence_band_covers():
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(100):
        sample = make_queries(1000, a=2, b=2, distortion="slope", random_state=rng)
        curve = smooth_calibration_curve(sample.queries)
        order = np.argsort(sample.y_prob)
        truth = np.interp(curve.prob_pred, sample.y_prob[order], sample.probability[order])
        low, high = curve.confidence_interval
        covered.append(np.mean((low <= truth) & (truth <= high)))
    # Points of one curve hang together: a standard error of about 1.5 %.
    assert 0.86 <= np.mean(covered) <= 0.99


@pytest.mark.parametrize("curve", [smooth_calibration_curve, isotonic_calibration_curve])
def test_consistency_band_holds_a_calibrated_curve(curve):
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(30):
        found = curve(make_queries(1000, a=2, b=2, random_state=rng).queries)
        low, high = found.consistency_band
        inside.append(np.mean((low - 1e-12 <= found.prob_true) & (found.prob_true <= high + 1e-12)))
    assert 0.88 <= np.mean(inside) <= 1.0


def test_grouped_band_is_wider():
    sample = make_queries(2000, a=2, b=2, group_size=20, dependence=0.9, random_state=0)
    widths = []
    for groups in (None, False):
        low, high = smooth_calibration_curve(
            sample.queries, groups=groups, bandwidth=0.5
        ).confidence_interval
        widths.append(np.mean(high - low))
    assert widths[0] > 1.3 * widths[1]


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


@pytest.mark.parametrize("curve", [smooth_calibration_curve, isotonic_calibration_curve])
def test_degenerate_data(curve):
    for y, q in (
        ([0, 1, 0, 1], [0.3] * 4),
        ([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0]),
        ([1], [0.2]),
        ([0, 1], [0.2, 0.8]),
    ):
        found = curve(y, q)
        assert np.isfinite(found.prob_true).all()
        assert np.isfinite(found.confidence_interval.low).all()
        assert found.to_frame().shape[1] == 4


def test_bad_options():
    with pytest.raises(ValueError, match="bandwidth must be a positive number"):
        smooth_calibration_curve([0, 1], [0.1, 0.9], bandwidth=0)
    with pytest.raises(ValueError, match="bandwidth='scott' is not known"):
        smooth_calibration_curve([0, 1], [0.1, 0.9], bandwidth="scott")
    with pytest.raises(ValueError, match="score='crps' is not known"):
        isotonic_calibration_curve([0, 1], [0.1, 0.9], score="crps")
