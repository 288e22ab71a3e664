"""Predictions for a stream of samples."""

from itertools import count, islice

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from sklearn_calib import CalibratedStructureCV
from sklearn_calib.coref import AntecedentModel
from sklearn_calib.datasets import (
    make_chunked_sequences,
    make_coref_documents,
    make_tagged_sequences,
)
from sklearn_calib.queries import predict_in_batches
from sklearn_calib.sequence import HMMTagger


@pytest.fixture(scope="module")
def data():
    return make_tagged_sequences(50, random_state=0)


@pytest.fixture(scope="module")
def tagger(data):
    return HMMTagger().fit(data.X, data.y)


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_an_array_for_each_sentence(tagger, data, batch_size):
    for model in (tagger, CalibratedStructureCV(HMMTagger(), cv=2).fit(data.X, data.y)):
        for options in ({}, {"unit": "pair", "pairs": 3}, {"method": "log_potentials"}):
            if options.get("method") == "log_potentials" and model is not tagger:
                continue
            found = list(predict_in_batches(model, iter(data.X), batch_size=batch_size, **options))
            less = options.get("unit") == "pair"
            assert [len(rows) for rows in found] == [len(x) - less for x in data.X]
            rest = {name: value for name, value in options.items() if name != "method"}
            whole = getattr(model, options.get("method", "predict_proba"))(data.X, **rest)
            np.testing.assert_allclose(np.concatenate(found), whole, rtol=1e-9)


def test_other_methods(tagger, data):
    found = list(predict_in_batches(tagger, iter(data.X), method="predict", batch_size=8))
    assert found == tagger.predict(data.X)
    found = list(predict_in_batches(tagger, data.X, method="predict_k_best", batch_size=8, k=2))
    assert [len(best) for best in found] == [2] * len(data.X)


def test_spans(data):
    chunked = make_chunked_sequences(30, random_state=0)
    tagger = HMMTagger().fit(chunked.X, chunked.y)
    found = predict_in_batches(tagger, iter(chunked.X), method="predict_spans", batch_size=8)
    for own, expected in zip(found, tagger.predict_spans(chunked.X), strict=True):
        assert [span[:3] for span in own] == [span[:3] for span in expected]


def test_batches_are_not_drawn_alike(tagger, data):
    same = [data.X[0]] * 40
    options = {"method": "sample", "n_samples": 3, "random_state": 0}
    found = list(predict_in_batches(tagger, same, batch_size=10, **options))
    assert len({str(draws) for draws in found}) > 15
    again = list(predict_in_batches(tagger, same, batch_size=10, **options))
    np.testing.assert_array_equal(found, again)


def test_documents():
    data = make_coref_documents(7, random_state=0)
    model = AntecedentModel(tol=0.1).fit(data.X, data.y)
    found = list(predict_in_batches(model, iter(data.X), batch_size=2))
    for one, other in zip(found, model.predict_proba(data.X), strict=True):
        np.testing.assert_allclose(one, other)


def test_rows_of_a_classifier():
    X, y = make_classification(50, random_state=0)
    model = LogisticRegression().fit(X, y)
    found = list(predict_in_batches(model, iter(X), batch_size=20))
    np.testing.assert_allclose(found, model.predict_proba(X))


def test_no_more_is_read_than_a_batch(tagger, data):
    # The stream never ends.
    read = count()
    stream = (data.X[next(read) % len(data.X)] for _ in count())
    assert len(list(islice(predict_in_batches(tagger, stream, batch_size=10), 25))) == 25
    assert next(read) == 30


def test_what_cannot_be_done(tagger, data):
    with pytest.raises(TypeError, match="iterable over samples, got int"):
        predict_in_batches(tagger, 3)
    with pytest.raises(TypeError, match="has no method 'predict_links'"):
        predict_in_batches(tagger, data.X, method="predict_links")
    with pytest.raises(ValueError, match="an empty sentence") as caught:
        list(predict_in_batches(tagger, [*data.X, []], batch_size=20))
    assert caught.value.__notes__ == [
        "This is about samples 40 to 50 of the stream, counted from 0."
    ]
