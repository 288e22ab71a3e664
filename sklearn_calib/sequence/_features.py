"""Features of tokens: what a conditional random field sees of a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib._validation_sequences import check_features, check_tokens, flatten

__all__ = ["FEATURES", "WordFeatures", "attributes_of", "ready_matrix"]


def _word(word: str) -> list[str]:
    return [f"w={word}"]


def _shape(word: str) -> str:
    """Return the kinds of characters, runs of one kind as one: "McDonald-95" is XxXx-0."""
    kinds = [
        "0" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c for c in word
    ]
    return "".join(c for i, c in enumerate(kinds) if i == 0 or c != kinds[i - 1])


def _rich(word: str) -> list[str]:
    lower = word.lower()
    sizes = range(1, min(4, len(lower)) + 1)
    return [
        f"w={word}",
        f"lower={lower}",
        f"shape={_shape(word)}",
        f"length={min(len(word), 12)}",
        *(f"prefix={lower[:n]}" for n in sizes),
        *(f"suffix={lower[-n:]}" for n in sizes),
    ]


def _neighbour(word: str) -> list[str]:
    return [f"w={word}", f"lower={word.lower()}", f"suffix={word[-3:]}", f"shape={_shape(word)}"]


class WordFeatures:
    """Features that each depend on a single word at a fixed distance.

    Their scores can be computed once for each distinct word, and added up.
    """

    def __init__(self, templates: Mapping[int, Callable[[str], list[str]]]) -> None:
        self.templates = templates

    def _of(self, offset: int, word: str) -> list[str]:
        prefix = f"{offset:+d}:" if offset else ""
        return [prefix + name for name in self.templates[offset](word)]

    def _edge(self, offset: int) -> list[str]:
        return [f"{offset:+d}:edge"]

    def attributes(self, sentences: Sequence[Sequence[str]]) -> list[list[list[str]]]:
        """Return a list of attributes for each token of each sentence."""
        check_tokens(sentences)
        distinct = dict.fromkeys(flatten(sentences))
        known = {o: {w: self._of(o, w) for w in distinct} for o in self.templates}
        result = []
        for words in sentences:
            rows: list[list[str]] = []
            for t in range(len(words)):
                row: list[str] = []
                for o in self.templates:
                    at = t + o
                    row += known[o][words[at]] if 0 <= at < len(words) else self._edge(o)
                rows.append(row)
            result.append(rows)
        return result

    def scores(
        self, sentences: Sequence[Sequence[str]], index: Mapping[str, int], weights: Any
    ) -> Array:
        """Return the summed weights of each token's attributes; a row a token."""
        check_tokens(sentences)
        words = flatten(sentences)
        number = {word: i for i, word in enumerate(dict.fromkeys(words))}
        word = np.array([number[w] for w in words])
        lengths = np.array([len(sentence) for sentence in sentences])
        length = np.repeat(lengths, lengths)
        position = np.arange(len(words)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        total: Array | None = None
        for offset in self.templates:
            items = [self._of(offset, w) for w in number]
            who = word
            if offset:
                items.append(self._edge(offset))
                inside = (position + offset >= 0) & (position + offset < length)
                who = np.full(len(words), len(number))
                who[inside] = word[np.flatnonzero(inside) + offset]
            table = (_matrix(_ones(items), index) @ weights).toarray()
            total = table[who] if total is None else np.add(total, table[who], out=total)
        assert total is not None
        return total


FEATURES = {
    "word": WordFeatures({0: _word}),
    "rich": WordFeatures({0: _rich, -1: _neighbour, 1: _neighbour, -2: _word, 2: _word}),
}


def _ones(items: list[list[str]]) -> Iterator[list[tuple[str, float]]]:
    return ([(name, 1.0) for name in item] for item in items)


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

    return _matrix(items(), index)


def _matrix(items: Iterator[list[tuple[str, float]]], index: Mapping[str, int]) -> Any:
    """Return a sparse matrix with a row an item; attributes the model lacks are left out."""
    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    get = index.get
    for item in items:
        for name, value in item:
            column = get(name)
            if column is None and "\0" in name:
                # A zero byte ends a string in C, where the model was trained.
                column = get(name.split("\0", 1)[0])
            if column is not None:
                columns.append(column)
                values.append(value)
        ends.append(len(columns))
    return sparse.csr_matrix((values, columns, ends), shape=(len(ends) - 1, len(index)))
