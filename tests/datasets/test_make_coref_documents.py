"""Simulated documents follow their model."""

import numpy as np
import pytest

from sklearn_calib import adaptive_bin_calibration_error, link_queries
from sklearn_calib.coref import link_probabilities
from sklearn_calib.datasets import (
    make_coref_documents,
)


def test_simulated_documents_are_calibrated():
    data = make_coref_documents(400, random_state=0)
    links = [link_probabilities(proba) for proba in data.antecedent_proba]
    queries = link_queries(links, data.y)
    # The noise floor of so many links is about .003.
    assert adaptive_bin_calibration_error(queries, n_bins=15) < 0.01
    assert abs(np.mean(queries.y_prob) - np.mean(queries.y_true)) < 0.005


def test_simulated_documents_follow_their_options():
    vague, sharp = (
        make_coref_documents(30, sharpness=s, random_state=0).antecedent_proba for s in (0.2, 3.0)
    )
    peak = [np.mean([p.max(axis=1).mean() for p in probas]) for probas in (vague, sharp)]
    assert peak[0] < peak[1]
    one = make_coref_documents(3, random_state=1)
    two = make_coref_documents(3, random_state=1)
    assert [e.tolist() for e in one.y] == [e.tolist() for e in two.y]
    assert one.X[0].heads is not None
    with pytest.raises(ValueError, match="sharpness"):
        make_coref_documents(3, sharpness=0)
    with pytest.raises(ValueError, match="sharpness must be a positive finite number"):
        make_coref_documents(3, sharpness=np.inf)
