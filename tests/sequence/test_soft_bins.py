"""The soft calibration error: its derivatives, and what it is for simple predictions."""

import numpy as np
import pytest

from sklearn_calib.sequence._soft_bins import soft_squared_error


def random_marginals(seed, n=40, k=5):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 0.5), size=n), rng.integers(k, size=n), rng.exponential(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_slopes_equal_finite_differences(seed):
    proba, tags, weight = random_marginals(seed)
    _, slopes = soft_squared_error(proba, tags, weight)
    rng = np.random.default_rng(seed + 100)
    step = 1e-7 * rng.normal(size=proba.shape)
    # Kept inside (0, 1), where the error is defined.
    step *= (proba > 1e-5) & (proba < 1 - 1e-5)
    up, _ = soft_squared_error(proba + step, tags, weight)
    down, _ = soft_squared_error(proba - step, tags, weight)
    assert (slopes * step).sum() == pytest.approx((up - down) / 2, rel=1e-4, abs=1e-13)


def test_certain_and_right_has_no_error_and_certain_and_wrong_all_of_it():
    tags, weight = np.array([0, 1, 1]), np.ones(3)
    right = np.eye(2)[tags]
    assert soft_squared_error(right, tags, weight)[0] == 0.0
    assert soft_squared_error(1.0 - right, tags, weight)[0] == pytest.approx(6.0)


def test_equal_predictions_make_one_bin():
    # 100 queries of .2 at a border of cells: a tenth of them come true.
    tags = np.repeat([0, 1], 25)
    kept = np.full((50, 3), 0.2)
    kept[:, 2] = 0.6
    tags[5:] = 2
    error, _ = soft_squared_error(kept, tags, np.ones(50))
    # Queries at .2: 100, five come true; at .6: 50, of which 45.
    assert error == pytest.approx(100 * (0.2 - 0.05) ** 2 + 50 * (0.6 - 0.9) ** 2)


def test_weights_are_repetition():
    proba, tags, _ = random_marginals(3)
    weight = np.random.default_rng(4).integers(1, 4, size=len(tags))
    weighted, slopes = soft_squared_error(proba, tags, weight.astype(float))
    rows = np.repeat(np.arange(len(tags)), weight)
    repeated, each = soft_squared_error(proba[rows], tags[rows], np.ones(len(rows)))
    assert weighted == pytest.approx(repeated)
    np.testing.assert_allclose(slopes[rows] / weight[rows, None], each, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 30])
def test_the_sum_over_bins_is_the_definition(k):
    rng = np.random.default_rng(k)
    proba = rng.dirichlet(np.full(k, 0.1), size=60)
    tags, weight = rng.integers(k, size=60), rng.exponential(size=60)
    residual, size = np.zeros(17), np.zeros(17)
    for i, row in enumerate(proba):
        for j, q in enumerate(row):
            cell = min(int(15 * q), 14)
            u = 15 * q - cell
            share = weight[i] * np.array([(1 - u) ** 2 / 2, 0.5 + u * (1 - u), u * u / 2])
            size[cell : cell + 3] += share
            residual[cell : cell + 3] += share * (q - (tags[i] == j))
    filled = size > 0
    expected = (residual[filled] ** 2 / size[filled]).sum()
    assert soft_squared_error(proba, tags, weight)[0] == pytest.approx(expected, rel=1e-10)
