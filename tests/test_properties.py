"""Invariants of the metric, over generated data."""

import math
import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from sklearn_calib import (
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_error_interval,
    calibration_test,
    compare_calibration,
    label_calibration,
    score_decomposition,
)
from sklearn_calib.metrics import TooFewError

settings.register_profile("default", max_examples=150, deadline=None)
settings.load_profile("default")

SIZES = st.integers(1, 12)


def error(y, q, beta, **options):
    beta = min(beta, len(q)) if options.get("sample_weight") is None else beta
    return adaptive_bin_calibration_error(y, q, bin_size=beta, **options)


@st.composite
def queries(draw, min_size=1, max_size=40, ties=True):
    """Answers and predictions; predictions on a coarse grid, so that ties are common."""
    n = draw(st.integers(min_size, max_size))
    if ties:
        values = st.one_of(st.integers(0, 10).map(lambda k: k / 10), st.floats(0, 1))
        q = draw(st.lists(values, min_size=n, max_size=n))
    else:
        q = draw(st.lists(st.floats(0, 1), min_size=n, max_size=n, unique=True))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return np.array(y), np.array(q)


# Predictions are drawn blindly: some are taken for decisions.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:y_prob holds only 0 and 1")]


@given(queries(), SIZES, st.randoms(use_true_random=False))
def test_row_order_never_matters(data, beta, random):
    y, q = data
    order = np.array(random.sample(range(len(q)), len(q)))
    w = np.array([random.choice([0.1, 0.2, 1.0, 3.0]) for _ in q])
    assert error(y[order], q[order], beta) == error(y, q, beta)
    one = adaptive_bin_calibration_error(y, q)
    assert adaptive_bin_calibration_error(y[order], q[order]) == one
    w[0] = 1.0
    two = error(y, q, 1, sample_weight=w)
    assert error(y[order], q[order], 1, sample_weight=w[order]) == two


@given(queries(), SIZES, st.sampled_from(["l1", "l2", "max"]))
def test_error_lies_between_zero_and_one(data, beta, norm):
    assert 0.0 <= error(*data, beta, norm=norm) <= 1.0


@given(queries(), SIZES)
def test_norms_are_ordered(data, beta):
    l1, l2, largest = (error(*data, beta, norm=norm) for norm in ("l1", "l2", "max"))
    assert l1 <= l2 + 1e-12
    assert l2 <= largest + 1e-12


@given(queries(), SIZES)
def test_squared_is_the_square(data, beta):
    assert error(*data, beta, squared=True) == pytest.approx(error(*data, beta) ** 2, abs=1e-15)


@given(queries(), SIZES)
def test_squared_error_is_at_most_the_brier_score(data, beta):
    y, q = data
    assert error(y, q, beta, squared=True) <= np.mean((y - q) ** 2) + 1e-12


@given(queries(), SIZES)
def test_error_is_at_least_the_overall_gap(data, beta):
    y, q = data
    gap = abs(q.mean() - y.mean())
    value = error(y, q, beta)
    assert value >= gap - 1e-12
    if beta > len(q) / 2:
        assert error(y, q, len(q)) == pytest.approx(gap, abs=1e-12)


@given(queries(ties=False))
def test_bins_of_one_give_the_brier_score(data):
    y, q = data
    assert error(y, q, 1, squared=True) == pytest.approx(np.mean((y - q) ** 2), abs=1e-12)


@given(queries(ties=False), st.integers(1, 6), st.integers(2, 4))
def test_nested_bins_never_raise_the_error(data, beta, m):
    assume(m * beta <= len(data[0]))
    assert error(*data, m * beta) <= error(*data, beta) + 1e-12


def test_a_bin_larger_by_one_may_raise_the_error():
    q, y = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0, 0, 0, 1, 0, 1]
    assert error(y, q, 2) == pytest.approx(0.1258, abs=1e-4)
    assert error(y, q, 3) == pytest.approx(0.1841, abs=1e-4)


@given(queries(), SIZES)
def test_data_twice_in_bins_of_twice_the_size(data, beta):
    y, q = data
    assume(beta <= len(q))
    twice = error(np.tile(y, 2), np.tile(q, 2), 2 * beta)
    assert twice == pytest.approx(error(y, q, beta), abs=1e-12)


def test_twice_the_bin_size_may_raise_the_error_under_ties():
    q, y = np.array([0.2] * 3 + [0.4] + [0.6] * 4), np.zeros(8, dtype=int)
    assert error(y, q, 2) == pytest.approx(0.45935, abs=1e-5)
    assert error(y, q, 4) == pytest.approx(0.45962, abs=1e-5)


@given(queries(), SIZES, st.randoms(use_true_random=False))
def test_labels_may_be_shuffled_inside_a_bin(data, beta, random):
    y, q = data
    order = np.argsort(q, kind="stable")
    y, q = y[order], q[order]
    shuffled, start = y.copy(), 0
    for count in calibration_bins(y, q, bin_size=min(beta, len(q))).count:
        part = shuffled[start : start + count].tolist()
        random.shuffle(part)
        shuffled[start : start + count] = part
        start += count
    assert error(shuffled, q, beta) == pytest.approx(error(y, q, beta), abs=1e-12)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=30), SIZES)
def test_certain_and_right_has_no_error(y, beta):
    assert error(y, np.array(y, dtype=float), beta) == 0.0


@given(queries(), SIZES)
def test_predicting_each_bins_frequency_has_no_error(data, beta):
    y, q = data
    order = np.argsort(q, kind="stable")
    bins = calibration_bins(y, q, bin_size=min(beta, len(q)))
    assume((np.diff(bins.prob_true) > 0).all())
    repaired = np.repeat(bins.prob_true, bins.count)
    assert error(y[order], repaired, beta) == pytest.approx(0.0, abs=1e-9)


@given(queries(), SIZES, st.floats(0, 1))
def test_shift_of_all_predictions(data, beta, share):
    y, q = data
    q = np.round(q, 6) / 2
    c = share / 2
    shifted = q + c
    # Rounding must not merge or split runs of equal predictions.
    assume(len(np.unique(shifted)) == len(np.unique(q)))
    expected = error(y, q, beta, squared=True) + 2 * c * (q.mean() - y.mean()) + c**2
    assert error(y, shifted, beta, squared=True) == pytest.approx(expected, abs=1e-9)


@given(queries(ties=False), SIZES)
def test_flipping_the_question(data, beta):
    y, q = data
    q = np.round(q, 8)
    assume(len(np.unique(1 - q)) == len(q) == len(np.unique(q)) and len(q) % beta == 0)
    assert error(1 - y, 1 - q, beta) == pytest.approx(error(y, q, beta), abs=1e-9)


def test_flipping_the_question_may_matter_for_a_short_last_bin():
    q, y = np.array([0.1, 0.2, 0.4, 0.6, 0.9]), np.array([0, 0, 1, 1, 0])
    assert error(y, q, 2) == pytest.approx(0.0983, abs=1e-4)
    assert error(1 - y, 1 - q, 2) == pytest.approx(0.1761, abs=1e-4)


@given(queries(ties=False), queries(ties=False), st.integers(1, 6))
def test_disjoint_ranges_are_measured_apart(low, high, beta):
    (y1, q1), (y2, q2) = low, high
    q1, q2 = q1 * 0.4, 0.5 + q2 * 0.4
    assume(len(np.unique(q1)) == len(q1) and len(np.unique(q2)) == len(q2))
    assume(len(q1) % beta == 0 and len(q2) >= beta)
    parts = len(q1) * error(y1, q1, beta, squared=True)
    parts += len(q2) * error(y2, q2, beta, squared=True)
    whole = error(np.r_[y1, y2], np.r_[q1, q2], beta, squared=True)
    assert whole == pytest.approx(parts / (len(q1) + len(q2)), abs=1e-12)


@given(queries(min_size=2), st.data())
def test_integer_weights_are_repetition(data, draw):
    y, q = data
    w = np.array(draw.draw(st.lists(st.integers(0, 4), min_size=len(q), max_size=len(q))))
    assume(w.sum() > 0)
    beta = draw.draw(st.integers(1, int(w.sum())))
    y2, q2 = np.repeat(y, w), np.repeat(q, w)
    # Ten or more decisions, with no probability among them, are warned of.
    assume(len(q2) < 10 or ((q2 > 0.0) & (q2 < 1.0)).any())
    weighted = calibration_bins(y, q, bin_size=beta, sample_weight=w)
    repeated = calibration_bins(y2, q2, bin_size=beta)
    for name in ("weight", "prob_pred", "prob_true", "low", "high"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-12)
    one, two = calibration_bins(y, q, sample_weight=w), calibration_bins(y2, q2)
    np.testing.assert_allclose(one.prob_pred, two.prob_pred, atol=1e-12)
    for options in ({"bin_size": beta}, {"n_bins": 3}):
        if options == {"n_bins": 3}:
            assume(np.count_nonzero(w) >= 3)
        one = adaptive_bin_calibration_error(y, q, sample_weight=w, **options)
        two = adaptive_bin_calibration_error(y2, q2, **options)
        assert one == pytest.approx(two, abs=1e-12)
    one = score_decomposition(y, q, bin_size=beta, sample_weight=w)
    two = score_decomposition(y2, q2, bin_size=beta)
    for name in ("score", "calibration", "refinement", "within_bin"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-12)


@given(queries(min_size=3), st.integers(1, 5), st.integers(2, 9))
def test_weights_and_bin_size_scale_together(data, beta, factor):
    y, q = data
    w = 1.0 + np.arange(len(q)) % 3
    one = error(y, q, beta, sample_weight=w)
    assert error(y, q, beta * factor, sample_weight=w * factor) == pytest.approx(one, abs=1e-12)


@given(queries(min_size=4))
def test_scale_of_weights_without_a_unit_does_not_matter(data):
    y, q = data
    w = 0.3 + np.arange(len(q)) % 5 / 7
    for function in (
        adaptive_bin_calibration_error,
        lambda *a, **k: calibration_bins(*a, **k).error(),
    ):
        one = function(y, q, sample_weight=w)
        assert function(y, q, sample_weight=w / w.sum()) == pytest.approx(one, abs=1e-9)


@given(queries(min_size=8), st.integers(-900, 1000))
def test_the_power_of_two_behind_the_weights_does_not_matter(data, exponent):
    y, q = data
    assume(((q > 0.0) & (q < 1.0)).any())
    # Whole numbers would stand for copies, and no power of two makes a third whole.
    w = (1.0 + np.arange(len(q)) % 5) / 3.0 + 0.1
    scaled = np.ldexp(w, exponent)
    for function in (
        adaptive_bin_calibration_error,
        lambda *a, **k: calibration_bins(*a, **k).prob_true,
        lambda *a, **k: calibration_error_interval(*a, **k).confidence_interval,
        lambda *a, **k: calibration_test(*a, statistic="binned", **k).pvalue,
    ):
        one, two = (function(y, q, sample_weight=weight) for weight in (w, scaled))
        np.testing.assert_allclose(two, one, rtol=1e-6, atol=1e-9)


EXTREME = st.sampled_from([0.0, 1e-320, 1e-200, 0.1, 1.0, 1e16, 1e200, 1.7e308])


@given(queries(min_size=4), st.data(), st.integers(1, 6))
def test_weights_of_any_size_make_bins_and_no_endless_loop(data, draw, beta):
    y, q = data
    w = np.array(draw.draw(st.lists(EXTREME, min_size=len(q), max_size=len(q))))
    assume(w.any())
    with warnings.catch_warnings():
        # A bin size may be larger than the sum of the weights, and there may be one row.
        warnings.simplefilter("ignore", UserWarning)
        for options in ({"bin_size": beta}, {"n_bins": beta}, {}):
            bins = calibration_bins(y, q, sample_weight=w, **options)
            assert bins.count.sum() == np.count_nonzero(w)
            assert (bins.count > 0).all()
            assert np.isfinite(bins.prob_true).all()
            assert 0.0 <= bins.error() <= 1.0
    try:
        low, high = calibration_error_interval(y, q, sample_weight=w).confidence_interval
    except TooFewError:
        return
    assert 0.0 <= low <= high <= 1.0


@given(queries(), SIZES, st.sampled_from(["brier", "log"]))
def test_decompositions_add_up(data, beta, score):
    y, q = data
    q = np.clip(q, 1e-6, 1 - 1e-6)
    parts = score_decomposition(y, q, score=score, bin_size=min(beta, len(q)))
    total = parts.calibration + parts.refinement + parts.within_bin
    assert total == pytest.approx(parts.score, abs=1e-9)
    assert parts.calibration >= -1e-15
    bound = 0.25 if score == "brier" else math.log(2)
    assert -1e-15 <= parts.refinement <= bound + 1e-12
    if score == "brier":
        assert parts.calibration == pytest.approx(error(y, q, beta, squared=True), abs=1e-12)


@given(queries(min_size=4), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_interval_holds_its_estimate(data, level):
    result = calibration_error_interval(*data, confidence_level=level)
    low, high = result.confidence_interval
    assert 0.0 <= low <= high <= 1.0
    assert low - 1e-9 <= result.error <= high + 1e-9
    assert 0.0 <= result.pvalue <= 1.0


@given(queries(min_size=4))
def test_interval_widens_with_the_level(data):
    narrow = calibration_error_interval(*data, confidence_level=0.8).confidence_interval
    wide = calibration_error_interval(*data, confidence_level=0.99).confidence_interval
    assert wide.low <= narrow.low + 1e-9
    assert wide.high >= narrow.high - 1e-9


@given(queries(min_size=4), st.floats(0.2, 5.0))
def test_equal_weights_leave_the_interval_alone(data, weight):
    y, q = data
    plain = calibration_error_interval(y, q, bin_size=4)
    w = np.full(len(q), weight)
    # A bin of four queries holds four weights.
    few = calibration_error_interval(y, q, n_bins=1, sample_weight=w)
    one = calibration_error_interval(y, q, n_bins=1)
    assert few.error == pytest.approx(one.error, abs=1e-6)
    assert few.confidence_interval == pytest.approx(one.confidence_interval, abs=1e-6)
    assert plain.error >= 0


@given(queries(), SIZES, st.sampled_from(["wilson", "normal", "clopper-pearson"]))
def test_bin_intervals_hold_their_frequency(data, beta, method):
    bins = calibration_bins(*data, bin_size=min(beta, len(data[0])))
    low, high = bins.confidence_interval(0.9, method)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low <= bins.prob_true + 1e-12).all()
    assert (high >= bins.prob_true - 1e-12).all()


@given(queries(), SIZES)
def test_consistency_band_holds_the_prediction(data, beta):
    bins = calibration_bins(*data, bin_size=min(beta, len(data[0])))
    low, high = bins.consistency_band(0.95)
    # The band is made of counts: the prediction lies within one count of it.
    assert (low <= bins.prob_pred + 1 / bins.count).all()
    assert (high >= bins.prob_pred - 1 / bins.count).all()


@given(queries(), SIZES)
def test_bins_describe_all_queries(data, beta):
    y, q = data
    bins = calibration_bins(y, q, bin_size=min(beta, len(q)))
    assert bins.count.sum() == len(q)
    assert (bins.low <= bins.prob_pred).all()
    assert (bins.prob_pred <= bins.high).all()
    assert (bins.high[:-1] < bins.low[1:]).all()
    assert len(bins) == 1 or (bins.count >= min(beta, len(q))).all()
    assert bins.mean_gap == pytest.approx(q.mean() - y.mean(), abs=1e-12)


@given(queries(min_size=1), st.integers(1, 30))
def test_number_of_bins(data, n_bins):
    y, q = data
    assume(n_bins <= len(q))
    bins = calibration_bins(y, q, n_bins=n_bins)
    assert bins.count.sum() == len(q)
    assert len(bins) <= n_bins
    if len(np.unique(q)) == len(q):
        assert len(bins) == n_bins
        assert bins.count.max() - bins.count.min() <= 1


@given(st.data())
def test_label_calibration_covers_all_labels(draw):
    n, k = draw.draw(st.integers(1, 30)), draw.draw(st.integers(3, 5))
    rng = np.random.default_rng(draw.draw(st.integers(0, 99)))
    proba = rng.dirichlet(np.ones(k), size=n)
    y = rng.integers(0, k, size=n)
    table = label_calibration(y, proba, classes=np.arange(k))
    assert table.labels.tolist() == list(range(k))
    assert table.count.tolist() == np.bincount(y, minlength=k).tolist()
    assert (table.n_queries == n).all()


@st.composite
def exact_samples(draw):
    """Return answers, predictions whose complement is exact, weights and groups."""
    n = draw(st.integers(8, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    steps = draw(st.sampled_from([4, 16, 1024, 2**20]))
    power = draw(st.sampled_from([0.5, 1, 4]))
    q = np.round(rng.random(n) ** power * steps) / steps
    y = rng.random(n) < (q if draw(st.booleans()) else q**2)
    options = {}
    if draw(st.booleans()):
        options["sample_weight"] = rng.choice([0.5, 1.0, 2.5], n)
    if draw(st.booleans()):
        options["groups"] = rng.integers(0, max(2, n // 4), n)
        options["groups"][:2] = 0, 1
    return y, q, options


@given(exact_samples(), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
def test_interval_excludes_zero_exactly_when_its_test_rejects(data, level):
    y, q, options = data
    result = calibration_error_interval(y, q, confidence_level=level, **options)
    assert (result.confidence_interval.low > 0.0) == (result.pvalue < 1.0 - level)


@given(exact_samples())
def test_interval_is_the_same_for_swapped_classes(data):
    y, q, options = data
    one = calibration_error_interval(y, q, pos_label=True, **options)
    two = calibration_error_interval(~y, 1.0 - q, pos_label=True, **options)
    assert two.error == pytest.approx(one.error, abs=1e-7)
    assert two.confidence_interval == pytest.approx(one.confidence_interval, abs=1e-7)
    assert two.pvalue == pytest.approx(one.pvalue, abs=1e-7)


@settings(max_examples=60)
@given(
    exact_samples(),
    st.sampled_from(["omnibus", "binned", "kuiper", "cox", "spiegelhalter"]),
    st.sampled_from(["auto", "asymptotic"]),
)
def test_tests_are_the_same_for_swapped_classes(data, statistic, method):
    y, q, options = data
    one, two = (
        calibration_test(
            *arrays, statistic=statistic, method=method, n_resamples=39, random_state=0,
            pos_label=True, **options,
        )
        for arrays in ((y, q), (~y, 1.0 - q))
    )  # fmt: skip
    assert two.pvalue == pytest.approx(one.pvalue, abs=1e-7)
    assert two.statistic == pytest.approx(one.statistic, rel=1e-7, abs=1e-9)
    assert two.components == pytest.approx(one.components, abs=1e-7)


@pytest.mark.filterwarnings("ignore:y_prob")
@given(exact_samples(), st.integers(0, 99))
def test_comparison_is_the_same_for_swapped_classes(data, seed):
    y, q, options = data
    other = np.random.default_rng(seed).permutation(q)
    one = compare_calibration(y, q, other, pos_label=True, **options)
    two = compare_calibration(~y, 1.0 - q, 1.0 - other, pos_label=True, **options)
    assert two.difference == pytest.approx(one.difference, abs=1e-9)
    assert two.confidence_interval == pytest.approx(one.confidence_interval, abs=1e-9)
    assert two.pvalue == pytest.approx(one.pvalue, abs=1e-7)
