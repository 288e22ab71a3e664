"""Documents from the objects of spaCy and Stanza."""

from types import SimpleNamespace as Thing

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from sklearn_calib.coref import (
    document_from_spacy,
    document_from_stanza,
    find_mentions,
)
from tests.coref.documents import PARSE, parsed, spans


def spacy_like():
    tokens = [Thing(text=w, lemma_=w, pos_=p, dep_=r, i=i) for i, (w, p, _, r) in enumerate(PARSE)]
    for token, (_, _, head, _) in zip(tokens, PARSE, strict=True):
        token.head = tokens[head] if head >= 0 else token

    class Doc(list):
        sents = (Thing(start=0),)

    return Doc(tokens)


def stanza_like():
    words = [Thing(text=w, lemma=w, upos=p, deprel=r, head=h + 1) for w, p, h, r in PARSE]
    return Thing(sentences=[Thing(words=words), Thing(words=words)])


def test_spacy():
    doc = document_from_spacy(spacy_like())
    assert doc.heads.tolist() == parsed().heads.tolist()
    assert doc.mentions.tolist() == find_mentions(parsed()).tolist()
    root = Thing(i=5)
    span = Thing(start=4, end=6, root=root)
    doc = document_from_spacy(spacy_like(), mentions=[span, (0, 1, 0)], entities=["sea", "Ada"])
    assert doc.mentions.tolist() == [[0, 1, 0], [4, 6, 5]]
    assert spans(doc) == [("Ada", 0), ("the sea", 1)]


def test_stanza():
    doc = document_from_stanza(stanza_like())
    n = len(PARSE)
    assert doc.sentence_starts.tolist() == [0, n]
    assert doc.heads[:n].tolist() == parsed().heads.tolist()
    assert np.array_equal(doc.heads[n:] >= 0, parsed().heads >= 0)
    assert (doc.heads[n:][parsed().heads >= 0] >= n).all()
    source = stanza_like()
    mention = Thing(sentence=1, start_word=0, end_word=1)
    source.coref = [Thing(index=4, mentions=[mention, Thing(sentence=0, start_word=0, end_word=1)])]
    doc = document_from_stanza(source)
    assert doc.mentions.tolist() == [[0, 1, 0], [n, n + 1, n]]
    assert doc.entities.tolist() == [4, 4]


def test_spacy_pipelines_that_leave_things_out():
    source = spacy_like()
    for token in source:
        token.lemma_ = token.pos_ = token.dep_ = ""
        token.head = token
    doc = document_from_spacy(source, mentions=[(4, 6)])
    assert (doc.lemmas, doc.upos, doc.heads, doc.relations) == (None, None, None, None)
    assert doc.mentions.tolist() == [[4, 6, 5]]
    with pytest.raises(ValueError, match="'document' has no upos"):
        document_from_spacy(source)


def test_stanza_pipelines_that_leave_things_out():
    source = stanza_like()
    source.sentences[0].words[2].lemma = None
    with pytest.warns(UserWarning, match="no lemmas.*add the processor 'lemma' to the Stanza"):
        doc = document_from_stanza(source)
    assert doc.lemmas is None
    assert doc.upos is not None
    words = [Thing(text=w, lemma=None, upos=None, deprel=None, head=None) for w, *_ in PARSE]
    source = Thing(sentences=[Thing(words=words)])
    with pytest.raises(ValueError, match="'document' has no upos"):
        document_from_stanza(source)
    with pytest.raises(ValueError, match="the processor 'pos' and the processor 'depparse' to the"):
        document_from_stanza(source)
    source.coref = [Thing(index=4, mentions=[Thing(sentence=0, start_word=4, end_word=6)])]
    doc = document_from_stanza(source)
    assert (doc.upos, doc.heads, doc.relations) == (None, None, None)
    assert doc.mentions.tolist() == [[4, 6, 5]]
    with pytest.raises(ValueError, match="entities needs mentions"):
        document_from_stanza(source, entities=[1])


def test_adapters_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="entities needs mentions"):
        document_from_spacy(spacy_like(), entities=[1])
    with pytest.raises(ValueError, match="1 mentions; it has 2"):
        document_from_stanza(stanza_like(), mentions=[(0, 1)], entities=[1, 2])


VOCAB = spacy.blank("en").vocab


def test_real_spacy_with_white_space():
    words = ["\n\n", "Iraq", "attacked", " ", ".", "\n", "They", "left", "."]
    doc = Doc(
        VOCAB,
        words=words,
        spaces=[False, True, True, False, False, False, True, False, False],
        lemmas=["\n\n", "Iraq", "attack", " ", ".", "\n", "they", "leave", "."],
        pos=["SPACE", "PROPN", "VERB", "SPACE", "PUNCT", "SPACE", "PRON", "VERB", "PUNCT"],
        # The full stop depends on a space, and a line break is the root of the second sentence.
        heads=[1, 2, 2, 2, 3, 5, 7, 5, 7],
        deps=["dep", "nsubj", "ROOT", "dep", "punct", "ROOT", "nsubj", "dep", "punct"],
        sent_starts=[True, False, False, False, False, True, False, False, False],
    )
    document = document_from_spacy(doc, id="d", date="2006-07", title="War", metadata={"a": 1})
    assert document.tokens.tolist() == ["Iraq", "attacked", ".", "They", "left", "."]
    assert document.heads.tolist() == [1, -1, 1, 4, -1, 4]
    assert document.relations.tolist() == ["nsubj", "root", "punct", "nsubj", "root", "punct"]
    assert document.sentence_starts.tolist() == [0, 3]
    assert document.text == doc.text == "\n\nIraq attacked  .\nThey left."
    assert [document.text[a:b] for a, b in document.offsets] == document.tokens.tolist()
    assert document.mentions.tolist() == [[0, 1, 0], [3, 4, 3]]
    assert (str(document.date), document.title, document.metadata["a"]) == ("2006-07", "War", 1)
    # Mentions are given in tokens of the Doc.
    document = document_from_spacy(doc, mentions=[doc[5:7], doc[0:2], (4, 5)])
    assert document.mentions.tolist() == [[0, 1, 0], [2, 3, 2], [3, 4, 3]]
    with pytest.raises(ValueError, match="the mention of tokens 5 to 6 has no words"):
        document_from_spacy(doc, mentions=[(5, 6)])


def test_real_spacy_of_nothing_but_space():
    doc = Doc(
        VOCAB, words=["\n"], spaces=[False], pos=["SPACE"], heads=[0], deps=["ROOT"], lemmas=["\n"]
    )
    document = document_from_spacy(doc)
    assert (len(document.tokens), document.text) == (0, "\n")
    assert len(document_from_spacy(Doc(VOCAB, words=[]), id="e").tokens) == 0


def test_a_missing_component_is_named():
    doc = Doc(VOCAB, words=["Iraq", "attacked"])
    with pytest.raises(
        ValueError, match=r"'d': the spaCy doc has no sentences. Add.*'sentencizer'"
    ):
        document_from_spacy(doc, id="d")
    spacy.blank("en").add_pipe("sentencizer")(doc)
    message = (
        "'d' has no upos and no relations.*add a 'morphologizer'.* and a 'parser' to the spaCy"
    )
    with pytest.raises(ValueError, match=message):
        document_from_spacy(doc, id="d")
    assert document_from_spacy(doc, mentions=[(0, 1)]).heads is None
    doc = Doc(
        VOCAB, words=["Iraq", "attacked"], pos=["PROPN", "VERB"], heads=[1, 1],
        deps=["nsubj", "ROOT"],
    )  # fmt: skip
    with pytest.warns(UserWarning, match="no lemmas, which .*a 'lemmatizer' or a"):
        assert document_from_spacy(doc).lemmas is None


def test_stanza_text_and_contractions():
    text = "We don't."
    token = Thing(start_char=3, end_char=8)
    rows = [
        ("We", "we", "PRON", 4, "nsubj", 0, 2, None),
        ("do", "do", "AUX", 4, "aux", None, None, token),
        ("n't", "not", "PART", 4, "advmod", None, None, token),
        (".", ".", "PUNCT", 0, "root", 8, 9, None),
    ]
    names = ("text", "lemma", "upos", "head", "deprel", "start_char", "end_char", "parent")
    words = [Thing(**dict(zip(names, row, strict=True))) for row in rows]
    doc = document_from_stanza(
        Thing(text=text, sentences=[Thing(words=words)]), id="s", date="2006", title="T"
    )
    assert (doc.id, str(doc.date), doc.title, doc.text) == ("s", "2006", "T", text)
    assert doc.offsets.tolist() == [[0, 2], [3, 8], [3, 8], [8, 9]]
