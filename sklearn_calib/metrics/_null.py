"""What calibration error a perfectly calibrated model would show."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from itertools import chain
from typing import Any

import numpy as np

from sklearn_calib._results import ConfidenceInterval, Result, percent
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_confidence_level,
    check_generator,
    check_integer,
)
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._error import ErrorMeasure
from sklearn_calib.queries._estimator import check_query_options
from sklearn_calib.queries._queries import Queries

__all__ = ["CalibrationNull", "calibration_null"]


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationNull(Result):
    """Calibration errors of a model on truths that the model itself drew.

    Attributes
    ----------
    errors : ndarray of shape (n_simulations,)
        The error in each simulation.
    interval : ConfidenceInterval
        Where the middle `confidence_level` of these errors lie.
    confidence_level : float
        Share of the errors within the interval.
    error : float or None
        The error on the real truth, where one was given.
    pvalue : float or None
        How often a calibrated model would show such an error or a larger one.
    n_queries : int
        Number of queries in each simulation.

    See Also
    --------
    calibration_null : Makes this object.
    """

    errors: Array
    interval: ConfidenceInterval
    confidence_level: float
    error: float | None
    pvalue: float | None
    n_queries: int

    @property
    def mean(self) -> float:
        """Mean error of the simulations: the noise floor."""
        return float(self.errors.mean())

    _shows_table = False

    def _columns(self) -> dict[str, Array]:
        return {"error": self.errors}

    def _sentence(self) -> str:
        low, high = self.interval
        text = (
            f"A calibrated model would show {self.mean:.4f} ({percent(self.confidence_level)}: "
            f"{low:.4f} to {high:.4f})."
        )
        if self.error is None:
            return text
        return f"{text} This one shows {self.error:.4f} (p = {self.pvalue:.3f})."


def calibration_null(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    n_simulations: int = 100,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    norm: str = "l2",
    squared: bool = False,
    debias: bool = False,
    confidence_level: float = 0.95,
    random_state: RandomState = None,
    **options: Any,
) -> CalibrationNull:
    """Calibration errors that a perfectly calibrated model would show on these data.

    The truth is drawn from the model's own distribution, so that the model is
    right about it by construction. What error is left is noise. The answers
    within a sentence or a document depend on each other as the model says
    they do, which no method that takes queries one by one can know.

    Parameters
    ----------
    model : estimator
        A fitted model with the methods `sample` and `calibration_queries`,
        for example `AntecedentModel` or a tagger. If it has the method
        `calibration_questions(X, **options)` as well, it predicts only once.
    X : list
        Documents or sentences.
    y : list, default=None
        The truth. Where it is given, so is the error on it and its p-value.
    n_simulations : int, default=100
        How many truths to draw.
    bin_size : int or "auto", default="auto"
        As in `adaptive_bin_calibration_error`.
    n_bins : int, default=None
        As in `adaptive_bin_calibration_error`.
    norm : {"l2", "l1", "max"}, default="l2"
        As in `adaptive_bin_calibration_error`.
    squared : bool, default=False
        As in `adaptive_bin_calibration_error`.
    debias : bool, default=False
        As in `adaptive_bin_calibration_error`. It takes away noise as if
        queries were independent, so that some is left where they are not.
    confidence_level : float, default=0.95
        Share of the errors within the interval.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    **options : dict
        Passed on to `model.calibration_queries`, for example `min_proba=0.05`
        or `unit="pair"`.

    Returns
    -------
    CalibrationNull
        The errors, their interval, and the p-value of the error on `y`.

    See Also
    --------
    calibration_test : The same question for queries one by one or in groups.

    Notes
    -----
    The p-value is (1 + k) / (1 + n), where k of n simulated errors are at
    least as large as the one on `y`. It takes the model's distribution over
    whole documents as the hypothesis, which is more than the calibration of
    each query.

    Examples
    --------
    >>> from sklearn_calib import calibration_null
    >>> from sklearn_calib.coref import AntecedentModel
    >>> from sklearn_calib.datasets import make_coref_documents
    >>> data = make_coref_documents(60, random_state=0)
    >>> model = AntecedentModel().fit(data.X[:40], data.y[:40])
    >>> null = calibration_null(model, data.X[40:], data.y[40:], random_state=0)
    >>> null.errors.shape
    (100,)
    >>> null.pvalue > 0.01
    True
    """
    measure = ErrorMeasure(bin_size, n_bins, norm, squared, debias)
    n_simulations = check_integer(n_simulations, "n_simulations")
    level = check_confidence_level(confidence_level)
    for method in ("sample", "calibration_queries"):
        if not hasattr(model, method):
            raise TypeError(
                f"{type(model).__name__} has no method {method}, and a null is drawn from the "
                "model itself. For queries without a model use calibration_test."
            )
    check_query_options(model, options, signature(calibration_null).parameters)
    if options.get("average") == "macro":
        raise ValueError(
            "average='macro' has no null: the queries of all labels are pooled. Leave average out."
        )
    rng = check_generator(random_state)
    if hasattr(model, "calibration_questions"):
        ask = model.calibration_questions(X, **options).answer
    else:

        def ask(truth: Any) -> Queries:
            return model.calibration_queries(X, truth, **options)

    samples = model.sample(X, n_simulations, random_state=rng)
    drawn = (ask([sample[k] for sample in samples]) for k in range(n_simulations))
    first = next(drawn)
    order = _Order(first)
    errors = np.array([measure.of_sorted(order.sort(queries)) for queries in chain([first], drawn)])
    error = pvalue = None
    if y is not None:
        error = measure.of_sorted(order.sort(ask(y)))
        pvalue = float((1 + np.count_nonzero(errors >= error)) / (1 + n_simulations))
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(errors, [tail, 100.0 - tail]).tolist()
    return CalibrationNull(
        errors, ConfidenceInterval(low, high), level, error, pvalue, len(order.rows)
    )


class _Order:
    """The order of queries whose predictions never change: they are sorted once."""

    def __init__(self, queries: Queries) -> None:
        weight = queries.sample_weight
        kept = np.arange(len(queries)) if weight is None else np.flatnonzero(weight)
        if len(kept) == 0:
            raise ValueError("The model makes no queries about X, so that there is no error.")
        self.given = queries.y_prob
        self.rows = kept[np.argsort(queries.y_prob[kept], kind="stable")]
        self.y_prob = self.given[self.rows]
        self.weight = None if weight is None else weight[self.rows]

    def sort(self, queries: Queries) -> SortedQueries:
        """Return the queries in order of prediction, with the answers that they have."""
        if queries.y_prob is not self.given and not np.array_equal(queries.y_prob, self.given):
            # Questions that depend on the truth, such as tags that the model does not know.
            return _Order(queries).sort(queries)
        return SortedQueries(queries.y_true[self.rows], self.y_prob, self.weight)
