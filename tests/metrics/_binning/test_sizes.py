"""How large bins are when nobody says."""

import numpy as np
import pytest

from sklearn_calib.metrics._binning._sizes import (
    candidate_sizes,
    n_effective,
    number_of_bins,
    standard_number,
)
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.queries import Queries


def ordered(n, weight=None):
    return sort_queries(Queries(np.arange(n) % 2, np.linspace(0.0, 1.0, n), sample_weight=weight))


@pytest.mark.parametrize(
    ("n", "number"), [(3, 10), (1000, 10), (1001, 11), (8000, 20), (27_000, 30), (1e9, 1000)]
)
def test_number_of_bins(n, number):
    assert number_of_bins(n) == number


def test_no_more_bins_than_queries():
    assert standard_number(ordered(7)) == 7
    assert standard_number(ordered(7, weight=np.full(7, 0.3))) == 7
    # Whole weights are copies: seven rows stand for 14 queries.
    assert standard_number(ordered(7, weight=np.full(7, 2.0))) == 10


def test_effective_number_has_no_scale():
    weight = np.r_[np.ones(50), np.full(50, 3.0)]
    expected = weight.sum() ** 2 / np.square(weight).sum()
    for factor in (1.0, 0.01, 7.0):
        assert n_effective(ordered(100, weight=factor * weight)) == pytest.approx(expected)


def test_candidates_run_from_one_bin_to_bins_of_five():
    sizes = candidate_sizes(1000)
    assert (sizes[0], sizes[-1]) == (1000, 5)
    assert sizes == sorted(set(sizes), reverse=True)
    assert candidate_sizes(3) == [3]
