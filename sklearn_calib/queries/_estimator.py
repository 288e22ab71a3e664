"""The door from fitted models: whatever a model is, it becomes queries here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from sklearn_calib._sklearn import safe_indexing
from sklearn_calib._validation import Array, check_array_like, check_fold_results
from sklearn_calib.queries._classifier import classifier_queries
from sklearn_calib.queries._queries import Queries

__all__ = ["estimator_queries", "fold_queries"]

# scikit-learn's own way to call a method, which remembers what was predicted:
# caller(estimator, method, X, pos_label=None).
Caller = Callable[..., Any]


def estimator_queries(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: ArrayLike | None = None,
    **query_options: Any,
) -> Queries:
    """Ask a fitted model its yes/no questions, and answer them by the truth.

    Every scorer, display and report gets its queries here. A classifier is
    asked about its classes. An estimator with a method `calibration_queries`
    makes queries of its own: a tagger about tags, a coreference model about
    links. Such a model is also found inside a pipeline or a search.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator with `calibration_queries`, or with `predict_proba`
        and `classes_`.
    X, y : array-like or list
        Data to predict, and the truth.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    **query_options
        What the model may be asked: `average` and `pos_label` for a
        classifier, `unit` and `pairs` for a tagger, `min_proba` for a
        coreference model, or whatever else `calibration_queries` takes.

    Returns
    -------
    Queries
        What the model was asked, what it said, and the answers.

    See Also
    --------
    classifier_queries : The same from the output of `predict_proba`.
    AdaptiveBinCalibrationError : Passes its `query_options` on to here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_calib import estimator_queries
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> estimator_queries(model, X, y)
    <Queries: 450 queries, 150 of them true, 3 labels, 150 groups>
    >>> estimator_queries(model, X, y, average="top_label")
    <Queries: 150 queries, 146 of them true, 3 labels>
    """
    return ask_estimator(estimator, X, y, sample_weight, query_options)


def ask_estimator(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    options: Mapping[str, Any],
    caller: Caller | None = None,
) -> Queries:
    """Return the queries of an estimator; `caller` shares predictions with other scorers."""
    estimator, X = _unwrap(estimator, X)
    if hasattr(estimator, "calibration_queries"):
        check_query_options(estimator, options)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        check_query_options(estimator, weights)
        return estimator.calibration_queries(X, y, **options, **weights)
    for name in options:
        if name not in ("average", "pos_label"):
            raise TypeError(
                f"{name}={options[name]!r} does not apply to {type(estimator).__name__}, which has "
                "no calibration_queries method: the options of a classifier are average and "
                "pos_label."
            )
    classes = _classes_of(estimator)
    if isinstance(classes, list) and np.ndim(classes[0]) > 0:
        proba = _multilabel_probabilities(estimator, X, classes)
        classes = np.arange(proba.shape[1])
    elif caller is None or len(classes) < 2 or "pos_label" in options:
        proba = estimator.predict_proba(X)
    else:
        proba = _shared_probabilities(caller, estimator, X)
    return classifier_queries(y, proba, classes=classes, sample_weight=sample_weight, **options)


def join_options(
    query_options: Mapping[str, Any] | None, average: str, pos_label: object
) -> dict[str, Any]:
    """Return what a model is asked: options of its own, and those of a classifier that are set.

    Only what was asked for is passed on, so that a model need not know of options that make no
    sense for it. "macro" asks what "micro" asks.
    """
    if not isinstance(query_options, Mapping | None):
        raise TypeError(
            f"query_options must be a dict, such as {{'unit': 'pair'}}; got {query_options!r}."
        )
    options = dict(query_options or {})
    if pos_label is not None:
        options["pos_label"] = pos_label
    if average not in ("micro", "macro"):
        options["average"] = average
    return options


def check_query_options(model: Any, options: Mapping[str, Any], beside: Iterable[str] = ()) -> None:
    """Refuse options that the method `calibration_queries` of a model does not have.

    `beside` names further keywords of the call, one of which may have been meant.
    """
    taken = signature(model.calibration_queries).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken.values()):
        return
    known = [name for name in taken if name not in ("X", "y")]
    for name, value in options.items():
        if name not in known:
            near = get_close_matches(name, [*known, *beside], n=1)
            raise TypeError(
                f"{name}={value!r} does not apply to {type(model).__name__}: the options of its "
                f"calibration_queries are {', '.join(known) or 'none'}."
                + (f" Did you mean {near[0]}?" if near else "")
            )


def _unwrap(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the model inside a search or a pipeline, where that model makes its own queries."""
    best = getattr(estimator, "best_estimator_", None)
    if hasattr(best, "calibration_queries"):
        return _unwrap(best, X)
    steps = getattr(estimator, "steps", None)
    if steps and hasattr(steps[-1][1], "calibration_queries"):
        return _unwrap(steps[-1][1], estimator[:-1].transform(X) if len(steps) > 1 else X)
    return estimator, X


def _classes_of(estimator: Any) -> Any:
    """Return the classes of a fitted classifier, or say what is missing."""
    name = type(estimator).__name__
    if isinstance(estimator, type):
        raise TypeError(f"estimator is the class {estimator.__name__}; pass a fitted object of it.")
    if not hasattr(estimator, "predict_proba") or not hasattr(estimator, "classes_"):
        if hasattr(estimator, "fit"):
            check_is_fitted(estimator)
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"{name} has no predict_proba method, and calibration is about probabilities. Wrap "
                "it in sklearn.calibration.CalibratedClassifierCV, or choose a model that predicts "
                "them."
            )
        raise TypeError(
            f"{name} has no classes_ attribute, so that the columns of its predict_proba have no "
            "names. Is it a fitted classifier?"
        )
    return estimator.classes_


def _shared_probabilities(caller: Caller, estimator: Any, X: Any) -> Any:
    """Return the matrix of probabilities from the cache that scikit-learn's scorers share."""
    if not is_classifier(estimator):
        return estimator.predict_proba(X)
    proba = check_array_like(caller(estimator, "predict_proba", X, pos_label=None), "predict_proba")
    # For two classes scikit-learn keeps only the column of the last one.
    return np.column_stack([1.0 - proba, proba]) if proba.ndim == 1 else proba


def _multilabel_probabilities(estimator: Any, X: Any, classes: list[Array]) -> Array:
    proba = estimator.predict_proba(X)
    if not isinstance(proba, list):
        return np.asarray(proba)
    # A list with one matrix per output; a label that was never positive has one column.
    return np.column_stack(
        [
            p[:, -1] if len(c) > 1 else np.full(len(p), float(np.asarray(c)[0]))
            for p, c in zip(proba, classes, strict=True)
        ]
    )


def fold_queries(
    cv_results: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    sample_weight: ArrayLike | None = None,
    **query_options: Any,
) -> list[Queries]:
    """Return the queries of each test fold of a cross-validation.

    Parameters
    ----------
    cv_results : dict
        What `sklearn.model_selection.cross_validate` returned with
        `return_estimator=True` and `return_indices=True`.
    X, y : array-like or list
        The data that were passed to it.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    **query_options
        As in `estimator_queries`.

    Returns
    -------
    list of Queries
        One for each fold; `Queries.concat` pools them.

    See Also
    --------
    estimator_queries : The queries of one fitted model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_calib.queries import fold_queries
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> folds = cross_validate(GaussianNB(), X, y, return_estimator=True, return_indices=True)
    >>> [len(queries) for queries in fold_queries(folds, X, y)]
    [114, 114, 114, 114, 113]
    """
    check_fold_results(cv_results, X)
    return [
        ask_estimator(
            estimator,
            safe_indexing(X, test),
            safe_indexing(y, test),
            None if sample_weight is None else safe_indexing(sample_weight, test),
            query_options,
        )
        for estimator, test in zip(
            cv_results["estimator"], cv_results["indices"]["test"], strict=True
        )
    ]
