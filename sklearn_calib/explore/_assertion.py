"""Whether a text says that something happened, or only that it did not, may, or would."""

from __future__ import annotations

from sklearn_calib.explore._tree import MOST_STEPS, Tree

__all__ = ["REASONS", "doubts"]

# What may keep a deed from having happened.
REASONS = ("negated", "modal", "conditional")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATIONS = _words("not n't nt never neither nor")
_NEGATIVE_MARKS = _words("without instead rather")
_MODALS = _words("can could may might must need ought shall should will would 'll ’ll ca wo")  # noqa: RUF001
_IF = _words("if unless")
_CONDITIONS = _IF | _words("whether lest")

# Verbs and nouns of which a complement has not happened, or need not have.
_NEGATIVE = _words(
    "abandon avert avoid ban cancel decline deny doubt fail foil forbid forgo prevent prohibit "
    "refrain refuse reject thwart"
)
_INTENDED = _words(
    "advocate aim anticipate chance consider contemplate danger demand expect expectation fear "
    "hope intend intention likelihood mull option plan possibility postpone predict prediction "
    "preparation prepare promise proposal propose prospect recommend risk threat threaten urge vow "
    "want wish"
)
# Words that say so of what follows a preposition, "a call for an attack", but not of a clause:
# "warned us that they attacked".
_SPOKEN = _words(
    "ask authorise authorize call discuss order speculate speculation suggest suggestion talk "
    "warn warning"
)
_PREPOSITIONS = _words("of for from about against")
# "began to attack" is no intention.
_ACTUAL = _words("begin cause come continue force go help manage proceed start use")
_HYPOTHETICAL_ADJECTIVES = _words(
    "eventual future hypothetical imminent impending likely planned possible potential proposed "
    "theoretical threatened would-be"
)
# Dependents that say that something may happen, or will.
_UNREAL = {"aux": _MODALS, "amod": _HYPOTHETICAL_ADJECTIVES}
_NOTHING = frozenset[str]()
# Verbs that add nothing to the noun of a deed: "did not launch an attack".
_LIGHT = _words(
    "be begin carry come commit conduct continue execute follow happen launch lead make mount "
    "occur perform resume stage start take undertake"
)


def doubts(tree: Tree, event: int) -> frozenset[str]:
    """Return why an event, a verb or a noun, may not have happened.

    Parameters
    ----------
    tree : Tree
        The parse.
    event : int
        Token of the verb or the noun.

    Returns
    -------
    frozenset of {"negated", "modal", "conditional"}
        Empty for what the text simply states.
    """
    found: set[str] = set()
    token = event
    for _ in range(MOST_STEPS):
        found |= _own(tree, token)
        above, relation = tree.heads[token], tree.relations[token]
        if above < 0:
            break
        if _is_complement(tree, token):
            found |= _of_governor(tree, token)
        if relation == "ccomp":  # "did not say that ..."; who may say so does not matter
            found |= {"negated"} & _own(tree, above)
        if not _shares_its_clause(tree, token):
            break
        token = above
    return frozenset(found)


def _own(tree: Tree, token: int) -> set[str]:
    """Return the doubts that the dependents of a token express."""
    if token in tree.own_doubts:
        return tree.own_doubts[token]
    found: set[str] = set()
    marks = tree.marks(token)
    if marks & _NEGATIVE_MARKS:
        found.add("negated")
    if marks & _CONDITIONS:
        found.add("conditional")
    for child in tree.children(token):
        relation, forms = tree.relations[child], {tree.lemmas[child], tree.words[child]}
        if _negates(tree, child):
            found.add("negated")
        elif forms & _UNREAL.get(relation.split(":")[0], _NOTHING):
            found.add("modal")
        elif relation == "advcl" and tree.marks(child) & _IF:  # "would attack if ..."
            found.add("conditional")
    tree.own_doubts[token] = found
    return found


def _negates(tree: Tree, child: int) -> bool:
    """Tell whether a dependent says no: "not", "never", "no longer", "no troops"."""
    relation = tree.relations[child]
    if relation in ("advmod", "cc", "cc:preconj"):
        negation = {tree.lemmas[child], tree.words[child]} & _NEGATIONS
        return bool(negation) or (relation == "advmod" and "no" in _words_below(tree, child))
    if relation == "det":
        return tree.lemmas[child] == "no"
    return relation.startswith("nsubj") and "no" in _words_below(tree, child, "det")


def _words_below(tree: Tree, token: int, relation: str | None = None) -> set[str]:
    relations = None if relation is None else (relation,)
    return {tree.words[child] for child in tree.children(token, relations)}


def _is_complement(tree: Tree, token: int) -> bool:
    """Tell whether what governs a token says something about whether it happens."""
    relation = tree.relations[token]
    if relation == "advcl":  # "kept from attacking", but not "threatened them by attacking"
        return tree.is_infinitive(token) or bool(tree.marks(token) & _PREPOSITIONS)
    if relation in ("obl", "nmod"):  # "the threat of an attack", but not "after the attack"
        return bool(tree.case(token) & _PREPOSITIONS)
    return relation in ("xcomp", "ccomp", "acl", "obj", "nsubj:pass")


def _of_governor(tree: Tree, token: int) -> set[str]:
    """Return the doubts that the word expresses on which a token depends."""
    relation, above = tree.relations[token], tree.lemmas[tree.heads[token]]
    found = set()
    if above in _NEGATIVE:
        found.add("negated")
    if above in _INTENDED or (above in _SPOKEN and relation in ("obl", "nmod")):
        found.add("modal")
    # "in case of an attack", "in the event of an attack"
    if above in ("case", "event") and "of" in tree.case(token):
        found.add("conditional")
    # "is going to attack" will, and "went on to attack" did.
    actual = above in _ACTUAL and tree.words[tree.heads[token]] != "going"
    if "to" in tree.marks(token) and not actual and _is_verbal(tree, token):
        found.add("modal")
    return found


def _is_verbal(tree: Tree, token: int) -> bool:
    return tree.relations[token] in ("xcomp", "ccomp", "acl", "advcl")


def _shares_its_clause(tree: Tree, token: int) -> bool:
    """Tell whether what is said of a token's head is said of the token, too."""
    relation, above = tree.relations[token], tree.heads[token]
    if relation == "xcomp":
        return True
    if relation == "advcl":  # "would enter, attacking villages"
        return not tree.has_subject(token) and not tree.marks(token) & _NEGATIVE_MARKS
    if relation == "conj":  # "did not advance and attack", but "did not leave but attacked"
        but = "but" in _words_below(tree, token, "cc")
        return not but and not tree.has_subject(token)
    # "did not launch an attack", but "did not condemn the attack"
    nominal = relation in ("obj", "nsubj", "nsubj:pass")
    return nominal and tree.lemmas[above] in _LIGHT
