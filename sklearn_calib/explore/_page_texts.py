"""The texts of a page of counts: which are kept, and what is marked in them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sklearn_calib._html import json_text
from sklearn_calib._validation import Array
from sklearn_calib.coref import Document
from sklearn_calib.coref._clusters import best_entities, draw_entities, links, pair_counts
from sklearn_calib.coref._parse_texts import Parse, as_parser
from sklearn_calib.coref._raw_text import RawText, as_raw_text, is_raw_text
from sklearn_calib.explore._keys import as_keys, key_name
from sklearn_calib.explore._rule_answers import EntityRule, distinct_entities

# Bytes of all texts with what is marked in them; the rest of a page needs a few megabytes.
MOST_BYTES = 12_000_000
# Characters of one text.
_MOST_CHARACTERS = 100_000
# Texts that are parsed at once.
_BATCH = 16
# Fresh samples that show what else a rule may have seen.
_SAMPLES = 100
# Links of a mention that are shown, and the least probable of them.
_LINKS, _LEAST = 8, 0.05
# Documents with more mentions have no links: their number grows with the square.
_MOST_MENTIONS = 1500
# Entities that are shown for each key beside the best, and the least share of samples of these.
_ENTITIES, _RARE = 3, 0.05

Documents = Iterable[Any] | Callable[[], Iterable[Any]]


def kept_texts(
    documents: Documents,
    names: Sequence[str],
    wanted: Array,
    n_texts: int,
    make: Callable[[list[Document | RawText]], list[str]],
) -> list[tuple[int, str]]:
    """Read documents once more, and return what is shown of those that are wanted most.

    Parameters
    ----------
    documents : iterable or callable
        The documents, in any order.
    names : sequence of str
        The documents that were counted.
    wanted : ndarray of int
        Places of the documents whose texts are wanted, in this order.
    n_texts : int
        How many of them at most. There are fewer where they do not fit into a page.
    make : callable
        Makes what is shown of some documents.

    Returns
    -------
    list of (int, str)
        Place and text of each, in the order in which they are wanted. No more than
        this and a few documents is ever held.
    """
    rank = {int(place): i for i, place in enumerate(wanted[:n_texts])}
    shelf = _Shelf()
    waiting: list[tuple[int, int, Document | RawText]] = []

    def flush() -> None:
        for (at, place, _), text in zip(waiting, make([w[2] for w in waiting]), strict=True):
            shelf.add(at, place, text)
        waiting.clear()

    for place, item in _counted(documents, names):
        at = rank.get(place)
        if at is not None and shelf.takes(at):
            waiting.append((at, place, item))
            if len(waiting) == _BATCH:
                flush()
    flush()
    return shelf.texts()


class _Shelf:
    """Holds as many texts as fit: those of the first ranks, whatever the order they come in.

    Whatever is wanted less than a text for which there was no room has none either.
    So the last rank that fits is the same for every order.
    """

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, str]] = []
        self.room = MOST_BYTES
        self.refused: int | None = None

    def takes(self, rank: int) -> bool:
        return self.refused is None or rank < self.refused

    def add(self, rank: int, place: int, text: str) -> None:
        if not self.takes(rank):
            return
        heapq.heappush(self.heap, (-rank, place, text))
        self.room -= len(text.encode())
        while self.room < 0:
            last, _, dropped = heapq.heappop(self.heap)
            self.refused = -last
            self.room += len(dropped.encode())

    def texts(self) -> list[tuple[int, str]]:
        return [(place, text) for _, place, text in sorted(self.heap, reverse=True)]


def _counted(
    documents: Documents, names: Sequence[str]
) -> Iterator[tuple[int, Document | RawText]]:
    """Yield the documents that were counted, each with its place; others are passed over."""
    places: dict[str, list[int]] = {}
    for place in range(len(names) - 1, -1, -1):
        places.setdefault(names[place], []).append(place)
    number, known = -1, False
    for number, source in enumerate(_opened(documents)):
        try:
            item = source() if callable(source) else source
            if is_raw_text(item):
                item = as_raw_text(item, number)
        except Exception:
            continue  # what cannot be read was not counted either
        if not isinstance(item, (Document, RawText)):
            raise TypeError(
                "documents must hold Document objects, or texts as `parse_texts` takes them; entry "
                f"{number} is a {type(item).__name__}."
            )
        if places.get(item.id):
            known = True
            yield places[item.id].pop(), item
    if not known:
        got = "no documents" if number < 0 else f"{number + 1:,} documents of other names"
        raise ValueError(
            f"documents gave {got}: pass those that were counted, as a list or as a function that "
            "returns an iterator. A generator that was counted is used up."
        )


def _opened(documents: Documents) -> Iterable[Any]:
    found = documents() if callable(documents) else documents
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise TypeError(
            "documents must be a list of documents, or a function that returns an iterator of "
            f"them; got {type(documents).__name__}."
        )
    return found


class TextMaker:
    """Makes what a page shows of documents.

    Parameters
    ----------
    model : object or None
        A coreference model; without one, every mention stands alone.
    rule : callable or None
        The rule that was counted.
    parse : str, path, pipeline, callable or None
        Parses texts that are not parsed yet.
    """

    def __init__(self, model: Any, rule: EntityRule | None, parse: Parse | None) -> None:
        self.model = model
        self.rule = rule
        self.parser = None if parse is None else as_parser(parse)

    def __call__(self, items: list[Document | RawText]) -> list[str]:
        """Return the JSON of each document."""
        raw = {i: item for i, item in enumerate(items) if isinstance(item, RawText)}
        shown = dict(enumerate(items))
        if self.parser is not None and raw:
            for i, parsed in zip(raw, self.parser(list(raw.values())), strict=True):
                if isinstance(parsed, Document):  # else its text is shown as it is
                    shown[i] = parsed
        return [json_text(self._data(item)) for item in shown.values()]

    def _data(self, item: Document | RawText) -> dict[str, Any]:
        if isinstance(item, RawText):
            return {"text": item.text[:_MOST_CHARACTERS], "cut": len(item.text) > _MOST_CHARACTERS}
        written = _written(item)
        data: dict[str, Any] = {"text": written.text, "cut": written.cut}
        shown = [i for i, (_, end, _) in enumerate(item.mentions) if end <= len(written.start)]
        if not shown:
            return data
        analysis = _analysis(self.model, item)
        entity = _coded(analysis.best[shown])
        data["annotated"] = analysis.annotated
        data["mentions"] = [
            [written.start[item.mentions[i, 0]], written.end[item.mentions[i, 1] - 1], code]
            for i, code in zip(shown, entity, strict=True)
        ]
        if analysis.links is not None:
            data["links"] = [_top_links(row) for row in analysis.links[np.ix_(shown, shown)]]
        if self.rule is not None:
            data["reasons"] = _reasons(item, self.rule, analysis, written)
        return data


class _Written(NamedTuple):
    """A text, and where its tokens start and end in it, in UTF-16 as browsers count."""

    text: str
    start: list[int]
    end: list[int]
    cut: bool


# No space stands before the one, or after the other.
_CLOSING = frozenset([*",.;:!?)]}%'\u2019\u201d", "n't", "'s", "'re", "'ve", "'ll", "'d", "'m"])
_OPENING = frozenset("([{$\u2018\u201c")


def _joined(document: Document) -> tuple[str, Array]:
    """Return the tokens as a text, a sentence on each line, and where each token stands."""
    starts = set(document.sentence_starts.tolist())
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    at, glued, quoted = 0, True, False
    for i, token in enumerate(document.tokens):
        quoted = quoted and i not in starts
        # The second of two straight quotation marks closes what the first opened.
        closes = token in _CLOSING or (token == '"' and quoted)
        space = "\n" if i and i in starts else "" if glued or closes else " "
        quoted ^= token == '"'
        glued = token in _OPENING or (token == '"' and quoted)
        parts += [space, token]
        spans.append((at + len(space), at + len(space) + len(token)))
        at = spans[-1][1]
    return "".join(parts), np.array(spans, dtype=np.intp).reshape(-1, 2)


def _written(document: Document) -> _Written:
    """Return a document's text, or one that is made from its tokens."""
    text, offsets = document.text, document.offsets
    if text is None:
        text, offsets = _joined(document)
    cut = len(text) > _MOST_CHARACTERS
    if cut:
        text = text[:_MOST_CHARACTERS]
        offsets = offsets[offsets[:, 1] <= _MOST_CHARACTERS]
    if text and max(text) > "\uffff":
        units = np.fromiter((1 + (char > "\uffff") for char in text), np.intp, len(text))
        offsets = np.concatenate([[0], np.cumsum(units)])[offsets]
    return _Written(text, offsets[:, 0].tolist(), offsets[:, 1].tolist(), cut)


class _Analysis(NamedTuple):
    """What a model says: the best entities, link probabilities and samples."""

    best: Array
    links: Array | None
    samples: Array
    annotated: bool = False


def _analysis(model: Any, document: Document) -> _Analysis:
    n = len(document)
    if model is None:
        alone = np.arange(n)
        known = document.entities is not None
        best = document.entities if known else alone
        return _Analysis(best, None, alone[np.newaxis], known)
    rng = np.random.default_rng(0)
    if hasattr(model, "predict_antecedent_proba"):
        [proba] = model.predict_antecedent_proba([document])
        linked = links(proba) if n <= _MOST_MENTIONS else None
        return _Analysis(best_entities(proba), linked, draw_entities(proba, _SAMPLES, rng))
    samples = np.asarray(model.sample([document], _SAMPLES, random_state=rng)[0])
    codes = np.array([np.unique(row, return_inverse=True)[1] for row in samples])
    linked = pair_counts(codes) / len(codes) if n <= _MOST_MENTIONS else None
    return _Analysis(np.asarray(model.predict([document])[0]), linked, samples)


def _coded(entities: Array) -> list[int]:
    """Return entities as numbers: those of several mentions from 0 up, single ones as -1."""
    _, which, size = np.unique(entities, return_inverse=True, return_counts=True)
    codes: dict[int, int] = {}
    return [codes.setdefault(int(i), len(codes)) if size[i] > 1 else -1 for i in which]


def _top_links(row: Array) -> list[int]:
    """Return the likeliest links of a mention: mention and thousandths, in turn."""
    order = np.argsort(-row, kind="stable")[: _LINKS + 1]
    found = [(int(j), round(1000 * float(row[j]))) for j in order if row[j] >= _LEAST]
    return [number for pair in found for number in pair]


def _reasons(
    document: Document, rule: EntityRule, analysis: _Analysis, written: _Written
) -> list[dict[str, Any]]:
    """Return for each key the entities for which the rule holds, likeliest first, and why."""
    bind = getattr(rule, "bind", None)
    bound = partial(rule, document) if bind is None else bind(document)
    if bound is None:
        return []
    matter = np.asarray(getattr(bound, "mentions", np.arange(len(document))), dtype=np.intp)
    if not len(matter):
        return []
    best = analysis.samples[0] if analysis.annotated else analysis.best
    both = np.concatenate([analysis.samples[:, matter], best[np.newaxis, matter]])
    row, entities, which = distinct_entities(both)
    is_best = np.zeros(len(entities), dtype=bool)
    is_best[which[row == len(both) - 1]] = True
    often = np.bincount(which[row < len(both) - 1], minlength=len(entities))
    found: dict[Any, list[tuple[bool, int, int]]] = {}
    for i, entity in enumerate(entities):
        for key in as_keys(bound(tuple(matter[entity].tolist())), f"Document {document.id!r}"):
            found.setdefault(key, []).append((bool(is_best[i]), int(often[i]), i))
    reasons: list[dict[str, Any]] = []
    for key, seen in found.items():
        seen.sort(reverse=True)
        likely = [one for one in seen if one[0] or one[1] >= _RARE * len(analysis.samples)]
        for chosen, times, i in (likely or seen[:1])[:_ENTITIES]:
            members = tuple(matter[entities[i]].tolist())
            matches = [m for m in _explained(rule, document, members) if m.key == key]
            reasons.append(
                {
                    "key": key_name(key),
                    "best": chosen,
                    "share": times / len(analysis.samples),
                    "samples": len(analysis.samples),
                    "mentions": [document.mention_text(m) for m in members[:10]],
                    "why": list(dict.fromkeys(str(match) for match in matches)),
                    "tokens": _marked(matches, written),
                }
            )
    shares: dict[str, float] = {}
    for reason in reasons:
        shares[reason["key"]] = shares.get(reason["key"], 0.0) + reason["share"]
    return sorted(reasons, key=lambda reason: (-shares[reason["key"]], reason["key"]))


def _explained(rule: Any, document: Document, entity: tuple[int, ...]) -> list[Any]:
    explain = getattr(rule, "explain", None)
    return [] if explain is None else list(explain(document, entity))


def _marked(matches: Sequence[Any], written: _Written) -> list[list[Any]]:
    """Return the tokens by which a rule holds: start, end and what each is."""
    found: dict[tuple[int, int], str] = {}
    for match in matches:
        for role in ("verb", "agent", "target", "named"):
            token = getattr(match, role, None)
            if token is not None and token < len(written.start):
                found.setdefault((written.start[token], written.end[token]), role)
    return [[start, end, role] for (start, end), role in sorted(found.items())]
