"""Everything that is asked of predictions first, in one object: numbers, text and page."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._output import check_target, write_whole
from sklearn_calib._results import ConfidenceInterval, Result, percent, pvalue_text
from sklearn_calib._validation import RandomState
from sklearn_calib.display import AdaptiveCalibrationDisplay
from sklearn_calib.metrics import (
    CalibrationBins,
    CalibrationErrorResult,
    CalibrationTestResult,
    LabelCalibration,
    ScoreDecomposition,
    calibration_bins,
    calibration_error_interval,
    calibration_test,
    label_calibration,
    score_decomposition,
    select_bin_size,
)
from sklearn_calib.metrics._inference._read_ahead import count_yes, read_ahead
from sklearn_calib.queries import Queries, QueryScan
from sklearn_calib.queries._as_queries import Groups, queries_or_scan
from sklearn_calib.report._page import notebook_view, page
from sklearn_calib.report._verdict import advice, verdict

__all__ = ["Report", "calibration_report"]


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """What a calibration report says.

    Printed, it is a table of text. In a notebook it shows a short table and
    the calibration curve, and `save` writes the whole page.

    Attributes
    ----------
    queries : Queries or QueryScan
        What was measured.
    bins : CalibrationBins
        The bins of the curve, of the ECE and of the parts of the scores.
    interval : CalibrationErrorResult
        The calibration error with its confidence interval. Its bins are its
        own, and narrower.
    tests : tuple of CalibrationTestResult
        Two tests of perfect calibration: "omnibus", and "binned", which agrees
        with the interval.
    brier, log_loss : ScoreDecomposition
        The Brier score and the log loss, with their parts.
    labels : LabelCalibration or None
        The calibration error of each label; None where there is one question
        only. All other numbers pool the labels.
    suggested_bin_size : int
        What `select_bin_size` returns.
    notes : tuple of str
        Warnings about the data.
    name : str or None
        What the predictions are called.
    bin_options : dict
        The options `bin_size` and `n_bins` that made `bins`.

    See Also
    --------
    calibration_report : Makes this object.
    """

    queries: Queries | QueryScan
    bins: CalibrationBins
    interval: CalibrationErrorResult
    tests: tuple[CalibrationTestResult, ...]
    brier: ScoreDecomposition
    log_loss: ScoreDecomposition
    labels: LabelCalibration | None
    suggested_bin_size: int
    notes: tuple[str, ...]
    name: str | None
    bin_options: Mapping[str, int | str | None]

    @property
    def error(self) -> float:
        """Calibration error: root mean square, without what chance adds."""
        return self.interval.error

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """Interval for the calibration error."""
        return self.interval.confidence_interval

    @property
    def confidence_level(self) -> float:
        """Level of every interval of the report."""
        return self.interval.confidence_level

    @property
    def ece(self) -> float:
        """Expected calibration error in the bins of the curve, known as adaptive ECE.

        It is the mean absolute gap. Chance adds to it, as to every plug-in error.
        """
        return self.bins.error("l1")

    @property
    def mean_gap(self) -> float:
        """Mean prediction minus share of yes: positive where predictions are too high."""
        return self.interval.mean_gap

    @property
    def mean_overconfidence(self) -> float:
        """Positive where predictions are too extreme, negative where they are too cautious."""
        return self.interval.mean_overconfidence

    @property
    def row_scores(self) -> tuple[float, float] | None:
        """Brier score and log loss over whole rows, as scikit-learn has them for many classes.

        Per row, the Brier score is summed over the classes, and the log loss is
        that of the true class. None where the queries are not the classes of
        rows of which exactly one is right.
        """
        if isinstance(self.queries, QueryScan):
            return None
        labels, label = self.queries.labels, self.queries._codes
        k = 0 if labels is None else len(labels)
        if label is None or k < 3 or len(label) % k:
            return None
        y, q = (values.reshape(-1, k) for values in (self.queries.y_true, self.queries.y_prob))
        if (label.reshape(-1, k) != np.arange(k)).any() or (y.sum(axis=1) != 1).any():
            return None
        weight = self.queries.sample_weight
        of_rows = None if weight is None else weight.reshape(-1, k)[:, 0]
        brier = np.average(np.square(y - q).sum(axis=1), weights=of_rows)
        # As scikit-learn does, a true class with probability 0 counts as the least above it.
        likelihood = np.clip(q[y], np.finfo(float).eps, 1.0)
        return float(brier), float(-np.average(np.log(likelihood), weights=of_rows))

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        if isinstance(self.queries, QueryScan):
            return self.queries.n_rows or int(self.bins.count.sum())
        return len(self.queries)

    @property
    def n_yes(self) -> int:
        """Number of queries whose answer is yes."""
        if isinstance(self.queries, QueryScan):
            return count_yes(self.queries)
        return int(np.count_nonzero(self.queries.y_true))

    @property
    def n_groups(self) -> int | None:
        """Number of groups; None where there are none."""
        if isinstance(self.queries, QueryScan):
            return self.queries._cache.get("n_groups") if self.queries.grouped else None
        return None if self.queries.group is None else self.queries.n_groups

    @property
    def title(self) -> str:
        """What stands above the report."""
        return "Calibration report" if self.name is None else f"Calibration of {self.name}"

    @property
    def verdict(self) -> str:
        """What the numbers say, in one or two sentences."""
        return verdict(self)

    @property
    def advice(self) -> list[str]:
        """What to do about it, line by line."""
        return advice(self)

    def _pooled(self) -> str:
        """Say that several labels were pooled; empty where there is nothing to pool."""
        return "" if self.labels is None else f"all {len(self.labels)} labels pooled"

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the summary: what, and its value as text."""
        low, high = self.confidence_interval
        n, yes = self.n_queries, self.n_yes
        over = self.mean_overconfidence
        groups = self.n_groups
        return [
            ("queries", f"{n:,}"),
            *([] if groups is None else [("groups of queries", f"{groups:,}")]),
            ("answers that are yes", f"{yes:,} ({yes / n:.1%})"),
            ("calibration error", f"{self.error:.4f}"),
            (f"{percent(self.confidence_level)} interval", f"{low:.4f} to {high:.4f}"),
            *(
                (f"test of perfect calibration ({test.name})", pvalue_text(test.pvalue))
                for test in self.tests
            ),
            *(
                [("impossible if predictions were right", self.interval.impossible.text)]
                if self.interval.impossible
                else []
            ),
            ("mean prediction", _direction(self.mean_gap)),
            ("confidence", f"{abs(over):.4f} {'over' if over > 0 else 'under'}confident"),
            ("adaptive ECE", f"{self.ece:.4f}"),
            ("Brier score", f"{self.brier.score:.4f}"),
            ("  of it calibration", f"{self.brier.calibration:.4f}"),
            ("  of it refinement", f"{self.brier.refinement:.4f}"),
            ("  of it within bins", f"{self.brier.within_bin:.4f}"),
            ("log loss", f"{self.log_loss.score:.4f}"),
            ("  of it calibration", f"{self.log_loss.calibration:.4f}"),
            ("  of it refinement", f"{self.log_loss.refinement:.4f}"),
            ("  of it within bins", f"{self.log_loss.within_bin:.4f}"),
            *(
                (f"{name} of rows (scikit-learn)", f"{score:.4f}")
                for name, score in zip(
                    ("Brier score", "log loss"), self.row_scores or (), strict=False
                )
            ),
            ("bins of ECE and of these parts", f"{len(self.bins):,}, as in the curve"),
            ("bins of the error and its interval", f"{len(self.interval.bins):,}"),
            ("suggested bin size", f"{self.suggested_bin_size:,}"),
        ]

    def _text(self, most: int) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        title = "" if self.name is None else self.title
        head = ", ".join(part for part in (title, self._pooled()) if part)
        lines = [head] if head else []
        lines += [self.verdict, ""]
        lines += [f"{name:<{width}}  {value}" for name, value in rows]
        if self.labels is not None:
            lines += [
                "",
                f"by label, most common first (mean error {self.labels.mean_error:.4f}):",
                self.labels.most_common()._text(most),
            ]
        lines += [f"note: {note}" for note in self.notes]
        lines += ["", *self.advice]
        return "\n".join(lines)

    def _columns(self) -> dict[str, list[object]]:
        low, high = self.confidence_interval
        row: dict[str, object] = {
            "name": self.name,
            "n_queries": self.n_queries,
            "n_groups": self.n_queries if self.n_groups is None else self.n_groups,
            "n_yes": self.n_yes,
            "error": self.error,
            "low": low,
            "high": high,
            "confidence_level": self.confidence_level,
            **{f"pvalue_{test.name}": test.pvalue for test in self.tests},
            "mean_gap": self.mean_gap,
            "mean_overconfidence": self.mean_overconfidence,
            "ece": self.ece,
        }
        for name, score in (("brier", self.brier), ("log_loss", self.log_loss)):
            row[name] = score.score
            for part in ("calibration", "refinement", "within_bin"):
                row[f"{name}_{part}"] = getattr(score, part)
        row["n_bins"] = len(self.bins)
        row["suggested_bin_size"] = self.suggested_bin_size
        return {name: [value] for name, value in row.items()}

    def _repr_html_(self) -> str:
        return notebook_view(self)

    def plot(self, ax: Any = None, **options: Any) -> AdaptiveCalibrationDisplay:
        """Draw the calibration curve (reliability diagram) in the bins of the report.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options
            Further keywords of `AdaptiveCalibrationDisplay.from_queries`.

        Returns
        -------
        AdaptiveCalibrationDisplay
            The drawn display.
        """
        chosen = {"confidence_level": self.confidence_level, "name": self.name}
        return AdaptiveCalibrationDisplay.from_queries(
            self.queries, ax=ax, **{**chosen, **self.bin_options, **options}
        )

    def to_html(self) -> str:
        """Return the whole page: every number and picture, in one file that loads nothing."""
        return page(self)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Write the whole page to a file.

        Parameters
        ----------
        path : str or path
            Where to write. A page of this package is replaced, once the new one is
            whole; any other file with `force` only.
        force : bool, default=False
            Whether to replace a file that this package did not write.

        Returns
        -------
        pathlib.Path
            Where it was written.
        """
        target = check_target(path, force)
        write_whole(target, self.to_html())
        return target


def _direction(gap: float) -> str:
    if abs(gap) < 5e-5:
        return "as high as the share of yes"
    return f"{abs(gap):.4f} too {'high' if gap > 0 else 'low'}"


def calibration_report(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    groups: Groups = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    confidence_level: float = 0.95,
    name: str | None = None,
    random_state: RandomState = None,
) -> Report:
    """Measure predictions in every usual way, and report it.

    The report has the calibration error with its interval, tests of perfect
    calibration, the adaptive ECE, the Brier score and the log loss with their
    parts and, for several classes, the error of each class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    groups : array-like of shape (n_samples,), False or None, default=None
        Which sentence, document or person each row belongs to, as in
        `calibration_error_interval`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.
    bin_size : int or "auto", default="auto"
        Queries per bin of the curve, of the ECE and of the parts of the
        scores; "auto" makes max(10, cbrt(N)) bins. The interval and the tests
        have narrower bins of their own.
    n_bins : int, default=None
        Ask for a number of bins instead of a size.
    confidence_level : float, default=0.95
        Level of every interval.
    name : str, default=None
        What to call the predictions in titles.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws of the tests.

    Returns
    -------
    Report
        The numbers. It prints as text, shows itself in a notebook, and writes
        a page of HTML.

    See Also
    --------
    calibration_error_interval : The calibration error with its interval alone.
    AdaptiveCalibrationDisplay : The calibration curve alone.

    Notes
    -----
    Warnings about the data become notes of the report. The command line,
    ``sklearn-calib report``, prints and writes the same for a file.

    Examples
    --------
    >>> from sklearn_calib import calibration_report
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(2000, distortion="slope", strength=0.6, random_state=0)
    >>> report = calibration_report(sample.queries, name="simulated", random_state=0)
    >>> print(report)
    Calibration of simulated
    Overconfident: where it says ... come true ...
    <BLANKLINE>
    queries                                2,000
    answers that are yes                   999 (50.0%)
    calibration error                      0.0797
    95% interval                           0.0544 to 0.1041
    ...
    >>> low, high = report.confidence_interval
    >>> low < sample.error < high
    True
    """
    bins: dict[str, Any] = {"bin_size": bin_size, "n_bins": n_bins}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        queries = queries_or_scan(
            y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
            pos_label=pos_label,
        )  # fmt: skip
        if isinstance(queries, QueryScan):
            read_ahead(queries)
            labelled = queries.labelled
        else:
            labelled = queries.labels is not None and len(queries.labels) > 1
        interval = calibration_error_interval(queries, confidence_level=confidence_level)
        tests = tuple(
            calibration_test(queries, statistic=statistic, random_state=random_state)
            for statistic in ("omnibus", "binned")
        )
        labels = None
        if labelled:
            table = label_calibration(queries, confidence_level=confidence_level)
            labels = table if len(table) > 1 else None
        found = calibration_bins(queries, **bins)
        brier = score_decomposition(queries, **bins)
        log_loss = score_decomposition(queries, score="log", **bins)
        suggested = select_bin_size(queries)
    return Report(
        queries=queries,
        bins=found,
        interval=interval,
        tests=tests,
        brier=brier,
        log_loss=log_loss,
        labels=labels,
        suggested_bin_size=suggested,
        notes=tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        name=name,
        bin_options=bins,
    )
