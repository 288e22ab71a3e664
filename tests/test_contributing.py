"""CONTRIBUTING.md describes the house as it stands."""

import re
from pathlib import Path

import pytest

import sklearn_calib

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
PACKAGE = Path(sklearn_calib.__file__).parent

pytestmark = pytest.mark.skipif(
    not CONTRIBUTING.exists(), reason="CONTRIBUTING.md is not installed with the package"
)


def layout():
    """Return the entries of the layout inside the package."""
    text = CONTRIBUTING.read_text(encoding="utf-8")
    tree = re.search(r"^sklearn_calib/\n((?:  .*\n)+)", text, flags=re.MULTILINE).group(1)
    lines = re.findall(r"^  (\w[\w./]*(?:, [\w./]+)*)", tree, flags=re.MULTILINE)
    return [entry for line in lines for entry in line.split(", ")]


def test_the_layout_is_the_tree():
    rooms = {f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}
    assert sorted(layout()) == sorted(rooms | {path.name for path in PACKAGE.glob("*.py")})


def test_the_example_of_a_model_family_is_python():
    text = CONTRIBUTING.read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert examples
    for code in examples:
        names = {}
        exec(code, names)
        assert hasattr(names["LinkModel"], "calibration_queries")


def test_make_targets_exist():
    makefile = (CONTRIBUTING.parent / "Makefile").read_text(encoding="utf-8")
    text = CONTRIBUTING.read_text(encoding="utf-8")
    named = set(re.findall(r"`make (\w+)`", text))
    assert named
    for target in named:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
