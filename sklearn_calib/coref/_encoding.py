"""Features as numbers: which parameters of the model each mention and pair uses.

The score of antecedent a for mention i is a sum of three parts,

    score(i, a) = U[i, type(a)] + V[a, type(i)] + P[code(i, a)],

because a feature fires alone or together with the two types only. U and V have
one row per mention and one column per type; P has one row per distinct combination
of pair features and types. So the cost of a pair does not grow with the number
of features.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib.coref._surface_features import MentionFeatures

__all__ = ["EncodedDocument", "Encoder", "Weights"]

# Combinations of pair features are numbered below it.
_LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class EncodedDocument:
    """One document as numbers.

    `alone` and `typed` have one row per mention: its features, and its features
    together with its own type. `codes` has one entry per pair, and points at a
    row of `pairs`; pairs that are no candidates point behind the last row. The
    columns of `pairs` are the two types and the category of each pair feature.
    """

    types: Array
    alone: Any
    typed: Any
    codes: Array
    pairs: Array


@dataclass(frozen=True, eq=False)
class Weights:
    """The parameters of the model, as views of one vector.

    `new` scores a new entity, `current` and `antecedent` a link: by feature, and
    by feature with the type of its mention and that of the other one.
    """

    new: Array
    new_typed: Array
    current: Array
    current_typed: Array
    antecedent: Array
    antecedent_typed: Array
    pair: Array
    pair_typed: Array

    @staticmethod
    def shapes(encoder: Encoder) -> list[tuple[int, ...]]:
        """Return the shape of each part."""
        f, g, t, p = encoder.n_alone, encoder.n_typed, encoder.n_types, encoder.n_pair
        return [(f,), (g,), (f,), (g, t), (f,), (g, t), (p,), (p, t, t)]

    @classmethod
    def of(cls, vector: Array, encoder: Encoder) -> Weights:
        """Cut a vector into its parts."""
        parts, start = [], 0
        for shape in cls.shapes(encoder):
            size = int(np.prod(shape))
            parts.append(vector[start : start + size].reshape(shape))
            start += size
        return cls(*parts)


class Encoder:
    """Learns which features exist, and turns features into numbers.

    Parameters
    ----------
    min_count : int
        A value with a backoff needs to be seen so often to have weights of
        its own.
    max_antecedents : int or None
        How many mentions back an antecedent may be.
    """

    def __init__(self, min_count: int, max_antecedents: int | None) -> None:
        self.min_count = min_count
        self.max_antecedents = max_antecedents

    def fit(self, seen: Sequence[MentionFeatures], weight: Array | None = None) -> Encoder:
        """Learn the types, the values of each feature, and the categories of pairs.

        A document of weight w counts as w documents.
        """
        times = [1] * len(seen) if weight is None else weight.tolist()
        self.types = {name: i for i, name in enumerate(sorted({t for s in seen for t in s.types}))}
        self.n_types = len(self.types)
        # Number 0 is the constant feature, which fires for every mention.
        self.values: dict[str, dict[str, int]] = {}
        self.n_alone = 1
        for name in _names(seen, "mention"):
            count: Counter[str] = Counter()
            for s, w in zip(seen, times, strict=True):
                for value in s.mention.get(name, ()):
                    if value is not None:
                        count[value] += w
            backed = {v for s in seen for v in s.backoff.get(name, ()) if v is not None}
            least = self.min_count if backed else 1
            kept = sorted(v for v, c in count.items() if c >= least)
            numbers = {f"={v}": self.n_alone + i for i, v in enumerate(kept)}
            self.n_alone += len(kept)
            numbers |= {f"~{v}": self.n_alone + i for i, v in enumerate(sorted(backed))}
            self.n_alone += len(backed)
            self.values[name] = numbers
        # One more category for those that training has not seen.
        self.sizes = {
            name: 1 + max(int(np.max(s.pair[name], initial=0)) for s in seen if name in s.pair)
            for name in _names(seen, "pair")
        }
        self.n_pair = sum(self.sizes.values())
        # A feature together with its type has a number only if training has seen the two together.
        used: set[int] = set()
        for s in seen:
            columns, indptr = self._columns(s)
            types = np.repeat(self._types(s), np.diff(indptr))
            used.update(np.unique(columns * self.n_types + types).tolist())
        self._set_typed(np.array(sorted(used), dtype=np.intp))
        return self

    def _set_typed(self, typed: Array) -> None:
        self.typed = typed
        self.n_typed = len(typed)
        self.n_weights = sum(int(np.prod(shape)) for shape in Weights.shapes(self))

    def names(self) -> dict[str, Any]:
        """Return all names that were learnt, in the order of their numbers."""
        return {
            "types": list(self.types),
            "values": {name: list(numbers) for name, numbers in self.values.items()},
            "sizes": dict(self.sizes),
        }

    def restore(self, names: Mapping[str, Any], typed: Array) -> Encoder:
        """Take what `names` returned, and the features with types, in place of `fit`."""
        self.types = {name: i for i, name in enumerate(names["types"])}
        self.n_types = len(self.types)
        self.values = {}
        self.n_alone = 1
        for name, values in names["values"].items():
            self.values[name] = {v: self.n_alone + i for i, v in enumerate(values)}
            self.n_alone += len(values)
        self.sizes = dict(names["sizes"])
        self.n_pair = sum(self.sizes.values())
        self._set_typed(typed)
        return self

    def _types(self, seen: MentionFeatures) -> Array:
        """Return types as numbers; one that training has not seen has the last number."""
        return np.array([self.types.get(t, self.n_types) for t in seen.types], dtype=np.intp)

    def _columns(self, seen: MentionFeatures) -> tuple[Array, Array]:
        """Return the features of each mention, end to end, and where each mention starts."""
        n = len(seen.types)
        rows: list[list[int]] = [[0] for _ in range(n)]
        for name, numbers in self.values.items():
            values = seen.mention.get(name)
            if values is None:
                continue
            backoff: Any = seen.backoff.get(name, (None,) * n)
            for row, value, rare in zip(rows, values, backoff, strict=True):
                if value is not None:
                    number = numbers.get(f"={value}")
                    if number is None:
                        number = numbers.get(f"~{rare}")
                    if number is not None:
                        row.append(number)
        indptr = np.cumsum([0, *map(len, rows)])
        return np.array([c for row in rows for c in row], dtype=np.intp), indptr

    def encode(self, seen: MentionFeatures) -> EncodedDocument:
        """Return a document as numbers."""
        types = self._types(seen)
        columns, indptr = self._columns(seen)
        n = len(types)
        alone = _matrix(columns, indptr, self.n_alone)
        of_type = np.repeat(types, np.diff(indptr))
        wanted = np.where(of_type < self.n_types, columns * self.n_types + of_type, -1)
        at = np.searchsorted(self.typed, wanted)
        at[at == self.n_typed] = 0
        known = self.typed[at] == wanted
        lengths = np.add.reduceat(known, indptr[:-1]) if n else np.empty(0, dtype=np.intp)
        typed = _matrix(at[known], np.concatenate([[0], np.cumsum(lengths)]), self.n_typed)
        codes, pairs = self._pairs(seen, types)
        return EncodedDocument(types, alone, typed, codes, pairs)

    def _pairs(self, seen: MentionFeatures, types: Array) -> tuple[Array, Array]:
        n = len(types)
        candidate = np.tri(n, k=-1, dtype=bool)
        if self.max_antecedents is not None:
            candidate &= ~np.tri(n, k=-1 - min(self.max_antecedents, n), dtype=bool)
        row, column = np.nonzero(candidate)
        example, inverse = self.distinct(self._categories(seen, types, row, column))
        codes = np.full((n, n), len(example), dtype=np.int32)
        codes[candidate] = inverse
        pairs = self._categories(seen, types, row[example], column[example])
        return codes, np.column_stack(list(pairs))

    def _categories(
        self, seen: MentionFeatures, types: Array, row: Array, column: Array
    ) -> Iterator[Array]:
        """Yield the two types of some pairs, and then their category of each feature."""
        yield types[row]
        yield types[column]
        for name, size in self.sizes.items():
            if name in seen.pair:
                yield np.minimum(seen.pair[name][row, column].astype(np.intp), size)
            else:
                yield np.full(len(row), size)

    def distinct(self, columns: Iterable[Array]) -> tuple[Array, Array]:
        """Return where each distinct row of some columns is found, and which one each row is.

        Distinct rows are in lexicographic order.
        """
        bases = [self.n_types + 1] * 2 + [size + 1 for size in self.sizes.values()]
        code, bound = np.zeros(1, dtype=np.intp), 1
        for values, base in zip(columns, bases, strict=True):
            if bound * base > _LARGEST:
                # Too many combinations for one number: number those that there are.
                present, code = np.unique(code, return_inverse=True)
                bound = len(present)
            code = code * base + values
            bound *= base
        return _distinct(code, bound)

    def pair_matrix(self, pairs: Array) -> tuple[Any, Any]:
        """Return which pair features each row of categories fires, alone and with types."""
        current, antecedent = pairs[:, :2].T
        known = (current < self.n_types) & (antecedent < self.n_types)
        both = current * self.n_types + antecedent
        number = np.arange(len(pairs))
        rows, alone, typed = [], [], []
        offset = 0
        for category, size in zip(pairs[:, 2:].T, self.sizes.values(), strict=True):
            here = category < size
            rows.append(number[here])
            alone.append(offset + category[here])
            with_types = (offset + category) * self.n_types**2 + both
            typed.append(np.where(known, with_types, -1)[here])
            offset += size
        row, one, two = (
            np.concatenate([np.empty(0, dtype=np.intp), *parts]) for parts in (rows, alone, typed)
        )
        return (
            _indicator(row, one, (len(pairs), self.n_pair)),
            _indicator(row[two >= 0], two[two >= 0], (len(pairs), self.n_pair * self.n_types**2)),
        )


def _names(seen: Sequence[MentionFeatures], kind: str) -> list[str]:
    """Return the names of all features, in order of first appearance."""
    kinds: list[Mapping[str, Any]] = [getattr(s, kind) for s in seen]
    return list(dict.fromkeys(name for features in kinds for name in features))


def _matrix(columns: Array, indptr: Array, width: int) -> Any:
    return sparse.csr_array(
        (np.ones(len(columns)), columns, indptr), shape=(len(indptr) - 1, width)
    )


def _indicator(rows: Array, columns: Array, shape: tuple[int, int]) -> Any:
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _distinct(code: Array, bound: int) -> tuple[Array, Array]:
    """Return where each distinct code is found, and where each code stands among them."""
    inverse: Array
    if bound > max(1 << 20, 4 * len(code)):
        present, inverse = np.unique(code, return_inverse=True)
    else:
        seen = np.zeros(bound, dtype=bool)
        seen[code] = True
        present = np.flatnonzero(seen)
        place = np.zeros(bound, dtype=np.int32)
        place[present] = np.arange(len(present), dtype=np.int32)
        inverse = place[code]
    example = np.empty(len(present), dtype=np.intp)
    example[inverse] = np.arange(len(code))
    return example, inverse
