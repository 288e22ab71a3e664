"""What a rule answers about one document: against brute force, and called once per entity."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.coref import Document
from sklearn_calib.explore import count_documents, count_tags
from sklearn_calib.explore._rule_answers import distinct_entities
from tests.explore.pairs import document, linked, samples

DOCS = [document("a"), document("b")]


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_distinct_entities_against_brute_force(seed, n, n_samples):
    drawn = np.random.default_rng(seed).integers(-2, 3, size=(n_samples, n))
    row, entities, which = distinct_entities(drawn)
    found = sorted((int(r), tuple(entities[w].tolist())) for r, w in zip(row, which, strict=True))
    expected = sorted(
        (r, tuple(np.flatnonzero(drawn[r] == id).tolist()))
        for r in range(n_samples)
        for id in set(drawn[r].tolist())
    )
    assert found == expected
    assert len({tuple(entity.tolist()) for entity in entities}) == len(entities)


def test_rule_runs_once_for_each_distinct_entity():
    calls = []

    def rule(document, entity):
        calls.append(entity)
        return linked(document, entity)

    doc = document(n=3)
    drawn = [[0, 0, 2], [0, 0, 2], [5, 5, 1], [0, 1, 2], [0, 1, 1]]
    posterior = count_documents([doc], [drawn], rule, best=[[0, 1, 1]])
    assert sorted(calls) == [(0,), (0, 1), (1,), (1, 2), (2,)]
    assert posterior.keys == ("yes",)
    assert posterior.mean.tolist() == [[0.8]]
    assert posterior.best.tolist() == [[1.0]]


def test_samples_that_are_not_numbers():
    with pytest.raises(ValueError, match="Document 'a': its samples contain NaN"):
        count_documents(DOCS, [[[0.0, np.nan]]] * 2, linked)


def test_documents_without_mentions_count_zero():
    docs = [Document("empty", ["w"], date="2003-01-01"), document()]
    post = count_documents(docs, [np.empty((100, 0), int), samples(0.5)], linked)
    np.testing.assert_allclose(post.mean, [[0.5]])
    assert post.n_documents.tolist() == [2]


def test_counts_of_tags_are_small():
    post = count_tags([["a"] * 300], [[["N"] * 300, ["N"] * 2 + ["V"] * 298]])
    assert post.hit_counts.dtype == np.uint16
    assert count_tags([["a"]], [[["N"]]]).hit_counts.dtype == np.uint8
