"""Intervals, tests and comparisons: exact small cases and simulations with known truth.

The simulations have fixed seeds and a few hundred replications. Their bounds
allow about three standard errors, so that they fail when coverage or size
drifts, and not otherwise.
"""

import itertools

import numpy as np
import pytest
from scipy import stats

from sklearn_calib import (
    Queries,
    adaptive_bin_calibration_error,
    bin_size_curve,
    calibration_error_interval,
    calibration_test,
    classifier_queries,
    compare_calibration,
    select_bin_size,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference import make_sample
from sklearn_calib.metrics._moments import residual_moments
from sklearn_calib.metrics._pairs import pair_form
from sklearn_calib.metrics._resampling import _influence
from sklearn_calib.metrics._sorting import SortedQueries, sort_queries
from sklearn_calib.metrics._test import brownian_range_sf

LAWS = {
    "bathtub": {"a": 0.3, "b": 0.3},
    "skewed": {"a": 0.5, "b": 2},
    "bell": {"a": 5, "b": 5},
    "tagger": {"predictions": "mixture"},
}
TRUTHS = {
    "calibrated": {},
    "shift": {"distortion": "shift", "strength": 0.05},
    "overconfident": {"distortion": "slope", "strength": 1 / 1.5},
    "underconfident": {"distortion": "slope", "strength": 1 / 0.7},
}


def coverage(n, replications, options, **interval):
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(replications):
        sample = make_queries(n, random_state=rng, **options)
        low, high = calibration_error_interval(sample.queries, **interval).confidence_interval
        hits += low <= sample.error <= high
    return hits / replications


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("law", LAWS)
def test_default_interval_covers(law, truth):
    covered = coverage(1000, 400, {**LAWS[law], **TRUTHS[truth]})
    # Standard error 1.1 %.
    assert 0.925 <= covered <= 0.995


@pytest.mark.parametrize("level", [0.8, 0.9, 0.99])
def test_other_levels_cover(level):
    covered = coverage(1000, 400, {"distortion": "slope", "strength": 0.6}, confidence_level=level)
    sd = np.sqrt(level * (1 - level) / 400)
    assert level - 3 * sd - 0.01 <= covered <= min(1.0, level + 3 * sd + 0.03)


def test_rounded_predictions_cover():
    for truth in ("calibrated", "overconfident"):
        covered = coverage(1000, 300, {"decimals": 2, **TRUTHS[truth]})
        assert 0.92 <= covered <= 0.995


def test_weighted_interval_covers():
    rng = np.random.default_rng(1)
    for truth in ("calibrated", "overconfident"):
        hits = 0
        for _ in range(300):
            sample = make_queries(1000, random_state=rng, **TRUTHS[truth])
            low, high = calibration_error_interval(
                sample.y_true, sample.y_prob, sample_weight=rng.exponential(size=1000)
            ).confidence_interval
            hits += low <= sample.error <= high
        assert 0.92 <= hits / 300 <= 1.0


def test_algorithm_2_does_not_cover_a_calibrated_model():
    assert coverage(1000, 50, {}, method="sampling", n_resamples=200, random_state=0) == 0.0


def test_bootstrap_covers_a_miscalibrated_model():
    covered = coverage(
        500,
        150,
        {"distortion": "slope", "strength": 0.4},
        method="bootstrap",
        n_resamples=400,
        random_state=0,
    )
    assert 0.87 <= covered <= 0.995


def test_debiased_error_is_closer_to_the_truth_when_calibrated():
    rng = np.random.default_rng(0)
    debiased, plug_in = [], []
    for _ in range(100):
        queries = make_queries(2000, random_state=rng).queries
        for values, debias in ((debiased, True), (plug_in, False)):
            values.append(adaptive_bin_calibration_error(queries, bin_size=44, debias=debias))
    assert np.sqrt(np.mean(np.square(debiased))) < 0.5 * np.sqrt(np.mean(np.square(plug_in)))


def test_debiased_square_is_unbiased():
    rng = np.random.default_rng(0)
    squares = []
    for _ in range(600):
        sample = make_queries(400, distortion="shift", strength=0.1, random_state=rng)
        ordered = sort_queries(sample.y_true, sample.y_prob)
        squares.append(residual_moments(ordered, ordered.cut_by_size(10)).square)
    error = np.std(squares) / np.sqrt(600)
    assert np.mean(squares) == pytest.approx(sample.error**2, abs=3 * error)


def test_null_moments_are_those_of_all_outcomes():
    """Variance and third cumulant against enumeration of the 2^6 outcomes."""
    q = np.array([0.1, 0.25, 0.3, 0.6, 0.8, 0.95])
    w = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0])
    for weight in (None, w):
        values, chances = [], []
        for y in itertools.product([False, True], repeat=6):
            answers = np.array(y)
            ordered = SortedQueries(answers, q, weight)
            moments = residual_moments(ordered, np.array([6]))
            values.append(moments.square)
            chances.append(np.prod(np.where(answers, q, 1 - q)))
        mean = np.dot(chances, values)
        centred = np.array(values) - mean
        assert mean == pytest.approx(0.0, abs=1e-15)
        assert moments.null_variance == pytest.approx(np.dot(chances, centred**2))
        assert moments.null_third == pytest.approx(np.dot(chances, centred**3))


def test_weighted_sums_are_unbiased_too():
    """Estimates of the variance against enumeration, for a bin of equal predictions."""
    q, p = np.full(5, 0.3), 0.6
    w = np.array([1.0, 2.0, 0.5, 1.5, 1.0])
    sums = np.zeros(3)
    values, chances = [], []
    for y in itertools.product([False, True], repeat=5):
        answers = np.array(y)
        moments = residual_moments(SortedQueries(answers, q, w), np.array([5]))
        chance = np.prod(np.where(answers, p, 1 - p))
        values.append(moments.square)
        chances.append(chance)
        pairs = pair_form(SortedQueries(answers, q, w), np.array([5]), np.arange(5))
        assert pairs.square == pytest.approx(moments.square)
        sums += chance * np.array([moments.square, moments.linear, 1.0])
    assert sums[0] == pytest.approx((p - 0.3) ** 2)
    # linear estimates 4 mu^2 s^2 times a function of the weights.
    w1, w2 = w.sum(), np.sum(w**2)
    factor = np.sum(w**2 * (w1 - w) ** 2) / (w1**2 - w2) ** 2
    assert sums[1] == pytest.approx(4 * factor * (p - 0.3) ** 2 * p * (1 - p))
    mean = np.dot(chances, values)
    variance = np.dot(chances, (np.array(values) - mean) ** 2)
    quadratic = 2 * (w2**2 - np.sum(w**4)) / (w1**2 - w2) ** 2 * (p * (1 - p)) ** 2
    assert variance == pytest.approx(sums[1] + quadratic)


def test_pair_form_against_all_pairs():
    rng = np.random.default_rng(0)
    sample = make_queries(60, group_size=4, random_state=1)
    w = rng.random(60) + 0.5
    ordered = sort_queries(sample.y_true, sample.y_prob, w, sample.queries.group)
    ends = ordered.cut_by_size(8)
    form = pair_form(ordered, ends, ordered.group)
    bins = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    r = ordered.w * (ordered.y - ordered.q)
    kernel = np.zeros((15, 15))
    for b in range(len(ends)):
        inside = bins == b
        weight = np.bincount(ordered.group[inside], ordered.w[inside], minlength=15)
        s = np.bincount(ordered.group[inside], r[inside], minlength=15)
        pairs = weight.sum() ** 2 - np.sum(weight**2)
        kernel += np.outer(s, s) * weight.sum() / ordered.w.sum() / pairs
    off = kernel - np.diag(np.diag(kernel))
    assert form.square == pytest.approx(off.sum())
    assert form.rows == pytest.approx(off.sum(axis=1))
    assert form.cross_moment(form) == pytest.approx(np.sum(off**2))
    assert form.third_moment() == pytest.approx(np.trace(off @ off @ off))


def test_influence_is_the_derivative():
    sample = make_queries(40, random_state=2)
    step = 1e-6

    def square(weights):
        ordered = SortedQueries(sample.y_true, sample.y_prob, weights)
        return pair_form(ordered, np.array([15, 40]), np.arange(40)).square

    influence = _influence(
        pair_form(SortedQueries(sample.y_true, sample.y_prob), np.array([15, 40]), np.arange(40))
    )
    for i in (0, 14, 15, 39):
        up, down = np.ones(40), np.ones(40)
        up[i] += step
        down[i] -= step
        assert influence[i] == pytest.approx((square(up) - square(down)) / (2 * step), abs=1e-7)


def test_groups_of_one_equal_no_groups():
    sample = make_queries(500, distortion="slope", random_state=0)
    one = calibration_error_interval(sample.y_true, sample.y_prob)
    two = calibration_error_interval(sample.y_true, sample.y_prob, groups=np.arange(500))
    assert one.confidence_interval == two.confidence_interval
    assert one.pvalue == two.pvalue
    tests = [
        calibration_test(sample.y_true, sample.y_prob, groups=groups, random_state=0).pvalue
        for groups in (None, np.arange(500))
    ]
    assert tests[0] == tests[1]


def test_queries_bring_their_groups():
    sample = make_queries(400, group_size=5, dependence=0.9, random_state=0)
    own = calibration_error_interval(sample.queries)
    named = calibration_error_interval(
        sample.y_true, sample.y_prob, groups=[f"s{k:03}" for k in sample.queries.group]
    )
    ignored = calibration_error_interval(sample.queries, groups=False)
    plain = calibration_error_interval(sample.y_true, sample.y_prob)
    assert own.confidence_interval == pytest.approx(named.confidence_interval)
    assert ignored.confidence_interval == plain.confidence_interval
    assert own.confidence_interval != plain.confidence_interval
    # The queries of one row of a many-class problem form a group.
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    queries = classifier_queries(proba.argmax(axis=1), proba, classes=[0, 1, 2])
    assert make_sample(queries, "auto", None).grouped


@pytest.mark.parametrize("truth", ["calibrated", "shift", "overconfident"])
def test_grouped_interval_covers_where_the_ungrouped_one_fails(truth):
    rng = np.random.default_rng(0)
    options = {"a": 2, "b": 2, "group_size": 20, "dependence": 0.8, **TRUTHS[truth]}
    grouped = ungrouped = 0
    for _ in range(250):
        sample = make_queries(2000, random_state=rng, **options)
        for groups in (None, False):
            low, high = calibration_error_interval(
                sample.queries, groups=groups
            ).confidence_interval
            inside = low <= sample.error <= high
            grouped += inside and groups is None
            ungrouped += inside and groups is False
    # Standard error 1.4 %.
    assert grouped / 250 >= 0.905
    assert ungrouped < grouped - 12


@pytest.mark.parametrize("statistic", ["binned", "kuiper"])
@pytest.mark.parametrize(("n", "method"), [(30, "resampling"), (300, "auto"), (5000, "asymptotic")])
def test_size_of_the_test(statistic, n, method):
    rng = np.random.default_rng(1)
    pvalues = [
        calibration_test(
            make_queries(n, a=0.5, b=2, random_state=rng).queries,
            statistic=statistic,
            method=method,
            n_resamples=199,
            random_state=rng,
        ).pvalue
        for _ in range(500)
    ]
    # Standard error 1 %; a discrete statistic may be conservative.
    assert 0.015 <= np.mean(np.array(pvalues) <= 0.05) <= 0.08


def test_size_of_the_grouped_test():
    rng = np.random.default_rng(2)
    for statistic in ("binned", "kuiper"):
        rejected = {True: 0, False: 0}
        for _ in range(300):
            sample = make_queries(600, a=2, b=2, group_size=10, dependence=0.8, random_state=rng)
            for grouped in (True, False):
                result = calibration_test(
                    sample.queries,
                    statistic=statistic,
                    n_resamples=99,
                    random_state=rng,
                    groups=None if grouped else False,
                )
                rejected[grouped] += result.pvalue <= 0.05
        assert rejected[True] / 300 <= 0.09
        assert rejected[False] >= rejected[True] + 15


def test_power():
    sample = make_queries(3000, distortion="slope", strength=0.5, random_state=0)
    for statistic in ("binned", "kuiper"):
        for method in ("resampling", "asymptotic"):
            result = calibration_test(
                sample.queries, statistic=statistic, method=method, random_state=0
            )
            assert result.pvalue <= 0.005
            assert statistic in str(result)


def test_test_does_not_depend_on_row_order():
    sample = make_queries(300, decimals=1, random_state=0)
    order = np.random.default_rng(0).permutation(300)
    for statistic in ("binned", "kuiper"):
        one = calibration_test(sample.y_true, sample.y_prob, statistic=statistic, random_state=0)
        two = calibration_test(
            sample.y_true[order], sample.y_prob[order], statistic=statistic, random_state=0
        )
        assert one.statistic == two.statistic
        assert one.pvalue == two.pvalue


def test_range_of_brownian_motion():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal((4000, 2000)) / np.sqrt(2000), axis=1)
    reach = np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0)
    for x in (1.0, 1.5, 2.0, 2.5):
        # The discrete walk misses its extremes by a little.
        assert brownian_range_sf(x) == pytest.approx(np.mean(reach > x), abs=0.035)
    assert brownian_range_sf(0.0) == brownian_range_sf(0.2) == 1.0
    assert brownian_range_sf(0.35) == pytest.approx(1.0, abs=1e-9)
    assert brownian_range_sf(np.inf) == 0.0
    values = [brownian_range_sf(x) for x in np.linspace(0.25, 6, 100)]
    assert (np.diff(values) <= 1e-12).all()


def test_certain_predictions():
    right = calibration_test([0, 1] * 10, [0.0, 1.0] * 10, random_state=0)
    assert right.pvalue == 1.0
    for statistic in ("binned", "kuiper"):
        for method in ("resampling", "asymptotic"):
            wrong = calibration_test(
                [1] * 10 + [0] * 10,
                [0.0] * 10 + [1.0] * 10,
                statistic=statistic,
                method=method,
                random_state=0,
            )
            assert wrong.pvalue <= 0.001


def distorted(p, slope):
    return p**slope / (p**slope + (1 - p) ** slope)


@pytest.mark.parametrize(
    ("slope_a", "slope_b"), [(1.0, 1.0), (1.5, 1.0), (1.5, 1 / 1.5), (1.3, 1.4)]
)
def test_comparison_covers(slope_a, slope_b):
    rng = np.random.default_rng(3)
    p = stats.beta.ppf((np.arange(20_000) + 0.5) / 20_000, 0.5, 0.5)
    truth = np.mean((distorted(p, slope_a) - p) ** 2) - np.mean((distorted(p, slope_b) - p) ** 2)
    hits = 0
    for _ in range(300):
        p = rng.beta(0.5, 0.5, size=1000)
        y = rng.random(1000) < p
        a = distorted(p, slope_a)
        # Where both are calibrated, the second knows nothing.
        b = np.full(1000, 0.5) if slope_b == slope_a else distorted(p, slope_b)
        low, high = compare_calibration(y, a, b).confidence_interval
        hits += low <= truth <= high
    assert 0.91 <= hits / 300 <= 0.995


def test_comparison_is_paired():
    """Shared noise cancels: two similar models are told apart by far."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, size=3000)
    y = rng.random(3000) < p
    a, b = distorted(p, 1.5), distorted(p, 1.55)
    result = compare_calibration(y, a, b)
    assert result.pvalue < 0.01
    assert result.difference < 0
    one, two = calibration_error_interval(y, a), calibration_error_interval(y, b)
    assert one.confidence_interval.high > two.confidence_interval.low
    assert result.error_a == pytest.approx(one.error)
    back = compare_calibration(y, b, a)
    assert back.difference == pytest.approx(-result.difference)
    assert back.pvalue == pytest.approx(result.pvalue)
    same = compare_calibration(y, a, a)
    assert (same.difference, same.pvalue) == (0.0, 1.0)
    assert "p = " in str(result)


def test_comparison_with_groups_and_weights():
    sample = make_queries(2000, group_size=10, dependence=0.8, random_state=0)
    other = distorted(sample.y_prob, 1.5)
    y, q, group = sample.y_true, sample.y_prob, sample.queries.group
    plain = compare_calibration(y, other, q)
    grouped = compare_calibration(y, other, q, groups=group)
    single = compare_calibration(y, other, q, groups=np.arange(2000))
    assert grouped.standard_error > plain.standard_error
    assert single.standard_error == pytest.approx(plain.standard_error)
    weighted = compare_calibration(y, other, q, sample_weight=np.full(2000, 1.0))
    assert weighted.difference == pytest.approx(plain.difference)
    half = np.r_[np.ones(1000), np.zeros(1000)]
    first = compare_calibration(y[:1000], other[:1000], q[:1000])
    assert compare_calibration(y, other, q, sample_weight=half).difference == pytest.approx(
        first.difference
    )


def test_interval_shrinks_with_the_sample():
    widths = []
    for n in (300, 3000, 30_000):
        sample = make_queries(n, distortion="slope", strength=0.5, random_state=0)
        low, high = calibration_error_interval(sample.queries).confidence_interval
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2]


def test_bootstrap_is_seeded_and_ordered():
    sample = make_queries(400, distortion="slope", strength=0.5, random_state=0)
    options = {"method": "bootstrap", "n_resamples": 300}
    one = calibration_error_interval(sample.queries, random_state=1, **options)
    two = calibration_error_interval(sample.queries, random_state=1, **options)
    assert one.confidence_interval == two.confidence_interval
    assert one.confidence_interval.low <= one.error <= one.confidence_interval.high
    assert one.distribution.shape == (300,)
    squared = calibration_error_interval(sample.queries, random_state=1, squared=True, **options)
    assert squared.confidence_interval.high == pytest.approx(one.confidence_interval.high**2)


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


def test_bad_groups():
    sample = make_queries(100, random_state=0)
    with pytest.raises(ValueError, match="groups must have one entry for each of the 100"):
        calibration_error_interval(sample.y_true, sample.y_prob, groups=[1, 2])
    with pytest.raises(ValueError, match="All queries belong to one group"):
        calibration_error_interval(sample.y_true, sample.y_prob, groups=[1] * 100)
    with pytest.raises(ValueError, match="All queries belong to one group"):
        compare_calibration(sample.y_true, sample.y_prob, sample.y_prob, groups=[1] * 100)
    with pytest.raises(ValueError, match="statistic='ece' is not known"):
        calibration_test(sample.y_true, sample.y_prob, statistic="ece")
    with pytest.raises(ValueError, match="n_resamples must be at least 19"):
        calibration_test(sample.y_true, sample.y_prob, n_resamples=5)
    with pytest.raises(ValueError, match="y_prob_a has 100, y_prob_b has 99"):
        compare_calibration(sample.y_true, sample.y_prob, sample.y_prob[1:])
    with pytest.raises(ValueError, match=r"y_prob_b contains 2\.0"):
        compare_calibration(sample.y_true, sample.y_prob, np.full(100, 2.0))
    empty = Queries([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], group=[0, 0, 1, 1])
    assert calibration_error_interval(empty).confidence_interval.high <= 1.0


def test_level_where_residuals_of_a_row_cancel():
    """The residuals of all classes of a row add up to zero."""
    rng = np.random.default_rng(0)
    rejected = {"binned": 0, "kuiper": 0}
    for _ in range(60):
        proba = rng.dirichlet([1.0, 1.0, 1.0], size=300)
        y = (rng.random((300, 1)) > np.cumsum(proba, axis=1)).sum(axis=1)
        queries = classifier_queries(y, proba, classes=[0, 1, 2])
        for statistic in rejected:
            result = calibration_test(queries, statistic=statistic)
            assert result.statistic < 100
            rejected[statistic] += result.pvalue <= 0.05
    # At a level of 5 %, more than 8 of 60 have a chance of one in 400.
    assert max(rejected.values()) <= 8
    # The walk is shorter than that of independent residuals, and still finds what is wrong.
    wrong = proba**3 / (proba**3).sum(axis=1, keepdims=True)
    queries = classifier_queries(y, wrong, classes=[0, 1, 2])
    assert calibration_test(queries, statistic="kuiper").pvalue < 0.01


def test_models_are_compared_by_their_queries():
    sample = make_queries(
        2000, distortion="slope", strength=0.5, group_size=4, dependence=0.5, random_state=0
    )
    one = sample.queries
    two = Queries(one.y_true, sample.probability, group=one.group)
    result = compare_calibration(one, two)
    expected = compare_calibration(one.y_true, one.y_prob, two.y_prob, groups=one.group)
    assert result.pvalue == expected.pvalue
    alone = compare_calibration(one, two, groups=False)
    assert alone.pvalue == compare_calibration(one.y_true, one.y_prob, two.y_prob).pvalue
    with pytest.raises(ValueError, match="differ in y_true"):
        compare_calibration(one, Queries(~one.y_true, one.y_prob, group=one.group))
    with pytest.raises(ValueError, match="differ in group"):
        compare_calibration(one, two.with_groups(None))
    with pytest.raises(TypeError, match="the Queries of the other model alone"):
        compare_calibration(one, two.y_prob)
    with pytest.raises(TypeError, match="two Queries objects"):
        compare_calibration(one.y_true, one.y_prob)
