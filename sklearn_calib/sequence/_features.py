"""Features of tokens: what a conditional random field sees of a sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib._validation_sequences import check_features, check_tokens, flatten

__all__ = ["FEATURES", "WordFeatures", "attributes_of", "ready_matrix"]


class _Kinds(dict[int, str]):
    """The kind of each character, found when it is first met: a table for str.translate."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        kind = "0" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c
        self[code] = kind
        return kind


_KINDS = _Kinds()
_RUN = re.compile(r"(.)\1+", re.DOTALL)


@lru_cache(maxsize=2**16)
def _shape(word: str) -> str:
    """Return the kinds of characters, runs of one kind as one: "McDonald-95" is XxXx-0."""
    return _RUN.sub(r"\1", word.translate(_KINDS))


def _word(at: str, word: str) -> list[str]:
    return [f"{at}w={word}"]


def _rich(at: str, word: str) -> list[str]:
    lower = word.lower()
    sizes = range(1, min(4, len(lower)) + 1)
    return [
        f"{at}w={word}",
        f"{at}lower={lower}",
        f"{at}shape={_shape(word)}",
        f"{at}length={min(len(word), 12)}",
        *[f"{at}prefix={lower[:n]}" for n in sizes],
        *[f"{at}suffix={lower[-n:]}" for n in sizes],
    ]


def _neighbour(at: str, word: str) -> list[str]:
    return [
        f"{at}w={word}",
        f"{at}lower={word.lower()}",
        f"{at}suffix={word[-3:]}",
        f"{at}shape={_shape(word)}",
    ]


class WordFeatures:
    """Features that each depend on a single word at a fixed distance.

    Their scores can be computed once for each distinct word, and added up.
    """

    def __init__(self, templates: Mapping[int, Callable[[str, str], list[str]]]) -> None:
        self.templates = templates

    def _items(self, offset: int, words: Collection[str]) -> list[list[str]]:
        """Return the attributes of each word, and last those of a place outside the sentence."""
        make, at = self.templates[offset], f"{offset:+d}:" if offset else ""
        items = [make(at, word) for word in words]
        if any("\0" in word for word in words):
            items = [[_c_string(name) for name in item] for item in items]
        return [*items, [f"{at}edge"]]

    def attributes(self, sentences: Sequence[Sequence[str]]) -> list[list[list[str]]]:
        """Return a list of attributes for each token of each sentence."""
        check_tokens(sentences)
        number = _numbered(flatten(sentences))
        items = {offset: self._items(offset, number) for offset in self.templates}
        result = []
        for words in sentences:
            rows: list[list[str]] = []
            for t in range(len(words)):
                row: list[str] = []
                for o in self.templates:
                    at = t + o
                    row += items[o][number[words[at]] if 0 <= at < len(words) else -1]
                rows.append(row)
            result.append(rows)
        return result

    def scores(
        self, sentences: Sequence[Sequence[str]], index: Mapping[str, int], weights: Any
    ) -> Array:
        """Return the summed weights of each token's attributes; a row a token."""
        check_tokens(sentences)
        words = flatten(sentences)
        number = _numbered(words)
        word = np.fromiter(map(number.__getitem__, words), np.intp, len(words))
        lengths = np.array([len(sentence) for sentence in sentences])
        length = np.repeat(lengths, lengths)
        position = np.arange(len(words)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        total: Array | None = None
        for offset in self.templates:
            who = word
            if offset:
                inside = (position + offset >= 0) & (position + offset < length)
                who = np.full(len(words), len(number))
                who[inside] = word[np.flatnonzero(inside) + offset]
            table = (_names_matrix(self._items(offset, number), index) @ weights).toarray()
            total = table[who] if total is None else np.add(total, table[who], out=total)
        assert total is not None
        return total


FEATURES = {
    "word": WordFeatures({0: _word}),
    "rich": WordFeatures({0: _rich, -1: _neighbour, 1: _neighbour, -2: _word, 2: _word}),
}


def _numbered(words: Iterable[str]) -> dict[str, int]:
    """Give each distinct word a number."""
    return {word: i for i, word in enumerate(dict.fromkeys(words))}


def _names_matrix(items: list[list[str]], index: Mapping[str, int]) -> Any:
    """Return the 0/1 matrix of attributes; those that the model lacks are left out."""
    names = flatten(items)
    columns = np.fromiter(map(index.get, names, repeat(-1)), np.intp, len(names))
    rows = np.repeat(np.arange(len(items)), [len(item) for item in items])
    keep = columns >= 0
    shape = (len(items), len(index))
    return sparse.csr_matrix((np.ones(keep.sum()), (rows[keep], columns[keep])), shape=shape)


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
        return [(name, 1.0) for name in item]
    found: list[tuple[str, float]] = []
    for key, value in item.items():
        if isinstance(value, (Mapping, list, set)):
            found += [(f"{key}:{name}", inner) for name, inner in attributes_of(value)]
        elif isinstance(value, str):
            found.append((f"{key}:{value}", 1.0))
        else:
            found.append((key, float(value)))
    return found


def ready_matrix(sentences: Sequence[Sequence[Any]], index: Mapping[str, int]) -> Any:
    """Return the attributes of tokens that come with features, as a sparse matrix."""
    check_features(sentences)

    def items() -> Iterator[list[tuple[str, float]]]:
        for i, sentence in enumerate(sentences):
            for t, item in enumerate(sentence):
                found = attributes_of(item)
                for name, value in found:
                    if not math.isfinite(value):
                        raise ValueError(f"X[{i}][{t}] has the feature {name!r} = {value}.")
                yield found

    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    for item in items():
        for name, value in item:
            column = index.get(_c_string(name) if "\0" in name else name)
            if column is not None:
                columns.append(column)
                values.append(value)
        ends.append(len(columns))
    return sparse.csr_matrix((values, columns, ends), shape=(len(ends) - 1, len(index)))
