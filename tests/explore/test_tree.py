"""A parse as rules walk it."""

import pytest

from sklearn_calib.coref import Document
from sklearn_calib.explore import AgentRule, country_lexicon
from sklearn_calib.explore._tree import MOST_STEPS, Tree
from tests.explore.parses import parse
from tests.limits import within_limits

TREE = Tree(
    parse(
        "Towns/town/NOUN/3/nsubj:pass were/be/AUX/3/aux:pass Bombed/bomb/VERB/0/root "
        "and/and/CCONJ/5/cc attacked/attack/VERB/3/conj by/by/ADP/7/case Iran/Iran/PROPN/5/obl "
        ",/,/PUNCT/9/punct Iraq/Iraq/PROPN/7/conj",
        [],
    )
)


def test_dependents_and_their_words():
    assert TREE.words[2] == "bombed"
    assert TREE.children(2) == [0, 1, 4]
    assert TREE.children(2, ("conj",)) == [4]
    assert TREE.children(0) == []
    assert TREE.case(6) == {"by"}
    assert TREE.marks(4) == set()


def test_conjuncts():
    assert TREE.first_conjunct(8) == 6
    assert TREE.with_conjuncts(6) == [6, 8]
    assert TREE.with_conjuncts(8) == [8]


def test_subjects_and_voices():
    assert TREE.has_subject(2)
    assert not TREE.has_subject(4)
    assert TREE.is_passive(2)
    assert TREE.is_passive(4)  # as its first conjunct is
    infinitive = Tree(parse("to/to/PART/2/mark attack/attack/VERB/0/root", []))
    assert infinitive.is_infinitive(1)
    assert not infinitive.is_passive(1)


@pytest.mark.parametrize("head", [lambda i: i - 1, lambda i: -1 if i == 0 else 0])
def test_thousands_of_words_that_are_joined(head):
    n = 4000
    words = [("they", "attack", "Iraq")[i % 3] for i in range(n)]
    joined = Document(
        "joined", words, lemmas=words, heads=[head(i) for i in range(n)],
        relations=["root", *["conj"] * (n - 1)], mentions=[(i, i + 1) for i in range(0, n, 3)],
    )  # fmt: skip
    tree = Tree(joined)
    assert len(tree.with_conjuncts(0)) == MOST_STEPS
    rule = AgentRule(country_lexicon(), exclude=("negated", "modal"), conjuncts=True, control=True)
    with within_limits():
        rule.bind(joined)
