"""Documents are written, and read again as they were."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_calib.coref import Document, parse_texts, read_conllu, write_conllu

WORDS = ["Ada", "_", "a b", "é", "(", "|", "Entity=(e1)", "\\n", "don't", "#", "1-2", "\u2028"]
GAPS = ["", " ", "\n\n", "\t| \\", "\r\n", "x"]
LINE = st.text("ab =:#é", max_size=6).map(str.strip)


@st.composite
def documents(draw):
    n = draw(st.integers(1, 8))
    words = draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n))
    starts = sorted({0, *draw(st.lists(st.integers(1, n - 1), max_size=3))}) if n > 1 else [0]
    stops = [*starts[1:], n]
    options = {}
    for name in ("lemmas", "upos", "relations"):
        if draw(st.booleans()):
            values = draw(st.lists(st.sampled_from(["x", "y z", "_"]), min_size=n, max_size=n))
            options[name] = ["x", *values[1:]]
    if draw(st.booleans()):
        heads = []
        for start, stop in zip(starts, stops, strict=True):
            order = draw(st.permutations(range(start, stop)))
            above = {order[0]: -1}
            for at, token in enumerate(order[1:], start=1):
                above[token] = order[draw(st.integers(0, at - 1))]
            heads += [above[token] for token in range(start, stop)]
        options["heads"] = heads
    spans = []
    for _ in range(draw(st.integers(0, 6))):
        sentence = draw(st.integers(0, len(starts) - 1))
        start = draw(st.integers(starts[sentence], stops[sentence] - 1))
        end = draw(st.integers(start + 1, stops[sentence]))
        spans.append((start, end, draw(st.integers(start, end - 1))))
    spans.sort(key=lambda span: span[:2])
    if spans and draw(st.booleans()):
        options["entities"] = draw(
            st.lists(st.integers(0, 2), min_size=len(spans), max_size=len(spans))
        )
    if draw(st.booleans()):
        text, offsets = draw(st.sampled_from(GAPS)), []
        for i, word in enumerate(words):
            if i not in starts and draw(st.integers(0, 4)) == 0:  # a contraction
                offsets.append(offsets[-1])
                continue
            surface = word if draw(st.integers(0, 3)) else "W\n"
            offsets.append((len(text), len(text) + len(surface)))
            text += surface + draw(st.sampled_from(GAPS))
        options.update(text=text, offsets=offsets)
    if draw(st.booleans()):
        speakers = st.sampled_from(["Ada", None])
        options["speakers"] = draw(
            st.lists(speakers, min_size=len(starts), max_size=len(starts)).map(
                lambda found: [*found[:-1], "Bob"]
            )
        )
    keys = st.text("ab:é", min_size=1, max_size=3)
    options["metadata"] = draw(st.dictionaries(keys, LINE, max_size=2))
    options["date"] = draw(st.sampled_from([None, "1843", "2006-07", "2006-07-12"]))
    options["title"] = draw(st.sampled_from([None, "A = b"]))
    options["genre"] = draw(st.sampled_from([None, "news"]))
    id = draw(LINE.filter(bool))
    return Document(id, words, mentions=spans, sentence_starts=starts, **options)


def same(one, other):
    assert (one.id, one.date, one.title, one.genre) == (
        other.id, other.date, other.title, other.genre
    )  # fmt: skip
    for name in ("tokens", "lemmas", "upos", "relations", "heads", "speakers"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("sentence_starts", "mentions", "offsets"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.text == other.text
    assert (one.entities is None) == (other.entities is None) or not len(one)
    if one.entities is not None and len(one):
        links = [np.equal.outer(d.entities, d.entities) for d in (one, other)]
        np.testing.assert_array_equal(*links)
    kept = {k: v for k, v in other.metadata.items() if k not in ("dateCreated", "title", "genre")}
    assert dict(one.metadata) == kept


@given(st.lists(documents(), min_size=1, max_size=3), st.booleans())
def test_round_trip(tmp_path_factory, found, packed):
    path = tmp_path_factory.mktemp("conllu") / ("a.conllu.gz" if packed else "a.conllu")
    write_conllu(iter(found), path)
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    again = read_conllu(path, unbalanced="raise")
    assert len(again) == len(found)
    for one, other in zip(found, again, strict=True):
        same(one, other)


def test_mentions_of_one_entity_that_cross(tmp_path):
    spans = [(0, 3, 2), (1, 5, 1), (1, 5, 4), (2, 3, 2), (2, 6, 2)]
    doc = Document("d", ["w"] * 6, mentions=spans, entities=[3] * 5)
    write_conllu([doc], tmp_path / "a.conllu")
    [again] = read_conllu(tmp_path / "a.conllu")
    same(doc, again)


def test_parsed_text_is_kept(tmp_path, pipeline):
    texts = [
        (
            "American troops crossed the river.\n\nThey attacked.  ",
            {"id": "a", "date": "2003-02-14"},
        ),
        ("  The port was attacked by Iran.", {"title": "Port"}),
    ]
    found = list(parse_texts(texts, pipeline))
    write_conllu(found, tmp_path / "news.conllu.gz")
    with gzip.open(tmp_path / "news.conllu.gz", "rt") as file:
        assert "# text = American troops crossed the river.\n" in file.read()
    for one, other in zip(found, read_conllu(tmp_path / "news.conllu.gz"), strict=True):
        same(one, other)


def test_values_come_back_as_text(tmp_path):
    doc = Document("d", ["a"], lemmas=[""], metadata={"n": 3, "dateCreated": "unknown"})
    write_conllu([doc], tmp_path / "a.conllu")
    [again] = read_conllu(tmp_path / "a.conllu")
    assert dict(again.metadata) == {"n": "3", "dateCreated": "unknown"}
    assert again.lemmas is None


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document("a\nb", ["w"]), r"its id is 'a\\nb', which cannot be written on one line"),
        (Document("d", ["a\tb"]), r"'d', token 0: 'a\\tb' cannot be written to a column"),
        (Document("d", ["a", ""]), "token 1: '' cannot be written"),
        (Document("d", ["a"], lemmas=["a\n"]), "token 0: .* cannot be written to a column"),
        (Document("d", ["a"], metadata={"k": " v"}), "its k is ' v', which cannot"),
        (Document("d", ["a"], metadata={"k=": "v"}), "the name 'k=' in its metadata"),
        (
            Document("d", ["a", "b"], heads=[-1, 0], sentence_starts=[0, 1]),
            "token 1: it depends on token 0 of another sentence",
        ),
        (
            Document("d", ["a", "b"], mentions=[(0, 2)], sentence_starts=[0, 1]),
            "mention 0: it ends in another sentence than it starts",
        ),
        (
            Document("d", ["a", "b"], sentence_starts=[0, 1], text="x", offsets=[(0, 1)] * 2),
            "token 0: it shares its place in the text with a token of another sentence",
        ),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_no_file(tmp_path, document, message):
    path = tmp_path / "a.conllu"
    path.write_text("before")
    with pytest.raises(ValueError, match=message):
        write_conllu([Document("ok", ["a"]), document], path, force=True)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["before"]


def test_only_documents_are_written(tmp_path):
    with pytest.raises(TypeError, match="documents must be an iterable of documents, got Document"):
        write_conllu(Document("d", ["a"]), tmp_path / "a.conllu")
    with pytest.raises(TypeError, match="entry 0 is a str"):
        write_conllu(["text"], tmp_path / "a.conllu")


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.gz"])
def test_files_of_others_are_left_alone(tmp_path, name):
    path, doc = tmp_path / name, Document("d", ["a"])
    path.write_bytes(b"years of work")
    with pytest.raises(ValueError, match=r"is not one that write_conllu wrote\. Pass force=True"):
        write_conllu([doc], path)
    assert path.read_bytes() == b"years of work"
    write_conllu([doc], path, force=True)
    write_conllu([doc, doc], path)  # its own may be written again
    assert len(read_conllu(path)) == 2
    assert list(tmp_path.iterdir()) == [path]
