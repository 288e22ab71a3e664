"""Bins, errors, intervals, decompositions and the scorer."""

from sklearn_calib.metrics._bin_size import select_bin_size
from sklearn_calib.metrics._bins import CalibrationBins, calibration_bins
from sklearn_calib.metrics._decomposition import ScoreDecomposition, score_decomposition
from sklearn_calib.metrics._error import adaptive_bin_calibration_error
from sklearn_calib.metrics._interval import CalibrationErrorResult, calibration_error_interval
from sklearn_calib.metrics._labels import LabelCalibration, label_calibration
from sklearn_calib.metrics._scorer import AdaptiveBinCalibrationError

__all__ = [
    "AdaptiveBinCalibrationError",
    "CalibrationBins",
    "CalibrationErrorResult",
    "LabelCalibration",
    "ScoreDecomposition",
    "adaptive_bin_calibration_error",
    "calibration_bins",
    "calibration_error_interval",
    "label_calibration",
    "score_decomposition",
    "select_bin_size",
]
