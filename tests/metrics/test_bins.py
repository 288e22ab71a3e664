"""Bins: intervals, bands, direction and printing."""

import numpy as np
import pytest
from scipy import stats

from sklearn_calib import (
    calibration_bins,
    calibration_error_interval,
    select_bin_size,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._bins import join_bins


@pytest.fixture(scope="module")
def sample():
    return make_queries(4000, distortion="slope", strength=0.5, random_state=0)


def test_bin_intervals_agree_with_scipy(sample):
    bins = calibration_bins(sample.queries, n_bins=9)
    yes = np.rint(bins.prob_true * bins.count).astype(int)
    for method, name in (("wilson", "wilson"), ("clopper-pearson", "exact")):
        low, high = bins.confidence_interval(0.9, method)
        for i, (k, n) in enumerate(zip(yes.tolist(), bins.count.tolist(), strict=True)):
            expected = stats.binomtest(k, n).proportion_ci(0.9, method=name)
            assert (low[i], high[i]) == pytest.approx(tuple(expected), abs=1e-9)


def test_normal_interval_is_the_papers():
    bins = calibration_bins([0, 1, 0, 1] * 25, [0.5] * 100, n_bins=1)
    low, high = bins.confidence_interval(0.95, "normal")
    assert low[0] == pytest.approx(0.5 - 1.959964 * 0.05, abs=1e-6)
    assert high[0] == pytest.approx(0.5 + 1.959964 * 0.05, abs=1e-6)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson", "normal"])
def test_intervals_of_pure_bins(method):
    bins = calibration_bins([0] * 10 + [1] * 10, [0.1] * 10 + [0.9] * 10, bin_size=10)
    low, high = bins.confidence_interval(0.95, method)
    assert low[0] == 0.0
    assert high[1] == 1.0


def test_bin_intervals_cover():
    covered = {"wilson": [], "clopper-pearson": []}
    rng = np.random.default_rng(0)
    for _ in range(300):
        sample = make_queries(600, a=2, b=2, random_state=rng)
        bins = calibration_bins(sample.queries, n_bins=10)
        order = np.argsort(sample.y_prob)
        truth = [part.mean() for part in np.array_split(sample.probability[order], 10)]
        for method, hits in covered.items():
            low, high = bins.confidence_interval(0.95, method)
            hits.append(np.mean((low <= truth) & (truth <= high)))
    # 3,000 bins a method: a standard error of 0.4 %.
    assert 0.935 <= np.mean(covered["wilson"]) <= 0.975
    assert 0.945 <= np.mean(covered["clopper-pearson"]) <= 0.985


def test_consistency_band_holds_calibrated_bins():
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(300):
        bins = calibration_bins(make_queries(600, random_state=rng).queries, n_bins=10)
        low, high = bins.consistency_band(0.9)
        inside.append(np.mean((low <= bins.prob_true) & (bins.prob_true <= high)))
    assert 0.89 <= np.mean(inside) <= 0.97


def test_direction():
    # Certain about the wrong thing at both ends: overconfident, on average unbiased.
    y = np.array(([0] * 7 + [1] * 3) * 10 + ([1] * 7 + [0] * 3) * 10)
    q = np.array([0.1] * 100 + [0.9] * 100)
    bins = calibration_bins(y, q, n_bins=2)
    assert bins.gap == pytest.approx([-0.2, 0.2])
    assert bins.overconfidence == pytest.approx([0.2, 0.2])
    assert bins.mean_gap == pytest.approx(0.0)
    assert bins.mean_overconfidence == pytest.approx(0.2)
    result = calibration_error_interval(y, q)
    assert result.mean_overconfidence == pytest.approx(0.2)
    assert "0.2000 overconfident" in str(result)
    cautious = calibration_bins(y, np.where(q > 0.5, 0.6, 0.4), n_bins=2)
    assert cautious.mean_overconfidence == pytest.approx(-0.1)


def test_automatic_sizes():
    sample = make_queries(8000, random_state=0)
    curve = calibration_bins(sample.queries)
    assert len(curve) == 20
    assert curve.bin_size == 400
    interval = calibration_error_interval(sample.queries)
    assert interval.bins.strategy == "balanced"
    assert interval.bins.bin_size == pytest.approx(8000 / len(interval.bins))
    # About sqrt(8 sqrt(N I)), where I is the sum of q (1 - q).
    information = np.sum(sample.y_prob * (1 - sample.y_prob))
    assert len(interval.bins) == pytest.approx(np.sqrt(8 * np.sqrt(8000 * information)), abs=2)
    # A calibrated model has flat residuals, and is best measured in few bins.
    chosen = [select_bin_size(make_queries(8000, random_state=seed).queries) for seed in range(20)]
    bent = [
        select_bin_size(make_queries(8000, distortion="slope", random_state=seed).queries)
        for seed in range(20)
    ]
    assert np.median(chosen) >= 4000
    assert np.median(bent) <= 1000


def test_number_of_bins_is_what_was_asked_for():
    sample = make_queries(1001, random_state=0)
    for n_bins in (1, 7, 10, 1001):
        assert len(calibration_bins(sample.queries, n_bins=n_bins)) == n_bins


def test_constant_predictions_are_one_bin():
    y = np.random.default_rng(0).random(5000) < 0.3
    q = np.full(5000, 0.3)
    for options in ({"bin_size": 10}, {"n_bins": 20}, {}):
        bins = calibration_bins(y, q, **options)
        assert bins.count.tolist() == [5000]
        assert bins.prob_pred.tolist() == [0.3]


def test_tables(sample):
    bins = calibration_bins(sample.queries, n_bins=40)
    text = str(bins)
    assert "40 adaptive bins of 4,000 queries, calibration error 0." in text
    assert "..." in text
    assert len(repr(bins).splitlines()) == 13
    assert bins._repr_html_().count("<tr>") == 12
    frame = bins.to_frame()
    assert frame.shape == (40, 6)
    weighted = calibration_bins(sample.y_true, sample.y_prob, sample_weight=np.full(4000, 2.0))
    assert weighted.to_frame()["weight"].sum() == 8000
    assert frame["count"].sum() == 4000


def test_small_integers_as_bin_size():
    sample = make_queries(500, random_state=0)
    w = np.ones(500)
    one = calibration_bins(sample.y_true, sample.y_prob, bin_size=np.int8(100), sample_weight=w)
    assert one.count.tolist() == [100] * 5
    with pytest.warns(UserWarning, match="larger than the number of queries"):
        assert len(calibration_bins(sample.queries, n_bins=10**12)) == 500


@pytest.mark.parametrize("weight", [None, "whole", "real"])
def test_joined_bins_are_sums_of_their_parts(sample, weight):
    rng = np.random.default_rng(0)
    weights = {
        None: None,
        "whole": rng.integers(1, 4, 4000),
        "real": rng.random(4000) + 0.1,
    }[weight]
    q, y = sample.y_prob, np.asarray(sample.y_true)
    narrow = calibration_bins(y, q, n_bins=128, sample_weight=weights)
    joined = join_bins(narrow)
    assert len(joined) == max(10, np.ceil(np.cbrt(narrow.effective_count.sum())))
    assert joined.weight.max() < 1.3 * joined.weight.min()
    assert joined.mean_gap == pytest.approx(narrow.mean_gap)
    w = np.ones(4000) if weights is None else weights
    for i in range(len(joined)):
        inside = (q >= joined.low[i]) & (q <= joined.high[i])
        assert joined.count[i] == inside.sum()
        assert joined.weight[i] == pytest.approx(w[inside].sum())
        assert joined.prob_pred[i] == pytest.approx(np.average(q[inside], weights=w[inside]))
        assert joined.prob_true[i] == pytest.approx(np.average(y[inside], weights=w[inside]))
        worth = w[inside].sum() ** (2 if weight == "real" else 1)
        worth /= np.square(w[inside]).sum() if weight == "real" else 1
        assert joined.effective_count[i] == pytest.approx(worth)
    few = calibration_bins(sample.queries)
    assert join_bins(few) is few


def test_one_bin_is_counted_in_plain_english():
    one = calibration_bins([0, 1, 1], [0.5, 0.5, 0.5])
    assert repr(one).endswith("\n1 adaptive bin of 3 queries, calibration error 0.1667")


def test_balanced_bins_hold_equal_steps_of_counts_and_information():
    rare = make_queries(20_000, a=0.05, b=1, random_state=0).queries
    bins = calibration_bins(rare, n_bins=20, strategy="balanced")
    assert bins.strategy == "balanced"
    assert bins.count.sum() == 20_000
    assert repr(bins).endswith(f"calibration error {bins.error():.4f}")
    information = rare.y_prob * (1.0 - rare.y_prob)
    ends = np.cumsum(bins.count)[:-1]
    held = np.add.reduceat(information[np.argsort(rare.y_prob)], np.append(0, ends))
    share = (bins.count / 20_000 + held / information.sum()) / 2.0
    assert share == pytest.approx(1 / 20, abs=0.01)
    equal = calibration_bins(rare, n_bins=20)
    assert (bins.prob_pred > 0.01).sum() > 2 * (equal.prob_pred > 0.01).sum()


def test_balanced_bins_are_as_many_as_adaptive_ones_and_the_same_from_both_ends():
    sample = make_queries(3000, a=1, b=1, random_state=0)
    bins = calibration_bins(sample.queries, strategy="balanced")
    assert len(bins) == len(calibration_bins(sample.queries)) == 15
    other = calibration_bins(1 - sample.y_true, 1.0 - sample.y_prob, strategy="balanced")
    np.testing.assert_array_equal(bins.count, other.count[::-1])
