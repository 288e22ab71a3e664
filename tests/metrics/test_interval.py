"""Intervals for the calibration error: simulations with known truth.

They have fixed seeds and a few hundred replications. Their bounds allow about three
standard errors, so that they fail when coverage or size drifts, and not otherwise.
"""

import numpy as np
import pytest
from scipy import stats

from sklearn_calib import (
    calibration_error_interval,
)
from sklearn_calib.datasets import make_queries
from tests.metrics.laws import LAWS, TRUTHS


def coverage(n, replications, options, **interval):
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(replications):
        sample = make_queries(n, random_state=rng, **options)
        low, high = calibration_error_interval(sample.queries, **interval).confidence_interval
        hits += low <= sample.error <= high
    return hits / replications


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize(("q", "p", "n"), [(0.0, 0.003, 1000), (1e-4, 0.01, 300), (1.0, 0.98, 300)])
def test_hard_predictions_have_an_honest_interval(q, p, n):
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        low, high = calibration_error_interval(rng.random(n) < p, np.full(n, q)).confidence_interval
        hits += low <= abs(p - q) <= high
    assert hits / 200 >= 0.92


@pytest.mark.parametrize(("q", "n", "expected"), [(0.5, 100, 1), (0.2, 100, 1), (0.3, 400, 5)])
def test_few_answers_against_a_large_error_have_an_honest_interval(q, n, expected):
    rng = np.random.default_rng(1)
    p, hits = expected / n, 0
    for _ in range(150):
        low, high = calibration_error_interval(rng.random(n) < p, np.full(n, q)).confidence_interval
        hits += low <= q - p <= high
    assert hits / 150 >= 0.92


@pytest.mark.parametrize("n", [300, 1000])
def test_weights_that_depend_on_the_answer_are_covered(n):
    # One in three of those that say no was kept, and stands for three.
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(150):
        q = rng.beta(2, 3, 2 * n)
        y = rng.random(2 * n) < q
        kept = y | (rng.random(2 * n) < 1 / 3)
        result = calibration_error_interval(y[kept], q[kept], sample_weight=np.where(y, 1, 3)[kept])
        hits += result.confidence_interval.low == 0.0
    assert hits / 150 >= 0.92


def test_groups_of_independent_queries_cost_little():
    """The floor for hard predictions must not widen grouped intervals of soft ones."""
    sample = make_queries(2000, group_size=20, random_state=0)
    grouped = calibration_error_interval(sample.queries).confidence_interval
    alone = calibration_error_interval(sample.queries, groups=False).confidence_interval
    assert grouped.high < 1.4 * alone.high


@pytest.mark.parametrize(("n", "mean"), [(50, 0.005), (100, 0.02), (300, 0.005)])
@pytest.mark.parametrize("odds", [1.0, 3.0])
def test_rare_positives_are_covered(n, mean, odds):
    rng = np.random.default_rng(0)
    law = stats.beta(0.5, 0.5 / mean - 0.5)

    def truth(q):
        return odds * q / (1 - q + odds * q)

    grid = law.ppf((np.arange(20_000) + 0.5) / 20_000)
    error = np.sqrt(np.mean((truth(grid) - grid) ** 2))
    hits = 0
    for _ in range(150):
        q = law.rvs(n, random_state=rng)
        low, high = calibration_error_interval(rng.random(n) < truth(q), q).confidence_interval
        hits += low <= error <= high
    # Standard error 1.8 %.
    assert hits / 150 >= 0.91


@pytest.mark.parametrize("n_groups", [20, 100])
@pytest.mark.parametrize("shared", [False, True])
def test_unequal_groups_are_covered(n_groups, shared):
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(100):
        sizes = np.maximum(1, np.rint(8 * np.exp(rng.standard_normal(n_groups)))).astype(int)
        group = np.repeat(np.arange(n_groups), sizes)
        q = rng.random(n_groups)[group] if shared else rng.random(len(group))
        normal = 0.9 * rng.standard_normal(n_groups)[group]
        normal += np.sqrt(1 - 0.81) * rng.standard_normal(len(group))
        y = stats.norm.cdf(normal) < np.clip(q + 0.1, 0, 1)
        low, high = calibration_error_interval(y, q, groups=group).confidence_interval
        hits += low <= np.sqrt(0.009 + 0.001 / 3) <= high
    # Standard error 2.2 %.
    assert hits / 100 >= 0.9


def test_upper_limits_hold_where_large_groups_happen_to_have_no_rare_answers():
    rng = np.random.default_rng(6)
    below = above = 0
    for _ in range(200):
        sizes = np.maximum(1, np.rint(10 * np.exp(rng.standard_normal(200) - 0.5))).astype(int)
        group = np.repeat(np.arange(200), sizes)
        q = rng.beta(0.5, 24.5, len(group))
        normal = np.sqrt(0.9) * rng.standard_normal(200)[group]
        normal += np.sqrt(0.1) * rng.standard_normal(len(group))
        y = stats.norm.cdf(normal) < q + 0.1
        low, high = calibration_error_interval(y, q, groups=group).confidence_interval
        below += low > 0.1
        above += high < 0.1
    # 2.5 % are five; without a look at the sizes of all groups, twelve of the limits lay below.
    assert max(below, above) <= 8


def test_skewed_weights_are_covered():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(150):
        q = rng.beta(0.5, 20, 200)
        w = np.exp(1.6 * rng.standard_normal(200))
        result = calibration_error_interval(rng.random(200) < q, q, sample_weight=w)
        hits += result.confidence_interval.low == 0.0
    assert hits / 150 >= 0.91


def test_swapping_the_classes_changes_nothing():
    rng = np.random.default_rng(3)
    for n in (30, 200, 3000):
        q = np.round(rng.beta(0.3, 2, n) * 2**30) / 2**30
        y = rng.random(n) < q**2
        one, two = calibration_error_interval(y, q), calibration_error_interval(~y, 1 - q)
        assert one.confidence_interval == pytest.approx(two.confidence_interval, rel=1e-6)
        assert one.pvalue == pytest.approx(two.pvalue, rel=1e-6)


def test_swapping_the_classes_changes_nothing_where_predictions_mirror_themselves():
    rng = np.random.default_rng(4)
    for _ in range(40):
        half = rng.choice([0.25, 0.5, 0.75], 20)
        q = np.concatenate([half, 1.0 - half])
        y, groups = rng.random(40) < 0.5, rng.integers(0, 9, 40)
        one = calibration_error_interval(y, q, groups=groups)
        two = calibration_error_interval(~y, 1.0 - q, groups=groups)
        assert two.pvalue == pytest.approx(one.pvalue, abs=1e-9)
        assert two.confidence_interval == pytest.approx(one.confidence_interval, abs=1e-9)


def test_algorithm_2_has_about_twice_the_root_of_n_bins():
    options = {"method": "sampling", "n_resamples": 2, "random_state": 0}
    sample = make_queries(10_000, random_state=0)
    for n, size in ((10_000, 50), (20, 5)):
        result = calibration_error_interval(sample.y_true[:n], sample.y_prob[:n], **options)
        assert result.bins.bin_size == size
    half = calibration_error_interval(
        sample.y_true, sample.y_prob, sample_weight=np.full(10_000, 0.5), **options
    )
    assert half.bins.bin_size == pytest.approx(25)


def test_the_sentence_has_no_odd_numbers():
    one = calibration_error_interval([0, 1] * 20, np.full(40, 0.5))
    assert "1 bin)" in str(one)
    assert "on average as high as the share of yes" in str(one)
    wrong = calibration_error_interval([1] * 20, np.zeros(20))
    assert "p = 0 for perfect calibration" in str(wrong)
    surely = calibration_error_interval([1] * 4000, np.full(4000, 1e-20))
    assert "p < 1e-300" in str(surely)
    assert "on average 1.0000 too low" in str(wrong)
