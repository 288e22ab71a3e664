"""How large T is under perfect calibration, against enumeration and resampling."""

import itertools
import math

import numpy as np
import pytest
from scipy import special

from sklearn_calib import Queries, calibration_error_interval
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._inference._moments import residual_moments
from sklearn_calib.metrics._inference._null_law import null_score, skewed_quantile, skewed_score


def enumerated(q, w, ends, square):
    """Return the probability of a T at least as large, over all answers."""
    total = 0.0
    for answers in itertools.product([False, True], repeat=len(q)):
        y = np.array(answers)
        moments = residual_moments(BinnedQueries(SortedQueries(y, q, w), ends))
        if moments.square >= square - 1e-12:
            total += np.prod(np.where(y, q, 1 - q))
    return total


@pytest.mark.parametrize("seed", range(4))
def test_rare_answers_have_their_exact_law(seed):
    """With equal predictions in each bin, the convolution is exact."""
    q = np.repeat([0.03, 0.1], 6)
    y = np.random.default_rng(seed).random(12) < 0.15
    bins = BinnedQueries(SortedQueries(np.r_[np.sort(y[:6]), np.sort(y[6:])], q), np.array([6, 12]))
    moments = residual_moments(bins)
    pvalue = special.ndtr(-null_score(bins, moments, None))
    assert pvalue == pytest.approx(enumerated(q, None, bins.ends, moments.square), abs=0.01)


def test_weighted_rare_answers_are_resampled():
    q = np.linspace(0.01, 0.08, 10)
    w = np.random.default_rng(0).exponential(size=10)
    y = np.zeros(10, dtype=bool)
    y[7] = True
    bins = BinnedQueries(SortedQueries(y, q, w), np.array([5, 10]))
    moments = residual_moments(bins)
    pvalue = special.ndtr(-null_score(bins, moments, None))
    expected = enumerated(q, w, bins.ends, moments.square)
    assert pvalue == pytest.approx(expected, abs=4 * math.sqrt(expected / 900))


def test_no_yes_where_none_is_expected_is_no_evidence():
    """A skewed law once turned the absence of rare answers into overwhelming evidence."""
    q = np.geomspace(1e-6, 2e-4, 1000)
    result = calibration_error_interval(np.zeros(1000), q)
    assert result.pvalue > 0.5
    assert result.confidence_interval.low == 0.0


def test_skewness_is_clamped():
    assert skewed_score(1.5, 0.0) == 1.5
    assert skewed_score(1.0, 50.0) == skewed_score(1.0, 2.0)
    assert skewed_score(3.0, 1.0) < 3.0
    for skewness in (-3.0, -0.4, 0.0, 0.5, 2.0):
        for x in (-0.9, 0.0, 1.3, 4.0):
            assert skewed_quantile(skewed_score(x, skewness), skewness) == pytest.approx(x)


def test_the_answer_is_always_the_same():
    rng = np.random.default_rng(0)
    q = rng.beta(0.2, 39.8, 200)
    y, w = rng.random(200) < q, np.exp(1.6 * rng.standard_normal(200))
    one = calibration_error_interval(y, q, sample_weight=w)
    order = rng.permutation(200)
    two = calibration_error_interval(y[order], q[order], sample_weight=w[order])
    assert one.confidence_interval == pytest.approx(two.confidence_interval)
    assert one.pvalue == two.pvalue


@pytest.mark.parametrize(
    ("y", "q", "pvalue"),
    [([1, 0, 0, 0], [0.0] * 4, 0.0), ([0] * 4, [0.0] * 4, 1.0), ([0, 0, 1, 1], [0, 0, 1, 1], 1.0)],
)
def test_certain_predictions(y, q, pvalue):
    assert calibration_error_interval(Queries(y, q)).pvalue == pvalue


def test_rare_answers_of_many_groups_are_not_bounded_by_the_number_of_draws():
    """An error that no draw comes near leaves a p-value far below one over their number."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(500), 10)
    q = rng.beta(0.4, 19.6, 5000)
    common = rng.standard_normal(500)[group]
    normal = np.sqrt(0.3) * common + np.sqrt(0.7) * rng.standard_normal(5000)
    truth = q + 0.05
    result = calibration_error_interval(special.ndtr(normal) < truth, q, groups=group)
    low, high = result.confidence_interval
    assert result.pvalue < 1e-5
    assert 0.03 < low < 0.05 < high < 0.07


@pytest.mark.parametrize("mirrored", [False, True])
def test_bins_that_are_certain_but_for_rounding(mirrored):
    q = np.resize([1.0, 1.0 - 2.0**-53, 1.0 - 2.0**-52], 600)
    queries = Queries(np.zeros(600), 1.0 - q) if mirrored else Queries(np.ones(600), q)
    assert calibration_error_interval(queries).pvalue > 0.5
