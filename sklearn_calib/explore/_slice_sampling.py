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
from scipy import linalg

from sklearn_calib._validation import Array

LogLikelihood = Callable[[Array], Array]
Slopes = Callable[[Array], tuple[Array, Array]]

# Chains start at draws from the normal approximation. Their first steps are forgotten; then
# each gives several draws, with steps between them: the more parameters, the more steps.
_FORGOTTEN, _DRAWS_OF_CHAIN = (15, 40), 10
_BETWEEN_PER_PARAMETER, _MOST_BETWEEN = 0.125, 6
# The approximation is widened, because its tails are often too thin; less so where there are
# many parameters, because they all widen at once.
_WIDER, _MANY = 0.25, 15.0
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
    lower = np.linalg.cholesky(information + np.eye(n_parameters))
    return mode, linalg.solve_triangular(lower, np.eye(n_parameters), lower=True).T


def draw_posterior(
    log_likelihood: LogLikelihood,
    slopes: Slopes,
    n_parameters: int,
    *,
    n_draws: int,
    rng: np.random.Generator,
) -> Array:
    """Return draws of standard normal parameters given data, of shape (n_draws, n_parameters)."""
    mode, factor = posterior_mode(log_likelihood, slopes, n_parameters)
    factor = factor * (1.0 + _WIDER * min(1.0, _MANY / n_parameters))

    def height(whitened: Array) -> tuple[Array, Array]:
        """Return the log of the posterior relative to the normal approximation."""
        z = mode + whitened @ factor.T
        excess = 0.5 * np.square(whitened).sum(axis=1) - 0.5 * np.square(z).sum(axis=1)
        return log_likelihood(z) + excess, z

    forgotten = int(np.clip(n_parameters, *_FORGOTTEN))
    between = int(np.clip(_BETWEEN_PER_PARAMETER * n_parameters, 1, _MOST_BETWEEN))
    n_chains = -(-n_draws // _DRAWS_OF_CHAIN)
    at = rng.standard_normal((n_chains, n_parameters))
    level, z = height(at)
    kept = []
    for step in range(1, forgotten + between * _DRAWS_OF_CHAIN + 1):
        at, z, level = _slice_step(height, at, z, level, rng)
        if step > forgotten and (step - forgotten) % between == 0:
            kept.append(z)
    return np.concatenate(kept)[:n_draws]


def _slice_step(
    height: Callable[[Array], tuple[Array, Array]],
    at: Array,
    z: Array,
    level: Array,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array]:
    """Move every chain to a point of its ellipse that is high enough."""
    n_chains = len(at)
    other = rng.standard_normal(at.shape)
    least = level - rng.exponential(size=n_chains)
    angle = rng.uniform(0.0, 2.0 * np.pi, n_chains)
    low, high = angle - 2.0 * np.pi, angle.copy()
    still = np.arange(n_chains)
    new_at, new_z, new_level = at.copy(), z.copy(), level.copy()
    for _ in range(_MOST_SHRINKS):
        turn = angle[still, np.newaxis]
        tried = at[still] * np.cos(turn) + other[still] * np.sin(turn)
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
    return new_at, new_z, new_level
