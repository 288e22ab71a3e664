"""Which predicted mention is which true one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.coref import AntecedentModel, Document, align_mentions, transfer_entities
from sklearn_calib.datasets import make_coref_documents

WORDS = ["the", "old", "man", "and", "his", "dog", "slept"]


def test_spans_and_heads():
    gold = [(0, 3, 2), (0, 6, 2), (4, 6, 5)]
    predicted = [(0, 6, 2), (1, 3, 2), (4, 5, 4), (5, 6, 5)]
    assert align_mentions(gold, predicted).tolist() == [1, -1, -1, -1]
    assert align_mentions(gold, predicted, match="head").tolist() == [1, 0, -1, 2]


def test_the_closest_of_one_head():
    gold = [(0, 1, 0), (0, 6, 0)]
    assert align_mentions(gold, [(0, 2, 0), (0, 5, 0)], match="head").tolist() == [0, 1]
    # One to one: the second has the same head, but the true mention is taken.
    assert align_mentions(gold[:1], [(0, 2, 0), (0, 5, 0)], match="head").tolist() == [0, -1]


def test_equal_spans_are_matched_one_by_one():
    assert align_mentions([(0, 1), (0, 1)], [(0, 1)] * 3).tolist() == [0, 1, -1]
    assert align_mentions([], [(0, 1)]).tolist() == [-1]
    assert align_mentions([(0, 1)], []).tolist() == []


def test_words_may_be_cut_differently():
    gold = Document("d", ["Eye", "-", "Tracking", "can't"], mentions=[(0, 3, 2), (3, 4, 3)])
    predicted = Document("d", ["Eye-Tracking", "can", "'t"], mentions=[(0, 1), (1, 2), (1, 3)])
    assert align_mentions(gold, predicted).tolist() == [0, -1, 1]
    # As many words, cut elsewhere: places in words would be wrong.
    one = Document("d", ["ab", "c", "d"], mentions=[(1, 2)])
    two = Document("d", ["a", "bc", "d"], mentions=[(1, 2), (2, 3)])
    assert align_mentions(one, two).tolist() == [-1, -1]
    # Other characters, as many words: by word.
    quoted = Document("d", ["``", "c", "d"], mentions=[(1, 2)])
    assert align_mentions(one, quoted).tolist() == [0]


def test_bad_input_is_named():
    doc = Document("d", WORDS, mentions=[(0, 3)])
    with pytest.raises(TypeError, match="both be documents or both be arrays"):
        align_mentions(doc, [(0, 1)])
    with pytest.raises(ValueError, match="'d' and 'e' are not the same text: the first has 'old"):
        align_mentions(doc, Document("e", ["the", "end"]))
    with pytest.raises(ValueError, match=r"gold has none\. Pass them as a third column"):
        align_mentions([(0, 1)], [(0, 1)], match="head")
    with pytest.raises(ValueError, match="match='heads' is not known"):
        align_mentions([(0, 1)], [(0, 1)], match="heads")
    with pytest.raises(ValueError, match=r"predicted must hold start, end .* got shape \(2,\)"):
        align_mentions([(0, 1)], [0, 1])
    with pytest.raises(ValueError, match="got ragged rows"):
        align_mentions([(0, 1), (0, 1, 2)], [(0, 1)])


mentions = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 3), st.integers(0, 2)), max_size=8
).map(lambda rows: [(s, s + n, s + min(h, n - 1)) for s, n, h in rows])


@given(mentions, mentions)
@settings(max_examples=200, deadline=None)
def test_one_to_one_and_as_many_as_there_can_be(gold, predicted):
    exact = align_mentions(gold, predicted)
    loose = align_mentions(gold, predicted, match="head")
    for found in (exact, loose):
        taken = found[found >= 0]
        assert len(set(taken.tolist())) == len(taken)
    assert all(gold[g][:2] == predicted[i][:2] for i, g in enumerate(exact) if g >= 0)
    # What matches by span matches by head as well, and to the same mention.
    assert (loose[exact >= 0] == exact[exact >= 0]).all()
    for g in range(len(gold)):
        if g not in exact:
            same = [i for i, p in enumerate(predicted) if p[:2] == gold[g][:2]]
            assert (exact[same] >= 0).all()
        if g not in loose:
            same = [i for i, p in enumerate(predicted) if p[2] == gold[g][2]]
            assert (loose[same] >= 0).all()


def test_entities_are_transferred():
    gold = Document("d", WORDS, mentions=[(0, 3, 2), (4, 5, 4)], entities=["man", "man"])
    predicted = Document("d", WORDS, mentions=[(1, 3, 2), (4, 5, 4), (4, 6, 5)])
    found = transfer_entities(gold, predicted)
    assert found.entities.tolist() == [0, 0, 1]
    assert predicted.entities is None
    assert transfer_entities(gold, predicted, match="span").entities.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="gold, document 'd', has no entities"):
        transfer_entities(predicted, predicted)
    with pytest.raises(TypeError, match="predicted must be a Document, got list"):
        transfer_entities(gold, [(0, 1)])


def test_a_model_learns_from_predicted_mentions():
    data = make_coref_documents(60, random_state=0)
    rng = np.random.default_rng(0)
    # A finder that misses one mention of ten.
    found = [d.select(rng.random(len(d)) < 0.9).replace(entities=None) for d in data.X]
    truth = [
        d.replace(entities=y) if d.entities is None else d
        for d, y in zip(data.X, data.y, strict=True)
    ]
    aligned = [transfer_entities(g, p) for g, p in zip(truth, found, strict=True)]
    model = AntecedentModel().fit(aligned[:40])
    alone = sum(len(d) for d in aligned[40:])
    assert model.score(aligned[40:]) > 0.5
    assert alone == sum(len(p) for p in model.predict(found[40:]))
