"""Sequence taggers with exact marginals, and the lattice behind them."""

from sklearn_calib.sequence._crf import CRFTagger
from sklearn_calib.sequence._cross_val_marginals import CrossValMarginals, cross_val_marginals
from sklearn_calib.sequence._hmm import HMMTagger
from sklearn_calib.sequence._k_best import k_best_sequences
from sklearn_calib.sequence._lattice import LatticeMarginals, forward_backward
from sklearn_calib.sequence._paths import sample_sequences, viterbi
from sklearn_calib.sequence._spans import SentenceSpans, Span, span_probabilities

__all__ = [
    "CRFTagger",
    "CrossValMarginals",
    "HMMTagger",
    "LatticeMarginals",
    "SentenceSpans",
    "Span",
    "cross_val_marginals",
    "forward_backward",
    "k_best_sequences",
    "sample_sequences",
    "span_probabilities",
    "viterbi",
]
