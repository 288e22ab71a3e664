"""From CLEAR labels, which spaCy's English pipelines speak, to Universal Dependencies.

CLEAR makes function words the heads: a preposition governs its noun, and "be"
its predicate. Universal Dependencies have it the other way round, so that both
labels and tree change. What a change moves, it moves within the tree: the
result is a tree again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sklearn_calib._validation import check_option

__all__ = ["SCHEMES", "from_clear", "recognise_scheme"]

SCHEMES = ("auto", "ud", "clear")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The relations of Universal Dependencies 2, without the parts after a colon.
_UD = _names(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse "
    "dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis "
    "punct reparandum root vocative xcomp"
)

# Labels of CLEAR that only change their name; those of verbs and nouns are told apart below.
_RENAMED = {
    "ROOT": "root",
    "acomp": "xcomp",
    "attr": "xcomp",
    "auxpass": "aux:pass",
    "csubjpass": "csubj:pass",
    "dative": "iobj",
    "dobj": "obj",
    "intj": "discourse",
    "meta": "dep",
    "neg": "advmod",
    "nsubjpass": "nsubj:pass",
    "oprd": "xcomp",
    "poss": "nmod:poss",
    "preconj": "cc:preconj",
    "predet": "det:predet",
    "prt": "compound:prt",
    "quantmod": "advmod",
    "relcl": "acl:relcl",
}
# Labels of a preposition, of what it governs, and of a noun that stands for an adverb.
_PREPOSITIONS = frozenset({"prep", "agent", "dative"})
_COMPLEMENTS = ("pobj", "pcomp")
_UNMARKED = "npadvmod"
_CLEAR_ONLY = (frozenset(_RENAMED) | _PREPOSITIONS | {*_COMPLEMENTS, _UNMARKED}) - {"ROOT"}
_BOTH = _names(
    "ROOT acl advcl advmod amod appos aux case cc ccomp compound conj csubj dep det expl mark nmod "
    "nsubj nummod parataxis punct root xcomp"
)

_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM"})
_VERBAL = frozenset({"VERB", "AUX"})
_FORMS_OF_BE = _names("be am is are was were been being 's 're 'm ’s ’re ’m")  # noqa: RUF001


def recognise_scheme(labels: Iterable[str], scheme: str, name: str) -> str:
    """Return "ud" or "clear" for the labels of a parse, or refuse them.

    Labels that both share mean the same in both, so that a text without any
    others may be taken for either. `name` is what messages call the text.
    """
    check_option(scheme, "scheme", SCHEMES)
    if scheme != "auto":
        return scheme
    found = set(labels)
    ud_only = {label for label in found if label.split(":")[0] in _UD and label not in _BOTH}
    clear_only = found & _CLEAR_ONLY
    unknown = found - ud_only - clear_only - _BOTH
    if unknown:
        raise ValueError(
            f"{name}: the dependency labels {_listing(unknown)} are neither of Universal "
            "Dependencies nor of CLEAR, which spaCy's English pipelines use. Use a pipeline that "
            "was trained on Universal Dependencies; or pass scheme='ud' or scheme='clear' if "
            "these labels are additions to one of them, to be kept as they are."
        )
    if ud_only and clear_only:
        raise ValueError(
            f"{name}: the dependency labels {_listing(ud_only)} are of Universal Dependencies 2, "
            f"but {_listing(clear_only)} are of CLEAR. Pass scheme='ud' or scheme='clear' to say "
            "which scheme it is; labels of version 1 of Universal Dependencies must be brought "
            "to version 2 first."
        )
    return "ud" if ud_only else "clear"


def _listing(labels: Iterable[str]) -> str:
    names = sorted(labels)
    return ", ".join(map(repr, names[:5])) + ", ..." * (len(names) > 5)


class _Tree:
    """A parse while it changes."""

    def __init__(self, heads: Sequence[int], relations: Sequence[str]) -> None:
        self.heads = list(heads)
        self.relations = list(relations)
        self.children: list[set[int]] = [set() for _ in self.heads]
        for token, head in enumerate(self.heads):
            if head >= 0:
                self.children[head].add(token)

    def attach(self, token: int, head: int) -> None:
        """Make a token depend on another one."""
        if self.heads[token] >= 0:
            self.children[self.heads[token]].discard(token)
        self.heads[token] = head
        if head >= 0:
            self.children[head].add(token)

    def promote(self, token: int, relation: str, demoted: str) -> None:
        """Let a token change places with its head, which keeps nothing else."""
        head = self.heads[token]
        above = self.heads[head]
        for other in sorted(self.children[head] - {token}):
            self.attach(other, token)
        self.attach(token, above)
        self.attach(head, token)
        self.relations[token], self.relations[head] = relation, demoted

    def first(self, token: int, *relations: str) -> int | None:
        """Return the first dependent with the first of some relations that there is."""
        for relation in relations:
            found = [i for i in self.children[token] if self.relations[i] == relation]
            if found:
                return min(found)
        return None

    def deepest_first(self) -> list[int]:
        """Return the tokens such that each comes before its head."""
        order = [token for token, head in enumerate(self.heads) if head < 0]
        for token in order:
            order += sorted(self.children[token])
        return order[::-1]


def from_clear(
    heads: Sequence[int], relations: Sequence[str], upos: Sequence[str], lemmas: Sequence[str]
) -> tuple[list[int], list[str]]:
    """Return the heads and relations of Universal Dependencies for those of CLEAR.

    `lemmas` may be the words themselves where lemmas are not known.
    """
    tree = _Tree(heads, relations)
    _move_prepositions(tree, upos)
    _move_predicates(tree, lemmas)
    for token, relation in enumerate(tree.relations):
        head = tree.heads[token]
        nominal = head >= 0 and upos[head] in _NOMINAL
        if relation in ("prep", "agent", "pobj"):  # one without the other
            relation = "nmod" if nominal else "obl"
        elif relation == "pcomp":
            relation = "acl" if nominal else "advcl"
        elif relation == _UNMARKED:
            relation = "nmod:npmod" if nominal else "obl:npmod"
        elif relation == "aux" and upos[token] == "PART":  # "to attack"
            relation = "mark"
        tree.relations[token] = _RENAMED.get(relation, relation)
    _move_conjunctions(tree)
    return tree.heads, tree.relations


def _move_prepositions(tree: _Tree, upos: Sequence[str]) -> None:
    """Put nouns above their prepositions: "attacked by the army", "out of the house"."""
    relations = tree.relations
    for token in tree.deepest_first():
        inner = tree.first(token, *_COMPLEMENTS)
        head, relation = tree.heads[token], relations[token]
        preposition = relation in _PREPOSITIONS or upos[token] not in _NOMINAL | _VERBAL
        if inner is None or not preposition:
            continue
        nominal = head >= 0 and upos[head] in _NOMINAL
        clause = relations[inner] == "pcomp" and upos[inner] in _VERBAL
        if relation in _PREPOSITIONS:
            # A preposition above takes its turn later. A noun may be a dative, too.
            if head >= 0 and relations[head] in _PREPOSITIONS and not nominal:
                relation = relations[inner]
            elif clause:
                relation = "acl" if nominal else "advcl"
            elif relation == "agent":
                relation = "obl:agent"
            else:
                relation = "nmod" if nominal else "obl"
        tree.promote(inner, relation, "mark" if clause else "case")


def _move_predicates(tree: _Tree, lemmas: Sequence[str]) -> None:
    """Put predicates above "be": "Ada is the queen"; but "there is a queen" has a subject."""
    for token in tree.deepest_first():
        if lemmas[token].casefold() not in _FORMS_OF_BE:
            continue
        inner = tree.first(token, "attr", "acomp")
        if inner is None:
            continue
        expletive = tree.first(token, "expl")
        if expletive is not None and lemmas[expletive].casefold() == "there":
            tree.relations[inner] = "nsubj"
        else:
            tree.promote(inner, tree.relations[token], "cop")


def _move_conjunctions(tree: _Tree) -> None:
    """Let "and" depend on what follows it, and all conjuncts on the first of them."""
    for token, relation in enumerate(tree.relations):
        if relation == "cc" and tree.heads[token] >= 0:
            later = [
                i
                for i in tree.children[tree.heads[token]]
                if i > token and tree.relations[i] == "conj"
            ]
            if later:
                tree.attach(token, min(later))
    for token in tree.deepest_first()[::-1]:
        head = tree.heads[token]
        if head >= 0 and tree.relations[token] == tree.relations[head] == "conj":
            tree.attach(token, tree.heads[head])
