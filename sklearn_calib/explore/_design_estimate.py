"""Counts from a random sample of documents, valid whatever the model is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_calib._validation import Array

# The model's sums may be trusted less or more than it says itself, but not backwards.
_MOST_TUNING = 2.0
# Errors in either direction that every cell is thought to have had, beside those that were seen:
# a cell without a single error would otherwise be known for certain.
_PSEUDO = 2.0


@dataclass(frozen=True, eq=False)
class DesignEstimate:
    """Design-based estimates of the counts of cells.

    Attributes
    ----------
    estimate : ndarray of shape (n_cells,)
        Difference estimates of the counts, but never below the events that were
        read nor above the documents that may be events.
    unbiased : ndarray of shape (n_cells,)
        The same without such limits, so that it is unbiased.
    standard_error : ndarray of shape (n_cells,)
        Standard errors of the unbiased estimates.
    spread : ndarray of shape (n_cells,)
        The same with errors that may not have been seen, on which intervals rest.
    degrees_of_freedom : ndarray of shape (n_cells,)
        How many read documents a standard error rests on, less one.
    low, high : ndarray of shape (n_cells,)
        Ends of the intervals, within the same limits.
    tuning : float
        How far the model's sums were trusted; 1 is as they are, 0 not at all.
    """

    estimate: Array
    unbiased: Array
    standard_error: Array
    spread: Array
    degrees_of_freedom: Array
    low: Array
    high: Array
    tuning: float


def design_estimate(
    answer: ArrayLike,
    prediction: ArrayLike,
    cell: ArrayLike,
    *,
    document: ArrayLike | None = None,
    inclusion: ArrayLike,
    prediction_total: ArrayLike,
    cell_size: ArrayLike,
    confidence_level: float = 0.95,
    n_folds: int = 5,
    tuning: float | None = None,
    rng: np.random.Generator,
) -> DesignEstimate:
    """Estimate counts from a random sample of documents, helped by a model.

    A count is the model's sum over all documents, and the error of the model as
    estimated from those that were read, each of which stands for 1 over its
    inclusion probability: the difference estimator of survey sampling (Särndal,
    Swensson & Wretman 1992), called prediction-powered inference in machine
    learning (Angelopoulos et al. 2023). How far to trust the model is tuned
    (Angelopoulos, Duchi & Zrnic 2024) on the other folds of what was read, so
    that tuning brings next to no bias.

    Parameters
    ----------
    answer : array-like of shape (n_answers,)
        What was found in a document: 0, 1 or a count.
    prediction : array-like of shape (n_answers,)
        The model's mean for the same.
    cell : array-like of int of shape (n_answers,)
        The cell (such as the period) to which each answer belongs.
    document : array-like of int of shape (n_answers,), default=None
        Which of the read documents the answer is about; by default one answer
        for each document, in their order.
    inclusion : array-like of shape (n_read,)
        Inclusion probability of each read document, those without an answer in
        any of these cells included.
    prediction_total : array-like of shape (n_cells,)
        The sum of the model's means over all documents of a cell.
    cell_size : array-like of shape (n_cells,)
        The largest possible count: how many documents a cell has; infinite for
        counts without a limit.
    confidence_level : float, default=0.95
        Level of the intervals.
    n_folds : int, default=5
        Folds for tuning.
    tuning : float, default=None
        How far to trust the model's sums; tuned by default.
    rng : Generator
        The source of randomness for the folds.

    Returns
    -------
    DesignEstimate
        Estimates and intervals, cell by cell. For a sum over periods put all of
        them into one cell.

    Notes
    -----
    Standard errors are Hájek's (1964) approximation for samples of fixed size
    with unequal probabilities. Intervals take Student's t with as many degrees
    of freedom as documents contribute, and think of one error in either
    direction beside those that were seen. They are made for large totals. With
    few events in a cell the law of the estimate is skewed, and intervals are
    several times as wide as those of a map of probabilities.
    """
    a, m = np.asarray(answer, dtype=float), np.asarray(prediction, dtype=float)
    at, pi = np.asarray(cell), np.asarray(inclusion, dtype=float)
    doc = np.arange(len(a)) if document is None else np.asarray(document)
    total, size = np.array(prediction_total, dtype=float), np.array(cell_size, dtype=float)
    trust, mean_trust = _tuned(a, m, doc, pi, n_folds, tuning, rng)

    n_cells, n_read = len(total), len(pi)
    error = np.zeros((n_cells, n_read))
    np.add.at(error, (at, doc), a - trust * m)
    expanded = error / pi
    estimate = mean_trust * total + expanded.sum(axis=1)

    open_share = 1.0 - pi
    scale = n_read / max(n_read - 1, 1)
    center = (expanded @ open_share) / max(open_share.sum(), 1e-300)
    parts = scale * open_share * np.square(expanded - center[:, np.newaxis])
    variance = parts.sum(axis=1)
    inside = np.zeros((n_cells, n_read), dtype=bool)
    inside[at, doc] = True
    read = inside.sum(axis=1)
    weight = np.where(inside, 1.0 / pi, 0.0).sum(axis=1) / np.maximum(read, 1)
    rest = np.where(inside, open_share, 0.0).sum(axis=1) / np.maximum(read, 1)
    pseudo = _PSEUDO * rest * np.square(weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        n_effective = np.square(variance) / np.square(parts).sum(axis=1)
    freedom = np.maximum(np.nan_to_num(n_effective, nan=1.0) + _PSEUDO - 1.0, 1.0)
    spread = np.sqrt(variance + pseudo)
    half = stats.t.ppf((1.0 + confidence_level) / 2.0, freedom) * spread

    least = np.bincount(at, a, minlength=n_cells)
    most = size - np.bincount(at, minlength=n_cells) + least
    unknown = read == 0
    low = np.where(unknown, least, np.clip(estimate - half, least, most))
    high = np.where(unknown, most, np.clip(estimate + half, least, most))
    return DesignEstimate(
        estimate=np.clip(estimate, least, most),
        unbiased=estimate,
        standard_error=np.sqrt(variance),
        spread=spread,
        degrees_of_freedom=freedom,
        low=low,
        high=high,
        tuning=float(mean_trust),
    )


def _tuned(
    answer: Array,
    prediction: Array,
    document: Array,
    inclusion: Array,
    n_folds: int,
    tuning: float | None,
    rng: np.random.Generator,
) -> tuple[Array, float]:
    """Return how far each answer's prediction is trusted, by the other folds, and the mean."""
    if tuning is not None:
        return np.full(len(answer), tuning), tuning
    n_read = len(inclusion)
    folds = min(n_folds, n_read)
    if folds < 2:
        return np.ones(len(answer)), 1.0
    fold = rng.permutation(np.arange(n_read) % folds)
    weight = ((1.0 - inclusion) / np.square(inclusion))[document]
    shares = np.bincount(fold) / n_read
    trust = np.empty(folds)
    for k in range(folds):
        rows = fold[document] != k
        trust[k] = _slope(answer[rows], prediction[rows], weight[rows])
    return trust[fold[document]], float(shares @ trust)


def _slope(answer: Array, prediction: Array, weight: Array) -> float:
    """Return the weighted regression slope of answers on predictions; 1 where there is none."""
    if weight.sum() <= 0.0:
        return 1.0
    weight = weight / weight.sum()
    a, m = answer - weight @ answer, prediction - weight @ prediction
    square = float(weight @ np.square(m))
    if square < 1e-12:
        return 1.0
    return float(np.clip((weight * a) @ m / square, 0.0, _MOST_TUNING))
