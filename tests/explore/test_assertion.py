"""What a text does not state: small parses, one for each way of not stating it."""

import pytest

from sklearn_calib.explore._assertion import doubts
from sklearn_calib.explore._tree import Tree
from tests.explore.parses import parse

# The event is the one word whose lemma is "attack".
CASES = [
    ("Iraq/Iraq/PROPN/2/nsubj attacked/attack/VERB/0/root", ""),
    ("Iraq/Iraq/PROPN/3/nsubj has/have/AUX/3/aux attacked/attack/VERB/0/root", ""),
    (
        "Iraq/Iraq/PROPN/4/nsubj did/do/AUX/4/aux n't/not/PART/4/advmod attack/attack/VERB/0/root",
        "negated",
    ),
    ("Iraq/Iraq/PROPN/3/nsubj never/never/ADV/3/advmod attacked/attack/VERB/0/root", "negated"),
    (
        "it/it/PRON/4/nsubj no/no/ADV/3/advmod longer/long/ADV/4/advmod attacks/attack/VERB/0/root",
        "negated",
    ),
    ("No/no/DET/2/det troops/troop/NOUN/3/nsubj attacked/attack/VERB/0/root", "negated"),
    ("Iraq/Iraq/PROPN/2/nsubj denied/deny/VERB/0/root attacking/attack/VERB/2/xcomp", "negated"),
    (
        "He/he/PRON/2/nsubj denied/deny/VERB/0/root Iraq/Iraq/PROPN/4/nsubj "
        "attacked/attack/VERB/2/ccomp",
        "negated",
    ),
    (
        "He/he/PRON/4/nsubj did/do/AUX/4/aux not/not/PART/4/advmod say/say/VERB/0/root "
        "Iraq/Iraq/PROPN/6/nsubj attacked/attack/VERB/4/ccomp",
        "negated",
    ),
    (
        "He/he/PRON/3/nsubj may/may/AUX/3/aux say/say/VERB/0/root Iraq/Iraq/PROPN/5/nsubj "
        "attacked/attack/VERB/3/ccomp",
        "",
    ),
    (
        "They/they/PRON/2/nsubj left/leave/VERB/0/root without/without/SCONJ/4/mark "
        "attacking/attack/VERB/2/advcl",
        "negated",
    ),
    (
        "It/it/PRON/4/nsubj did/do/AUX/4/aux not/not/PART/4/advmod advance/advance/VERB/0/root "
        "and/and/CCONJ/6/cc attack/attack/VERB/4/conj",
        "negated",
    ),
    (
        "It/it/PRON/4/nsubj did/do/AUX/4/aux not/not/PART/4/advmod leave/leave/VERB/0/root "
        "but/but/CCONJ/6/cc attacked/attack/VERB/4/conj",
        "",
    ),
    ("Iraq/Iraq/PROPN/3/nsubj could/could/AUX/3/aux attack/attack/VERB/0/root", "modal"),
    ("Iraq/Iraq/PROPN/3/nsubj 'll/will/AUX/3/aux attack/attack/VERB/0/root", "modal"),
    (
        "Iraq/Iraq/PROPN/2/nsubj plans/plan/VERB/0/root to/to/PART/4/mark "
        "attack/attack/VERB/2/xcomp",
        "modal",
    ),
    (
        "Iraq/Iraq/PROPN/2/nsubj began/begin/VERB/0/root to/to/PART/4/mark "
        "attack/attack/VERB/2/xcomp",
        "",
    ),
    (
        "Iraq/Iraq/PROPN/4/nsubj did/do/AUX/4/aux not/not/PART/4/advmod begin/begin/VERB/0/root "
        "to/to/PART/6/mark attack/attack/VERB/4/xcomp",
        "negated",
    ),
    (
        "It/it/PRON/3/nsubj is/be/AUX/3/aux going/go/VERB/0/root to/to/PART/5/mark "
        "attack/attack/VERB/3/xcomp",
        "modal",
    ),
    (
        "a/a/DET/2/det plan/plan/NOUN/0/root to/to/PART/4/mark attack/attack/VERB/2/acl",
        "modal",
    ),
    (
        "They/they/PRON/2/nsubj crossed/cross/VERB/0/root to/to/PART/4/mark "
        "attack/attack/VERB/2/advcl",
        "modal",
    ),
    (
        "They/they/PRON/2/nsubj threatened/threaten/VERB/0/root us/we/PRON/2/obj "
        "by/by/SCONJ/5/mark attacking/attack/VERB/2/advcl",
        "",
    ),
    (
        "If/if/SCONJ/3/mark Iraq/Iraq/PROPN/3/nsubj attacks/attack/VERB/5/advcl we/we/PRON/5/nsubj "
        "leave/leave/VERB/0/root",
        "conditional",
    ),
    (
        "Iraq/Iraq/PROPN/3/nsubj would/would/AUX/3/aux attack/attack/VERB/0/root "
        "if/if/SCONJ/6/mark we/we/PRON/6/nsubj left/leave/VERB/3/advcl",
        "conditional modal",
    ),
    (
        "He/he/PRON/2/nsubj asked/ask/VERB/0/root whether/whether/SCONJ/5/mark "
        "Iraq/Iraq/PROPN/5/nsubj attacked/attack/VERB/2/ccomp",
        "conditional",
    ),
    (
        "He/he/PRON/2/nsubj warned/warn/VERB/0/root that/that/SCONJ/5/mark "
        "Iraq/Iraq/PROPN/5/nsubj attacked/attack/VERB/2/ccomp",
        "",
    ),
    # Nouns.
    (
        "They/they/PRON/2/nsubj called/call/VERB/0/root for/for/ADP/5/case an/a/DET/5/det "
        "attack/attack/NOUN/2/obl",
        "modal",
    ),
    (
        "They/they/PRON/2/nsubj called/call/VERB/0/root the/the/DET/4/det attack/attack/NOUN/2/obj "
        "a/a/DET/6/det crime/crime/NOUN/2/xcomp",
        "",
    ),
    (
        "They/they/PRON/2/nsubj plan/plan/VERB/0/root more/more/ADV/2/advmod "
        "after/after/ADP/6/case the/the/DET/6/det attack/attack/NOUN/2/obl",
        "",
    ),
    ("an/a/DET/3/det Iraqi/Iraqi/ADJ/3/amod attack/attack/NOUN/0/root", ""),
    ("no/no/DET/3/det Iraqi/Iraqi/ADJ/3/amod attack/attack/NOUN/0/root", "negated"),
    (
        "a/a/DET/4/det possible/possible/ADJ/4/amod Iraqi/Iraqi/ADJ/4/amod "
        "attack/attack/NOUN/0/root",
        "modal",
    ),
    (
        "threat/threat/NOUN/0/root of/of/ADP/4/case an/a/DET/4/det attack/attack/NOUN/1/nmod",
        "modal",
    ),
    (
        "in/in/ADP/2/case case/case/NOUN/0/root of/of/ADP/5/case an/a/DET/5/det "
        "attack/attack/NOUN/2/nmod",
        "conditional",
    ),
    (
        "Iraq/Iraq/PROPN/4/nsubj did/do/AUX/4/aux not/not/PART/4/advmod launch/launch/VERB/0/root "
        "an/a/DET/6/det attack/attack/NOUN/4/obj",
        "negated",
    ),
    (
        "Iraq/Iraq/PROPN/4/nsubj did/do/AUX/4/aux not/not/PART/4/advmod "
        "condemn/condemn/VERB/0/root the/the/DET/6/det attack/attack/NOUN/4/obj",
        "",
    ),
    (
        "The/the/DET/2/det attack/attack/NOUN/5/nsubj did/do/AUX/5/aux not/not/PART/5/advmod "
        "kill/kill/VERB/0/root anyone/anyone/PRON/5/obj",
        "",
    ),
    ("Iraq/Iraq/PROPN/2/nsubj denied/deny/VERB/0/root the/the/DET/4/det attack/attack/NOUN/2/obj",
     "negated"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_doubts(text, expected):
    tree = Tree(parse(text, []))
    [event] = [i for i, lemma in enumerate(tree.lemmas) if lemma == "attack"]
    assert doubts(tree, event) == frozenset(expected.split())


def test_a_circle_of_heads_does_not_hang():
    tree = Tree(parse("did/do/AUX/2/aux attack/attack/VERB/0/root", []))
    tree.heads, tree.relations = [1, 0], ["xcomp", "xcomp"]
    assert doubts(tree, 1) == frozenset()
