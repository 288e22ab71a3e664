"""A text before it is parsed, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_calib.coref._document import as_date

__all__ = ["RawText", "Record", "as_raw_text", "is_raw_text"]

# What users pass: a text, or a text with what is known of it.
Record = str | tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class RawText:
    """A text with its name, its date, its title and whatever else is known."""

    text: str
    id: str
    date: np.datetime64 | None
    title: str | None
    metadata: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What messages call it, at the start of a sentence."""
        return f"Document {self.id!r}"


def is_raw_text(item: object) -> bool:
    """Tell whether something is a text, or looks like a text with metadata."""
    return isinstance(item, str) or (isinstance(item, tuple) and len(item) == 2)


def as_raw_text(item: Any, number: int) -> RawText:
    """Return a text to be parsed, refusing what is none.

    `number` is its place among the texts, which names it if nothing else does.
    """
    text, known = (item, {}) if isinstance(item, str) else item
    if not isinstance(text, str) or not isinstance(known, Mapping):
        raise TypeError(
            f"Text {number} must be a str, or a pair of a str and a mapping such as "
            f"{{'id': ..., 'date': ..., 'title': ...}}; got a pair of {type(text).__name__} and "
            f"{type(known).__name__}."
        )
    rest = dict(known)
    id, date, title = (rest.pop(key, None) for key in ("id", "date", "title"))
    id = f"text-{number}" if id is None else str(id)
    title = None if title is None else str(title)
    return RawText(text, id, as_date(date, f"Document {id!r}"), title, rest)
