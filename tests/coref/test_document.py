"""Document: what it holds, and what it refuses."""

import copy
import pickle
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest

from sklearn_calib.coref import Document

WORDS = ["The", "dog", "of", "Ada", "saw", "her", "."]


def test_holds_what_it_was_given():
    doc = Document(
        "d",
        WORDS,
        mentions=[(0, 4, 1), (3, 4, 3), (5, 6, 5)],
        entities=["dog", "Ada", "Ada"],
        sentence_starts=[0, 4],
        heads=[1, 4, 3, 1, -1, 4, 4],
        speakers=["x", None],
        metadata={"title": "A dog"},
    )
    assert len(doc) == 3
    assert doc.entities.tolist() == [0, 1, 1]
    assert doc.sentence_index.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert doc.mention_text(0) == "The dog of Ada"
    assert doc.speakers.tolist() == ["x", None]
    assert doc.metadata["title"] == "A dog"
    assert doc.lemmas is None
    assert doc.date is None


def test_heads_of_mentions_come_from_the_parse():
    heads = [1, 4, 3, 1, -1, 4, 4]
    doc = Document("d", WORDS, mentions=[(0, 4), (3, 4), (5, 7)], heads=heads)
    assert doc.mentions[:, 2].tolist() == [1, 3, 5]
    upos = ["DET", "NOUN", "ADP", "PROPN", "VERB", "PRON", "PUNCT"]
    # The comma of an apposition is not its head, even if it comes first.
    doc = Document(
        "d", WORDS[::-1], mentions=[(0, 2)], heads=[2, 2, -1, 2, 2, 2, 2], upos=upos[::-1]
    )
    assert doc.mentions[0, 2] == 1


def test_heads_of_mentions_without_a_parse():
    doc = Document("d", WORDS, mentions=[(0, 4), (3, 4), (5, 7)])
    assert doc.mentions[:, 2].tolist() == [1, 3, 6]


def test_nothing_can_be_changed():
    tokens = ["a", "b"]
    mentions = np.array([[0, 1, 0]])
    doc = Document("d", tokens, mentions=mentions, entities=[3])
    tokens[0] = "z"
    mentions[0] = 7
    assert doc.tokens.tolist() == ["a", "b"]
    assert doc.mentions.tolist() == [[0, 1, 0]]
    with pytest.raises(ValueError, match="read-only"):
        doc.mentions[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        doc.sentence_index[0] = 1
    with pytest.raises(AttributeError):
        doc.id = "other"
    with pytest.raises(TypeError):
        doc.metadata["x"] = 1


@pytest.mark.parametrize("way", [copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies_and_pickles(way):
    doc = Document("d", WORDS, mentions=[(0, 2)], date="2015-09", metadata={"a": 1})
    other = way(doc)
    assert other.tokens.tolist() == doc.tokens.tolist()
    assert other.date == doc.date
    assert other.metadata == {"a": 1}
    with pytest.raises(ValueError, match="read-only"):
        other.mentions[0, 0] = 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2015-09-17", "2015-09-17"),
        ("2015-09", "2015-09"),
        ("2015", "2015"),
        (date(2015, 9, 17), "2015-09-17"),
        (datetime(2015, 9, 17, 12, 30), "2015-09-17"),
        (np.datetime64("2015-09-17T10"), "2015-09-17"),
        ("20150917", "2015-09-17"),
        ("2015-09-17T23:30:00Z", "2015-09-17"),
        ("2015-09-17 23:30:00-05:00", "2015-09-17"),
    ],
)
def test_dates_keep_their_precision(given, expected):
    assert str(Document("d", [], date=given).date) == expected


def test_empty_documents_are_documents():
    doc = Document("d", [])
    assert len(doc) == 0
    assert doc
    assert doc.mentions.shape == (0, 3)
    assert doc.sentence_index.shape == (0,)
    assert len(Document("d", WORDS, mentions=np.empty((0, 3)), entities=[])) == 0


def test_mentions_of_other_kinds():
    assert Document("d", WORDS, mentions=None).mentions.shape == (0, 3)
    frame = pd.DataFrame({"start": [0, 3], "end": [2, 4]})
    doc = Document("d", WORDS, mentions=frame, entities=pd.Series(["a", "a"], index=[5, 6]))
    assert doc.mentions.tolist() == [[0, 2, 1], [3, 4, 3]]
    assert doc.entities.tolist() == [0, 0]
    assert len(Document("d", WORDS, mentions=frame[:0])) == 0


def test_replace_and_select():
    doc = Document("d", WORDS, mentions=[(0, 2), (3, 4)], entities=[5, 6])
    assert doc.replace(entities=None).entities is None
    assert doc.select([False, True]).entities.tolist() == [6]
    with pytest.raises(ValueError, match="one entry for each of the 2 mentions"):
        doc.select([True])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mentions": [(0, 1), (5, 8)]}, "Document 'd', mention 1: .*tokens 5 to 8"),
        ({"mentions": [(2, 2)]}, "mention 0: .*not a part"),
        ({"mentions": [(-1, 2)]}, "mention 0"),
        ({"mentions": [(3, 4), (0, 2)]}, "mention 1: .*Sort the mentions"),
        ({"mentions": [(0, 4), (0, 2)]}, "mention 1: .*Sort the mentions"),
        ({"mentions": [(0, 4, 5)]}, "mention 0: .*head at token 5"),
        ({"mentions": [(0, 1, 0, 0)]}, "columns start, end"),
        ({"mentions": [(0, 1), (2,)]}, "ragged"),
        ({"mentions": [(0, 1)], "entities": [1, 2]}, "1 mentions; it has 2"),
        ({"mentions": [(0, 1)], "entities": [None]}, "mention 0: its entity is missing"),
        ({"mentions": [(0, 1)], "entities": [float("nan")]}, "mention 0: its entity is missing"),
        ({"mentions": [(0, 1)], "entities": [pd.NA]}, "mention 0: its entity is missing"),
        ({"sentence_starts": [1, 3]}, "begin with 0"),
        ({"sentence_starts": [0, 9]}, "below the number of tokens"),
        ({"heads": [0] * 7}, "token 0 depends on token 0"),
        ({"heads": [1, 4, 3, 1, -1, 4, 9]}, "token 6 depends on token 9"),
        ({"heads": [1]}, "shape"),
        ({"lemmas": ["a"]}, "lemmas must have one entry for each of the 7 tokens"),
        ({"speakers": ["a", "b"]}, "one entry for each of the 1 sentences"),
        ({"date": "yesterday"}, "'yesterday' is not a date"),
        ({"date": "NaT"}, "is not a date"),
        ({"date": "10000-01-01"}, "is not a date"),
        ({"date": "0000"}, "is not a date"),
        ({"date": np.datetime64("20030401")}, "is not a date"),
        ({"date": "201509170"}, "is not a date"),
        ({"heads": [1, 4, 3, 2, -1, 4, 4]}, "'d', token 2: token 2 depends on itself"),
        ({"heads": [1, 2, 3, 4, 5, 6, 0]}, "'d', token 0: token 0 depends on itself"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        Document("d", WORDS, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens": "a text"}, "sequence of strings"),
        ({"tokens": ["a", 1]}, "entry 1 is 1"),
        ({"id": 3}, "must be a str"),
        ({"mentions": [(0.0, 1.0)]}, "integers"),
        ({"mentions": 5}, "Document 'd': mentions must be a sequence of values, got int"),
        ({"entities": 5}, "entities must be a sequence of values, got int"),
        ({"heads": 5}, "heads must be a sequence of integers, got int"),
        ({"sentence_starts": 5}, "sentence_starts must be a sequence of integers, got int"),
        ({"mentions": [(0, 1)], "entities": {"a": 1}}, "entities must be a sequence"),
        ({"mentions": [(0, 1)], "entities": np.zeros((1, 2))}, r"mention 0: its entity .*\[0.0,"),
    ],
)
def test_bad_types_are_named(options, message):
    with pytest.raises(TypeError, match=message):
        Document(**{"id": "d", "tokens": WORDS, **options})


def test_a_missing_date_of_pandas_is_no_date():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="date=NaT is not a date"):
        Document("d", [], date=pd.NaT)
    assert str(Document("d", [], date=pd.Timestamp("2015-09-17 12:30")).date) == "2015-09-17"


def test_a_document_shows_its_mentions():
    doc = Document("d", ["Ada", "saw", "<b>"], mentions=[(0, 1), (2, 3)], entities=["Ada", "b"])
    assert repr([doc]) == "[<Document 'd': 3 tokens, 1 sentence, 2 mentions, 2 entities>]"
    assert str(doc) == repr(doc)
    assert "<td>Ada</td>" in doc._repr_html_()
    assert "&lt;b&gt;" in doc._repr_html_()
    frame = doc.to_frame()
    assert frame["mention"].tolist() == ["Ada", "<b>"]
    assert frame["entity"].tolist() == [0, 1]
    assert "entity" not in doc.replace(entities=None).to_frame()


def test_text_and_offsets():
    text = "The dog of Ada\n saw her."
    places = [(0, 3), (4, 7), (8, 10), (11, 14), (16, 19), (20, 23), (23, 24)]
    doc = Document("d", WORDS, text=text, offsets=places, title="A dog")
    assert [text[a:b] for a, b in doc.offsets] == WORDS
    assert not doc.offsets.flags.writeable
    copied = pickle.loads(pickle.dumps(doc.replace(genre="news")))
    assert (copied.text, copied.title) == (text, "A dog")
    assert copied.offsets.tolist() == doc.offsets.tolist()
    assert Document("d", [], text="  ", offsets=[]).offsets.shape == (0, 2)
    # The words of a contraction share one place.
    assert Document("d", ["do", "not"], text="don't", offsets=[(0, 5)] * 2).text == "don't"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "a b"}, "has text but no offsets: pass both, or neither"),
        ({"offsets": [(0, 1), (2, 3)]}, "has offsets but no text"),
        ({"text": "a b", "offsets": [(0, 1), (2, 4)]}, "token 1 covers characters 2 to 4"),
        ({"text": "a b", "offsets": [(0, 1), (2, 2)]}, "token 1 covers characters 2 to 2"),
        ({"text": "a b", "offsets": [(0, 2), (1, 3)]}, "token 1 starts at character 1, before"),
        ({"text": "a b", "offsets": [(0, 1)]}, r"offsets must have shape \(2, 2\)"),
    ],
)
def test_offsets_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        Document("d", ["a", "b"], **options)


def test_text_and_title_are_strings():
    with pytest.raises(TypeError, match="title must be a str, got 3"):
        Document("d", ["a"], title=3)
    with pytest.raises(TypeError, match="text must be a str, got b'a'"):
        Document("d", ["a"], text=b"a", offsets=[(0, 1)])


def test_a_date_that_is_none_is_not_shown_at_length():
    with pytest.raises(ValueError, match=r"date='x{60}'\.\.\. is not a date"):
        Document("a", ["b"], date="x" * 5000)
