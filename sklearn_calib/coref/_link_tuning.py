"""Two numbers that make the links of a trained model calibrated."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from sklearn_calib._validation import Array
from sklearn_calib.coref._clusters import links
from sklearn_calib.coref._document import Document

__all__ = ["adjusted", "tune_links"]

# Where the logarithm of the temperature and the shift may lie. Without bounds both run away
# where links are all alike, for example where no two mentions share an entity.
_BOUNDS = ((np.log(0.1), np.log(10.0)), (-5.0, 5.0))


def adjusted(proba: Array, temperature: float, new_shift: float) -> Array:
    """Return antecedent probabilities at a temperature, with a shift of new entities."""
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


def tune_links(
    model: Any, documents: list[Document], entities: list[Array], weight: Array | None, folds: int
) -> tuple[float, float]:
    """Return the temperature and the shift of least Brier score over held-out links.

    Every so many-th document is held out, so that the folds are alike where
    similar documents stand together.
    """
    kept = [i for i, document in enumerate(documents) if len(document)]
    documents, entities = [documents[i] for i in kept], [entities[i] for i in kept]
    weight = None if weight is None else weight[kept]
    if folds > len(documents):
        raise ValueError(
            f"link_cv={folds} needs as many documents with mentions, but there are "
            f"{len(documents)}."
        )
    number = np.arange(len(documents)) % folds
    held_out = [np.empty((0, 0))] * len(documents)
    for fold in range(folds):
        train, test = np.flatnonzero(number != fold), np.flatnonzero(number == fold)
        fitted = model.fit(
            [documents[i] for i in train],
            [entities[i] for i in train],
            sample_weight=None if weight is None else weight[train],
        )
        found = fitted.predict_antecedent_proba([documents[i] for i in test])
        for i, proba in zip(test, found, strict=True):
            held_out[i] = proba
    of = np.ones(len(documents)) if weight is None else weight
    total = float(sum(w * len(proba) ** 2 for w, proba in zip(of, held_out, strict=True)))

    def brier(numbers: Array) -> float:
        square = 0.0
        for proba, entity, w in zip(held_out, entities, of, strict=True):
            gap = links(adjusted(proba, float(np.exp(numbers[0])), float(numbers[1])))
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
    return float(np.exp(result.x[0])), float(result.x[1])
