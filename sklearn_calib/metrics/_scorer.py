"""The calibration error as a scorer for model selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from sklearn_calib._sklearn import ScorerBase, register_scorers
from sklearn_calib._validation import check_array_like, check_option
from sklearn_calib.metrics._error import adaptive_bin_calibration_error
from sklearn_calib.queries import (
    AVERAGES,
    UNITS,
    Queries,
    check_query_options,
    classifier_queries,
)

__all__ = ["AdaptiveBinCalibrationError"]


class AdaptiveBinCalibrationError(BaseEstimator, ScorerBase):
    """Scorer: minus the calibration error by adaptive binning.

    Use it as `scoring=` in `cross_val_score`, `GridSearchCV` and their kin, on
    its own or in a dict; scikit-learn takes only strings in lists. Four
    ready-made scorers have strings, which importing `sklearn_calib` registers:
    "neg_adaptive_bin_calibration_error", and the same with "_macro",
    "_top_label" or "_tag_pair" at its end.

    Parameters
    ----------
    bin_size : int or "auto", default="auto"
        Queries a bin; "auto" takes the size of `select_bin_size` in each fold.
    n_bins : int, default=None
        Ask for a number of bins instead of a size.
    norm : {"l2", "l1", "max"}, default="l2"
        Root mean square, mean, or largest absolute gap.
    squared : bool, default=False
        Use the mean square instead of its root (only with "l2").
    debias : bool, default=False
        Take away what sampling noise adds (only with "l2").
    average : {"micro", "macro", "top_label"}, default="micro"
        With more than two classes: pool the queries of all classes, average
        the errors of the classes, or ask only whether the predicted class is
        right.
    unit : {"tag", "pair"}, default="tag"
        For sequence taggers: ask about single tags, or about the tags of two
        neighbours.
    pairs : int or list, default=None
        For `unit="pair"`: which tag pairs to ask about.
    pos_label : object, default=None
        With two classes, the positive one; by default the last of `classes_`.

    See Also
    --------
    adaptive_bin_calibration_error : The same for given predictions.

    Notes
    -----
    An estimator with a method `calibration_queries(X, y, **options)` is asked
    for its queries; any other must have `predict_proba` and `classes_`. A
    class that a fold lacks is no problem: one that was never seen in training
    has probability 0.

    Examples
    --------
    >>> import sklearn_calib
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scores = cross_val_score(GaussianNB(), X, y, scoring="neg_adaptive_bin_calibration_error")
    >>> bool((scores < 0).all())
    True
    >>> from sklearn_calib import AdaptiveBinCalibrationError
    >>> AdaptiveBinCalibrationError(n_bins=10, norm="l1")
    AdaptiveBinCalibrationError(n_bins=10, norm='l1')
    """

    def __init__(
        self,
        *,
        bin_size: Any = "auto",
        n_bins: int | None = None,
        norm: str = "l2",
        squared: bool = False,
        debias: bool = False,
        average: str = "micro",
        unit: str = "tag",
        pairs: Any = None,
        pos_label: Any = None,
    ) -> None:
        self.bin_size = bin_size
        self.n_bins = n_bins
        self.norm = norm
        self.squared = squared
        self.debias = debias
        self.average = average
        self.unit = unit
        self.pairs = pairs
        self.pos_label = pos_label

    # What scikit-learn's own scorers hold, made from the parameters so that
    # set_params is never out of step.
    _sign = -1
    _response_method = ("predict_proba", "calibration_queries")
    _deprecation_msg = None

    # LogisticRegressionCV rebuilds a scorer whose function takes `labels`, and would
    # lose the queries by that; so the function it sees does not.
    @staticmethod
    def _score_func(
        y_true: Any, y_prob: Any, *, sample_weight: Any = None, **options: Any
    ) -> float:
        return adaptive_bin_calibration_error(
            y_true, y_prob, sample_weight=sample_weight, **options
        )

    @property
    def _kwargs(self) -> dict[str, Any]:
        names = ("bin_size", "n_bins", "norm", "squared", "debias", "average", "pos_label")
        return {name: getattr(self, name) for name in names}

    @property
    def __name__(self) -> str:
        # LearningCurveDisplay and others title their axes with a scorer's name.
        return "adaptive_bin_calibration_error"

    def queries(self, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Queries:
        """Return the queries that the scorer measures.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator.
        X, y : array-like
            Data to predict, and the truth.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.

        Returns
        -------
        Queries
            What the estimator was asked, what it said, and the answers.
        """
        check_option(self.average, "average", AVERAGES)
        check_option(self.unit, "unit", UNITS)
        return self._queries(None, estimator, X, y, sample_weight)

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None
    ) -> float:
        """Return minus the error; scikit-learn calls this with its cache of predictions."""
        check_option(self.average, "average", AVERAGES)
        check_option(self.unit, "unit", UNITS)
        queries = self._queries(method_caller, estimator, X, y_true, sample_weight)
        options = {k: v for k, v in self._kwargs.items() if k != "pos_label"}
        if self.average == "top_label":
            options["average"] = "micro"
        return -adaptive_bin_calibration_error(queries, **options)

    def _queries(
        self, method_caller: Any, estimator: Any, X: Any, y: Any, sample_weight: Any
    ) -> Queries:
        estimator, X = _unwrap(estimator, X)
        ask = getattr(estimator, "calibration_queries", None)
        if ask is not None:
            # Only what was changed is passed on, so that an estimator need not
            # know of options that make no sense for it.
            wanted = {"pairs": self.pairs, "pos_label": self.pos_label}
            options = {k: v for k, v in wanted.items() if v is not None}
            if self.unit != "tag":
                options["unit"] = self.unit
            if self.average == "top_label":
                options["average"] = "top_label"
            if sample_weight is not None:
                options["sample_weight"] = sample_weight
            check_query_options(estimator, options)
            return ask(X, y, **options)
        if self.unit != "tag" or self.pairs is not None:
            raise ValueError(
                f"unit={self.unit!r} and pairs={self.pairs!r} are for sequence taggers, but "
                f"{type(estimator).__name__} has no calibration_queries method."
            )
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"{type(estimator).__name__} has no predict_proba method, and calibration is about "
                "probabilities. Wrap it in sklearn.calibration.CalibratedClassifierCV, or choose "
                "a model that predicts them."
            )
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            raise TypeError(
                f"{type(estimator).__name__} has no classes_ attribute, so that the columns of its "
                "predict_proba have no names. Is it a fitted classifier?"
            )
        if isinstance(classes, list) and np.ndim(classes[0]) > 0:
            return self._multilabel_queries(estimator, X, y, classes, sample_weight)
        proba = self._probabilities(method_caller, estimator, X, np.asarray(classes))
        return classifier_queries(
            y,
            proba,
            classes=classes,
            average=self.average,
            pos_label=self.pos_label,
            sample_weight=sample_weight,
        )

    def _probabilities(self, method_caller: Any, estimator: Any, X: Any, classes: Any) -> Any:
        """Return the matrix of probabilities, from scikit-learn's cache where it has one."""
        shareable = is_classifier(estimator) and len(classes) > 1 and self.pos_label is None
        if method_caller is None or not shareable:
            return estimator.predict_proba(X)
        proba = check_array_like(
            method_caller(estimator, "predict_proba", X, pos_label=None), "predict_proba"
        )
        # For two classes scikit-learn keeps only the column of the last one.
        return np.column_stack([1.0 - proba, proba]) if proba.ndim == 1 else proba

    def _multilabel_queries(
        self, estimator: Any, X: Any, y: Any, classes: Any, sample_weight: Any
    ) -> Queries:
        proba = estimator.predict_proba(X)
        if isinstance(proba, list):
            # A list with an output each; a label that was never positive has one column.
            proba = np.column_stack(
                [
                    p[:, -1] if len(c) > 1 else np.full(len(p), float(np.asarray(c)[0]))
                    for p, c in zip(proba, classes, strict=True)
                ]
            )
        return classifier_queries(
            y,
            proba,
            classes=np.arange(np.shape(proba)[1]),
            average=self.average,
            pos_label=self.pos_label,
            sample_weight=sample_weight,
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


NAME = "neg_adaptive_bin_calibration_error"
SCORERS = {
    NAME: AdaptiveBinCalibrationError(),
    f"{NAME}_macro": AdaptiveBinCalibrationError(average="macro"),
    f"{NAME}_top_label": AdaptiveBinCalibrationError(average="top_label"),
    f"{NAME}_tag_pair": AdaptiveBinCalibrationError(unit="pair"),
}
register_scorers(SCORERS)
