"""Draws from posteriors that are known by other means."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from sklearn_calib.explore._slice_sampling import draw_posterior, posterior_mode


def _linear(seed=0, n=6, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n)


def test_normal_answers_have_a_normal_posterior():
    X, y = _linear()

    def log_likelihood(z):
        return -0.5 * np.square(y - z @ X.T).sum(axis=1)

    def slopes(z):
        return X.T @ (y - X @ z), X.T @ X

    covariance = np.linalg.inv(X.T @ X + np.eye(3))
    mode, factor = posterior_mode(log_likelihood, slopes, 3)
    assert np.allclose(mode, covariance @ X.T @ y, atol=1e-6)
    assert np.allclose(factor @ factor.T, covariance)
    z = draw_posterior(log_likelihood, slopes, 3, n_draws=8000, rng=np.random.default_rng(1))
    assert np.allclose(z.mean(axis=0), mode, atol=0.04)
    assert np.allclose(np.cov(z.T), covariance, atol=0.04)


def _one_answer(z):
    """Return the log-likelihood of three events in a row, far from normal."""
    return 3.0 * np.log(0.05 + 0.9 * expit(4.0 * z[:, 0]))


def _slopes(z):
    s = expit(4.0 * z)
    change = 0.9 * 4.0 * s * (1 - s) / (0.05 + 0.9 * s)
    return 3.0 * change, 3.0 * np.atleast_2d(change**2)


def test_what_is_not_normal_is_drawn_all_the_same():
    grid = np.linspace(-6, 6, 4001)
    density = norm.pdf(grid) * np.exp(_one_answer(grid[:, np.newaxis]))
    cumulative = np.cumsum(density) / density.sum()
    z = draw_posterior(_one_answer, _slopes, 1, n_draws=8000, rng=np.random.default_rng(2))[:, 0]
    for level in (0.025, 0.25, 0.5, 0.75, 0.975):
        # Four standard errors of a share among draws that are not quite independent.
        assert np.mean(z <= np.interp(level, cumulative, grid)) == pytest.approx(
            level, abs=6 * np.sqrt(level * (1 - level) / 8000) + 0.003
        )


@pytest.mark.parametrize("n_draws", [1, 9, 25])
def test_as_many_draws_as_asked(n_draws):
    z = draw_posterior(_one_answer, _slopes, 1, n_draws=n_draws, rng=np.random.default_rng(0))
    assert z.shape == (n_draws, 1)
