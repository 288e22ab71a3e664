"""Tests of calibration from one or several statistics."""

from itertools import product

import numpy as np
import pytest

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference import _null_groups
from sklearn_calib.metrics._inference._null_statistics import PARTS
from sklearn_calib.metrics._inference._null_tests import null_method, null_test


def test_where_auto_resamples():
    assert null_method("auto", 5000.0) == "resampling"
    assert null_method("auto", 5001.0) == "asymptotic"
    assert null_method("asymptotic", 1.0) == "asymptotic"
    rng = np.random.default_rng(0)
    rare = Queries(np.zeros(100_000, bool), np.full(100_000, 1e-4))
    found = null_test(rare, PARTS, method="auto", n_resamples=19, rng=rng)
    assert found.method == "resampling"
    # Ten yes were expected.
    assert found.pvalue == 0.05


@pytest.mark.parametrize("name", ["kuiper", "cox"])
def test_resampling_agrees_with_all_answers_there_are(name):
    """Up to a few queries, the law of a statistic can be listed."""
    q = np.array([0.1, 0.3, 0.5, 0.6, 0.8, 0.9, 0.95])
    y = np.array([1, 0, 1, 0, 0, 1, 1], dtype=bool)

    def statistic(answers):
        queries = Queries(np.array(answers, dtype=bool), q)
        rng = np.random.default_rng(0)
        return null_test(queries, (name,), method="asymptotic", n_resamples=19, rng=rng).statistic

    own = statistic(y)
    exact = sum(
        float(np.prod(np.where(answers, q, 1.0 - q)))
        for answers in product([0, 1], repeat=len(q))
        if statistic(answers) >= own - 1e-9
    )
    found = null_test(
        Queries(y, q), (name,), method="resampling", n_resamples=9999,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert found.pvalue == pytest.approx(exact, abs=0.02)
    assert found.parts == {name: found.pvalue}


def test_limits_agree_with_draws_in_large_samples():
    queries = make_queries(8000, a=1, b=1, random_state=3).queries
    rng = np.random.default_rng(0)
    drawn, limit = (
        null_test(queries, PARTS, method=method, n_resamples=999, rng=rng)
        for method in ("resampling", "asymptotic")
    )
    for name in PARTS:
        # Sums under humps overlap: in the middle, not in the tail, their limit is cautious.
        slack = 0.12 if name == "local" else 0.06
        assert drawn.parts[name] == pytest.approx(limit.parts[name], abs=slack)


def test_many_groups_are_as_good_as_flips(monkeypatch):
    queries = make_queries(1200, a=2, b=2, group_size=4, dependence=0.7, random_state=1).queries
    found = []
    for most in (2_000, 10):
        monkeypatch.setattr(_null_groups, "_FLIP_UP_TO", most)
        rng = np.random.default_rng(0)
        found.append(null_test(queries, PARTS, method="auto", n_resamples=1999, rng=rng))
    for name in PARTS:
        assert found[0].parts[name] == pytest.approx(found[1].parts[name], abs=0.06)
