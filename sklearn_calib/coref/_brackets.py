"""Mentions written as brackets in a column, as CoNLL formats do."""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib._validation import check_option
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._mention_heads import mention_heads

__all__ = ["UNBALANCED", "Brackets", "TextBuilder", "open_lines", "report_problems"]

UNBALANCED = ("warn", "raise", "ignore")

# "(7-person" opens, "(7-person)" opens and closes, "7)" closes.
_BRACKET = re.compile(r"\((?P<open>[^()|]*)(?P<single>\))?|(?P<close>[^()|]+)\)")
_PART = re.compile(r"(?P<name>.*)\[(?P<number>\d+)/(?P<total>\d+)\]$")
_TYPE_FIRST = re.compile(r"[^\W\d]+-\d+$")


@contextmanager
def open_lines(source: Any) -> Iterator[Iterator[str]]:
    """Open a path (plain or .gz), or pass on an open file or an iterable of lines."""
    if isinstance(source, (str, Path)):
        opener: Any = gzip.open if str(source).endswith(".gz") else open
        with opener(source, "rt", encoding="utf-8") as file:
            yield iter(file)
    else:
        yield iter(source)


def report_problems(problems: list[str], unbalanced: str) -> None:
    """Raise or warn about brackets that could not be read, in one message."""
    check_option(unbalanced, "unbalanced", UNBALANCED)
    if not problems or unbalanced == "ignore":
        return
    listing = "; ".join(problems[:5]) + ("; ..." if len(problems) > 5 else "")
    message = f"{len(problems)} mentions could not be read: {listing}."
    if unbalanced == "raise":
        raise ValueError(
            f'{message} Repair the file, or pass unbalanced="warn" to leave these mentions out.'
        )
    warnings.warn(f"{message} They are left out.", UserWarning, stacklevel=3)


@dataclass
class _Open:
    start: int
    entity: str
    part: tuple[int, int]
    head: int | None


@dataclass
class Brackets:
    """Collects the mentions of one document from its brackets.

    `fields` are the names of what stands between the dashes of a bracket.
    Mentions never cross a sentence.
    """

    document: str
    fields: tuple[str, ...] = ()
    problems: list[str] = field(default_factory=list)
    found: list[tuple[int, int, int | None, str]] = field(default_factory=list)
    _open: list[_Open] = field(default_factory=list)
    _parts: dict[tuple[str, int], list[tuple[int, int, int | None]]] = field(default_factory=dict)

    def read(self, text: str, before: int, after: int) -> None:
        """Take the brackets of a token, which spans the positions `before` to `after`.

        For an empty node the two are equal.
        """
        for match in _BRACKET.finditer(text):
            if match["open"] is not None:
                bracket = self._parse(match["open"], before)
                if match["single"]:
                    self._close(bracket, after)
                else:
                    self._open.append(bracket)
                continue
            name, part = _part(match["close"])
            for i in range(len(self._open) - 1, -1, -1):
                if self._open[i].entity == name and part in (None, self._open[i].part):
                    self._close(self._open.pop(i), after)
                    break
            else:
                self._problem(f"{match['close']!r} closes at token {before} but never opens")

    def _parse(self, body: str, start: int) -> _Open:
        values = body.split("-")
        at = next((i for i, name in enumerate(self.fields) if name in ("eid", "GRP")), 0)
        # Older files put the type first and repeat it when closing: "(person-2" ... "person-2)".
        raw = (
            body
            if not self.fields and _TYPE_FIRST.match(body)
            else values[min(at, len(values) - 1)]
        )
        name, part = _part(raw)
        head = None
        if "head" in self.fields and self.fields.index("head") < len(values):
            number = values[self.fields.index("head")]
            head = int(number) - 1 if number.isdigit() else None
        return _Open(start, name, part or (1, 1), head)

    def _close(self, bracket: _Open, end: int) -> None:
        number, total = bracket.part
        if total == 1:
            self._add([(bracket.start, end, bracket.head)], bracket.entity)
            return
        parts = self._parts.setdefault((bracket.entity, total), [])
        parts.append((bracket.start, end, bracket.head))
        if number == total:
            del self._parts[bracket.entity, total]
            self._add(parts, bracket.entity)

    def _add(self, parts: list[tuple[int, int, int | None]], entity: str) -> None:
        """Add a mention; one in several parts covers the words between them as well."""
        start, end = min(p[0] for p in parts), max(p[1] for p in parts)
        if end <= start:
            self._problem(f"entity {entity!r} has a mention without words at token {start}")
            return
        words = [i for part in sorted(parts) for i in range(*part[:2])]
        number = next((p[2] for p in parts if p[2] is not None), None)
        head = words[number] if number is not None and 0 <= number < len(words) else None
        self.found.append((start, end, head, entity))

    def end_sentence(self) -> None:
        """Report what is still open."""
        for bracket in self._open:
            self._problem(f"{bracket.entity!r} opens at token {bracket.start} but never closes")
        for (entity, _), parts in self._parts.items():
            self._problem(f"{entity!r} at token {parts[0][0]} lacks a part")
        self._open.clear()
        self._parts.clear()

    def _problem(self, text: str) -> None:
        self.problems.append(f"document {self.document!r}: {text}")


def _part(name: str) -> tuple[str, tuple[int, int] | None]:
    match = _PART.match(name)
    if match is None:
        return name, None
    return match["name"], (int(match["number"]), int(match["total"]))


@dataclass
class TextBuilder:
    """Collects the columns of one document, and builds it."""

    id: str
    tokens: list[str] = field(default_factory=list)
    sentence_starts: list[int] = field(default_factory=list)
    layers: dict[str, Any] = field(default_factory=dict)
    speakers: list[str | None] = field(default_factory=list)

    def build(self, brackets: Brackets, *, annotated: bool, **options: Any) -> Document:
        """Return the document; without annotation its entities are None."""
        found = sorted(brackets.found, key=lambda m: m[:2])
        layers: dict[str, Any] = {**self.layers, **options}
        if any(speaker is not None for speaker in self.speakers):
            layers["speakers"] = self.speakers
        text = Document(self.id, self.tokens, sentence_starts=self.sentence_starts, **layers)
        if not found:
            return text.replace(entities=[]) if annotated else text
        spans = np.array([m[:2] for m in found], dtype=np.intp)
        heads = mention_heads(spans, text.tokens, text.heads, text.upos)
        given = np.array([-1 if m[2] is None else m[2] for m in found])
        heads = np.where(given >= 0, given, heads)
        return text.replace(
            mentions=np.column_stack([spans, heads]), entities=[m[3] for m in found]
        )
