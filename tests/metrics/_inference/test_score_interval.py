"""Limits and p-values that agree with each other."""

import numpy as np
import pytest
from scipy import special

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._sample import make_sample


def score(queries):
    return make_sample(queries, "auto", None).score


@pytest.mark.parametrize("group_size", [1, 10])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
def test_the_interval_excludes_zero_when_its_test_rejects(level, group_size):
    rng = np.random.default_rng(0)
    seen = set()
    for n in (20, 60, 200):
        for strength in (0.0, 0.05, 0.15):
            for _ in range(10):
                sample = make_queries(
                    n, distortion="shift", strength=strength, group_size=group_size,
                    dependence=0.5 if group_size > 1 else 0.0, random_state=rng,
                )  # fmt: skip
                found = score(sample.queries)
                low, high = found.limits(level)
                assert (low > 0.0) == (found.pvalue < 1.0 - level)
                assert low <= high
                seen.add(low > 0.0)
    assert seen == {True, False}


@pytest.mark.parametrize("n_groups", [2, 3, 8, 40, None])
def test_upper_limits_allow_for_skewness_and_still_rise_with_the_level(n_groups):
    groups = {} if n_groups is None else {"group_size": 10, "dependence": 0.5}
    sample = make_queries(
        10 * (n_groups or 30), distortion="shift", strength=0.05, random_state=1, **groups
    )
    found = score(sample.queries)
    tails = (0.4, 0.25, 0.1, 0.05, 0.025, 0.005)
    uppers = [found.upper(tail) for tail in tails]
    assert (np.diff(uppers) >= 0).all()
    law = found._law
    for tail, upper in zip(tails[2:], uppers[2:], strict=True):
        z = -special.ndtri(tail) if n_groups is None else -special.stdtrit(found.units, tail)
        # If T were normal, this limit would be kept with something to spare.
        away = (upper - law.square) / np.sqrt(law.variance(upper, z))
        assert upper == 1.0 or 0.6 * z < away <= z * (1 + 1e-9)


def test_limits_widen_with_the_level():
    found = score(make_queries(500, distortion="slope", random_state=0).queries)
    limits = np.array([found.limits(level) for level in (0.5, 0.8, 0.9, 0.95, 0.99)])
    assert (np.diff(limits[:, 0]) <= 0).all()
    assert (np.diff(limits[:, 1]) > 0).all()


def test_close_enough_agrees_with_the_upper_limit():
    for seed in range(5):
        found = score(
            make_queries(3000, distortion="shift", strength=0.02, random_state=seed).queries
        )
        for level in (0.8, 0.9, 0.95):
            high = found.limits(level)[1]
            tail = (1.0 - level) / 2.0
            assert found.pvalue_of_at_least(high * 1.001) < tail
            assert found.pvalue_of_at_least(high * 0.999) > tail
        assert found.pvalue_of_at_least(0.0) == 1.0
        assert found.pvalue_of_at_least(0.9) < 1e-9


def test_grouped_limits_have_fewer_degrees_of_freedom():
    rng = np.random.default_rng(0)
    q = rng.random(300)
    queries = Queries(rng.random(300) < q, q, group=np.repeat(np.arange(30), 10))
    found = score(queries)
    assert found.units == pytest.approx(29)
    assert 1 <= found.carriers < 29


def test_the_pvalue_of_few_groups_is_that_of_all_their_signs():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q = np.repeat(rng.uniform(0.2, 0.8, 10), 6)
        y = rng.random(60) < np.clip(q + 0.1, 0, 1)
        sample = make_sample(Queries(y, q, group=np.repeat(np.arange(10), 6)), "auto", None)
        form = sample.form
        signs = 1.0 - 2.0 * (np.arange(1024)[:, None] >> np.arange(10) & 1)
        sums = signs @ form.sums.toarray()
        every = (np.square(sums) - form.own_squares) @ form.factor
        exact = np.mean(every >= form.square - 1e-12)
        # 999 signs were drawn; where T is hardly skewed, its law is approximated.
        assert sample.score.pvalue == pytest.approx(exact, abs=0.05)
        assert sample.score.pvalue == pytest.approx(exact, rel=0.35)


def test_a_large_error_of_many_groups_has_a_narrow_interval():
    # Its p-value is next to nothing, where quantiles of t laws are lost to rounding.
    rng = np.random.default_rng(1)
    q = rng.uniform(0.85, 0.95, 3000 * 20)
    for rate in (0.0, 0.2, 0.6):
        y = rng.random(len(q)) < rate
        found = score(Queries(y, q, group=np.repeat(np.arange(3000), 20)))
        assert found.pvalue < 1e-300
        low, high = np.sqrt(found.limits(0.95))
        truth = np.sqrt(np.mean(np.square(q - rate)))
        assert low < truth < high
        assert low == pytest.approx(truth, rel=0.05)


@pytest.mark.parametrize(
    ("n_groups", "group_size", "size"),
    [(30, 400, "equal"), (200, 20, "equal"), (60, 40, "lognormal")],
)
def test_intervals_of_groups_far_from_zero_are_about_as_wide_as_estimates_vary(
    n_groups, group_size, size
):
    rng = np.random.default_rng(3)
    errors, widths, held = [], [], 0
    for _ in range(60):
        sizes = np.full(n_groups, group_size)
        if size == "lognormal":
            sizes = np.ceil(group_size * np.exp(0.7 * rng.standard_normal(n_groups))).astype(int)
        q = rng.uniform(0.75, 0.95, sizes.sum())
        y = rng.random(len(q)) < q - 0.6
        found = score(Queries(y, q, group=np.repeat(np.arange(n_groups), sizes)))
        low, high = np.sqrt(found.limits(0.95))
        held += low <= 0.6 <= high
        widths.append(high - low)
        errors.append(np.sqrt(found.moments.square))
    assert np.mean(widths) < 1.5 * 3.92 * np.std(errors)
    assert held >= 53


@pytest.mark.parametrize("near", [1e-320, 1e-200, 1e-146, 1e-100, 1e-60])
@pytest.mark.parametrize("group", [None, [0, 0, 1, 1, 2, 2, 3, 3]])
def test_predictions_next_to_nothing(near, group):
    q = np.array([0.0, 0.0, near, near, 0.0, 0.0, near, near])
    never = score(Queries(np.zeros(8), q, group=group))
    assert never.limits(0.95)[0] == 0.0
    assert never.pvalue > 0.05
    once = score(Queries([0, 0, 0, 1, 0, 0, 0, 0], q, group=group))
    low, high = once.limits(0.95)
    assert 0.0 <= low <= high <= 1.0
    if group is None:
        assert low > 0.0


def test_weights_that_are_equal_change_nothing_but_rounding():
    # Here T is the difference of two equal sums.
    y, q = np.array([0, 0, 0, 1]), np.array([0.0, 0.0, 0.0, 1 / 3])
    plain = make_sample(Queries(y, q), "auto", 1).score.limits(0.95)
    for weight in np.linspace(0.1, 7.0, 70):
        queries = Queries(y, q, sample_weight=np.full(4, weight))
        assert make_sample(queries, "auto", 1).score.limits(0.95) == pytest.approx(plain)
