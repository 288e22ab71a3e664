"""Link probabilities of any system as queries."""

import numpy as np
import pytest

from sklearn_calib import Queries, link_queries


def test_link_queries_by_hand():
    one = [[1, 0.9, 0.2], [0.9, 1, 0.4], [0.2, 0.4, 1]]
    queries = link_queries([one, np.eye(1), np.eye(0), np.eye(2)], [[7, 7, 3], [1], [], [4, 4]])
    assert queries.y_prob.tolist() == [0.9, 0.2, 0.4, 0.0]
    assert queries.y_true.tolist() == [True, False, False, True]
    assert queries.group.tolist() == [0, 0, 0, 3]
    kept = link_queries([one], [[7, 7, 3]], min_proba=0.4)
    assert kept.y_prob.tolist() == [0.9, 0.4]
    weighted = link_queries([one, np.eye(2)], [list("aab"), list("ab")], sample_weight=[2, 3])
    assert weighted.sample_weight.tolist() == [2, 2, 2, 3]


def test_link_queries_may_be_empty():
    queries = link_queries([np.eye(1)], [[0]])
    assert isinstance(queries, Queries)
    assert len(queries) == 0


@pytest.mark.parametrize(
    ("proba", "entities", "message"),
    [
        ([np.eye(2)], [[1, 2, 3]], r"entities\[0\] must have one entity for each of the 2"),
        ([np.eye(2)], [[1, 2], [1]], "link_proba has 1, entities has 2"),
        ([np.full((2, 2), np.nan)], [[1, 2]], "mentions 0 and 0: nan"),
        ([np.array([[1, 1.5], [1.5, 1]])], [[1, 2]], "mentions 0 and 1: 1.5"),
        ([[[1.0, 0.0], [0.4, 0.6]]], [[1, 2]], "one way and"),
        ([np.eye(2)], [[1, None]], "missing labels"),
    ],
)
def test_link_queries_refuse(proba, entities, message):
    with pytest.raises(ValueError, match=message):
        link_queries(proba, entities)


def test_link_queries_refuse_a_single_matrix_of_the_wrong_kind():
    with pytest.raises(TypeError, match="list with one entry for each document"):
        link_queries(None, [[1]])
    with pytest.raises(TypeError, match=r"min_proba must be .*, got 'a'"):
        link_queries([np.eye(2)], [[0, 1]], min_proba="a")
    with pytest.raises(ValueError, match="min_proba"):
        link_queries([np.eye(2)], [[1, 2]], min_proba=2)
