"""Which predicted mention is which true one, and the entities that follow."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_option
from sklearn_calib._validation_documents import check_sequence
from sklearn_calib.coref._document import Document

__all__ = [
    "MATCHES",
    "align_mentions",
    "comparable",
    "matched_places",
    "span_array",
    "transfer_entities",
]

MATCHES = ("span", "head")


def align_mentions(
    gold: Document | ArrayLike, predicted: Document | ArrayLike, *, match: str = "span"
) -> Array:
    """Find the true mention of each predicted mention, one to one.

    Parameters
    ----------
    gold : Document or array-like of int of shape (n_gold, 2 or 3)
        The true mentions: a document, or start, end (exclusive) and
        optionally head of each.
    predicted : Document or array-like of int of shape (n_predicted, 2 or 3)
        The predicted mentions of the same text.
    match : {"span", "head"}, default="span"
        Mentions are the same if they start and end together, or also if they
        have the same head. Equal spans go first; where several mentions
        share a head, those that share most of their words belong together.

    Returns
    -------
    ndarray of int of shape (n_predicted,)
        The number of the true mention of each predicted one, -1 if it has
        none. No true mention is given twice.

    See Also
    --------
    transfer_entities : Gives predicted mentions the entities of the true ones.
    coreference_scores : Scores entities of mentions that differ.
    find_mentions : Predicts mentions from a parse.

    Notes
    -----
    Two documents may be cut into words differently as long as they have the
    same characters: their mentions are then compared by character, spaces
    left out. If the characters differ, for example in the form of quotation
    marks, both need the same number of words.

    Examples
    --------
    >>> from sklearn_calib.coref import align_mentions
    >>> align_mentions([(0, 1), (3, 6)], [(0, 1), (2, 3), (3, 5)])
    array([ 0, -1, -1])

    The third mention ends too early, but has the right head:

    >>> align_mentions([(0, 1, 0), (3, 6, 4)], [(0, 1, 0), (2, 3, 2), (3, 5, 4)], match="head")
    array([ 0, -1,  1])
    """
    check_option(match, "match", MATCHES)
    if isinstance(gold, Document) and isinstance(predicted, Document):
        true, guess = comparable(gold, predicted)
    elif isinstance(gold, Document) or isinstance(predicted, Document):
        raise TypeError(
            "gold and predicted must both be documents or both be arrays of spans; got "
            f"{type(gold).__name__} and {type(predicted).__name__}."
        )
    else:
        true, guess = span_array(gold, "gold"), span_array(predicted, "predicted")
    return matched_places(true, guess, match)


def transfer_entities(gold: Document, predicted: Document, *, match: str = "head") -> Document:
    """Give predicted mentions the entities of the true mentions that they match.

    So a model can be trained, and its links calibrated, on the mentions that
    it will meet. A predicted mention that matches no true one is an entity of
    its own.

    Parameters
    ----------
    gold : Document
        The text with its true mentions and entities.
    predicted : Document
        The same text with predicted mentions, for example from
        `find_mentions`.
    match : {"head", "span"}, default="head"
        When two mentions are the same; see `align_mentions`.

    Returns
    -------
    Document
        The document `predicted` with entities.

    See Also
    --------
    align_mentions : The match itself.
    AntecedentModel : Is trained on such documents.

    Examples
    --------
    >>> from sklearn_calib.coref import Document, transfer_entities
    >>> words = "Ada met Eve . She smiled .".split()
    >>> gold = Document("d", words, mentions=[(0, 1), (4, 5)], entities=["Ada", "Ada"])
    >>> predicted = Document("d", words, mentions=[(0, 1), (2, 3), (4, 5)])
    >>> transfer_entities(gold, predicted).entities
    array([0, 1, 0])
    """
    for name, document in (("gold", gold), ("predicted", predicted)):
        if not isinstance(document, Document):
            raise TypeError(f"{name} must be a Document, got {type(document).__name__}.")
    if gold.entities is None:
        raise ValueError(f"gold, document {gold.id!r}, has no entities to transfer.")
    found = align_mentions(gold, predicted, match=match)
    # Numbers below zero cannot be those of a true entity of this list.
    names = [("gold", int(gold.entities[g])) if g >= 0 else ("new", i) for i, g in enumerate(found)]
    return predicted.replace(entities=names)


def span_array(values: Any, name: str) -> Array:
    """Return start, end and head of mentions; the head is -1 where it is not known."""
    given = check_sequence(values, name, "mentions")
    if len(given) == 0:
        return np.empty((0, 3), dtype=np.intp)
    try:
        spans = np.asarray(given)
    except ValueError:
        spans = np.empty(0)
    if spans.ndim != 2 or spans.shape[1] not in (2, 3) or spans.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold start, end (exclusive) and optionally head of each mention, as "
            f"integers; got {'ragged rows' if spans.size == 0 else f'shape {spans.shape}'}."
        )
    bad = (spans[:, 0] < 0) | (spans[:, 1] <= spans[:, 0])
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(
            f"{name}, mention {i}: it covers words {spans[i, 0]} to {spans[i, 1]} (exclusive), "
            "and so none at all."
        )
    if spans.shape[1] == 2:
        spans = np.column_stack([spans, np.full(len(spans), -1)])
    return spans.astype(np.intp)


def comparable(gold: Document, predicted: Document) -> tuple[Array, Array]:
    """Return the mentions of two documents in places that can be compared."""
    sizes = [
        np.cumsum([0, *(len("".join(token.split())) for token in document.tokens)])
        for document in (gold, predicted)
    ]
    texts = ["".join("".join(d.tokens).split()) for d in (gold, predicted)]
    if texts[0] != texts[1]:
        if len(gold.tokens) != len(predicted.tokens):
            at = next(
                (i for i, pair in enumerate(zip(*texts, strict=False)) if pair[0] != pair[1]),
                min(map(len, texts)),
            )
            found = [text[at : at + 20] for text in texts]
            raise ValueError(
                f"Documents {gold.id!r} and {predicted.id!r} are not the same text: the first has "
                f"{found[0]!r} where the second has {found[1]!r}, and they have "
                f"{len(gold.tokens)} and {len(predicted.tokens)} words. Mentions can only be "
                "compared within one text."
            )
        return gold.mentions, predicted.mentions
    if all(len(size) == len(sizes[0]) and (size == sizes[0]).all() for size in sizes):
        return gold.mentions, predicted.mentions
    return sizes[0][gold.mentions], sizes[1][predicted.mentions]


def matched_places(gold: Array, predicted: Array, match: str) -> Array:
    """Return the true mention of each predicted one, or -1; both are checked."""
    found = np.full(len(predicted), -1, dtype=np.intp)
    waiting: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for g, (start, end, _) in enumerate(gold.tolist()):
        waiting[start, end].append(g)
    for i, (start, end, _) in enumerate(predicted.tolist()):
        if waiting[start, end]:
            found[i] = waiting[start, end].pop(0)
    if match == "span":
        return found
    for name, spans in (("gold", gold), ("predicted", predicted)):
        if (spans[:, 2] < 0).any():
            raise ValueError(
                f'match="head" needs the head of every mention, and {name} has none. Pass them '
                "as a third column, or pass documents."
            )
    free = np.ones(len(gold), dtype=bool)
    free[found[found >= 0]] = False
    by_head: defaultdict[int, list[int]] = defaultdict(list)
    for g in np.flatnonzero(free).tolist():
        by_head[gold[g, 2]].append(g)
    candidates = [
        (-_overlap(gold[g], predicted[i]), g, i)
        for i in np.flatnonzero(found < 0).tolist()
        for g in by_head.get(predicted[i, 2], ())
    ]
    for _, g, i in sorted(candidates):
        if free[g] and found[i] < 0:
            free[g] = False
            found[i] = g
    return found


def _overlap(one: Array, other: Array) -> float:
    """Return the share of the words of either span that both cover."""
    both = min(one[1], other[1]) - max(one[0], other[0])
    return float(both / (max(one[1], other[1]) - min(one[0], other[0])))
