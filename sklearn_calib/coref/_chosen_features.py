"""The features that a model was told to use: by name, by a callable, or several together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._extended_features import extended_features
from sklearn_calib.coref._surface_features import MentionFeatures, surface_features

__all__ = ["Features", "features_of"]

# Categories are counted from 0, and one that is much larger is a mistake.
_LARGEST = 1_000_000

NAMED = {"surface": surface_features, "extended": extended_features}


# One kind of features, by name or as a function, or several.
Kind = str | Callable[[Document], MentionFeatures]
Features = Kind | list[Kind] | tuple[Kind, ...]


def features_of(document: Document, features: Features) -> MentionFeatures:
    """Return the features of a document, joined if several kinds are asked for."""
    kinds = features if isinstance(features, (list, tuple)) else [features]
    if not kinds:
        raise ValueError("features is empty; name at least one kind of features.")
    parts = [_features_of_one(document, kind) for kind in kinds]
    if len(parts) == 1:
        return parts[0]
    joined: dict[str, dict[str, Any]] = {"mention": {}, "backoff": {}, "pair": {}}
    for part in parts:
        for kind, values in joined.items():
            values.update(getattr(part, kind))
    return MentionFeatures(parts[0].types, **joined)


def _features_of_one(document: Document, kind: Kind) -> MentionFeatures:
    if isinstance(kind, str):
        if kind not in NAMED:
            raise ValueError(
                f"features={kind!r} is not known; it should be one of "
                f"{', '.join(map(repr, NAMED))}, a callable that takes a Document and returns "
                "MentionFeatures, or a list of these."
            )
        return NAMED[kind](document)
    if not callable(kind):
        raise TypeError(f"features must be a name, a callable or a list of these; got {kind!r}.")
    found = kind(document)
    if not isinstance(found, MentionFeatures):
        raise TypeError(
            f"Document {document.id!r}: features must return MentionFeatures; got "
            f"{type(found).__name__}."
        )
    return _checked(found, document)


def _checked(found: MentionFeatures, document: Document) -> MentionFeatures:
    """Refuse features of the wrong kind or length, naming the document and the feature."""
    where = f"Document {document.id!r}:"
    for kind in ("mention", "backoff", "pair"):
        if not isinstance(getattr(found, kind), Mapping):
            raise TypeError(
                f"{where} {kind} of MentionFeatures must map names to values; got "
                f"{getattr(found, kind)!r}."
            )
    n = len(document)
    return MentionFeatures(
        _column(found.types, n, f"{where} feature 'types'", missing=False),
        {name: _column(v, n, f"{where} feature {name!r}") for name, v in found.mention.items()},
        {name: _column(v, n, f"{where} backoff {name!r}") for name, v in found.backoff.items()},
        {name: _pairs(v, n, f"{where} pair feature {name!r}") for name, v in found.pair.items()},
    )


def _column(values: Any, n: int, name: str, *, missing: bool = True) -> Array:
    """Return one str for each mention, or None where that is allowed."""
    column = np.asarray(values, dtype=object)
    if column.shape != (n,):
        raise ValueError(
            f"{name} must have one entry for each of the {n} mentions; got shape {column.shape}."
        )
    for i, value in enumerate(column):
        if not (isinstance(value, str) or (missing and value is None)):
            wanted = "strings, or None where it does not fire" if missing else "strings"
            raise TypeError(f"{name} must hold {wanted}; mention {i} has {value!r}.")
    return column


def _pairs(values: Any, n: int, name: str) -> Array:
    """Return one category for each pair of mentions."""
    try:
        pairs = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} is ragged; it must have shape {(n, n)}.") from None
    if pairs.shape != (n, n) or pairs.dtype.kind not in "iub":
        raise ValueError(
            f"{name} must hold integers or bools in shape {(n, n)}; got dtype {pairs.dtype} and "
            f"shape {pairs.shape}."
        )
    for category in (pairs.min(), pairs.max()) if n else ():
        if not 0 <= category <= _LARGEST:
            raise ValueError(
                f"{name} has the category {category}; categories are numbers from 0, at most "
                f"{_LARGEST:,}, and each has weights of its own."
            )
    return pairs
