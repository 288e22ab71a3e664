"""Raw text becomes documents, through a real spaCy pipeline and through functions."""

import pickle
import sys
from types import SimpleNamespace as Thing

import pytest
import spacy

from sklearn_calib.coref import Document, document_from_spacy, parse_texts
from sklearn_calib.coref._parse_texts import as_parser

TEXTS = [
    ("Iraqi troops crossed the river. They attacked the port.", {"id": 7, "date": "2003-02-14"}),
    "The town was attacked by Iraqi troops.\n\n",
    ("", {"title": "Nothing", "source": "AP"}),
]


def test_a_pipeline_parses_text(pipeline):
    one, two, three = parse_texts(iter(TEXTS), pipeline)
    assert (one.id, str(one.date), len(one.sentence_starts)) == ("7", "2003-02-14", 2)
    assert [one.mention_text(i) for i in range(len(one))] == [
        "Iraqi troops", "the river", "They", "the port"
    ]  # fmt: skip
    assert one.lemmas[2] == "cross"
    assert (two.id, two.date, two.text) == ("text-1", None, TEXTS[1])
    assert two.relations.tolist() == [
        "det", "nsubj:pass", "aux:pass", "root", "case", "amod", "obl:agent", "punct"
    ]  # fmt: skip
    assert (three.title, dict(three.metadata), len(three.tokens)) == (
        "Nothing",
        {"source": "AP"},
        0,
    )


def test_a_folder_gives_the_same(pipeline, pipeline_folder):
    for parse in (pipeline_folder, str(pipeline_folder)):
        for a, b in zip(
            parse_texts(TEXTS, pipeline), parse_texts(TEXTS, parse, batch_size=2), strict=True
        ):
            assert a.tokens.tolist() == b.tokens.tolist()
            assert a.heads.tolist() == b.heads.tolist()
            assert a.mentions.tolist() == b.mentions.tolist()


def test_a_named_pipeline_travels_as_its_name(pipeline_folder):
    parser = as_parser(str(pipeline_folder))
    [_] = parse_texts(["Iran attacked Iraq."], pipeline_folder)
    assert len(pickle.dumps(parser)) < 1000
    assert pickle.loads(pickle.dumps(parser)).name == str(pipeline_folder)


def test_functions_may_return_documents_of_three_kinds(pipeline):
    word = Thing(text="Ada", lemma="Ada", upos="PROPN", head=0, deprel="root")
    own = Document("own", ["a"], date="2001", title="Own", metadata={"a": 1, "b": 1})
    record = ("Iran left.", {"id": "r", "metadata": 0, "b": 2})
    for parse, n in (
        (lambda text: own, 1),
        (lambda text: pipeline(text), 3),
        (lambda text: Thing(sentences=[Thing(words=[word])]), 1),
        (lambda text: document_from_spacy(pipeline(text), scheme="clear"), 3),
    ):
        [found] = parse_texts([record], parse)
        assert (found.id, len(found.tokens), found.metadata["b"]) == ("r", n, 2)
    [found] = parse_texts([record], lambda text: own)
    assert (str(found.date), found.title, found.metadata["a"]) == ("2001", "Own", 1)


def test_a_text_that_cannot_be_parsed_is_named(pipeline):
    long = spacy.blank("en")
    long.max_length = 10
    with pytest.raises(RuntimeError, match=r"'text-1' could not be parsed: .*E088"):
        list(parse_texts(["", "Iran attacked Iraq."], long))
    with pytest.raises(RuntimeError, match=r"'text-0' could not be parsed: .*has no sentences"):
        list(parse_texts(["Iran attacked Iraq."], "blank:en"))
    with pytest.raises(RuntimeError, match=r"parse must return a Document.* got str"):
        list(parse_texts(["Iran"], lambda text: text))


def test_what_is_no_text_and_no_parser_is_refused(monkeypatch):
    with pytest.raises(TypeError, match=r"Text 1 must be a str, or a pair .* got int"):
        list(parse_texts(["a", 3], lambda text: Document("d", [text])))
    with pytest.raises(TypeError, match=r"Text 0 must be a str, .*a pair of str and str"):
        list(parse_texts([("a", "2001")], lambda text: Document("d", [text])))
    with pytest.raises(ValueError, match="'text-0': date='May' is not a date"):
        list(parse_texts([("a", {"date": "May"})], lambda text: Document("d", [text])))
    with pytest.raises(TypeError, match="texts must be an iterable of texts, got str"):
        parse_texts("a text", "blank:en")
    with pytest.raises(TypeError, match=r"parse must be the name or folder.*got int"):
        parse_texts(["a"], 3)
    with pytest.raises(ValueError, match=r"no pipeline of this name.*spacy download en_core_none"):
        parse_texts(["a"], "en_core_none")
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ImportError, match=r"sklearn-calib\[spacy\]"):
        parse_texts(["a"], "en_core_web_sm")
