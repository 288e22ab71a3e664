"""Sorted queries and how they are cut."""

import numpy as np
import pytest

from sklearn_calib import (
    Queries,
    calibration_bins,
)
from sklearn_calib.metrics._binning._sorted import sort_queries


@pytest.mark.parametrize("size", [3, 7, 50])
def test_rare_ties_are_cut_like_common_ones(size):
    rng = np.random.default_rng(0)
    q = rng.random(2000).astype(np.float16).astype(float)
    q[:300] = rng.random(300)
    ordered = sort_queries(Queries(rng.random(2000) < q, q))
    np.testing.assert_array_equal(ordered._jumping_ends(size), ordered._greedy_ends(size, 1))


def test_many_ties_in_many_bins_agree_for_both_ways_of_cutting():
    rng = np.random.default_rng(0)
    q = np.round(rng.random(3000), 3)
    y = rng.random(3000) < q
    few, many = calibration_bins(y, q, bin_size=400), calibration_bins(y, q, bin_size=3)
    for bins, size in ((few, 400), (many, 3)):
        assert (bins.count >= size).all()
        assert (bins.high[:-1] < bins.low[1:]).all()
    weighted = calibration_bins(y, q, bin_size=3, sample_weight=np.ones(3000))
    np.testing.assert_array_equal(weighted.count, many.count)
