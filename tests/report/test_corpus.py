"""Corpora that the command line can name."""

import gzip
import json

import pytest

from sklearn_calib.coref import Document, write_conllu
from sklearn_calib.report._corpus import Corpus


def test_json_lines(tmp_path):
    for name, opened in (("news.jsonl", open), ("news.ndjson.gz", gzip.open)):
        path = tmp_path / name
        with opened(path, "wt") as file:
            file.write(json.dumps({"body": "One."}) + "\n\n" + json.dumps({"body": "Two."}))
        corpus = Corpus(path, {"text": "body"})
        assert not corpus.is_parsed
        assert corpus.count() == 2
        assert [text for text, _ in corpus] == ["One.", "Two."] == [text for text, _ in corpus]


def test_folder(tmp_path):
    (tmp_path / "2006-07-12.txt").write_text("One.")
    (tmp_path / "2006-07-13.txt.gz").write_bytes(gzip.compress(b"Two."))
    (tmp_path / "readme.md").write_text("none")
    corpus = Corpus(tmp_path)
    assert corpus.count() == 2
    assert [text for text, _ in corpus] == ["One.", "Two."]
    with pytest.raises(ValueError, match="--date-field is for JSON lines"):
        Corpus(tmp_path, {"date": "day"})


def test_parsed(tmp_path):
    layers = {
        "lemmas": ["she", "sleep"],
        "upos": ["PRON", "VERB"],
        "heads": [1, -1],
        "relations": ["nsubj", "root"],
    }
    without = Document("a", ["She", "sleeps"], **layers)
    other = Document("b", ["She", "sleeps"], mentions=[(0, 2)], **layers)
    path = tmp_path / "two.conllu.gz"
    write_conllu([without, other], path)
    corpus = Corpus(path)
    assert corpus.is_parsed
    assert corpus.count() == 2
    # Where there are no mentions they are found; where there are, they stay.
    assert [document.mentions.tolist() for document in corpus] == [[[0, 1, 0]], [[0, 2, 1]]]


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no file or folder"):
        Corpus(tmp_path / "none.jsonl")
    (tmp_path / "news.pdf").write_text("")
    with pytest.raises(ValueError, match=r"is of no kind that is known: name a CoNLL-U file"):
        Corpus(tmp_path / "news.pdf")
