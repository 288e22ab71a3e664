"""Mentions written as brackets in a column, as CoNLL formats do."""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib._validation import check_option
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._mention_heads import mention_heads

__all__ = ["UNBALANCED", "Brackets", "Source", "TextBuilder", "open_lines", "report_problems"]

UNBALANCED = ("warn", "raise", "ignore")

# What readers take: a path, an open file, or lines.
Source = str | Path | Iterable[str | bytes]

# "(7-person" opens, "(7-person)" opens and closes, "7)" closes.
_BRACKET = re.compile(r"\((?P<open>[^()|]*)(?P<single>\))?|(?P<close>[^()|]+)\)")
_PART = re.compile(r"(?P<name>.*)\[(?P<number>\d+)/(?P<total>\d+)\]$")
_TYPE_FIRST = re.compile(r"[^\W\d]+-\d+(?=-|$)")
# What stands in the column of a token without brackets.
_NOTHING = ("", "_", "-", "*")


@contextmanager
def open_lines(source: Source) -> Iterator[Iterator[str]]:
    """Open a path (plain or .gz), or take an open file or an iterable of lines."""
    if isinstance(source, (str, Path)):
        opener: Any = gzip.open if str(source).endswith(".gz") else open
        with opener(source, "rt", encoding="utf-8") as file:
            yield _as_text(file)
    else:
        yield _as_text(source)


def _as_text(lines: Iterable[str | bytes]) -> Iterator[str]:
    """Yield lines as str, without the mark that some editors put at the start of a file."""
    for number, line in enumerate(lines):
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        yield text if number else text.removeprefix("\ufeff")


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


_Span = tuple[int, int, int | None]  # start, end and head of a part of a mention


@dataclass
class _Open:
    start: int
    entity: str
    part: tuple[int, int]
    head: int | None
    body: str  # all that stands after the bracket


@dataclass
class Brackets:
    """Collects the mentions of one document from its brackets.

    `fields` are the names of what stands between the dashes of a bracket.
    Mentions that cross a sentence are reported, and left out.
    """

    document: str
    fields: tuple[str, ...] = ()
    problems: list[str] = field(default_factory=list)
    found: list[tuple[int, int, int | None, str]] = field(default_factory=list)
    _open: list[_Open] = field(default_factory=list)
    _open_before: list[_Open] = field(default_factory=list)  # in earlier sentences
    _parts: dict[tuple[str, int], list[tuple[int, _Span]]] = field(default_factory=dict)

    def read(self, text: str, before: int, after: int) -> None:
        """Take the brackets of a token, which spans the positions `before` to `after`.

        For an empty node the two are equal.
        """
        if text in _NOTHING:
            return
        if _BRACKET.sub("", text).strip("|"):
            self._problem(f"{text!r} at token {before} is not written as brackets")
        for match in _BRACKET.finditer(text):
            if match["open"] is not None:
                bracket = self._parse(match["open"], before)
                if match["single"]:
                    self._close(bracket, after)
                else:
                    self._open.append(bracket)
                continue
            name = match["close"]
            if (opened := self._opened(self._open, name)) is not None:
                self._close(opened, after)
            elif (opened := self._opened(self._open_before, name)) is not None:
                self._problem(
                    f"{opened.entity!r} opens at token {opened.start} and closes at token "
                    f"{before}, in another sentence"
                )
            else:
                self._problem(f"{name!r} closes at token {before} but never opens")

    def _opened(self, brackets: list[_Open], closer: str) -> _Open | None:
        """Return the last bracket that this closes, and take it off the list.

        Most files close a bracket by the name of its entity. Some repeat all fields.
        """
        for i in range(len(brackets) - 1, -1, -1):
            if brackets[i].body == closer:
                return brackets.pop(i)
        parsed = self._parse(closer, 0)
        part = parsed.part if "[" in closer else None
        for name in (_part(closer)[0], parsed.entity):
            for i in range(len(brackets) - 1, -1, -1):
                if brackets[i].entity == name and part in (None, brackets[i].part):
                    return brackets.pop(i)
        return None

    def _parse(self, body: str, start: int) -> _Open:
        values = body.split("-")
        at = next((i for i, name in enumerate(self.fields) if name in ("eid", "GRP")), 0)
        # Older files put the type first and repeat it when closing: "(person-2" ... "person-2)".
        type_first = None if self.fields else _TYPE_FIRST.match(body)
        name, part = _part(type_first[0] if type_first else values[min(at, len(values) - 1)])
        head = None
        if "head" in self.fields and self.fields.index("head") < len(values):
            number = values[self.fields.index("head")]
            head = int(number) - 1 if number.isdigit() else None
        return _Open(start, name, part or (1, 1), head, body)

    def _close(self, bracket: _Open, end: int) -> None:
        number, total = bracket.part
        if total == 1:
            self._add([(bracket.start, end, bracket.head)], bracket.entity)
            return
        parts = self._parts.setdefault((bracket.entity, total), [])
        parts.append((number, (bracket.start, end, bracket.head)))
        if number < total:
            return
        del self._parts[bracket.entity, total]
        numbers = [part[0] for part in parts]
        if numbers == list(range(1, total + 1)):
            self._add([part[1] for part in parts], bracket.entity)
        else:
            self._problem(
                f"{bracket.entity!r} at token {parts[0][1][0]} has the parts {numbers}, not 1 to "
                f"{total}"
            )

    def _add(self, parts: list[_Span], entity: str) -> None:
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
        """Report parts that are missing; a bracket may still close, but it is too late."""
        for (entity, _), parts in self._parts.items():
            self._problem(f"{entity!r} at token {parts[0][1][0]} lacks a part")
        self._parts.clear()
        self._open_before += self._open
        self._open.clear()

    def end_document(self) -> None:
        """Report what never closes."""
        for bracket in self._open_before:
            self._problem(f"{bracket.entity!r} opens at token {bracket.start} but never closes")
        self._open_before.clear()

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
        brackets.end_document()
        found = sorted(brackets.found, key=lambda m: m[:2])
        # A column that holds nothing but "_" is not known.
        layers = {k: None if v and set(v) == {"_"} else v for k, v in self.layers.items()}
        layers.update(options)
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
