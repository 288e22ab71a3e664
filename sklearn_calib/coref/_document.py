"""Document: a text with its mentions, held in arrays that nobody can change."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import date as Date
from datetime import datetime as DateTime
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._files import shortened
from sklearn_calib._results import Columns, Result, counted, html_table
from sklearn_calib._validation import Array, is_missing
from sklearn_calib._validation_documents import check_sequence
from sklearn_calib.coref._mention_heads import mention_heads

__all__ = ["Document"]


@dataclass(frozen=True, eq=False, repr=False)
class Document(Result):
    """A text with its mentions, for coreference.

    A mention is a run of tokens that names something. An entity is a set of
    mentions that name the same thing. All positions count tokens from the
    start of the document. A layer that is not known is None.

    Parameters
    ----------
    id : str
        Name of the document; messages about it use this name.
    tokens : sequence of str
        The words.
    mentions : array-like of int of shape (n_mentions, 2 or 3), default=()
        Start, end (exclusive) and head token of each mention, sorted by start
        and then by end; None for none. Two mentions may cover the same tokens.
        Where there is no third column, the head is the token whose own head
        lies outside the mention, or without a parse the last token before the
        first comma or preposition.
    entities : array-like of int or str of shape (n_mentions,), default=None
        Which entity each mention belongs to. Names are replaced by numbers in
        order of first appearance.
    sentence_starts : array-like of int, default=None
        First token of each sentence; one sentence by default.
    lemmas, upos, relations : sequence of str, default=None
        Lemma, universal part of speech and dependency relation of each token.
    heads : array-like of int of shape (n_tokens,), default=None
        Token on which each token depends; -1 for a root.
    date : date, datetime64 or str, default=None
        When the document was written; a str must be ISO 8601, and its time of
        day is ignored. Year or month alone are allowed.
    genre : str, default=None
        Kind of text.
    speakers : sequence of str or None, default=None
        Who speaks each sentence.
    metadata : mapping, default=None
        Anything else.
    text : str, default=None
        The text as it was written, with its spaces and line breaks.
    offsets : array-like of int of shape (n_tokens, 2), default=None
        Where each token starts and ends (exclusive) in the text, in characters.
        Tokens do not overlap, but the words of a contraction may share one
        place. Text and offsets come together.
    title : str, default=None
        What the document is called.

    Attributes
    ----------
    tokens, lemmas, upos, relations : ndarray of str (dtype object) or None
        One entry per token.
    heads : ndarray of int or None
        One entry per token.
    sentence_starts : ndarray of int
        One entry per sentence.
    mentions : ndarray of int of shape (n_mentions, 3)
        Columns: start, end (exclusive), head.
    entities : ndarray of int of shape (n_mentions,) or None
        Entities as numbers.
    date : datetime64 or None
        The date, as precise as it was given.
    speakers : ndarray (dtype object) or None
        One entry per sentence.
    metadata : mapping
        Read-only; empty where nothing was given.
    offsets : ndarray of int of shape (n_tokens, 2) or None
        Characters of the text from which and to which each token runs.

    See Also
    --------
    read_conllu : Reads documents from a file.
    document_from_spacy : Makes a document from a spaCy Doc.

    Examples
    --------
    >>> from sklearn_calib.coref import Document
    >>> doc = Document(
    ...     "demo",
    ...     ["Ada", "saw", "her", "dog", "."],
    ...     mentions=[(0, 1), (2, 3), (2, 4)],
    ...     entities=["Ada", "Ada", "dog"],
    ... )
    >>> doc
    <Document 'demo': 5 tokens, 1 sentence, 3 mentions, 2 entities>
    >>> doc.mention_text(2), doc.entities
    ('her dog', array([0, 0, 1]))
    """

    id: str
    tokens: Any
    _: dataclasses.KW_ONLY
    mentions: Any = ()
    entities: Any = None
    sentence_starts: Any = None
    lemmas: Any = None
    upos: Any = None
    relations: Any = None
    heads: Any = None
    date: Any = None
    genre: str | None = None
    speakers: Any = None
    metadata: Any = None
    text: str | None = None
    offsets: Any = None
    title: str | None = None

    _shows_table = False

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            raise TypeError(f"The id of a document must be a str, got {self.id!r}.")
        set_ = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        set_("tokens", _strings(self.tokens, f"Document {self.id!r}: tokens"))
        n = len(self.tokens)
        for name in ("lemmas", "upos", "relations"):
            set_(name, self._layer(name, n, "token"))
        set_("sentence_starts", self._sentence_starts(n))
        set_("speakers", self._layer("speakers", len(self.sentence_starts), "sentence"))
        if self.heads is not None:
            heads = _integers(self.heads, f"Document {self.id!r}: heads", (n,))
            self._refuse(
                (heads < -1) | (heads >= n) | (heads == np.arange(n)),
                "token",
                lambda i: (
                    f"depends on token {heads[i]}, but a head is another of the {n} tokens, "
                    "or -1 for a root"
                ),
            )
            self._refuse(
                _on_cycle(heads),
                "token",
                lambda i: (
                    "depends on itself through its heads; a parse is a tree, and its root has "
                    "the head -1"
                ),
            )
            set_("heads", heads)
        set_("mentions", self._mentions(n))
        if self.entities is not None:
            set_("entities", self._entities())
        set_("date", as_date(self.date, f"Document {self.id!r}"))
        set_("metadata", MappingProxyType(dict(self.metadata or {})))
        for name in ("text", "title"):
            if not isinstance(getattr(self, name), (str, type(None))):
                raise TypeError(
                    f"Document {self.id!r}: {name} must be a str, got {getattr(self, name)!r}."
                )
        set_("offsets", self._offsets(n))
        for name in (*_LAYERS, "sentence_starts", "mentions"):
            array = getattr(self, name)
            if array is not None:
                array.flags.writeable = False

    def _refuse(self, bad: Array, kind: str, message: Callable[[int], str]) -> None:
        """Raise about the first bad entry, naming it."""
        if bad.any():
            i = int(np.argmax(bad))
            raise ValueError(f"Document {self.id!r}, {kind} {i}: {kind} {i} {message(i)}.")

    def _layer(self, name: str, n: int, kind: str) -> Array | None:
        values = getattr(self, name)
        if values is None:
            return None
        array = _strings(values, f"Document {self.id!r}: {name}", missing=name == "speakers")
        if len(array) != n:
            raise ValueError(
                f"Document {self.id!r}: {name} must have one entry for each of the {n} {kind}s; it "
                f"has {len(array)}."
            )
        return array

    def _sentence_starts(self, n: int) -> Array:
        if self.sentence_starts is None:
            return np.zeros(min(n, 1), dtype=np.intp)
        starts = _integers(self.sentence_starts, f"Document {self.id!r}: sentence_starts", (None,))
        if n == 0 and len(starts) == 0:
            return starts
        if len(starts) == 0 or starts[0] != 0 or (np.diff(starts) <= 0).any() or starts[-1] >= n:
            raise ValueError(
                f"Document {self.id!r}: sentence_starts must begin with 0, rise, and stay below "
                f"the number of tokens ({n}); got {starts[:10].tolist()}."
            )
        return starts

    def _offsets(self, n: int) -> Array | None:
        if (self.text is None) != (self.offsets is None):
            given, other = ("offsets", "text") if self.text is None else ("text", "offsets")
            raise ValueError(
                f"Document {self.id!r} has {given} but no {other}: pass both, or neither."
            )
        if self.text is None:
            return None
        if n == 0:
            return np.empty((0, 2), dtype=np.intp)
        size = len(self.text)
        places = _integers(self.offsets, f"Document {self.id!r}: offsets", (n, 2))
        start, end = places[:, 0], places[:, 1]
        self._refuse(
            (start < 0) | (end <= start) | (end > size),
            "token",
            lambda i: (
                f"covers characters {start[i]} to {end[i]} (exclusive), which is not a part of "
                f"the {size} characters"
            ),
        )
        back = np.zeros(n, dtype=bool)
        back[1:] = (start[1:] < end[:-1]) & (places[1:] != places[:-1]).any(axis=1)
        self._refuse(
            back,
            "token",
            lambda i: (
                f"starts at character {start[i]}, before token {i - 1} ends at {end[i - 1]}; "
                "tokens must not overlap, unless they share one place"
            ),
        )
        return places

    def _mentions(self, n: int) -> Array:
        name = f"Document {self.id!r}: mentions"
        if self.mentions is None or (isinstance(self.mentions, tuple) and not self.mentions):
            return np.empty((0, 3), dtype=np.intp)
        given = check_sequence(self.mentions, name)
        if len(given) == 0:
            return np.empty((0, 3), dtype=np.intp)
        spans = _integers(given, name, (None, None))
        if spans.shape[1] not in (2, 3):
            raise ValueError(
                f"{name} must have the columns start, end and (optionally) head; got shape "
                f"{spans.shape}."
            )
        start, end = spans[:, 0], spans[:, 1]
        self._refuse(
            (start < 0) | (end <= start) | (end > n),
            "mention",
            lambda i: (
                f"covers tokens {start[i]} to {end[i]} (exclusive), which is not a part of the "
                f"{n} tokens"
            ),
        )
        back = np.zeros(len(spans), dtype=bool)
        back[1:] = (start[1:] < start[:-1]) | ((start[1:] == start[:-1]) & (end[1:] < end[:-1]))
        self._refuse(
            back,
            "mention",
            lambda i: (
                f"comes before mention {i - 1} in the text. Sort the mentions by start and "
                "then by end, and the entities along with them"
            ),
        )
        if spans.shape[1] == 2:
            heads = mention_heads(spans, self.tokens, self.heads, self.upos)
            return np.column_stack([spans, heads])
        head = spans[:, 2]
        self._refuse(
            (head < start) | (head >= end),
            "mention",
            lambda i: (
                f"has its head at token {head[i]}, outside its own tokens {start[i]} to {end[i]} "
                "(exclusive)"
            ),
        )
        return spans

    def _entities(self) -> Array:
        values = check_sequence(self.entities, f"Document {self.id!r}: entities")
        values = values.tolist() if isinstance(values, np.ndarray) else values
        if len(values) != len(self.mentions):
            raise ValueError(
                f"Document {self.id!r}: entities must have one entry for each of the "
                f"{len(self.mentions)} mentions; it has {len(values)}."
            )
        if all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values):
            return np.array(values, dtype=np.intp)
        for i, value in enumerate(values):
            if is_missing(value):
                raise ValueError(f"Document {self.id!r}, mention {i}: its entity is missing.")
            if not isinstance(value, Hashable):
                raise TypeError(
                    f"Document {self.id!r}, mention {i}: its entity must be a name or a number, "
                    f"got {value!r}."
                )
        codes: dict[Hashable, int] = {}
        return np.array([codes.setdefault(v, len(codes)) for v in values], dtype=np.intp)

    def __len__(self) -> int:
        return len(self.mentions)

    def __bool__(self) -> bool:
        return True  # a document without mentions is still a document

    def _sentence(self) -> str:
        parts = [
            counted(len(self.tokens), "token"),
            counted(len(self.sentence_starts), "sentence"),
            counted(len(self.mentions), "mention"),
        ]
        if self.entities is not None:
            parts.append(counted(len(np.unique(self.entities)), "entity", "entities"))
        return f"<Document {self.id!r}: {', '.join(parts)}>"

    def _columns(self) -> Columns:
        """Return one row per mention."""
        start, end, head = self.mentions.T
        entity = {} if self.entities is None else {"entity": self.entities}
        texts = [self.mention_text(i) for i in range(len(self))]
        return {"mention": texts, "start": start, "end": end, "head": head, **entity}

    def _repr_html_(self) -> str:
        # A line is enough in a list of documents; a document on its own shows its mentions.
        return html_table(self._columns(), 10) + super()._repr_html_()

    def __getstate__(self) -> dict[str, Any]:
        state = {field.name: getattr(self, field.name) for field in _fields(self)}
        return {**state, "metadata": dict(self.metadata)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "metadata", MappingProxyType(state["metadata"]))

    @cached_property
    def sentence_index(self) -> Array:
        """The sentence of each token."""
        index = np.zeros(len(self.tokens), dtype=np.intp)
        index[self.sentence_starts[1:]] = 1
        index = np.cumsum(index)
        index.flags.writeable = False
        return index

    def mention_text(self, i: int) -> str:
        """Return the words of mention i, with spaces between them."""
        start, end, _ = self.mentions[i]
        return " ".join(self.tokens[start:end])

    def replace(self, **changes: Any) -> Document:
        """Return a copy with some attributes changed, for example `entities`."""
        return dataclasses.replace(self, **changes)

    def select(self, mask: ArrayLike) -> Document:
        """Return a copy with the mentions that a boolean mask keeps.

        Parameters
        ----------
        mask : array-like of bool of shape (n_mentions,)
            Which mentions to keep.

        Returns
        -------
        Document
            The same text with fewer mentions.

        Examples
        --------
        >>> from sklearn_calib.coref import Document
        >>> doc = Document("demo", ["Ada", "met", "Bob"], mentions=[(0, 1), (2, 3)])
        >>> len(doc.select([True, False]))
        1
        """
        keep = np.asarray(mask)
        if keep.dtype != bool or keep.shape != (len(self),):
            raise ValueError(
                f"Document {self.id!r}: mask must be a boolean array with one entry for each of "
                f"the {len(self)} mentions; got dtype {keep.dtype} and shape {keep.shape}."
            )
        entities = None if self.entities is None else self.entities[keep]
        return self.replace(mentions=self.mentions[keep], entities=entities)


_LAYERS = ("tokens", "lemmas", "upos", "heads", "relations", "entities", "speakers", "offsets")


def _fields(document: Document) -> Iterable[dataclasses.Field[Any]]:
    return (field for field in dataclasses.fields(document) if field.name != "_")


def _strings(values: Any, name: str, *, missing: bool = False) -> Array:
    """Return an object array of str; None is allowed where `missing`."""
    if isinstance(values, list) and not values:
        return np.empty(0, dtype=object)
    items = list(check_sequence(values, name, "strings"))
    for i, item in enumerate(items):
        if not (isinstance(item, str) or (missing and item is None)):
            raise TypeError(f"{name} must hold strings; entry {i} is {item!r}.")
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _integers(values: Any, name: str, shape: tuple[int | None, ...]) -> Array:
    """Return a copy as integers of a given shape; None in the shape stands for any length."""
    if isinstance(values, list) and not values and shape in ((None,), (0,)):
        return np.empty(0, dtype=np.intp)
    try:
        array = np.array(check_sequence(values, name, "integers"))
    except ValueError as error:
        raise ValueError(f"{name} is ragged: its rows have different lengths.") from error
    if array.size == 0 and array.ndim == 1:
        array = array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got dtype {array.dtype}.")
    if array.ndim != len(shape) or any(
        want is not None and want != size for want, size in zip(shape, array.shape, strict=True)
    ):
        wanted = tuple("any" if want is None else want for want in shape)
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}.")
    return array.astype(np.intp)


def _on_cycle(heads: Array) -> Array:
    """Tell which tokens depend on themselves, directly or through others."""
    above, steps = heads, 1
    while steps < len(heads) and (above >= 0).any():
        above = np.where(above >= 0, above[above], -1)
        steps *= 2
    found = np.zeros(len(heads), dtype=bool)
    found[above[above >= 0]] = True
    return found


def as_date(value: Any, name: str) -> np.datetime64 | None:
    """Return a date as precise as it was given; `name` is whose date it is, for messages."""
    if value is None:
        return None
    found: Any = np.datetime64("NaT", "D")
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            coarse = re.fullmatch(r"\d{4}(-\d{2})?", value)
            found = np.datetime64(value if coarse else DateTime.fromisoformat(value).date())
    elif isinstance(value, np.datetime64):
        found = value
    elif isinstance(value, Date) and value == value:  # pandas' NaT is not equal to itself
        found = np.datetime64(value.date() if isinstance(value, DateTime) else value)
    if not np.isnat(found):
        unit = np.datetime_data(found.dtype)[0]
        found = found if unit in ("Y", "M", "D") else found.astype("datetime64[D]")
        if 1 <= int(found.astype("datetime64[Y]").astype(int)) + 1970 <= 9999:
            return found
    raise ValueError(
        f"{name}: date={shortened(value)} is not a date. Pass a datetime.date, a datetime64, or a "
        "str such as '2015-09-17'; leave it out if it is not known."
    )
