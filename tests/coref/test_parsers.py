"""Documents from the objects of spaCy and Stanza."""

from types import SimpleNamespace as Thing

import numpy as np
import pytest

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
    doc = document_from_stanza(source)
    assert doc.lemmas is None
    assert doc.upos is not None
    words = [Thing(text=w, lemma=None, upos=None, deprel=None, head=None) for w, *_ in PARSE]
    source = Thing(sentences=[Thing(words=words)])
    with pytest.raises(ValueError, match="'document' has no upos"):
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
