"""Displays of queries: from arrays, fitted models and cross-validations to one picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from sklearn_calib.display._axes import pyplot
from sklearn_calib.display._keywords import known_keywords
from sklearn_calib.queries._as_queries import Groups, queries_or_scan
from sklearn_calib.queries._estimator import estimator_queries, fold_queries, join_options
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


class QueryDisplay(ABC):
    """A display of queries.

    Whatever the data are, they become queries at one of the two doors
    (`as_queries`, `estimator_queries`), and `from_queries` draws them.
    """

    @classmethod
    @abstractmethod
    def from_queries(cls, queries: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute what is drawn from queries, and draw it."""

    @abstractmethod
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw what is stored."""

    @abstractmethod
    def to_frame(self) -> DataFrame:
        """Return the numbers of the picture as a pandas DataFrame."""

    @abstractmethod
    def _summary(self) -> str:
        """Say in a few words what is drawn."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"

    @classmethod
    def _ask(cls, models: Any, ask: Callable[[Any], Any]) -> Any:
        """Return the queries of a model; a display of several models asks each of them."""
        return ask(models)

    @classmethod
    @known_keywords("from_queries", "plot")
    def from_predictions(
        cls,
        y_true: ArrayLike | Queries,
        y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        classes: ArrayLike | None = None,
        average: str = "micro",
        groups: Groups = None,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        **options: Any,
    ) -> Self:
        """Draw given predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,), Queries or QueryScan
            True labels, or queries in place of both arrays.
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Predicted probabilities: of the positive class, or of every class.
            `LabelCalibrationDisplay` also takes a dict of several models'
            probabilities by name.
        classes : array-like of shape (n_classes,), default=None
            The class of each column of a 2-D `y_prob`; by default the sorted
            labels of `y_true`.
        average : {"micro", "macro", "top_label"}, default="micro"
            "micro" and "macro" draw the queries about every class;
            "top_label" asks only whether the predicted class is right.
        groups : array-like of shape (n_samples,), False or None, default=None
            Queries of one group may depend on each other, as in
            `calibration_error_interval`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        pos_label : object, default=None
            The label whose probability `y_prob` gives.
        **options
            Keywords of `from_queries` and `plot`.

        Returns
        -------
        display
            The drawn display.
        """
        pyplot()

        def ask(proba: ArrayLike | None) -> Queries | QueryScan:
            return queries_or_scan(
                y_true, proba, classes=classes, average=average, groups=groups,
                sample_weight=sample_weight, pos_label=pos_label,
            )  # fmt: skip

        return cls.from_queries(cls._ask(y_prob, ask), **options)

    @classmethod
    @known_keywords("from_queries", "plot")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        average: str = "micro",
        pos_label: object = None,
        query_options: Mapping[str, Any] | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the predictions of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            With `predict_proba` and `classes_`, or with `calibration_queries`.
            `LabelCalibrationDisplay` also takes a dict of several estimators
            by name.
        X, y : array-like or list
            Data to predict, and the truth.
        average : {"micro", "macro", "top_label"}, default="micro"
            "micro" and "macro" draw the queries about every class;
            "top_label" asks only whether the predicted class is right.
        pos_label : object, default=None
            With two classes, the positive one; by default the last of
            `classes_`.
        query_options : dict, default=None
            What a model with questions of its own is asked, such as
            `{"unit": "pair", "pairs": 100}` for a tagger, as in
            `AdaptiveBinCalibrationError`.
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
        asked = join_options(query_options, average, pos_label)

        def ask(model: Any) -> Queries:
            return estimator_queries(model, X, y, sample_weight=sample_weight, **asked)

        if name is None and not isinstance(estimator, Mapping):
            name = type(estimator).__name__
        return cls.from_queries(cls._ask(estimator, ask), name=name, **options)

    @classmethod
    @known_keywords("from_queries", "plot")
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        average: str = "micro",
        pos_label: object = None,
        query_options: Mapping[str, Any] | None = None,
        sample_weight: ArrayLike | None = None,
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
        X, y : array-like or list
            The data that were passed to it.
        average : {"micro", "macro", "top_label"}, default="micro"
            As in `from_estimator`.
        pos_label : object, default=None
            As in `from_estimator`.
        query_options : dict, default=None
            As in `from_estimator`.
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
        asked = join_options(query_options, average, pos_label)
        folds = fold_queries(cv_results, X, y, sample_weight=sample_weight, **asked)
        name = type(cv_results["estimator"][0]).__name__ if name is None else name
        return cls._from_folds(folds, name=name, **options)

    @classmethod
    def _from_folds(cls, folds: list[Queries], **options: Any) -> Self:
        return cls.from_queries(Queries.concat(folds), **options)
