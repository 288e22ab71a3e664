"""Hand-worked numbers and agreement with the literal algorithms."""

import math

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from sklearn_calib import (
    Queries,
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_error_interval,
    score_decomposition,
    select_bin_size,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sizes import candidate_sizes, leave_one_out_risks
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._inference import _resampling
from sklearn_calib.metrics._inference._debiased import debiased_square_of
from sklearn_calib.metrics._inference._moments import residual_moments
from tests import reference

Y, Q = [0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]


@pytest.mark.parametrize(
    ("bin_size", "squared", "expected"),
    [(2, True, 0.065), (2, False, 0.2549509757), (3, False, 0.05)],
)
def test_error_worked_by_hand(bin_size, squared, expected):
    error = adaptive_bin_calibration_error(Y, Q, bin_size=bin_size, squared=squared)
    assert error == pytest.approx(expected, abs=1e-10)


def test_brier_decomposition_worked_by_hand():
    parts = score_decomposition(Y, Q, bin_size=2)
    assert parts.score == pytest.approx(0.225)
    assert parts.calibration == pytest.approx(0.065)
    assert parts.refinement == pytest.approx(0.25)
    assert parts.within_bin_spread == pytest.approx(0.01)
    assert parts.within_bin_covariance == pytest.approx(-0.1)


def test_log_decomposition_worked_by_hand():
    parts = score_decomposition(Y, Q, bin_size=2, score="log")
    assert parts.score == pytest.approx(0.6121919008)
    assert parts.calibration == pytest.approx(0.1551601224)
    assert parts.refinement == pytest.approx(0.6931471806)
    assert parts.within_bin_spread == pytest.approx(0.0552290940)
    assert parts.within_bin_covariance == pytest.approx(-0.2913444962)


@pytest.mark.parametrize("y", [[1, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1]])
def test_tied_predictions_share_a_bin(y):
    error = adaptive_bin_calibration_error(y, [0.2, 0.2, 0.2, 0.8], bin_size=2)
    assert error == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("y", "square"), [([1, 1, 1, 1], 0.25), ([1, 1, 1, 0], 0.0), ([1, 1, 0, 0], -1 / 12)]
)
def test_debiased_square_and_null_moments_worked_by_hand(y, square):
    bins = BinnedQueries(sort_queries(Queries(y, np.full(4, 0.5))), np.array([4]))
    assert debiased_square_of(bins) == pytest.approx(square)
    moments = residual_moments(bins)
    assert moments.square == pytest.approx(square)
    assert moments.null_variance == pytest.approx(1 / 96)
    assert moments.null_third == pytest.approx(1 / 576)


def test_negative_debiased_square_is_reported_as_zero():
    assert adaptive_bin_calibration_error(Y, Q, bin_size=2, debias=True) == 0.0
    bins = BinnedQueries(sort_queries(Queries(Y, Q)), np.array([2, 4]))
    assert debiased_square_of(bins) == pytest.approx(-0.095)


def random_case(rng, n, ties):
    q = rng.beta(0.5, 2, size=n)
    if ties:
        q = np.round(q, 1)
    return (rng.random(n) < q).astype(int), q


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("norm", ["l2", "l1", "max"])
def test_agrees_with_the_literal_algorithm(ties, norm):
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 60))
        y, q = random_case(rng, n, ties)
        beta = int(rng.integers(1, n + 1))
        bins = reference.tied_bins(y, q, beta)
        if not ties:
            assert bins == reference.algorithm_1_bins(y, q, beta)
        ours = adaptive_bin_calibration_error(y, q, bin_size=beta, norm=norm)
        assert ours == pytest.approx(reference.error_of_bins(bins, norm=norm), abs=1e-12)
        assert [len(b) for b in bins] == calibration_bins(y, q, bin_size=beta).count.tolist()


@pytest.mark.parametrize("ties", [False, True])
def test_debias_agrees_with_the_sum_over_pairs(ties):
    rng = np.random.default_rng(1)
    for _ in range(50):
        y, q = random_case(rng, int(rng.integers(4, 60)), ties)
        bins = reference.tied_bins(y, q, 4)
        expected = max(0.0, reference.debiased_square(bins))
        ours = adaptive_bin_calibration_error(y, q, bin_size=4, debias=True, squared=True)
        assert ours == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_leave_one_out_risk_agrees_with_leaving_one_out(ties):
    rng = np.random.default_rng(2)
    for n in (10, 37, 100):
        y, q = random_case(rng, n, ties)
        sizes = [s for s in candidate_sizes(n) if s > 1]
        risks = leave_one_out_risks(sort_queries(Queries(y, q)), sizes)
        expected = [reference.leave_one_out_risk(reference.tied_bins(y, q, s)) for s in sizes]
        assert risks == pytest.approx(expected)
        assert select_bin_size(y, q) == sizes[int(np.argmin(expected))]


@pytest.mark.parametrize("squared", [False, True])
def test_sampling_interval_agrees_with_the_literal_one(squared):
    sample = make_queries(600, distortion="slope", random_state=3)
    ours = calibration_error_interval(
        sample.queries,
        bin_size=50,
        method="sampling",
        n_resamples=20_000,
        random_state=0,
        squared=squared,
    )
    bins = reference.algorithm_1_bins(sample.y_true, sample.y_prob, 50)
    low, high = reference.algorithm_2(bins, 4000, np.random.default_rng(0), squared, z=1.959964)
    # Both limits have a Monte Carlo error of about sd * sqrt(1 / 4000 + 1.96**2 / 8000).
    tolerance = 5 * ours.standard_error * math.sqrt(1 / 4000 + 1.96**2 / 8000)
    assert ours.confidence_interval.low == pytest.approx(low, abs=tolerance)
    assert ours.confidence_interval.high == pytest.approx(high, abs=tolerance)
    assert len(ours.distribution) == 20_000


def test_sampling_memory_is_bounded(monkeypatch):
    """Drawing in small pieces gives the same law as drawing at once."""
    sample = make_queries(2000, random_state=0)
    options = {"method": "sampling", "bin_size": 20, "n_resamples": 4000, "random_state": 1}
    whole = calibration_error_interval(sample.queries, **options)
    monkeypatch.setattr(_resampling, "_CHUNK", 37)
    pieces = calibration_error_interval(sample.queries, **options)
    assert pieces.standard_error == pytest.approx(whole.standard_error, rel=0.1)
    assert pieces.confidence_interval.low == pytest.approx(
        whole.confidence_interval.low, abs=whole.standard_error / 5
    )


@pytest.mark.parametrize("n_bins", [5, 10, 50])
def test_uniform_bins_are_those_of_scikit_learn(n_bins):
    sample = make_queries(1000, decimals=2, random_state=5)
    bins = calibration_bins(sample.queries, n_bins=n_bins, strategy="uniform")
    true, pred = calibration_curve(sample.y_true, sample.y_prob, n_bins=n_bins)
    assert bins.prob_true == pytest.approx(true)
    assert bins.prob_pred == pytest.approx(pred)


def test_sort_carries_labels_through_every_bit_pattern():
    rng = np.random.default_rng(0)
    tiny = rng.integers(0, 0x3FF0000000000001, size=20_000).view(np.float64)
    q = np.concatenate([tiny, [0.0, -0.0, 1.0, 1.0, 5e-324, 1 - 2**-53, 2.2e-308]])
    y = rng.random(len(q)) < 0.5
    ordered = sort_queries(Queries(y, q))
    order = np.lexsort((y, q))
    np.testing.assert_array_equal(ordered.q, q[order])
    np.testing.assert_array_equal(ordered.y, y[order])
