"""AgentRule: which country did it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from os import PathLike

from sklearn_calib._validation import check_option
from sklearn_calib.coref import Document
from sklearn_calib.explore._assertion import REASONS, doubts
from sklearn_calib.explore._deeds import Deed, DeedPatterns
from sklearn_calib.explore._lexicon import Lexicon, as_lexicon
from sklearn_calib.explore._rule_match import Name, RuleMatch, describe
from sklearn_calib.explore._tree import Tree
from sklearn_calib.explore._verb_forms import noun_needles, verb_needles

__all__ = ["AgentRule"]

# A country, a verb, both, or both and another country.
AgentKey = str | tuple[str, ...]

# Verbs that a short description names.
_SHOWN = 5

_LAYERS = ("lemmas", "heads", "relations")
_RETURNS = ("key", "verb", "pair", "triple")


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
    returns : {"key", "verb", "pair", "triple"}, default="key"
        What is counted: countries, verbs, pairs of a country and a verb, or who
        did what to whom: a country, a verb and the country of the target.
    nouns : iterable of str or mapping of str to iterable of str, default=()
        Lemmas of nouns that stand for deeds, as `verbs` does, or under the same
        names: "an Israeli attack", "their attack", "the attack by Iraq".
    control : bool, default=False
        Whether infinitives, participles and relative clauses have the agent that
        a reader would give them: "Iraq threatened to attack", "the army attacking
        Kuwait", "troops who attacked".
    exclude : iterable of {"negated", "modal", "conditional"}, default=()
        What is left out: deeds that did not happen ("did not attack", "denied
        attacking"), that may or will ("could attack", "plans to attack"), or that
        would ("if it attacks").
    target : bool, default=False
        Whether the deed must be done to something that belongs to another
        country: the object of the verb, the subject of its passive, or what
        follows one of the words in `against`. `returns="triple"` needs it in any
        case.
    against : iterable of str
        Words before a target that is no object ("fired at Kuwait", "an attack on
        Kuwait"): by default "against", "at", "into", "on" and "upon".

    See Also
    --------
    country_lexicon : Countries and their demonyms.
    count_documents : Counts what a rule finds.

    Notes
    -----
    By default this is the function f(c, e; x) of section 6 of Nguyen and O'Connor
    (2015), in Universal Dependencies. The document must have `lemmas`, `heads` and
    `relations`. As in the paper, negation is not seen unless `exclude` says so: an
    army that "did not attack" counts.

    The words behind `exclude`, `nouns` and `control` are English. Coreference
    decides on the agent; the country of a target is that of its own words. The
    user guide has the dependency pattern of each option.

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
    _: KW_ONLY
    nouns: Iterable[str] | Mapping[str, Iterable[str]] = ()
    control: bool = False
    exclude: Iterable[str] = ()
    target: bool = False
    against: Iterable[str] = ("against", "at", "into", "on", "upon")
    # What the rule looks up: names in a text, the names of a verb and of a noun, and patterns.
    _lexicon: Lexicon = field(init=False)
    _names: dict[str, frozenset[str]] = field(init=False)
    _noun_names: dict[str, frozenset[str]] = field(init=False)
    _patterns: DeedPatterns = field(init=False)

    def __post_init__(self) -> None:
        set_ = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        set_("_lexicon", as_lexicon(self.lexicon))
        set_("lexicon", self._lexicon)
        for name, index in (("verbs", "_names"), ("nouns", "_noun_names")):
            lists = _lists(getattr(self, name), name)
            set_(name, lists)
            set_(index, _by_word(lists))
        for name in ("modifiers", "subjects", "agents", "by", "verb_upos", "exclude", "against"):
            words = getattr(self, name)
            if words is not None or name != "verb_upos":
                set_(name, _words(words, name))
        if not self._names and not self._noun_names:
            raise ValueError("verbs is empty: nobody could be an agent.")
        check_option(self.returns, "returns", _RETURNS)
        for reason in self.exclude:
            check_option(reason, "exclude", REASONS)
        patterns = DeedPatterns(
            subjects=frozenset(self.subjects),
            agents=frozenset(self.agents),
            by=frozenset(word.casefold() for word in self.by),
            against=frozenset(word.casefold() for word in self.against),
            conjuncts=self.conjuncts,
            control=self.control,
        )
        set_("_patterns", patterns)

    def __repr__(self) -> str:
        names = sorted({*self.verbs, *self.nouns})
        shown = ", ".join(names[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
        return f"<AgentRule: {len(self._lexicon):,} keys, agents of {shown}>"

    def __call__(self, document: Document, entity: Iterable[int]) -> frozenset[AgentKey]:
        """Return the keys for an entity, given as the indices of its mentions."""
        bound = self.bind(document)
        return frozenset() if bound is None else bound(entity)

    def explain(self, document: Document, entity: Iterable[int]) -> list[RuleMatch]:
        """Say why an entity has its keys.

        Parameters
        ----------
        document : Document
            A document with a parse.
        entity : iterable of int
            The indices of the entity's mentions.

        Returns
        -------
        list of RuleMatch
            One for each key and each verb of which the entity is the agent, in
            the order of the text. Their keys are those that the rule returns;
            the list is empty where it returns none.

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
        ...     sentence_starts=[0, 4],
        ... )
        >>> for match in AgentRule({"IRQ": ["Iraq", "Iraqi"]}).explain(doc, (0, 1)):
        ...     print(match)
        They attacked: 'They' is the subject of 'attacked'; 'Iraqi' in 'Iraqi troops' names IRQ
        """
        bound = self.bind(document)
        if bound is None:
            return []
        found: dict[tuple[object, ...], RuleMatch] = {}
        for key, role, owner, target in bound.matches(entity):
            deed = role.deed
            match = RuleMatch(
                key=key,
                verb=deed.event,
                agent=None if role.owners is not None else deed.agent,
                target=None if target is None else target[1],
                named=owner[1].token,
                pattern=deed.pattern,
                reason=describe(document, deed, role.mention, owner, target),
            )
            found.setdefault((key, deed.event, deed.agent), match)
        return sorted(found.values(), key=lambda match: (match.verb, str(match.key)))

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
        tree = Tree(document)
        mentions: dict[int, list[int]] = {}
        for i, head in enumerate(document.mentions[:, 2].tolist()):
            mentions.setdefault(head, []).append(i)
        roles = [role for role in self._roles(tree) if role.deed.agent in mentions]
        if not roles:
            return None
        wanted = {token for role in roles for group in role.candidates for token in group}
        adjectives = {token for role in roles for token in role.adjectives}
        naming = self._naming(document, wanted | set(mentions), adjectives)
        deeds: dict[int, list[Role]] = {}
        for role in roles:
            known = role.known(naming, self.exclusive)
            if (self.target or self.returns == "triple") and not known.targets:
                continue
            if known.owners is not None and not known.owners:
                continue
            for i in mentions[role.deed.agent]:
                deeds.setdefault(i, []).append(replace(known, mention=i))
        if not deeds:
            return None
        names = {
            i: naming[head] for head, several in mentions.items() if head in naming for i in several
        }
        needs_target = self.target or self.returns == "triple"
        return BoundAgentRule(deeds, names, self.exclusive, self.returns, needs_target)

    def may_hold(self, text: str) -> bool:
        """Tell whether the rule can hold for an English text that is not parsed yet.

        Parameters
        ----------
        text : str
            A text as it was written.

        Returns
        -------
        bool
            False if none of the verbs and nouns is in the text, or no name of the
            lexicon. This takes for granted that tokens are parts of the text, and
            that lemmas are those of English: a form either begins like its verb
            ("raid", "raided"; "occupy", "occupied") or is an irregular form that is
            known ("strike", "struck"). True may be wrong.

        Examples
        --------
        >>> from sklearn_calib.explore import AgentRule, country_lexicon
        >>> rule = AgentRule(country_lexicon(), verbs=["strike"])
        >>> rule.may_hold("Iraqi planes struck."), rule.may_hold("Iraqi planes landed.")
        (True, False)
        """
        plain = text.casefold()
        return any(needle in plain for needle in self._needles()) and self._lexicon.may_match(text)

    def _needles(self) -> Iterator[str]:
        """Yield texts one of which is a part of every form of the verbs and nouns."""
        for verb in self._names:
            yield from verb_needles(verb)
        for noun in self._noun_names:
            yield from noun_needles(noun)

    def _roles(self, tree: Tree) -> Iterator[Role]:
        """Yield the events of a document with their agents, whoever these are."""
        patterns = self._patterns
        for token, lemma in enumerate(tree.lemmas):
            upos = None if tree.upos is None else tree.upos[token]
            as_verb = lemma in self._names and (
                self.verb_upos is None or upos is None or upos in self.verb_upos
            )
            as_noun = lemma in self._noun_names and upos in (None, "NOUN", "PROPN")
            if not (as_verb or as_noun) or (
                self.exclude and doubts(tree, token).intersection(self.exclude)
            ):
                continue
            if as_verb:
                targets = patterns.targets_of_verb(tree, token)
                for deed in patterns.of_verb(tree, token):
                    yield Role(deed, self._names[lemma], targets)
            if as_noun:
                names = self._noun_names[lemma]
                targets = patterns.targets_of_noun(tree, token)
                for deed in patterns.of_noun(tree, token):
                    yield Role(deed, names, targets)
                if adjectives := patterns.adjectives(tree, token):
                    deed = Deed(token, token, "nominal event", token)
                    yield Role(deed, names, targets, adjectives)

    def _naming(
        self, document: Document, heads: set[int], adjectives: set[int]
    ) -> dict[int, dict[str, Name]]:
        """Return the countries that a head or its modifiers name, and that an adjective names."""
        found: dict[int, dict[str, Name]] = {}
        for match in self._lexicon.match(document.tokens):
            for token in range(match.start, match.end):
                name = Name(token, match.start, match.end)
                if token in heads or token in adjectives:
                    found.setdefault(token, {}).setdefault(match.key, name)
                above = int(document.heads[token])
                if above in heads and document.relations[token] in self.modifiers:
                    found.setdefault(above, {}).setdefault(match.key, name)
        return found


@dataclass(frozen=True, eq=False)
class Role:
    """What a mention does: an event, its names, and what it may be done to.

    Attributes
    ----------
    deed : Deed
        The event and its agent.
    names : frozenset of str
        What the verb or noun counts as.
    candidates : list of list of int
        Tokens of what it may be done to, the likeliest group first.
    adjectives : list of int or None
        Where the agent is no mention: the tokens that may name it.
    targets, owners : mapping of country to Name, or None
        The countries of the target and of such an agent, once they are known.
    mention : int
        The mention that is the agent.
    """

    deed: Deed
    names: frozenset[str]
    candidates: Sequence[Sequence[int]]
    adjectives: Sequence[int] = ()
    targets: Mapping[str, int] = field(default_factory=dict)
    owners: Mapping[str, Name] | None = None
    mention: int = -1

    def known(self, naming: Mapping[int, Mapping[str, Name]], exclusive: bool) -> Role:
        """Return the same with the countries of target and adjectives."""
        targets: dict[str, int] = {}
        for group in self.candidates:
            for token in group:
                named = naming.get(token, {})
                if len(named) == 1 or not exclusive:
                    targets.update(dict.fromkeys(named, token))
            if targets:
                break
        owners: dict[str, Name] | None = None
        if self.adjectives:
            owners = {}
            for token in self.adjectives:
                owners.update(naming.get(token, {}))
        return replace(self, targets=targets, owners=owners)


# A key; what the entity does; its country and what names it; the target's country and token.
_Match = tuple[AgentKey, Role, tuple[str, Name], tuple[str | None, int] | None]


class BoundAgentRule:
    """An AgentRule for one document: the agents and the countries among its mentions."""

    def __init__(
        self,
        deeds: Mapping[int, Sequence[Role]],
        countries: Mapping[int, Mapping[str, Name]],
        exclusive: bool,
        returns: str,
        needs_target: bool,
    ) -> None:
        self.deeds = deeds
        self.countries = countries
        self.exclusive = exclusive
        self.returns = returns
        self.needs_target = needs_target
        self.mentions = sorted({*deeds, *countries})

    def __call__(self, entity: Iterable[int]) -> frozenset[AgentKey]:
        """Return the keys for an entity, given as the indices of its mentions."""
        return frozenset(key for key, *_ in self.matches(entity))

    def matches(self, entity: Iterable[int]) -> Iterator[_Match]:
        """Yield each key with what the entity does, its country and its target."""
        members = sorted(entity)
        owners: dict[str, Name] = {}
        for i in members:
            for country, name in self.countries.get(i, {}).items():
                owners.setdefault(country, name)
        for i in members:
            for role in self.deeds.get(i, ()):
                # The agent's own words name it best, where they do.
                found = {**owners, **self.countries.get(i, {})}
                if role.owners is not None:
                    found = {**role.owners}
                if self.exclusive and len(found) > 1:
                    continue
                for owner in found.items():
                    yield from self._keys(role, owner)

    def _keys(self, role: Role, owner: tuple[str, Name]) -> Iterator[_Match]:
        country = owner[0]
        others = [(key, token) for key, token in role.targets.items() if key != country]
        if self.needs_target and not others:
            return
        target: tuple[str | None, int] | None = None
        if others:
            target = others[0]
        elif role.candidates[0]:
            target = (None, role.candidates[0][0])
        if self.returns == "key":
            yield country, role, owner, target
        for verb in sorted(role.names):
            if self.returns == "verb":
                yield verb, role, owner, target
            elif self.returns == "pair":
                yield (country, verb), role, owner, target
            elif self.returns == "triple":
                for other in others:
                    yield (country, verb, other[0]), role, owner, other


def _words(words: Iterable[str], name: str) -> frozenset[str]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise TypeError(f"{name} must be a list of words, such as [{words!r}].")
    return frozenset(words)


def _lists(
    words: Iterable[str] | Mapping[str, Iterable[str]], name: str
) -> dict[str, frozenset[str]]:
    """Return lists of words by name; a word alone stands for itself."""
    if not isinstance(words, Mapping):
        words = {word: (word,) for word in _words(words, name)}
    return {key: _words(several, f"{name}[{key!r}]") for key, several in words.items()}


def _by_word(lists: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """Return the names of the lists in which each word is, without case."""
    names: dict[str, set[str]] = {}
    for name, words in lists.items():
        for word in words:
            names.setdefault(word.casefold(), set()).add(name)
    return {word: frozenset(found) for word, found in names.items()}
