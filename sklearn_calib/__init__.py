"""Can I trust this model's probabilities?

Importing the package registers its scorer strings with scikit-learn.
"""

from sklearn_calib._results import ConfidenceInterval
from sklearn_calib.datasets import SimulatedQueries, make_queries
from sklearn_calib.display import AdaptiveCalibrationDisplay
from sklearn_calib.metrics import (
    AdaptiveBinCalibrationError,
    CalibrationBins,
    CalibrationErrorResult,
    LabelCalibration,
    ScoreDecomposition,
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_error_interval,
    label_calibration,
    score_decomposition,
    select_bin_size,
)
from sklearn_calib.queries import Queries, classifier_queries

__version__ = "0.1.0"

__all__ = [
    "AdaptiveBinCalibrationError",
    "AdaptiveCalibrationDisplay",
    "CalibrationBins",
    "CalibrationErrorResult",
    "ConfidenceInterval",
    "LabelCalibration",
    "Queries",
    "ScoreDecomposition",
    "SimulatedQueries",
    "adaptive_bin_calibration_error",
    "calibration_bins",
    "calibration_error_interval",
    "classifier_queries",
    "label_calibration",
    "make_queries",
    "score_decomposition",
    "select_bin_size",
]
