"""How a model's probability maps to the chance of truth, learnt from answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sklearn_calib._validation import Array
from sklearn_calib.explore._slice_sampling import draw_posterior

# Probabilities nearer to 0 or 1 than this say no more than this.
_LEAST = 1e-4
# Answers whose log-odds agree when they are rounded to this share one term.
_ROUNDED = 0.1
# Priors, as median and spread: of the intercept, of the log of the slope, of how
# the slope differs between the low and the high end, and of the log-odds of the
# confident answers that are wrong.
_INTERCEPT, _SLOPE, _SKEW = 1.5, 0.5, 0.35
_INVENTED = (-3.0, 1.7)
# The odds of the floor: a beta prime law of 1/2 and 1/2, whose median is relative to the odds of
# events, up to a limit. Where few documents without a trace were read, a prior must neither rule
# out that many events are missed nor that none is: below the median this is Jeffreys' prior of a
# rare rate, r^(-1/2), and above it falls as r^(-3/2).
_MISSED, _MOST_MISSED = 0.3, 0.03
_FREQUENCY = 0.05
# A rough curve around all that: an Ornstein-Uhlenbeck process over the log-odds.
_N_KNOTS, _RANGE = 10, 3.0
_AMPLITUDE = (np.log(0.4), 0.7)
# How far keys differ: medians of the spread of intercept, slope, floor and cap.
_KEY_SPREAD = np.log([0.4, 0.15, 0.4, 0.4])
_KEY_DOUBT = 0.7
_N_KEY = len(_KEY_SPREAD)


@dataclass(frozen=True, eq=False)
class _Places:
    """Where a map is asked: probabilities, the keys they belong to, and what follows from them."""

    log_yes: Array
    log_no: Array
    basis: Array
    key: Array
    prior_floor: Array


@dataclass(frozen=True, eq=False)
class ProbabilityMaps:
    """Draws of the map from a model's probability to the chance of truth.

    The chance is floor + (1 - floor) (1 - invented) expit(e) with
    e = c + a ln p - b ln(1 - p) + a rough curve of ln(p / (1 - p)): the map of beta
    calibration (Kull et al. 2017) between a floor and a cap, and what it gets wrong.

    Attributes
    ----------
    parameters : ndarray of shape (n_draws, n_parameters)
        Draws of standard normal variables; see the constants of this module.
    knots : ndarray of shape (n_knots,)
        Log-odds at which the rough curve is free.
    known_keys : ndarray of int
        The keys that have answers; others differ as the prior says.
    frequency : ndarray of shape (n_keys,)
        The frequency of events according to the model.
    n_answers : int
        How many answers the maps were learnt from.
    key_draws : ndarray of shape (n_draws, n_keys, 4)
        How the keys differ from their common map.
    """

    parameters: Array
    knots: Array
    known_keys: Array
    frequency: Array
    n_answers: int
    key_draws: Array

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.parameters)

    @property
    def n_keys(self) -> int:
        """Number of keys."""
        return len(self.frequency)

    def chance(self, probability: ArrayLike, key: ArrayLike | None = None) -> Array:
        """Return the chance of truth in each draw, of shape (n_draws, n).

        Parameters
        ----------
        probability : array-like of shape (n,)
            Probabilities of the model. Ask once for equal ones.
        key : array-like of int of shape (n,), default=None
            Their keys; the first by default.
        """
        p = np.asarray(probability, dtype=float)
        code = np.zeros(len(p), dtype=np.int64) if key is None else np.asarray(key)
        places = _places(p, code, self.knots, self.frequency)
        return _curve(self.parameters, self.key_draws, places)

    def summary(self, confidence_level: float = 0.95) -> dict[str, tuple[float, float, float]]:
        """Return mean, low and high end of what the maps say, all keys together.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        dict
            "slope" of the log-odds (below 1: the model is overconfident),
            "intercept" (its shift at even odds), "floor" and "cap": the chance
            of truth where the model is sure of no, and of yes.
        """
        tail = (1.0 - confidence_level) / 2.0
        even = self.parameters[:, :3] * (_INTERCEPT, _SLOPE, _SKEW)
        slope = np.exp(even[:, 1])
        middle = even[:, 0] - np.log(2.0) * slope * 2.0 * np.sinh(even[:, 2])
        ends = _curve(
            self.parameters,
            np.zeros((self.n_draws, 1, _N_KEY)),
            _places(
                np.array([0.0, 1.0]),
                np.zeros(2, dtype=np.int64),
                self.knots,
                np.array([self.frequency.mean()]),
            ),
        )
        drawn = {"slope": slope, "intercept": middle, "floor": ends[:, 0], "cap": ends[:, 1]}
        found = {}
        for name, values in drawn.items():
            low, high = np.quantile(values, [tail, 1.0 - tail]).tolist()
            found[name] = (float(values.mean()), low, high)
        return found


def draw_maps(
    probability: ArrayLike,
    answer: ArrayLike,
    *,
    key: ArrayLike | None = None,
    n_keys: int = 1,
    frequency: ArrayLike | None = None,
    n_draws: int = 1000,
    rng: np.random.Generator,
) -> ProbabilityMaps:
    """Draw maps from a model's probability to the chance of truth, given answers.

    Parameters
    ----------
    probability : array-like of shape (n_answers,)
        The model's probability of each document (and key) that was read.
    answer : array-like of shape (n_answers,)
        What was found: 0 or 1.
    key : array-like of int of shape (n_answers,), default=None
        The place of each answer's key among `n_keys`.
    n_keys : int, default=1
        How many keys there are. They share most of the map, and those without
        answers have only that.
    frequency : array-like of shape (n_keys,), default=None
        The mean of the model's probabilities over all documents, read or not.
        Missed events are thought of relative to it. By default .05.
    n_draws : int, default=1000
        How many maps.
    rng : Generator
        The source of randomness.

    Returns
    -------
    ProbabilityMaps
        The draws.
    """
    p = np.asarray(probability, dtype=float)
    y = np.asarray(answer, dtype=float)
    code = np.zeros(len(p), dtype=np.int64) if key is None else np.asarray(key, dtype=np.int64)
    rate = np.full(n_keys, _FREQUENCY) if frequency is None else np.array(frequency, dtype=float)
    p, yes, n, code = _grouped(p, y, code)
    knots = _knots(p, n)
    known, local = np.unique(code, return_inverse=True)
    keys = known if n_keys > 1 else known[:0]
    layout = _Layout(len(knots), len(keys))
    places = _places(p, local, knots, rate[known])

    def curve(z: Array) -> Array:
        return _curve(z, layout.differences(z), places)

    def log_likelihood(z: Array) -> Array:
        chance = curve(z)
        return np.log(chance) @ yes + np.log1p(-chance) @ (n - yes)

    def slopes(z: Array) -> tuple[Array, Array]:
        step = 1e-4
        chances = curve(np.vstack([z, z + step * np.eye(layout.n_parameters)]))
        chance, jacobian = chances[0], (chances[1:] - chances[0]) / step
        variance = chance * (1.0 - chance)
        return jacobian @ ((yes - n * chance) / variance), (jacobian * (n / variance)) @ jacobian.T

    z = draw_posterior(log_likelihood, slopes, layout.n_parameters, n_draws=n_draws, rng=rng)
    differences = np.zeros((n_draws, n_keys, _N_KEY))
    if n_keys > 1:
        spread = layout.spread(z)[:, np.newaxis]
        differences[:] = spread * rng.standard_normal(differences.shape)
        differences[:, keys] = layout.differences(z)
    return ProbabilityMaps(
        parameters=z[:, : layout.n_shared],
        knots=knots,
        known_keys=keys,
        frequency=rate,
        n_answers=int(n.sum()),
        key_draws=differences,
    )


@dataclass(frozen=True)
class _Layout:
    """Where the parameters are: those of the common map, the spreads of keys, the keys."""

    n_knots: int
    n_keys: int

    @property
    def n_shared(self) -> int:
        return 6 + self.n_knots

    @property
    def n_parameters(self) -> int:
        return self.n_shared + (_N_KEY * (1 + self.n_keys) if self.n_keys else 0)

    def spread(self, z: Array) -> Array:
        """Return how far keys differ, of shape (n, 4)."""
        return np.exp(_KEY_SPREAD + _KEY_DOUBT * z[:, self.n_shared : self.n_shared + _N_KEY])

    def differences(self, z: Array) -> Array:
        """Return how each key differs, of shape (n, n_keys, 4)."""
        if not self.n_keys:
            return np.zeros((len(z), 1, _N_KEY))
        own = z[:, self.n_shared + _N_KEY :].reshape(len(z), self.n_keys, _N_KEY)
        return own * self.spread(z)[:, np.newaxis]


def _grouped(p: Array, y: Array, code: Array) -> tuple[Array, Array, Array, Array]:
    """Return probabilities, sums of answers, numbers and keys of answers that are alike."""
    order = np.lexsort((y, p, code))
    y, code = y[order], code[order]
    x = special.logit(np.clip(p[order], _LEAST, 1.0 - _LEAST))
    cell = np.column_stack([code, np.rint(x / _ROUNDED).astype(np.int64)])
    cells, place = np.unique(cell, axis=0, return_inverse=True)
    place = place.ravel()
    n = np.bincount(place).astype(float)
    middle = special.expit(np.bincount(place, x) / n)
    return middle, np.bincount(place, y), n, cells[:, 0]


def _knots(p: Array, n: Array) -> Array:
    """Return log-odds that share out the answers, at least a little apart."""
    x = special.logit(p)
    order = np.argsort(x, kind="stable")
    share = (np.cumsum(n[order]) - 0.5 * n[order]) / n.sum()
    found = np.interp(np.linspace(0.02, 0.98, _N_KNOTS), share, x[order])
    kept = [float(found[0])]
    for value in found[1:].tolist():
        if value - kept[-1] > 0.05:
            kept.append(value)
    return np.array(kept)


def _places(p: Array, code: Array, knots: Array, rate: Array) -> _Places:
    inner = np.clip(p, _LEAST, 1.0 - _LEAST)
    x = special.logit(inner)
    hats = np.column_stack([np.interp(x, knots, unit) for unit in np.eye(len(knots))])
    covariance = np.exp(-np.abs(knots[:, np.newaxis] - knots) / _RANGE)
    basis = hats @ np.linalg.cholesky(covariance)
    odds = special.expm1(-np.log1p(-np.clip(rate, 1e-6, 0.5)))
    floor = np.log(np.minimum(_MISSED * odds, _MOST_MISSED))
    return _Places(np.log(inner), np.log1p(-inner), basis, code, floor)


def _curve(z: Array, differences: Array, places: _Places) -> Array:
    """Return the chances of shape (n, n_places) for parameters of shape (n, n_shared or more)."""
    intercept = _INTERCEPT * z[:, :1] + differences[..., 0]
    slope = _SLOPE * z[:, 1:2] + differences[..., 1]
    skew = _SKEW * z[:, 2:3]
    missed = places.prior_floor + _log_beta_prime(z[:, 3:4]) + differences[..., 2]
    invented = _INVENTED[0] + _INVENTED[1] * z[:, 4:5] + differences[..., 3]
    amplitude = np.exp(_AMPLITUDE[0] + _AMPLITUDE[1] * z[:, 5:6])
    rough = amplitude * z[:, 6 : 6 + places.basis.shape[1]]
    # One column for each key, and from there one for each place.
    by_key = (intercept, np.exp(slope + skew), np.exp(slope - skew), special.expit(missed))
    intercept, low, high, floor = (values[:, places.key] for values in by_key)
    most = ((1.0 - special.expit(missed)) * special.expit(-invented))[:, places.key]
    log_odds = intercept + low * places.log_yes - high * places.log_no + rough @ places.basis.T
    return np.clip(floor + most * special.expit(log_odds), 1e-12, 1.0 - 1e-12)


def _log_beta_prime(z: Array) -> Array:
    """Return the log of a beta prime variable of 1/2 and 1/2 as a function of a normal one."""
    tail = special.ndtr(-np.minimum(np.abs(z), 30.0))
    return -2.0 * np.sign(z) * np.log(np.tan(0.5 * np.pi * tail))
