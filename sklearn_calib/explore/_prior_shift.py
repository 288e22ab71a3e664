"""Frequencies that differ from those of training, estimated without any label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from sklearn_calib._validation import Array

_N_GRID = 2001
_MOST_ROUNDS = 10_000
# Nearer to 0 and 1 than this, a probability says the same.
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class PriorShift:
    """How frequent events are where a model is used, if only their frequency has changed.

    Attributes
    ----------
    frequency : float
        The maximum-likelihood estimate.
    low, high : float
        Ends of the profile-likelihood interval.
    training_frequency : float
        The frequency in training.
    grid, density : ndarray
        Frequencies, and the posterior probability of each under a flat prior.
    """

    frequency: float
    low: float
    high: float
    training_frequency: float
    grid: Array
    density: Array

    def adjusted(self, probability: ArrayLike, frequency: ArrayLike | None = None) -> Array:
        """Return probabilities at another frequency of events, by Bayes' theorem.

        Parameters
        ----------
        probability : array-like
            Probabilities of the model.
        frequency : array-like, default=None
            The frequency, of a shape that broadcasts; the estimate by default.
        """
        new = self.frequency if frequency is None else np.asarray(frequency, dtype=float)
        shift = special.logit(new) - special.logit(self.training_frequency)
        inner = np.clip(np.asarray(probability, dtype=float), _LEAST, 1.0 - _LEAST)
        return np.asarray(special.expit(special.logit(inner) + shift))

    def draw(self, n_draws: int, *, rng: np.random.Generator) -> Array:
        """Return draws of the frequency from its posterior."""
        return rng.choice(self.grid, size=n_draws, p=self.density)


def prior_shift(
    probability: ArrayLike,
    training_frequency: float,
    *,
    weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> PriorShift:
    """Estimate the frequency of events from a model's probabilities alone.

    This assumes that only the frequency differs between training and here:
    events look as they did, and so does everything else (label shift). Where the
    model is miscalibrated for another reason, the answer is wrong with
    confidence.

    Parameters
    ----------
    probability : array-like of shape (n,)
        The model's probability of each document.
    training_frequency : float
        The frequency of events where the model was trained, between 0 and 1.
    weight : array-like of shape (n,), default=None
        How many documents have each probability; 1 by default.
    confidence_level : float, default=0.95
        Level of the interval.

    Returns
    -------
    PriorShift
        The maximum of the likelihood that the expectation maximisation of
        Saerens, Latinne & Decaestecker (2002) climbs, and the interval and the
        posterior that follow from that likelihood, as in freq-e (Keith &
        O'Connor 2018).
    """
    p = np.asarray(probability, dtype=float)
    n = np.ones(len(p)) if weight is None else np.asarray(weight, dtype=float)
    base = float(training_frequency)
    yes, no = p / base, (1.0 - p) / (1.0 - base)
    best = float(class_frequencies(np.column_stack([1.0 - p, p]), [1.0 - base, base], weight=n)[1])

    def height(frequency: Array) -> Array:
        mixture = np.outer(frequency, yes) + np.outer(1.0 - frequency, no)
        return np.log(np.maximum(mixture, 1e-300)) @ n

    peak = float(height(np.array([best]))[0])
    drop = 0.5 * float(stats.chi2.ppf(confidence_level, 1))
    low, high = (_crossing(height, best, end, peak - drop) for end in (0.0, 1.0))
    # The grid reaches as far as the posterior does: 7.5 standard deviations.
    ends = [_crossing(height, best, end, peak - 28.0) for end in (0.0, 1.0)]
    step = (ends[1] - ends[0]) / _N_GRID
    grid = ends[0] + step * (np.arange(_N_GRID) + 0.5)
    heights = np.concatenate([height(part) for part in np.array_split(grid, 100)])
    return PriorShift(best, low, high, base, grid, special.softmax(heights))


def class_frequencies(
    proba: ArrayLike, training: ArrayLike, *, weight: ArrayLike | None = None
) -> Array:
    """Return the frequencies of classes that make a model's probabilities most likely.

    The expectation maximisation of Saerens, Latinne & Decaestecker (2002).

    Parameters
    ----------
    proba : array-like of shape (n, n_classes)
        Probabilities of the model.
    training : array-like of shape (n_classes,)
        Frequencies in training.
    weight : array-like of shape (n,), default=None
        How many documents have each row; 1 by default.

    Returns
    -------
    ndarray of shape (n_classes,)
        The frequencies, which sum to 1.
    """
    likelihood = np.asarray(proba, dtype=float) / np.asarray(training, dtype=float)
    n = np.ones(len(likelihood)) if weight is None else np.asarray(weight, dtype=float)
    n = n / n.sum()
    found = np.array(training, dtype=float)
    for _ in range(_MOST_ROUNDS):
        joint = likelihood * found
        before, found = found, n @ (joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300))
        if np.abs(found - before).max() < 1e-12:
            break
    return found / found.sum()


def _crossing(height: Callable[[Array], Array], best: float, end: float, level: float) -> float:
    """Return where a likelihood falls to a level between its maximum and an end."""
    inner, outer = best, end
    if float(height(np.array([end]))[0]) >= level:
        return end
    for _ in range(60):
        middle = 0.5 * (inner + outer)
        if float(height(np.array([middle]))[0]) >= level:
            inner = middle
        else:
            outer = middle
    return 0.5 * (inner + outer)
