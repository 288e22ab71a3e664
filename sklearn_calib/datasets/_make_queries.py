"""Simulated queries whose true calibration error is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special, stats

from sklearn_calib._results import Columns, Result
from sklearn_calib._validation import Array, check_generator, check_integer, check_option
from sklearn_calib.queries import Queries

__all__ = ["SimulatedQueries", "make_queries"]

# 60 % near 0, 35 % near 1 and 5 % anywhere: what the marginals of a tagger look like.
MIXTURE = ((0.60, 0.2, 20.0), (0.35, 20.0, 0.2), (0.05, 1.0, 1.0))

# Each distortion that has a name, with its usual strength.
DISTORTIONS = {"identity": 0.0, "shift": 0.1, "slope": 0.7, "thesis": 0.1}

# Points of the quadrature for the true error.
_POINTS = 2**16


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedQueries(Result):
    """Queries with the truth behind them.

    Attributes
    ----------
    queries : Queries
        What a user would have: answers, predictions and groups.
    probability : ndarray of shape (n,)
        The true probability of yes, given the prediction.
    error : float
        The true calibration error of the law that the queries come from.

    See Also
    --------
    make_queries : Makes this object.
    """

    queries: Queries
    probability: Array
    error: float

    _shows_table = False

    def _sentence(self) -> str:
        return f"{self.queries!r} with a true calibration error of {self.error:.4f}"

    def _columns(self) -> Columns:
        """Return one row per query."""
        group = {} if self.queries.group is None else {"group": self.queries.group}
        return {
            "y_true": self.y_true,
            "y_prob": self.y_prob,
            "probability": self.probability,
            **group,
        }

    @property
    def y_true(self) -> Array:
        """The answers."""
        return self.queries.y_true

    @property
    def y_prob(self) -> Array:
        """The predictions."""
        return self.queries.y_prob


def _distort(q: Array, distortion: str | Callable[[Array], Array], strength: float) -> Array:
    if callable(distortion):
        return np.clip(np.asarray(distortion(q), dtype=float), 0.0, 1.0)
    if distortion == "shift":
        return np.clip(q + strength, 0.0, 1.0)
    if distortion == "slope":
        return special.expit(strength * special.logit(q))
    if distortion == "thesis":
        return np.clip(np.where(q <= 0.5, q - strength, q + strength), 0.0, 1.0)
    return q


@lru_cache(maxsize=64)
def _true_error(
    components: tuple[tuple[float, float, float], ...],
    distortion: str | Callable[[Array], Array],
    strength: float,
    decimals: int | None,
) -> float:
    """Return the root of E (q - t(q))^2, by the midpoint rule over quantiles of q."""
    u = (np.arange(_POINTS) + 0.5) / _POINTS
    square = 0.0
    for share, a, b in components:
        q = stats.beta.ppf(u, a, b)
        q = q if decimals is None else np.round(q, decimals)
        square += share * float(np.mean(np.square(q - _distort(q, distortion, strength))))
    return float(np.sqrt(square))


def make_queries(
    n: int = 1000,
    *,
    a: float = 0.5,
    b: float = 0.5,
    predictions: str = "beta",
    distortion: str | Callable[[Array], Array] = "identity",
    strength: float | None = None,
    decimals: int | None = None,
    group_size: int = 1,
    dependence: float = 0.0,
    random_state: Any = None,
) -> SimulatedQueries:
    """Simulate queries whose calibration error is known.

    A prediction q is drawn; the answer is yes with probability t(q). Where t
    is the identity, the predictions are perfectly calibrated.

    Parameters
    ----------
    n : int, default=1000
        Number of queries.
    a, b : float, default=0.5
        Parameters of the Beta law of the predictions.
    predictions : {"beta", "mixture"}, default="beta"
        "mixture" replaces the Beta law by 60 % Beta(.2, 20), 35 % Beta(20, .2)
        and 5 % uniform: crowded at 0 and 1, as the marginals of a tagger are.
    distortion : {"identity", "shift", "slope", "thesis"} or callable, default="identity"
        t(q). "shift" is min(1, q + strength): predictions are too low everywhere.
        "slope" multiplies the log-odds by `strength`: below 1 the predictions are
        overconfident, above 1 they are underconfident. "thesis" is
        max(0, q - strength) up to one half and min(1, q + strength) above it, so
        that predictions are not extreme enough [1]_.
    strength : float, default=None
        0.1 for "shift" and "thesis" and 0.7 for "slope" by default; from 0 to 0.5
        for "thesis".
    decimals : int, default=None
        Round the predictions, which makes ties.
    group_size : int, default=1
        Queries of so many neighbours form a group.
    dependence : float, default=0.0
        Correlation, from 0 to 1, of the normal variables that decide the
        answers of one group. Each answer on its own still has probability
        t(q).
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    SimulatedQueries
        The queries, the true probabilities and the true error.

    See Also
    --------
    calibration_error_interval : To be tried on such data.

    References
    ----------
    .. [1] K. X. Nguyen, "Calibration for natural language processing systems",
       honors thesis, University of Massachusetts Amherst, section 4.3.1. It prints
       min(0, p + k) for the upper branch, which would be 0 there; min(1, p + k) is
       meant.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(1000, a=2, b=5, random_state=0)
    >>> sample.queries
    <Queries: 1,000 queries, 285 of them true>
    >>> sample.error
    0.0
    >>> round(make_queries(10, distortion="shift", strength=0.1).error, 3)
    0.091
    """
    n = check_integer(n, "n")
    check_option(predictions, "predictions", ("beta", "mixture"))
    if not callable(distortion):
        check_option(distortion, "distortion", tuple(DISTORTIONS))
    group_size = check_integer(group_size, "group_size")
    if not (a > 0 and b > 0):
        raise ValueError(f"a and b must be positive, got a={a!r} and b={b!r}.")
    if not 0.0 <= dependence <= 1.0:
        raise ValueError(f"dependence must lie in [0, 1], got {dependence!r}.")
    if dependence > 0.0 and group_size == 1:
        raise ValueError("dependence has no effect without groups: set group_size as well.")
    if strength is None:
        strength = 0.0 if callable(distortion) else DISTORTIONS[distortion]
    if distortion == "thesis" and not 0.0 <= strength <= 0.5:
        raise ValueError(f"strength of 'thesis' must lie in [0, 0.5], got {strength!r}.")
    rng = check_generator(random_state)
    components = MIXTURE if predictions == "mixture" else ((1.0, float(a), float(b)),)
    part = rng.choice(len(components), size=n, p=[share for share, _, _ in components])
    shapes = np.array([shape for _, *shape in components])[part]
    q = rng.beta(shapes[:, 0], shapes[:, 1])
    if decimals is not None:
        q = np.round(q, decimals)
    truth = _distort(q, distortion, strength)
    group = np.arange(n) // group_size
    if dependence > 0.0:
        shared = rng.standard_normal(group[-1] + 1)[group]
        own = rng.standard_normal(n)
        u = special.ndtr(np.sqrt(dependence) * shared + np.sqrt(1.0 - dependence) * own)
    else:
        u = rng.random(n)
    queries = Queries._from_checked(u < truth, q, group=group if group_size > 1 else None)
    return SimulatedQueries(
        queries, truth, _true_error(components, distortion, float(strength), decimals)
    )
