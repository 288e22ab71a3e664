"""Mentions that a rule finds in a parse: the noun phrases."""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.coref._document import Document

__all__ = ["find_mentions"]

# Dependents that make one name or one word with their head.
_INSIDE = frozenset(
    {"compound", "flat", "fixed", "goeswith", "compound:prt", "flat:name", "nmod:npmod"}
    | {"nmod:desc"}
)
_NOMINAL = frozenset({"NOUN", "PROPN", "PRON"})
# What may stand before a phrase without being a part of it.
_BEFORE = frozenset({"case", "cc", "mark", "punct", "cop", "prep", "discourse", "fixed"})
# What stands beside a phrase: other phrases, asides, and what cannot be analysed.
_BESIDE = frozenset({"conj", "cop", "appos", "parataxis", "dep", "list", "discourse", "vocative"})
# What belongs to the clause, not to the phrase, where a noun is the predicate.
_OF_CLAUSE = frozenset(
    {"nsubj", "nsubj:pass", "csubj", "aux", "advcl", "parataxis", "advmod", "obl"}
)
# Pronouns that open a relative clause repeat the phrase that the clause belongs to.
_RELATIVE = frozenset({"who", "whom", "which", "that"})
_BRACKETS = {"(": ")", "[": "]"}
# How many levels of a parse belong to a phrase: no sentence has so many, and a hostile parse may.
_MOST_LEVELS = 100


def find_mentions(document: Document) -> Array:
    """Find the noun phrases of a parsed document by rule.

    A mention is a noun, a name or a pronoun with all that depends on it,
    without prepositions, conjunctions and punctuation at its ends.

    Conjuncts and appositions are mentions of their own. A name that modifies a
    noun is one, too (*Israel* in *the Israel lobby*). Relative pronouns and the
    *there* of *there is* name nothing, and are none.

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
        if upos[i] not in _NOMINAL or _names_nothing(document, i):
            continue
        if relations[i] in _INSIDE and not _is_name_before_noun(document, i):
            continue
        outside = _BESIDE
        if any(relations[child] == "cop" for child in children[i]):
            outside |= _OF_CLAUSE
        inside, level = {i}, [child for child in children[i] if relations[child] not in outside]
        for _ in range(_MOST_LEVELS):
            if not level:
                break
            inside.update(level)
            level = [below for child in level for below in children[child]]
        start = end = i
        while start - 1 in inside:
            start -= 1
        while end + 1 in inside:
            end += 1
        # An adverb of the whole phrase, as in "only one study".
        while start < i and (
            relations[start] in _BEFORE or (relations[start] == "advmod" and heads[start] == i)
        ):
            start += 1
        while end > i and relations[end] in ("punct", "cc"):
            end -= 1
        found.append((start, _closed(document, start, end + 1), i))
    if not found:
        return np.empty((0, 3), dtype=np.intp)
    return np.array(sorted(set(found)), dtype=np.intp)


def _names_nothing(document: Document, i: int) -> bool:
    """Tell whether a token is a relative pronoun, or the "there" of "there is"."""
    head, word = document.heads[i], document.tokens[i].lower()
    if document.upos[i] != "PRON":
        return False
    if document.relations[i] == "expl":
        return word == "there"
    return word in _RELATIVE and head >= 0 and document.relations[head] == "acl:relcl"


def _is_name_before_noun(document: Document, i: int) -> bool:
    """Tell whether a token is a name that modifies a noun which is none."""
    return (
        document.relations[i] == "compound"
        and document.upos[i] == "PROPN"
        and document.upos[document.heads[i]] != "PROPN"
    )


def _closed(document: Document, start: int, end: int) -> int:
    """Return the end of a phrase with the bracket that closes one within it."""
    words = document.tokens[start:end].tolist()
    for opening, closing in _BRACKETS.items():
        if (
            end < len(document.tokens)
            and document.tokens[end] == closing
            and words.count(opening) > words.count(closing)
        ):
            return end + 1
    return end
