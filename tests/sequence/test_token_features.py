"""What a conditional random field sees of a token."""

from collections import UserDict

import numpy as np

from sklearn_calib.sequence import CRFTagger
from sklearn_calib.sequence._token_features import FEATURES, attributes_of
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


def test_any_mapping_is_read_as_a_dict():
    plain = [[{"w": token, "n": (token[0], token[-1])} for token in tokens] for tokens in X]
    other = [[UserDict(item) for item in tokens] for tokens in plain]
    one = CRFTagger(features=None, c2=0.1).fit(plain, y)
    two = CRFTagger(features=None, c2=0.1).fit(other, y)
    np.testing.assert_array_equal(one.predict_proba(plain), two.predict_proba(other))
