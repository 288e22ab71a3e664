"""A parse as rules walk it: down to the dependents of a token, and up to its head."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from sklearn_calib.coref import Document

__all__ = ["MOST_STEPS", "Tree"]

# How far a walk goes: no sentence joins or nests more words, and a hostile parse may.
MOST_STEPS = 100

_PASSIVE = re.compile(":pass$")
_SUBJECT = re.compile("subj")


class Tree:
    """The parse of a document, which must have `lemmas`, `heads` and `relations`.

    Attributes
    ----------
    words, lemmas : list of str
        Without case.
    relations : list of str
        The relation of each token to its head.
    heads : list of int
        The head of each token; -1 for a root.
    upos : list of str or None
        Parts of speech.
    own_doubts : dict of int to set of str
        What is known already of what the dependents of a token express.
    """

    def __init__(self, document: Document) -> None:
        self.words: list[str] = [token.casefold() for token in document.tokens]
        self.lemmas: list[str] = [lemma.casefold() for lemma in document.lemmas]
        self.relations: list[str] = document.relations.tolist()
        self.heads: list[int] = document.heads.tolist()
        self.own_doubts: dict[int, set[str]] = {}
        self.upos: list[str] | None = None if document.upos is None else document.upos.tolist()

    @cached_property
    def _below(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for token, head in enumerate(self.heads):
            found.setdefault(head, []).append(token)
        return found

    def children(self, token: int, relations: Collection[str] | None = None) -> list[int]:
        """Return the tokens that depend on a token, by certain relations if they are given."""
        below = self._below.get(token, [])
        if relations is None:
            return below
        return [child for child in below if self.relations[child] in relations]

    def case(self, token: int) -> set[str]:
        """Return the prepositions of a noun."""
        return {self.words[child] for child in self.children(token, ("case",))}

    def marks(self, token: int) -> set[str]:
        """Return the words that introduce a clause: "to", "if", "without"."""
        found = {self.words[child] for child in self.children(token, ("mark",))}
        # "instead of attacking": some parsers call both words prepositions of the verb.
        return found | self.case(token)

    def first_conjunct(self, token: int) -> int:
        """Return the first of the tokens that are joined with a token by "and"."""
        for _ in range(MOST_STEPS):
            if self.relations[token] != "conj" or self.heads[token] < 0:
                break
            token = self.heads[token]
        return token

    def with_conjuncts(self, token: int) -> list[int]:
        """Return a token and all that are joined to it by "and"."""
        found = [token]
        for one in found:  # which grows meanwhile
            found += self._joined.get(one, [])
            if len(found) > MOST_STEPS:
                return found[:MOST_STEPS]
        return found

    @cached_property
    def _joined(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for token, head in enumerate(self.heads):
            if self.relations[token] == "conj":
                found.setdefault(head, []).append(token)
        return found

    def has_subject(self, verb: int) -> bool:
        """Tell whether a verb has a subject of its own."""
        return any(_SUBJECT.search(self.relations[child]) for child in self.children(verb))

    def has_passive_mark(self, verb: int) -> bool:
        """Tell whether a dependent of a verb says that it is passive."""
        return any(_PASSIVE.search(self.relations[child]) for child in self.children(verb))

    def is_infinitive(self, verb: int) -> bool:
        """Tell whether "to" stands before a verb."""
        return any(self.words[child] == "to" for child in self.children(verb))

    def is_passive(self, verb: int) -> bool:
        """Tell whether a verb is passive, which a parse does not always mark."""
        if self.has_passive_mark(verb):
            return True
        # "attacking by night", "to attack by night", "when they attacked by night"
        participle = not self.is_infinitive(verb) and not self.words[verb].endswith("ing")
        if not participle or self.has_subject(verb):
            return False
        # "the town attacked by the army"; "attacked by the army, it fell"; "was bombed and
        # attacked"
        first = self.first_conjunct(verb)
        return self.relations[first] in ("acl", "amod", "advcl") or (
            first != verb and self.has_passive_mark(first)
        )
