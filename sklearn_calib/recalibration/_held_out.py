"""What models say about samples that they were not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from sklearn_calib._sklearn import safe_indexing
from sklearn_calib._validation import Array, check_integer
from sklearn_calib.coref._ranker import MentionRanker

__all__ = ["HeldOut", "held_out_models", "model_inside"]

_FOLDS = 5
_DOCUMENT_FOLDS = 2


class HeldOut(NamedTuple):
    """A fitted model, and samples that it has not seen."""

    model: Any
    X: Sequence[Any]
    y: Sequence[Any]
    weight: Array | None


def model_inside(estimator: Any) -> Any:
    """Return the model itself: what a search has found, or what is frozen."""
    if isinstance(estimator, FrozenEstimator):
        return model_inside(estimator.estimator)
    best = getattr(estimator, "best_estimator_", None)
    return estimator if best is None else model_inside(best)


def held_out_models(
    estimator: Any,
    X: Sequence[Any],
    y: Sequence[Any],
    *,
    cv: Any,
    groups: ArrayLike | None,
    weight: Array | None,
    fit_options: dict[str, Any],
    n_jobs: int | None,
) -> list[HeldOut]:
    """Train on all folds but one, for each fold; a frozen model has seen none of the samples."""
    if isinstance(estimator, FrozenEstimator):
        return [HeldOut(model_inside(estimator), X, y, weight)]
    folds = _folds(estimator, X, cv, groups)
    return Parallel(n_jobs=n_jobs)(
        delayed(_fit_fold)(clone(estimator), X, y, weight, train, test, fit_options)
        for train, test in folds
    )


def _folds(
    estimator: Any, X: Sequence[Any], cv: Any, groups: ArrayLike | None
) -> list[tuple[Array, Array]]:
    # A search has the model that it tries under this name.
    model = getattr(estimator, "estimator", estimator)
    if isinstance(model, MentionRanker) and (cv is None or isinstance(cv, Integral)):
        return _alternating(X, _DOCUMENT_FOLDS if cv is None else int(cv))
    # One entry per sample; what stands in a sample is no class to stratify by.
    splitter = check_cv(_FOLDS if cv is None else cv)
    folds = splitter.split(np.zeros((len(X), 1)), None, groups)
    # Folds of one's own may be lists or ranges.
    return [(np.asarray(train), np.asarray(test)) for train, test in folds]


def _alternating(X: Sequence[Any], n_folds: int) -> list[tuple[Array, Array]]:
    """Hold out every so many-th document with mentions.

    Corpora list similar documents together, and so every fold has some of each kind.
    """
    n_folds = check_integer(n_folds, "cv", low=2)
    kept = np.array([i for i, document in enumerate(X) if len(document)], dtype=np.intp)
    if n_folds > len(kept):
        raise ValueError(
            f"cv={n_folds} needs as many documents with mentions, but there are {len(kept)}."
        )
    number = np.arange(len(kept)) % n_folds
    return [(kept[number != fold], kept[number == fold]) for fold in range(n_folds)]


def _fit_fold(
    estimator: Any,
    X: Sequence[Any],
    y: Sequence[Any],
    weight: Array | None,
    train: Array,
    test: Array,
    fit_options: dict[str, Any],
) -> HeldOut:
    own = {name: safe_indexing(values, train) for name, values in fit_options.items()}
    estimator.fit(safe_indexing(X, train), safe_indexing(y, train), **own)
    return HeldOut(
        model_inside(estimator),
        safe_indexing(X, test),
        safe_indexing(y, test),
        None if weight is None else weight[test],
    )
