"""Limits and p-values that agree with each other."""

import numpy as np
import pytest

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
