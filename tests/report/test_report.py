"""The report, end to end on files."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sklearn_calib import Queries, calibration_bins, calibration_error_interval, score_decomposition
from sklearn_calib.datasets import make_queries
from sklearn_calib.report import main
from sklearn_calib.report._read import Progress
from sklearn_calib.report._summary import summarise

SAMPLE = make_queries(800, distortion="slope", group_size=4, dependence=0.5, random_state=0)
WORDS = np.where(SAMPLE.y_true, "yes", "no").tolist()
SCORES = [repr(float(q)) for q in SAMPLE.y_prob]
DOCS = SAMPLE.queries.group.tolist()
NAMES = ("label", "score", "doc")
ROWS = list(zip(WORDS, SCORES, DOCS, strict=True))


def write(path, rows=ROWS, names=NAMES):
    """Write rows in the format that the name tells."""
    suffix = [s for s in path.suffixes if s != ".gz"][-1]
    if suffix == ".parquet":
        columns = dict(zip(names, (list(c) for c in zip(*rows, strict=True)), strict=True))
        columns["score"] = [float(s) for s in columns["score"]]
        parquet.write_table(pa.table(columns), path)
        return path
    if suffix == ".jsonl":
        lines = [json.dumps({"label": w, "score": float(s), "doc": d}) for w, s, d in rows]
    else:
        mark = "\t" if suffix == ".tsv" else ","
        lines = [mark.join(names)] + [mark.join(map(str, row)) for row in rows]
    text = "\n".join(lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def run(path, *options):
    return main(["report", str(path), "--y-true", "label", "--y-prob", "score", *options])


@pytest.mark.parametrize(
    "name", ["p.csv", "p.tsv", "p.jsonl", "p.parquet", "p.csv.gz", "p.jsonl.gz"]
)
def test_every_format_gives_the_same_numbers(name, tmp_path, capsys):
    path = write(tmp_path / name)
    assert run(path, "--pos-label", "yes", "--group", "doc") == 0
    text = capsys.readouterr().out
    expected = calibration_error_interval(SAMPLE.queries)
    low, high = expected.confidence_interval
    assert f"calibration error                     {expected.error:.4f}" in text
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


def test_scores_are_split_over_the_bins_of_the_curve():
    calibrated = make_queries(5000, random_state=0).queries
    assert score_decomposition(calibrated).n_bins == 1
    summary = summarise(calibrated, confidence_level=0.95)
    bins = calibration_bins(calibrated)
    assert summary.brier.n_bins == summary.log.n_bins == len(bins) == 17
    assert summary.brier.refinement == pytest.approx(bins.refinement)
    assert summary.brier.calibration == pytest.approx(bins.error(squared=True))
    assert dict(summary.rows())["bins of these parts"] == "17, as in the curve"
    weight = np.random.default_rng(0).random(5000)
    weighted = Queries(calibrated.y_true, calibrated.y_prob, sample_weight=weight)
    summary = summarise(weighted, confidence_level=0.95)
    assert summary.brier.n_bins == len(calibration_bins(weighted))


class Page(HTMLParser):
    """Checks that tags are closed, and collects ids."""

    VOID = ("meta", "br", "img", "link", "use", "path", "rect")

    def __init__(self):
        super().__init__()
        self.ids, self.open, self.outside = [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        for name in ("src", "href", "xlink:href"):
            value = attributes.get(name) or ""
            if value and not value.startswith("#"):
                self.outside.append(value)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_page_is_whole_and_self_contained(tmp_path, capsys):
    out = tmp_path / "report.html"
    path = write(tmp_path / "a<b>.csv")
    assert run(path, "--pos-label", "yes", "--out", str(out)) == 0
    assert f"wrote {out}" in capsys.readouterr().out
    html = out.read_text()
    page = Page()
    page.feed(html)
    assert not page.open
    assert not page.outside
    assert len(set(page.ids)) == len(page.ids)
    assert {"summary", "curve", "bin-size"} <= set(page.ids)
    assert html.count("<svg") == 2
    assert "a&lt;b&gt;.csv" in html
    assert "<b>.csv" not in html


def test_many_classes(tmp_path, capsys):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([3, 2, 1], size=300)
    y = [rng.choice(["ant", "bee", "cat"], p=p) for p in proba]
    path = tmp_path / "many.csv"
    lines = ["truth,ant,bee,cat,w"]
    lines += [f"{label},{a},{b},{c},1.5" for label, (a, b, c) in zip(y, proba, strict=True)]
    path.write_text("\n".join(lines))
    out = tmp_path / "many.html"
    code = main(
        ["report", str(path), "--y-true", "truth", "--y-prob", "ant", "bee", "cat",
         "--weight", "w", "--out", str(out)]
    )  # fmt: skip
    assert code == 0
    assert "by label" in capsys.readouterr().out
    assert "id='labels'" in out.read_text()
    renamed = path.read_text().replace("truth,ant,bee,cat", "truth,p1,p2,p3", 1)
    path.write_text(renamed)
    code = main(
        ["report", str(path), "--y-true", "truth", "--y-prob", "p1", "p2", "p3",
         "--classes", "ant", "bee", "cat"]
    )  # fmt: skip
    assert code == 0
    code = main(
        ["report", str(path), "--y-true", "truth", "--y-prob", "p1", "p2", "--classes", "ant"]
    )
    assert code == 2
    assert "--classes names 1 classes for 2 probability columns" in capsys.readouterr().err
    assert main(["report", str(path), "--y-true", "truth", "--y-prob", "p1", "p2"]) == 2
    assert "label 'ant' of column 'truth' has no probability column" in capsys.readouterr().err


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
        ("a.csv", "label,score\n1,0.5\n0,1.5\n", [], "outside [0, 1]"),
        ("a.csv", "label,score\n1,nan\n0,0.5\n", [], "y_prob contains nan at position 0"),
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


def test_number_as_pos_label(tmp_path, capsys):
    rows = [("2" if word == "yes" else "1", s, d) for word, s, d in ROWS]
    assert run(write(tmp_path / "p.csv", rows), "--pos-label", "2") == 0
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


def test_module_can_be_run(tmp_path):
    path = write(tmp_path / "p.csv")
    command = [sys.executable, "-m", "sklearn_calib", "report", str(path), "--y-true", "label"]
    done = subprocess.run(
        [*command, "--y-prob", "score", "--pos-label", "yes"],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert "calibration error" in done.stdout
    bad = subprocess.run(
        [*command, "--y-prob", "none"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert bad.returncode == 2
    assert "Traceback" not in bad.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes of this kind")
def test_a_reader_may_stop_early(tmp_path):
    path = write(tmp_path / "p.csv")
    command = [sys.executable, "-m", "sklearn_calib", "report", str(path), "--y-true", "label"]
    read, end = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*command, "--y-prob", "score", "--pos-label", "yes"],
        stdout=end, stderr=subprocess.PIPE, text=True, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    os.close(end)
    assert done.returncode == 0
    assert done.stderr == ""


def test_without_matplotlib_only_the_page_is_missing(tmp_path, capsys, monkeypatch):
    path = write(tmp_path / "p.csv")
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    assert run(path, "--pos-label", "yes") == 0
    assert run(path, "--pos-label", "yes", "--out", str(tmp_path / "r.html")) == 2
    assert "pip install 'sklearn-calib[plot]'" in capsys.readouterr().err


CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [1200, 400])
def test_page_in_a_browser(width, tmp_path):
    out = tmp_path / "report.html"
    run(write(tmp_path / "p.csv"), "--pos-label", "yes", "--out", str(out))
    # A script that only the test adds says what the browser made of the page.
    probe = """<script>addEventListener("load", () => {
      const box = id => document.getElementById(id).getBoundingClientRect();
      const svg = document.querySelector("#curve svg").getBoundingClientRect();
      document.title = JSON.stringify({
        rows: document.querySelectorAll("#summary tr").length,
        svg: [svg.width, svg.height], wide: document.documentElement.scrollWidth,
        inner: innerWidth, below: box("bin-size").top > box("curve").bottom});
    });</script>"""
    out.write_text(out.read_text().replace("</body>", f"{probe}</body>"))
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900",
         "--virtual-time-budget=5000", "--dump-dom", out.as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    found = json.loads(
        re.search(r"<title>(.*?)</title>", done.stdout).group(1).replace("&quot;", '"')
    )
    assert found["rows"] == 18
    assert min(found["svg"]) > 150
    assert found["wide"] <= found["inner"] + 1
    assert found["below"]


def test_the_page_never_replaces_the_predictions(tmp_path, capsys):
    path = tmp_path / "predictions.csv"
    write(path)
    before = path.read_bytes()
    options = ["--y-true", "label", "--y-prob", "score", "--pos-label", "yes"]
    assert main(["report", str(path), *options, "--out", str(path)]) == 2
    assert "is the file of predictions itself" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_options_that_would_have_no_effect_are_refused(tmp_path, capsys):
    path = tmp_path / "predictions.csv"
    rows = [("a", "0.5", "0.5"), ("b", "0.25", "0.75")] * 30
    write(path, rows, ("label", "a", "b"))
    one = ["report", str(path), "--y-true", "label", "--y-prob", "a"]
    assert main([*one, "--classes", "a", "b", "--pos-label", "a"]) == 2
    assert "--classes goes with several" in capsys.readouterr().err
    assert main([*one, "b", "--pos-label", "a"]) == 2
    assert "--pos-label goes with one" in capsys.readouterr().err


def test_one_class_against_the_rest(tmp_path, capsys):
    path = tmp_path / "predictions.csv"
    labels = ["a", "b", "c"] * 40
    write(path, [(label, "0.3") for label in labels], ("label", "score"))
    options = ["--y-true", "label", "--y-prob", "score", "--pos-label", "b"]
    assert main(["report", str(path), *options]) == 0
    assert re.search(r"answers that are yes\s+40", capsys.readouterr().out)


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
