"""Noun phrases, found by rule."""

from types import SimpleNamespace as Thing

import numpy as np
import pytest

from sklearn_calib.coref import (
    Document,
    find_mentions,
)
from tests.coref.documents import parsed


def test_find_mentions():
    doc = parsed()
    doc = doc.replace(mentions=find_mentions(doc))
    assert [doc.mention_text(i) for i in range(len(doc))] == [
        "Ada",
        "queen of the sea and air",
        "the sea",
        "air",
    ]
    with pytest.raises(ValueError, match="'d' has no upos"):
        find_mentions(Document("d", ["a"]))
    assert find_mentions(Document("d", [], upos=[], heads=[], relations=[])).shape == (0, 3)


def test_find_mentions_ends_on_a_cycle():
    cyclic = Thing(
        id="d",
        tokens=np.array(["a", "b", "c"]),
        heads=np.array([2, 0, 1]),
        relations=["amod"] * 3,
        upos=["NOUN", "ADJ", "ADJ"],
    )
    assert find_mentions(cyclic).tolist() == [[0, 3, 0]]


def found(text):
    """Return the mentions of a text; each word is word/UPOS/head/relation, heads from 1."""
    rows = [word.split("/") for word in text.split()]
    words, upos, heads, relations = zip(*rows, strict=True)
    doc = Document("d", words, upos=upos, heads=[int(h) - 1 for h in heads], relations=relations)
    return [" ".join(words[start:end]) for start, end, _ in find_mentions(doc)]


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        # Names that modify nouns are mentions; parts of names and common nouns are not.
        ("the/DET/3/det Israel/PROPN/3/compound lobby/NOUN/0/root", ["the Israel lobby", "Israel"]),
        ("New/PROPN/2/compound York/PROPN/0/root", ["New York"]),
        ("stone/NOUN/2/compound wall/NOUN/0/root", ["stone wall"]),
        ("Dr./PROPN/2/nmod:desc Ada/PROPN/0/root", ["Dr. Ada"]),
        # Relative pronouns and expletives name nothing; other uses of the words do.
        (
            "men/NOUN/0/root who/PRON/3/nsubj sing/VERB/1/acl:relcl",
            ["men who sing"],
        ),
        ("who/PRON/2/nsubj sings/VERB/0/root", ["who"]),
        ("there/PRON/2/expl is/VERB/0/root hope/NOUN/2/nsubj", ["hope"]),
        ("it/PRON/2/expl rains/VERB/0/root", ["it"]),
        # Appositions and asides stand beside the phrase.
        (
            "Ada/PROPN/0/root ,/PUNCT/4/punct the/DET/4/det queen/NOUN/1/appos",
            ["Ada", "the queen"],
        ),
        ("no/INTJ/3/discourse ,/PUNCT/3/punct Ada/PROPN/0/root", ["Ada"]),
        # Adverbs before it, and what they come with, are left out; those within stay.
        ("even/ADV/4/advmod in/ADP/4/case the/DET/4/det dark/NOUN/0/root", ["the dark"]),
        ("a/DET/4/det very/ADV/3/advmod old/ADJ/4/amod dog/NOUN/0/root", ["a very old dog"]),
        ("due/ADP/3/case to/ADP/1/fixed rain/NOUN/0/root", ["rain"]),
        # A bracket that opens within the phrase closes within it.
        (
            "talks/NOUN/0/root (/PUNCT/4/punct in/ADP/4/case May/PROPN/1/nmod )/PUNCT/4/punct",
            ["talks ( in May )", "May"],
        ),
    ],
)
def test_what_is_a_mention(text, mentions):
    assert sorted(found(text)) == sorted(mentions)
