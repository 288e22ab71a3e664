"""Raw text becomes documents: by a spaCy pipeline, or by any function."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn_calib._validation import check_integer
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._parsers import document_from_spacy, document_from_stanza
from sklearn_calib.coref._raw_text import RawText, Record, as_raw_text, is_raw_text

__all__ = ["Parse", "Parser", "as_parser", "parse_texts"]

# What users pass: the name or the folder of a spaCy pipeline, a pipeline, or a function of a text.
Parse = str | PathLike[str] | Callable[[str], Any]

# Threads of one process share a pipeline, which is not made for that.
_PARSING = threading.RLock()


def parse_texts(
    texts: Iterable[Record], parse: Parse, *, batch_size: int = 16
) -> Iterator[Document]:
    """Parse texts into documents, one after the other.

    Parameters
    ----------
    texts : iterable of str or of (str, mapping)
        The texts. A mapping may have `id`, `date` and `title`; the rest of it
        becomes `metadata`. Texts are read as they are needed.
    parse : str, path, spacy.Language or callable
        The name of an installed spaCy pipeline, such as "en_core_web_sm", or the
        folder of one; a pipeline itself; or any function of a text that returns a
        `Document`, a spaCy `Doc` or a Stanza `Document`. A pipeline that is named
        is loaded without its component `ner`, which nothing here needs.
    batch_size : int, default=16
        Texts that go to a spaCy pipeline at once.

    Returns
    -------
    iterator of Document
        The documents in their order, with the mentions that `find_mentions`
        finds, unless `parse` has found others. A text without `id` is called
        "text-0" and so on, by its place.

    See Also
    --------
    read_jsonl, read_text_folder : Read texts with their dates.
    document_from_spacy : What becomes of a spaCy Doc.
    write_conllu : Keeps documents, so that they need not be parsed again.

    Examples
    --------
    >>> from sklearn_calib.coref import Document, parse_texts
    >>> def parse(text):
    ...     return Document("", text.split())
    >>> texts = ["Iraq attacked .", ("They left .", {"id": "b", "date": "2006-07-12"})]
    >>> for document in parse_texts(texts, parse):
    ...     print(document, document.date)
    <Document 'text-0': 3 tokens, 1 sentence, 0 mentions> None
    <Document 'b': 3 tokens, 1 sentence, 0 mentions> 2006-07-12
    """
    batch_size = check_integer(batch_size, "batch_size")
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise TypeError(f"texts must be an iterable of texts, got {type(texts).__name__}.")
    return _parsed(texts, as_parser(parse), batch_size)


def _parsed(texts: Iterable[Record], parser: Parser, batch_size: int) -> Iterator[Document]:
    numbered = iter(enumerate(texts))
    while batch := list(islice(numbered, batch_size)):
        for number, item in batch:
            if not is_raw_text(item):
                raise TypeError(
                    f"Text {number} must be a str, or a pair of a str and a mapping; got "
                    f"{type(item).__name__}."
                )
        raw = [as_raw_text(item, number) for number, item in batch]
        for text, found in zip(raw, parser(raw), strict=True):
            if isinstance(found, Exception):
                raise RuntimeError(f"{text.name} could not be parsed: {found}") from found
            yield found


class Parser:
    """Makes a document from each of some texts, or says why it could not."""

    # Whether a document has no other date than its text.
    keeps_dates = False

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.parse = parse

    def __call__(self, texts: Sequence[RawText]) -> list[Document | Exception]:
        """Return a document or an exception for each text."""
        return _one_by_one(self.parse, texts)

    def identity(self) -> object:
        """Return what tells this parser from others."""
        return self.parse


class SpacyParser(Parser):
    """The same with a spaCy pipeline, which reads many texts at once."""

    keeps_dates = True

    def _load(self) -> Any:
        return self.parse

    def identity(self) -> object:
        """Return the parts of the pipeline; its vocabulary grows with every text."""
        pipeline: Any = self.parse
        parts = [
            (name, part.to_bytes(exclude=["vocab"]) if hasattr(part, "to_bytes") else part)
            for name, part in pipeline.pipeline
        ]
        return (pipeline.meta.get("version"), pipeline.config.to_str(), parts)

    def __call__(self, texts: Sequence[RawText]) -> list[Document | Exception]:
        """Return a document or an exception for each text."""
        with _PARSING:
            pipeline = self._load()
            with _memory_zone(pipeline):
                try:
                    docs = dict(zip(texts, pipeline.pipe([t.text for t in texts]), strict=True))
                except Exception:  # of one of them, and the others can still be read
                    return _one_by_one(pipeline, texts)
                return [_attempt(lambda text: docs[text], text) for text in texts]


class NamedParser(SpacyParser):
    """The same by name: what is sent to a worker is the name, and each loads it once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.loaded: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "loaded": None}

    def identity(self) -> object:
        """Return the name."""
        return self.name

    def _load(self) -> Any:
        if self.loaded is None:
            self.loaded = _spacy().load(self.name, exclude=["ner"])
        return self.loaded


def _one_by_one(
    parse: Callable[[str], Any], texts: Sequence[RawText]
) -> list[Document | Exception]:
    return [_attempt(lambda text: parse(text.text), text) for text in texts]


def _attempt(parse: Callable[[RawText], Any], text: RawText) -> Document | Exception:
    """Return the document of a text, or what went wrong."""
    try:
        return _document(parse(text), text)
    except Exception as error:
        return error


def as_parser(parse: Parse) -> Parser:
    """Return a parser for a pipeline, its name or a function."""
    if isinstance(parse, (str, PathLike)):
        spacy = _spacy()
        name = str(parse)
        known = name.startswith("blank:") or spacy.util.is_package(name) or Path(name).exists()
        if not known:
            raise ValueError(
                f"parse={name!r}: spaCy has no pipeline of this name. Install it, for example "
                f"with 'python -m spacy download {name}', or pass the folder of a pipeline."
            )
        return NamedParser(name)
    if hasattr(parse, "pipe") and hasattr(parse, "vocab"):
        return SpacyParser(parse)
    if not callable(parse):
        raise TypeError(
            "parse must be the name or folder of a spaCy pipeline, a pipeline, or a function of a "
            f"text; got {type(parse).__name__}."
        )
    return Parser(parse)


def _spacy() -> Any:
    try:
        import spacy
    except ImportError:
        raise ImportError(
            'parse needs spaCy, which is not installed: pip install "sklearn-calib[spacy]".'
        ) from None
    return spacy


def _memory_zone(pipeline: Any) -> AbstractContextManager[Any]:
    """Let spaCy forget the words of these texts when they are done, where it can."""
    zone = getattr(pipeline, "memory_zone", None)
    return nullcontext() if zone is None else zone()


def _document(parsed: Any, text: RawText) -> Document:
    """Return the document of what a parser made from a text."""
    known: dict[str, Any]
    known = {"id": text.id, "date": text.date, "title": text.title, "metadata": text.metadata}
    if isinstance(parsed, Document):
        for name in ("date", "title"):
            if known[name] is None:
                del known[name]
        return parsed.replace(**{**known, "metadata": {**parsed.metadata, **text.metadata}})
    if hasattr(parsed, "sents"):
        return document_from_spacy(parsed, **known)
    if hasattr(parsed, "sentences"):
        return document_from_stanza(parsed, **known)
    raise TypeError(
        "parse must return a Document, a spaCy Doc or a Stanza Document, got "
        f"{type(parsed).__name__}."
    )
