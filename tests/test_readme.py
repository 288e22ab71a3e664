"""What the README shows is what happens."""

import io
import json
import re
import runpy
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from sklearn_calib.report._command import main

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"

pytestmark = pytest.mark.skipif(
    not README.exists(), reason="the README is not installed with the package"
)


def blocks():
    """Return the blocks of the README: their kind, and their text."""
    text = README.read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def outputs(kind):
    """Return the blocks of a kind, each with the printed text after it, or None."""
    found = blocks()
    following = [*found[1:], ("", "")]
    return [
        (text, after if next_kind == "text" else None)
        for (this, text), (next_kind, after) in zip(found, following, strict=True)
        if this == kind
    ]


def test_every_printed_text_follows_what_prints_it():
    kinds = [kind for kind, _ in blocks()]
    assert set(kinds) == {"python", "console", "text"}
    for before, kind in zip(["text", *kinds], kinds, strict=False):
        assert kind != "text" or before in ("python", "console")


@pytest.mark.slow
def test_the_code_prints_what_the_readme_says():
    names = {}
    for code, expected in outputs("python"):
        out = io.StringIO()
        with redirect_stdout(out):
            exec(code, names)
        assert out.getvalue() == (expected or "")


def test_the_commands_print_what_the_readme_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "docs" / "report_files" / "predictions.py"))
    shown = [(command, text) for command, text in outputs("console") if text is not None]
    for command, expected in shown:
        program, *arguments = shlex.split(command.removeprefix("$ ").replace("\\\n", " "))
        assert program == "sklearn-calib"
        assert main(arguments) == 0
        printed = iter(capsys.readouterr().out.splitlines())
        # Some of the lines, in their order.
        for line in expected.splitlines():
            assert line in printed
    assert len(shown) == 1


def test_what_the_readme_links_to_is_there():
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), target


def test_make_targets_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {word for text, _ in outputs("console") for word in re.findall(r"make (\w+)", text)}
    assert {"demo", "test"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


def test_the_table_of_bad_input_is_what_was_measured():
    script = ROOT / "benchmarks" / "bad_input.py"
    results = json.loads((ROOT / "benchmarks" / "results" / "bad_input.json").read_text())
    table = runpy.run_path(str(script))["readme_table"](results)
    assert len(results["packages"]) == 8
    assert table in README.read_text(encoding="utf-8")
