"""For which label, or for whom, is it miscalibrated?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._results import ConfidenceInterval, PlottedResult, to_frame
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_array_like,
    check_generator,
    check_integer,
    check_option,
    is_missing,
    text_array,
)
from sklearn_calib.metrics._binning._scanned import label_parts, sort_or_scan
from sklearn_calib.metrics._inference._moments import TooFewError
from sklearn_calib.metrics._inference._multiple import ADJUSTMENTS, adjust_pvalues
from sklearn_calib.metrics._inference._sample import inference_rule
from sklearn_calib.metrics._interval import IntervalMaker
from sklearn_calib.queries._as_queries import Groups, queries_or_scan
from sklearn_calib.queries._queries import Queries, _tidy
from sklearn_calib.queries._scan import QueryScan

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["LabelCalibration", "label_calibration"]

# An adjusted p-value below this is an alarm.
ALARM = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class LabelCalibration(PlottedResult):
    """A calibration error with its interval for each label, or for each slice.

    Attributes
    ----------
    labels : ndarray of shape (n_labels,)
        The labels or slices.
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
    expected : ndarray of shape (n_labels,)
        How often each label would be the right answer if the predictions were
        right: the sum of the predictions.
    pvalue : ndarray of shape (n_labels,)
        Of the hypothesis that every prediction of a label is right; NaN where
        nothing can be told.
    adjusted_pvalue : ndarray of shape (n_labels,)
        The same, adjusted for the number of labels. Below 0.05 it is an alarm.
    confidence_level : float
        Level of each interval on its own.
    n_impossible : ndarray of int of shape (n_labels,)
        Answers of yes that met a prediction of 0, and of no that met a 1: no
        calibrated model could have given them, so that the p-value is 0.

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
    expected: Array
    pvalue: Array
    adjusted_pvalue: Array
    confidence_level: float
    n_impossible: Array

    def __len__(self) -> int:
        return len(self.labels)

    def most_common(self, k: int | None = None) -> LabelCalibration:
        """Return the k labels that are right most often, most common first."""
        order = np.argsort(-self.count, kind="stable")
        if k is not None:
            order = order[: check_integer(k, "k")]
        low, high = self.confidence_interval
        columns = (
            "labels", "count", "n_queries", "error", "mean_gap", "expected", "pvalue",
            "adjusted_pvalue", "n_impossible",
        )  # fmt: skip
        chosen = {name: getattr(self, name)[order] for name in columns}
        interval = ConfidenceInterval(low[order], high[order])
        return replace(self, confidence_interval=interval, **chosen)

    @property
    def note(self) -> Array:
        """What to know about a row: impossible answers, too few queries, too few of one answer."""
        rare = np.minimum(self.expected, self.n_queries - self.expected) < 1.0
        text = np.where(self.expected < 1.0, "fewer than one yes expected", "fewer than one no")
        text = np.where(np.isnan(self.error), "too few queries", np.where(rare, text, ""))
        met = [f"{n:,} against a prediction of 0 or 1" for n in self.n_impossible.tolist()]
        return np.where(self.n_impossible > 0, met, text)

    @property
    def alarm(self) -> Array:
        """Whether the adjusted p-value of a label is below 0.05."""
        return self.adjusted_pvalue < ALARM

    @property
    def mean_error(self) -> float:
        """Mean error over the labels; those without an estimate are left out."""
        known = self.error[np.isfinite(self.error)]
        return float(known.mean()) if len(known) else float("nan")

    def _columns(self) -> dict[str, Array]:
        low, high = self.confidence_interval
        columns = {
            "label": text_array([str(name) for name in self.labels.tolist()]),
            "count": self.count,
            "n_queries": self.n_queries,
            "error": self.error,
            "low": low,
            "high": high,
            "mean_gap": self.mean_gap,
            "pvalue": self.pvalue,
            "adjusted_pvalue": self.adjusted_pvalue,
        }
        if (self.note != "").any():
            columns["note"] = self.note
        return columns

    def _sentence(self) -> str:
        alarms = int(np.count_nonzero(self.alarm))
        return f"{alarms} of {len(self)} with an adjusted p-value below {ALARM:g}"

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row per label."""
        return to_frame({**self._columns(), "label": self.labels.tolist()}).set_index("label")


def label_calibration(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    by: ArrayLike | None = None,
    adjust: str | None = "holm",
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    squared: bool = False,
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    groups: Groups = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    random_state: RandomState = None,
) -> LabelCalibration:
    """Calibration error of each label, or of each slice of the data, with its interval.

    Each label is a yes/no question of its own: is this row of class c? With
    `by`, the rows are sliced instead: for whom is the model miscalibrated?

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True classes, or queries with labels in place of both arrays.
    y_prob : array-like of shape (n_samples, n_classes) or (n_samples,)
        Predicted probabilities: of every class or, with `by`, of the positive
        class.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of `y_prob`; by default the sorted labels of
        `y_true`. A true class that is missing here gets a row as well: the
        model gave it probability 0.
    by : array-like of shape (n_samples,), default=None
        The slice of each row, such as a region, an age group or a genre; with
        queries, the slice of each query. The table has one row per slice then,
        over all classes.
    adjust : {"holm", "benjamini-hochberg", None}, default="holm"
        How p-values are adjusted for their number. "holm" keeps the chance of
        any false alarm at 5 %; "benjamini-hochberg" keeps the expected share
        of false ones among the alarms.
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
    groups : array-like of shape (n_samples,), False or None, default=None
        As in `calibration_error_interval`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    pos_label : object, default=None
        With `by`, the label whose probability `y_prob` gives.
    random_state : int, RandomState, Generator or None, default=None
        As in `calibration_error_interval`.

    Returns
    -------
    LabelCalibration
        One row per label or slice.

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
    >>> region = rng.choice(["north", "south"], size=2000)
    >>> label_calibration(y == "a", proba[:, 0], by=region).labels
    array(['north', 'south'], dtype='<U5')
    """
    maker = IntervalMaker(bin_size, n_bins, squared, method, confidence_level, n_resamples)
    check_option(adjust, "adjust", ADJUSTMENTS)
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    if isinstance(queries, QueryScan):
        if by is not None or not queries.labelled:
            raise TypeError(
                "Labels, or slices, are a column of the scan: scan_queries(..., label='its name')."
            )
        parts = label_parts(queries, lambda ordered: inference_rule(ordered, bin_size, n_bins))
        return _table(parts, maker, adjust, check_generator(random_state))
    if by is not None:
        given = isinstance(y_true, Queries)
        n_rows = len(queries) if given else len(check_array_like(y_prob, ""))
        slices = _slices(by, n_rows, "queries" if given else "rows")
        queries = queries.with_labels(np.repeat(slices, len(queries) // n_rows))
    if queries.labels is None:
        raise ValueError(
            "There is one probability per row, and so a single question. Pass a matrix with one "
            "column per class, a Queries object that has labels, or by= to slice the rows."
        )
    table = _table(queries.by_label(), maker, adjust, check_generator(random_state))
    known = queries.labels.tolist()
    chosen = [known.index(name) for name in table.labels.tolist()]
    return replace(table, labels=queries.labels[chosen])


def _table(
    parts: Sequence[tuple[Any, Queries | QueryScan]],
    maker: IntervalMaker,
    adjust: str | None,
    rng: np.random.Generator,
) -> LabelCalibration:
    """Return one row for each label and its queries."""
    rows: list[tuple[object, ...]] = []
    for name, part in parts:
        count, n_rows, expected_yes, weight_gap = _counts(part)
        try:
            result = maker.of_queries(part, rng)
            pvalue = np.nan if result.pvalue is None else result.pvalue
            found = (result.error, *result.confidence_interval, result.mean_gap, pvalue)
            impossible = sum(result.impossible)
        except TooFewError:
            found, impossible = (np.nan, 0.0, 1.0, weight_gap, np.nan), 0
        rows.append((name, count, n_rows, impossible, expected_yes, *found))
    names, counts, n_queries, n_impossible, *numbers = zip(*rows, strict=True)
    expected, error, low, high, gap, pvalues = (np.array(column) for column in numbers)
    return LabelCalibration(
        labels=_tidy(names),
        count=np.array(counts),
        n_queries=np.array(n_queries),
        error=error,
        confidence_interval=ConfidenceInterval(low, high),
        mean_gap=gap,
        expected=expected,
        pvalue=pvalues,
        adjusted_pvalue=adjust_pvalues(pvalues, adjust),
        confidence_level=float(maker.confidence_level),
        n_impossible=np.array(n_impossible),
    )


def _counts(part: Queries | QueryScan) -> tuple[int, int, float, float]:
    """Return the number of yes and of queries, the sum of the predictions, and the mean gap."""
    if isinstance(part, Queries):
        weight = part.sample_weight
        used = weight is None or weight.any()
        gap = float(np.average(part.y_prob - part.y_true, weights=weight)) if used else np.nan
        count = int(np.count_nonzero(part.y_true))
        return count, len(part), float(part.y_prob.sum()), gap
    ordered = sort_or_scan(part)
    rows = np.ones(len(ordered.q)) if ordered.pool is None else ordered.pool.n
    gap = -float(ordered.weighted_residuals.sum() / ordered.total)
    count = round(float(np.dot(rows, ordered.y)))
    return count, part.n_rows or len(ordered), float(np.dot(rows, ordered.q)), gap


def _slices(by: ArrayLike, n_rows: int, things: str) -> Array:
    """Return the slice of each row or query; a missing value is a slice of its own."""
    values = check_array_like(by, "by")
    if values.ndim != 1 or len(values) != n_rows:
        hint = " What is known by group is known by query as values[queries.group]."
        raise ValueError(
            f"by must have one entry for each of the {n_rows} {things}; got shape {values.shape}."
            + (hint if things == "queries" else "")
        )
    missing = np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    if not missing.any():
        return values
    return np.where(missing, "missing", values.astype(str))
