"""The best bin size, and the error in bins of many sizes."""

import numpy as np
import pytest

from sklearn_calib import (
    adaptive_bin_calibration_error,
    bin_size_curve,
    select_bin_size,
)
from sklearn_calib.datasets import make_queries


@pytest.mark.parametrize("decimals", [None, 2])
def test_bin_size_curve_agrees_with_the_error(decimals):
    sample = make_queries(3000, distortion="slope", decimals=decimals, random_state=0)
    curve = bin_size_curve(sample.queries)
    assert curve.selected == select_bin_size(sample.queries)
    for i in range(0, len(curve.bin_size), 4):
        size = int(curve.bin_size[i])
        error = adaptive_bin_calibration_error(sample.queries, bin_size=size)
        debiased = adaptive_bin_calibration_error(sample.queries, bin_size=size, debias=True)
        assert curve.error[i] == pytest.approx(error, abs=1e-9)
        assert curve.debiased_error[i] == pytest.approx(debiased, abs=1e-6)
    assert curve.to_frame().shape == (len(curve.bin_size), 7)
    assert "selected" in str(curve)


def test_bin_size_curve_of_chosen_sizes():
    sample = make_queries(1024, random_state=0)
    curve = bin_size_curve(sample.queries, bin_sizes=[512, 2, 2, 64])
    assert curve.bin_size.tolist() == [2, 64, 512]
    assert curve.n_bins.tolist() == [512, 16, 2]
    single = bin_size_curve(sample.queries, bin_sizes=[1])
    assert np.isnan(single.debiased_error[0])
    assert np.isinf(single.risk[0])
    with pytest.raises(TypeError, match="each of bin_sizes must be an integer"):
        bin_size_curve(sample.queries, bin_sizes=[2.5])
    with pytest.raises(ValueError, match="bin_sizes is empty"):
        bin_size_curve(sample.queries, bin_sizes=[])
    weighted = bin_size_curve(sample.y_true, sample.y_prob, sample_weight=np.full(1024, 0.5))
    assert np.isfinite(weighted.error).all()


def test_null_band_of_the_curve_covers():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(200):
        curve = bin_size_curve(make_queries(1000, random_state=rng).queries, bin_sizes=[20, 100])
        low, high = curve.null_interval
        inside.append((low <= curve.error) & (curve.error <= high))
    assert (np.mean(inside, axis=0) >= 0.9).all()
    assert (np.mean(inside, axis=0) <= 0.99).all()
