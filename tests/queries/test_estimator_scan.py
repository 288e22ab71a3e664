"""A model asked about a stream of samples."""

import numpy as np
import pytest

from sklearn_calib import calibration_error_interval, estimator_queries
from sklearn_calib.datasets import make_tagged_sequences
from sklearn_calib.queries import scan_estimator
from sklearn_calib.sequence import HMMTagger
from tests.scans import assert_same, read_as_a_scan


@pytest.fixture(scope="module")
def tagged():
    data = make_tagged_sequences(400, random_state=0)
    return HMMTagger().fit(data.X[:200], data.y[:200]), data.X[200:], data.y[200:]


@pytest.mark.parametrize("options", [{}, {"unit": "pair", "pairs": 5}])
@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_the_queries_are_those_in_memory(tagged, batch_size, options):
    tagger, X, y = tagged
    scan = scan_estimator(tagger, lambda: zip(X, y, strict=True), batch_size=batch_size, **options)
    found, expected = scan.collect(), estimator_queries(tagger, X, y, **options)
    np.testing.assert_allclose(found.y_prob, expected.y_prob, rtol=1e-12)
    np.testing.assert_array_equal(found.y_true, expected.y_true)
    np.testing.assert_array_equal(found.label, expected.label)
    assert found.n_groups == expected.n_groups


def test_an_interval_by_sentence(tagged, monkeypatch):
    read_as_a_scan(monkeypatch)
    tagger, X, y = tagged
    scan = scan_estimator(tagger, lambda: zip(X, y, strict=True), batch_size=50)
    found = calibration_error_interval(scan)
    expected = calibration_error_interval(estimator_queries(tagger, X, y))
    assert_same(found.confidence_interval, expected.confidence_interval, rtol=1e-6)


def test_an_iterator_is_refused(tagged):
    tagger, X, y = tagged
    with pytest.raises(TypeError, match="read several times"):
        scan_estimator(tagger, zip(X, y, strict=True))
