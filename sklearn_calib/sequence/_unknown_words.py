"""What a hidden Markov model makes of words that it has never seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

__all__ = ["UNKNOWN", "learn_signatures", "signatures"]

UNKNOWN = ("signature", "hapax", "uniform", "dirichlet")

# A signature needs so many words that were seen once; rarer ones are pooled.
LEAST = 5
ANY = "<unknown>"

_DIGIT = re.compile(r"\d")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def _shape(word: str) -> str:
    """Return which kinds of characters a word has."""
    kinds = ""
    if _DIGIT.search(word):
        kinds += "0"
    if word[:1].isupper():
        kinds += "A" if word.isupper() and len(word) > 1 else "X"
    if "-" in word:
        kinds += "-"
    if not _LETTER_OR_DIGIT.search(word):
        kinds += "."
    return kinds


def signatures(word: str) -> Iterator[str]:
    """Yield what stands for an unknown word, from the most to the least specific."""
    shape = _shape(word)
    lower = word.lower()
    for size in (4, 3, 2, 1):
        if len(word) > size:
            yield f"{shape}*{lower[-size:]}"
    yield f"{shape}*"
    yield ANY


def learn_signatures(words: list[str]) -> list[str]:
    """Return the signatures that enough words have, after the specific ones took theirs.

    Each word is counted for one signature only, so that the symbols of the
    model remain disjoint.
    """
    chains = [list(signatures(word)) for word in words]
    kept: list[str] = []
    for level in range(max((len(chain) for chain in chains), default=1) - 1, 0, -1):
        # Counted from the end, a level means the same for short words and long ones.
        count = Counter(chain[-level - 1] for chain in chains if len(chain) > level)
        fine = {name for name, times in count.items() if times >= LEAST}
        kept += sorted(fine)
        chains = [c for c in chains if not (len(c) > level and c[-level - 1] in fine)]
    return [*kept, ANY]
