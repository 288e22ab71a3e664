"""Recalibration of coreference: two numbers that mend the links of a trained model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from sklearn_calib._validation import Array
from sklearn_calib.coref._clusters import links
from sklearn_calib.coref._model_input import true_entities
from sklearn_calib.coref._ranker import MentionRanker
from sklearn_calib.recalibration._held_out import HeldOut

__all__ = ["AdjustedRanker", "AntecedentNumbers", "adjusted", "fit_antecedents"]

# Where the logarithm of the temperature and the shift may lie. Without bounds both run away
# where links are all alike, for example where no two mentions share an entity.
_BOUNDS = ((np.log(0.1), np.log(10.0)), (-5.0, 5.0))


class AntecedentNumbers(NamedTuple):
    """What is done to the scores of antecedents."""

    temperature: float  # scores are divided by it
    new_shift: float  # is added to the score of a new entity


def adjusted(proba: Array, numbers: AntecedentNumbers) -> Array:
    """Return antecedent probabilities at a temperature, with a shift of new entities."""
    temperature, new_shift = numbers
    n = len(proba)
    if n == 0 or (temperature == 1.0 and new_shift == 0.0):
        return proba
    with np.errstate(divide="ignore"):
        scores = np.log(proba)
    scores /= temperature
    scores[np.arange(n), np.arange(n)] += new_shift
    scores -= scores.max(axis=1, keepdims=True)
    odds = np.exp(scores, out=scores)
    odds /= odds.sum(axis=1, keepdims=True)
    return odds


class AdjustedRanker(MentionRanker):
    """A fitted mention ranker with its scores adjusted: one distribution, like the ranker itself.

    Parameters
    ----------
    ranker : fitted MentionRanker
        The model.
    numbers : AntecedentNumbers
        Temperature and shift.
    """

    def __init__(self, ranker: MentionRanker, numbers: AntecedentNumbers) -> None:
        self.ranker = ranker
        self.numbers = numbers

    def _check(self, X: Sequence[Any]) -> list[Any]:
        return self.ranker._check(X)

    def _antecedents(self, documents: list[Any]) -> Iterator[Array]:
        return (adjusted(proba, self.numbers) for proba in self.ranker._antecedents(documents))


def fit_antecedents(held_out: Sequence[HeldOut]) -> AntecedentNumbers:
    """Return the temperature and the shift of least Brier score over held-out links.

    Likelihood would not do: it is about the choice of each mention, and a model
    can be right about these and wrong about the links that they chain together.
    """
    parts: list[tuple[Array, Array, float]] = []
    for part in held_out:
        documents = part.model._check(part.X)
        truths = true_entities(documents, part.y)
        weight = np.ones(len(documents)) if part.weight is None else part.weight
        found = part.model._antecedents(documents)
        parts += zip(found, truths, weight.tolist(), strict=True)
    total = sum(w * len(proba) ** 2 for proba, _, w in parts)

    def brier(numbers: Array) -> float:
        square = 0.0
        chosen = AntecedentNumbers(float(np.exp(numbers[0])), float(numbers[1]))
        for proba, entity, w in parts:
            gap = links(adjusted(proba, chosen))
            gap -= entity[:, None] == entity
            square += w * float(np.vdot(gap, gap))
        return square / total

    result = minimize(
        brier,
        np.zeros(2),
        method="Nelder-Mead",
        bounds=_BOUNDS,
        options={
            "initial_simplex": [[0.0, 0.0], [-0.2, 0.0], [0.0, 0.2]],
            "xatol": 0.01,
            "fatol": 1e-3 * brier(np.zeros(2)),
            "maxfev": 60,
        },
    )
    return AntecedentNumbers(float(np.exp(result.x[0])), float(result.x[1]))
