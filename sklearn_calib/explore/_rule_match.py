"""RuleMatch: why a rule holds for an entity."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn_calib._results import Result
from sklearn_calib.coref import Document
from sklearn_calib.explore._deeds import Deed

__all__ = ["Name", "RuleMatch", "describe"]

# Tokens of a clause that are shown as they stand; of a longer one, its parts.
_SHOWN = 14


@dataclass(frozen=True, eq=False, repr=False)
class RuleMatch(Result):
    """One reason for which a rule holds for an entity.

    Attributes
    ----------
    key : object
        What the entity counts as for this reason.
    verb : int
        Token of the verb, or of the noun of a nominal event.
    agent : int or None
        Token of the agent, the head of a mention; None where only an adjective
        says whose deed it is.
    target : int or None
        Token of what it was done to, if it is there.
    named : int
        Token that names the country, in the same mention or another one.
    pattern : str
        Name of the dependency pattern: "active subject", "passive agent", "shared
        subject", "control subject", "participle", "relative clause" or "nominal
        event".
    reason : str
        The same as a sentence.

    See Also
    --------
    AgentRule.explain : Makes these objects.

    Examples
    --------
    >>> from sklearn_calib.coref import Document
    >>> from sklearn_calib.explore import AgentRule
    >>> doc = Document(
    ...     "demo",
    ...     "Israeli forces attacked Gaza .".split(),
    ...     lemmas="israeli force attack Gaza .".split(),
    ...     heads=[1, 2, -1, 2, 2],
    ...     relations=["amod", "nsubj", "root", "obj", "punct"],
    ...     mentions=[(0, 2), (3, 4)],
    ... )
    >>> [match] = AgentRule({"ISR": ["Israel", "Israeli"]}).explain(doc, (0,))
    >>> match
    Israeli forces attacked Gaza: 'forces' is the subject of 'attacked'; 'Israeli' names ISR
    >>> match.key, match.verb, match.agent, match.target, match.pattern
    ('ISR', 2, 1, 3, 'active subject')
    """

    key: Hashable
    verb: int
    agent: int | None
    target: int | None
    named: int
    pattern: str
    reason: str

    _shows_table = False

    def _sentence(self) -> str:
        return self.reason

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {name: [value] for name, value in vars(self).items()}


class Name(NamedTuple):
    """A name of a country in a text: its token that matters, where it starts and ends."""

    token: int
    start: int
    end: int


def describe(
    document: Document,
    deed: Deed,
    mention: int,
    owner: tuple[str, Name],
    target: tuple[str | None, int] | None,
) -> str:
    """Return a sentence that says why a rule holds.

    `mention` is the agent's; `owner` is its country and what names it, and `target`
    the country of the target, if it has one, and its token.
    """
    key, name = owner
    country = " ".join(document.tokens[name.start : name.end])
    start, end, _ = document.mentions[mention]
    elsewhere = not start <= name.token < end
    within = f" in {_phrase_of(document, name.token)!r}" if elsewhere else ""
    parts = [_role(document, deed, country), f"{country!r}{within} names {key}"]
    if target is not None and target[0] is not None:
        parts.append(
            f"{str(document.tokens[target[1]])!r} is the target and belongs to {target[0]}"
        )
    at = None if target is None else target[1]
    return f"{_clause(document, deed, mention, at)}: {'; '.join(parts)}"


def _role(document: Document, deed: Deed, country: str) -> str:
    """Say what connects the agent and the event."""
    agent, event, through = (
        repr(str(document.tokens[token])) for token in (deed.agent, deed.event, deed.through)
    )
    if deed.pattern == "nominal event":
        if deed.agent == deed.event:
            return f"{country!r} describes {event}"
        possessive = document.relations[deed.agent] == "nmod:poss"
        return f"{agent} {'owns' if possessive else 'is the agent of'} {event}"
    if deed.pattern == "relative clause":
        return f"{agent} is what {through} stands for, the subject of {event}"
    if deed.pattern == "participle" and deed.agent == deed.through:
        return f"{agent} is described by {event}"
    if deed.pattern in ("shared subject", "control subject", "participle"):
        kind = "object" if "obj" in document.relations[deed.agent] else "subject"
        joined = "joined to" if deed.pattern == "shared subject" else "governed by"
        return f"{agent} is the {kind} of {through}, and {event} is {joined} it"
    role = "subject" if deed.pattern == "active subject" else "agent"
    if int(document.heads[deed.agent]) != deed.event:
        return f"{agent} is joined to the {role} of {event}"
    return f"{agent} is the {role} of {event}"


def _phrase_of(document: Document, token: int) -> str:
    """Return the words of the shortest mention in which a token is."""
    start, end = document.mentions[:, 0], document.mentions[:, 1]
    around = ((start <= token) & (token < end)).nonzero()[0]
    if not len(around):
        return str(document.tokens[token])
    return document.mention_text(int(around[(end - start)[around].argmin()]))


def _clause(document: Document, deed: Deed, mention: int, target: int | None) -> str:
    """Return the words from the agent to the target, or only these where they are many."""
    start, _, head = (int(place) for place in document.mentions[mention])
    spans = [(start, head + 1), (deed.event, deed.event + 1)]
    if target is not None:
        spans.append((target, target + 1))
    spans.sort()
    first, last = spans[0][0], max(end for _, end in spans)
    if last - first <= _SHOWN:
        return " ".join(document.tokens[first:last])
    return " ... ".join(" ".join(document.tokens[max(a, b - _SHOWN) : b]) for a, b in spans)
