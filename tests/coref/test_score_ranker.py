"""A coreference model from anyone's scores, against all clusterings by enumeration."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from sklearn_calib import calibration_error_interval, estimator_queries
from sklearn_calib.coref import ScoreRanker, antecedent_proba_from_scores
from tests.coref.antecedents import enumerated, enumerated_entities, random_proba

PROBAS = [random_proba(n, seed) for seed, n in enumerate([1, 3, 5, 4])]
# Logarithms of probabilities are scores that give these probabilities back.
SCORES = [np.log(np.where(np.tri(len(p)) > 0, p, 1.0)) for p in PROBAS]
ENTITIES = [[0], [0, 0, 1], [0, 1, 0, 1, 1], [2, 2, 2, 0]]


def test_probabilities_equal_enumeration():
    ranker = ScoreRanker()
    links = ranker.predict_proba(SCORES)
    entities = ranker.predict_entities(SCORES, min_proba=1e-12)
    for proba, scores, link, found in zip(PROBAS, SCORES, links, entities, strict=True):
        np.testing.assert_allclose(antecedent_proba_from_scores(scores), proba, atol=1e-15)
        np.testing.assert_allclose(link, enumerated(proba)[0], rtol=0, atol=1e-12)
        expected = enumerated_entities(proba)
        assert {entity.mentions for entity in found} == set(expected)
        for entity in found:
            assert entity.proba == pytest.approx(expected[entity.mentions], abs=1e-12)


def test_samples_have_the_probabilities_of_links():
    draws = ScoreRanker().sample(SCORES, 4000, random_state=0)
    for proba, drawn in zip(PROBAS, draws, strict=True):
        together = (drawn[:, :, None] == drawn[:, None, :]).mean(axis=0)
        expected = enumerated(proba)[0]
        error = np.sqrt(expected * (1.0 - expected) / 4000)
        # Some thirty comparisons: five standard errors are exceeded once in 50,000 runs.
        assert (np.abs(together - expected) <= 5.0 * error + 1e-12).all()


def test_a_column_for_new_entities():
    # A new entity may have the last column; the diagonal is then not looked at.
    rng = np.random.default_rng(0)
    square = rng.normal(size=(4, 4))
    new = rng.normal(size=4)
    wide = np.column_stack([square, new])
    np.fill_diagonal(square, new)
    for a, b in zip(
        ScoreRanker().predict_proba([square]), ScoreRanker().predict_proba([wide]), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-15)


def test_queries_scorers_and_clones():
    ranker = ScoreRanker()
    queries = ranker.calibration_queries(SCORES, ENTITIES)
    # One question for each two mentions of a document.
    assert len(queries) == 0 + 3 + 10 + 6
    assert queries.y_true.sum() == 0 + 1 + 4 + 3
    asked = estimator_queries(clone(ranker), SCORES, ENTITIES)
    np.testing.assert_array_equal(asked.y_prob, queries.y_prob)
    assert calibration_error_interval(queries).error >= 0.0
    scoring = "neg_adaptive_bin_calibration_error"
    scores = cross_val_score(ranker, SCORES[1:], ENTITIES[1:], scoring=scoring, cv=3)
    assert (scores <= 0.0).all()
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict_proba(SCORES)[2], ranker.predict_proba(SCORES)[2])


def test_fit_does_nothing_and_scores_are_not_changed():
    before = [scores.copy() for scores in SCORES]
    ranker = ScoreRanker()
    assert ranker.fit(SCORES, ENTITIES) is ranker
    assert ranker.fit([]) is ranker
    ranker.predict(SCORES)
    for scores, copy in zip(SCORES, before, strict=True):
        np.testing.assert_array_equal(scores, copy)


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        ([[[0.0, 0.0]], [[0.0, 0.0], [np.nan, 0.0]]], ValueError, r"^X\[1\]: .*nan"),
        ([[0.0, 1.0]], ValueError, r"^X\[0\]: "),
        ([[["a"]]], (TypeError, ValueError), r"^X\[0\]: "),
    ],
)
def test_bad_scores_name_their_document(scores, error, message):
    with pytest.raises(error, match=message):
        ScoreRanker().predict_proba(scores)
