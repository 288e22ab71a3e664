"""Bins, errors, intervals, decompositions and the scorer."""

from sklearn_calib.metrics._band import BandRegion, CalibrationBand, calibration_band
from sklearn_calib.metrics._best_calibrated import best_calibrated
from sklearn_calib.metrics._bin_sizes import BinSizeCurve, bin_size_curve, select_bin_size
from sklearn_calib.metrics._bins import CalibrationBins, calibration_bins
from sklearn_calib.metrics._compare import CalibrationComparison, compare_calibration
from sklearn_calib.metrics._curves import CalibrationCurve, CorpDecomposition
from sklearn_calib.metrics._decomposition import ScoreDecomposition, score_decomposition
from sklearn_calib.metrics._error import adaptive_bin_calibration_error
from sklearn_calib.metrics._gaussian_process import gaussian_process_calibration_curve
from sklearn_calib.metrics._hypothesis import CalibrationTestResult, calibration_test
from sklearn_calib.metrics._inference._moments import TooFewError
from sklearn_calib.metrics._interval import CalibrationErrorResult, calibration_error_interval
from sklearn_calib.metrics._isotonic import isotonic_calibration_curve
from sklearn_calib.metrics._labels import LabelCalibration, label_calibration
from sklearn_calib.metrics._null import CalibrationNull, calibration_null
from sklearn_calib.metrics._sample_sizes import SampleSizeCurve, sample_size_curve
from sklearn_calib.metrics._scorer import AdaptiveBinCalibrationError
from sklearn_calib.metrics._smooth import smooth_calibration_curve

__all__ = [
    "AdaptiveBinCalibrationError",
    "BandRegion",
    "BinSizeCurve",
    "CalibrationBand",
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
    "best_calibrated",
    "bin_size_curve",
    "calibration_band",
    "calibration_bins",
    "calibration_error_interval",
    "calibration_null",
    "calibration_test",
    "compare_calibration",
    "gaussian_process_calibration_curve",
    "isotonic_calibration_curve",
    "label_calibration",
    "sample_size_curve",
    "score_decomposition",
    "select_bin_size",
    "smooth_calibration_curve",
]
