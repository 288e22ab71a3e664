"""Documents drawn with known, unequal probabilities, of which more can follow."""

import numpy as np
import pytest

from sklearn_calib.explore._survey import (
    draw_sample,
    inclusion_probabilities,
    joined_inclusion,
    permanent_numbers,
    sampling_sizes,
    scaled_to,
)


@pytest.fixture
def size():
    return sampling_sizes(np.random.default_rng(0).gamma(0.5, size=60))


@pytest.mark.parametrize("n", [1, 7, 30, 59, 60, 80])
def test_inclusion_probabilities_sum_to_the_number_of_documents(n):
    uncertainty = np.random.default_rng(1).gamma(0.3, size=60)
    pi = inclusion_probabilities(uncertainty, n)
    assert pi.sum() == pytest.approx(min(n, 60))
    assert np.all((pi > 0.0) & (pi <= 1.0))
    # Below 1, they are in proportion to the sizes.
    ratio = (pi / sampling_sizes(uncertainty))[pi < 1.0]
    assert np.allclose(ratio, ratio[:1])


def test_a_part_is_spread_over_all_documents_alike():
    pi = inclusion_probabilities([0.0, 0.0, 0.0, 1.0], 1, share_uniform=0.4)
    assert np.allclose(pi, [0.1, 0.1, 0.1, 0.7])
    assert np.allclose(inclusion_probabilities(np.zeros(5), 2), 0.4)


def test_a_larger_sample_holds_every_smaller_one(size):
    numbers = permanent_numbers(60, rng=np.random.default_rng(2))
    order = draw_sample(size, numbers, 60)[0]
    for n in range(1, 60):
        assert draw_sample(size, numbers, n)[0].tolist() == order[:n].tolist()


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("n", [3, 20])
def test_documents_are_drawn_as_often_as_is_said(size, n, spread):
    rng = np.random.default_rng(3)
    order = np.argsort(size) if spread else None
    runs = 8000
    drawn = np.zeros(60)
    for _ in range(runs):
        drawn[draw_sample(size, permanent_numbers(60, rng=rng, order=order), n)[0]] += 1
    said = scaled_to(size, n)
    # The probabilities of fixed-size samples are not exactly in proportion to the sizes.
    assert np.abs(drawn / runs - said).max() < 0.04
    assert np.abs(drawn / runs - said).mean() < 0.01


def test_two_samples_with_the_same_numbers_have_the_larger_probability(size):
    rng = np.random.default_rng(4)
    other = size[::-1].copy()
    both = np.zeros(60)
    for _ in range(4000):
        numbers = permanent_numbers(60, rng=rng)
        first, one = draw_sample(size, numbers, 10)
        second, two = draw_sample(other, numbers, 15)
        both[np.union1d(first, second)] += 1
    assert np.abs(both / 4000 - joined_inclusion(one, two)).mean() < 0.012


def test_neighbours_have_numbers_in_different_tenths():
    order = np.random.default_rng(5).permutation(37)
    numbers = permanent_numbers(37, rng=np.random.default_rng(6), order=order)
    for start in (0, 10, 20, 30):
        tenths = (10 * numbers[order[start : start + 10]]).astype(int)
        assert len(set(tenths.tolist())) == len(tenths)
