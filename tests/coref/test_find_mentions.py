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
        id="d", heads=np.array([2, 0, 1]), relations=["dep"] * 3, upos=["NOUN", "ADJ", "ADJ"]
    )
    assert find_mentions(cyclic).tolist() == [[0, 3, 0]]
