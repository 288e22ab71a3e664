"""What holds for every curve without bins."""

import numpy as np
import pytest

from sklearn_calib import (
    gaussian_process_calibration_curve,
    isotonic_calibration_curve,
    smooth_calibration_curve,
)
from sklearn_calib.datasets import make_queries

CURVES = [
    smooth_calibration_curve,
    isotonic_calibration_curve,
    gaussian_process_calibration_curve,
]
every_curve = pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.__name__)


@every_curve
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


@pytest.mark.parametrize(
    ("curve", "least", "most"),
    [
        (smooth_calibration_curve, 0.90, 0.99),
        # Conservative by design where the curve rises.
        (isotonic_calibration_curve, 0.96, 1.0),
        (gaussian_process_calibration_curve, 0.88, 1.0),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_intervals_cover_point_by_point(curve, least, most):
    rng = np.random.default_rng(0)
    covered = []
    # Points of one curve hang together: a standard error of about 2.5 %.
    for _ in range(12):
        sample = make_queries(800, a=1, b=1, distortion="slope", strength=0.8, random_state=rng)
        found = curve(sample.queries)
        order = np.argsort(sample.y_prob)
        truth = np.interp(found.prob_pred, sample.y_prob[order], sample.probability[order])
        low, high = found.confidence_interval
        covered.append(np.mean((low <= truth) & (truth <= high)))
    assert least <= np.mean(covered) <= most


@every_curve
def test_consistency_band_holds_a_calibrated_curve(curve):
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(10):
        found = curve(make_queries(1000, a=2, b=2, random_state=rng).queries)
        low, high = found.consistency_band
        inside.append(np.mean((low - 1e-12 <= found.prob_true) & (found.prob_true <= high + 1e-12)))
    assert 0.88 <= np.mean(inside) <= 1.0


@every_curve
def test_whole_weights_are_copies(curve):
    sample = make_queries(150, decimals=2, distortion="slope", random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, 150)
    one = curve(sample.y_true, sample.y_prob, sample_weight=weight)
    two = curve(np.repeat(sample.y_true, weight), np.repeat(sample.y_prob, weight))
    np.testing.assert_allclose(one.prob_true, two.prob_true, atol=1e-9)
    np.testing.assert_allclose(one.confidence_interval, two.confidence_interval, atol=1e-9)


@every_curve
def test_naming_the_other_class_turns_the_curve_around(curve):
    sample = make_queries(700, distortion="slope", random_state=0)
    one = curve(sample.y_true, sample.y_prob)
    two = curve(~sample.y_true.astype(bool), 1.0 - sample.y_prob)
    np.testing.assert_allclose(one.prob_pred, 1.0 - two.prob_pred[::-1], atol=1e-9)
    np.testing.assert_allclose(one.prob_true, 1.0 - two.prob_true[::-1], atol=2e-3)
    low, high = one.confidence_interval
    np.testing.assert_allclose(low, 1.0 - two.confidence_interval.high[::-1], atol=2e-3)
    np.testing.assert_allclose(high, 1.0 - two.confidence_interval.low[::-1], atol=2e-3)


@every_curve
def test_order_of_rows_does_not_matter(curve):
    sample = make_queries(300, decimals=2, random_state=0)
    order = np.random.default_rng(1).permutation(300)
    one = curve(sample.y_true, sample.y_prob)
    two = curve(sample.y_true[order], sample.y_prob[order])
    np.testing.assert_array_equal(one.prob_true, two.prob_true)
    np.testing.assert_array_equal(one.confidence_interval, two.confidence_interval)


@every_curve
def test_degenerate_data(curve):
    for y, q in (
        ([0, 1, 0, 1], [0.3] * 4),
        ([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0]),
        ([1], [0.2]),
        ([0, 1], [0.2, 0.8]),
        ([1] * 50, np.linspace(0.01, 0.99, 50)),
    ):
        found = curve(y, q)
        assert np.isfinite(found.prob_true).all()
        low, high = found.confidence_interval
        assert (low >= 0.0).all()
        assert (high <= 1.0).all()
        assert (high - low > 1e-4).all()
        assert found.to_frame().shape[1] == 4


def test_names_in_words():
    sample = make_queries(100, random_state=0)
    names = [curve(sample.queries).name for curve in CURVES]
    assert names == ["smooth", "isotonic", "Gaussian-process"]
    text = repr(gaussian_process_calibration_curve(sample.queries))
    assert text.endswith("Gaussian-process calibration curve at 100 points")
