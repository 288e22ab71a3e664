"""What the README shows is what happens."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.skipif(not README.exists(), reason="the README is not installed with the package")
def test_the_code_of_the_readme_prints_what_it_says():
    blocks = re.findall(r"```(\w+)\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    names, printed, compared = {}, "", 0
    for kind, text in blocks:
        if kind == "python":
            out = io.StringIO()
            with redirect_stdout(out):
                exec(text, names)
            printed = out.getvalue()
        elif kind == "text" and printed:
            assert printed == text
            printed, compared = "", compared + 1
    assert compared == 3
