"""Moments of the debiased square, against enumeration."""

import itertools

import numpy as np
import pytest

from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._inference._grouped import pair_form
from sklearn_calib.metrics._inference._moments import residual_moments


def test_null_moments_are_those_of_all_outcomes():
    """Variance and third cumulant against enumeration of the 2^6 outcomes."""
    q = np.array([0.1, 0.25, 0.3, 0.6, 0.8, 0.95])
    w = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0])
    for weight in (None, w):
        values, chances = [], []
        for y in itertools.product([False, True], repeat=6):
            answers = np.array(y)
            ordered = SortedQueries(answers, q, weight)
            moments = residual_moments(BinnedQueries(ordered, np.array([6])))
            values.append(moments.square)
            chances.append(np.prod(np.where(answers, q, 1 - q)))
        mean = np.dot(chances, values)
        centred = np.array(values) - mean
        assert mean == pytest.approx(0.0, abs=1e-15)
        assert moments.null_variance == pytest.approx(np.dot(chances, centred**2))
        assert moments.null_third == pytest.approx(np.dot(chances, centred**3))


def test_weighted_sums_are_unbiased_too():
    """Estimates of the variance against enumeration, for a bin of equal predictions."""
    q, p = np.full(5, 0.3), 0.6
    w = np.array([1.0, 2.0, 0.5, 1.5, 1.0])
    sums = np.zeros(3)
    values, chances = [], []
    for y in itertools.product([False, True], repeat=5):
        answers = np.array(y)
        bins = BinnedQueries(SortedQueries(answers, q, w), np.array([5]))
        moments = residual_moments(bins)
        chance = np.prod(np.where(answers, p, 1 - p))
        values.append(moments.square)
        chances.append(chance)
        pairs = pair_form(bins)
        assert pairs.square == pytest.approx(moments.square)
        sums += chance * np.array([moments.square, moments.linear, 1.0])
    assert sums[0] == pytest.approx((p - 0.3) ** 2)
    # linear estimates 4 mu^2 s^2 times a function of the weights.
    w1, w2 = w.sum(), np.sum(w**2)
    factor = np.sum(w**2 * (w1 - w) ** 2) / (w1**2 - w2) ** 2
    assert sums[1] == pytest.approx(4 * factor * (p - 0.3) ** 2 * p * (1 - p))
    mean = np.dot(chances, values)
    variance = np.dot(chances, (np.array(values) - mean) ** 2)
    quadratic = 2 * (w2**2 - np.sum(w**4)) / (w1**2 - w2) ** 2 * (p * (1 - p)) ** 2
    assert variance == pytest.approx(sums[1] + quadratic)
