"""Features of tokens: what a conditional random field sees of a sentence."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib._validation_sequences import check_tokens, flatten
from sklearn_calib.sequence._affixes import LONGEST, Affixes
from sklearn_calib.sequence._packing import starts_of

__all__ = [
    "FEATURES",
    "WordColumns",
    "WordFeatures",
    "attributes_of",
    "feature_index",
    "read_features",
    "ready_matrix",
    "summed",
]


class _Kinds(dict[int, str]):
    """The kind of each character, found when it is first met: a table for str.translate."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        kind = "0" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c
        self[code] = kind
        return kind


_KINDS = _Kinds()
# Longer words are all alike.
_LENGTHS = tuple(map(str, range(13)))


class _Words:
    """Distinct words, and what several of their parts are made from."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    @cached_property
    def lower(self) -> list[str]:
        return [word.lower() for word in self.words]

    def shapes(self) -> list[str]:
        """Return the kinds of characters, runs of one kind as one: "McDonald-95" is XxXx-0."""
        kinds = "".join(self.words).translate(_KINDS)
        codes = np.frombuffer(kinds.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        ends = np.cumsum(np.fromiter(map(len, self.words), np.intp, len(self.words)))
        # Where a kind begins: after another one, or in another word.
        begins = np.ones(len(codes) + 1, dtype=bool)
        begins[1:-1] = codes[1:] != codes[:-1]
        begins[ends] = True
        runs = codes[begins[:-1]].tobytes().decode("utf-32-le", "surrogatepass")
        stops = np.concatenate([[0], np.cumsum(begins)])[ends]
        return [runs[i:j] for i, j in pairwise([0, *stops.tolist()])]

    def lengths(self) -> list[str]:
        most = len(_LENGTHS) - 1
        return [_LENGTHS[n] if n < most else _LENGTHS[most] for n in map(len, self.words)]

    def prefixes(self) -> list[list[str | None]]:
        return [[w[:n] if len(w) >= n else None for w in self.lower] for n in _AFFIXES]

    def suffixes(self) -> list[list[str | None]]:
        return [[w[-n:] if len(w) >= n else None for w in self.lower] for n in _AFFIXES]


_AFFIXES = range(1, LONGEST + 1)
# How many words are remembered before all are forgotten.
_REMEMBERED = 2**16

# Each part of words is a function that returns lists with a value for each word, or None where a
# word is too short to have one. Most parts have one list.
PARTS: dict[str, Callable[[_Words], Sequence[Sequence[str | None]]]] = {
    "w": lambda of: [of.words],
    "lower": lambda of: [of.lower],
    "shape": lambda of: [of.shapes()],
    "length": lambda of: [of.lengths()],
    "prefix": _Words.prefixes,
    "suffix": _Words.suffixes,
    "end": lambda of: [[word[-3:] for word in of.words]],
}


class WordFeatures:
    """Features that each depend on one part of a single word at a fixed distance.

    Their scores can be computed once for each distinct word, and added up.
    """

    def __init__(self, templates: Mapping[int, tuple[str, ...]]) -> None:
        self.templates = templates

    def _prefix(self, offset: int) -> str:
        return f"{offset:+d}:" if offset else ""

    def attributes(self, sentences: Sequence[Sequence[str]]) -> list[list[list[str]]]:
        """Return a list of attributes for each token of each sentence."""
        check_tokens(sentences)
        items: dict[int, dict[Any, list[str]]] = {}
        distinct = list(dict.fromkeys(flatten(sentences)))
        values = self._values(distinct)
        for offset, parts in self.templates.items():
            at = self._prefix(offset)
            items[offset] = {
                word: [
                    f"{at}{part}={value}"
                    for part in parts
                    for value in values[part][i]
                    if value is not None
                ]
                for i, word in enumerate(distinct)
            }
            items[offset][None] = [f"{at}edge"]
        result = []
        for words in sentences:
            rows: list[list[str]] = []
            for t in range(len(words)):
                row: list[str] = []
                for o in self.templates:
                    row += items[o][words[t + o] if 0 <= t + o < len(words) else None]
                rows.append(row)
            result.append(rows)
        return result

    def _values(self, words: Sequence[str]) -> dict[str, list[tuple[str | None, ...]]]:
        """Return the values of each part, word by word."""
        parts = dict.fromkeys(chain(*self.templates.values()))
        made = _Words(words)
        return {part: list(zip(*PARTS[part](made), strict=True)) for part in parts}

    def names(self, words: Iterable[str]) -> list[str]:
        """Return every attribute that some token with these words around it may have."""
        values = {
            part: [value for value in dict.fromkeys(chain(*own)) if value is not None]
            for part, own in self._values(list(dict.fromkeys(words))).items()
        }
        found: dict[str, None] = {}
        for offset, parts in self.templates.items():
            at = self._prefix(offset)
            found[f"{at}edge"] = None
            for part in parts:
                found.update(dict.fromkeys(_c_string(f"{at}{part}={v}") for v in values[part]))
        return list(found)

    def factors(self, sentences: Sequence[Sequence[str]], columns: WordColumns) -> tuple[Any, Any]:
        """Return two sparse matrices whose product has one row per token, one column per attribute.

        The first says which words stand around each token; the second, which
        attributes a word has at its distance. The product itself has many more
        entries than both.
        """
        check_tokens(sentences)
        words = flatten(sentences)
        number = {word: i for i, word in enumerate(dict.fromkeys(words))}
        word = np.fromiter(map(number.__getitem__, words), np.intp, len(words))
        lengths = np.array([len(sentence) for sentence in sentences])
        length = np.repeat(lengths, lengths)
        position = np.arange(len(words)) - np.repeat(starts_of(lengths), lengths)
        distances = len(self.templates)
        # The last word is that of a place outside the sentence.
        there = np.full((len(words), distances), len(number))
        for k, offset in enumerate(self.templates):
            inside = np.flatnonzero((position + offset >= 0) & (position + offset < length))
            there[inside, k] = word[inside + offset]
        there *= distances
        there += np.arange(distances)
        table = columns.table(number)
        ends = np.arange(0, there.size + 1, distances)
        shape = (len(words), table.shape[0])
        return sparse.csr_matrix((np.ones(there.size), there.ravel(), ends), shape=shape), table

    def scores(
        self, sentences: Sequence[Sequence[str]], columns: WordColumns, weights: Any
    ) -> Array:
        """Return the summed weights of each token's attributes, one row per token."""
        around, table = self.factors(sentences, columns)
        # Rows of the weights that are needed, as a dense matrix: a sparse product would look up
        # every entry twice.
        needed = np.zeros(table.shape[1], dtype=bool)
        needed[table.indices] = True
        used = np.flatnonzero(needed)
        place = np.empty(table.shape[1], dtype=np.intc)
        place[used] = np.arange(len(used))
        rows = weights[used].toarray()
        shape = (table.shape[0], len(rows))
        table = sparse.csr_matrix((table.data, place[table.indices], table.indptr), shape=shape)
        return around @ (table @ rows)


class WordColumns:
    """Which attributes of a model a word has at each distance.

    Words come again and again, in one text and from text to text, and finding
    their attributes takes longer than adding up the weights. So they are
    remembered, as bytes: to join thousands of them takes no time.

    Parameters
    ----------
    features : WordFeatures
        What attributes are about.
    attributes : mapping of str to int
        The column of each attribute of the model.
    """

    def __init__(self, features: WordFeatures, attributes: Mapping[str, int]) -> None:
        self.n_attributes = len(attributes)
        # The values of each head: of "+1:lower", say, in "+1:lower=the".
        heads: dict[str, dict[str, int]] = {}
        for name, column in attributes.items():
            head, _, value = name.partition("=")
            heads.setdefault(head, {})[value] = column
        self._parts = {name: PARTS[name] for name in chain(*features.templates.values())}
        width = {name: len(part(_Words([]))) for name, part in self._parts.items()}
        # Where the columns of each distance begin, among those of a word.
        sizes = [sum(width[name] for name in names) for names in features.templates.values()]
        self._first = np.cumsum([0, *sizes[:-1]])
        # The values of a part that some distance knows, numbered, with a column for each distance:
        # a value is looked up once. The last row is that of all other values.
        self._number: dict[str, dict[str | None, int]] = {}
        self._affixes: dict[str, Affixes] = {}
        found: dict[tuple[int, str], Array] = {}
        for name in self._parts:
            known = {
                offset: heads.get(f"{features._prefix(offset)}{name}", {})
                for offset, names in features.templates.items()
                if name in names
            }
            values = list(dict.fromkeys(chain(*known.values())))
            self._number[name] = dict(zip(values, range(len(values)), strict=True))
            if name in ("prefix", "suffix"):
                self._affixes[name] = Affixes(values, at_end=name == "suffix")
            for offset, own in known.items():
                columns = chain(map(own.get, values, repeat(-1)), [-1])
                found[offset, name] = np.fromiter(columns, np.intc, len(values) + 1)
        self._places = [
            (name, found[offset, name])
            for offset, names in features.templates.items()
            for name in names
        ]
        edge = np.full(sum(sizes), -1, dtype=np.intc)
        for first, offset in zip(self._first, features.templates, strict=True):
            edge[first] = heads.get(f"{features._prefix(offset)}edge", {}).get("", -1)
        self._edge = edge.tobytes()
        self._known: dict[str, bytes] = {}

    def table(self, words: Collection[str]) -> Any:
        """Return a matrix of ones: rows of each word, one for each distance, and of the edge."""
        known = self._known
        unknown = [word for word in words if word not in known]
        if len(unknown) + len(known) > _REMEMBERED:
            self._known = known = {}
            unknown = list(words)
        if unknown:
            made, size = self._find(unknown).tobytes(), len(self._edge)
            rows = (made[i : i + size] for i in range(0, len(made), size))
            known.update(zip(unknown, rows, strict=True))
        joined = b"".join([*map(known.__getitem__, words), self._edge])
        found = np.frombuffer(joined, dtype=np.intc).reshape(len(words) + 1, -1)
        there = found >= 0
        columns = found[there]
        sizes = np.add.reduceat(there, self._first, axis=1, dtype=np.int32)
        ends = np.zeros(sizes.size + 1, dtype=np.int32)
        np.cumsum(sizes, out=ends[1:])
        shape = (sizes.size, self.n_attributes)
        return sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=shape)

    def _find(self, words: Sequence[str]) -> Array:
        """Return the columns of each word at all distances; -1 is what the model lacks."""
        made = _Words(words)
        cut = "\0" in "".join(words)
        numbers = {}
        for name, part in self._parts.items():
            if name in self._affixes and not cut:
                numbers[name] = self._affixes[name].find(made.lower)
                continue
            values = part(made)
            if cut:
                values = [[v if v is None else _c_string(v) for v in each] for each in values]
            numbers[name] = [
                np.fromiter(map(self._number[name].get, each, repeat(-1)), np.intc, len(words))
                for each in values
            ]
        return np.column_stack(
            [columns[each] for name, columns in self._places for each in numbers[name]]
        )


FEATURES = {
    "word": WordFeatures({0: ("w",)}),
    "rich": WordFeatures(
        {
            0: ("w", "lower", "shape", "length", "prefix", "suffix"),
            -1: ("w", "lower", "shape", "end"),
            1: ("w", "lower", "shape", "end"),
            -2: ("w",),
            2: ("w",),
        }
    ),
}


def _c_string(name: str) -> str:
    """Return a name as CRFsuite keeps it: a zero byte ends a string in C."""
    return name.split("\0", 1)[0]


def attributes_of(item: Any) -> list[tuple[str, float]]:
    """Return the attributes of one token and their values, as CRFsuite reads them.

    A list names attributes of value 1. In a dict a number is a value, True is
    1, a string is part of the name, and a nested dict or list has names that
    begin with the key.
    """
    if not isinstance(item, Mapping):
        if isinstance(item, (str, bytes)) or not isinstance(item, Collection):
            raise TypeError("features must be a dict with string keys, or a list of strings")
        for name in item:
            if not isinstance(name, str):
                raise TypeError(f"{name!r} is not a string")
        return [(name, 1.0) for name in item]
    found: list[tuple[str, float]] = []
    for key, value in item.items():
        if not isinstance(key, str):
            raise TypeError(f"the key {key!r} is not a string")
        if isinstance(value, str):
            found.append((f"{key}:{value}", 1.0))
        elif isinstance(value, (numbers.Real, np.bool_)):
            if not math.isfinite(value):
                raise ValueError(f"{key!r} has the value {value}")
            found.append((key, float(value)))
        elif isinstance(value, (Mapping, list, tuple, set, frozenset)):
            found += [(f"{key}:{name}", inner) for name, inner in attributes_of(value)]
        else:
            raise TypeError(
                f"{key!r} has the value {value!r}; a number, a string, a list or a dict is needed"
            )
    return found


def read_features(sentences: Sequence[Sequence[Any]]) -> Iterator[list[tuple[str, float]]]:
    """Yield the attributes of each token; a message names the token that has wrong ones."""
    for i, sentence in enumerate(sentences):
        for t, item in enumerate(sentence):
            try:
                yield attributes_of(item)
            except (TypeError, ValueError) as error:
                hint = " For plain tokens set features='word' or 'rich'."
                raise type(error)(
                    f"The features of token {t} of sentence {i} are {item!r}: {error}."
                    f"{hint if isinstance(item, str) else ''}"
                ) from None


def summed(attributes: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return attributes as a dict: one that is named twice counts twice."""
    total: dict[str, float] = {}
    for name, value in attributes:
        total[name] = total.get(name, 0.0) + value
    return total


def feature_index(sentences: Sequence[Sequence[Any]]) -> dict[str, int]:
    """Return a column for each attribute, in the order in which they are met."""
    index: dict[str, int] = {}
    for item in read_features(sentences):
        for name, _ in item:
            index.setdefault(_c_string(name), len(index))
    return index


def ready_matrix(sentences: Sequence[Sequence[Any]], index: Mapping[str, int]) -> Any:
    """Return the attributes of tokens that come with features, as a sparse matrix."""
    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    for item in read_features(sentences):
        for name, value in item:
            column = index.get(_c_string(name) if "\0" in name else name)
            if column is not None:
                columns.append(column)
                values.append(value)
        ends.append(len(columns))
    return sparse.csr_matrix((values, columns, ends), shape=(len(ends) - 1, len(index)))
