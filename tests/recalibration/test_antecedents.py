"""Tuning of links: a temperature and a shift of new entities."""

import numpy as np
import pytest

from sklearn_calib import CalibratedStructureCV
from sklearn_calib.coref import (
    AntecedentModel,
    Document,
    ScoreRanker,
    entity_probability,
    link_probabilities,
)
from sklearn_calib.datasets import make_coref_documents
from sklearn_calib.recalibration._antecedents import AntecedentNumbers, adjusted
from tests.coref.documents import types_and_pairs


def test_tuning_leaves_a_good_model_alone_and_mends_a_bad_one():
    data = make_coref_documents(200, random_state=2)
    train, test = slice(0, 140), slice(140, 200)
    found = {}
    for cost in (None, "durrett-klein"):
        plain = AntecedentModel(features=types_and_pairs, cost=cost)
        for kind, model in (("raw", plain), ("tuned", CalibratedStructureCV(plain, cv=2))):
            model.fit(data.X[train], data.y[train])
            queries = model.calibration_queries(data.X[test], data.y[test])
            found[cost, kind] = model, np.mean((queries.y_prob - queries.y_true) ** 2)
    model, brier = found[None, "tuned"]
    assert 0.8 < model.temperature_ < 1.2
    assert abs(model.new_shift_) < 0.3
    assert brier == pytest.approx(found[None, "raw"][1], rel=0.02)
    # Costs made new entities too rare, and the shift brings them back.
    model, brier = found["durrett-klein", "tuned"]
    assert model.new_shift_ > 0.5
    assert brier < 0.95 * found["durrett-klein", "raw"][1]
    for proba in model.predict_antecedent_proba(data.X[test]):
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_tuning_needs_documents():
    data = make_coref_documents(3, random_state=0)
    model = AntecedentModel()
    with pytest.raises(ValueError, match=r"cv=5 needs .* with mentions, but there are 3"):
        CalibratedStructureCV(model, cv=5).fit(data.X[:3], data.y[:3])
    with pytest.raises(ValueError, match="cv must be at least 2"):
        CalibratedStructureCV(model, cv=1).fit(data.X[:3], data.y[:3])
    # Documents without mentions are no problem, wherever they stand.
    silent = Document("silent", ["Rain"], entities=[])
    documents = [data.X[0], silent, data.X[1], silent]
    mended = CalibratedStructureCV(model, cv=2).fit(documents)
    plain = CalibratedStructureCV(model, cv=2).fit(data.X[:2])
    assert (mended.temperature_, mended.new_shift_) == (plain.temperature_, plain.new_shift_)


def test_tuning_has_bounds():
    data = make_coref_documents(10, random_state=0)
    alone = [np.arange(len(document)) for document in data.X]
    model = CalibratedStructureCV(AntecedentModel(), cv=2).fit(data.X, alone)
    assert 0.1 <= model.temperature_ <= 10
    assert -5 <= model.new_shift_ <= 5


def test_adjusted_probabilities_by_hand():
    proba = np.array([[1.0, 0.0, 0.0], [0.2, 0.8, 0.0], [0.5, 0.0, 0.5]])
    found = adjusted(proba, AntecedentNumbers(2.0, np.log(3.0)))
    odds = np.array([np.sqrt(0.2), 3 * np.sqrt(0.8)])
    np.testing.assert_allclose(found[1, :2], odds / odds.sum(), rtol=1e-12)
    np.testing.assert_allclose(found[2], [0.25, 0.0, 0.75], rtol=1e-12)
    assert adjusted(proba, AntecedentNumbers(1.0, 0.0)) is proba


def test_links_entities_and_samples_stay_one_distribution():
    data = make_coref_documents(60, random_state=0)
    model = AntecedentModel(cost="durrett-klein")
    mended = CalibratedStructureCV(model).fit(data.X[:40], data.y[:40])
    document = data.X[41]
    [proba] = mended.predict_antecedent_proba([document])
    [linked] = mended.predict_proba([document])
    np.testing.assert_allclose(linked, link_probabilities(proba), rtol=0, atol=1e-12)
    raw = mended.estimator_.predict_antecedent_proba([document])[0]
    expected = adjusted(raw, AntecedentNumbers(mended.temperature_, mended.new_shift_))
    np.testing.assert_array_equal(proba, expected)
    [draws] = mended.sample([document], 4000, random_state=0)
    share = np.mean(draws[:, :, None] == draws[:, None, :], axis=0)
    assert np.abs(share - linked).max() < 0.05
    entities = mended.predict_entities([document], min_proba=0.05)[0]
    assert len(entities) > 3
    for mentions, p in entities:
        assert p == pytest.approx(entity_probability(proba, mentions), abs=1e-12)


def test_scores_of_another_system_are_mended():
    data = make_coref_documents(80, random_state=1)
    model = AntecedentModel().fit(data.X[:40], data.y[:40])
    with np.errstate(divide="ignore"):
        scores = [4.0 * np.log(p) for p in model.predict_antecedent_proba(data.X[40:])]
    mended = CalibratedStructureCV(ScoreRanker()).fit(scores[:30], data.y[40:70])
    assert 2.5 < mended.temperature_ < 6.0
    raw = ScoreRanker().calibration_queries(scores[30:], data.y[70:])
    queries = mended.calibration_queries(scores[30:], data.y[70:])
    assert np.mean((queries.y_prob - queries.y_true) ** 2) < 0.95 * np.mean(
        (raw.y_prob - raw.y_true) ** 2
    )


def test_weights_are_copies():
    data = make_coref_documents(12, random_state=0)
    weighted = CalibratedStructureCV(AntecedentModel(), cv=[([0, 1, 2, 3], [4, 5, 6])]).fit(
        data.X[:7], data.y[:7], sample_weight=[1, 1, 1, 1, 2, 1, 1]
    )
    order = [0, 1, 2, 3, 4, 4, 5, 6]
    copied = CalibratedStructureCV(AntecedentModel(), cv=[([0, 1, 2, 3], [4, 5, 6, 7])]).fit(
        [data.X[i] for i in order], [data.y[i] for i in order]
    )
    assert weighted.temperature_ == pytest.approx(copied.temperature_, rel=1e-6)
    assert weighted.new_shift_ == pytest.approx(copied.new_shift_, abs=1e-6)
