"""Documents that were written to be slow to read: each is read or refused in seconds."""

import warnings

import pytest

from sklearn_calib.coref import find_mentions, read_conll2012, read_conllu
from tests.limits import within_limits


def word(number, misc="_", head="0", form="a"):
    return f"{number}\t{form}\t_\tX\t_\t_\t{head}\troot\t_\t{misc}\n"


def conllu(*misc):
    """Return a sentence whose words have these brackets."""
    return [word(i, f"Entity={text}") for i, text in enumerate(misc, start=1)]


def size(lines):
    return sum(map(len, lines))


def read_within_limits(read, lines, tmp_path, **options):
    """Read from a file of about a megabyte, and watch what it takes."""
    path = tmp_path / "hostile.txt"
    path.write_text("".join(lines), encoding="utf-8")
    assert path.stat().st_size < 1.2e6
    with warnings.catch_warnings(), within_limits():
        warnings.simplefilter("ignore")
        return read(path, **options)


@pytest.mark.parametrize(
    "text", ["a" * 60_000, "a" * 900_000, "(" * 60_000, ")" * 60_000, "|" * 60_000, "(a|" * 20_000,
             "[" * 60_000, "a-" * 30_000, "[1" * 30_000 + "]", "1)" * 30_000, "(1)" * 20_000]
)  # fmt: skip
def test_long_brackets(text, tmp_path):
    [document] = read_within_limits(read_conllu, conllu(text), tmp_path)
    assert len(document.tokens) == 1
    read_within_limits(read_conll2012, [f"a\t{text}\n"], tmp_path)


@pytest.mark.parametrize("sentences", [True, False])
def test_brackets_that_others_close(sentences, tmp_path):
    opened = [f"({i}" for i in range(15_000)]
    closed = [f"x{i})" for i in range(15_000)]
    lines = conllu(*opened, *closed)
    if sentences:
        lines = [line for text in (opened, closed) for line in [*conllu(*text), "\n"]]
    found = read_within_limits(read_conllu, lines, tmp_path)
    assert len(found[0]) == 0
    with pytest.raises(ValueError, match="30000 mentions could not be read"):
        read_conllu(lines, unbalanced="raise")


def test_the_last_bracket_is_closed_first():
    [document] = read_conllu(conllu("(1(2", "(1", "1)", "1)2)"))
    assert document.mentions[:, :2].tolist() == [[0, 4], [0, 4], [1, 3]]
    [document] = read_conllu(conllu("(1[1/2]", "1[1/2])", "(1[2/2](1", "1)1[2/2])"))
    assert document.mentions[:, :2].tolist() == [[0, 4], [2, 4]]


def test_parts_of_which_there_are_too_many(tmp_path):
    lines = conllu("(e[100000000/100000000])", "(e[1/100000000])")
    [document] = read_within_limits(read_conllu, lines, tmp_path)
    assert len(document) == 0
    with pytest.raises(ValueError, match=r"has the parts \[100000000\], not 1 to 100000000"):
        read_conllu(lines, unbalanced="raise")


def test_numbers_with_thousands_of_digits(tmp_path):
    many = "9" * 5000
    lines = ["# global.Entity = eid-head\n", *conllu(f"(e[1/{many}])", f"(e-{many})", "(e-\u00b2)")]
    [document] = read_within_limits(read_conllu, lines, tmp_path)
    assert document.mentions[:, 2].tolist() == [0, 1, 2]
    for head in (many, "\u00b2", "-5", "1.5"):
        with pytest.raises(ValueError, match=r"document, line 1: the head '.* is not a number"):
            read_conllu([word(1, head=head)])
    with pytest.raises(ValueError, match=r"document, line 1: the word has the id '9{60}'\.\.\."):
        read_conllu([word(many)])
    [document] = read_conll2012([f"#begin document (a); part {many}\n", "a\t_\n"])
    assert document.id == f"a_{many}"
    [document] = read_conll2012(["#begin document (a); part 000\n", "a\t_\n"])
    assert document.id == "a"


@pytest.mark.parametrize(
    "line", ["# " + "(" * 900_000 + " x y", "# " + " " * 900_000 + "x", "#" + " " * 900_000,
             "# " + "a" * 900_000, "#begin document (" + ")" * 900_000]
)  # fmt: skip
def test_long_comments(line, tmp_path):
    read_within_limits(read_conll2012, [line, "\n", "a\t_\n"], tmp_path)
    read_within_limits(read_conllu, [line, "\n", word(1)], tmp_path)


def test_the_word_hash_is_no_comment():
    [document] = read_conll2012(["# (1)\n", "# a comment (1)\n", "# *\n", "# plain\n", "#\t-\n"])
    assert document.tokens.tolist() == ["#", "#", "#"]
    assert len(document) == 1


@pytest.mark.parametrize("heads", [True, False])
def test_thousands_of_nested_mentions(heads, tmp_path):
    n = 12_000
    misc = [f"({i}" for i in range(n)] + [f"{i})" for i in reversed(range(n))]
    lines = [
        word(i, f"Entity={text}", head=("_" if not heads else str(i - 1)))
        for i, text in enumerate(misc, start=1)
    ]
    while size(lines) > 1_000_000:
        lines, misc = lines[: len(lines) - 200], misc[: len(misc) - 200]
    [document] = read_within_limits(read_conllu, lines, tmp_path)
    assert len(document) > 10_000


def test_nested_mentions_without_a_parse(tmp_path):
    n = 60_000
    lines = [f"a\t({i}\n" for i in range(n)] + [f"a\t{i})\n" for i in reversed(range(n))]
    [document] = read_within_limits(read_conll2012, lines, tmp_path)
    assert len(document) == n


def test_thousands_of_empty_documents(tmp_path):
    found = read_within_limits(read_conllu, ["# newdoc\n"] * 80_000, tmp_path)
    assert len(found) == 80_000
    begin = ["#begin document (\n"] * 50_000
    assert len(read_within_limits(read_conll2012, begin, tmp_path)) == 50_000


def test_thousands_of_fields(tmp_path):
    fields = "# global.Entity = " + "-".join(["x"] * 100_000) + "-eid\n"
    lines = [fields, *conllu(*(f"({i})" for i in range(20_000)))]
    [document] = read_within_limits(read_conllu, lines, tmp_path)
    assert len(document) == 20_000


def test_fields_are_read_once_for_all_documents(tmp_path):
    lines = ["# global.Entity = " + "-" * 500_000 + "\n", *["# newdoc\n"] * 50_000]
    assert len(read_within_limits(read_conllu, lines, tmp_path)) == 50_000
    # They hold until others are named.
    text = ["# global.Entity = x-eid-head\n", *conllu("(a-1-1)"), "# newdoc\n", *conllu("(a-2-1)")]
    text += ["# global.Entity = eid-x\n", *conllu("(3-a)")]
    lines = [line.replace("1\ta", "2\ta") if "(3" in line else line for line in text]
    found = read_conllu(lines)
    assert [doc.mentions[:, 2].tolist() for doc in found] == [[0], [0, 1]]
    assert [doc.entities.tolist() for doc in found] == [[0], [0, 1]]


@pytest.mark.parametrize("relation", ["nmod", "acl", "det", "nsubj"])
def test_mentions_of_a_parse_without_end(relation, tmp_path):
    lines = [f"{i}\ta\ta\tNOUN\t_\t_\t{i - 1}\t{relation}\t_\t_\n" for i in range(1, 24_000)]
    [document] = read_within_limits(read_conllu, lines, tmp_path)
    with within_limits():
        found = find_mentions(document)
    assert len(found) == len(lines)
    # No phrase has so many levels.
    assert (found[:, 1] - found[:, 0]).max() == 101


def test_a_parse_that_goes_round_is_named_with_its_line(tmp_path):
    path = tmp_path / "round.conllu"
    path.write_text("# newdoc id = x\n" + word(1, head="2") + word(2, head="1"))
    with pytest.raises(
        ValueError, match=r"round\.conllu, line 1, the document .* depends on itself"
    ):
        read_conllu(path)


def test_packed_documents_that_are_cut_off(tmp_path):
    import gzip

    path = tmp_path / "text.conllu.gz"
    path.write_bytes(gzip.compress("".join(conllu("_")).encode())[:-9])
    for read in (read_conllu, read_conll2012):
        with pytest.raises(ValueError, match=r"text\.conllu\.gz, line \d+: .*cut off"):
            read(path)
