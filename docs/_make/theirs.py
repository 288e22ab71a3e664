"""The numbers of the paper and of the thesis, for the page that repeats them.

All of them stand in benchmarks/paper/theirs.json, each with where it was read. A page
writes ``|theirs-coreference_links|``; makers of tables call ``quoted``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

THEIRS = Path(__file__).parents[2] / "benchmarks" / "paper" / "theirs.json"

# Values that are written in per cent.
PERCENT = ("accuracy", "f1", "error_below")


def load() -> dict[str, tuple[Any, str]]:
    """Return the value and the place of each number, by name."""
    found: dict[str, tuple[Any, str]] = {}
    for work, text in json.loads(THEIRS.read_text(encoding="utf-8")).items():
        for name, (value, place) in text["numbers"].items():
            if name in found:
                raise ValueError(f"{name} stands in {THEIRS.name} twice.")
            found[name] = value, f"thesis, {place}" if work == "thesis" else place
    return found


NUMBERS = load()


def value(name: str) -> Any:
    return NUMBERS[name][0]


def written(number: float) -> str:
    """Return a number as the texts write it: 11,772 or .105."""
    if isinstance(number, int):
        return f"{number}" if 1900 <= number < 2100 else f"{number:,}"
    return f"{number:g}".replace("0.", ".", 1)


def quoted(name: str) -> str:
    """Return one of their numbers as text."""
    number = value(name)
    if isinstance(number, list):
        return (" : " if "ratio" in name else " to ").join(map(written, number))
    if any(word in name for word in PERCENT):
        return f"{100 * number:g} %"
    if number >= 1_000_000:
        return f"{number / 1e6:g} million"
    return written(number)


def substitutions(_: Any) -> str:
    """Return every number as something that a page can name."""
    return "".join(f".. |theirs-{name}| replace:: {quoted(name)}\n" for name in NUMBERS)
