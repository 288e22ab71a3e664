"""Scores taken apart: the parts add up, and are those of the bins."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from sklearn_calib import calibration_bins, score_decomposition
from sklearn_calib.datasets import make_queries


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bin_size", ["auto", 1, 7, 400])
@pytest.mark.parametrize("ties", [False, True])
def test_decompositions_add_up_to_scikit_learn(weighted, bin_size, ties):
    sample = make_queries(500, distortion="slope", decimals=1 if ties else None, random_state=4)
    y, q = sample.y_true, sample.y_prob
    w = np.random.default_rng(0).exponential(size=500) if weighted else None
    with warnings.catch_warnings():
        # Rounding makes predictions of exactly 0 and 1, some of them wrong.
        warnings.filterwarnings("ignore", message=".*exactly 0 or 1 are wrong")
        warnings.filterwarnings("ignore", message=".*larger than the sum of the weights")
        for score, peer in (("brier", brier_score_loss), ("log", log_loss)):
            parts = score_decomposition(y, q, score=score, bin_size=bin_size, sample_weight=w)
            expected = peer(y, q, sample_weight=w)
            total = parts.calibration + parts.refinement + parts.within_bin
            assert parts.score == pytest.approx(expected, abs=1e-12)
            assert total == pytest.approx(expected, abs=1e-12)


def test_wrong_certainty_gives_a_warning():
    with pytest.warns(UserWarning, match="2 predictions of exactly 0 or 1 are wrong"):
        parts = score_decomposition([1, 0, 0, 1], [0.0, 1.0, 0.0, 0.5], score="log", n_bins=1)
    assert parts.score == pytest.approx(log_loss([1, 0, 0, 1], [0.0, 1.0, 0.0, 0.5]))


def test_refinement_is_that_of_the_decomposition():
    sample = make_queries(4000, distortion="slope", strength=0.5, random_state=0)
    bins = calibration_bins(sample.queries, n_bins=20)
    parts = score_decomposition(sample.queries, n_bins=20)
    assert bins.refinement == pytest.approx(parts.refinement)
    assert bins.error(squared=True) == pytest.approx(parts.calibration)


def test_one_bin_is_counted_in_plain_english():
    assert repr(score_decomposition([0, 1, 1], [0.5, 0.5, 0.5])).endswith("(1 bin)")
