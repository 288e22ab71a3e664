"""More features for coreference: repetition, nesting, speakers, containment, number and syntax."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._surface_features import (
    MentionFeatures,
    is_pronoun,
    surface_features,
    where_open,
)

__all__ = ["extended_features"]

# Words that say nothing about what a phrase is about.
_EMPTY = frozenset(
    {"a", "an", "the", "this", "that", "these", "those", "of", "in", "on", "at", "to", "for", "and"}
    | {"'s", "\u2019s", ",", ".", "-", '"', "'", "(", ")", "with", "by", "from", "or"}
    | {"my", "your", "his", "her", "its", "our", "their"}
)

_PLURAL = frozenset({"we", "they"})
_SINGULAR = frozenset({"i", "he", "she", "it"})


def extended_features(document: Document) -> MentionFeatures:
    """Surface features with repetition, nesting, speakers, containment, number and syntax.

    All but repetition is close to the FINAL features of Durrett and Klein.
    Layers that the document lacks are left out.

    Parameters
    ----------
    document : Document
        A document; speakers, lemmas and dependencies are used where there are
        any.

    Returns
    -------
    MentionFeatures
        The features of `surface_features`. For each mention also its number,
        the dependency relation of its head, and how many mentions with the
        same head come before it and after it. For each pair also whether
        one mention lies inside the other, whether the speakers are the same,
        whether one holds the head or all the words of the other, whether the
        lemmas of the heads are equal, and whether the numbers agree.

    See Also
    --------
    surface_features : The features that need no more than words.

    Notes
    -----
    Repetition matters for calibration. If the first mention of an entity is
    wrongly linked, so is all of that entity, and the more often its head comes
    again, the more links are wrong at once. A model that does not look ahead
    is calibrated about mentions and not about links.

    Examples
    --------
    >>> from sklearn_calib.coref import Document, extended_features
    >>> words = ["Ada", "fed", "her", "dog"]
    >>> seen = extended_features(Document("demo", words, mentions=[(0, 1), (2, 3), (2, 4)]))
    >>> int(seen.pair["nested"][2, 1])
    1
    """
    base = surface_features(document)
    types = np.asarray(base.types, dtype=object)
    start, end, head = document.mentions.T
    closed = is_pronoun(types)
    mention: dict[str, Any] = dict(base.mention)
    number = _numbers(document, types)
    mention["number"] = number
    mention["earlier"], mention["later"] = _repetitions(document, types, closed)
    if document.relations is not None:
        mention["relation"] = document.relations[head]
    inside = (start[:, None] <= start) & (end[:, None] >= end)
    pair: dict[str, Any] = {
        **base.pair,
        "nested": _both_ways(inside),
        "number": _agreement(number),
        **_containment(document, closed),
    }
    if document.lemmas is not None:
        lemma = np.array([word.lower() for word in document.lemmas[head]], dtype=object)
        pair["same_lemma"] = where_open(closed, _equal(lemma))
    if document.speakers is not None and len(document):
        speaker = document.speakers[document.sentence_index[start]]
        pair["speaker"] = _agreement(speaker)
    return MentionFeatures(types, mention, base.backoff, pair)


def _repetitions(document: Document, types: Array, closed: Array) -> tuple[Array, Array]:
    """Return how often the head of each mention, or its pronoun, comes before and after it."""
    words = np.array([word.lower() for word in document.tokens[document.mentions[:, 2]]], object)
    same = _equal(np.where(closed, types, words))
    counts = np.tril(same, -1).sum(axis=1), np.triu(same, 1).sum(axis=1)
    steps = np.array(["0", "1", "2", "3", "4 to 7", "8 or more"], dtype=object)
    before, after = (steps[np.searchsorted([1, 2, 3, 4, 8], c, side="right")] for c in counts)
    return before, after


def _equal(values: Array) -> Array:
    codes = np.unique(values.astype(str), return_inverse=True)[1] if len(values) else values
    return np.asarray(codes[:, None] == codes)


def _agreement(values: Array) -> Array:
    """Return 0 where a value is missing, 1 where two differ, 2 where they are equal."""
    known = np.array([v is not None for v in values], dtype=bool)
    return np.where(known[:, None] & known, _equal(values).astype(np.uint8) + np.uint8(1), 0)


def _both_ways(holds: Array) -> Array:
    """Return 1 where the current mention holds the other, 2 where it is held, 3 for both."""
    return holds.astype(np.uint8) + np.uint8(2) * holds.T.astype(np.uint8)


def _numbers(document: Document, types: Array) -> Array:
    """Return "one", "many" or None for each mention."""
    numbers = np.full(len(document), None, dtype=object)
    for i, (start, end, head) in enumerate(document.mentions.tolist()):
        if types[i] in _PLURAL:
            numbers[i] = "many"
        elif types[i] in _SINGULAR:
            numbers[i] = "one"
        elif types[i] in ("PROPER", "NOMINAL"):
            word = document.tokens[head].lower()
            joined = any(t.lower() == "and" for t in document.tokens[head + 1 : end])
            if document.lemmas is not None:
                plural = word != document.lemmas[head].lower() and word not in ("i", "me")
            else:
                plural = word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
            first = document.tokens[start].lower()
            if first in ("these", "those") or plural or joined:
                numbers[i] = "many"
            else:
                numbers[i] = "one"
    return numbers


def _containment(document: Document, closed: Array) -> dict[str, Array]:
    """Return whether mentions hold each other's heads and words."""
    n = len(document)
    words = [token.lower() for token in document.tokens]
    codes: dict[str, int] = {}
    numbers = np.array([codes.setdefault(word, len(codes)) for word in words], dtype=np.intp)
    holds = np.zeros((n, len(codes)), dtype=np.float32)
    for i, (start, end, _) in enumerate(document.mentions.tolist()):
        for token in range(start, end):
            if words[token] not in _EMPTY:
                holds[i, numbers[token]] = 1.0
    heads = numbers[document.mentions[:, 2]] if n else np.empty(0, dtype=np.intp)
    has_head = holds[:, heads] > 0.0  # [i, j]: mention i holds the head of mention j
    size = holds.sum(axis=1)
    shared = holds @ holds.T
    has_words = (shared == size) & (size > 0.0)  # [i, j]: mention i holds all words of j
    return {
        "holds_head": where_open(closed, _both_ways(has_head)),
        "holds_words": where_open(closed, _both_ways(has_words)),
    }
