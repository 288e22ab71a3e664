"""The calibration error as one number."""

import numpy as np
import pytest

from sklearn_calib import (
    adaptive_bin_calibration_error,
    classifier_queries,
)
from sklearn_calib.datasets import make_queries


def test_debiased_error_is_closer_to_the_truth_when_calibrated():
    rng = np.random.default_rng(0)
    debiased, plug_in = [], []
    for _ in range(100):
        queries = make_queries(2000, random_state=rng).queries
        for values, debias in ((debiased, True), (plug_in, False)):
            values.append(adaptive_bin_calibration_error(queries, bin_size=44, debias=debias))
    assert np.sqrt(np.mean(np.square(debiased))) < 0.5 * np.sqrt(np.mean(np.square(plug_in)))


@pytest.mark.filterwarnings("ignore:y_prob holds only 0 and 1")
def test_automatic_bins_are_those_whose_risk_was_measured():
    y = [0] * 50 + [1] * 50 + [0] * 50
    assert adaptive_bin_calibration_error(y, [0.0] * 100 + [1.0] * 50) > 0.7


PROBA = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])


def test_labels_choose_queries():
    queries = classifier_queries([0, 2, 1], PROBA, classes=[0, 1, 2])
    only = adaptive_bin_calibration_error(queries, classes=[1], n_bins=1)
    assert only == pytest.approx(abs(PROBA[:, 1].mean() - 1 / 3))
    macro = adaptive_bin_calibration_error(queries, classes=[0, 1], average="macro", n_bins=1)
    first = abs(PROBA[:, 0].mean() - 1 / 3)
    assert macro == pytest.approx((only + first) / 2)
    with pytest.raises(ValueError, match="classes has 9, which no query has"):
        adaptive_bin_calibration_error(queries, classes=[9])
    with pytest.raises(ValueError, match="average='top_label' needs the probabilities"):
        adaptive_bin_calibration_error(queries, average="top_label")
