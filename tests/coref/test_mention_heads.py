"""The head word of a mention."""

import numpy as np
import pytest

from sklearn_calib.coref._mention_heads import mention_heads

TOKENS = np.array(["The", "old", "mayor", "of", "the", "town", ",", "who", "resigned"])


@pytest.mark.parametrize(
    ("span", "head"), [((0, 6), "mayor"), ((0, 9), "mayor"), ((4, 6), "town"), ((7, 9), "resigned")]
)
def test_without_a_parse_it_is_the_word_before_what_follows_a_head(span, head):
    [found] = mention_heads(np.array([span]), TOKENS, None, None)
    assert TOKENS[found] == head


def test_with_a_parse_it_is_the_word_that_depends_on_the_outside():
    # "The mayor of Rome fell": Rome depends on mayor, and mayor on fell.
    tokens = np.array(["The", "mayor", "of", "Rome", "fell"])
    heads = np.array([1, 4, 3, 1, -1])
    assert mention_heads(np.array([[0, 4], [3, 4]]), tokens, heads, None).tolist() == [1, 3]


def test_punctuation_is_a_head_only_where_nothing_else_is():
    tokens, heads = np.array(["(", "Rome", "fell"]), np.array([2, 2, -1])
    upos = np.array(["PUNCT", "PROPN", "VERB"])
    spans = np.array([[0, 2], [0, 1]])
    assert mention_heads(spans, tokens, heads, upos).tolist() == [1, 0]
    assert mention_heads(spans, tokens, heads, None).tolist() == [0, 0]
