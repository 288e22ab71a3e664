"""What every calibration curve without bins is: points, and two bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sklearn_calib._results import ConfidenceInterval, PlottedResult, Result
from sklearn_calib._validation import Array

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

__all__ = ["CalibrationCurve", "CorpDecomposition"]


@dataclass(frozen=True, eq=False, repr=False)
class CorpDecomposition(Result):
    """A mean score as miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    name : {"brier", "log"}
        Which score.
    score : float
        Mean score of the predictions.
    miscalibration : float
        What the isotonic recalibration would win; never negative.
    discrimination : float
        What the recalibrated predictions win over a constant; never negative.
    uncertainty : float
        Score of the best constant prediction.

    See Also
    --------
    isotonic_calibration_curve : Makes this object.
    """

    name: str
    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    def _columns(self) -> dict[str, list[object]]:
        parts = ("miscalibration", "discrimination", "uncertainty", "score")
        label = {"brier": "Brier score", "log": "log loss"}[self.name]
        return {"part": list(parts), label: [getattr(self, part) for part in parts]}

    def _sentence(self) -> str:
        return "score = miscalibration - discrimination + uncertainty"


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCurve(PlottedResult):
    """A calibration curve at fine steps, with bands.

    Attributes
    ----------
    prob_pred : ndarray of shape (n_points,)
        Predictions, in increasing order.
    prob_true : ndarray of shape (n_points,)
        Estimated frequency of yes at each of them.
    confidence_interval : ConfidenceInterval
        Arrays `low` and `high`: how well the curve is known at each point.
        Those of the Gaussian process are credible intervals.
    consistency_band : ConfidenceInterval
        Arrays `low` and `high`: where the estimate would fall at each point
        if the predictions were right.
    confidence_level : float
        Level of both, at each point on its own.
    method : {"smooth", "isotonic", "gaussian_process"}
        Which estimate.
    bandwidth : float or None
        Of the smooth curve, in units of log-odds.
    decomposition : CorpDecomposition or None
        Of the isotonic curve.
    kernel : sklearn.gaussian_process.kernels.Kernel or None
        Of the Gaussian process, as it was fitted to log-odds.

    See Also
    --------
    smooth_calibration_curve : Makes this object.
    isotonic_calibration_curve : Makes this object.
    gaussian_process_calibration_curve : Makes this object.
    calibration_band : A band for the curve as a whole.
    """

    prob_pred: Array
    prob_true: Array
    confidence_interval: ConfidenceInterval
    consistency_band: ConfidenceInterval
    confidence_level: float
    method: str
    bandwidth: float | None = None
    decomposition: CorpDecomposition | None = None
    kernel: Kernel | None = None

    @property
    def name(self) -> str:
        """The method in words."""
        return self.method.replace("gaussian_process", "Gaussian-process")

    def _columns(self) -> dict[str, Array]:
        low, high = self.confidence_interval
        return {"prob_pred": self.prob_pred, "prob_true": self.prob_true, "low": low, "high": high}

    def _sentence(self) -> str:
        bandwidth = "" if self.bandwidth is None else f", bandwidth {self.bandwidth:.3g} log-odds"
        return f"{self.name} calibration curve at {len(self.prob_pred)} points{bandwidth}"
