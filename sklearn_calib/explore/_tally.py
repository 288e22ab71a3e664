"""Collect the answers of documents one by one, and sum them by period."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

from sklearn_calib._validation import check_option
from sklearn_calib.coref import Document
from sklearn_calib.explore._answers import Answer, check_keys
from sklearn_calib.explore._periods import UndatedError, check_period, period_of, span
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._uncertain import SkippedDocument

_END = object()


class Tally:
    """Collects the answers of documents one by one."""

    def __init__(self, period: Any, keys: Any, undated: str, kind: str = "document") -> None:
        self.period = check_period(period)
        self.skip_undated = check_option(undated, "undated", ("raise", "skip")) == "skip"
        self.keys = check_keys(keys)
        self.kind = kind
        self.ids: list[str] = []
        self.found: list[Any] = []
        self.weights: list[float] = []
        self.hits: list[tuple[int, Any, Any, int, tuple[str, ...]]] = []
        self.skipped: list[SkippedDocument] = []
        self.n_samples: int | None = None
        self.has_best: bool | None = None

    def date(self, number: int, id: str, date: Any, document: Any) -> Any:
        """Return the period of a document; None if it is skipped for lack of a date."""
        try:
            return period_of(f"{self.kind.capitalize()} {id!r}", date, self.period, document)
        except UndatedError as error:
            return self.undated(number, id, str(error))

    def undated(self, number: int, id: str, reason: str) -> None:
        """Skip a document without a date, or raise."""
        if not self.skip_undated:
            raise UndatedError(
                f"{reason} Give it a date, or pass undated='skip' to leave such {self.kind}s out."
            ) from None
        self.skipped.append(SkippedDocument(number, id, reason))

    def add(self, id: str, period: Any, weight: float, answer: Answer) -> None:
        """Add the answer of a document."""
        if self.n_samples not in (None, answer.n_samples):
            raise ValueError(
                f"{self.kind.capitalize()} {id!r} has {answer.n_samples} samples, but those before "
                f"it have {self.n_samples}: draw the same number for each {self.kind}."
            )
        self.n_samples = answer.n_samples
        self.has_best = answer.best is not None
        at = len(self.ids)
        self.ids.append(id)
        self.found.append(period)
        self.weights.append(weight)
        nothing = np.zeros(answer.n_samples, dtype=np.uint8)
        for key in {**answer.counts, **(answer.best or {})}:
            self.hits.append(
                (
                    at,
                    key,
                    answer.counts.get(key, nothing),
                    (answer.best or {}).get(key, 0),
                    answer.mentions.get(key, ()),
                )
            )

    def finish(self) -> CountPosterior:
        """Return the posterior."""
        if self.skipped:
            first = self.skipped[0]
            warnings.warn(
                f"{len(self.skipped)} of {len(self.skipped) + len(self.ids)} {self.kind}s were "
                f"skipped, the first of them because: {first.reason} The attribute skipped lists "
                "them all.",
                UserWarning,
                stacklevel=3,
            )
        if not self.ids or self.n_samples is None:
            raise ValueError(f"There are no {self.kind}s to count.")
        keys = self.keys
        if keys is None:
            keys = tuple(sorted({hit[1] for hit in self.hits}, key=str))
        place = {key: i for i, key in enumerate(keys)}
        hits = [hit for hit in self.hits if hit[1] in place]
        periods, document_period = span(self.found, self.period, self.ids)
        counts = np.array([hit[2] for hit in hits]).reshape(-1, self.n_samples)
        return CountPosterior(
            keys=keys,
            periods=periods,
            period=self.period,
            documents=tuple(self.ids),
            document_period=document_period,
            document_weight=np.array(self.weights, dtype=float),
            hit_document=np.array([hit[0] for hit in hits], dtype=np.int64),
            hit_key=np.array([place[hit[1]] for hit in hits], dtype=np.int64),
            hit_counts=counts.astype(np.uint8) if not len(counts) else counts,
            hit_best=np.array([hit[3] for hit in hits], dtype=np.int64) if self.has_best else None,
            hit_mentions=tuple(hit[4] for hit in hits),
            n_samples=self.n_samples,
            skipped=tuple(self.skipped),
        )


def check_weight(value: Any, where: str) -> float:
    """Return a weight that is finite and not negative."""
    weight = float(value)
    if not (np.isfinite(weight) and weight >= 0.0):
        raise ValueError(f"{where}: its weight is {value!r}; weights are finite and at least 0.")
    return weight


def together(
    documents: Iterable[Any], *, kind: str = "document", **others: Any
) -> Iterator[tuple[Any, ...]]:
    """Yield documents with what belongs to them, refusing gaps and lists of unequal length."""
    names = [f"{kind}s", *others]
    columns = [documents, *others.values()]
    for name, column in zip(names, columns, strict=True):
        if column is not None and (isinstance(column, str) or not isinstance(column, Iterable)):
            raise TypeError(
                f"{name} must be a list or another iterable with one entry for each {kind}, got "
                f"{type(column).__name__}."
            )
    given = [name for name, column in zip(names, columns, strict=True) if column is not None]
    rows = zip_longest(*(column for column in columns if column is not None), fillvalue=_END)
    for number, row in enumerate(rows):
        found = dict(zip(given, row, strict=True))
        short = [name for name, entry in found.items() if entry is _END]
        if short:
            more = [name for name in given if name not in short]
            raise ValueError(
                f"{' and '.join(short)} ended after {number} {kind}s, but {' and '.join(more)} "
                f"did not: one entry for each {kind} is expected."
            )
        for name, entry in found.items():
            if entry is None and name != "dates":  # not every date is known
                raise ValueError(f"{name} has None for {kind} {number}.")
        yield tuple(found.get(name) for name in names)


def check_document(document: Any, number: int) -> Document:
    """Refuse what is not a Document."""
    if not isinstance(document, Document):
        raise TypeError(
            f"documents must hold Document objects; entry {number} is a {type(document).__name__}."
        )
    return document
