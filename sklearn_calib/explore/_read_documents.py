"""What was found in documents that were read by hand."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_calib._validation import Array


@dataclass(frozen=True, eq=False)
class ReadDocuments:
    """Documents that were read, and how often each key was found in them.

    Attributes
    ----------
    place : ndarray of int of shape (n_read,)
        The places of the documents among those of the posterior.
    inclusion : ndarray of float of shape (n_read,)
        The probability with which each of them was drawn.
    counts : ndarray of int of shape (n_read, n_keys)
        How often each key was found.
    """

    place: Array
    inclusion: Array
    counts: Array

    def __len__(self) -> int:
        return len(self.place)

    def select(self, columns: Sequence[int]) -> ReadDocuments:
        """Return the same with these keys alone."""
        return ReadDocuments(self.place, self.inclusion, self.counts[:, list(columns)])

    def pooled(
        self,
        groups: Mapping[Hashable, Iterable[Hashable]],
        keys: Sequence[Hashable],
        how: str | None,
    ) -> ReadDocuments:
        """Return the same for groups of keys: whether there is any of them, or their sum."""
        counts = np.zeros((len(self), len(groups)), dtype=np.int64)
        for at, old in enumerate(groups.values()):
            columns = self.counts[:, [keys.index(key) for key in old]]
            counts[:, at] = columns.sum(axis=1) if how == "sum" else (columns > 0).any(axis=1)
        return ReadDocuments(self.place, self.inclusion, counts)
