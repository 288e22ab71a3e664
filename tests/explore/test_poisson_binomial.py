"""Sums of independent counts: against brute force."""

import itertools

import numpy as np
import pytest

from sklearn_calib.explore._poisson_binomial import Distribution, empirical, sum_of


def brute_force(probabilities):
    pmf = np.zeros(len(probabilities) + 1)
    for outcome in itertools.product([0, 1], repeat=len(probabilities)):
        chance = np.prod([p if y else 1 - p for p, y in zip(probabilities, outcome, strict=True)])
        pmf[sum(outcome)] += chance
    return pmf


@pytest.mark.parametrize("n", range(8))  # both parities
def test_poisson_binomial_is_exact(n):
    p = np.random.default_rng(n).random(n)
    parts = [Distribution(0, np.array([1 - q, q])) for q in p]
    np.testing.assert_allclose(sum_of(parts).probability, brute_force(p), atol=1e-14)


def test_sum_of_general_integers():
    rng = np.random.default_rng(0)
    draws = [rng.integers(-2, 3, size=5) for _ in range(4)]
    total = sum_of([empirical(values) for values in draws])
    sums = np.array([sum(row) for row in itertools.product(*draws)])
    for value in range(-10, 11):
        at = value - total.low
        found = total.probability[at] if 0 <= at < len(total.probability) else 0.0
        assert found == pytest.approx((sums == value).mean(), abs=1e-12)
    assert total.above(0) == pytest.approx((sums > 0).mean())
    assert total.quantile(0.5) == np.quantile(sums, 0.5, method="inverted_cdf")


def test_many_terms_are_summed_fast_and_exactly():
    total = sum_of([Distribution(0, np.array([0.5, 0.5]))] * 20_000)
    assert len(total.probability) < 3_000
    assert total.probability.sum() == pytest.approx(1)
    assert total.quantile(0.5) == 10_000
