"""Read documents from CoNLL-U files with entities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib._files import shortened
from sklearn_calib.coref._brackets import (
    Brackets,
    Fields,
    Source,
    TextBuilder,
    open_lines,
    report_problems,
    source_name,
)
from sklearn_calib.coref._document import Document

__all__ = ["UNKNOWN_ENTITIES", "each_conllu", "escape", "read_conllu"]

# Mentions without entities have brackets as well, and this remark.
UNKNOWN_ENTITIES = "unknown"

# How spaces are written in the last column, after UDPipe.
_ESCAPES = {" ": "s", "\t": "t", "\n": "n", "\r": "r", "|": "p", "\\": "\\"}
_CHARACTERS = {letter: character for character, letter in _ESCAPES.items()}


def escape(text: str) -> str:
    """Return a text as it is written in the last column."""
    return "".join(f"\\{_ESCAPES[c]}" if c in _ESCAPES else c for c in text)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _CHARACTERS.get(match[1], match[0]), text)


_NUMBER = re.compile(r"[0-9]{1,9}")


def read_conllu(source: Source, *, unbalanced: str = "warn") -> list[Document]:
    r"""Read documents with their mentions from a CoNLL-U file.

    Mentions are the brackets of the `Entity` attribute in the last column, in
    the manner of GUM and CorefUD. A file without them gives documents without
    mentions, and their `entities` are None.

    Parameters
    ----------
    source : path, file or iterable of str
        A file name (plain or ending in .gz), an open text file, or lines.
    unbalanced : {"warn", "raise", "ignore"}, default="warn"
        What to do about brackets that do not match. Such mentions are left
        out.

    Returns
    -------
    list of Document
        The documents in their order. One starts at each `# newdoc`.

    See Also
    --------
    read_conll2012 : The same for the columns of CoNLL-2012 and LitBank.
    write_conllu : Writes such files.

    Notes
    -----
    Words count, multiword tokens do not. Empty nodes are left out; a mention
    that holds nothing else is reported like an unbalanced one, and so is one
    that ends in another sentence than it starts. A mention in several parts
    (`e1[1/2]`) covers the words between them as well. A column that holds
    nothing but `_` is not known, and its layer is None. The date is
    `meta::dateCreated` where it is one, the genre is `meta::genre`, the title is
    `meta::title`, and all of `meta::` is kept in `metadata`. The text is there if
    sentences have a `# text`; what is between the tokens then follows from
    `SpaceAfter` and from UDPipe's `SpacesAfter` and `SpacesBefore`. The words of a
    multiword token ("don't") are parts of it where their letters are, and share
    its place otherwise.

    Examples
    --------
    >>> from sklearn_calib.coref import read_conllu
    >>> lines = [
    ...     "# newdoc id = demo",
    ...     "1 Ada Ada PROPN _ _ 2 nsubj _ Entity=(e1-person-1)",
    ...     "2 saw see VERB _ _ 0 root _ _",
    ...     "3 her her PRON _ _ 4 nmod _ Entity=(e2-animal-2(e1-person-1)",
    ...     "4 dog dog NOUN _ _ 2 obj _ Entity=e2)",
    ... ]
    >>> [doc] = read_conllu(line.replace(" ", "\t") if line[0] != "#" else line for line in lines)
    >>> doc
    <Document 'demo': 4 tokens, 1 sentence, 3 mentions, 2 entities>
    >>> doc.date is None, doc.heads
    (True, array([ 1, -1,  3,  1]))
    """
    problems: list[str] = []
    documents = list(each_conllu(source, problems))
    report_problems(problems, unbalanced)
    return documents


def each_conllu(source: Source, problems: list[str]) -> Iterator[Document]:
    """Yield the documents of a CoNLL-U file as they are read, for files larger than memory.

    Brackets that do not match are added to `problems`.
    """
    name = Path(source).stem if isinstance(source, (str, Path)) else "document"
    with open_lines(source) as lines:
        for text in _texts(lines, name, source_name(source)):
            yield text.finish()
            problems += text.brackets.problems


class _Text:
    """One document while it is read."""

    def __init__(self, id: str, fields: Fields, where: str) -> None:
        self.where = where
        self.builder = TextBuilder(
            id, layers={"lemmas": [], "upos": [], "heads": [], "relations": []}
        )
        self.brackets = Brackets(id, fields)
        self.metadata: dict[str, str] = {}
        self.annotated = False
        self.speaker: str | None = None
        self.start = 0
        self.parents: list[int] = []
        self.has_heads = False
        self.unknown_entities = False
        self.surface = _Surface()

    def add(self, cells: list[str], where: str) -> None:
        id, form, lemma, upos, _, _, head, relation, _, misc = cells
        builder = self.builder
        at = len(builder.tokens)
        is_word = "." not in id
        if is_word:
            if id != str(at - self.start + 1):
                raise ValueError(
                    f"{where}: the word has the id {shortened(id)}, but it is number "
                    f"{at - self.start + 1} of its sentence."
                )
            builder.tokens.append(form)
            self.surface.add(form, misc)
            builder.layers["lemmas"].append(lemma)
            builder.layers["upos"].append(upos)
            builder.layers["relations"].append(relation)
            self.has_heads |= head != "_"
            if head != "_" and _NUMBER.fullmatch(head) is None:
                raise ValueError(f"{where}: the head {shortened(head)} is not a number.")
            self.parents.append(-1 if head == "_" else int(head) - 1)
        if "Entity=" in misc:
            for item in misc.split("|"):
                if item.startswith("Entity="):
                    self.annotated = True
                    self.brackets.read(item[len("Entity=") :], at, at + is_word)

    def end_sentence(self, where: str) -> None:
        n = len(self.parents)
        self.surface.end_multiword()
        if n:
            if max(self.parents) >= n:
                raise ValueError(
                    f"{where}: the sentence before has {n} words, and a head "
                    f"{max(self.parents) + 1}."
                )
            self.builder.sentence_starts.append(self.start)
            self.builder.speakers.append(self.speaker)
            self.builder.layers["heads"] += [p if p < 0 else p + self.start for p in self.parents]
        self.brackets.end_sentence()
        self.start += n
        self.speaker = None
        self.parents = []

    def finish(self) -> Document:
        created = self.metadata.get("dateCreated", "")
        if self.builder.tokens and not self.has_heads:
            self.builder.layers["heads"] = None
        try:
            document = self.builder.build(
                self.brackets,
                annotated=self.annotated,
                # Dates such as "none" or "1967 (approx.)" stay in the metadata only.
                date=created if _is_date(created) else None,
                genre=self.metadata.get("genre"),
                title=self.metadata.get("title"),
                metadata=self.metadata,
                **self.surface.finish(),
            )
        except ValueError as error:  # a parse that goes round, for example
            raise ValueError(f"{self.where}, the document that starts there: {error}") from None
        return document.replace(entities=None) if self.unknown_entities else document


class _Surface:
    """The text as it was written, while its tokens are read."""

    def __init__(self) -> None:
        self.known = False
        self.parts: list[str] = []
        self.length = 0
        self.offsets: list[tuple[int, int]] = []
        self.gap = ""  # between the last token and the next
        self.last_gap = ""  # the same if there is no next
        self.multiword: tuple[str, str, int] | None = None
        self.words: list[str] = []

    def begin_multiword(self, id: str, form: str, misc: str) -> None:
        """Take a line such as "1-2", whose words follow."""
        self.end_multiword()
        first, _, last = id.partition("-")
        if _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last):
            self.multiword = (form, misc, int(last) - int(first) + 1)

    def add(self, form: str, misc: str) -> None:
        """Take a word."""
        if self.multiword is None:
            self._place([form], form, misc)
            return
        self.words.append(form)
        if len(self.words) == self.multiword[2]:
            self.end_multiword()

    def end_multiword(self) -> None:
        """Place the words of a multiword token."""
        if self.multiword is not None and self.words:
            form, misc, _ = self.multiword
            self._place(self.words, form, misc)
        self.multiword, self.words = None, []

    def _place(self, words: list[str], form: str, misc: str) -> None:
        remarks = dict(item.split("=", 1) for item in misc.split("|") if "=" in item)
        self._append(self.gap + _unescape(remarks.get("SpacesBefore", "")))
        start = self.length
        if "Surface" in remarks:
            self._append(_unescape(remarks["Surface"]))
            self.offsets += [(start, self.length)] * len(words)
        else:
            self._append(form)
            whole = "".join(words) == form
            for word in words:
                stop = start + len(word) if whole else self.length
                self.offsets.append((start, stop))
                start = stop if whole else start
        self.last_gap = _unescape(remarks.get("SpacesAfter", ""))
        self.gap = self.last_gap if "SpacesAfter" in remarks else " "
        if remarks.get("SpaceAfter") == "No":
            self.gap = ""

    def _append(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def finish(self) -> dict[str, Any]:
        """Return the text and the places of its tokens, if they are known."""
        if not self.known or any(start == stop for start, stop in self.offsets):
            return {}
        return {"text": "".join(self.parts) + self.last_gap, "offsets": self.offsets}


def _is_date(text: str) -> bool:
    """Tell whether a text is a year, a month or a day in ISO 8601."""
    if re.fullmatch(r"[0-9]{4}(-[0-9]{2}){0,2}", text) is None or text.startswith("0000"):
        return False
    try:
        np.datetime64(text)
    except ValueError:
        return False
    return True


def _texts(lines: Iterator[str], name: str, file: str) -> Iterator[_Text]:
    """Yield the documents one by one."""
    fields = Fields()
    text: _Text | None = None
    count = 0
    where = ""
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip("\r\n")
        where = f"{file}, line {number}"
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            key, value = key.strip(), value.strip()
            if key in ("newdoc", "newdoc id"):
                if text is not None:
                    text.end_sentence(where)
                    yield text
                    count += 1
                text = _Text(value or f"{name}-{count}", fields, where)
            elif key == "global.Entity":
                fields = Fields.of(value.split("-"))
                if text is not None:
                    text.brackets.fields = fields
            elif text is not None and key == "entities" and value == UNKNOWN_ENTITIES:
                text.unknown_entities = True
            elif key == "text":
                text = text or _Text(name, fields, where)
                text.surface.known = True
            elif text is not None and key.startswith("meta::"):
                text.metadata[key[len("meta::") :]] = value
            elif key == "speaker":
                text = text or _Text(name, fields, where)
                text.speaker = value or None
        elif not line.strip():
            if text is not None:
                text.end_sentence(where)
        else:
            cells = line.split("\t")
            if len(cells) != 10:
                raise ValueError(
                    f"{where}: a line of CoNLL-U has 10 columns between tabs, this one has "
                    f"{len(cells)}: {line[:60]!r}."
                )
            text = text or _Text(name, fields, where)
            if "-" in cells[0]:  # a multiword token repeats the words that follow
                text.surface.begin_multiword(cells[0], cells[1], cells[9])
                continue
            text.add(cells, where)
    if text is not None:
        text.end_sentence(where)
        yield text
