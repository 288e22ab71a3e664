"""What the numbers say, in one or two plain sentences, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_calib._results import percent

if TYPE_CHECKING:
    from sklearn_calib.report._report import Report

# From so many answers of the rarer kind on, an isotonic map has enough to go by.
_ENOUGH_FOR_ISOTONIC = 1000


def verdict(report: Report) -> str:
    """Say whether the predictions can be taken at their word, and if not, how they are wrong."""
    low, high = report.confidence_interval
    level = percent(report.confidence_level)
    if low == 0.0:
        return (
            f"No sign of miscalibration: the data do not rule out an error of 0. It may be up to "
            f"{high:.3f} ({level})."
        )
    kind = {
        "high": "Predictions are too high",
        "low": "Predictions are too low",
        "over": "Overconfident",
        "under": "Underconfident",
        "mixed": "Miscalibrated",
    }[direction(report)]
    example = _example(report)
    gain = report.interval.error if report.interval.squared else report.interval.error**2
    return (
        f"{kind}{': ' + example if example else ''}. Recalibrating would lower the Brier score by "
        f"about {gain:.4f}, of {report.brier.score:.4f}."
    )


def direction(report: Report) -> str:
    """Return the kind of error that explains most of the gaps: high, low, over, under or mixed."""
    size = report.bins.error("l1")
    if abs(report.bins.mean_gap) > 0.6 * size:
        return "high" if report.bins.mean_gap > 0 else "low"
    if abs(report.bins.mean_overconfidence) > 0.4 * size:
        return "over" if report.bins.mean_overconfidence > 0 else "under"
    return "mixed"


def _example(report: Report) -> str:
    """Name the bin that tells most: what it says, and what comes true."""
    bins = report.bins
    low, high = bins.confidence_interval(report.confidence_level)
    sure = (bins.prob_pred < low) | (bins.prob_pred > high)
    # It should show what the verdict says.
    sign = {"high": bins.gap > 0, "low": bins.gap < 0, "over": bins.overconfidence > 0}
    sign["under"] = bins.overconfidence < 0
    sure &= sign.get(direction(report), np.ones(len(bins), dtype=bool))
    if not sure.any():
        return ""
    b = int(np.argmax(np.where(sure, np.abs(bins.gap), -1.0)))
    says, true = 100.0 * bins.prob_pred[b], 100.0 * bins.prob_true[b]
    digits = 0 if min(says, true, 100.0 - says, 100.0 - true) >= 1.0 else 1
    return (
        f"where it says {says:.{digits}f} %, {true:.{digits}f} % come true "
        f"[{100.0 * low[b]:.{digits}f}, {100.0 * high[b]:.{digits}f}]"
    )


def advice(report: Report) -> list[str]:
    """Return what to do: a sentence, and lines of code where there is something to run."""
    low, high = report.confidence_interval
    if low == 0.0:
        if high < 0.02:
            return ["Nothing to mend."]
        return [
            "Nothing to mend that these data show. More of them would narrow the interval; "
            "calibration_test(..., tolerance=0.02) asks whether the error is small enough."
        ]
    rarer = min(report.n_yes, report.n_queries - report.n_yes)
    method = "isotonic" if rarer >= _ENOUGH_FOR_ISOTONIC else "sigmoid"
    return [
        "Recalibrate on data that the model has not been fitted on, and measure again on others:",
        f'    CalibratedClassifierCV(model, method="{method}").fit(X, y)  # sklearn.calibration',
        "    CalibratedStructureCV(model).fit(X, y)  # sklearn_calib: taggers, coreference",
        'The guide has a page, "It is miscalibrated. What now?".',
    ]
