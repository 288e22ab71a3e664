"""What every data set has in common: samples, their truth, and how it shows itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib._results import Columns, Result, counted
from sklearn_calib._validation import Array
from sklearn_calib.coref import Document
from sklearn_calib.datasets._fetch import Source

__all__ = ["Corpus", "Dataset", "DocumentTable", "TokenTable", "entities_of", "origin"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Result):
    """Samples `X` and their truth `y`, of equal length."""

    X: list[Any]
    y: Any

    _shows_table = False

    def __len__(self) -> int:
        return len(self.X)


@dataclass(frozen=True, eq=False, repr=False)
class Corpus(Dataset):
    """A data set that was read from files."""

    name: str
    licence: str
    description: str
    metadata: Mapping[str, Any]


def origin(sources: Sequence[Source], paths: Sequence[Path]) -> dict[str, Any]:
    """Return where a corpus was read, and where it comes from."""
    return {"paths": [str(path) for path in paths], "urls": [source.url for source in sources]}


class TokenTable:
    """Mixin for tagged sentences: their counts, and a table with one row per token."""

    X: list[list[str]]
    y: list[list[str]]

    def _counts(self) -> str:
        tags = {tag for sentence in self.y for tag in sentence}
        counts = (len(self.X), "sentence"), (sum(map(len, self.X)), "token"), (len(tags), "tag")
        return ", ".join(counted(n, noun) for n, noun in counts)

    def _columns(self) -> Columns:
        return {
            "sentence": np.repeat(np.arange(len(self.X)), [len(tokens) for tokens in self.X]),
            "token": [token for tokens in self.X for token in tokens],
            "tag": [tag for tags in self.y for tag in tags],
        }


class DocumentTable:
    """Mixin for documents: their counts, and a table with one row per document."""

    X: list[Document]
    y: list[Array]

    # The one kind of data whose samples fit into a line each.
    _shows_table = True

    def _counts(self) -> str:
        mentions = sum(map(len, self.X))
        return f"{counted(len(self.X), 'document')}, {counted(mentions, 'mention')}"

    def _columns(self) -> Columns:
        known = {
            "date": ["" if document.date is None else str(document.date) for document in self.X],
            "genre": [document.genre or "" for document in self.X],
        }
        return {
            "id": [document.id for document in self.X],
            **{name: values for name, values in known.items() if any(values)},
            "tokens": [len(document.tokens) for document in self.X],
            "sentences": [len(document.sentence_starts) for document in self.X],
            "mentions": [len(document) for document in self.X],
            "entities": [len(np.unique(entities)) for entities in self.y],
        }


def entities_of(documents: Sequence[Document]) -> list[Array]:
    """Return the entities of each document; one without mentions has none."""
    none = np.empty(0, dtype=np.intp)
    return [none if document.entities is None else document.entities for document in documents]
