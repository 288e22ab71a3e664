"""AgentRule: which country did it?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike

from sklearn_calib._validation import check_option
from sklearn_calib.coref import Document
from sklearn_calib.explore._lexicon import Lexicon, as_lexicon
from sklearn_calib.explore._verb_forms import verb_needles

__all__ = ["AgentRule"]

# A country, a verb, or both.
AgentKey = str | tuple[str, str]

# Verbs that a short description names.
_SHOWN = 5

_LAYERS = ("lemmas", "heads", "relations")
_PASSIVE = re.compile(":pass$")
_SUBJECT = re.compile("subj")
# A verb that has its own subject, or is passive, does not share the subject of another.
_OTHER_CLAUSE = re.compile("subj|:pass$")


@dataclass(frozen=True, eq=False, repr=False)
class AgentRule:
    """Says of which country's attack, or other deed, an entity is the agent.

    An entity belongs to a country when the head of one of its mentions, or a
    modifier of the head, is in the country's part of the lexicon ("Iraq",
    "Iraqi troops", "the army of Iraq"), and no other country is found among
    its mentions. It is an agent when one of its mentions is the subject of one
    of the verbs, or the agent of its passive ("was attacked by the army"). The
    two may be different mentions: that is where coreference matters.

    Parameters
    ----------
    lexicon : Lexicon, mapping or path
        What counts as a country, or as anything else that has names. A mapping
        or a file is as in `Lexicon`.
    verbs : iterable of str or mapping of str to iterable of str, default=("attack",)
        Lemmas of the verbs, in any case; or several lists by name, for example
        `{"attack": ["attack", "bomb"], "speak": ["say"]}`. The names then stand for
        the verbs in what the rule returns.
    modifiers : iterable of str
        Relations through which a modifier of a mention's head names the
        country. By default `nmod`, `nmod:poss`, `nmod:desc`, `amod`, `compound`,
        `flat` and `flat:name`. An empty list leaves heads alone.
    subjects : iterable of str, default=("nsubj",)
        Relations to a verb that make an agent.
    agents : iterable of str, default=("obl:agent",)
        Relations that make the agent of a passive.
    by : iterable of str, default=("by",)
        A plain `obl` of a passive verb is an agent as well if it has one of these
        words as its `case`, for parses that have no `obl:agent`. A participle is
        passive, too ("attacked by Iran, Iraq fell"). An empty list turns this
        off.
    exclusive : bool, default=True
        Whether the country must be the only one among the entity's mentions.
        Where it need not be, the entity belongs to each of them.
    conjuncts : bool, default=False
        Whether all of "Iraq and Iran" attack if one does, and who "entered and
        attacked" does both. The parse says it of the first only.
    verb_upos : iterable of str or None, default=("VERB",)
        Parts of speech of the verbs; None for any. Without `upos` in the
        document this is not checked.
    returns : {"key", "verb", "pair"}, default="key"
        What is counted: countries, verbs, or pairs of a country and a verb.

    See Also
    --------
    country_lexicon : Countries and their demonyms.
    count_documents : Counts what a rule finds.

    Notes
    -----
    This is the function f(c, e; x) of section 6 of Nguyen and O'Connor (2015),
    in Universal Dependencies. The document must have `lemmas`, `heads` and
    `relations`. Negation is not seen, as in the paper: an army that "did not
    attack" counts.

    Examples
    --------
    >>> from sklearn_calib.coref import Document
    >>> from sklearn_calib.explore import AgentRule
    >>> doc = Document(
    ...     "demo",
    ...     "Iraqi troops advanced . They attacked .".split(),
    ...     lemmas="Iraqi troop advance . they attack .".split(),
    ...     heads=[1, 2, -1, 2, 5, -1, 5],
    ...     relations=["amod", "nsubj", "root", "punct", "nsubj", "root", "punct"],
    ...     mentions=[(0, 2), (4, 5)],
    ... )
    >>> rule = AgentRule({"IRQ": ["Iraq", "Iraqi"]})
    >>> rule(doc, (0, 1)), rule(doc, (0,)), rule(doc, (1,))
    (frozenset({'IRQ'}), frozenset(), frozenset())
    """

    lexicon: Lexicon | Mapping[str, Iterable[str]] | str | PathLike[str]
    verbs: Iterable[str] | Mapping[str, Iterable[str]] = ("attack",)
    modifiers: Iterable[str] = (
        "nmod",
        "nmod:poss",
        "nmod:desc",
        "amod",
        "compound",
        "flat",
        "flat:name",
    )
    subjects: Iterable[str] = ("nsubj",)
    agents: Iterable[str] = ("obl:agent",)
    by: Iterable[str] = ("by",)
    exclusive: bool = True
    conjuncts: bool = False
    verb_upos: Iterable[str] | None = ("VERB",)
    returns: str = "key"
    # What the rule looks up: names in a text, the names of a verb, and words such as "by".
    _lexicon: Lexicon = field(init=False)
    _names: dict[str, frozenset[str]] = field(init=False)
    _by: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lexicon", as_lexicon(self.lexicon))
        object.__setattr__(self, "lexicon", self._lexicon)
        given = self.verbs
        if not isinstance(given, Mapping):
            given = {verb: (verb,) for verb in _words(given, "verbs")}
        lists = {name: _words(verbs, f"verbs[{name!r}]") for name, verbs in given.items()}
        object.__setattr__(self, "verbs", lists)
        names: dict[str, set[str]] = {}
        for name, verbs in lists.items():
            for verb in verbs:
                names.setdefault(verb.casefold(), set()).add(name)
        object.__setattr__(self, "_names", {verb: frozenset(n) for verb, n in names.items()})
        for name in ("modifiers", "subjects", "agents", "by", "verb_upos"):
            words = getattr(self, name)
            if words is not None or name != "verb_upos":
                object.__setattr__(self, name, _words(words, name))
        object.__setattr__(self, "_by", frozenset(word.casefold() for word in self.by))
        if not names:
            raise ValueError("verbs is empty: nobody could be an agent.")
        check_option(self.returns, "returns", ("key", "verb", "pair"))

    def __repr__(self) -> str:
        names = sorted(self.verbs)
        shown = ", ".join(names[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
        return f"<AgentRule: {len(self._lexicon):,} keys, agents of {shown}>"

    def __call__(self, document: Document, entity: Iterable[int]) -> frozenset[AgentKey]:
        """Return the keys for an entity, given as the indices of its mentions."""
        bound = self.bind(document)
        return frozenset() if bound is None else bound(entity)

    def bind(self, document: Document) -> BoundAgentRule | None:
        """Return the rule for one document, as a function of an entity.

        What the rule must know of the document is found once, and not again for
        each entity.

        Parameters
        ----------
        document : Document
            A document with a parse.

        Returns
        -------
        callable or None
            A function of the indices of an entity's mentions. Its attribute
            `mentions` holds the mentions that matter; the others make no
            difference. None where no entity can have a key.
        """
        for name in _LAYERS:
            if getattr(document, name) is None:
                raise ValueError(
                    f"Document {document.id!r} has no {name}: AgentRule needs a parse (lemmas, "
                    "heads and relations)."
                )
        heads = document.mentions[:, 2].tolist()
        deeds = {
            i: verbs for i, token in enumerate(heads) if (verbs := self._verbs(document, token))
        }
        if not deeds:
            return None
        countries = self._countries(document, set(heads))
        names = {
            i: found
            for i, token in enumerate(heads)
            if (found := countries.get(token, frozenset()))
        }

        return BoundAgentRule(deeds, names, self.exclusive, self.returns)

    def may_hold(self, text: str) -> bool:
        """Tell whether the rule can hold for an English text that is not parsed yet.

        Parameters
        ----------
        text : str
            A text as it was written.

        Returns
        -------
        bool
            False if none of the verbs is in the text, or no name of the lexicon.
            This takes for granted that tokens are parts of the text, and that
            lemmas are those of English: a form either begins like its verb ("raid",
            "raided"; "occupy", "occupied") or is an irregular form that is known
            ("strike", "struck"). True may be wrong.

        Examples
        --------
        >>> from sklearn_calib.explore import AgentRule, country_lexicon
        >>> rule = AgentRule(country_lexicon(), verbs=["strike"])
        >>> rule.may_hold("Iraqi planes struck."), rule.may_hold("Iraqi planes landed.")
        (True, False)
        """
        plain = text.casefold()
        verbs = any(needle in plain for verb in self._names for needle in verb_needles(verb))
        return verbs and self._lexicon.may_match(text)

    def _is_verb(self, document: Document, token: int) -> bool:
        if document.lemmas[token].casefold() not in self._names:
            return False
        return (
            self.verb_upos is None
            or document.upos is None
            or document.upos[token] in self.verb_upos
        )

    def _verbs(self, document: Document, token: int) -> frozenset[str]:
        """Return the verbs of which a token is the agent."""
        relations, heads = document.relations, document.heads
        if self.conjuncts:
            token = _first_conjunct(document, token)
        verb = int(heads[token])
        if verb < 0 or not self._acts(document, token, verb):
            return frozenset()
        found = [verb] if self._is_verb(document, verb) else []
        if self.conjuncts and relations[token] in self.subjects:
            found += [
                int(other)
                for other in _children(document, verb)
                if relations[other] == "conj"
                and self._is_verb(document, int(other))
                and not _has_child(document, other, _OTHER_CLAUSE)
            ]
        return frozenset[str]().union(
            *(self._names[document.lemmas[verb].casefold()] for verb in found)
        )

    def _acts(self, document: Document, token: int, verb: int) -> bool:
        """Tell whether a token is the agent of its verb."""
        relation = document.relations[token]
        if relation in self.subjects or relation in self.agents:
            return True
        if relation != "obl" or not self.by or not self._is_verb(document, verb):
            return False
        case = any(
            document.relations[child] == "case" and document.tokens[child].casefold() in self._by
            for child in _children(document, token)
        )
        return case and _is_passive(document, verb)

    def _countries(self, document: Document, heads: set[int]) -> dict[int, frozenset[str]]:
        """Return the countries that the head of a mention, or its modifiers, name."""
        found: dict[int, set[str]] = {}
        for match in self._lexicon.match(document.tokens):
            for token in range(match.start, match.end):
                if token in heads:
                    found.setdefault(token, set()).add(match.key)
                above = int(document.heads[token])
                if above in heads and document.relations[token] in self.modifiers:
                    found.setdefault(above, set()).add(match.key)
        return {token: frozenset(keys) for token, keys in found.items()}


class BoundAgentRule:
    """An AgentRule for one document: the agents and the countries among its mentions."""

    def __init__(
        self,
        deeds: dict[int, frozenset[str]],
        countries: dict[int, frozenset[str]],
        exclusive: bool,
        returns: str,
    ) -> None:
        self.deeds = deeds
        self.countries = countries
        self.exclusive = exclusive
        self.returns = returns
        self.mentions = sorted({*deeds, *countries})

    def __call__(self, entity: Iterable[int]) -> frozenset[AgentKey]:
        """Return the keys for an entity, given as the indices of its mentions."""
        members = list(entity)
        verbs = frozenset[str]().union(*(self.deeds[i] for i in members if i in self.deeds))
        owners = frozenset[str]().union(
            *(self.countries[i] for i in members if i in self.countries)
        )
        if not verbs or not owners or (self.exclusive and len(owners) > 1):
            return frozenset()
        if self.returns == "key":
            return frozenset(owners)
        if self.returns == "verb":
            return frozenset(verbs)
        return frozenset((owner, verb) for owner in owners for verb in verbs)


def _words(words: Iterable[str], name: str) -> frozenset[str]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise TypeError(f"{name} must be a list of words, such as [{words!r}].")
    return frozenset(words)


def _first_conjunct(document: Document, token: int) -> int:
    """Return the first of the tokens that are joined with a token by "and"."""
    seen = set()
    while document.relations[token] == "conj" and document.heads[token] >= 0 and token not in seen:
        seen.add(token)
        token = int(document.heads[token])
    return token


def _is_passive(document: Document, verb: int) -> bool:
    """Tell whether a verb is passive, which a parse does not always mark."""
    if _has_child(document, verb, _PASSIVE):
        return True
    # "attacking by night", "to attack by night", "when they attacked by night"
    infinitive = any(document.tokens[i].casefold() == "to" for i in _children(document, verb))
    participle = not infinitive and not document.tokens[verb].casefold().endswith("ing")
    if not participle or _has_child(document, verb, _SUBJECT):
        return False
    # "the town attacked by the army"; "attacked by the army, it fell"; "was bombed and attacked"
    first = _first_conjunct(document, verb)
    return document.relations[first] in ("acl", "amod", "advcl") or (
        first != verb and _has_child(document, first, _PASSIVE)
    )


def _has_child(document: Document, token: int, relation: re.Pattern[str]) -> bool:
    return any(relation.search(document.relations[child]) for child in _children(document, token))


def _children(document: Document, token: int) -> list[int]:
    """Return the tokens that depend on a token."""
    sentence = document.sentence_index[token]
    start = int(document.sentence_starts[sentence])
    later = document.sentence_starts[sentence + 1 :]
    stop = int(later[0]) if len(later) else len(document.tokens)
    return [i for i in range(start, stop) if document.heads[i] == token]
