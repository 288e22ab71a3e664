"""From fitted models and cross-validations to queries, for every display that draws queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from sklearn_calib._sklearn import safe_indexing
from sklearn_calib._validation import check_fold_results
from sklearn_calib.display._matplotlib import pyplot
from sklearn_calib.metrics import AdaptiveBinCalibrationError
from sklearn_calib.queries import Queries


def fold_queries(
    scorer: AdaptiveBinCalibrationError,
    cv_results: dict[str, Any],
    X: Any,
    y: Any,
    sample_weight: Any,
) -> list[Queries]:
    """Return the queries of each test fold of a cross-validation."""
    check_fold_results(cv_results, X)
    return [
        scorer.queries(
            estimator,
            safe_indexing(X, test),
            safe_indexing(y, test),
            sample_weight=None if sample_weight is None else safe_indexing(sample_weight, test),
        )
        for estimator, test in zip(
            cv_results["estimator"], cv_results["indices"]["test"], strict=True
        )
    ]


class ModelDisplay(ABC):
    """A display of queries, which any model can be asked for."""

    @classmethod
    @abstractmethod
    def from_queries(cls, queries: Queries, **options: Any) -> Self:
        """Draw queries; every display says how."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        average: str = "micro",
        unit: str = "tag",
        pairs: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the predictions of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            With `predict_proba` and `classes_`, or with `calibration_queries`.
        X, y : array-like
            Data to predict, and the truth.
        average : {"micro", "macro", "top_label"}, default="micro"
            As in `AdaptiveBinCalibrationError`; "macro" draws what "micro" does.
        unit : {"tag", "pair"}, default="tag"
            As in `AdaptiveBinCalibrationError`.
        pairs : int or list, default=None
            As in `AdaptiveBinCalibrationError`.
        pos_label : object, default=None
            As in `AdaptiveBinCalibrationError`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        name : str, default=None
            Name in the legend; by default that of the class.
        **options
            Keywords of `from_queries` and `plot`.

        Returns
        -------
        display
            The drawn display.
        """
        pyplot()
        scorer = AdaptiveBinCalibrationError(
            average=average, pos_label=pos_label, query_options=query_options
        )
        queries = scorer.queries(estimator, X, y, sample_weight=sample_weight)
        name = type(estimator).__name__ if name is None else name
        return cls.from_queries(queries, name=name, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict[str, Any],
        X: Any,
        y: Any,
        *,
        average: str = "micro",
        unit: str = "tag",
        pairs: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the predictions of a cross-validation, the test folds pooled.

        A calibration curve shows each fold as well, as a thin line.

        Parameters
        ----------
        cv_results : dict
            What `sklearn.model_selection.cross_validate` returned with
            `return_estimator=True` and `return_indices=True`.
        X, y : array-like
            The data that were passed to it.
        average : {"micro", "macro", "top_label"}, default="micro"
            As in `AdaptiveBinCalibrationError`.
        unit : {"tag", "pair"}, default="tag"
            As in `AdaptiveBinCalibrationError`.
        pairs : int or list, default=None
            As in `AdaptiveBinCalibrationError`.
        pos_label : object, default=None
            As in `AdaptiveBinCalibrationError`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        name : str, default=None
            Name in the legend; by default that of the class of the estimators.
        **options
            Keywords of `from_queries` and `plot`.

        Returns
        -------
        display
            The drawn display.
        """
        pyplot()
        scorer = AdaptiveBinCalibrationError(
            average=average, pos_label=pos_label, query_options=query_options
        )
        folds = fold_queries(scorer, cv_results, X, y, sample_weight)
        name = type(cv_results["estimator"][0]).__name__ if name is None else name
        return cls._from_folds(folds, name=name, **options)

    @classmethod
    def _from_folds(cls, folds: list[Queries], **options: Any) -> Self:
        return cls.from_queries(Queries.concat(folds), **options)
