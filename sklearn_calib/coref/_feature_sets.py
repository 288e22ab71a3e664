"""Which features a model uses: by name, by a callable, or several together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sklearn_calib.coref._document import Document
from sklearn_calib.coref._extended import extended_features
from sklearn_calib.coref._features import MentionFeatures, surface_features

__all__ = ["features_of"]

NAMED = {"surface": surface_features, "extended": extended_features}


def features_of(
    document: Document, features: str | Callable[[Document], MentionFeatures] | Sequence[Any]
) -> MentionFeatures:
    """Return the features of a document, joined if several kinds are asked for."""
    parts = [
        _features_of_one(document, kind)
        for kind in (features if isinstance(features, (list, tuple)) else [features])
    ]
    if len(parts) == 1:
        return parts[0]
    joined: dict[str, dict[str, Any]] = {"mention": {}, "backoff": {}, "pair": {}}
    for part in parts:
        for kind, values in joined.items():
            values.update(getattr(part, kind))
    return MentionFeatures(parts[0].types, **joined)


def _features_of_one(document: Document, kind: Any) -> MentionFeatures:
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
    """Refuse features of the wrong length, naming the document and the feature."""
    n = len(document)
    types = np.asarray(found.types, dtype=object)
    columns = {"types": types, **found.mention, **found.backoff}
    for name, values in columns.items():
        if len(values) != n:
            raise ValueError(
                f"Document {document.id!r}: feature {name!r} must have one entry for each of the "
                f"{n} mentions; it has {len(values)}."
            )
    pair = {name: np.asarray(values) for name, values in found.pair.items()}
    for name, values in pair.items():
        if values.shape != (n, n) or values.dtype.kind not in "iub":
            raise ValueError(
                f"Document {document.id!r}: pair feature {name!r} must hold integers or bools in "
                f"shape {(n, n)}; got dtype {values.dtype} and shape {values.shape}."
            )
        if n and values.min() < 0:
            raise ValueError(
                f"Document {document.id!r}: pair feature {name!r} has the category "
                f"{values.min()}; categories are numbers from 0."
            )
    mention = {name: np.asarray(v, dtype=object) for name, v in found.mention.items()}
    backoff = {name: np.asarray(v, dtype=object) for name, v in found.backoff.items()}
    return MentionFeatures(types, mention, backoff, pair)
