"""Documents from the columns of CoNLL-2012 and LitBank."""

import pytest

from sklearn_calib.coref import (
    read_conll2012,
)
from tests.coref.documents import spans


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
    with pytest.raises(ValueError, match=r"line 1: .*this one has 1"):
        read_conll2012(["a"])


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


def test_files_of_the_reference_scorer():
    # Five columns, tabs or blanks, brackets without bars, a stray blank at the end, several parts.
    lines = [
        "#begin document (x); ",
        "t\t0\t0\ta1\t(0(1",
        "t\t0\t1\ta2\t0)1)",
        "t\t0\t2\tb\t-\t",
        "",
        "t 0 0 c (1) ",
        "#end document",
        "# begin document (x); part 001",
        "t -",
        "t ",
        "t (1)",
        "#end document",
    ]
    one, two = read_conll2012(lines)
    assert (one.id, two.id) == ("x", "x_1")
    assert one.tokens.tolist() == ["a1", "a2", "b", "c"]
    assert spans(one) == [("a1 a2", 0), ("a1 a2", 1), ("c", 1)]
    assert two.tokens.tolist() == ["t", "t", "t"]
    assert spans(two) == [("t", 0)]


@pytest.mark.parametrize("n_columns", range(2, 15))
def test_any_number_of_columns(n_columns):
    cells = [f"c{k}" for k in range(n_columns - 1)]
    [doc] = read_conll2012(["#begin document d", "\t".join([*cells, "(7)"])])
    assert doc.id == "d"
    assert doc.tokens.tolist() == ["c3" if n_columns >= 5 else f"c{n_columns - 2}"]
    assert doc.mentions.tolist() == [[0, 1, 0]]
