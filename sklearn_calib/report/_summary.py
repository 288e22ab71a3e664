"""What a report says: numbers first, then their text."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sklearn_calib._results import percent
from sklearn_calib.metrics import (
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
from sklearn_calib.queries import Queries


@dataclass(frozen=True, eq=False)
class Summary:
    """Everything that a report shows."""

    queries: Queries
    result: CalibrationErrorResult
    tests: tuple[CalibrationTestResult, ...]
    brier: ScoreDecomposition
    log: ScoreDecomposition
    bin_size: int
    labels: LabelCalibration | None
    notes: tuple[str, ...]

    def _groups(self) -> list[tuple[str, str]]:
        """Say how many groups the intervals and tests allow for."""
        if self.queries.group is None:
            return []
        return [("groups of queries", f"{len(np.unique(self.queries.group)):,}")]

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the summary table: what, and its value."""
        low, high = self.result.confidence_interval
        level = percent(self.result.confidence_level)
        n, yes = len(self.queries), int(self.queries.y_true.sum())
        gap, over = self.result.mean_gap, self.result.mean_overconfidence
        rows = [
            ("queries", f"{n:,}"),
            *self._groups(),
            ("answers that are yes", f"{yes:,} ({yes / n:.1%})"),
            ("calibration error", f"{self.result.error:.4f}"),
            (f"{level} interval", f"{low:.4f} to {high:.4f}"),
        ]
        rows += [
            (f"test of perfect calibration ({test.name})", _p_value(test.pvalue))
            for test in self.tests
        ]
        rows += [
            ("mean prediction", _direction(gap)),
            ("confidence", f"{abs(over):.4f} {'over' if over > 0 else 'under'}confident"),
            ("Brier score", f"{self.brier.score:.4f}"),
            ("  of it calibration", f"{self.brier.calibration:.4f}"),
            ("  of it refinement", f"{self.brier.refinement:.4f}"),
            ("  of it within bins", f"{self.brier.within_bin:.4f}"),
            ("log loss", f"{self.log.score:.4f}"),
            ("  of it calibration", f"{self.log.calibration:.4f}"),
            ("  of it refinement", f"{self.log.refinement:.4f}"),
            ("  of it within bins", f"{self.log.within_bin:.4f}"),
            ("bins of these parts", f"{self.brier.n_bins}, as in the curve"),
            ("suggested bin size", f"{self.bin_size:,}"),
        ]
        return rows

    def text(self) -> str:
        """Return the report as plain text."""
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {value}" for name, value in rows]
        if self.labels is not None:
            lines += ["", "by label, most common first:", str(self.labels.most_common())]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def _p_value(value: float) -> str:
    # Below the smallest numbers there are, nothing is left but their order of size.
    return f"p = {value:.3g}" if value > 0.0 else "p < 1e-300"


def _direction(gap: float) -> str:
    if abs(gap) < 5e-5:
        return "as high as the share of yes"
    return f"{abs(gap):.4f} too {'high' if gap > 0 else 'low'}"


def _curve_bins(queries: Queries) -> dict[str, Any]:
    """Return the options that split a score over the bins of the curve.

    The automatic bins are for one number, and few: a single one where the model is calibrated.
    """
    bins = calibration_bins(queries)
    size = bins.bin_size
    if size is not None and float(size).is_integer():
        return {"bin_size": int(size)}
    # With weights that are no whole numbers, the size is none either.
    return {"n_bins": len(bins)}


def summarise(queries: Queries, *, confidence_level: float, random_state: Any = 0) -> Summary:
    """Measure queries in every way that the report shows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        bins = _curve_bins(queries)
        many = queries.labels is not None and len(queries.labels) > 1
        summary = Summary(
            queries=queries,
            result=calibration_error_interval(queries, confidence_level=confidence_level),
            tests=tuple(
                calibration_test(queries, statistic=statistic, random_state=random_state)
                for statistic in ("binned", "kuiper")
            ),
            brier=score_decomposition(queries, **bins),
            log=score_decomposition(queries, score="log", **bins),
            bin_size=select_bin_size(queries),
            labels=label_calibration(queries, confidence_level=confidence_level) if many else None,
            notes=(),
        )
    notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(summary, notes=notes)
