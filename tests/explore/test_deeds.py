"""Agents and targets by their dependency patterns."""

import pytest

from sklearn_calib.explore._deeds import DeedPatterns
from sklearn_calib.explore._tree import Tree
from tests.explore.parses import parse


def patterns(**options):
    return DeedPatterns(
        **{
            "subjects": frozenset({"nsubj"}),
            "agents": frozenset({"obl:agent"}),
            "by": frozenset({"by"}),
            "against": frozenset({"on", "at", "against"}),
            "conjuncts": False,
            "control": False,
            **options,
        }
    )


def agents(tree, event, find):
    """Return the words of the agents, and the patterns by which they were found."""
    return [(tree.words[deed.agent], deed.pattern) for deed in find(tree, event)]


@pytest.mark.parametrize(
    ("text", "control", "expected"),
    [
        ("Iraq/i/PROPN/2/nsubj attacked/attack/VERB/0/root", False, ("iraq", "active subject")),
        (
            "Iraq/i/PROPN/2/nsubj hopes/hope/VERB/0/root to/to/PART/4/mark try/try/VERB/2/xcomp "
            "to/to/PART/6/mark attack/attack/VERB/4/xcomp",
            True,
            ("iraq", "control subject"),
        ),
        (
            "Iraq/i/PROPN/2/nsubj ordered/order/VERB/0/root troops/troop/NOUN/2/obj "
            "to/to/PART/5/mark attack/attack/VERB/2/xcomp",
            True,
            ("troops", "control subject"),
        ),
        (
            "troops/troop/NOUN/3/nsubj:pass were/be/AUX/3/aux:pass ordered/order/VERB/0/root "
            "to/to/PART/5/mark attack/attack/VERB/3/xcomp",
            True,
            ("troops", "control subject"),
        ),
        (
            "Iran/i/PROPN/2/nsubj accused/accuse/VERB/0/root Iraq/i/PROPN/2/obj "
            "of/of/SCONJ/5/mark attacking/attack/VERB/2/advcl",
            True,
            ("iraq", "participle"),
        ),
        (
            "Iran/i/PROPN/2/nsubj crossed/cross/VERB/0/root Iraq/i/PROPN/2/obj "
            ",/,/PUNCT/5/punct attacking/attack/VERB/2/advcl",
            True,
            ("iran", "participle"),
        ),
        (
            "troops/troop/NOUN/0/root attacking/attack/VERB/1/acl towns/town/NOUN/2/obj",
            True,
            ("troops", "participle"),
        ),
        ("towns/town/NOUN/0/root attacked/attack/VERB/1/acl", True, None),
        (
            "it/it/PRON/2/nsubj wants/want/VERB/0/root to/to/PART/5/mark be/be/AUX/5/aux:pass "
            "attacked/attack/VERB/2/xcomp",
            True,
            None,
        ),
    ],
)
def test_agent_of_a_verb(text, control, expected):
    tree = Tree(parse(text, []))
    event = tree.lemmas.index("attack")
    found = agents(tree, event, patterns(control=control).of_verb)
    assert found == ([] if expected is None else [expected])
    if control:
        assert agents(tree, event, patterns().of_verb) == []


def test_relative_clause():
    tree = Tree(
        parse("troops/troop/NOUN/0/root who/who/PRON/3/nsubj attacked/attack/VERB/1/acl:relcl", [])
    )
    assert agents(tree, 2, patterns(control=True).of_verb) == [
        ("who", "active subject"),
        ("troops", "relative clause"),
    ]


def test_conjuncts_share():
    tree = Tree(
        parse(
            "Iraq/i/PROPN/4/nsubj and/and/CCONJ/3/cc Iran/i/PROPN/1/conj "
            "advanced/advance/VERB/0/root and/and/CCONJ/6/cc attacked/attack/VERB/4/conj",
            [],
        )
    )
    assert agents(tree, 5, patterns().of_verb) == []
    assert agents(tree, 5, patterns(conjuncts=True).of_verb) == [
        ("iraq", "shared subject"),
        ("iran", "shared subject"),
    ]


def test_nouns():
    tree = Tree(
        parse(
            "their/they/PRON/4/nmod:poss Iraqi/Iraqi/ADJ/4/amod air/air/NOUN/4/compound "
            "attack/attack/NOUN/0/root on/on/ADP/6/case towns/town/NOUN/4/nmod "
            "on/on/ADP/8/case Monday/Monday/PROPN/4/nmod by/by/ADP/10/case "
            "planes/plane/NOUN/4/nmod of/of/ADP/12/case Iran/Iran/PROPN/4/nmod",
            [],
        )
    )
    found = patterns()
    assert agents(tree, 3, found.of_noun) == [
        ("their", "nominal event"),
        ("planes", "nominal event"),
    ]
    assert found.adjectives(tree, 3) == [1, 2]
    assert found.targets_of_noun(tree, 3) == [[5], [11]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Iraq/i/PROPN/2/nsubj attacked/attack/VERB/0/root Iran/i/PROPN/2/obj "
            "and/and/CCONJ/5/cc Kuwait/k/PROPN/3/conj",
            [["iran", "kuwait"], []],
        ),
        (
            "it/it/PRON/2/nsubj attacked/attack/VERB/0/root towns/town/NOUN/2/obj at/at/ADP/5/case "
            "Iran/i/PROPN/2/obl in/in/ADP/7/case May/May/PROPN/2/obl",
            [["towns"], ["iran"]],
        ),
        (
            "Iran/i/PROPN/3/nsubj:pass was/be/AUX/3/aux:pass attacked/attack/VERB/0/root "
            "by/by/ADP/5/case Iraq/i/PROPN/3/obl",
            [["iran"], []],
        ),
        (
            "towns/town/NOUN/0/root attacked/attack/VERB/1/acl by/by/ADP/4/case Iraq/i/PROPN/2/obl",
            [["towns"], []],
        ),
    ],
)
def test_targets_of_a_verb(text, expected):
    tree = Tree(parse(text, []))
    found = patterns().targets_of_verb(tree, tree.lemmas.index("attack"))
    assert [[tree.words[token] for token in group] for group in found] == expected
