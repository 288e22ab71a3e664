"""Can I trust this model's probabilities?

Importing the package registers its scorer strings with scikit-learn.
"""

from sklearn_calib._results import ConfidenceInterval
from sklearn_calib.coref import (
    Document,
    document_from_spacy,
    document_from_stanza,
    find_mentions,
    read_conll2012,
    read_conllu,
)
from sklearn_calib.datasets import SimulatedQueries, make_queries
from sklearn_calib.display import (
    AdaptiveCalibrationDisplay,
    BinSizeDisplay,
    LabelCalibrationDisplay,
)
from sklearn_calib.metrics import (
    AdaptiveBinCalibrationError,
    BinSizeCurve,
    CalibrationBins,
    CalibrationComparison,
    CalibrationCurve,
    CalibrationErrorResult,
    CalibrationTestResult,
    CorpDecomposition,
    LabelCalibration,
    SampleSizeCurve,
    ScoreDecomposition,
    adaptive_bin_calibration_error,
    bin_size_curve,
    calibration_bins,
    calibration_error_interval,
    calibration_test,
    compare_calibration,
    isotonic_calibration_curve,
    label_calibration,
    sample_size_curve,
    score_decomposition,
    select_bin_size,
    smooth_calibration_curve,
)
from sklearn_calib.queries import Queries, classifier_queries

__version__ = "0.1.0"

__all__ = [
    "AdaptiveBinCalibrationError",
    "AdaptiveCalibrationDisplay",
    "BinSizeCurve",
    "BinSizeDisplay",
    "CalibrationBins",
    "CalibrationComparison",
    "CalibrationCurve",
    "CalibrationErrorResult",
    "CalibrationTestResult",
    "ConfidenceInterval",
    "CorpDecomposition",
    "Document",
    "LabelCalibration",
    "LabelCalibrationDisplay",
    "Queries",
    "SampleSizeCurve",
    "ScoreDecomposition",
    "SimulatedQueries",
    "adaptive_bin_calibration_error",
    "bin_size_curve",
    "calibration_bins",
    "calibration_error_interval",
    "calibration_test",
    "classifier_queries",
    "compare_calibration",
    "document_from_spacy",
    "document_from_stanza",
    "find_mentions",
    "isotonic_calibration_curve",
    "label_calibration",
    "make_queries",
    "read_conll2012",
    "read_conllu",
    "sample_size_curve",
    "score_decomposition",
    "select_bin_size",
    "smooth_calibration_curve",
]
