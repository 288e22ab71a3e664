"""Spiegelhalter's z."""

import numpy as np
import pytest
from scipy import stats

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._spiegelhalter import spiegelhalter_test


def run(queries, method="auto", n_resamples=999):
    rng = np.random.default_rng(0)
    return spiegelhalter_test(queries, method=method, n_resamples=n_resamples, rng=rng)


def test_by_hand():
    result = run(Queries([0, 1], [0.2, 0.9]), "asymptotic")
    # Residuals -0.2 and 0.1, times 0.6 and -0.8.
    assert result.z == pytest.approx(-0.2 / np.sqrt(0.36 * 0.16 + 0.64 * 0.09))
    assert result.pvalue == pytest.approx(2 * stats.norm.sf(abs(result.z)))
    assert result.brier == pytest.approx(0.025)
    assert result.promised == pytest.approx(0.125)
    assert result.meaning == "Brier score 0.0250, as promised (0.1250)"


def test_resampling_agrees_with_the_limit():
    for seed in range(5):
        queries = make_queries(3000, a=1, b=1, random_state=seed).queries
        drawn, limit = (run(queries, method) for method in ("resampling", "asymptotic"))
        assert drawn.z == limit.z
        assert drawn.pvalue == pytest.approx(limit.pvalue, abs=0.1)


def test_predictions_of_one_half_promise_nothing():
    result = run(Queries([0, 1, 1], [0.5, 0.5, 0.5]))
    assert (result.z, result.pvalue) == (0.0, 1.0)


def test_groups_that_answer_alike_count_once():
    sample = make_queries(300, distortion="slope", strength=0.8, random_state=0)
    y, q = np.repeat(sample.y_true, 10), np.repeat(sample.y_prob, 10)
    copies = Queries(y, q)
    alone, grouped = run(copies), run(copies.with_groups(np.repeat(np.arange(300), 10)))
    once = run(Queries(sample.y_true, sample.y_prob), "asymptotic")
    assert abs(alone.z) > 2.5 * abs(grouped.z)
    assert grouped.z == pytest.approx(once.z, rel=0.2)
    assert grouped.method == "asymptotic"
