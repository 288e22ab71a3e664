"""Can I trust this model's probabilities?

Importing the package registers its scorer strings with scikit-learn.
"""

from sklearn_calib._results import ConfidenceInterval
from sklearn_calib.datasets import (
    SimulatedQueries,
    TaggedCorpus,
    TweetCorpus,
    load_ark_tweets,
    load_conll2000,
    load_sentiment140,
    load_ud_ewt,
    make_queries,
)
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
from sklearn_calib.queries import Queries, classifier_queries, tag_queries
from sklearn_calib.sequence import (
    CRFTagger,
    HMMTagger,
    LatticeMarginals,
    forward_backward,
    sample_sequences,
    viterbi,
)

__version__ = "0.1.0"

__all__ = [
    "AdaptiveBinCalibrationError",
    "AdaptiveCalibrationDisplay",
    "BinSizeCurve",
    "BinSizeDisplay",
    "CRFTagger",
    "CalibrationBins",
    "CalibrationComparison",
    "CalibrationCurve",
    "CalibrationErrorResult",
    "CalibrationTestResult",
    "ConfidenceInterval",
    "CorpDecomposition",
    "HMMTagger",
    "LabelCalibration",
    "LabelCalibrationDisplay",
    "LatticeMarginals",
    "Queries",
    "SampleSizeCurve",
    "ScoreDecomposition",
    "SimulatedQueries",
    "TaggedCorpus",
    "TweetCorpus",
    "adaptive_bin_calibration_error",
    "bin_size_curve",
    "calibration_bins",
    "calibration_error_interval",
    "calibration_test",
    "classifier_queries",
    "compare_calibration",
    "forward_backward",
    "isotonic_calibration_curve",
    "label_calibration",
    "load_ark_tweets",
    "load_conll2000",
    "load_sentiment140",
    "load_ud_ewt",
    "make_queries",
    "sample_sequences",
    "sample_size_curve",
    "score_decomposition",
    "select_bin_size",
    "smooth_calibration_curve",
    "tag_queries",
    "viterbi",
]
