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


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("rows", [1, 4])
def test_a_bin_advances_where_rounding_hides_its_weight(size, rows):
    # Added to 1e16, a weight of one is lost: the running sum stands still.
    w = np.where(np.arange(300) == 40, 1e16, 1.0)
    q = np.linspace(0.1, 0.9, 300)
    ends = sort_queries(Queries(q > 0.5, q, sample_weight=w)).cut_by_size(size, rows)
    assert (np.diff(ends) >= rows).all()
    assert ends[-1] == 300
