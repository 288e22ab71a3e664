"""Bins that balance counts and information."""

import numpy as np
import pytest

from sklearn_calib.metrics._binning._balanced import LEAST_ROWS, LEAST_UNITS, balanced_ends
from sklearn_calib.metrics._binning._sorted import SortedQueries


def queries(q, w=None, unit=None):
    return SortedQueries(np.zeros(len(q), dtype=bool), q, w, unit)


def flipped(values):
    return None if values is None else values[::-1]


@pytest.mark.parametrize("kind", ["plain", "ties", "weights", "units", "number"])
def test_bins_are_the_same_from_both_ends(kind):
    rng = np.random.default_rng(0)
    for n in [1, 2, 7, *rng.integers(10, 6000, 60)]:
        # Dyadic predictions, whose complement is exact.
        steps = 2**4 if kind == "ties" else 2**30
        q = np.sort(np.round(rng.beta(*rng.choice([0.1, 0.5, 2.0], 2), size=n) * steps) / steps)
        w = rng.exponential(size=n) if kind == "weights" else None
        unit = rng.integers(0, max(2, n // 5), n) if kind == "units" else None
        number = 12 if kind == "number" else None
        ends = balanced_ends(queries(q, w, unit), number)
        other = balanced_ends(queries(1 - q[::-1], flipped(w), flipped(unit)), number)
        np.testing.assert_array_equal(ends[:-1], (n - other[:-1])[::-1])
        assert ends[-1] == n
        assert (np.diff(ends, prepend=0) > 0).all()
        # Equal predictions share a bin.
        assert (q[ends[:-1] - 1] != q[ends[:-1]]).all()


def test_bins_hold_equal_steps_of_count_and_information():
    q = np.sort(np.random.default_rng(0).beta(0.1, 0.1, 20_000))
    ends = balanced_ends(queries(q), 20)
    assert len(ends) == 20
    v = q * (1 - q)
    starts = np.r_[0, ends[:-1]]
    mass = np.diff(ends, prepend=0) / len(q) + np.add.reduceat(v, starts) / v.sum()
    assert mass == pytest.approx(np.full(20, 0.1), abs=0.01)


def test_bins_are_large_enough_for_a_variance():
    rng = np.random.default_rng(0)
    q = np.sort(rng.random(2000))
    assert np.diff(balanced_ends(queries(q)), prepend=0).min() >= LEAST_ROWS
    w = np.exp(2 * rng.standard_normal(2000))
    ends = balanced_ends(queries(q, w))
    starts = np.r_[0, ends[:-1]]
    kish = np.add.reduceat(w, starts) ** 2 / np.add.reduceat(w**2, starts)
    assert kish.min() >= 4
    unit = np.repeat(np.arange(40), 50)
    ends = balanced_ends(queries(q, None, unit))
    starts = np.r_[0, ends[:-1]]
    assert min(len(set(unit[a:b])) for a, b in zip(starts, ends, strict=True)) >= LEAST_UNITS


def test_few_values_are_few_bins():
    q = np.repeat([0.01, 0.05, 0.2, 0.5, 0.75, 0.9, 0.98], 20_000)
    assert len(balanced_ends(queries(q))) == 7
    assert balanced_ends(queries(np.full(5000, 0.3))).tolist() == [5000]
    assert balanced_ends(queries(np.zeros(50))).tolist() == [50]


def test_counts_alone_give_equal_bins_to_equal_orders():
    p = np.sort(np.random.default_rng(0).random(3000))
    one, two = (balanced_ends(queries(q), by_count=True) for q in (p, p**3))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n", [5, 9, 10, 30, 50, 60, 70, 99, 100, 300])
def test_bins_by_count_are_of_equal_size_in_small_samples(n):
    q = np.sort(np.random.default_rng(n).random(n))
    ends = balanced_ends(SortedQueries(q > 0.5, q), by_count=True)
    counts = np.diff(ends, prepend=0)
    assert counts.min() >= LEAST_ROWS
    # The middle bin takes in what small ones leave: there are none.
    assert len(counts) == 1 or np.ptp(counts) <= 1
    assert len(counts) >= min(n // 8, np.sqrt(n)) or n < 15


@pytest.mark.parametrize("n", [20, 30, 52, 70, 80])
@pytest.mark.parametrize(("a", "b"), [(5, 5), (1, 1), (0.3, 0.3)])
def test_no_bin_of_a_small_sample_takes_in_what_others_leave(n, a, b):
    largest = 0.0
    for seed in range(5):
        q = np.random.default_rng(seed).beta(a, b, n)
        counts = np.diff(balanced_ends(queries(q)), prepend=0)
        assert counts.min() >= LEAST_ROWS
        assert len(counts) >= min(3, n // 8)
        largest += counts.max() / 5
    # A bin in the middle had up to 20 of them.
    assert largest <= 13


def test_two_piles_with_little_between_them_stay_apart():
    q = np.repeat([0.05, 0.5, 0.95], [60, 1, 40])
    assert np.diff(balanced_ends(queries(q)), prepend=0).tolist() == [60, 41]
    assert np.diff(balanced_ends(queries((1.0 - q)[::-1])), prepend=0).tolist() == [41, 60]
