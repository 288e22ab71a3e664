"""Isotonic maps of answers."""

import numpy as np
import pytest

from sklearn_calib import (
    CalibratedStructureCV,
    Queries,
    adaptive_bin_calibration_error,
    calibration_null,
    estimator_queries,
)
from sklearn_calib.coref import AntecedentModel
from sklearn_calib.datasets import (
    make_chunked_sequences,
    make_coref_documents,
    make_tagged_sequences,
)
from sklearn_calib.recalibration._isotonic import AnswerMaps
from sklearn_calib.sequence import CRFTagger


@pytest.fixture(scope="module")
def data():
    return make_tagged_sequences(400, random_state=0)


@pytest.fixture(scope="module")
def mended(data):
    return CalibratedStructureCV(CRFTagger(), method="isotonic").fit(data.X[:150], data.y[:150])


def test_answers_are_mended_and_sum_to_one(mended, data):
    X, y = data.X[150:], data.y[150:]
    proba = mended.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert proba.min() >= 0.0
    errors = [
        adaptive_bin_calibration_error(estimator_queries(model, X, y))
        for model in (mended.estimator_, mended)
    ]
    assert errors[1] < 0.3 * errors[0]
    np.testing.assert_array_equal(estimator_queries(mended, X, y).y_prob, proba.ravel())
    top = estimator_queries(mended, X, y, average="top_label")
    np.testing.assert_array_equal(top.y_prob, proba.max(axis=1))
    np.testing.assert_allclose(np.exp(mended.predict_log_proba(X)), proba)


def test_predictions_are_those_of_the_model(mended, data):
    X = data.X[150:170]
    assert mended.predict(X) == mended.estimator_.predict(X)
    best = mended.classes_[mended.predict_proba(X).argmax(axis=1)]
    assert np.concatenate(mended.predict(X, method="marginal")).tolist() == best.tolist()
    assert mended.score(X, data.y[150:170]) == mended.estimator_.score(X, data.y[150:170])


def test_samples_are_not_mended_and_that_is_said(mended, data):
    with pytest.warns(UserWarning, match="mends answers only: samples are those of the model"):
        draws = mended.sample(data.X[:2], 3, random_state=0)
    expected = mended.estimator_.sample(data.X[:2], 3, random_state=0)
    assert all(np.array_equal(a, b) for a, b in zip(draws, expected, strict=True))
    with pytest.warns(UserWarning, match="samples are those of the model"):
        calibration_null(mended, data.X[:5], n_simulations=2, random_state=0)
    assert not hasattr(mended, "log_likelihood")


def test_one_unit_is_mended(mended, data):
    X, y = data.X[150:], data.y[150:]
    with pytest.raises(ValueError, match=r"unit='pair' was not recalibrated.*unit='tag'"):
        mended.predict_proba(X, unit="pair")
    with pytest.raises(ValueError, match="unit='pair' was not recalibrated"):
        mended.calibration_queries(X, y, unit="pair")
    options = {"unit": "pair", "pairs": 10}
    pairs = CalibratedStructureCV(CRFTagger(), method="isotonic", query_options=options)
    pairs.fit(data.X[:150], data.y[:150])
    errors = [
        adaptive_bin_calibration_error(model.calibration_queries(X, y, **options))
        for model in (pairs.estimator_, pairs)
    ]
    assert errors[1] < 0.5 * errors[0]
    assert pairs.predict_proba(X, **options).shape[1] == 10
    with pytest.raises(ValueError, match="unit='tag' was not recalibrated"):
        pairs.predict_proba(X)


def test_rare_labels_lean_on_all():
    rng = np.random.default_rng(0)
    q = rng.random(20_000)
    label = np.where(np.arange(len(q)) < 19_990, "common", "rare")
    y = rng.random(len(q)) < q**2
    maps = AnswerMaps(Queries(y, q, label=label))
    grid = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(maps(grid, "common"), grid**2, atol=0.08)
    # Ten queries have hardly a say, and an unknown label has none.
    np.testing.assert_allclose(maps(grid, "rare"), grid**2, atol=0.25)
    np.testing.assert_allclose(maps(grid, "unseen"), grid**2, atol=0.08)
    assert (np.diff(maps(grid, "common")) >= 0).all()


def test_labels_have_maps_of_their_own():
    rng = np.random.default_rng(0)
    q = rng.random(40_000)
    label = np.arange(len(q)) % 2
    y = rng.random(len(q)) < np.where(label == 0, q**2, np.sqrt(q))
    queries = Queries(y, q, label=label)
    mended = AnswerMaps(queries).queries(queries)
    for name, part in mended.by_label():
        assert adaptive_bin_calibration_error(part) < 0.02, name
    np.testing.assert_array_equal(mended.y_true, queries.y_true)
    # Neither 0 nor 1 where the model did not say so.
    assert mended.y_prob[(q > 0.001) & (q < 0.5)].min() > 0.0


def test_links():
    data = make_coref_documents(100, random_state=0)
    model = CalibratedStructureCV(AntecedentModel(cost="durrett-klein"), method="isotonic")
    model.fit(data.X[:50], data.y[:50])
    X, y = data.X[50:], data.y[50:]
    for proba in model.predict_proba(X):
        np.testing.assert_array_equal(proba, proba.T)
        np.testing.assert_array_equal(np.diag(proba), 1.0)
    errors = [
        adaptive_bin_calibration_error(part.calibration_queries(X, y))
        for part in (model.estimator_, model)
    ]
    assert errors[1] < 0.7 * errors[0]
    likely = model.calibration_queries(X, None, min_proba=0.3)
    assert likely.y_prob.min() >= 0.3
    with pytest.raises(ValueError, match="unit='entity' was not recalibrated"):
        model.predict_entities(X)
    options = {"unit": "entity"}
    entities = CalibratedStructureCV(
        AntecedentModel(cost="durrett-klein"), method="isotonic", query_options=options
    ).fit(data.X[:50], data.y[:50])
    errors = [
        adaptive_bin_calibration_error(part.calibration_queries(X, y, **options))
        for part in (entities.estimator_, entities)
    ]
    assert errors[1] < 0.7 * errors[0]
    with pytest.raises(ValueError, match="unit='link' was not recalibrated"):
        entities.predict_proba(X)
    found = entities.predict_entities(X, min_proba=0.01)
    asked = entities.calibration_queries(X, y, **options)
    assert sorted(e.proba for own in found for e in own) == pytest.approx(sorted(asked.y_prob))
    for own in found:
        assert [e.proba for e in own] == sorted((e.proba for e in own), reverse=True)


def test_spans():
    data = make_chunked_sequences(240, random_state=0)
    X, y = data.X[120:], data.y[120:]
    options = {"unit": "span"}
    model = CalibratedStructureCV(CRFTagger(), method="isotonic", query_options=options)
    model.fit(data.X[:120], data.y[:120])
    spans = model.predict_spans(X)
    mended, raw = (
        part.calibration_queries(X, y, unit="span") for part in (model, model.estimator_)
    )
    assert sorted(spans.proba) == pytest.approx(sorted(mended.y_prob))
    assert adaptive_bin_calibration_error(mended) < 0.7 * adaptive_bin_calibration_error(raw)
    for own in spans:
        assert [span.proba for span in own] == sorted((span.proba for span in own), reverse=True)
    # The spans themselves, and their number, are the model's own.
    same = model.estimator_.predict_spans(X)
    np.testing.assert_array_equal(spans.start, same.start)
    with pytest.raises(ValueError, match="unit='span' was not recalibrated"):
        CalibratedStructureCV(CRFTagger(), method="isotonic").fit(X, y).predict_spans(X)
