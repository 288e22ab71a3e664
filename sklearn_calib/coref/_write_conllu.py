"""Write documents to CoNLL-U files, from which they can be read again."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from os import PathLike
from pathlib import Path

from sklearn_calib._files import FileError, open_text
from sklearn_calib._output import check_target, whole_file
from sklearn_calib.coref._conllu import UNKNOWN_ENTITIES, escape
from sklearn_calib.coref._document import Document

__all__ = ["write_conllu"]

_CELL = re.compile(r"[\t\n\r]")
_LINE = re.compile(r"[\n\r]")
_FIRST = "# global.Entity = eid-head-other\n"


def write_conllu(
    documents: Iterable[Document], path: str | PathLike[str], *, force: bool = False
) -> None:
    """Write documents to a CoNLL-U file, which `read_conllu` reads again.

    So a corpus needs to be parsed only once.

    Parameters
    ----------
    documents : iterable of Document
        The documents; they are written one by one, so that a generator will do.
    path : path-like
        The file. If its name ends in .gz, it is compressed. A file of this function
        that is there already is replaced, when all documents have been written.
    force : bool, default=False
        Whether to replace a file that this function did not write.

    See Also
    --------
    read_conllu : Reads them again.
    parse_texts : Makes documents of raw text.

    Notes
    -----
    Mentions are written in the manner of CorefUD, with their heads, and all
    that `read_conllu` reads is there: sentences, speakers, date, genre, title,
    metadata (as text), and the spaces of the text. Entities are numbered anew, in
    order of their first mention. A mention must lie within a sentence, and so
    must the head of each token. An empty lemma, tag or relation is written as
    `_`, and a layer that holds nothing else is None when it is read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn_calib.coref import Document, read_conllu, write_conllu
    >>> doc = Document("demo", ["Ada", "slept"], mentions=[(0, 1)], entities=[7], date="1843")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "demo.conllu")
    ...     write_conllu([doc], path)
    ...     print(path.read_text())
    ...     read_conllu(path)
    # global.Entity = eid-head-other
    # newdoc id = demo
    # meta::dateCreated = 1843
    1	Ada	_	_	_	_	_	_	_	Entity=(e1-1)
    2	slept	_	_	_	_	_	_	_	_
    <BLANKLINE>
    <BLANKLINE>
    [<Document 'demo': 2 tokens, 1 sentence, 1 mention, 1 entity>]
    """
    if isinstance(documents, Document) or not isinstance(documents, Iterable):
        raise TypeError(
            f"documents must be an iterable of documents, got {type(documents).__name__}."
        )
    target = check_target(path, force, _is_ours, "one that write_conllu wrote")
    with (
        whole_file(target) as raw,
        gzip.GzipFile(fileobj=raw, mode="wb")
        if target.suffix == ".gz"
        else nullcontext(raw) as packed,
    ):
        file = io.TextIOWrapper(packed, encoding="utf-8", newline="\n")
        file.write(_FIRST)
        for number, document in enumerate(documents):
            if not isinstance(document, Document):
                raise TypeError(
                    f"documents must hold Document objects; entry {number} is a "
                    f"{type(document).__name__}."
                )
            for line in _lines(document):
                file.write(f"{line}\n")
        file.detach()


def _is_ours(path: Path) -> bool:
    try:
        with open_text(path) as file:
            return file.readline(len(_FIRST)) == _FIRST
    except FileError:
        return False


def _lines(document: Document) -> Iterator[str]:
    name = f"Document {document.id!r}"
    yield f"# newdoc id = {_value(document.id, f'{name}: its id')}"
    for key, value in _metadata(document).items():
        if key != key.strip() or not key or "=" in key:
            raise ValueError(f"{name}: the name {key!r} in its metadata cannot be written.")
        yield f"# meta::{_value(key, name)} = {_value(value, f'{name}: its {key}')}"
    if document.entities is None and len(document):
        yield f"# entities = {UNKNOWN_ENTITIES}"
    brackets = _brackets(document)
    miscs, contractions = _spacing(document)
    heads = _heads(document)
    layers = [document.lemmas, document.upos, document.relations]
    stops = [*document.sentence_starts[1:].tolist(), len(document.tokens)]
    for sentence, (start, stop) in enumerate(
        zip(document.sentence_starts.tolist(), stops, strict=True)
    ):
        if document.speakers is not None and document.speakers[sentence]:
            speaker = document.speakers[sentence]
            yield f"# speaker = {_value(speaker, f'{name}: its speaker of sentence {sentence}')}"
        if document.text is not None:
            surface = document.text[document.offsets[start, 0] : document.offsets[stop - 1, 1]]
            yield f"# text = {' '.join(surface.split())}"
        for token in range(start, stop):
            if token in contractions:
                end, form, misc = contractions[token]
                yield _row(f"{token - start + 1}-{end - start}", form, misc=misc)
            lemma, upos, relation = ("" if layer is None else layer[token] for layer in layers)
            word = document.tokens[token]
            for cell in (word, lemma, upos, relation):
                if _CELL.search(cell) or not word:
                    raise ValueError(
                        f"{name}, token {token}: {cell!r} cannot be written to a column of CoNLL-U."
                    )
            misc = [*miscs[token], *(f"Entity={b}" for b in [brackets.get(token)] if b)]
            head = "_" if heads is None else str(max(heads[token] - start + 1, 0))
            yield _row(str(token - start + 1), word, lemma, upos, head, relation, misc)
        yield ""


def _row(
    id: str,
    form: str,
    lemma: str = "",
    upos: str = "",
    head: str = "_",
    relation: str = "",
    misc: Iterable[str] = (),
) -> str:
    cells = [id, form, lemma, upos, "", "", head, relation, "", "|".join(misc)]
    return "\t".join(cell or "_" for cell in cells)


def _value(value: object, name: str) -> str:
    """Return what can stand on a line of its own."""
    text = str(value)
    if _LINE.search(text) or text != text.strip():
        raise ValueError(
            f"{name} is {text[:60]!r}, which cannot be written on one line. Change it with the "
            "method replace."
        )
    return text


def _metadata(document: Document) -> Mapping[str, object]:
    known = {"dateCreated": document.date, "genre": document.genre, "title": document.title}
    return {**document.metadata, **{k: v for k, v in known.items() if v is not None}}


def _heads(document: Document) -> list[int] | None:
    if document.heads is None:
        return None
    index, heads = document.sentence_index, document.heads
    for token, head in enumerate(heads.tolist()):
        if head >= 0 and index[head] != index[token]:
            raise ValueError(
                f"Document {document.id!r}, token {token}: it depends on token {head} of another "
                "sentence, which CoNLL-U cannot say."
            )
    return [head if head >= 0 else -len(heads) - 1 for head in heads.tolist()]


def _spacing(
    document: Document,
) -> tuple[list[list[str]], dict[int, tuple[int, str, list[str]]]]:
    """Return what says where the spaces are, for each token, and the contractions.

    A contraction is known by its first token, and has the token after it, what
    is written and its own remarks.
    """
    n = len(document.tokens)
    miscs: list[list[str]] = [[] for _ in range(n)]
    contractions: dict[int, tuple[int, str, list[str]]] = {}
    if document.text is None:
        return miscs, contractions
    text, places = document.text, document.offsets.tolist()
    token = 0
    while token < n:
        start, end = places[token]
        stop = token + 1
        while stop < n and places[stop] == places[token]:
            stop += 1
        if document.sentence_index[stop - 1] != document.sentence_index[token]:
            raise ValueError(
                f"Document {document.id!r}, token {token}: it shares its place in the text with a "
                "token of another sentence, which CoNLL-U cannot say."
            )
        surface = text[start:end]
        remarks = [f"SpacesBefore={escape(text[:start])}"] if token == 0 and start else []
        if stop > token + 1 or surface != document.tokens[token]:
            remarks.append(f"Surface={escape(surface)}")
        after = text[end : places[stop][0] if stop < n else len(text)]
        if stop == n:
            remarks += [f"SpacesAfter={escape(after)}"] if after else []
        elif after != " ":
            remarks.append(f"SpacesAfter={escape(after)}" if after else "SpaceAfter=No")
        if stop > token + 1:
            contractions[token] = (stop, " ".join(surface.split()) or "_", remarks)
        else:
            miscs[token] = remarks
        token = stop
    return miscs, contractions


def _brackets(document: Document) -> dict[int, str]:
    """Return the brackets of each token that has some."""
    mentions = document.mentions.tolist()
    if document.entities is None:
        names = list(range(len(mentions)))
    else:
        codes: dict[int, int] = {}
        names = [codes.setdefault(entity, len(codes)) for entity in document.entities.tolist()]
    crossing = _crossing(mentions, names)
    index = document.sentence_index
    closing: dict[int, list[tuple[int, int, str]]] = {}
    opening: dict[int, list[tuple[int, int, str]]] = {}
    single: dict[int, list[str]] = {}
    for i, ((start, end, head), name) in enumerate(zip(mentions, names, strict=True)):
        if index[start] != index[end - 1]:
            raise ValueError(
                f"Document {document.id!r}, mention {i}: it ends in another sentence than it "
                "starts, which CoNLL-U cannot say."
            )
        body = f"e{name + 1}-{head - start + 1}"
        close = f"e{name + 1}"
        if name in crossing:  # the whole of it, so that it is clear which one closes
            body = close = f"{body}-mention:{i + 1}"
        if end == start + 1:
            single.setdefault(start, []).append(f"({body})")
            continue
        # What closes last opens first; among equals the later one does.
        opening.setdefault(start, []).append((-end, -i, f"({body}"))
        closing.setdefault(end - 1, []).append((-start, i, f"{close})"))
    found = {}
    for token in {*closing, *opening, *single}:
        first, last = sorted(closing.get(token, [])), sorted(opening.get(token, []))
        found[token] = "".join([*(c[2] for c in first), *(o[2] for o in last)])
        found[token] += "".join(single.get(token, []))
    return found


def _crossing(mentions: list[list[int]], names: list[int]) -> set[int]:
    """Return the entities of which two mentions overlap, but neither holds the other."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for (start, end, _), name in zip(mentions, names, strict=True):
        spans.setdefault(name, []).append((start, end))
    found = set()
    for name, places in spans.items():
        if any(a < c < b < d for a, b in places for c, d in places):
            found.add(name)
    return found
