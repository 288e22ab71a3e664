"""The door for documents and for what models say about their mentions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sklearn_calib._validation import Array, check_array_like, check_labels

__all__ = [
    "check_antecedent_proba",
    "check_entities",
    "check_link_proba",
    "check_lists",
    "check_sequence",
]


def _square(values: Any, name: str) -> Array:
    array = check_array_like(values, name)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(
            f"{name} must be square, a row and a column for each mention; got shape {array.shape}."
        )
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers, got dtype {array.dtype}.")
    return array


def _tolerance(array: Array) -> float:
    """Return how far a sum of probabilities may be off: rounding of its own precision."""
    return 1e-6 if array.dtype == np.float64 or array.dtype.kind in "iub" else 1e-3


def check_antecedent_proba(values: Any, name: str = "antecedent_proba") -> Array:
    """Return a lower triangular matrix of antecedent probabilities, as float64."""
    array = _square(values, name)
    tolerance = _tolerance(array)
    proba = np.asarray(array, dtype=np.float64)
    if len(proba) == 0:
        return proba
    sums = proba.sum(axis=1)
    bad = ~np.isfinite(sums)
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(f"{name}, mention {i}: its row contains NaN or infinity.")
    if proba.min() < 0.0:
        i, j = np.argwhere(proba < 0.0)[0].tolist()
        raise ValueError(
            f"{name}, mention {i}: the probability of antecedent {j} is {proba[i, j]:.3g}, below "
            "0. Turn scores into probabilities first (a softmax over each row)."
        )
    if np.triu(proba, 1).any():
        i, j = np.argwhere(np.triu(proba, 1))[0].tolist()
        raise ValueError(
            f"{name}, mention {i}: mention {j} comes later, and cannot be its antecedent (the "
            f"probability is {proba[i, j]:.3g}). Row i holds the mentions before i, and the "
            "probability of a new entity on the diagonal."
        )
    bad = np.abs(sums - 1.0) > tolerance
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(
            f"{name}, mention {i}: its probabilities sum to {sums[i]:.6g}, not 1 "
            f"({np.count_nonzero(bad)} of {len(bad)} mentions). The probability of a new entity "
            "belongs on the diagonal."
        )
    return proba


def check_link_proba(values: Any, name: str = "link_proba") -> Array:
    """Return a symmetric matrix of link probabilities, as float64."""
    array = _square(values, name)
    proba = np.asarray(array, dtype=np.float64)
    if len(proba) == 0:
        return proba
    low, high = float(proba.min()), float(proba.max())
    slack = _tolerance(array)
    if not (low >= 0.0 and high <= 1.0):
        bad = ~((proba >= -slack) & (proba <= 1.0 + slack))
        if bad.any():
            i, j = np.argwhere(bad)[0].tolist()
            raise ValueError(f"{name}, mentions {i} and {j}: {proba[i, j]} is not a probability.")
        proba = np.clip(proba, 0.0, 1.0)  # rounding only
    if not np.allclose(proba, proba.T, rtol=0.0, atol=slack):
        i, j = np.argwhere(np.abs(proba - proba.T) > slack)[0].tolist()
        raise ValueError(
            f"{name}, mentions {i} and {j}: the link has probability {proba[i, j]:.6g} one way and "
            f"{proba[j, i]:.6g} the other. Pass link probabilities, not those of antecedents; "
            "link_probabilities makes them."
        )
    return proba


def check_entities(values: Any, n: int | None, name: str) -> Array:
    """Return entities as numbers from 0, one for each of n mentions.

    None stands for any number of mentions.
    """
    try:
        found = np.asarray(check_sequence(values, name, "entities"))
    except ValueError:
        raise ValueError(f"{name} is ragged: it must have one entity for each mention.") from None
    if found.ndim != 1 or (n is not None and len(found) != n):
        of = "each mention" if n is None else f"each of the {n} mentions"
        raise ValueError(f"{name} must have one entity for {of}; got shape {found.shape}.")
    if len(found) == 0:
        return np.empty(0, dtype=np.intp)
    return np.unique(check_labels(found, name), return_inverse=True)[1]


def check_sequence(values: Any, name: str, what: str = "values") -> Any:
    """Return an array or a list, refusing what is neither a sequence nor an iterable."""
    if hasattr(values, "__array__") and np.ndim(values):
        return np.asarray(values)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of {what}, got {type(values).__name__}.")
    return list(values)


def check_lists(what: str, **lists: Any) -> list[list[Any]]:
    """Return lists with one entry for each document, refusing lists of unequal length."""
    out = []
    for name, values in lists.items():
        if values is None or isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise TypeError(
                f"{name} must be a list with one entry for each document, got "
                f"{type(values).__name__}."
            )
        out.append(list(values))
    sizes = {name: len(values) for name, values in lists.items()}
    if len(set(sizes.values())) > 1:
        listing = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ValueError(f"{what} must have one entry for each document, but {listing}.")
    return out
