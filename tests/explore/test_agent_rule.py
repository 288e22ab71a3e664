"""AgentRule on small parses."""

from itertools import combinations

import numpy as np
import pytest

from sklearn_calib.coref import document_from_spacy
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


NOMINAL = parse(
    "An/a/DET/3/det Iraqi/Iraqi/ADJ/3/amod attack/attack/NOUN/7/nsubj on/on/ADP/5/case "
    "Kuwait/Kuwait/PROPN/3/nmod was/be/AUX/7/aux expected/expect/VERB/0/root",
    [(0, 5), (4, 5)],
)


def test_target_of_another_country():
    rule = AgentRule(LEXICON, target=True)
    assert rule(ACTIVE, (0,)) == {"IRQ"}
    own = ACTIVE.replace(tokens=["Iraqi", "troops", "attacked", "Iraq"])
    town = ACTIVE.replace(tokens=["Iraqi", "troops", "attacked", "towns"])
    for doc in (own, town):
        assert AgentRule(LEXICON)(doc, (0,)) == {"IRQ"}
        assert rule(doc, (0,)) == frozenset()
        assert AgentRule(LEXICON, returns="triple")(doc, (0,)) == frozenset()
    assert rule.bind(town) is None


def test_a_target_that_names_two_countries_names_none():
    doc = parse(
        "Iran/Iran/PROPN/2/nsubj attacked/attack/VERB/0/root Iraqi/Iraqi/ADJ/4/amod "
        "troops/troop/NOUN/2/obj in/in/ADP/6/case Kuwait/Kuwait/PROPN/4/nmod",
        [(0, 1)],
    )
    assert AgentRule(LEXICON, target=True)(doc, (0,)) == frozenset()
    loose = AgentRule(LEXICON, exclusive=False, returns="triple")
    assert loose(doc, (0,)) == {("IRN", "attack", "IRQ"), ("IRN", "attack", "KWT")}


def test_who_did_what_to_whom():
    rule = AgentRule(LEXICON, {"war": ["attack"]}, returns="triple")
    assert rule(ACTIVE, (0,)) == {("IRQ", "war", "KWT")}
    doc = parse(PASSIVE.format("by", "by", "obl"), [(0, 1), (4, 5)])
    assert rule(doc, (1,)) == {("IRQ", "war", "KWT")}
    joined = parse(
        "Iraq/Iraq/PROPN/2/nsubj attacked/attack/VERB/0/root Iran/Iran/PROPN/2/obj "
        "and/and/CCONJ/5/cc Kuwait/Kuwait/PROPN/3/conj",
        [(0, 1)],
    )
    assert rule(joined, (0,)) == {("IRQ", "war", "IRN"), ("IRQ", "war", "KWT")}


def test_nominal_events():
    assert AgentRule(LEXICON)(NOMINAL, (0,)) == frozenset()
    rule = AgentRule(LEXICON, {"war": ["bomb"]}, nouns={"war": ["attack"]}, returns="triple")
    assert rule(NOMINAL, (0,)) == {("IRQ", "war", "KWT")}
    assert rule(NOMINAL, (1,)) == frozenset()
    assert AgentRule(LEXICON, (), nouns=["attack"], returns="verb")(NOMINAL, (0,)) == {"attack"}
    assert (
        AgentRule(LEXICON, nouns=["attack"], against=["at"], target=True)(NOMINAL, (0,))
        == frozenset()
    )


def test_what_adjectives_name_needs_no_coreference():
    """The mention of the deed names two countries; its adjective alone says whose it is."""
    found = AgentRule(LEXICON, nouns=["attack"])(NOMINAL, (0, 1))
    assert found == {"IRQ"}


def test_excluded_deeds():
    negated = parse(
        "Iraq/Iraq/PROPN/4/nsubj did/do/AUX/4/aux not/not/PART/4/advmod attack/attack/VERB/0/root",
        [(0, 1)],
    )
    assert AgentRule(LEXICON)(negated, (0,)) == {"IRQ"}  # as in the paper
    assert AgentRule(LEXICON, exclude=["modal", "conditional"])(negated, (0,)) == {"IRQ"}
    assert AgentRule(LEXICON, exclude=["negated"])(negated, (0,)) == frozenset()
    assert AgentRule(LEXICON, exclude=["negated"])(ACTIVE, (0,)) == {"IRQ"}
    with pytest.raises(ValueError, match="exclude='false' is not known"):
        AgentRule(LEXICON, exclude=["false"])


def test_control_is_an_option():
    doc = parse(
        "Iraq/Iraq/PROPN/2/nsubj threatened/threaten/VERB/0/root to/to/PART/4/mark "
        "attack/attack/VERB/2/xcomp",
        [(0, 1)],
    )
    assert AgentRule(LEXICON)(doc, (0,)) == frozenset()
    assert AgentRule(LEXICON, control=True)(doc, (0,)) == {"IRQ"}
    assert AgentRule(LEXICON, control=True, exclude=["modal"])(doc, (0,)) == frozenset()


CLEAR = [
    ("did not attack", "do not attack", "AUX PART VERB", [4, 4, 4], "aux neg ROOT", "negated"),
    ("would attack", "would attack", "AUX VERB", [3, 3], "aux ROOT", "modal"),
    ("plans to attack", "plan to attack", "VERB PART VERB", [2, 4, 2], "ROOT aux xcomp", "modal"),
]


@pytest.mark.parametrize(("words", "lemmas", "pos", "heads", "deps", "reason"), CLEAR)
def test_filters_on_labels_of_clear(words, lemmas, pos, heads, deps, reason):
    spacy = pytest.importorskip("spacy")
    root = deps.split().index("ROOT") + 2
    doc = spacy.tokens.Doc(
        spacy.blank("en").vocab,
        words=["Iraqi", "troops", *words.split()],
        lemmas=["iraqi", "troop", *lemmas.split()],
        pos=["ADJ", "NOUN", *pos.split()],
        heads=[1, root, *heads],
        deps=["amod", "nsubj", *deps.split()],
    )
    document = document_from_spacy(doc, scheme="clear")
    rule = AgentRule(LEXICON, control=True)
    assert rule(document, (0,)) == {"IRQ"}
    assert AgentRule(LEXICON, control=True, exclude=[reason])(document, (0,)) == frozenset()


def test_a_text_in_which_the_rule_cannot_hold():
    rule = AgentRule(LEXICON, verbs={"war": ["strike", "raid"]})
    assert rule.may_hold("Iraqi planes struck.")
    assert rule.may_hold("RAIDS BY IRAQ")
    assert not rule.may_hold("Iraqi planes landed.")
    assert not rule.may_hold("They struck.")
    nouns = AgentRule(LEXICON, nouns=["invasion"])
    assert nouns.may_hold("Iraqi invasions")
    assert nouns.may_hold("Iraqis attacked")
    assert not nouns.may_hold("Iraqi planes landed.")


@pytest.mark.parametrize(
    "options",
    [{}, {"nouns": ["attack", "raid"], "control": True, "conjuncts": True}],
)
def test_documents_for_which_the_rule_holds_may_hold(options):
    corpus = make_event_corpus(100, random_state=5)
    rule = AgentRule(LEXICON, **options)
    held = [
        any(rule(document, pair) for pair in combinations(range(len(document)), 2))
        for document in corpus.X
    ]
    assert any(held)
    for document, holds in zip(corpus.X, held, strict=True):
        assert rule.may_hold(" ".join(document.tokens)) >= holds
