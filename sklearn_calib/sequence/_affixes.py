"""Finding the first or last characters of many words in a list, without making strings of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_calib._validation import Array

__all__ = ["LONGEST", "Affixes"]

# The longest prefixes and suffixes that are features.
LONGEST = 4
# Bits of a character: there are 0x110000 of them.
_BITS = 21


class Affixes:
    """A list of prefixes, or of suffixes, in which those of words are found.

    They are kept as a trie with one sorted array for each length: a node is the
    number of its parent and one more character, together an integer.

    Parameters
    ----------
    values : list of str
        The affixes, of 1 to `LONGEST` characters; others are never found.
    at_end : bool
        Whether they are suffixes.
    """

    def __init__(self, values: Sequence[str], *, at_end: bool) -> None:
        self.at_end = at_end
        characters, lengths = self._characters(values)
        parent = np.zeros(len(values), dtype=np.int64)
        # For each length: the nodes, and which of the values each is. The last one is nobody's.
        self._levels: list[tuple[Array, Array]] = []
        for n in range(LONGEST):
            key = parent << _BITS | characters[:, n]
            nodes = np.unique(key[lengths > n])
            parent = np.searchsorted(nodes, key)
            place = np.full(len(nodes) + 1, -1, dtype=np.intc)
            own = np.flatnonzero(lengths == n + 1)
            place[parent[own]] = own
            self._levels.append((np.append(nodes, -1), place))

    def find(self, words: Sequence[str]) -> list[Array]:
        """Return the places of each word's affixes among the values, -1 for what is not there.

        There is one array for each length. A word has no affix longer than itself.
        """
        characters, lengths = self._characters(words)
        parent = np.zeros(len(words), dtype=np.int64)
        known = np.ones(len(words), dtype=bool)
        found = []
        for n, (nodes, place) in enumerate(self._levels):
            key = parent << _BITS | characters[:, n]
            parent = np.searchsorted(nodes[:-1], key)
            known &= (nodes[parent] == key) & (lengths > n)
            found.append(np.where(known, place[parent], np.intc(-1)))
        return found

    def _characters(self, words: Sequence[str]) -> tuple[Array, Array]:
        """Return the code points of the first or last characters, outermost first, and lengths."""
        lengths = np.fromiter(map(len, words), np.intp, len(words))
        if self.at_end:
            words = [word[: -LONGEST - 1 : -1] for word in words]
        codes = np.array(words, dtype=f"U{LONGEST}").view(np.uint32)
        return codes.reshape(len(words), LONGEST).astype(np.int64), lengths
