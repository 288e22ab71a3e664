"""What is known about hits: samples and probabilities agree where they say the same."""

import numpy as np
import pytest

from sklearn_calib.explore._hits import ExactHits, SampledHits, concatenated
from sklearn_calib.explore._poisson_binomial import NoUnitError

COUNTS = np.array([[1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]], dtype=np.uint8)
SAMPLED, EXACT = SampledHits(COUNTS), ExactHits(COUNTS.mean(axis=1))


def test_samples_and_probabilities_have_the_same_moments():
    for name in ("mean", "probability", "spread"):
        np.testing.assert_allclose(getattr(SAMPLED, name), getattr(EXACT, name))
    np.testing.assert_allclose(SAMPLED.variance, EXACT.variance * 4 / 3)
    np.testing.assert_allclose(SAMPLED.smoothed, (COUNTS.sum(axis=1) + 0.5) / 5)
    assert len(SAMPLED) == len(EXACT) == 3
    assert (SAMPLED.n_samples, EXACT.n_samples) == (4, None)


def test_sums_agree():
    rows, weight = np.array([0, 1, 2]), np.array([1.0, 2.0, 1.0])
    for level in (0.3, 0.6, 0.9):
        assert SAMPLED.sum(weight, rows).interval(level) == EXACT.sum(weight, rows).interval(level)
    first, second, place = np.array([0, 1]), np.array([2]), np.array([0, 1, 2])
    assert SAMPLED.difference(weight, first, second, place).sign() == pytest.approx(
        EXACT.difference(weight, first, second, place).sign()
    )


def test_rounded_sums_are_close_to_exact_ones():
    weight = np.array([1.0, 2.0, 0.0])
    exact = EXACT.sum(weight, np.arange(3))
    rounded = EXACT.sum(weight, np.arange(3), rounded=True)
    assert rounded.interval(0.9) == pytest.approx(exact.interval(0.9), abs=1e-3)
    with pytest.raises(NoUnitError):
        EXACT.sum(np.array([1.0, np.pi, 1.0]), np.arange(3))
    nothing = EXACT.sum(np.zeros(3), np.arange(3), rounded=True)
    assert nothing.interval(0.9) == (0.0, 0.0)


def test_draws_of_one_document_belong_together():
    counts = np.tile([[1, 0, 1, 0]], (2, 1)).astype(np.uint8)
    drawn = SampledHits(counts).draw(
        np.array([0, 1]), np.array([0, 0]), 500, np.random.default_rng(0)
    )
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert drawn.mean() == pytest.approx(0.5, abs=0.1)
    apart = SampledHits(counts).draw(
        np.array([0, 1]), np.array([0, 1]), 500, np.random.default_rng(0)
    )
    assert (apart[0] != apart[1]).any()


def test_exclusive_draws_never_meet():
    hits = ExactHits(np.array([0.3, 0.7, 0.2, 0.5]), exclusive=True)
    drawn = hits.draw(np.arange(4), np.array([0, 0, 1, 1]), 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(axis=1), hits.probability, atol=0.02)
    assert (drawn[:2].sum(axis=0) == 1).all()
    assert (drawn[2:].sum(axis=0) <= 1).all()
    free = ExactHits(hits.probability).draw(
        np.arange(4), np.zeros(4, int), 20_000, np.random.default_rng(0)
    )
    np.testing.assert_allclose(free.mean(axis=1), hits.probability, atol=0.02)


def test_nothing_joined_is_nothing():
    none = np.empty(0, dtype=np.intp)
    assert concatenated([]).tolist() == []
    for hits in (SAMPLED, EXACT):
        assert len(hits.joined(none, none, None)) == 0
