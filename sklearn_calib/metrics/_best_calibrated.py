"""Choosing a setting that is good under the constraint that it is calibrated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_calib._validation import Array, check_number

__all__ = ["best_calibrated"]


@dataclass(frozen=True, eq=False)
class BestCalibrated:
    """What `best_calibrated` returns: a function of `cv_results_`.

    It equals the name of its score: a search looks its scorer up by `refit`,
    and can then be scored itself, as nested cross-validation does.
    """

    score: str
    calibration: str
    tolerance: float

    def __hash__(self) -> int:
        return hash(self.score)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.score == other
        if isinstance(other, BestCalibrated):
            return vars(self) == vars(other)
        return NotImplemented

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the place of the chosen setting."""
        error, quality = (
            -_by_fold(cv_results, self.calibration),
            _by_fold(cv_results, self.score).mean(axis=1),
        )
        mean = error.mean(axis=1)
        possible = np.isfinite(mean) & np.isfinite(quality)
        if not possible.any():
            raise ValueError(
                f"No setting has finite scores {self.calibration!r} and {self.score!r} in every "
                "fold. Pass error_score='raise' to the search to see why."
            )
        best = int(np.argmin(np.where(possible, mean, np.inf)))
        # Folds are hard or easy for all settings, so that settings are compared fold by fold.
        with np.errstate(invalid="ignore"):
            gap = error - error[best]
        n = error.shape[1]
        noise = gap.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(gap))
        near = possible & (gap.mean(axis=1) <= self.tolerance * noise)
        near[best] = True
        order = np.lexsort((mean, -quality, ~near))
        return int(order[0])


def best_calibrated(
    score: str = "accuracy",
    *,
    calibration: str = "neg_adaptive_bin_calibration_error",
    tolerance: float = 1.0,
) -> BestCalibrated:
    """Choose the best setting among those that are as calibrated as the best calibrated one.

    For `refit` of `GridSearchCV` and its kin with several scores. Calibration
    alone is a poor goal, because a useless model can be calibrated; accuracy
    alone favours overconfident models. Here calibration is the constraint, and
    the score decides among all settings that meet it.

    Parameters
    ----------
    score : str, default="accuracy"
        Name of the score to maximise, as in `scoring`. scikit-learn's
        "accuracy" takes one label per sample; for a tagger, name a function
        such as `lambda tagger, X, y: tagger.score(X, y)` in `scoring`.
    calibration : str, default="neg_adaptive_bin_calibration_error"
        Name of the calibration score in `scoring`.
    tolerance : float, default=1.0
        A setting is calibrated well enough if its error exceeds the least one
        by at most so many standard errors of the difference, paired over the
        folds. 0 chooses the least error, and large values ignore it.

    Returns
    -------
    callable
        A function of `cv_results_` that returns the place of a setting. The
        search's own `score` is then that of `score`.

    See Also
    --------
    AdaptiveBinCalibrationError : The scorer.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_calib import best_calibrated
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = GridSearchCV(
    ...     GaussianNB(),
    ...     {"var_smoothing": [1e-9, 1e-7, 1e-5]},
    ...     scoring=["accuracy", "neg_adaptive_bin_calibration_error"],
    ...     refit=best_calibrated("accuracy"),
    ... ).fit(X, y)
    >>> search.best_params_
    {'var_smoothing': 1e-09}
    """
    tolerance = check_number(tolerance, "tolerance")
    for name, value in (("score", score), ("calibration", calibration)):
        if not isinstance(value, str):
            raise TypeError(
                f"{name} must be the name of a score in scoring, got {type(value).__name__}."
            )
    return BestCalibrated(score, calibration, tolerance)


def _by_fold(cv_results: Mapping[str, Any], name: str) -> Array:
    """Return the scores of each setting in each fold."""
    ending = f"_test_{name}"
    columns = [key for key in cv_results if key.startswith("split") and key.endswith(ending)]
    columns = [key for key in columns if key[len("split") : -len(ending)].isdigit()]
    if not columns:
        known = sorted(
            {key[len("mean_test_") :] for key in cv_results if key.startswith("mean_test_")}
        )
        raise ValueError(
            f"The search has no score {name!r}, only {known}: add it to scoring, or name another "
            "one."
        )
    return np.array([np.asarray(cv_results[key], dtype=float) for key in columns]).T
