"""Keys: what a rule may return, and what may be asked for."""

import numpy as np
import pytest

from sklearn_calib.explore import count_documents, rule_queries
from sklearn_calib.explore._keys import some_keys
from tests.explore.pairs import document, linked, samples

DOCS = [document("a", entities=[0, 0]), document("b", entities=[0, 1])]
DRAWN = [samples(0.5)] * 2


@pytest.mark.parametrize(
    ("returned", "keys"),
    [
        (None, ()),
        (False, ()),
        (True, ("yes",)),
        (np.True_, ("yes",)),
        ("a", ("a",)),
        (("a", "b"), (("a", "b"),)),
        (["a", "b", "a"], ("a", "b")),
        ({"b"}, ("b",)),
        ((k for k in "ab"), ("a", "b")),
        (3, (3,)),
        ([None, "a", False, np.False_], ("a",)),
        ([True], ("yes",)),
        (np.array(True), ("yes",)),
    ],
)
def test_what_a_rule_may_return(returned, keys):
    [doc] = [document(n=1)]
    assert count_documents([doc], [[[0]]], lambda d, e: returned).keys == keys


def test_unhashable_key():
    with pytest.raises(TypeError, match=r"Document 'd': the rule returned the key \[1\]"):
        count_documents([document()], [samples(0.5)], lambda d, e: [[1]])


@pytest.mark.parametrize("count", [count_documents, rule_queries])
def test_keys(count):
    with pytest.raises(ValueError, match="'yes' is named twice"):
        count(DOCS, DRAWN, linked, keys=["yes", "no", "yes"])
    with pytest.raises(TypeError, match=r"keys must be a list of keys, such as \['USA'\]"):
        count(DOCS, DRAWN, linked, keys="USA")
    with pytest.raises(TypeError, match=r"\['a'\] cannot be a key"):
        count(DOCS, DRAWN, linked, keys=[["a"]])
    count(DOCS, DRAWN, linked, keys=iter(["yes"]))


def test_some_keys():
    assert some_keys(["a", 1]) == "'a', 1"
    assert some_keys(range(20), 2) == "0, 1, ..."
