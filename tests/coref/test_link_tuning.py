"""Tuning of links: a temperature and a shift of new entities."""

import numpy as np
import pytest

from sklearn_calib.coref import AntecedentModel, Document
from sklearn_calib.datasets import make_coref_documents
from tests.coref.documents import types_and_pairs


def test_tuning_leaves_a_good_model_alone_and_mends_a_bad_one():
    data = make_coref_documents(200, random_state=2)
    train, test = slice(0, 140), slice(140, 200)
    found = {}
    for cost in (None, "durrett-klein"):
        for link_cv in (None, 2):
            model = AntecedentModel(features=types_and_pairs, cost=cost, link_cv=link_cv)
            model.fit(data.X[train], data.y[train])
            queries = model.calibration_queries(data.X[test], data.y[test])
            found[cost, link_cv] = model, np.mean((queries.y_prob - queries.y_true) ** 2)
    model, brier = found[None, 2]
    assert 0.8 < model.temperature_ < 1.2
    assert abs(model.new_shift_) < 0.3
    assert brier == pytest.approx(found[None, None][1], rel=0.02)
    # Costs made new entities too rare, and the shift brings them back.
    model, brier = found["durrett-klein", 2]
    assert model.new_shift_ > 0.5
    assert brier < 0.95 * found["durrett-klein", None][1]
    for proba in model.predict_antecedent_proba(data.X[test]):
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_tuning_needs_documents():
    data = make_coref_documents(3, random_state=0)
    with pytest.raises(ValueError, match=r"link_cv=5 needs .* with mentions, but there are 3"):
        AntecedentModel(link_cv=5).fit(data.X[:3], data.y[:3])
    with pytest.raises(ValueError, match="link_cv must be at least 2"):
        AntecedentModel(link_cv=1).fit(data.X[:3], data.y[:3])
    # Documents without mentions are no problem, wherever they stand.
    silent = Document("silent", ["Rain"], entities=[])
    documents = [data.X[0], silent, data.X[1], silent]
    model = AntecedentModel(link_cv=2).fit(documents)
    plain = AntecedentModel(link_cv=2).fit(data.X[:2])
    assert (model.temperature_, model.new_shift_) == (plain.temperature_, plain.new_shift_)


def test_tuning_has_bounds():
    data = make_coref_documents(10, random_state=0)
    alone = [np.arange(len(document)) for document in data.X]
    model = AntecedentModel(link_cv=2).fit(data.X, alone)
    assert 0.1 <= model.temperature_ <= 10
    assert -5 <= model.new_shift_ <= 5
