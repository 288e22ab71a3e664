"""Documents from CoNLL-U, with all that their brackets can hold."""

import gzip

import pytest

from sklearn_calib.coref import (
    read_conllu,
)
from tests.coref.documents import spans


def conllu(*sentences, fields=None):
    """Return lines for words written as form/upos/head/relation/entity."""
    lines = ["# newdoc id = d"]
    if fields:
        lines.append(f"# global.Entity = {fields}")
    for sentence in sentences:
        for number, word in enumerate(sentence.split(), start=1):
            form, upos, head, relation, entity = word.split("/", 4)
            misc = f"SpaceAfter=No|Entity={entity}" if entity != "_" else "_"
            lines.append(f"{number}\t{form}\t{form}\t{upos}\t_\t_\t{head}\t{relation}\t_\t{misc}")
        lines.append("")
    return lines


def test_conllu_nested_mentions():
    lines = conllu(
        "the/DET/2/det/(e1-x dog/NOUN/0/root/_ of/ADP/4/case/_ Ada/PROPN/2/nmod/(e2-x)e1)",
        "she/PRON/0/root/(e2-x)",
        fields="eid-etype",
    )
    [doc] = read_conllu(lines)
    assert spans(doc) == [("the dog of Ada", 0), ("Ada", 1), ("she", 1)]
    assert doc.sentence_starts.tolist() == [0, 4]
    assert doc.heads.tolist() == [1, -1, 3, 1, -1]


def test_conllu_crossing_and_equal_ids():
    # Two mentions cross, and one entity has a mention inside another.
    [doc] = read_conllu(conllu("a/X/0/root/(1(2 b/X/1/dep/1) c/X/1/dep/(2)2)", fields="GRP"))
    assert spans(doc) == [("a b", 0), ("a b c", 1), ("c", 1)]


def test_conllu_type_first_ids():
    [doc] = read_conllu(conllu("a/X/0/root/(person-1(place-2) b/X/1/dep/person-1)"))
    assert spans(doc) == [("a", 0), ("a b", 1)]


def test_conllu_head_field_and_parts():
    lines = conllu(
        "a/X/0/root/(e1[1/2]-x-2 b/X/1/dep/e1[1/2]) c/X/1/dep/_ d/X/1/dep/(e1[2/2]-x-2)",
        fields="eid-etype-head",
    )
    [doc] = read_conllu(lines)
    assert spans(doc) == [("a b c d", 0)]
    assert doc.mentions[0, 2] == 1
    lines = conllu(
        "a/X/0/root/(e1[1/2]-x-3 b/X/1/dep/e1[1/2]) c/X/1/dep/_ d/X/1/dep/(e1[2/2]-x-3)",
        fields="eid-etype-head",
    )
    assert read_conllu(lines)[0].mentions[0, 2] == 3


@pytest.mark.parametrize(
    ("fields", "first", "last"),
    [
        ("eid-etype", "(e1-person", "e1-person)"),
        ("etype-eid-wiki", "(person-97-Jensen_Ackles", "person-97-Jensen_Ackles)"),
        (None, "(person-97-Jensen_Ackles", "person-97-Jensen_Ackles)"),
        (None, "(e1-person-2", "e1-person-2)"),
    ],
)
def test_conllu_closing_brackets_that_repeat_the_fields(fields, first, last):
    other = first.replace("97", "98").replace("e1", "e2")
    lines = conllu(f"a/X/0/root/{other}){first} b/X/1/dep/{last}", fields=fields)
    [doc] = read_conllu(lines)
    assert spans(doc) == [("a", 0), ("a b", 1)]


def test_conllu_parts_with_repeated_fields():
    words = ["(e1[1/2]-x", "e1[1/2]-x)", "_", "(e1[2/2]-x)"]
    lines = conllu(" ".join(f"w/X/{i}/dep/{w}" for i, w in enumerate(words)), fields="eid-etype")
    assert spans(read_conllu(lines)[0]) == [("w w w w", 0)]


@pytest.mark.parametrize(
    ("sentence", "count", "message"),
    [
        ("a/X/0/root/(e1[2/2]-x)", 1, r"'e1' at token 0 has the parts \[2\], not 1 to 2"),
        (
            "a/X/0/root/(e1[1/2]-x) b/X/1/dep/(e1[1/2]-x) c/X/1/dep/(e1[2/2]-x) "
            "d/X/1/dep/(e1[2/2]-x)",
            2,
            r"has the parts \[1, 1, 2\], not 1 to 2; .* has the parts \[2\]",
        ),
        ("a/X/0/root/foo", 1, "'foo' at token 0 is not written as brackets"),
        ("a/X/0/root/(e2)foo b/X/1/dep/_", 1, r"'\(e2\)foo' at token 0 is not written"),
    ],
)
def test_conllu_brackets_that_make_no_sense_are_reported(sentence, count, message):
    with pytest.warns(UserWarning, match=f"^{count} mentions could not be read: .*{message}"):
        [doc] = read_conllu(conllu(sentence, "z/X/0/root/(e1-x)", fields="eid-etype"))
    assert spans(doc)[-1][0] == "z"
    assert all(span[0] in ("a", "z") for span in spans(doc))


def test_mentions_across_sentences_are_reported_once():
    lines = conllu("a/X/0/root/(e1 b/X/1/dep/(e2)", "c/X/0/root/(e1) d/X/1/dep/e1)")
    message = "^1 mentions .*'e1' opens at token 0 and closes at token 3, in another sentence"
    with pytest.warns(UserWarning, match=message):
        [doc] = read_conllu(lines)
    assert [span[0] for span in spans(doc)] == ["b", "c"]


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("a/X/0/root/(e1 b/X/1/dep/_", "document 'd': 'e1' opens at token 0 but never closes"),
        ("a/X/0/root/_ b/X/1/dep/e1)", "'e1' closes at token 1 but never opens"),
        ("a/X/0/root/(e1[1/2]) b/X/1/dep/_", "'e1' at token 0 lacks a part"),
    ],
)
def test_conllu_unbalanced_brackets_are_reported(sentence, message):
    lines = conllu(sentence, "c/X/0/root/(e1)")
    with pytest.warns(UserWarning, match=message):
        [doc] = read_conllu(lines)
    assert spans(doc) == [("c", 0)]
    with pytest.raises(ValueError, match=message):
        read_conllu(lines, unbalanced="raise")
    assert len(read_conllu(lines, unbalanced="ignore")[0]) == 1
    with pytest.raises(ValueError, match="unbalanced='no' is not known"):
        read_conllu(lines, unbalanced="no")


def test_conllu_multiword_tokens_and_empty_nodes():
    row = "{}\t{}\t_\tX\t_\t_\t{}\tdep\t_\t{}"
    lines = [
        row.format("1-2", "don't", "_", "_"),
        row.format("1", "do", "0", "Entity=(e1"),
        row.format("2", "n't", "1", "_"),
        row.format("2.1", "zero", "_", "Entity=e1)(e2(e3)"),
        row.format("3", "go", "1", "Entity=e2)"),
    ]
    with pytest.warns(UserWarning, match="'e3' has a mention without words at token 2"):
        [doc] = read_conllu(lines)
    assert doc.tokens.tolist() == ["do", "n't", "go"]
    assert spans(doc) == [("do n't", 0), ("go", 1)]


def test_conllu_metadata(tmp_path):
    lines = conllu("a/X/0/root/_")
    lines[1:1] = ["# meta::dateCreated = 2015-09", "# meta::genre = news", "# speaker = Ada"]
    lines += ["# newdoc", "# meta::dateCreated = unknown", *conllu("b/X/0/root/_")[1:]]
    path = tmp_path / "two.conllu.gz"
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines))
    one, two = read_conllu(path)
    assert (one.id, str(one.date), one.genre) == ("d", "2015-09", "news")
    assert one.speakers.tolist() == ["Ada"]
    assert one.entities is None
    assert two.date is None
    assert two.metadata["dateCreated"] == "unknown"
    assert two.speakers is None


def test_conllu_columns_that_hold_nothing_are_not_known():
    lines = conllu("the/_/_/_/(e1 dog/_/_/_/e1) of/_/_/_/_", "Ada/_/_/_/(e2)")
    lines = [line.replace("\tdog\tdog", "\tdog\t_") for line in lines]
    [doc] = read_conllu(lines)
    assert (doc.upos, doc.heads, doc.relations) == (None, None, None)
    assert doc.lemmas.tolist() == ["the", "_", "of", "Ada"]
    assert doc.mentions[:, 2].tolist() == [1, 3]  # "dog", not the first word
    # A sentence without a parse among others keeps the layers.
    [doc] = read_conllu(conllu("a/X/0/root/_", "b/_/_/_/_"))
    assert doc.heads.tolist() == [-1, -1]
    assert doc.upos.tolist() == ["X", "_"]


def test_conllu_without_documents():
    assert read_conllu([]) == []
    [doc] = read_conllu(conllu("a/X/0/root/_")[1:])
    assert doc.id == "document"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\ta", "line 2: .*10 columns.*has 2"),
        ("2\ta\ta\tX\t_\t_\t0\troot\t_\t_", "line 2: the word has the id '2'"),
        ("1\ta\ta\tX\t_\t_\tx\troot\t_\t_", "line 2: the head 'x'"),
        ("1\ta\ta\tX\t_\t_\t7\troot\t_\t_", "1 words, and a head 7"),
    ],
)
def test_conllu_bad_lines_are_named(line, message):
    with pytest.raises(ValueError, match=message):
        read_conllu(["# newdoc id = d", line])


@pytest.mark.parametrize("packed", [False, True])
def test_files_of_bytes_and_with_a_mark_at_the_start(tmp_path, packed):
    text = "# newdoc id = é\n1\té\té\tX\t_\t_\t0\troot\t_\tEntity=(e1)\n"
    path = tmp_path / ("d.conllu.gz" if packed else "d.conllu")
    opener = gzip.open if packed else open
    with opener(path, "wb") as file:
        file.write(text.encode("utf-8-sig"))
    with opener(path, "rb") as of_bytes, opener(path, "rt", encoding="utf-8") as of_text:
        for source in (path, of_bytes, of_text):
            [doc] = read_conllu(source)
            assert (doc.id, spans(doc)) == ("é", [("é", 0)])


def row(id, form, misc="_"):
    return f"{id}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}"


def test_the_text_follows_from_the_remarks_about_spaces():
    lines = [
        "# newdoc id = d",
        "# meta::title = A dog",
        "# text = He doesn't.",
        row(1, "He", "SpacesBefore=\\s\\n"),
        row("2-3", "doesn't", "SpaceAfter=No"),
        row(2, "does"),
        row(3, "n't"),
        row(4, ".", "SpacesAfter=\\n\\t\\p\\\\"),
        "",
        "# text = Du vin",
        row("1-2", "Du"),
        row(1, "de"),
        row(2, "le"),
        row(3, "vin", "Entity=(e1)"),
    ]
    [doc] = read_conllu(lines)
    assert doc.title == "A dog"
    assert doc.text == " \nHe doesn't.\n\t|\\Du vin"
    assert [doc.text[a:b] for a, b in doc.offsets] == [
        "He", "does", "n't", ".", "Du", "Du", "vin"
    ]  # fmt: skip
    # Without a comment nothing is known about spaces.
    [doc] = read_conllu([line for line in lines if not line.startswith("# text")])
    assert doc.text is None
    assert doc.offsets is None
