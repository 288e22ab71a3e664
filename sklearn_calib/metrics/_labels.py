"""Calibration of each label on its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._results import ConfidenceInterval, PlottedResult, to_frame
from sklearn_calib._validation import Array, RandomState, check_generator, check_integer
from sklearn_calib.metrics._inference._sample import TooFewError
from sklearn_calib.metrics._interval import IntervalMaker
from sklearn_calib.queries._as_queries import as_queries
from sklearn_calib.queries._queries import Queries

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["LabelCalibration", "label_calibration"]


@dataclass(frozen=True, eq=False, repr=False)
class LabelCalibration(PlottedResult):
    """A calibration error with its interval for each label.

    Attributes
    ----------
    labels : ndarray of shape (n_labels,)
        The labels.
    count : ndarray of int of shape (n_labels,)
        How often each label is the right answer.
    n_queries : ndarray of int of shape (n_labels,)
        How many queries ask about each label.
    error : ndarray of shape (n_labels,)
        Calibration error; NaN for a label with too few queries to tell.
    confidence_interval : ConfidenceInterval
        Arrays `low` and `high` of shape (n_labels,); 0 and 1 where nothing can be told.
    mean_gap : ndarray of shape (n_labels,)
        Mean prediction minus frequency: positive where the label is predicted too often.
    confidence_level : float
        Level of each interval on its own.

    See Also
    --------
    label_calibration : Makes this object.
    """

    labels: Array
    count: Array
    n_queries: Array
    error: Array
    confidence_interval: ConfidenceInterval
    mean_gap: Array
    confidence_level: float

    def __len__(self) -> int:
        return len(self.labels)

    def most_common(self, k: int | None = None) -> LabelCalibration:
        """Return the k labels that are right most often, most common first."""
        order = np.argsort(-self.count, kind="stable")
        if k is not None:
            order = order[: check_integer(k, "k")]
        low, high = self.confidence_interval
        return LabelCalibration(
            self.labels[order],
            self.count[order],
            self.n_queries[order],
            self.error[order],
            ConfidenceInterval(low[order], high[order]),
            self.mean_gap[order],
            self.confidence_level,
        )

    @property
    def mean_error(self) -> float:
        """Mean error over the labels; those without an estimate are left out."""
        known = self.error[np.isfinite(self.error)]
        return float(known.mean()) if len(known) else float("nan")

    def _columns(self) -> dict[str, Array]:
        low, high = self.confidence_interval
        return {
            "label": np.array([str(name) for name in self.labels.tolist()]),
            "count": self.count,
            "n_queries": self.n_queries,
            "error": self.error,
            "low": low,
            "high": high,
            "mean_gap": self.mean_gap,
        }

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row per label."""
        return to_frame({**self._columns(), "label": self.labels.tolist()}).set_index("label")


def label_calibration(
    y_true: ArrayLike | Queries,
    y_prob: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    squared: bool = False,
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> LabelCalibration:
    """Calibration error of each label, with its interval.

    Each label is a yes/no question of its own: is this row of class c?

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Queries
        True classes, or queries with labels in place of both arrays.
    y_prob : array-like of shape (n_samples, n_classes)
        Predicted probabilities.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of `y_prob`; by default the sorted labels of
        `y_true`. A true class that is missing here gets a row as well: the
        model gave it probability 0.
    bin_size : int or "auto", default="auto"
        As in `calibration_error_interval`.
    n_bins : int, default=None
        As in `calibration_error_interval`.
    squared : bool, default=False
        As in `calibration_error_interval`.
    method : {"auto", "score", "sampling"}, default="auto"
        As in `calibration_error_interval`.
    confidence_level : float, default=0.95
        Level of each label's interval on its own.
    n_resamples : int, default=10000
        As in `calibration_error_interval`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    random_state : int, RandomState, Generator or None, default=None
        As in `calibration_error_interval`.

    Returns
    -------
    LabelCalibration
        One row per label.

    See Also
    --------
    calibration_error_interval : The same for all queries at once.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib import label_calibration
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.dirichlet([2, 1, 1], size=2000)
    >>> y = np.array([rng.choice(list("abc"), p=p) for p in proba])
    >>> table = label_calibration(y, proba, classes=["a", "b", "c"])
    >>> table.labels
    array(['a', 'b', 'c'], dtype='<U1')
    >>> bool(table.confidence_interval.low[0] == 0)
    True
    """
    maker = IntervalMaker(bin_size, n_bins, squared, method, confidence_level, n_resamples)
    queries = as_queries(y_true, y_prob, classes=classes, sample_weight=sample_weight)
    if queries.labels is None:
        raise ValueError(
            "There is one probability per row, and so a single question. Pass a matrix with one "
            "column per class, or a Queries object that has labels."
        )
    rng = check_generator(random_state)
    rows: list[tuple[object, ...]] = []
    for name, part in queries.by_label():
        weight = part.sample_weight
        count = int(np.count_nonzero(part.y_true))
        try:
            result = maker.of_queries(part, rng)
            found = (result.error, *result.confidence_interval, result.mean_gap)
        except TooFewError:
            used = weight is None or weight.any()
            gap = np.average(part.y_prob - part.y_true, weights=weight) if used else np.nan
            found = (np.nan, 0.0, 1.0, float(gap))
        rows.append((name, count, len(part), *found))
    names, counts, n_queries, error, low, high, gap = zip(*rows, strict=True)
    labels = queries.labels[[queries.labels.tolist().index(name) for name in names]]
    return LabelCalibration(
        labels,
        np.array(counts),
        np.array(n_queries),
        np.array(error),
        ConfidenceInterval(np.array(low), np.array(high)),
        np.array(gap),
        float(confidence_level),
    )
