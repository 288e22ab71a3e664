"""The command line: options, exit codes, and the two ways to run it."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import sklearn_calib
from sklearn_calib import calibration_report
from sklearn_calib.report._command import main
from tests.report.files import ROWS, SAMPLE, WORDS, run, write

ROOT = Path(__file__).parents[2]


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


def test_number_as_pos_label(tmp_path, capsys):
    rows = [("2" if word == "yes" else "1", s, d) for word, s, d in ROWS]
    assert run(write(tmp_path / "p.csv", rows), "--pos-label", "2") == 0
    assert f"{SAMPLE.y_true.sum():,} (" in capsys.readouterr().out


def test_one_class_against_the_rest(tmp_path, capsys):
    path = tmp_path / "predictions.csv"
    labels = ["a", "b", "c"] * 40
    write(path, [(label, "0.3") for label in labels], ("label", "score"))
    options = ["--y-true", "label", "--y-prob", "score", "--pos-label", "b"]
    assert main(["report", str(path), *options]) == 0
    assert re.search(r"answers that are yes\s+40", capsys.readouterr().out)


def test_options_that_would_have_no_effect_are_refused(tmp_path, capsys):
    path = tmp_path / "predictions.csv"
    rows = [("a", "0.5", "0.5"), ("b", "0.25", "0.75")] * 30
    write(path, rows, ("label", "a", "b"))
    one = ["report", str(path), "--y-true", "label", "--y-prob", "a"]
    assert main([*one, "--classes", "a", "b", "--pos-label", "a"]) == 2
    assert "--classes goes with several" in capsys.readouterr().err
    assert main([*one, "b", "--pos-label", "a"]) == 2
    assert "--pos-label goes with one" in capsys.readouterr().err


def test_the_page_never_replaces_the_predictions(tmp_path, capsys):
    path = tmp_path / "predictions.csv"
    write(path)
    before = path.read_bytes()
    options = ["--y-true", "label", "--y-prob", "score", "--pos-label", "yes"]
    assert main(["report", str(path), *options, "--out", str(path)]) == 2
    assert "is one of the files that are read" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_module_can_be_run(tmp_path):
    path = write(tmp_path / "p.csv")
    command = [sys.executable, "-m", "sklearn_calib", "report", str(path), "--y-true", "label"]
    done = subprocess.run(
        [*command, "--y-prob", "score", "--pos-label", "yes"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert "calibration error" in done.stdout
    bad = subprocess.run(
        [*command, "--y-prob", "none"],
        capture_output=True, text=True, check=False, cwd=ROOT,
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
        cwd=ROOT,
    )  # fmt: skip
    os.close(end)
    assert done.returncode == 0
    assert done.stderr == ""


def test_the_command_line_is_the_function(tmp_path, capsys):
    path = write(tmp_path / "p.csv")
    assert run(path, "--pos-label", "yes", "--group", "doc", "--n-bins", "7") == 0
    report = calibration_report(
        WORDS, SAMPLE.y_prob, pos_label="yes", groups=SAMPLE.queries.group.astype(str), n_bins=7,
        name="p.csv", random_state=0,
    )  # fmt: skip
    assert len(report.bins) == 7
    assert capsys.readouterr().out == f"{report}\n"


def test_size_of_bins(tmp_path, capsys):
    path = write(tmp_path / "p.csv")
    assert run(path, "--pos-label", "yes", "--bin-size", "100") == 0
    assert re.search(r"bins of ECE and of these parts +8, as", capsys.readouterr().out)
    with pytest.raises(SystemExit, match="2"):
        run(path, "--pos-label", "yes", "--bin-size", "100", "--n-bins", "7")
    assert "not allowed with" in capsys.readouterr().err


def test_warnings_become_notes(tmp_path, capsys):
    path = tmp_path / "hard.csv"
    labels = np.random.default_rng(0).integers(2, size=60).tolist()
    write(path, [(label, label) for label in labels], ("label", "score"))
    assert main(["report", str(path), "--y-true", "label", "--y-prob", "score"]) == 0
    captured = capsys.readouterr()
    assert "\nnote: " in captured.out
    assert captured.err == ""


def script():
    """Return what the console script is declared to call: a module and a function."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, function = project["scripts"]["sklearn-calib"].split(":")
    return module, function


def run_script(*arguments):
    """Run the console script as an installation would."""
    module, function = script()
    code = f"import sys; from {module} import {function}; sys.exit({function}())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip


def test_the_console_script_runs(tmp_path):
    module, function = script()
    assert getattr(import_module(module), function) is main
    done = run_script("--version")
    assert (done.returncode, done.stdout) == (0, f"sklearn-calib {sklearn_calib.__version__}\n")
    done = run_script("--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: sklearn-calib [-h] [--version]")
    done = run_script("report", "--help")
    assert done.stdout.startswith("usage: sklearn-calib report ")
    done = run_script()
    assert done.returncode == 2
    path = write(tmp_path / "p.csv")
    options = ["--y-true", "label", "--y-prob", "score", "--pos-label", "yes"]
    done = run_script("report", str(path), *options)
    assert done.returncode == 0
    assert "calibration error" in done.stdout
    module = subprocess.run(
        [sys.executable, "-m", "sklearn_calib", "--help"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert module.stdout.startswith("usage: python -m sklearn_calib [-h]")


INSTALLED = Path(sys.executable).with_name("sklearn-calib")


@pytest.mark.skipif(not INSTALLED.exists(), reason="the package is not installed")
def test_the_installed_script(tmp_path):
    done = subprocess.run(
        [INSTALLED, "--version"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == f"sklearn-calib {sklearn_calib.__version__}\n"


def test_a_folder_of_parquet_files_is_read_in_chunks(tmp_path, capsys, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    # However few rows there are.
    monkeypatch.setattr("sklearn_calib.queries._scan.MOST_IN_MEMORY", 0)
    rng = np.random.default_rng(0)
    for number in range(2):
        q = rng.random(3000)
        answer = np.where(rng.random(3000) < q, "yes", "no")
        parquet.write_table(
            pa.table({"answer": answer, "score": q}), tmp_path / f"part-{number}.parquet"
        )
    out = tmp_path / "report.html"
    asked = ["report", str(tmp_path), "--y-true", "answer", "--y-prob", "score"]
    assert main([*asked, "--pos-label", "yes", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"queries +6,000", shown)
    assert "calibration error" in shown
    assert out.exists()
    assert main(asked) == 2
    assert "pos-label" in capsys.readouterr().err
    assert main(["report", str(tmp_path), "--y-true", "answer", "--y-prob", "score", "x"]) == 2
    assert "one probability column" in " ".join(capsys.readouterr().err.split())


def test_a_folder_of_csv_files_is_read_in_chunks(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    for number in range(2):
        rows = [f"{'yes' if k % 3 else 'no'},0.6" for k in range(300)]
        (tmp_path / f"{number}.csv").write_text("\n".join(["answer,score", *rows]))
    asked = ["report", str(tmp_path), "--y-true", "answer", "--y-prob", "score"]
    assert main([*asked, "--pos-label", "yes"]) == 0
    assert re.search(r"answers that are yes +400 ", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("kind", "labels", "positive"),
    [
        ("string", ["no", "yes"], "yes"),
        ("dictionary", ["no", "yes"], "yes"),
        ("large_string", ["no", "yes"], "yes"),
        ("bool_", [False, True], "true"),
        ("int64", [1, 2], "2"),
        ("uint8", [1, 2], "2"),
        ("float32", [1.0, 2.0], "2"),
    ],
)
@pytest.mark.parametrize("folder", [False, True])
def test_pos_label_is_read_as_the_column_is(tmp_path, capsys, kind, labels, positive, folder):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    q = rng.random(300)
    values = [labels[int(yes)] for yes in rng.random(300) < q]
    made = getattr(pa, kind)
    column = (
        pa.array(values).dictionary_encode() if kind == "dictionary" else pa.array(values, made())
    )
    file = tmp_path / "part.parquet"
    parquet.write_table(pa.table({"y": column, "q": q}), file)
    asked = ["report", str(tmp_path if folder else file), "--y-true", "y", "--y-prob", "q"]
    assert main([*asked, "--pos-label", positive]) == 0
    found = capsys.readouterr().out
    assert re.search(rf"answers that are yes +{values.count(labels[1])} ", found)
    if kind not in ("string", "dictionary", "large_string"):
        assert main([*asked, "--pos-label", "maybe"]) == 2
        assert "'maybe' is n" in " ".join(capsys.readouterr().err.split())
