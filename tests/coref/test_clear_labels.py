"""CLEAR labels become Universal Dependencies, tree and all."""

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from sklearn_calib.coref import Document, document_from_spacy, find_mentions
from sklearn_calib.coref._clear_labels import from_clear, recognise_scheme
from sklearn_calib.explore import AgentRule

VOCAB = spacy.blank("en").vocab

# Word, lemma, part of speech, head and label in CLEAR; then head and relation in UD.
# Heads count from 1, and 0 is a root, as in CoNLL-U.
SENTENCES = {
    "passive with an agent": """
        The the DET 2 det 2 det
        town town NOUN 4 nsubjpass 4 nsubj:pass
        was be AUX 4 auxpass 4 aux:pass
        attacked attack VERB 0 ROOT 0 root
        by by ADP 4 agent 7 case
        Iraqi iraqi ADJ 7 amod 7 amod
        troops troop NOUN 5 pobj 4 obl:agent
    """,
    "agents joined with their prepositions": """
        attacked attack VERB 0 ROOT 0 root
        by by ADP 1 agent 3 case
        Iraq Iraq PROPN 2 pobj 1 obl:agent
        and and CCONJ 2 cc 6 cc
        by by ADP 2 conj 6 case
        Iran Iran PROPN 5 pobj 3 conj
    """,
    "noun of a noun, possessive, object": """
        The the DET 2 det 2 det
        army army NOUN 5 nsubj 5 nsubj
        of of ADP 2 prep 4 case
        Iraq Iraq PROPN 3 pobj 2 nmod
        bombed bomb VERB 0 ROOT 0 root
        Iran Iran PROPN 8 poss 8 nmod:poss
        's 's PART 6 case 6 case
        port port NOUN 5 dobj 5 obj
        in in ADP 5 prep 10 case
        May May PROPN 9 pobj 5 obl
    """,
    "prepositions in a row": """
        drove drive VERB 0 ROOT 0 root
        out out ADP 1 prep 5 case
        of of ADP 2 prep 5 case
        the the DET 5 det 5 det
        town town NOUN 3 pobj 1 obl
    """,
    "a preposition that has its own noun, too": """
        stood stand VERB 0 ROOT 0 root
        across across ADP 1 prep 3 case
        town town NOUN 2 pobj 1 obl
        from from ADP 2 prep 5 case
        me I PRON 4 pobj 3 nmod
    """,
    "a dative noun is no preposition": """
        gave give VERB 0 ROOT 0 root
        friends friend NOUN 1 dative 1 iobj
        of of ADP 2 prep 4 case
        Ada Ada PROPN 3 pobj 2 nmod
        books book NOUN 1 dobj 1 obj
        to to ADP 1 dative 7 case
        Bob Bob PROPN 6 pobj 1 obl
    """,
    "predicate noun": """
        Ada Ada PROPN 3 nsubj 6 nsubj
        will will AUX 3 aux 6 aux
        be be AUX 0 ROOT 0 root@6
        not not PART 3 neg 6 advmod
        the the DET 6 det 6 det
        queen queen NOUN 3 attr 0 root
        of of ADP 6 prep 8 case
        Iraq Iraq PROPN 7 pobj 6 nmod
        in in ADP 3 prep 10 case
        May May PROPN 9 pobj 6 obl
        and and CCONJ 3 cc 12 cc
        leave leave VERB 3 conj 6 conj
    """.replace("0 root@6", "6 cop"),
    "predicate adjective in a relative clause": """
        men man NOUN 0 ROOT 0 root
        who who PRON 3 nsubj 4 nsubj
        are be AUX 1 relcl 4 cop
        Iraqi iraqi ADJ 3 acomp 1 acl:relcl
    """,
    "there is": """
        There there PRON 2 expl 2 expl
        was be VERB 0 ROOT 0 root
        an an DET 4 det 4 det
        attack attack NOUN 2 attr 2 nsubj
        by by ADP 4 prep 6 case
        Iraq Iraq PROPN 5 pobj 4 nmod
    """,
    "it is clear": """
        It it PRON 2 expl 3 expl
        is be AUX 0 ROOT 3 cop
        clear clear ADJ 2 acomp 0 root
    """,
    "other verbs than be": """
        Ada Ada PROPN 2 nsubj 2 nsubj
        became become VERB 0 ROOT 0 root
        queen queen NOUN 2 attr 2 xcomp
        last last ADJ 5 amod 5 amod
        week week NOUN 2 npadvmod 2 obl:npmod
    """,
    "clauses after a preposition": """
        won win VERB 0 ROOT 0 root
        by by ADP 1 prep 3 mark
        attacking attack VERB 2 pcomp 1 advcl
        plans plan NOUN 1 dobj 1 obj
        for for ADP 4 prep 6 mark
        attacking attack VERB 5 pcomp 4 acl
    """,
    "infinitive, particle and stranded preposition": """
        want want VERB 0 ROOT 0 root
        to to PART 3 aux 3 mark
        give give VERB 1 xcomp 1 xcomp
        up up ADP 3 prt 3 compound:prt
        towns town NOUN 3 dobj 3 obj
        came come VERB 5 relcl 5 acl:relcl
        from from ADP 6 prep 6 obl
    """,
    "conjuncts in a row": """
        Iraq Iraq PROPN 6 nsubj 6 nsubj
        , , PUNCT 1 punct 1 punct
        Iran Iran PROPN 1 conj 1 conj
        and and CCONJ 3 cc 5 cc
        Oman Oman PROPN 3 conj 1 conj
        attacked attack VERB 0 ROOT 0 root
        both both CCONJ 8 preconj 8 cc:preconj
        towns town NOUN 6 dobj 6 obj
    """,
    "labels that both schemes share": """
        Iraq Iraq PROPN 2 nsubj 2 nsubj
        attacked attack VERB 0 ROOT 0 root
        again again ADV 2 advmod 2 advmod
        . . PUNCT 2 punct 2 punct
    """,
}


def both(text):
    """Return a Doc in CLEAR, and the document that it should become."""
    rows = [line.split() for line in text.strip().splitlines()]
    words, lemmas, pos, heads, deps, ud_heads, relations = zip(*rows, strict=True)
    heads = [int(h) - 1 if int(h) else i for i, h in enumerate(heads)]
    doc = Doc(VOCAB, words=words, lemmas=lemmas, pos=pos, heads=heads, deps=deps)
    ud = Document(
        "document", words, lemmas=lemmas, upos=pos, heads=[int(h) - 1 for h in ud_heads],
        relations=relations,
    )  # fmt: skip
    return doc, ud.replace(mentions=find_mentions(ud))


@pytest.mark.parametrize("name", SENTENCES)
def test_clear_becomes_universal_dependencies(name):
    doc, ud = both(SENTENCES[name])
    for scheme in ("auto", "clear"):
        document = document_from_spacy(doc, scheme=scheme)
        found = list(zip(document.tokens, document.heads, document.relations, strict=True))
        assert found == list(zip(ud.tokens, ud.heads, ud.relations, strict=True))
        assert document.mentions.tolist() == ud.mentions.tolist()


@pytest.mark.parametrize(
    ("name", "agents"),
    [
        ("passive with an agent", {"IRQ"}),
        ("agents joined with their prepositions", {"IRQ"}),
        ("noun of a noun, possessive, object", {"IRQ"}),
        ("conjuncts in a row", {"IRQ"}),
        ("there is", set()),
        ("labels that both schemes share", {"IRQ"}),
    ],
)
def test_the_rule_finds_the_same_agents_in_clear(name, agents):
    rule = AgentRule(
        {"IRQ": ["Iraq", "Iraqi"], "IRN": ["Iran"]}, verbs=["attack", "bomb"], conjuncts=False
    )
    doc, _ = both(SENTENCES[name])
    document = document_from_spacy(doc)
    found = set().union(*(rule(document, (i,)) for i in range(len(document))))
    assert found == agents


CLEAR_LABELS = (
    "ROOT acl acomp advcl advmod agent amod appos attr aux auxpass case cc ccomp compound conj "
    "csubj csubjpass dative dep det dobj expl intj mark meta neg nmod npadvmod nsubj nsubjpass "
    "nummod oprd parataxis pcomp pobj poss preconj predet prep prt punct quantmod relcl xcomp"
)
LABELS = CLEAR_LABELS.split()
UD_LABELS = (
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse "
    "dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis "
    "punct reparandum root vocative xcomp"
)


@given(st.data())
def test_any_tree_of_clear_becomes_a_tree(data):
    n = data.draw(st.integers(1, 12))
    order = data.draw(st.permutations(range(n)))
    heads = [-1] * n
    for at, token in enumerate(order[1:], start=1):
        heads[token] = order[data.draw(st.integers(0, at - 1))]
    labels = data.draw(st.lists(st.sampled_from(LABELS[1:]), min_size=n, max_size=n))
    labels[order[0]] = "ROOT"
    upos = data.draw(
        st.lists(st.sampled_from(["NOUN", "VERB", "AUX", "ADP", "PART"]), min_size=n, max_size=n)
    )
    lemmas = data.draw(st.lists(st.sampled_from(["be", "there", "x"]), min_size=n, max_size=n))
    given_heads, given_labels = list(heads), list(labels)
    new_heads, relations = from_clear(heads, labels, upos, lemmas)
    assert (heads, labels) == (given_heads, given_labels)
    Document("d", ["w"] * n, heads=new_heads, relations=relations)  # refuses cycles
    assert new_heads.count(-1) == 1
    assert relations[new_heads.index(-1)] == "root"
    assert {relation.split(":")[0] for relation in relations} <= set(UD_LABELS.split())


def test_schemes_are_recognised_or_refused():
    assert recognise_scheme(["nsubj", "ROOT", "obj"], "auto", "d") == "ud"
    assert recognise_scheme(["nsubj", "root", "nmod:poss"], "auto", "d") == "ud"
    assert recognise_scheme(LABELS, "auto", "d") == "clear"
    with pytest.raises(
        ValueError, match=r"'d': .*'oa', 'sb' are neither of Universal.*scheme='ud'"
    ):
        recognise_scheme(["sb", "oa", "ROOT"], "auto", "Document 'd'")
    assert recognise_scheme(["sb"], "ud", "d") == "ud"
    with pytest.raises(ValueError, match=r"'cop' are of Universal.*'dobj' are of CLEAR.*version 1"):
        recognise_scheme(["cop", "dobj"], "auto", "d")
    with pytest.raises(ValueError, match="scheme='tiger' is not known"):
        recognise_scheme([], "tiger", "d")


def test_labels_of_universal_dependencies_stay():
    doc, ud = both(SENTENCES["passive with an agent"])
    heads = [h if h >= 0 else i for i, h in enumerate(ud.heads.tolist())]
    doc = Doc(
        VOCAB, words=ud.tokens.tolist(), lemmas=ud.lemmas.tolist(), pos=ud.upos.tolist(),
        heads=heads, deps=ud.relations.tolist(),
    )  # fmt: skip
    document = document_from_spacy(doc)
    assert document.heads.tolist() == ud.heads.tolist()
    assert document.relations.tolist() == ud.relations.tolist()
