"""Draws from a posterior whose prior is standard normal, by elliptical slice sampling.

Every parameter is written as a function of standard normal variables, so that
one sampler serves all models of answers. Its ellipses come from a normal
approximation of the posterior (Nishihara, Murray & Adams 2014) rather than from
the prior (Murray, Adams & MacKay 2010). One step from there is then nearly an
independent draw, and what is not normal about the posterior is still drawn
exactly in the limit of many steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_calib._validation import Array

LogLikelihood = Callable[[Array], Array]
Slopes = Callable[[Array], tuple[Array, Array]]

# Steps of each chain; chains start at draws from the normal approximation.
_N_STEPS = 12
# The approximation is widened, because its tails are often too thin.
_WIDER = 1.25
_MOST_ROUNDS, _MOST_SHRINKS = 100, 60


def posterior_mode(
    log_likelihood: LogLikelihood, slopes: Slopes, n_parameters: int
) -> tuple[Array, Array]:
    """Return the mode of a posterior, and a factor of the covariance around it.

    Parameters
    ----------
    log_likelihood : callable
        The log-likelihood of each row of parameters.
    slopes : callable
        The gradient of the log-likelihood at one row of parameters, and the
        Fisher information there.
    n_parameters : int
        The number of parameters, each standard normal a priori.

    Returns
    -------
    tuple of ndarray
        The mode, and a matrix F for which F F' is the covariance.
    """

    def height(at: Array) -> float:
        return float(log_likelihood(at[np.newaxis])[0] - 0.5 * at @ at)

    mode = np.zeros(n_parameters)
    best = height(mode)
    for _ in range(_MOST_ROUNDS):
        gradient, information = slopes(mode)
        step = np.linalg.solve(information + np.eye(n_parameters), gradient - mode)
        for halving in range(20):
            tried = mode + step * 0.5**halving
            new = height(tried)
            if new > best:
                break
        else:
            break
        gain, mode, best = new - best, tried, new
        if gain < 1e-6:
            break
    _, information = slopes(mode)
    values, vectors = np.linalg.eigh(information + np.eye(n_parameters))
    return mode, vectors / np.sqrt(np.maximum(values, 1.0))


def draw_posterior(
    log_likelihood: LogLikelihood,
    slopes: Slopes,
    n_parameters: int,
    *,
    n_draws: int,
    rng: np.random.Generator,
) -> Array:
    """Return draws of standard normal parameters given data, of shape (n_draws, n_parameters).

    Each draw is the end of a chain of its own.
    """
    mode, factor = posterior_mode(log_likelihood, slopes, n_parameters)
    factor = _WIDER * factor

    def height(whitened: Array) -> tuple[Array, Array]:
        """Return the log of the posterior relative to the normal approximation."""
        z = mode + whitened @ factor.T
        excess = 0.5 * np.square(whitened).sum(axis=1) - 0.5 * np.square(z).sum(axis=1)
        return log_likelihood(z) + excess, z

    at = rng.standard_normal((n_draws, n_parameters))
    level, z = height(at)
    for _ in range(_N_STEPS):
        other = rng.standard_normal(at.shape)
        least = level - rng.exponential(size=n_draws)
        angle = rng.uniform(0.0, 2.0 * np.pi, n_draws)
        low, high = angle - 2.0 * np.pi, angle.copy()
        still = np.arange(n_draws)
        before, new_at, new_z, new_level = at, at.copy(), z.copy(), level.copy()
        for _ in range(_MOST_SHRINKS):
            turn = angle[still, np.newaxis]
            tried = before[still] * np.cos(turn) + other[still] * np.sin(turn)
            reached, place = height(tried)
            good = reached > least[still]
            rows = still[good]
            new_at[rows], new_z[rows], new_level[rows] = tried[good], place[good], reached[good]
            still = still[~good]
            if len(still) == 0:
                break
            below = angle[still] < 0.0
            low[still[below]] = angle[still[below]]
            high[still[~below]] = angle[still[~below]]
            angle[still] = rng.uniform(low[still], high[still])
        at, z, level = new_at, new_z, new_level
    return z
