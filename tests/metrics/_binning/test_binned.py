"""Queries in bins, and weights."""

import numpy as np
import pytest

from sklearn_calib import (
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_error_interval,
)
from sklearn_calib.datasets import make_queries


def test_copies_do_not_predict_each_other():
    sample = make_queries(3000, random_state=3)
    w = np.random.default_rng(0).integers(1, 4, 3000)
    plain = adaptive_bin_calibration_error(sample.queries)
    weighted = adaptive_bin_calibration_error(sample.y_true, sample.y_prob, sample_weight=w)
    assert weighted < plain + 0.02
    for scale in (1, 0.5, 10.5, 1e-6):
        same = adaptive_bin_calibration_error(
            sample.y_true, sample.y_prob, sample_weight=np.full(3000, scale)
        )
        assert same == pytest.approx(plain)
    # Whole weights stand for copies, also where the number of bins is automatic.
    for copies in (2, 10):
        same = adaptive_bin_calibration_error(
            sample.y_true, sample.y_prob, sample_weight=np.full(3000, copies)
        )
        repeated = adaptive_bin_calibration_error(
            np.repeat(sample.y_true, copies), np.repeat(sample.y_prob, copies)
        )
        assert same == pytest.approx(repeated)


def test_the_unit_of_weights_does_not_matter():
    sample = make_queries(400, distortion="slope", random_state=0)
    y, q = sample.y_true, sample.y_prob
    ratio = np.random.default_rng(0).random(400) + 0.5
    for make in (
        lambda w: calibration_bins(y, q, sample_weight=w).confidence_interval().high,
        lambda w: calibration_bins(y, q, sample_weight=w).consistency_band().high,
        lambda w: (
            calibration_error_interval(
                y, q, sample_weight=w, method="bootstrap", n_resamples=50, random_state=0
            ).confidence_interval
        ),
        lambda w: (
            calibration_error_interval(
                y, q, sample_weight=w, method="sampling", n_resamples=50, random_state=0
            ).confidence_interval
        ),
    ):
        np.testing.assert_allclose(make(ratio), make(ratio * 1e-6), rtol=1e-6)
