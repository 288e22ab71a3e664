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
    if heads is None:
        after = [i for i, token in enumerate(tokens) if token.lower() in _AFTER_HEAD]
        # The first such word after the first word of a mention, or the end of the text.
        ends = np.array([*after, len(tokens)], dtype=np.intp)
        following = ends[np.searchsorted(ends[:-1], spans[:, 0], side="right")]
        return np.minimum(following, spans[:, 1]) - 1
    found = np.empty(len(spans), dtype=np.intp)
    word = None if upos is None else np.asarray(upos != "PUNCT", dtype=bool)
    for i, (start, end) in enumerate(spans[:, :2].tolist()):
        own = heads[start:end]
        outside = (own < start) | (own >= end)
        if word is not None:
            chosen = outside & word[start:end]
            outside = chosen if chosen.any() else outside
        found[i] = start + int(np.argmax(outside))
    return found
