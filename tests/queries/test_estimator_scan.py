"""A model asked about a stream of samples."""

import tracemalloc
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from sklearn_calib import (
    CalibratedStructureCV,
    adaptive_bin_calibration_error,
    calibration_error_interval,
    estimator_queries,
)
from sklearn_calib.coref import AntecedentModel
from sklearn_calib.datasets import (
    make_chunked_sequences,
    make_coref_documents,
    make_tagged_sequences,
)
from sklearn_calib.queries import _estimator_scan, _scan_sources, scan_estimator
from sklearn_calib.sequence import CRFTagger, HMMTagger
from tests.scans import assert_same, read_as_a_scan


@cache
def model_and_data(name):
    """Return a fitted model, and data that it was not fitted to."""
    if name == "coref":
        data = make_coref_documents(30, random_state=0)
        return AntecedentModel(tol=0.1).fit(data.X[:15], data.y[:15]), data.X[15:], data.y[15:]
    make = make_chunked_sequences if name == "chunks" else make_tagged_sequences
    data = make(160, random_state=0)
    train = data.X[:80], data.y[:80]
    taggers = {
        "hmm": HMMTagger(),
        "chunks": HMMTagger(),
        "crf": CRFTagger(max_iterations=10),
        "temperature": CalibratedStructureCV(HMMTagger(), cv=2),
        "isotonic": CalibratedStructureCV(HMMTagger(), method="isotonic", cv=2),
    }
    return taggers[name].fit(*train), data.X[80:], data.y[80:]


CASES = [
    *((name, {}) for name in ("hmm", "crf", "temperature", "isotonic")),
    *((name, {"unit": "pair", "pairs": 5}) for name in ("hmm", "crf", "temperature")),
    ("hmm", {"unit": "pair"}),
    ("hmm", {"average": "top_label"}),
    ("chunks", {"unit": "span", "min_proba": 0.05}),
    ("coref", {}),
    ("coref", {"unit": "entity"}),
    ("coref", {"min_proba": 0.01}),
]


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("batch_size", [7, 1000])
def test_the_queries_are_those_in_memory(name, options, batch_size):
    model, X, y = model_and_data(name)
    scan = scan_estimator(model, lambda: zip(X, y, strict=True), batch_size=batch_size, **options)
    found, expected = scan.collect(), estimator_queries(model, X, y, **options)
    np.testing.assert_allclose(found.y_prob, expected.y_prob, rtol=1e-9)
    np.testing.assert_array_equal(found.y_true, expected.y_true)
    if expected.label is not None:
        np.testing.assert_array_equal(found.label, expected.label)
    assert found.n_groups == expected.n_groups


@pytest.mark.parametrize("name", ["hmm", "crf", "temperature", "isotonic"])
def test_tags_that_the_model_never_met_are_asked_about_everywhere(name):
    model, X, y = model_and_data(name)
    y = [list(tags) for tags in y]
    y[3][0], y[50][1] = "new", "newer"
    scan = scan_estimator(model, lambda: zip(X, y, strict=True), batch_size=9)
    found, expected = scan.collect(), estimator_queries(model, X, y)
    np.testing.assert_array_equal(found.label, expected.label)
    np.testing.assert_array_equal(found.y_true, expected.y_true)
    np.testing.assert_array_equal(found.group, expected.group)
    np.testing.assert_allclose(found.y_prob, expected.y_prob, rtol=1e-9)


def test_classes_that_a_classifier_never_met():
    X, y = make_classification(300, random_state=0)
    model = LogisticRegression().fit(X[:100], y[:100])
    y[[110, 250]] = 2
    for rows in (slice(0, 100), slice(100, 300)):
        own = X[rows], y[rows]
        scan = scan_estimator(model, lambda own=own: zip(*own, strict=True), batch_size=40)
        found, expected = scan.collect(), estimator_queries(model, *own)
        np.testing.assert_array_equal(found.label, expected.label)
        np.testing.assert_array_equal(found.y_true, expected.y_true)
        np.testing.assert_allclose(found.y_prob, expected.y_prob, rtol=1e-9)


def test_batches_are_as_large_as_makes_few_enough_queries(monkeypatch):
    monkeypatch.setattr(_estimator_scan, "_QUERIES", 1000)
    model, X, y = model_and_data("hmm")
    asked = []

    class Recorded:
        classes_ = model.classes_

        def calibration_queries(self, X, y):
            asked.append(len(X))
            return model.calibration_queries(X, y)

    scan = scan_estimator(Recorded(), lambda: zip(X, y, strict=True))
    asked.clear()
    assert len(scan.collect()) == len(estimator_queries(model, X, y))
    assert asked[0] == 32
    assert max(asked[1:]) < 32
    assert min(asked[1:-1]) > 4


def test_an_interval_by_sentence(monkeypatch):
    read_as_a_scan(monkeypatch)
    tagger, X, y = model_and_data("hmm")
    scan = scan_estimator(tagger, lambda: zip(X, y, strict=True), batch_size=50)
    found = calibration_error_interval(scan)
    expected = calibration_error_interval(estimator_queries(tagger, X, y))
    assert_same(found.confidence_interval, expected.confidence_interval, rtol=1e-6)


def test_an_iterator_is_refused():
    tagger, X, y = model_and_data("hmm")
    with pytest.raises(TypeError, match="read several times"):
        scan_estimator(tagger, zip(X, y, strict=True))


def test_what_is_wrong_has_a_place():
    tagger, X, y = model_and_data("hmm")
    X = [*X[:40], [], *X[40:]]
    y = [*y[:40], [], *y[40:]]
    with pytest.raises(ValueError, match="an empty sentence") as caught:
        scan_estimator(tagger, lambda: zip(X, y, strict=True), batch_size=10).collect()
    assert caught.value.__notes__ == [
        "This is about samples 40 to 49 of the stream, counted from 0."
    ]


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_pass_holds_a_batch_of_any_model(monkeypatch, name, options):
    monkeypatch.setattr(_scan_sources.even_chunks, "__defaults__", (1,))
    model, X, y = model_and_data(name)
    size = 3 if name == "coref" else 10

    def one_pass(n_samples):
        def samples():
            for i in range(n_samples):
                yield X[i % len(X)], y[i % len(y)]

        scan = scan_estimator(model, samples, batch_size=size, **options)
        return sum(len(chunk) for chunk in scan.chunks())

    one_pass(10 * size)  # what is loaded and kept once, all samples among it
    short, long = peak_of(lambda: one_pass(10 * size)), peak_of(lambda: one_pass(40 * size))
    # The same samples come again. Their queries would take half a megabyte, with what is not yet
    # collected of earlier batches beside them.
    assert long < 1.1 * short + 100_000


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"unit": "pair", "pairs": 20}])
def test_memory_does_not_grow_with_the_corpus(monkeypatch, options):
    read_as_a_scan(monkeypatch)
    monkeypatch.setattr(_estimator_scan, "_QUERIES", 20_000)
    tagger, X, y = model_and_data("hmm")

    def error(n_sentences):
        def samples():
            for i in range(n_sentences):
                yield list(X[i % len(X)]), list(y[i % len(y)])

        adaptive_bin_calibration_error(scan_estimator(tagger, samples, **options))

    error(100)  # what is loaded and kept once
    short, long = peak_of(lambda: error(15_000)), peak_of(lambda: error(45_000))
    # All queries would be three times as many.
    assert long < 1.1 * short
