"""Comparisons of two models."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from sklearn_calib import (
    Queries,
    calibration_error_interval,
    compare_calibration,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._expected_difference import ComparedRows
from sklearn_calib.metrics._inference._sample import make_sample


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


def test_comparison_covers_in_a_small_sample_of_sure_predictions():
    # The error changes its sign in the middle: a wide bin there would hide it.
    rng = np.random.default_rng(0)
    true = rng.beta(0.3, 0.3, 200_000)
    difference = -np.mean(np.square(special.expit(1.5 * special.logit(true)) - true))
    held = 0
    for _ in range(300):
        p = rng.beta(0.3, 0.3, 50)
        extreme = special.expit(1.5 * special.logit(p))
        low, high = compare_calibration(rng.random(50) < p, p, extreme).confidence_interval
        held += low <= difference <= high
    # The standard error is 1.3 %; with a wide bin it was 80 %.
    assert held / 300 >= 0.93


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
    assert result.error_a == pytest.approx(one.error, abs=0.005)
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


def test_a_perfect_model_is_not_worse_than_one_that_differs_on_few_rows():
    """The rows that differ are answered yes nearly always: they show no variance of their own."""
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(200):
        p = rng.random(1000)
        other = p.copy()
        few = np.argsort(np.abs(p - 0.99))[:16]
        other[few] = special.expit(special.logit(p[few]) + 1.0)
        result = compare_calibration(rng.random(1000) < p, p, other)
        wrong += result.pvalue < 0.05 and result.difference > 0.0
    # By the variance of residuals alone it was 31 %.
    assert wrong <= 5


@pytest.mark.parametrize("dependence", [0.0, 0.7])
def test_groups_with_few_rare_answers_tell_no_better_model(dependence):
    """Samples with hardly a yes make the model with the lower predictions look better."""
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(20), 5)
    wrong, unanimous = 0, 0
    for _ in range(200):
        p = rng.beta(0.3, 14.7, 100).clip(1e-6)
        level = np.sqrt(1.0 - dependence) * rng.standard_normal(100)
        level += np.sqrt(dependence) * rng.standard_normal(20)[group]
        y = stats.norm.cdf(level) < p
        unanimous += not y.any()
        result = compare_calibration(y, p, distorted(p, 2.0), groups=group)
        wrong += result.pvalue < 0.05 and result.difference > 0.0
    assert unanimous >= 10
    assert wrong <= 2  # it was 20 % and more


def test_what_is_expected_of_groups_of_one_is_what_is_expected_of_rows():
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 6.0, 300).clip(1e-6)
    y, other = rng.random(300) < p, distorted(p, 1.4)
    rows = compared_rows(y, p, other)
    alone = rows.expected()
    grouped = replace(rows, unit=np.arange(300)).expected()
    assert grouped.noise == pytest.approx(alone.noise, rel=1e-9)
    # A group is not paired with itself, a row is.
    assert 0.5 * alone.linear < grouped.linear <= alone.linear
    together = replace(rows, unit=np.arange(300) // 10).expected()
    assert together.noise + together.linear > alone.noise + alone.linear
    assert together.answers < alone.answers


def test_expected_variance_is_that_of_drawn_answers():
    """If the mean of both predictions is right, and varies most, nothing else is assumed."""
    rng = np.random.default_rng(4)
    middle = np.linspace(0.35, 0.65, 200)
    step = 0.2 * rng.choice([-1.0, 1.0], 200)
    step[np.abs(middle - 0.5) > 0.08] = 0.0
    one, two = middle - step, middle + step
    keep = step != 0.0
    one, two, middle = one[keep], two[keep], middle[keep]
    expected = compared_rows(rng.random(len(middle)) < middle, one, two).expected()
    drawn = [
        compare_calibration(rng.random(len(middle)) < middle, one, two).difference
        for _ in range(3000)
    ]
    assert np.mean(drawn) == pytest.approx(0.0, abs=4.0 * np.std(drawn) / np.sqrt(3000))
    # Bins of five or six rows, each of them paired with itself as well: 36 to 25 at most.
    assert 1.0 < (expected.noise + expected.linear) / np.var(drawn) < 1.7
    # Nearly even answers tell their variance as well as so many normal variables would.
    assert expected.answers == pytest.approx(len(middle), rel=0.1)


def compared_rows(y, one, two):
    """Return the rows of two models in the bins that a comparison makes."""
    queries = [Queries(y, q) for q in (one, two)]
    samples = [make_sample(q, "auto", None, numbered=True) for q in queries]
    return ComparedRows(
        y=np.asarray(y),
        weight=np.ones(len(y)),
        q=(one, two),
        at=tuple(np.searchsorted(s.bins.high, q) for s, q in zip(samples, (one, two), strict=True)),
        factors=tuple(s.form.factor for s in samples),
    )
