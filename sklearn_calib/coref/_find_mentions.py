"""Mentions that a rule finds in a parse: the noun phrases."""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.coref._document import Document

__all__ = ["find_mentions"]

# Dependents that make one name or one word with their head.
_INSIDE = frozenset(
    {"compound", "flat", "fixed", "goeswith", "compound:prt", "flat:name", "nmod:npmod"}
)
_NOMINAL = frozenset({"NOUN", "PROPN", "PRON"})
# What may stand before a phrase without being a part of it.
_BEFORE = frozenset({"case", "cc", "mark", "punct", "cop", "prep"})
# What belongs to the clause, not to the phrase, where a noun is the predicate.
_OF_CLAUSE = frozenset(
    {"nsubj", "nsubj:pass", "csubj", "aux", "advcl", "parataxis", "advmod", "obl"}
)


def find_mentions(document: Document) -> Array:
    """Find the noun phrases of a parsed document by rule.

    A mention is a noun, a name or a pronoun with all that depends on it,
    without prepositions, conjunctions and punctuation at its ends.

    Parameters
    ----------
    document : Document
        A document with `upos`, `heads` and `relations`.

    Returns
    -------
    ndarray of int of shape (n_mentions, 3)
        Start, end (exclusive) and head of each mention, sorted.

    See Also
    --------
    Document : Takes these mentions.

    Examples
    --------
    >>> from sklearn_calib.coref import Document, find_mentions
    >>> doc = Document(
    ...     "demo",
    ...     ["She", "fed", "the", "dog"],
    ...     upos=["PRON", "VERB", "DET", "NOUN"],
    ...     heads=[1, -1, 3, 1],
    ...     relations=["nsubj", "root", "det", "obj"],
    ... )
    >>> find_mentions(doc)
    array([[0, 1, 0],
           [2, 4, 3]])
    """
    for name in ("upos", "heads", "relations"):
        if getattr(document, name) is None:
            raise ValueError(
                f"Document {document.id!r} has no {name}: mentions can be found only in parsed "
                "text. Parse it first, or pass mentions of your own."
            )
    heads, relations, upos = document.heads, document.relations, document.upos
    n = len(heads)
    children: list[list[int]] = [[] for _ in range(n)]
    for i, head in enumerate(heads.tolist()):
        if head >= 0:
            children[head].append(i)
    found = []
    for i in range(n):
        if upos[i] not in _NOMINAL or relations[i] in _INSIDE:
            continue
        # The conjuncts of a phrase are phrases of their own.
        outside = {"conj", "cop"}
        if any(relations[child] == "cop" for child in children[i]):
            outside |= _OF_CLAUSE
        inside, todo = {i}, [child for child in children[i] if relations[child] not in outside]
        while todo:
            token = todo.pop()
            if token not in inside:  # else the parse has a cycle
                inside.add(token)
                todo += children[token]
        start = end = i
        while start - 1 in inside:
            start -= 1
        while end + 1 in inside:
            end += 1
        while start < i and relations[start] in _BEFORE:
            start += 1
        while end > i and relations[end] in ("punct", "cc"):
            end -= 1
        found.append((start, end + 1, i))
    if not found:
        return np.empty((0, 3), dtype=np.intp)
    return np.array(sorted(set(found)), dtype=np.intp)
