"""Readers of files, and adapters of parsers."""

import gzip
from types import SimpleNamespace as Thing

import numpy as np
import pytest

from sklearn_calib.coref import (
    Document,
    document_from_spacy,
    document_from_stanza,
    find_mentions,
    read_conll2012,
    read_conllu,
)


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


def spans(doc):
    return [(doc.mention_text(i), int(doc.entities[i])) for i in range(len(doc))]


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


def test_conll2012():
    row = "x\t0\t{}\t{}\t{}\t*\t-\t-\t-\t{}\t*\t{}"
    lines = [
        "#begin document (bc/x); part 001",
        row.format(0, "Lincoln", "NNP", "Ada", "(3|(4"),
        row.format(1, "'s", "POS", "Ada", "4)"),
        row.format(2, "Inn", "NNP", "Ada", "3)"),
        "",
        row.format(0, "she", "PRP", "-", "(5)|(3"),
        row.format(1, ",", ",", "-", "3)"),
        "#end document",
    ]
    [doc] = read_conll2012(lines)
    assert doc.id == "bc/x_1"
    assert doc.upos.tolist() == ["PROPN", "PART", "PROPN", "PRON", "PUNCT"]
    assert doc.speakers.tolist() == ["Ada", None]
    assert spans(doc) == [("Lincoln 's", 0), ("Lincoln 's Inn", 1), ("she", 2), ("she ,", 1)]


def test_conll2012_two_columns():
    lines = ["# newdoc id = a", "x\t(1)", "", "# newdoc id = b", "y\t_", "z\t(0"]
    with pytest.warns(UserWarning, match="document 'b': '0' opens at token 1"):
        a, b = read_conll2012(lines)
    assert spans(a) == [("x", 0)]
    assert len(b) == 0
    with pytest.raises(ValueError, match=r"line 1: .*this one has 3"):
        read_conll2012(["a\tb\tc"])


def test_conll2012_missing_tags():
    row = "x\t0\t{}\t{}\t{}\t*\t-\t-\t-\t-\t*\t(1)"
    lines = [row.format(0, "a", "-"), row.format(1, "b", "NN")]
    assert read_conll2012(lines)[0].upos.tolist() == ["_", "NOUN"]
    assert read_conll2012(lines[:1])[0].upos is None


@pytest.mark.parametrize("space", [" ", "\t"])
def test_conll2012_hash_is_a_word(space):
    lines = ["# newdoc id = a", "# a comment", *(w.replace(" ", space) for w in ("# (1", "1 1)"))]
    [doc] = read_conll2012([*lines, f"#{space}_", f"#{space}-"])
    assert doc.tokens.tolist() == ["#", "1", "#", "#"]
    assert spans(doc) == [("# 1", 0)]


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


PARSE = [
    ("Ada", "PROPN", 2, "nsubj"),
    ("is", "AUX", 2, "cop"),
    ("queen", "NOUN", -1, "root"),
    ("of", "ADP", 5, "case"),
    ("the", "DET", 5, "det"),
    ("sea", "NOUN", 2, "nmod"),
    ("and", "CCONJ", 7, "cc"),
    ("air", "NOUN", 5, "conj"),
    (".", "PUNCT", 2, "punct"),
]


def parsed():
    words, upos, heads, relations = zip(*PARSE, strict=True)
    return Document("d", words, upos=upos, heads=heads, relations=relations)


def test_find_mentions():
    doc = parsed()
    doc = doc.replace(mentions=find_mentions(doc))
    assert [doc.mention_text(i) for i in range(len(doc))] == [
        "Ada",
        "queen of the sea and air",
        "the sea",
        "air",
    ]
    with pytest.raises(ValueError, match="'d' has no upos"):
        find_mentions(Document("d", ["a"]))
    assert find_mentions(Document("d", [], upos=[], heads=[], relations=[])).shape == (0, 3)


def test_find_mentions_ends_on_a_cycle():
    cyclic = Thing(
        id="d", heads=np.array([2, 0, 1]), relations=["dep"] * 3, upos=["NOUN", "ADJ", "ADJ"]
    )
    assert find_mentions(cyclic).tolist() == [[0, 3, 0]]


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
