"""The calibration error as a scorer for model selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from sklearn_calib._sklearn import ScorerBase, register_scorers
from sklearn_calib.metrics._error import ErrorMeasure, adaptive_bin_calibration_error
from sklearn_calib.queries._estimator import ask_estimator, join_options

__all__ = ["AdaptiveBinCalibrationError"]


class AdaptiveBinCalibrationError(BaseEstimator, ScorerBase):
    """Scorer: minus the calibration error by adaptive binning.

    Use it as `scoring=` in `cross_val_score`, `GridSearchCV` and their kin, on
    its own or in a dict; scikit-learn takes only strings in lists. Five
    ready-made scorers have strings, which importing `sklearn_calib` registers:
    "neg_adaptive_bin_calibration_error", and the same with "_macro",
    "_top_label", "_tag_pair" or "_span" at its end.

    Parameters
    ----------
    bin_size : int or "auto", default="auto"
        Queries per bin; "auto" makes max(10, cbrt(N)) bins.
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
    pos_label : object, default=None
        With two classes, the positive one; by default the last of `classes_`.
    query_options : dict, default=None
        What a model with questions of its own is asked, such as
        `{"unit": "pair", "pairs": 100}` or `{"unit": "span"}` for a tagger, or
        `{"min_proba": 0.01}` for a coreference model: whatever its
        `calibration_queries` takes.

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
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        norm: str = "l2",
        squared: bool = False,
        debias: bool = False,
        average: str = "micro",
        pos_label: object = None,
        query_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.bin_size = bin_size
        self.n_bins = n_bins
        self.norm = norm
        self.squared = squared
        self.debias = debias
        self.average = average
        self.pos_label = pos_label
        self.query_options = query_options

    # What scikit-learn's own scorers hold, made from the parameters so that
    # set_params is never out of step.
    _sign = -1
    _response_method = ("predict_proba", "calibration_queries")
    _deprecation_msg = None

    # LogisticRegressionCV rebuilds a scorer whose function takes `labels`, and would
    # lose the queries by that; so the function it sees does not.
    @staticmethod
    def _score_func(
        y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: Any = None, **options: Any
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

    def _score(
        self,
        method_caller: Any,
        estimator: Any,
        X: Any,
        y_true: Any,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return minus the error; scikit-learn calls this with its cache of predictions."""
        measure = ErrorMeasure(self.bin_size, self.n_bins, self.norm, self.squared, self.debias)
        options = join_options(self.query_options, self.average, self.pos_label)
        queries = ask_estimator(estimator, X, y_true, sample_weight, options, method_caller)
        if len(queries) == 0:
            raise ValueError(
                f"{type(estimator).__name__} makes no queries about X, so that there is no error. "
                "Where it asks only about what is probable enough, lower min_proba."
            )
        return -measure.of_queries(queries, self.average)


NAME = "neg_adaptive_bin_calibration_error"
SCORERS = {
    NAME: AdaptiveBinCalibrationError(),
    f"{NAME}_macro": AdaptiveBinCalibrationError(average="macro"),
    f"{NAME}_top_label": AdaptiveBinCalibrationError(average="top_label"),
    f"{NAME}_tag_pair": AdaptiveBinCalibrationError(query_options={"unit": "pair"}),
    f"{NAME}_span": AdaptiveBinCalibrationError(query_options={"unit": "span"}),
}
register_scorers(SCORERS)
