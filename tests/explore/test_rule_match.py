"""Why a rule holds, in words."""

from itertools import combinations

import pytest

from sklearn_calib.coref import document_from_spacy
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, RuleMatch, country_lexicon
from tests.explore.parses import parse

LEXICON = country_lexicon()

CASES = [
    (
        "Iraqi/Iraqi/ADJ/2/amod troops/troop/NOUN/3/nsubj attacked/attack/VERB/0/root "
        "Kuwait/Kuwait/PROPN/3/obj",
        [(0, 2)],
        "Iraqi troops attacked Kuwait: 'troops' is the subject of 'attacked'; 'Iraqi' names IRQ; "
        "'Kuwait' is the target and belongs to KWT",
        (2, 1, 3, 0, "active subject"),
    ),
    (
        "It/it/PRON/3/nsubj:pass was/be/AUX/3/aux:pass attacked/attack/VERB/0/root "
        "by/by/ADP/7/case the/the/DET/7/det United/United/PROPN/7/compound "
        "States/State/PROPN/3/obl:agent",
        [(4, 7)],
        "It was attacked by the United States: 'States' is the agent of 'attacked'; 'United "
        "States' names USA",
        (2, 6, 0, 5, "passive agent"),
    ),
    (
        "Iraq/Iraq/PROPN/2/nsubj advanced/advance/VERB/0/root and/and/CCONJ/4/cc "
        "attacked/attack/VERB/2/conj",
        [(0, 1)],
        "Iraq advanced and attacked: 'Iraq' is the subject of 'advanced', and 'attacked' is joined "
        "to it; 'Iraq' names IRQ",
        (3, 0, None, 0, "shared subject"),
    ),
    (
        "They/they/PRON/2/nsubj ordered/order/VERB/0/root Iraq/Iraq/PROPN/2/obj to/to/PART/5/mark "
        "attack/attack/VERB/2/xcomp",
        [(2, 3)],
        "Iraq to attack: 'Iraq' is the object of 'ordered', and 'attack' is governed by it; 'Iraq' "
        "names IRQ",
        (4, 2, None, 2, "control subject"),
    ),
    (
        "Iraqis/Iraqi/PROPN/0/root who/who/PRON/3/nsubj attacked/attack/VERB/1/acl:relcl",
        [(0, 3)],
        "Iraqis who attacked: 'Iraqis' is what 'who' stands for, the subject of 'attacked'; "
        "'Iraqis' names IRQ",
        (2, 0, None, 0, "relative clause"),
    ),
    (
        "Iraqis/Iraqi/PROPN/0/root attacking/attack/VERB/1/acl",
        [(0, 2)],
        "Iraqis attacking: 'Iraqis' is described by 'attacking'; 'Iraqis' names IRQ",
        (1, 0, None, 0, "participle"),
    ),
    (
        "An/a/DET/3/det Iraqi/Iraqi/ADJ/3/amod attack/attack/NOUN/0/root on/on/ADP/5/case "
        "Kuwait/Kuwait/PROPN/3/nmod",
        [(0, 5)],
        "An Iraqi attack on Kuwait: 'Iraqi' describes 'attack'; 'Iraqi' names IRQ; 'Kuwait' is the "
        "target and belongs to KWT",
        (2, None, 4, 1, "nominal event"),
    ),
    (
        "Iraq/Iraq/PROPN/3/nmod:poss 's/'s/PART/1/case attack/attack/NOUN/0/root",
        [(0, 1)],
        "Iraq 's attack: 'Iraq' owns 'attack'; 'Iraq' names IRQ",
        (2, 0, None, 0, "nominal event"),
    ),
]


@pytest.mark.parametrize(("text", "mentions", "sentence", "places"), CASES)
def test_a_match_reads_as_a_sentence(text, mentions, sentence, places):
    rule = AgentRule(LEXICON, nouns=["attack"], control=True, conjuncts=True)
    [match] = rule.explain(parse(text, mentions), (0,))
    assert str(match) == repr(match) == sentence
    assert (match.verb, match.agent, match.target, match.named, match.pattern) == places


def test_another_mention_names_the_country():
    doc = parse(
        "Iraqi/Iraqi/ADJ/2/amod troops/troop/NOUN/3/nsubj came/come/VERB/0/root "
        "They/they/PRON/5/nsubj attacked/attack/VERB/0/root",
        [(0, 2), (3, 4)],
        sentence_starts=[0, 3],
    )
    [match] = AgentRule(LEXICON).explain(doc, (0, 1))
    assert match.reason == (
        "They attacked: 'They' is the subject of 'attacked'; 'Iraqi' in 'Iraqi troops' names IRQ"
    )
    assert AgentRule(LEXICON).explain(doc, (0,)) == []


def test_a_long_clause_is_cut_to_its_parts():
    filler = " ".join("very/very/ADV/18/advmod" for _ in range(16))
    doc = parse(f"Iraq/Iraq/PROPN/18/nsubj {filler} attacked/attack/VERB/0/root", [(0, 1)])
    [match] = AgentRule(LEXICON).explain(doc, (0,))
    assert match.reason.startswith("Iraq ... attacked: ")


def test_keys_are_those_of_the_rule():
    corpus = make_event_corpus(60, random_state=3)
    options = {"nouns": ["attack"], "control": True, "conjuncts": True}
    for returns in ("key", "verb", "pair", "triple"):
        rule = AgentRule(LEXICON, returns=returns, **options)
        for document in corpus.X:
            for entity in combinations(range(len(document)), 2):
                found = rule.explain(document, entity)
                assert {match.key for match in found} == rule(document, entity)
                assert all(isinstance(match, RuleMatch) for match in found)


def test_labels_of_clear():
    spacy = pytest.importorskip("spacy")
    doc = spacy.tokens.Doc(
        spacy.blank("en").vocab,
        words=["Kuwait", "was", "attacked", "by", "the", "army", "of", "Iraq", "."],
        lemmas=["Kuwait", "be", "attack", "by", "the", "army", "of", "Iraq", "."],
        pos=["PROPN", "AUX", "VERB", "ADP", "DET", "NOUN", "ADP", "PROPN", "PUNCT"],
        heads=[2, 2, 2, 2, 5, 3, 5, 6, 2],
        deps=["nsubjpass", "auxpass", "ROOT", "agent", "det", "pobj", "prep", "pobj", "punct"],
    )
    document = document_from_spacy(doc)
    rule = AgentRule(LEXICON, target=True)
    [match] = [m for i in range(len(document)) for m in rule.explain(document, (i,))]
    assert match.reason == (
        "Kuwait was attacked by the army: 'army' is the agent of 'attacked'; 'Iraq' names IRQ; "
        "'Kuwait' is the target and belongs to KWT"
    )
