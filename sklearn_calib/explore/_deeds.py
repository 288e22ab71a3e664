"""Deeds: who does what to whom, by the dependency patterns of a parse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sklearn_calib.explore._tree import MOST_STEPS, Tree

__all__ = ["Deed", "DeedPatterns"]

# Relations of "an Israeli attack", in which no mention is the agent.
_ADJECTIVES = frozenset({"amod", "compound", "nmod:desc"})
_RELATIVE = frozenset({"who", "which", "that"})
# "accused Iran of attacking", "kept Iran from attacking": the object would attack.
_OF = frozenset({"of"})
_OF_THE_OBJECT = frozenset({"of", "for", "from"})
# "the attack on Monday" is on nobody.
_DAYS_AND_MONTHS = frozenset(
    word
    for words in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "january february march april may june july august september october november december",
        "day night morning evening week month year time",
    )
    for word in words.split()
)


class Deed(NamedTuple):
    """An event, and who does it.

    Attributes
    ----------
    event : int
        Token of the verb or the noun.
    agent : int
        Token of the agent; the event's own where only an adjective names it.
    pattern : str
        Name of the dependency pattern.
    through : int
        The token through which the two are connected, for those who explain it:
        the conjunct, the verb that governs the event, or the event itself.
    """

    event: int
    agent: int
    pattern: str
    through: int


@dataclass(frozen=True, eq=False)
class DeedPatterns:
    """How agents and targets of verbs and nouns are found; see `AgentRule`."""

    subjects: frozenset[str]
    agents: frozenset[str]
    by: frozenset[str]
    against: frozenset[str]
    conjuncts: bool
    control: bool

    def of_verb(self, tree: Tree, verb: int) -> Iterator[Deed]:
        """Yield who does what a verb says."""
        for token in tree.children(verb):
            if tree.relations[token] in self.subjects:
                yield from self._all(tree, Deed(verb, token, "active subject", verb))
                if self.control and _is_relative(tree, verb, token):
                    yield Deed(verb, tree.heads[verb], "relative clause", token)
            elif self._is_passive_agent(tree, token, verb):
                yield from self._all(tree, Deed(verb, token, "passive agent", verb))
        if tree.has_subject(verb) or tree.has_passive_mark(verb):
            return  # a verb that has its own subject, or is passive, does not share another's
        above = tree.heads[verb]
        if above >= 0 and tree.relations[verb] == "conj" and self.conjuncts:
            for token in tree.children(above, self.subjects):
                yield from self._all(tree, Deed(verb, token, "shared subject", above))
        if self.control:
            yield from self._understood(tree, verb)

    def of_noun(self, tree: Tree, noun: int) -> Iterator[Deed]:
        """Yield who does what a noun says, except for adjectives."""
        for token in tree.children(noun):
            relation = tree.relations[token]
            if relation == "nmod:poss" or (
                relation in ("nmod", "nmod:agent", "obl:agent") and tree.case(token) & self.by
            ):
                yield from self._all(tree, Deed(noun, token, "nominal event", noun))

    def adjectives(self, tree: Tree, noun: int) -> list[int]:
        """Return the words before a noun that may say whose deed it is."""
        return [
            token
            for token in tree.children(noun, _ADJECTIVES)
            if token < noun and not tree.case(token)
        ]

    def targets_of_verb(self, tree: Tree, verb: int) -> list[list[int]]:
        """Return what a verb may be done to: the likelier group first."""
        if tree.is_passive(verb):
            found = tree.children(verb, ("nsubj:pass",))
            above = tree.heads[verb]
            if not found and tree.relations[verb] in ("acl", "acl:relcl") and above >= 0:
                found = [above]
        else:
            found = tree.children(verb, ("obj",))
        objects = [other for token in found for other in tree.with_conjuncts(token)]
        return [objects, self._after(tree, verb, ("obl",), self.against)]

    def targets_of_noun(self, tree: Tree, noun: int) -> list[list[int]]:
        """Return the same for a deed that is named by a noun: "an attack on", "the bombing of"."""
        relations = ("nmod", "obl")
        return [
            self._after(tree, noun, relations, self.against),
            self._after(tree, noun, relations, _OF),
        ]

    def _after(
        self, tree: Tree, event: int, relations: tuple[str, ...], words: frozenset[str]
    ) -> list[int]:
        """Return what follows words such as "on" or "against"."""
        return [
            other
            for token in tree.children(event, relations)
            if tree.case(token) & words and tree.lemmas[token] not in _DAYS_AND_MONTHS
            for other in tree.with_conjuncts(token)
        ]

    def _all(self, tree: Tree, deed: Deed) -> Iterator[Deed]:
        """Yield a deed, and those of whoever is joined with its agent by "and"."""
        yield deed
        if self.conjuncts:
            for other in tree.with_conjuncts(deed.agent)[1:]:
                yield deed._replace(agent=other)

    def _is_passive_agent(self, tree: Tree, token: int, verb: int) -> bool:
        if tree.relations[token] in self.agents:
            return True
        return (
            tree.relations[token] == "obl"
            and bool(tree.case(token) & self.by)
            and tree.is_passive(verb)
        )

    def _understood(self, tree: Tree, verb: int) -> Iterator[Deed]:
        """Yield the agents of an infinitive or a participle, which has no subject of its own."""
        relation, above = tree.relations[verb], tree.heads[verb]
        if above < 0:
            return
        participle = tree.words[verb].endswith("ing")
        if relation == "acl" and participle:
            yield from self._all(tree, Deed(verb, above, "participle", above))
        elif relation == "xcomp":
            for token in self._controllers(tree, above, of_object=True):
                yield from self._all(tree, Deed(verb, token, "control subject", above))
        elif relation == "advcl" and (participle or tree.is_infinitive(verb)):
            of_object = bool(tree.marks(verb) & _OF_THE_OBJECT)
            pattern = "participle" if participle else "control subject"
            for token in self._controllers(tree, above, of_object=of_object):
                yield from self._all(tree, Deed(verb, token, pattern, above))

    def _controllers(self, tree: Tree, verb: int, *, of_object: bool) -> list[int]:
        """Return who a verb says will do what it governs: its object, or else its subject.

        "ordered the army to attack"; "the army was ordered to attack"; "hopes to try to attack".
        """
        for _ in range(MOST_STEPS):
            if verb < 0:
                break
            found = tree.children(verb, ("obj", "iobj")) if of_object else []
            found = found or tree.children(verb, self.subjects | {"nsubj:pass"})
            if found or tree.relations[verb] not in ("xcomp", "conj", "advcl"):
                return found
            of_object = tree.relations[verb] == "xcomp"
            verb = tree.heads[verb]
        return []


def _is_relative(tree: Tree, verb: int, subject: int) -> bool:
    """Tell whether a subject stands for what a relative clause describes."""
    relative = tree.relations[verb] == "acl:relcl" and tree.heads[verb] >= 0
    return relative and tree.words[subject] in _RELATIVE
