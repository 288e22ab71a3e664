"""Counts that rest on how documents were drawn."""

from itertools import combinations, product

import numpy as np
import pytest

from sklearn_calib.explore._design_estimate import design_estimate

TRUTH = np.array([1, 0, 1, 1, 0, 0, 1.0])
MODEL = np.array([0.8, 0.3, 0.4, 0.9, 0.2, 0.6, 0.1])
CELL = np.array([0, 0, 0, 1, 1, 1, 1])


def estimated(read, inclusion, *, cell=CELL, truth=TRUTH, model=MODEL, **options):
    read = np.asarray(read, dtype=int)
    options = {"tuning": 1.0, "rng": np.random.default_rng(0)} | options
    return design_estimate(
        truth[read],
        model[read],
        cell[read],
        inclusion=np.asarray(inclusion)[read],
        prediction_total=np.bincount(cell, model),
        cell_size=np.bincount(cell),
        **options,
    )


@pytest.mark.parametrize("tuning", [0.0, 0.7, 1.0])
def test_unbiased_over_all_samples_of_a_size(tuning):
    pi = np.full(7, 4 / 7)
    samples = [estimated(s, pi, tuning=tuning) for s in combinations(range(7), 4)]
    assert np.allclose(np.mean([s.unbiased for s in samples], axis=0), [2, 2])
    # Hajek's variance is exact where probabilities are equal.
    variance = np.var([s.unbiased for s in samples], axis=0)
    assert np.allclose(np.mean([s.standard_error**2 for s in samples], axis=0), variance)


def test_unbiased_over_all_samples_with_unequal_probabilities():
    pi = np.array([0.9, 0.2, 0.5, 0.4, 0.7, 0.3, 1.0])
    mean = np.zeros(2)
    for drawn in product([0, 1], repeat=6):
        inside = np.array([*drawn, 1])
        chance = np.prod(np.where(inside, pi, 1.0 - pi))
        mean += chance * estimated(np.flatnonzero(inside), pi).unbiased
    assert np.allclose(mean, [2, 2])


def test_all_read_is_known_exactly():
    found = estimated(range(7), np.ones(7), tuning=None)
    for values in (found.estimate, found.low, found.high):
        assert np.allclose(values, [2, 2])


def test_limits_are_what_was_read():
    found = estimated([0, 3, 4], np.full(7, 3 / 7))
    assert np.all(found.low >= [1, 1])
    assert np.all(found.high <= [3, 3])
    assert np.all((found.low <= found.estimate) & (found.estimate <= found.high))


def test_a_cell_of_which_nothing_was_read_is_unknown():
    found = estimated([0, 1, 2], np.full(7, 3 / 7))
    assert (found.low[1], found.high[1]) == (0.0, 4.0)


def test_a_cell_without_an_error_is_not_certain():
    found = estimated([0, 1, 2], np.full(7, 3 / 7), model=TRUTH)
    assert found.high[0] == pytest.approx(2.0)
    big, cell = np.zeros(1000), np.zeros(1000, dtype=int)
    found = estimated(range(50), np.full(1000, 0.05), truth=big, model=big, cell=cell)
    assert found.low[0] == 0.0
    assert found.high[0] > 20.0


def test_several_answers_of_one_document():
    """Two answers in one cell add up, as one document whose answer is their sum."""
    pi = np.array([0.5, 0.25, 0.5])
    common = {
        "inclusion": pi,
        "prediction_total": [4.0],
        "cell_size": [12],
        "tuning": 1.0,
        "rng": np.random.default_rng(0),
    }
    single = design_estimate([2.0, 0, 1], [0.9, 0.2, 0.5], [0, 0, 0], **common)
    double = design_estimate(
        [1.0, 1, 0, 1], [0.5, 0.4, 0.2, 0.5], [0] * 4, document=[0, 0, 1, 2], **common
    )
    assert np.allclose(single.unbiased, double.unbiased)
    assert np.allclose(single.standard_error, double.standard_error)


def _simulated(rng, n=2000, read=200):
    p = rng.beta(0.8, 1.2, n)
    y = (rng.random(n) < np.sqrt(p)).astype(float)
    pi = np.clip(
        0.4 * read / n + 0.6 * read * np.sqrt(p * (1 - p)) / np.sqrt(p * (1 - p)).sum(), 0, 1
    )
    chosen = np.flatnonzero(rng.random(n) < pi)
    cell = np.zeros(n, dtype=int)
    found = estimated(chosen, pi, truth=y, model=p, cell=cell, tuning=None, rng=rng)
    return found, y.sum()


def test_intervals_of_large_totals_hold_whatever_the_model_is():
    runs = [_simulated(np.random.default_rng(seed)) for seed in range(300)]
    held = np.mean([found.low[0] <= total <= found.high[0] for found, total in runs])
    # Three standard errors below the level.
    assert held > 0.91
    error = [found.unbiased[0] - total for found, total in runs]
    assert abs(np.mean(error)) < 3 * np.std(error) / np.sqrt(300)


def test_tuning_trusts_a_good_model_and_drops_a_useless_one():
    rng = np.random.default_rng(1)
    y = (rng.random(2000) < 0.3).astype(float)
    cell, pi = np.zeros(2000, dtype=int), np.full(2000, 0.2)
    read = rng.choice(2000, 400, replace=False)
    good = estimated(read, pi, truth=y, model=0.8 * y + 0.1, cell=cell, tuning=None)
    bad = estimated(read, pi, truth=y, model=rng.random(2000), cell=cell, tuning=None)
    assert good.tuning == pytest.approx(1.25, abs=0.01)
    assert bad.tuning < 0.2
    assert good.high[0] - good.low[0] < 0.5 * (bad.high[0] - bad.low[0])
