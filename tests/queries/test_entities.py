"""Questions about whole entities."""

import numpy as np
import pytest

from sklearn_calib.queries import EntityQuestions

ASKED = [[((0, 1), 0.7), ((0,), 0.2), ((0, 1, 2), 0.1)], [], [((1,), 0.9)]]


def test_answers_by_hand():
    questions = EntityQuestions(ASKED, [3, 1, 2], sample_weight=[1, 2, 3])
    assert repr(questions) == "<EntityQuestions: 4 entities in 3 documents>"
    queries = questions.answer([["a", "a", "b"], ["a"], ["a", "b"]])
    assert queries.y_true.tolist() == [True, False, False, True]
    assert queries.y_prob.tolist() == [0.7, 0.2, 0.1, 0.9]
    assert queries.group.tolist() == [0, 0, 0, 2]
    assert queries.sample_weight.tolist() == [1, 1, 1, 3]
    # Any truth can answer; names mean nothing across documents.
    queries = questions.answer([[7, 7, 7], [7], [7, 7]])
    assert queries.y_true.tolist() == [False, False, True, False]


def test_no_questions():
    assert len(EntityQuestions([[]], [0]).answer([np.empty(0)])) == 0


def test_bad_truths():
    questions = EntityQuestions(ASKED, [3, 1, 2])
    with pytest.raises(ValueError, match="one entry for each of the 3 documents; it has 1"):
        questions.answer([[0, 0, 1]])
    with pytest.raises(ValueError, match=r"y\[2\] must have one entity for each of the 2"):
        questions.answer([[0, 0, 1], [0], [1]])
    with pytest.raises(ValueError, match="entities are of 3 documents, but n_mentions has 2"):
        EntityQuestions(ASKED, [3, 1])
