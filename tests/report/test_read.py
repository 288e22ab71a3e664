"""Files become columns, whatever their format; what is wrong with one is said in one line."""

import gzip
import re
from pathlib import Path

import pytest

from sklearn_calib import calibration_error_interval
from sklearn_calib.datasets import make_queries
from sklearn_calib.report._command import main
from sklearn_calib.report._read import Progress, as_labels
from tests.report.files import NAMES, ROWS, SAMPLE, run, write


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "0"], [1, 0]),
        (["1.0", "0.0"], [1, 0]),
        (["true", "False"], [True, False]),
        (["1", "01"], ["1", "01"]),
        (["9007199254740992", "9007199254740993"], ["9007199254740992", "9007199254740993"]),
        (["nan", "1"], ["nan", "1"]),
        ([10**30, 1], [str(10**30), "1"]),
        (["a", "b"], ["a", "b"]),
    ],
)
def test_labels_never_merge(values, expected):
    assert as_labels(values, "y").tolist() == expected


@pytest.mark.parametrize(
    "name", ["p.csv", "p.tsv", "p.jsonl", "p.parquet", "p.csv.gz", "p.jsonl.gz"]
)
def test_every_format_gives_the_same_numbers(name, tmp_path, capsys):
    path = write(tmp_path / name)
    assert run(path, "--pos-label", "yes", "--group", "doc") == 0
    text = capsys.readouterr().out
    expected = calibration_error_interval(SAMPLE.queries)
    low, high = expected.confidence_interval
    assert re.search(rf"^calibration error +{expected.error:.4f}$", text, flags=re.MULTILINE)
    assert f"{low:.4f} to {high:.4f}" in text
    assert "confident" in text
    assert "suggested bin size" in text


@pytest.mark.parametrize("name", ["p.csv", "p.tsv"])
@pytest.mark.parametrize(("mark", "point"), [(";", "."), (";", ","), ("\t", ",")])
def test_other_separators_and_decimal_commas(name, mark, point, tmp_path, capsys):
    path = tmp_path / name
    rows = [(word, score.replace(".", point), str(doc)) for word, score, doc in ROWS]
    path.write_text("\n".join(mark.join(row) for row in [NAMES, *rows]))
    assert run(path, "--pos-label", "yes", "--group", "doc") == 0
    expected = calibration_error_interval(SAMPLE.queries)
    assert f"{expected.error:.4f}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("none.csv", None, [], "no such file"),
        ("a.xlsx", "", [], "format is not known from the name"),
        ("a.csv", "", [], "the file is empty"),
        ("a.csv", "label,score\n", [], "there are no rows"),
        ("a.csv", "label,prob\n1,0.5\n", [], "no column 'score'; it has 'label', 'prob'"),
        ("a.csv", "label,score\n1,0.5\n0,half\n", [], "row 2: 'half' is not a number"),
        ("a.csv", "label,score\n1,0.5\n,0.1\n", [], "row 2: the label is missing"),
        ("a.csv", "label,score\n1,0.5\n0\n", [], "line 3: 1 values, but the header has 2"),
        ("a.csv", "label,score\n1,0.5\n0,1.5\n", [], "1.5 in row 2 (1 of 2 values), outside"),
        ("a.csv", "label,score\n1,nan\n0,0.5\n", [], "y_prob contains nan in row 1 (1 of"),
        ("a.csv", "label,score\n1,0.5\n0,0.2\n", [], "at least 4 queries"),
        ("a.csv", "label,score\nx,0.5\ny,0.2\n", [], "Set --pos-label"),
        ("a.csv", "label,score\n1,0.5\n", ["--confidence-level", "95"], "Did you mean 0.95?"),
        ("a.csv", b"label,score\n\xff\xfe,0.5\n", [], "not UTF-8 text"),
        ("a.csv.gz", "label,score\n", [], "cannot be read"),
        ("a.csv", "label,score,score\n1,0.5,0.2\n", [], "2 columns 'score'"),
        ("a.csv", "label,score\nTrue,0.5\n", ["--pos-label", "yes"], "'yes' is neither"),
        ("a.csv", "label,score\n1,0.5\n", ["--pos-label", "0.5"], "'0.5' is not"),
        ("a.csv", "label,score,g\n1,0.5,\n", ["--group", "g"], "row 1: the group is missing"),
        ("a.csv", "label,score\n1,0.5\n", ["--out", "/no/where/r.html"], "there is no folder"),
        ("a.jsonl", '{"label": [1], "score": 0.5}\n', [], "row 1: [1] is not a label"),
        ("a.jsonl", "{not json}\n", [], "line 1: not JSON"),
        ("a.jsonl", "[1, 2]\n", [], "line 1: a JSON object is expected"),
        ("a.jsonl", '{"label": 1}\n', [], "line 1: no field 'score'"),
        ("a.parquet", "text", [], "cannot be read"),
        ("a.csv", "label;score\n1;0,5\n0;half\n", [], "row 2: 'half' is not a number"),
        ("a.csv", "label;prob\n1;0,5\n", [], "no column 'score'"),
        ("a.csv", "label;score\n1;0.5\n0;0,5\n", [], "Write decimals with a point: 0.5"),
        ("a.csv", "label;score;w\n1;0,5;1,234\n", ["--weight", "w"], "with a point: 1.234"),
        ("a.csv", 'label;score;"a\nb"\n1;0.5;2\n0;0.5\n', [], "line 4: 2 values"),
    ],
)
def test_bad_files_get_one_line(name, content, options, message, tmp_path, capsys):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        path.write_text(content)
    assert run(path, *options) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


@pytest.mark.parametrize(
    ("yes", "no"), [("1", "0"), ("True", "False"), ("1.0", "0.0"), ("1", "-1")]
)
def test_labels_as_text(yes, no, tmp_path, capsys):
    rows = [(yes if word == "yes" else no, s, d) for word, s, d in ROWS]
    assert run(write(tmp_path / "p.csv", rows)) == 0
    assert f"{SAMPLE.y_true.sum():,} (" in capsys.readouterr().out


def test_progress_is_shown_on_a_terminal_only():
    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    terminal = Terminal()
    progress = Progress(Path("big.csv"), terminal)
    progress.last -= 10
    progress.update(100_000, 0.25)
    progress.done()
    assert "big.csv: 100,000 rows (25%)" in terminal.text


def test_a_million_rows(tmp_path, capsys):
    sample = make_queries(1_000_000, predictions="mixture", random_state=0)
    path = tmp_path / "big.csv"
    with path.open("w") as stream:
        stream.write("label,score\n")
        stream.writelines(
            f"{int(y)},{q:.6f}\n" for y, q in zip(sample.y_true, sample.y_prob, strict=True)
        )
    assert run(path) == 0
    assert re.search(r"queries +1,000,000", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bad.jsonl", b'{"label": 1, "score": 1' + b"0" * 400 + b"}\n", "is not a number"),
        ("deep.jsonl", b'{"label": 1, "score": ' + b"[" * 100_000 + b"\n", "nested too deep"),
    ],
)
def test_strange_json(name, content, message, tmp_path, capsys):
    path = tmp_path / name
    path.write_bytes(content)
    assert main(["report", str(path), "--y-true", "label", "--y-prob", "score"]) == 2
    assert message in capsys.readouterr().err


def test_damaged_gzip(tmp_path, capsys):
    whole = bytearray(gzip.compress(b"label,score\n" + b"1,0.5\n0,0.25\n" * 2000))
    whole[20:40] = b"\xff" * 20
    path = tmp_path / "damaged.csv.gz"
    path.write_bytes(whole)
    assert main(["report", str(path), "--y-true", "label", "--y-prob", "score"]) == 2
    assert "cannot be read" in capsys.readouterr().err
