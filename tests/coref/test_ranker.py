"""What the antecedent model says about whole entities."""

import numpy as np
import pytest

from sklearn_calib import calibration_null, estimator_queries
from sklearn_calib.coref import AntecedentModel, entity_probability
from sklearn_calib.datasets import make_coref_documents


@pytest.fixture(scope="module")
def data():
    return make_coref_documents(60, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return AntecedentModel().fit(data.X[:40], data.y[:40])


def test_entities_of_documents(model, data):
    documents = data.X[40:]
    probas = model.predict_antecedent_proba(documents)
    for entities, proba in zip(model.predict_entities(documents), probas, strict=True):
        for mentions, p in entities[:20]:
            assert p == pytest.approx(entity_probability(proba, mentions), abs=1e-12)
        assert min(entity.proba for entity in entities) >= 0.01
    fewer = model.predict_entities(documents, min_proba=0.5)
    assert all(entity.proba >= 0.5 for entities in fewer for entity in entities)


def test_probabilities_of_entities_agree_with_samples(model, data):
    document = data.X[45]
    [draws] = model.sample([document], 4000, random_state=0)
    for mentions, p in model.predict_entities([document], min_proba=0.2)[0]:
        inside = np.zeros(len(document), dtype=bool)
        inside[list(mentions)] = True
        share = ((draws == mentions[0]) == inside).all(axis=1).mean()
        assert abs(share - p) < 4 * np.sqrt(p * (1 - p) / 4000) + 1e-3


def test_queries_about_entities(model, data):
    documents, truth = data.X[40:], data.y[40:]
    queries = estimator_queries(model, documents, truth, unit="entity")
    expected = model.predict_entities(documents)
    assert len(queries) == sum(map(len, expected))
    rows = [
        (number, entity, np.flatnonzero(y == y[entity.mentions[0]]).tolist())
        for number, (entities, y) in enumerate(zip(expected, truth, strict=True))
        for entity in entities
    ]
    np.testing.assert_array_equal(queries.group, [number for number, _, _ in rows])
    np.testing.assert_array_equal(queries.y_prob, [entity.proba for _, entity, _ in rows])
    answers = [list(entity.mentions) == members for _, entity, members in rows]
    np.testing.assert_array_equal(queries.y_true, answers)
    assert 0.1 < np.mean(answers) < 0.9
    # A model that generated such documents knows its entities.
    null = calibration_null(
        model, documents, truth, unit="entity", random_state=0, n_simulations=50
    )
    assert null.pvalue > 0.01


def test_options_of_questions(model, data):
    few = model.calibration_questions(data.X[40:], unit="entity", min_proba=0.5)
    many = model.calibration_questions(data.X[40:], unit="entity", min_proba=0.001)
    assert len(few.answer(data.y[40:])) < len(many.answer(data.y[40:]))
    with pytest.raises(TypeError, match="unit='pair' does not apply to AntecedentModel"):
        model.calibration_questions(data.X[40:], unit="pair")
    with pytest.raises(ValueError, match="min_proba must be a positive"):
        model.predict_entities(data.X[40:], min_proba=0.0)
    with pytest.raises(ValueError, match=r"min_proba must lie in \(0, 1\]"):
        model.predict_entities(data.X[40:], min_proba=1.5)
