"""Proper scores split into calibration, refinement and what happens within bins."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sklearn_calib._results import Result, counted
from sklearn_calib._validation import Array, check_bin_options, check_option
from sklearn_calib.metrics._binning._binned import bin_queries
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.queries._as_queries import queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["ScoreDecomposition", "score_decomposition"]

SCORES = ("brier", "log")


@dataclass(frozen=True, eq=False, repr=False)
class ScoreDecomposition(Result):
    """A proper score and its parts.

    `score == calibration + refinement + within_bin`, to rounding.

    Attributes
    ----------
    name : {"brier", "log"}
        Which score.
    score : float
        The score itself, as scikit-learn computes it; smaller is better.
    calibration : float
        Mean divergence between a bin's share of yes and its mean prediction:
        what a perfect recalibration of the bins would win.
    refinement : float
        The score that would be left then: how mixed the bins are.
    within_bin_spread : float
        What the spread of predictions around their bin's mean costs.
    within_bin_covariance : float
        What the agreement of predictions and answers inside bins changes;
        negative where larger predictions go with more yes.
    n_bins : int
        Number of bins.

    See Also
    --------
    score_decomposition : Makes this object.
    """

    name: str
    score: float
    calibration: float
    refinement: float
    within_bin_spread: float
    within_bin_covariance: float
    n_bins: int

    @property
    def within_bin(self) -> float:
        """Both within-bin terms together; it vanishes as bins shrink."""
        return self.within_bin_spread + self.within_bin_covariance

    def _columns(self) -> dict[str, list[object]]:
        parts = ("calibration", "refinement", "within_bin", "score")
        label = {"brier": "Brier score", "log": "log loss"}[self.name]
        return {"part": list(parts), label: [getattr(self, part) for part in parts]}

    def _sentence(self) -> str:
        return f"({counted(self.n_bins, 'bin')})"


def score_decomposition(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    score: str = "brier",
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> ScoreDecomposition:
    """Split the Brier score or the log loss into calibration and refinement.

    The squared distance is the Bregman divergence behind the Brier score, and
    the Kullback-Leibler divergence the one behind the log loss; the same
    argument splits both. Binning adds two within-bin terms, which are reported
    too, so that the parts add up to the score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    score : {"brier", "log"}, default="brier"
        Which score to split.
    bin_size : int or "auto", default="auto"
        Queries per bin; "auto" makes max(10, cbrt(N)) bins.
    n_bins : int, default=None
        Ask for a number of bins instead of a size.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; an integer weight stands for so many copies.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.

    Returns
    -------
    ScoreDecomposition
        The score and its parts.

    Warns
    -----
    UserWarning
        If the log loss is infinite because a prediction of exactly 0 or 1 is
        wrong. As in `sklearn.metrics.log_loss`, such predictions count as the
        nearest representable ones inside.

    See Also
    --------
    sklearn.metrics.brier_score_loss : The Brier score alone.
    sklearn.metrics.log_loss : The log loss alone.

    Examples
    --------
    >>> from sklearn_calib import score_decomposition
    >>> parts = score_decomposition([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bin_size=2)
    >>> round(parts.calibration, 4), round(parts.refinement, 4), round(parts.within_bin, 4)
    (0.065, 0.25, -0.09)
    >>> print(parts)
           part  Brier score
    calibration       0.0650
     refinement       0.2500
     within_bin      -0.0900
          score       0.2250
    (2 bins)
    """
    check_option(score, "score", SCORES)
    check_bin_options(bin_size, n_bins)
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, sample_weight=sample_weight, pos_label=pos_label
    )
    bins = bin_queries(sort_or_scan(queries), bin_size, n_bins)
    share = bins.weight / bins.weight.sum()
    w = bins.queries.weights / bins.weight.sum()
    q, y = bins.queries.power(1)[1], bins.queries.y.astype(float)
    p, m = bins.prob_true, bins.prob_pred
    if score == "log":
        q = _inside(bins.queries)
        m = np.clip(bins.sum(w * q) / share, q.min(), q.max())
    mean, freq = bins.of_queries(m), bins.of_queries(p)
    if score == "brier":
        parts = (
            np.dot(share, np.square(m - p)),
            np.dot(share, p * (1.0 - p)),
            np.dot(w, np.square(q - mean)),
            -2.0 * np.dot(w, (q - mean) * (y - freq)),
        )
        total = np.dot(w, np.square(q - y))
    else:
        parts = (
            np.dot(share, special.rel_entr(p, m) + special.rel_entr(1.0 - p, 1.0 - m)),
            np.dot(share, special.entr(p) + special.entr(1.0 - p)),
            np.dot(w, freq * np.log(mean / q) + (1.0 - freq) * np.log((1.0 - mean) / (1.0 - q))),
            -np.dot(w, (y - freq) * (special.logit(q) - special.logit(mean))),
        )
        total = -np.dot(w, np.log(np.where(bins.queries.y, q, 1.0 - q)))
    calibration, refinement, spread, covariance = (float(part) for part in parts)
    return ScoreDecomposition(
        score, float(total), calibration, refinement, spread, covariance, len(bins)
    )


def _inside(queries: SortedQueries) -> Array:
    """Return predictions with exactly 0 and 1 moved inside, as `sklearn.metrics.log_loss` does."""
    y, q = queries.y, queries.power(1)[1]
    wrong = np.where(y, q == 0.0, q == 1.0)
    infinite = int(np.sum(wrong if queries.pool is None else queries.pool.n * wrong))
    if infinite:
        warnings.warn(
            f"{infinite} predictions of exactly 0 or 1 are wrong, so that the log loss is "
            "infinite; as in sklearn.metrics.log_loss they count as eps and 1 - eps.",
            UserWarning,
            stacklevel=3,
        )
    eps = np.finfo(np.float64).eps
    inside: Array = np.clip(q, eps, 1.0 - eps)
    return inside
