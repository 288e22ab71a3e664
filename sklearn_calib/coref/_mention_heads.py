"""The head word of a mention."""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array

__all__ = ["mention_heads"]

# Words after the head of an English noun phrase, for texts without a parse.
_AFTER_HEAD = frozenset(
    {",", "(", "-", "--", "of", "in", "on", "at", "from", "to", "with", "for", "by", "about"}
    | {"who", "whom", "whose", "which", "that", "where", "when"}
)


def mention_heads(spans: Array, tokens: Array, heads: Array | None, upos: Array | None) -> Array:
    """Return the head token of each mention.

    With a parse it is the first token that depends on a token outside the
    mention, a mark of punctuation only if there is nothing else. Without one it
    is the last token before the first comma, preposition or relative pronoun.
    """
    found = np.empty(len(spans), dtype=np.intp)
    for i, (start, end) in enumerate(spans[:, :2].tolist()):
        if heads is not None:
            outside = (heads[start:end] < start) | (heads[start:end] >= end)
            if upos is not None and (outside & (upos[start:end] != "PUNCT")).any():
                outside &= upos[start:end] != "PUNCT"
            found[i] = start + int(np.argmax(outside))
            continue
        head = start
        while head + 1 < end and tokens[head + 1].lower() not in _AFTER_HEAD:
            head += 1
        found[i] = head
    return found
