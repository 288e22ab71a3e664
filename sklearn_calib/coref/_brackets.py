"""Mentions written as brackets in a column, as CoNLL formats do."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib._files import FileError, open_text, shortened
from sklearn_calib._validation import check_option
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._mention_heads import mention_heads

__all__ = [
    "UNBALANCED",
    "Brackets",
    "Fields",
    "Source",
    "TextBuilder",
    "open_lines",
    "report_problems",
    "source_name",
]

UNBALANCED = ("warn", "raise", "ignore")

# What readers take: a path, an open file, or lines.
Source = str | Path | Iterable[str | bytes]

# "(7-person" opens, "(7-person)" opens and closes, "7)" closes; "7" alone and ")" are mistakes.
# What one match has passed, no other looks at again.
_BRACKET = re.compile(r"\((?P<open>[^()|]*)(?P<single>\))?|(?P<close>[^()|]*)(?P<end>\))?")
_PART = re.compile(r"\[(?P<number>[0-9]{1,9})/(?P<total>[0-9]{1,9})\]$")
_LONGEST_PART = 23
_TYPE_FIRST = re.compile(r"[^\W\d]+-\d+(?=-|$)")
_NUMBER = re.compile(r"[0-9]{1,9}")
# What stands in the column of a token without brackets.
_NOTHING = ("", "_", "-", "*")


@contextmanager
def open_lines(source: Source) -> Iterator[Iterator[str]]:
    """Open a path (plain or .gz), or take an open file or an iterable of lines."""
    if isinstance(source, (str, Path)):
        with open_text(Path(source)) as file:
            yield file
    else:
        yield _as_text(source)


def source_name(source: Source) -> str:
    """Return what messages call a file."""
    name = source if isinstance(source, (str, Path)) else getattr(source, "name", "document")
    return str(name)


def _as_text(lines: Iterable[str | bytes]) -> Iterator[str]:
    """Yield lines as str, without the mark that some editors put at the start of a file."""
    for number, line in enumerate(lines):
        try:
            text = line.decode("utf-8") if isinstance(line, bytes) else line
        except UnicodeDecodeError as error:
            raise FileError(
                f"document, line {number + 1}: not UTF-8 text ({error.reason})."
            ) from None
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
    closed: bool = False


class _OpenBrackets:
    """Brackets that are open, to be found by their entity in constant time."""

    def __init__(self) -> None:
        self.all: list[_Open] = []
        # Under all that stands after the bracket, under an entity, and under an entity and a part;
        # the last one comes off first.
        self._stacks: dict[tuple[object, ...], list[_Open]] = {}

    def add(self, bracket: _Open) -> None:
        self.all.append(bracket)
        entity = bracket.entity
        for key in (("body", bracket.body), ("entity", entity), ("part", entity, bracket.part)):
            self._stacks.setdefault(key, []).append(bracket)

    def take(self, *key: object) -> _Open | None:
        """Return the last bracket under a key, and close it."""
        stack = self._stacks.get(key, [])
        while stack:
            bracket = stack.pop()
            # It may have been closed by way of another stack.
            if not bracket.closed:
                bracket.closed = True
                return bracket
        return None

    def remaining(self) -> list[_Open]:
        """Return those that are still open, in their order, and forget all."""
        left = [bracket for bracket in self.all if not bracket.closed]
        self.all, self._stacks = [], {}
        return left


@dataclass(frozen=True)
class Fields:
    """What stands between the dashes of a bracket: where its entity is, and the number of its head.

    A file names the fields once, however many documents follow.
    """

    named: bool = False
    entity_at: int = 0
    head_at: int | None = None

    @classmethod
    def of(cls, names: list[str]) -> Fields:
        """Return the fields of these names."""
        entity_at = next((i for i, name in enumerate(names) if name in ("eid", "GRP")), 0)
        return cls(True, entity_at, names.index("head") if "head" in names else None)


@dataclass
class Brackets:
    """Collects the mentions of one document from its brackets.

    Mentions that cross a sentence are reported, and left out.
    """

    document: str
    fields: Fields = Fields()
    problems: list[str] = field(default_factory=list)
    found: list[tuple[int, int, int | None, str]] = field(default_factory=list)
    _open: _OpenBrackets = field(default_factory=_OpenBrackets)
    _open_before: _OpenBrackets = field(default_factory=_OpenBrackets)  # in earlier sentences
    _parts: dict[tuple[str, int], list[tuple[int, _Span]]] = field(default_factory=dict)

    def read(self, text: str, before: int, after: int) -> None:
        """Take the brackets of a token, which spans the positions `before` to `after`.

        For an empty node the two are equal.
        """
        if text in _NOTHING:
            return
        mistake = False
        for match in _BRACKET.finditer(text):
            if match["open"] is not None:
                bracket = self._parse(match["open"], before)
                if match["single"]:
                    self._close(bracket, after)
                else:
                    self._open.add(bracket)
                continue
            name = match["close"]
            if not (name and match["end"]):
                mistake |= bool(match[0])
            elif (opened := self._opened(self._open, name)) is not None:
                self._close(opened, after)
            elif (opened := self._opened(self._open_before, name)) is not None:
                self._problem(
                    f"{shortened(opened.entity)} opens at token {opened.start} and closes at token "
                    f"{before}, in another sentence"
                )
            else:
                self._problem(f"{shortened(name)} closes at token {before} but never opens")
        if mistake:
            self._problem(f"{shortened(text)} at token {before} is not written as brackets")

    def _opened(self, brackets: _OpenBrackets, closer: str) -> _Open | None:
        """Return the last bracket that this closes, and take it off the list.

        Most files close a bracket by the name of its entity. Some repeat all fields.
        """
        if (bracket := brackets.take("body", closer)) is not None:
            return bracket
        parsed = self._parse(closer, 0)
        for name in (_part(closer)[0], parsed.entity):
            key = ("part", name, parsed.part) if "[" in closer else ("entity", name)
            if (bracket := brackets.take(*key)) is not None:
                return bracket
        return None

    def _parse(self, body: str, start: int) -> _Open:
        values = body.split("-")
        # Older files put the type first and repeat it when closing: "(person-2" ... "person-2)".
        type_first = None if self.fields.named else _TYPE_FIRST.match(body)
        at = min(self.fields.entity_at, len(values) - 1)
        name, part = _part(type_first[0] if type_first else values[at])
        head = None
        head_at = self.fields.head_at
        if head_at is not None and head_at < len(values):
            number = values[head_at]
            head = int(number) - 1 if _NUMBER.fullmatch(number) else None
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
        if len(numbers) == total and numbers == list(range(1, total + 1)):
            self._add([part[1] for part in parts], bracket.entity)
        else:
            self._problem(
                f"{shortened(bracket.entity)} at token {parts[0][1][0]} has the parts "
                f"{shortened(numbers)}, not 1 to {total}"
            )

    def _add(self, parts: list[_Span], entity: str) -> None:
        """Add a mention; one in several parts covers the words between them as well."""
        start, end = min(p[0] for p in parts), max(p[1] for p in parts)
        if end <= start:
            self._problem(
                f"entity {shortened(entity)} has a mention without words at token {start}"
            )
            return
        number = next((p[2] for p in parts if p[2] is not None), None)
        self.found.append((start, end, _word(parts, number), entity))

    def end_sentence(self) -> None:
        """Report parts that are missing; a bracket may still close, but it is too late."""
        for (entity, _), parts in self._parts.items():
            self._problem(f"{shortened(entity)} at token {parts[0][1][0]} lacks a part")
        self._parts.clear()
        for bracket in self._open.remaining():
            self._open_before.add(bracket)

    def end_document(self) -> None:
        """Report what never closes."""
        for bracket in self._open_before.remaining():
            self._problem(
                f"{shortened(bracket.entity)} opens at token {bracket.start} but never closes"
            )

    def _problem(self, text: str) -> None:
        self.problems.append(f"document {shortened(self.document)}: {text}")


def _part(name: str) -> tuple[str, tuple[int, int] | None]:
    match = _PART.search(name, max(0, len(name) - _LONGEST_PART))
    if match is None:
        return name, None
    return name[: match.start()], (int(match["number"]), int(match["total"]))


def _word(parts: list[_Span], number: int | None) -> int | None:
    """Return the token that is the word of this number in a mention; None if there is none."""
    if number is None or number < 0:
        return None
    for start, end, _ in sorted(parts, key=lambda part: part[:2]):
        if number < end - start:
            return start + number
        number -= end - start
    return None


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
        if annotated and not found:
            layers["entities"] = []
        text = Document(self.id, self.tokens, sentence_starts=self.sentence_starts, **layers)
        if not found:
            return text
        spans = np.array([m[:2] for m in found], dtype=np.intp)
        heads = mention_heads(spans, text.tokens, text.heads, text.upos)
        given = np.array([-1 if m[2] is None else m[2] for m in found])
        heads = np.where(given >= 0, given, heads)
        return text.replace(
            mentions=np.column_stack([spans, heads]), entities=[m[3] for m in found]
        )
