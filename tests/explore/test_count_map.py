"""How expected counts differ from true counts."""

import numpy as np
import pytest
from scipy.stats import skellam

from sklearn_calib.explore._count_map import CountMaps, _parts, _rates, _Rows, draw_count_maps


def _documents(rng, n, n_keys=1):
    """Return the mean and the variance of counts that are mostly certain."""
    base = rng.poisson(1.5, (n, n_keys))
    off = rng.uniform(0.0, 0.4, (n, n_keys)) * (rng.random((n, n_keys)) < 0.3)
    up = rng.random((n, n_keys)) < 0.5
    mean = np.where(up | (base == 0), base + off, base - off)
    return mean, off * (1.0 - off)


def _true(rng, mean, variance, factors):
    frequency = mean.mean(axis=0)
    nearest, parts = _parts(mean, variance, np.broadcast_to(frequency, mean.shape))
    lacking, extra = _rates(np.array(factors), np.array(parts))
    return np.maximum(nearest + rng.poisson(lacking) - rng.poisson(extra), 0)


def test_a_calibrated_count_is_taken_apart_exactly():
    """For a count that is one of two neighbours, the rates are the probabilities of either."""
    nearest, (lacking, extra, frequency, again) = _parts(
        [2.3, 1.8, 3.0], [0.21, 0.16, 0.0], np.full(3, 0.5)
    )
    assert nearest.tolist() == again.tolist() == [2, 2, 3]
    assert np.allclose(lacking, [0.3, 0.0, 0.0])
    assert np.allclose(extra, [0.0, 0.2, 0.0])
    assert np.allclose(frequency, 0.5)


def test_draws_have_the_mean_and_the_variance_of_the_model():
    rng = np.random.default_rng(0)
    mean, variance = _documents(rng, 300)
    factors = np.tile([1.0, 1.0, 0.0, 0.0], (20_000, 1, 1))
    maps = CountMaps(factors, mean.mean(axis=0), 1.0, 0)
    cell = np.arange(300) % 2
    drawn = maps.draw(mean[:, 0], variance[:, 0], cell, 2, rng=rng)
    either = variance[:, 0] + np.square(mean[:, 0] - np.rint(mean[:, 0]))
    for c in (0, 1):
        assert drawn[:, c].mean() == pytest.approx(mean[cell == c].sum(), abs=0.1)
        assert drawn[:, c].var() == pytest.approx(either[cell == c].sum(), rel=0.05)
    spread = CountMaps(factors, mean.mean(axis=0), 2.0, 0)
    more = spread.draw(mean[:, 0], variance[:, 0], cell, 2, rng=rng)
    assert more.var(axis=0) == pytest.approx(2.0 * drawn.var(axis=0), rel=0.07)
    assert more.mean(axis=0) == pytest.approx(drawn.mean(axis=0), abs=0.2)


def test_a_row_may_stand_for_many():
    maps = CountMaps(np.ones((4000, 1, 4)), np.array([0.5]), 1.0, 0)
    one = maps.draw([0.4], [0.24], [0], 1, weight=[50], rng=np.random.default_rng(0))
    many = maps.draw([0.4] * 50, [0.24] * 50, [0] * 50, 1, rng=np.random.default_rng(0))
    assert np.array_equal(one, many)


def test_the_likelihood_is_that_of_differences_of_poisson_variables():
    rng = np.random.default_rng(1)
    mean, variance = _documents(rng, 200, 2)
    truth = _true(rng, mean, variance, [1.5, 0.8, 0.02, 0.03])
    truth[0] += 7
    key = np.tile([0, 1], 200)
    nearest, parts = _parts(mean.ravel(), variance.ravel(), mean.mean(axis=0)[key])
    off = truth.ravel() - nearest
    rows = _Rows.of(off, np.array(parts), key, 2)
    for factors in ([1.0, 1.0, 0.01, 0.01], [2.0, 0.7, 0.05, 0.02]):
        lacking, extra = _rates(np.array(factors), np.array(parts))
        exact = skellam.logpmf(off, np.maximum(lacking, 1e-12), np.maximum(extra, 1e-12)).sum()
        found = rows.log_likelihood(np.tile(factors, (1, 2, 1)))[0]
        # Rows without an error go through sums, which is right to the second order.
        assert found == pytest.approx(exact, abs=0.05)
    assert len(rows.off) < len(off)


def test_many_answers_show_the_factors():
    rng = np.random.default_rng(2)
    mean, variance = _documents(rng, 20_000)
    truth = _true(rng, mean, variance, [1.6, 0.6, 0.02, 0.01])
    maps = draw_count_maps(
        mean[:, 0],
        variance[:, 0],
        truth[:, 0],
        frequency=mean.mean(axis=0),
        n_draws=200,
        rng=rng,
    )
    assert maps.factors.mean(axis=(0, 1)) == pytest.approx([1.6, 0.6, 0.02, 0.01], rel=0.2)
    assert maps.dispersion == pytest.approx(1.0, abs=0.05)


def test_errors_that_come_together_are_overdispersed():
    rng = np.random.default_rng(3)
    mean = np.full(4000, 1.0)
    truth = 1.0 + 3.0 * (rng.random(4000) < 0.03)
    options = {"frequency": [1.0], "n_draws": 100, "rng": rng}
    maps = draw_count_maps(mean, np.zeros(4000), truth, **options)
    assert 2.0 < maps.dispersion < 4.0


def test_intervals_of_keys_hold_and_unread_keys_are_less_sure():
    held, n_keys, runs = [], 4, 8
    factors = np.array([[1.6, 0.6, 0.02, 0.01]] * 3 + [[0.7, 1.5, 0.01, 0.03]])
    for seed in range(runs):
        rng = np.random.default_rng([seed, 5])
        mean, variance = _documents(rng, 600, n_keys)
        truth = _true(rng, mean, variance, factors)
        key = np.tile(np.arange(n_keys), 100)
        maps = draw_count_maps(
            mean[:100].ravel(),
            variance[:100].ravel(),
            truth[:100].ravel(),
            key=key,
            n_keys=n_keys + 1,
            frequency=np.append(mean.mean(axis=0), 0.1),
            n_draws=200,
            rng=rng,
        )
        key = np.tile(np.arange(n_keys), 500)
        drawn = maps.draw(mean[100:].ravel(), variance[100:].ravel(), key, 4, key=key, rng=rng)
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        total = truth[100:].sum(axis=0)
        held.append((low <= total) & (total <= high))
        logs = np.log(maps.factors[..., 0]).std(axis=0)
        assert logs[n_keys] > logs[:n_keys].max()
    # Three standard errors below 95 %.
    assert np.mean(held) > 0.85
