"""What a conditional random field sees of a token."""

import pickle
import re
from collections import UserDict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sklearn_calib.sequence import CRFTagger, _token_features
from sklearn_calib.sequence._token_features import FEATURES, WordColumns, attributes_of
from tests.sequence.text import sentences

X, y = sentences()


def test_attributes_of_nested_features():
    item = {"a": 2, "b": "x", "c": {"d": True, "e": ["f"]}}
    assert attributes_of(item) == [("a", 2.0), ("b:x", 1.0), ("c:d", 1.0), ("c:e:f", 1.0)]


def test_features_around_a_word():
    rows = FEATURES["rich"].attributes([["Ab1", "c"]])[0]
    assert "w=Ab1" in rows[0]
    assert "shape=Xx0" in rows[0]
    assert "suffix=1" in rows[0]
    assert "+1:w=c" in rows[0]
    assert "-1:edge" in rows[0]
    assert "-1:w=Ab1" in rows[1]
    assert "+2:edge" in rows[0]


@given(st.lists(st.text(st.one_of(st.sampled_from("aB0-\0"), st.characters()), max_size=8)))
def test_shapes_of_words(words):
    def kind(c):
        return "0" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c

    expected = [re.sub(r"(?s)(.)\1+", r"\1", "".join(map(kind, word))) for word in words]
    assert _token_features._Words(words).shapes() == expected


def test_any_mapping_is_read_as_a_dict():
    plain = [[{"w": token, "n": (token[0], token[-1])} for token in tokens] for tokens in X]
    other = [[UserDict(item) for item in tokens] for tokens in plain]
    one = CRFTagger(features=None, c2=0.1).fit(plain, y)
    two = CRFTagger(features=None, c2=0.1).fit(other, y)
    np.testing.assert_array_equal(one.predict_proba(plain), two.predict_proba(other))


def test_factors_are_the_attributes():
    rich = FEATURES["rich"]
    sentences = [["Ab1", "c", "Ab1"], ["d"], ["a\0b", "Ünï", "c"], ["İz", "ß--"]]
    made = [row for rows in rich.attributes(sentences) for row in rows]
    # Without some of them, as a model lacks what training did not have.
    names = [name for name in rich.names({w for s in sentences for w in s}) if "Ab1" not in name]
    columns = WordColumns(rich, {name: i for i, name in enumerate(names)})
    around, table = rich.factors(sentences, columns)
    expected = [[sum(n.split("\0")[0] == name for n in row) for name in names] for row in made]
    np.testing.assert_array_equal((around @ table).toarray(), expected)


def test_words_are_remembered_and_forgotten(monkeypatch):
    rich = FEATURES["rich"]
    words = [[f"w{i}" for i in range(10)], [f"v{i}" for i in range(10)]]
    names = rich.names(words[0] + words[1])
    monkeypatch.setattr(_token_features, "_REMEMBERED", 15)
    columns = WordColumns(rich, {name: i for i, name in enumerate(names)})
    first = columns.table(words[0]).toarray()
    np.testing.assert_array_equal(columns.table(words[0]).toarray(), first)
    # The others do not fit beside them, and a text of its own size always does.
    assert columns.table(words[1]).shape == first.shape
    assert columns.table(words[0] + words[1]).shape[0] == 2 * first.shape[0] - 5
    np.testing.assert_array_equal(columns.table(words[0]).toarray(), first)


def test_remembered_words_are_not_pickled():
    tagger = CRFTagger(features="rich", solver="lattice").fit(X, y)
    before = len(pickle.dumps(tagger))
    expected = tagger.predict_proba(X)
    dumped = pickle.dumps(tagger)
    assert len(dumped) == before
    np.testing.assert_array_equal(pickle.loads(dumped).predict_proba(X), expected)
