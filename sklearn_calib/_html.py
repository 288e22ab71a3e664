"""Pages of HTML: one file each, with their style, scripts and data inside."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from sklearn_calib._output import GENERATOR

__all__ = ["data_element", "html_page", "plain_text"]

# Halves of characters cannot be written, and NUL has no place in HTML.
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
_HALVES = re.compile("[\ud800-\udfff]")
# Nothing is loaded, sent or framed, whatever a text may say.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def plain_text(text: str) -> str:
    """Return text as it stands in HTML: escaped, and without what cannot be written."""
    return escape(_UNWRITABLE.sub("\ufffd", text))


def json_text(value: Any) -> str:
    """Return a value as JSON that is safe inside a script element.

    No tag and no comment can begin or end in it, and halves of characters are
    written as escapes.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def data_element(name: str, value: Any) -> str:
    """Return an element that holds a value for the scripts of a page."""
    return f"<script type='application/json' id='{escape(name)}'>{json_text(value)}</script>"


@cache
def static_file(name: str) -> str:
    """Return a style or a script that comes with the package."""
    return (files("sklearn_calib") / "static" / name).read_text(encoding="utf-8")


def html_page(
    title: str,
    body: str,
    *,
    data: Iterable[str] = (),
    styles: Iterable[str] = (),
    scripts: Iterable[str] = (),
) -> str:
    """Return a whole page.

    Parameters
    ----------
    title : str
        What it is called, as plain text.
    body : str
        HTML.
    data : iterable of str
        Elements of `data_element`.
    styles, scripts : iterable of str
        Names of files that come with the package, beside those of every page.
    """
    style = "\n".join(static_file(name) for name in ("page.css", *styles))
    held = "\n".join(data)
    script = "\n".join(static_file(name) for name in ("page.js", *scripts))
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        f"{GENERATOR}\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{plain_text(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}\n{held}\n<script>\n{script}</script>\n</body>\n</html>\n"
    )
