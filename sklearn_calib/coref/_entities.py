"""Whole entities with their probabilities, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_array_like, check_number
from sklearn_calib._validation_documents import check_antecedent_proba

__all__ = ["Entity", "entity_probability", "likely_entities"]


class Entity(NamedTuple):
    """A set of mentions, and the probability that exactly these form an entity.

    Attributes
    ----------
    mentions : tuple of int
        The mentions, in the order of the document.
    proba : float
        The probability that they share an entity, and that no other mention
        belongs to it.

    See Also
    --------
    AntecedentModel : Its method `predict_entities` returns them.

    Examples
    --------
    >>> from sklearn_calib.coref import Entity
    >>> Entity(mentions=(0, 2), proba=0.75).mentions
    (0, 2)
    """

    mentions: tuple[int, ...]
    proba: float


def entity_probability(antecedent_proba: ArrayLike, mentions: Iterable[int]) -> float:
    """Probability that some mentions, and no others, form an entity, exactly.

    Parameters
    ----------
    antecedent_proba : array-like of shape (n_mentions, n_mentions)
        As in `link_probabilities`.
    mentions : iterable of int
        The mentions of the entity, in any order.

    Returns
    -------
    float
        The probability.

    See Also
    --------
    link_probabilities : Probabilities of pairs.
    AntecedentModel : Its method `predict_entities` finds all probable entities.

    Notes
    -----
    The first of the mentions starts a new entity, each later one has its
    antecedent among them, and no other mention after the first has. Choices are
    independent, so that the probability is the product over these conditions.

    Examples
    --------
    >>> from sklearn_calib.coref import entity_probability
    >>> P = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]
    >>> entity_probability(P, [0, 1])
    0.25
    >>> entity_probability(P, [0])
    0.4
    """
    proba = check_antecedent_proba(antecedent_proba)
    chosen = _check_mentions(mentions, len(proba))
    first = int(chosen[0])
    member = np.zeros(len(proba), dtype=bool)
    member[chosen] = True
    into = proba[first + 1 :] @ np.where(member, 1.0, 0.0)
    # On the diagonal is the probability of a new entity, which is no antecedent.
    own = np.arange(first + 1, len(proba))
    into -= np.where(member[own], proba[own, own], 0.0)
    into = np.clip(into, 0.0, 1.0)  # rounding only
    factors = np.where(member[own], into, 1.0 - into)
    return float(proba[first, first] * factors.prod())


def _check_mentions(mentions: Iterable[int], n: int) -> Array:
    """Return the mentions in order, refusing what is none or comes twice."""
    given = check_array_like(list(mentions), "mentions")
    if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iu":
        raise ValueError(f"mentions must be the numbers of one mention or more, got {mentions!r}.")
    chosen = np.unique(given)
    if chosen[0] < 0 or chosen[-1] >= n:
        wrong = chosen[0] if chosen[0] < 0 else chosen[-1]
        raise ValueError(f"mentions has {wrong}, but the {n} mentions are numbered from 0.")
    if len(chosen) < len(given):
        raise ValueError(f"mentions names a mention twice: {given.tolist()}.")
    return chosen


def check_min_proba(min_proba: float) -> float:
    """Return the least probability of an entity, which bounds how many there are."""
    least = check_number(min_proba, "min_proba", positive=True)
    if least > 1.0:
        raise ValueError(f"min_proba must lie in (0, 1], got {min_proba!r}.")
    return least


def likely_entities(proba: Array, min_proba: float) -> list[Entity]:
    """Return all entities of at least some probability, most probable first.

    A partial entity is extended mention by mention: each later mention joins it
    or stays out. Its probability never grows, so that it is given up once it is
    too small. The partial entities of one first mention exclude each other, so
    that there are never more than 1 / min_proba of them.
    """
    into = np.ascontiguousarray(proba.T)  # a row for each antecedent
    found = []
    for first, start in enumerate(np.diag(proba).tolist()):
        if start < min_proba:
            continue
        open_: list[tuple[tuple[int, ...], float, Array]] = [((first,), start, into[first])]
        while open_:
            members, p, joins = open_.pop()
            at = members[-1] + 1
            while True:
                # Where some extension may be probable enough; up to there all stay out.
                ahead = joins[at:]
                branch = np.flatnonzero(p * ahead >= min_proba)
                stop = int(branch[0]) if len(branch) else len(ahead)
                p *= float(np.prod(np.maximum(1.0 - ahead[:stop], 0.0)))
                if p < min_proba:
                    break
                if not len(branch):
                    found.append(Entity(members, p))
                    break
                j = at + stop
                join = min(float(joins[j]), 1.0)
                if p * join >= min_proba:
                    open_.append(((*members, j), p * join, joins + into[j]))
                p *= 1.0 - join
                if p < min_proba:
                    break
                at = j + 1
    return sorted(found, key=lambda entity: (-entity.proba, entity.mentions))
