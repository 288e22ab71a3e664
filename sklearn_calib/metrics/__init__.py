"""Bins, errors, intervals, decompositions and the scorer."""

from sklearn_calib.metrics._bin_sizes import BinSizeCurve, bin_size_curve, select_bin_size
from sklearn_calib.metrics._bins import CalibrationBins, calibration_bins
from sklearn_calib.metrics._compare import CalibrationComparison, compare_calibration
from sklearn_calib.metrics._curves import (
    CalibrationCurve,
    CorpDecomposition,
    isotonic_calibration_curve,
    smooth_calibration_curve,
)
from sklearn_calib.metrics._decomposition import ScoreDecomposition, score_decomposition
from sklearn_calib.metrics._error import adaptive_bin_calibration_error
from sklearn_calib.metrics._hypothesis import CalibrationTestResult, calibration_test
from sklearn_calib.metrics._inference._sample import TooFewError
from sklearn_calib.metrics._interval import CalibrationErrorResult, calibration_error_interval
from sklearn_calib.metrics._labels import LabelCalibration, label_calibration
from sklearn_calib.metrics._null import CalibrationNull, calibration_null
from sklearn_calib.metrics._sample_sizes import SampleSizeCurve, sample_size_curve
from sklearn_calib.metrics._scorer import AdaptiveBinCalibrationError

__all__ = [
    "AdaptiveBinCalibrationError",
    "BinSizeCurve",
    "CalibrationBins",
    "CalibrationComparison",
    "CalibrationCurve",
    "CalibrationErrorResult",
    "CalibrationNull",
    "CalibrationTestResult",
    "CorpDecomposition",
    "LabelCalibration",
    "SampleSizeCurve",
    "ScoreDecomposition",
    "TooFewError",
    "adaptive_bin_calibration_error",
    "bin_size_curve",
    "calibration_bins",
    "calibration_error_interval",
    "calibration_null",
    "calibration_test",
    "compare_calibration",
    "isotonic_calibration_curve",
    "label_calibration",
    "sample_size_curve",
    "score_decomposition",
    "select_bin_size",
    "smooth_calibration_curve",
]
