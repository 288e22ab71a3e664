"""One document becomes a period, a weight and an answer; many of them become a posterior."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_option
from sklearn_calib.coref import Document
from sklearn_calib.explore._documents import SkippedDocument
from sklearn_calib.explore._hits import SampledHits
from sklearn_calib.explore._keys import check_keys
from sklearn_calib.explore._periods import Period, UndatedError, check_period, period_of, span
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._rule_answers import (
    Answer,
    EntityRule,
    check_best,
    check_samples,
    entity_answer,
)

Item = TypeVar("Item")

_END = object()
# Words that are kept of each text that has no title.
_OPENING = 12


@dataclass(frozen=True, eq=False)
class Text(Generic[Item]):
    """What is counted: a document, or the tokens of a sentence.

    Attributes
    ----------
    id : str
        As it is listed in the posterior.
    name : str
        As messages call it, at the start of a sentence.
    date : datetime64 or None
        When it was written.
    item : Document or sequence of tokens
        What the user's functions see.
    title : str
        Its title or its first words, for those who read it later.
    """

    id: str
    name: str
    date: np.datetime64 | None
    item: Item
    title: str = ""


@dataclass(frozen=True, eq=False)
class Counted:
    """What one text adds to the counts."""

    id: str
    name: str
    period: Hashable
    weight: float
    answer: Answer
    title: str = ""


def document_text(document: object, number: int) -> Text[Document]:
    """Return a document to be counted, refusing what is none."""
    if not isinstance(document, Document):
        note = " Pass parse= to count raw text." if isinstance(document, (str, tuple)) else ""
        raise TypeError(
            f"documents must hold Document objects; entry {number} is a {type(document).__name__}."
            f"{note}"
        )
    title = document.title or document.metadata.get("title") or first_words(document.tokens)
    return Text(document.id, f"Document {document.id!r}", document.date, document, str(title))


def first_words(tokens: Sequence[Any]) -> str:
    """Return the beginning of a text, which is kept to know it by."""
    start = " ".join(map(str, tokens[:_OPENING]))
    return f"{start} ..." if len(tokens) > _OPENING else start


def about_entities(
    samples: ArrayLike, rule: EntityRule, best: ArrayLike | None
) -> Callable[[Text[Document]], Answer]:
    """Return the question what a rule finds in a user's samples of a document."""

    def ask(text: Text[Document]) -> Answer:
        n = len(text.item)
        drawn = check_samples(samples, n, name=text.name, unit="mention")
        chosen = None
        if best is not None:
            chosen = check_best(best, n, name=text.name, unit="mention", what="entities")
        return entity_answer(text.item, drawn, rule, chosen, name=text.name)

    return ask


def count_one(
    text: Text[Item],
    ask: Callable[[Text[Item]], Answer],
    *,
    period: Period = None,
    weight: float | Callable[[Item], float] | None = None,
) -> Counted:
    """Return the period, the weight and the answer of one text.

    The rule is asked last: a text without a date is not worth the samples.
    """
    when = period_of(text.item, text.date, period, name=text.name)
    if callable(weight):
        weight = weight(text.item)
    weight = 1.0 if weight is None else _check_weight(weight, text.name)
    return Counted(text.id, text.name, when, weight, ask(text), text.title)


def _check_weight(value: float, name: str) -> float:
    """Return a weight that is finite and not negative."""
    weight = float(value)
    if not (np.isfinite(weight) and weight >= 0.0):
        raise ValueError(f"{name}: its weight is {value!r}; weights are finite and at least 0.")
    return weight


class Collector:
    """Collects what texts add to the counts one by one, and makes the posterior."""

    def __init__(
        self,
        period: Period,
        keys: Iterable[Hashable] | None,
        undated: str,
        kind: str = "document",
    ) -> None:
        self.period = check_period(period)
        self.skip_undated = check_option(undated, "undated", ("raise", "skip")) == "skip"
        self.keys = None if keys is None else check_keys(keys)
        self.kind = kind
        self.ids: list[str] = []
        self.titles: list[str] = []
        self.found: list[Hashable] = []
        self.weights: list[float] = []
        self.hits: list[tuple[int, Hashable, Array, int, tuple[str, ...]]] = []
        self.skipped: list[SkippedDocument] = []
        self.n_samples: int | None = None
        self.has_best: bool | None = None

    def count(
        self,
        number: int,
        text: Text[Item],
        ask: Callable[[Text[Item]], Answer],
        weight: float | Callable[[Item], float] | None,
    ) -> None:
        """Count a text, or leave it out if it has no date and that is allowed."""
        try:
            counted = count_one(text, ask, period=self.period, weight=weight)
        except UndatedError as error:
            self.leave_out_undated(number, text.id, str(error))
        else:
            self.add(counted)

    def leave_out_undated(self, number: int, id: str, reason: str) -> None:
        """Leave out a text without a date, or raise."""
        if not self.skip_undated:
            raise UndatedError(
                f"{reason} Give it a date, or pass undated='skip' to leave such {self.kind}s out."
            ) from None
        self.leave_out(number, id, reason)

    def leave_out(self, number: int, id: str, reason: str) -> None:
        """Note that a text was left out, and why."""
        self.skipped.append(SkippedDocument(number, id, reason))

    def add(self, counted: Counted) -> None:
        """Add what a text adds."""
        answer = counted.answer
        if self.n_samples not in (None, answer.n_samples):
            raise ValueError(
                f"{counted.name} has {answer.n_samples} samples, but those before it have "
                f"{self.n_samples}: draw the same number for each {self.kind}."
            )
        self.n_samples = answer.n_samples
        self.has_best = answer.best is not None
        at = len(self.ids)
        self.ids.append(counted.id)
        self.titles.append(counted.title)
        self.found.append(counted.period)
        self.weights.append(counted.weight)
        best = answer.best or {}
        nothing = np.zeros(answer.n_samples, dtype=np.uint8)
        for key in {**answer.counts, **best}:
            counts = answer.counts.get(key, nothing)
            self.hits.append((at, key, counts, best.get(key, 0), answer.mentions.get(key, ())))

    def posterior(self) -> CountPosterior:
        """Return the counts, warning the caller's caller about what was left out."""
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
            hits=SampledHits(counts.astype(np.uint8) if not len(counts) else counts),
            hit_best=np.array([hit[3] for hit in hits], dtype=np.int64) if self.has_best else None,
            hit_mentions=tuple(hit[4] for hit in hits),
            skipped=tuple(self.skipped),
            titles=tuple(self.titles),
        )


def together(
    texts: Iterable[Any], *, kind: str = "document", **others: Iterable[Any] | None
) -> Iterator[tuple[Any, ...]]:
    """Yield texts with what belongs to them, refusing gaps and lists of unequal length."""
    names = [f"{kind}s", *others]
    columns = [texts, *others.values()]
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
