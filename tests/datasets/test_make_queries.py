"""Simulated queries: is the truth true?"""

import numpy as np
import pytest

from sklearn_calib.datasets import make_queries


@pytest.mark.parametrize(
    "options",
    [
        {"a": 0.3, "b": 0.3, "distortion": "shift", "strength": 0.05},
        {"a": 5, "b": 5, "distortion": "slope", "strength": 1.5},
        {"predictions": "mixture", "distortion": "slope"},
        {"a": 1, "b": 1, "distortion": lambda q: q**2},
        {"decimals": 1, "distortion": "shift"},
        {"a": 0.4, "b": 0.6, "distortion": "thesis"},
    ],
)
def test_true_error(options):
    sample = make_queries(400_000, random_state=0, **options)
    empirical = np.sqrt(np.mean((sample.y_prob - sample.probability) ** 2))
    assert sample.error == pytest.approx(empirical, rel=0.01)
    # Answers follow the true probability.
    assert sample.y_true.mean() == pytest.approx(sample.probability.mean(), abs=0.004)


def test_uniform_square_by_hand():
    # E (q - q^2)^2 = 1/3 - 2/4 + 1/5 for uniform q.
    sample = make_queries(10, a=1, b=1, distortion=lambda q: q**2, random_state=0)
    assert sample.error == pytest.approx(np.sqrt(1 / 30), rel=1e-6)


def test_the_thesis_moves_both_halves_outwards():
    sample = make_queries(1000, a=1, b=1, distortion="thesis", strength=0.2, random_state=0)
    q = sample.y_prob
    expected = np.where(q <= 0.5, np.maximum(0, q - 0.2), np.minimum(1, q + 0.2))
    np.testing.assert_array_equal(sample.probability, expected)
    # Uniform q: the gap is k on .6 of the line, and q or 1 - q within .2 of the ends.
    assert sample.error == pytest.approx(np.sqrt(0.6 * 0.04 + 2 * 0.2**3 / 3), rel=1e-4)
    # One half itself belongs to the lower branch.
    half = make_queries(50, a=1e6, b=1e6, decimals=1, distortion="thesis", random_state=0)
    assert set(half.probability) == {0.4}


def test_identity_has_no_error():
    assert make_queries(10, random_state=0).error == 0.0


def test_groups_depend_on_each_other_but_margins_stay():
    sample = make_queries(200_000, a=5, b=5, group_size=20, dependence=0.8, random_state=0)
    r = (sample.y_true - sample.probability).reshape(-1, 20)
    between = np.var(r.mean(axis=1))
    independent = np.var(r) / 20
    assert between > 5 * independent
    assert r.mean() == pytest.approx(0.0, abs=0.02)
    assert sample.queries.group.max() == 9999


def test_seeds():
    one, two = make_queries(50, random_state=3), make_queries(50, random_state=3)
    np.testing.assert_array_equal(one.y_prob, two.y_prob)
    assert (make_queries(50, random_state=4).y_prob != one.y_prob).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"a": -1}, "a and b must be positive"),
        ({"distortion": "twist"}, "distortion='twist' is not known"),
        ({"distortion": "thesis", "strength": 0.6}, r"must lie in \[0, 0.5\], got 0.6"),
        ({"dependence": 0.5}, "set group_size"),
        ({"dependence": 2, "group_size": 3}, r"must lie in \[0, 1\]"),
        ({"predictions": "gamma"}, "predictions='gamma' is not known"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        make_queries(**{"n": 10, **options})
