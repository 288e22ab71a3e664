"""AgentRule on small parses."""

from itertools import combinations

import numpy as np
import pytest

from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_documents, country_lexicon
from tests.explore.parses import parse

LEXICON = country_lexicon()


ACTIVE = parse(
    "Iraqi/Iraqi/ADJ/2/amod troops/troop/NOUN/3/nsubj attacked/attack/VERB/0/root "
    "Kuwait/Kuwait/PROPN/3/obj",
    [(0, 2), (3, 4)],
)


def test_subject_is_the_agent_and_object_is_not():
    rule = AgentRule(LEXICON)
    assert rule(ACTIVE, (0,)) == {"IRQ"}
    assert rule(ACTIVE, (1,)) == frozenset()
    assert AgentRule(LEXICON, verbs=["say"])(ACTIVE, (0,)) == frozenset()
    assert AgentRule(LEXICON, modifiers=[])(ACTIVE, (0,)) == frozenset()


def test_only_country_of_the_entity():
    both = (0, 1)
    assert AgentRule(LEXICON)(ACTIVE, both) == frozenset()
    assert AgentRule(LEXICON, exclusive=False)(ACTIVE, both) == {"IRQ", "KWT"}


@pytest.mark.parametrize(
    ("relation", "found"),
    [
        ("nmod", True),
        ("nmod:poss", True),
        ("compound", True),
        ("flat", True),
        ("flat:name", True),
        ("nmod:tmod", False),
    ],
)
def test_modifiers(relation, found):
    doc = parse(
        f"army/army/NOUN/4/nsubj of/of/ADP/3/case Iraq/Iraq/PROPN/1/{relation} "
        "attacked/attack/VERB/0/root",
        [(0, 3)],
    )
    assert bool(AgentRule(LEXICON)(doc, (0,))) is found
    assert AgentRule(LEXICON, modifiers=["nmod:tmod"])(doc, (0,)) == (
        frozenset() if found else {"IRQ"}
    )


def test_multi_word_name():
    doc = parse(
        "the/the/DET/3/det United/United/PROPN/3/compound States/State/PROPN/4/nsubj "
        "attacked/attack/VERB/0/root",
        [(0, 3)],
    )
    assert AgentRule(LEXICON)(doc, (0,)) == {"USA"}


PASSIVE = (
    "Kuwait/Kuwait/PROPN/3/nsubj:pass was/be/AUX/3/aux:pass attacked/attack/VERB/0/root "
    "{}/{}/ADP/5/case Iraq/Iraq/PROPN/3/{}"
)


@pytest.mark.parametrize(
    ("word", "relation", "found"),
    [("by", "obl", True), ("by", "obl:agent", True), ("near", "obl", False), ("by", "obj", False)],
)
def test_passive(word, relation, found):
    doc = parse(PASSIVE.format(word, word, relation), [(0, 1), (4, 5)])
    assert AgentRule(LEXICON)(doc, (1,)) == ({"IRQ"} if found else frozenset())
    assert AgentRule(LEXICON)(doc, (0,)) == frozenset()
    strict = AgentRule(LEXICON, by=())
    assert strict(doc, (1,)) == ({"IRQ"} if relation == "obl:agent" else frozenset())
    assert AgentRule(LEXICON, by=["near"])(doc, (1,)) == (
        {"IRQ"} if word == "near" or relation == "obl:agent" else frozenset()
    )


def test_by_of_an_active_verb_is_no_agent():
    doc = parse(
        "They/they/PRON/2/nsubj attacked/attack/VERB/0/root by/by/ADP/4/case Iraq/Iraq/PROPN/2/obl",
        [(0, 1), (3, 4)],
    )
    assert AgentRule(LEXICON)(doc, (1,)) == frozenset()


def test_reduced_passive():
    doc = parse(
        "towns/town/NOUN/0/root attacked/attack/VERB/1/acl by/by/ADP/4/case Iraq/Iraq/PROPN/2/obl",
        [(0, 4), (3, 4)],
    )
    assert AgentRule(LEXICON)(doc, (1,)) == {"IRQ"}


def test_conjuncts():
    doc = parse(
        "Iraq/Iraq/PROPN/4/nsubj and/and/CCONJ/3/cc Iran/Iran/PROPN/1/conj "
        "advanced/advance/VERB/0/root and/and/CCONJ/6/cc attacked/attack/VERB/4/conj",
        [(0, 1), (2, 3)],
    )
    plain, wide = AgentRule(LEXICON), AgentRule(LEXICON, conjuncts=True)
    assert plain(doc, (0,)) == plain(doc, (1,)) == frozenset()
    assert wide(doc, (0,)) == {"IRQ"}
    assert wide(doc, (1,)) == {"IRN"}
    own = parse(
        "Iraq/Iraq/PROPN/2/nsubj advanced/advance/VERB/0/root and/and/CCONJ/5/cc "
        "Iran/Iran/PROPN/5/nsubj attacked/attack/VERB/2/conj",
        [(0, 1), (3, 4)],
    )
    assert wide(own, (0,)) == frozenset()
    assert wide(own, (1,)) == {"IRN"}


def test_a_passive_conjunct_has_no_agent_in_its_subject():
    doc = parse(
        "Iraq/Iraq/PROPN/2/nsubj advanced/advance/VERB/0/root and/and/CCONJ/5/cc "
        "was/be/AUX/5/aux:pass attacked/attack/VERB/2/conj",
        [(0, 1)],
    )
    assert AgentRule(LEXICON, conjuncts=True)(doc, (0,)) == frozenset()


def test_conjuncts_in_a_circle_do_not_hang():
    doc = parse(
        "Iraq/Iraq/PROPN/3/conj Iran/Iran/PROPN/1/conj attack/attack/VERB/0/root", [(0, 1), (1, 2)]
    )
    object.__setattr__(doc, "heads", np.array([1, 0, -1]))  # which Document itself refuses
    assert AgentRule(LEXICON, conjuncts=True)(doc, (0,)) == frozenset()


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        (
            "Attacked/attack/VERB/6/advcl by/by/ADP/3/case Iran/Iran/PROPN/1/obl ,/,/PUNCT/1/punct "
            "Iraq/Iraq/PROPN/6/nsubj fell/fall/VERB/0/root",
            2,
        ),
        (
            "towns/town/NOUN/0/root bombed/bomb/VERB/1/acl and/and/CCONJ/4/cc "
            "attacked/attack/VERB/2/conj by/by/ADP/6/case Iran/Iran/PROPN/4/obl",
            5,
        ),
        (
            "towns/town/NOUN/3/nsubj:pass were/be/AUX/3/aux:pass bombed/bomb/VERB/0/root "
            "and/and/CCONJ/5/cc attacked/attack/VERB/3/conj by/by/ADP/7/case Iran/Iran/PROPN/5/obl",
            6,
        ),
    ],
)
def test_passive_that_is_not_marked(text, mention):
    doc = parse(text, [(mention, mention + 1)])
    assert AgentRule(LEXICON)(doc, (0,)) == {"IRN"}


@pytest.mark.parametrize(
    "text",
    [
        "rebels/rebel/NOUN/0/root attacking/attack/VERB/1/acl by/by/ADP/5/case "
        "Iraqi/Iraqi/ADJ/5/amod truck/truck/NOUN/2/obl",
        "plans/plan/NOUN/0/root to/to/PART/3/mark attack/attack/VERB/1/acl by/by/ADP/6/case "
        "Iraqi/Iraqi/ADJ/6/amod truck/truck/NOUN/3/obl",
        "fled/flee/VERB/0/root they/they/PRON/3/nsubj attacked/attack/VERB/1/advcl "
        "by/by/ADP/6/case Iraqi/Iraqi/ADJ/6/amod truck/truck/NOUN/3/obl",
    ],
)
def test_active_participles_and_infinitives_have_no_agent_after_by(text):
    n = len(text.split())
    doc = parse(text, [(n - 2, n)])
    assert AgentRule(LEXICON)(doc, (0,)) == frozenset()


def test_case_makes_no_difference():
    doc = parse(PASSIVE.format("BY", "by", "obl").replace("/attack/", "/ATTACK/"), [(0, 1), (4, 5)])
    assert AgentRule(LEXICON)(doc, (1,)) == {"IRQ"}
    assert AgentRule(LEXICON, ["Attack"], by=["By"], returns="pair")(doc, (1,)) == {
        ("IRQ", "Attack")
    }


def test_nouns_are_not_verbs():
    doc = parse("Iraq/Iraq/PROPN/2/nsubj attack/attack/NOUN/0/root", [(0, 1)])
    assert AgentRule(LEXICON)(doc, (0,)) == frozenset()
    assert AgentRule(LEXICON, verb_upos=None)(doc, (0,)) == {"IRQ"}
    assert AgentRule(LEXICON)(doc.replace(upos=None), (0,)) == {"IRQ"}


def test_what_is_returned():
    verbs = ["attack", "bomb"]
    assert AgentRule(LEXICON, verbs, returns="verb")(ACTIVE, (0,)) == {"attack"}
    assert AgentRule(LEXICON, verbs, returns="pair")(ACTIVE, (0,)) == {("IRQ", "attack")}
    with pytest.raises(ValueError, match="returns='country' is not known"):
        AgentRule(LEXICON, returns="country")


def test_lists_of_verbs():
    lists = {"fight": ["attack", "bomb"], "harm": ["attack"], "speak": ["say"]}
    rule = AgentRule(LEXICON, lists, returns="pair")
    assert rule(ACTIVE, (0,)) == {("IRQ", "fight"), ("IRQ", "harm")}
    assert AgentRule(LEXICON, lists)(ACTIVE, (0,)) == {"IRQ"}


def test_mentions_that_do_not_matter_make_no_difference():
    corpus = make_event_corpus(80, random_state=4)
    rule = AgentRule(LEXICON)
    samples = corpus.model.sample(corpus.X, 30, random_state=0)
    truth = [document.entities for document in corpus.X]
    fast = count_documents(corpus.X, samples, rule, best=truth)
    slow = count_documents(corpus.X, samples, lambda d, e: rule(d, e), best=truth)
    np.testing.assert_array_equal(fast.samples, slow.samples)
    np.testing.assert_array_equal(fast.best, slow.best)
    assert rule.bind(ACTIVE).mentions == [0, 1]
    assert rule.bind(ACTIVE.select([False, True])) is None


def test_bad_input():
    with pytest.raises(ValueError, match="'demo' has no heads: AgentRule needs a parse"):
        AgentRule(LEXICON)(ACTIVE.replace(heads=None), (0,))
    with pytest.raises(TypeError, match="verbs must be a list of words, such as"):
        AgentRule(LEXICON, verbs="attack")
    with pytest.raises(ValueError, match="verbs is empty"):
        AgentRule(LEXICON, verbs=())


def test_a_rule_describes_itself_in_a_line():
    assert repr(AgentRule({"IRQ": ["Iraq"]})) == "<AgentRule: 1 keys, agents of attack>"
    many = AgentRule({"IRQ": ["Iraq"], "IRN": ["Iran"]}, verbs=list("abcdefg"))
    assert repr(many) == "<AgentRule: 2 keys, agents of a, b, c, d, e, ...>"


def test_a_text_in_which_the_rule_cannot_hold():
    rule = AgentRule(LEXICON, verbs={"war": ["strike", "raid"]})
    assert rule.may_hold("Iraqi planes struck.")
    assert rule.may_hold("RAIDS BY IRAQ")
    assert not rule.may_hold("Iraqi planes landed.")
    assert not rule.may_hold("They struck.")


def test_documents_for_which_the_rule_holds_may_hold():
    corpus = make_event_corpus(100, random_state=5)
    rule = AgentRule(LEXICON)
    held = [
        any(rule(document, pair) for pair in combinations(range(len(document)), 2))
        for document in corpus.X
    ]
    assert any(held)
    for document, holds in zip(corpus.X, held, strict=True):
        assert rule.may_hold(" ".join(document.tokens)) >= holds
