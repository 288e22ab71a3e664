"""Scores of other systems."""

import numpy as np
import pytest

from sklearn_calib.coref import antecedent_proba_from_scores, link_probabilities


def test_scores_are_a_softmax_of_what_comes_before():
    scores = np.random.default_rng(0).normal(size=(6, 6))
    found = antecedent_proba_from_scores(scores)
    for i, row in enumerate(found):
        weight = np.exp(scores[i, : i + 1])
        np.testing.assert_allclose(row[: i + 1], weight / weight.sum(), rtol=1e-14)
        assert not row[i + 1 :].any()
    # The probabilities pass the checks of what is built on them.
    assert link_probabilities(found).shape == (6, 6)


def test_new_entities_in_a_column_of_their_own():
    scores = np.random.default_rng(0).normal(size=(5, 5))
    new = np.diag(scores).copy()
    wide = np.column_stack([scores, new])
    wide[np.arange(5), np.arange(5)] = np.nan  # what neural systems have there is not used
    np.testing.assert_array_equal(
        antecedent_proba_from_scores(wide), antecedent_proba_from_scores(scores)
    )


def test_large_scores_and_antecedents_that_are_ruled_out():
    found = antecedent_proba_from_scores([[0.0, 9e9], [-np.inf, 1e4]])
    np.testing.assert_array_equal(found, np.eye(2))
    single = antecedent_proba_from_scores(np.array([[0.0, 0.0], [5.0, 0.0]], dtype=np.float32))
    assert single.dtype == np.float64
    assert antecedent_proba_from_scores(np.empty((0, 0))).shape == (0, 0)


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (np.zeros(3), ValueError, r"scores must have a row for each mention.*got shape \(3,\)"),
        (np.zeros((3, 5)), ValueError, r"got shape \(3, 5\)"),
        ([["a"]], TypeError, "scores must hold numbers"),
        ([[0.0, 0.0], [np.nan, 0.0]], ValueError, "mention 1: the score of antecedent 0 is nan"),
        ([[0.0, 0.0], [np.inf, 0.0]], ValueError, "mention 1: the score of antecedent 0 is inf"),
        ([[-np.inf]], ValueError, "mention 0: every antecedent and a new entity are ruled out"),
    ],
)
def test_bad_scores(scores, error, message):
    with pytest.raises(error, match=message):
        antecedent_proba_from_scores(scores)
