"""Features of tokens: what a conditional random field sees of a sentence."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib._validation_sequences import check_tokens, flatten
from sklearn_calib.sequence._packing import starts_of

__all__ = [
    "FEATURES",
    "WordFeatures",
    "attributes_of",
    "by_head",
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
_RUN = re.compile(r"(.)\1+", re.DOTALL)


def _shape(word: str) -> str:
    """Return the kinds of characters, runs of one kind as one: "McDonald-95" is XxXx-0."""
    return _RUN.sub(r"\1", word.translate(_KINDS))


def _starts(word: str) -> list[str]:
    return [word[:n] for n in range(1, min(4, len(word)) + 1)]


def _ends(word: str) -> list[str]:
    return [word[-n:] for n in range(1, min(4, len(word)) + 1)]


# Each part of a word is a function that returns its values, mostly one. Words come again and
# again, in one text and from text to text, and so their parts are remembered.
PARTS: dict[str, Callable[[str], Sequence[str]]] = {
    name: lru_cache(maxsize=2**16)(function)
    for name, function in {
        "w": lambda word: (word,),
        "lower": lambda word: (word.lower(),),
        "shape": lambda word: (_shape(word),),
        "length": lambda word: (str(min(len(word), 12)),),
        "prefix": lambda word: _starts(word.lower()),
        "suffix": lambda word: _ends(word.lower()),
        "end": lambda word: (word[-3:],),
    }.items()
}

# Attributes by what they are about: the row of each value of, say, "-1:lower".
Heads = Mapping[str, Mapping[str, int]]


def by_head(index: Mapping[str, int]) -> Heads:
    """Return the rows of attributes by the part before the first "=", and the value after it."""
    heads: dict[str, dict[str, int]] = {}
    for name, row in index.items():
        head, _, value = name.partition("=")
        heads.setdefault(head, {})[value] = row
    return heads


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
        for offset, parts in self.templates.items():
            at = self._prefix(offset)
            items[offset] = {
                word: [f"{at}{part}={value}" for part in parts for value in PARTS[part](word)]
                for word in dict.fromkeys(flatten(sentences))
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

    def names(self, words: Iterable[str]) -> list[str]:
        """Return every attribute that some token with these words around it may have."""
        number = dict.fromkeys(words)
        values = {part: _values(part, number)[2] for part in set(chain(*self.templates.values()))}
        found: dict[str, None] = {}
        for offset, parts in self.templates.items():
            at = self._prefix(offset)
            found[f"{at}edge"] = None
            for part in parts:
                found.update(dict.fromkeys(_c_string(f"{at}{part}={v}") for v in values[part]))
        return list(found)

    def factors(
        self, sentences: Sequence[Sequence[str]], heads: Heads, n_attributes: int
    ) -> tuple[Any, Any]:
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
        parts = {part: _values(part, number) for part in set(chain(*self.templates.values()))}
        # A row for each distance and word, and one for a place outside the sentence.
        size, distances = len(number) + 1, len(self.templates)
        rows, columns = [], []
        there = np.full((len(words), distances), len(number))
        for k, (offset, names) in enumerate(self.templates.items()):
            at = self._prefix(offset)
            rows.append(np.array([k * size + len(number)]))
            columns.append(_columns([""], heads.get(f"{at}edge", {})))
            for name in names:
                who, which, values = parts[name]
                rows.append(k * size + who)
                columns.append(_columns(values, heads.get(f"{at}{name}", {}))[which])
            inside = np.flatnonzero((position + offset >= 0) & (position + offset < length))
            there[inside, k] = word[inside + offset]
        there += size * np.arange(distances)
        ends = np.arange(0, there.size + 1, distances)
        shape = (len(words), size * distances)
        around = sparse.csr_matrix((np.ones(there.size), there.ravel(), ends), shape=shape)
        return around, _indicators(rows, columns, (size * distances, n_attributes))

    def scores(self, sentences: Sequence[Sequence[str]], heads: Heads, weights: Any) -> Array:
        """Return the summed weights of each token's attributes, one row per token."""
        around, table = self.factors(sentences, heads, weights.shape[0])
        return around @ (table @ weights).toarray()


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


def _values(part: str, words: Iterable[str]) -> tuple[Array, Array, list[str]]:
    """Return the word and the value behind each entry, and the distinct values."""
    entries = [PARTS[part](word) for word in words]
    values = list(chain.from_iterable(entries))
    number = {value: i for i, value in enumerate(dict.fromkeys(values))}
    which = np.fromiter(map(number.__getitem__, values), np.intp, len(values))
    sizes = np.fromiter(map(len, entries), np.intp, len(entries))
    return np.repeat(np.arange(len(entries)), sizes), which, list(number)


def _columns(values: list[str], index: Mapping[str, int]) -> Array:
    """Return the column of each value; -1 for one that the model lacks."""
    if "\0" in "".join(values):
        values = [_c_string(value) for value in values]
    return np.fromiter(map(index.get, values, repeat(-1)), np.intp, len(values))


def _indicators(rows: list[Array], columns: list[Array], shape: tuple[int, int]) -> Any:
    """Return a matrix of ones; a column of -1 stands for none."""
    row, column = np.concatenate(rows), np.concatenate(columns)
    keep = column >= 0
    return sparse.csr_matrix((np.ones(keep.sum()), (row[keep], column[keep])), shape=shape)


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
