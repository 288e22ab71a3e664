"""What a coreference model sees of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sklearn_calib._results import Columns, Result, counted
from sklearn_calib._validation import Array
from sklearn_calib.coref._document import Document

__all__ = ["MentionFeatures", "is_pronoun", "surface_features"]

PROPER, NOMINAL = "PROPER", "NOMINAL"

# Pronouns by the form that stands for all of them.
PRONOUNS = {
    form: name
    for name, forms in {
        "i": "i me my mine myself",
        "you": "you your yours yourself yourselves ya y'all u",
        "he": "he him his himself",
        "she": "she her hers herself",
        "it": "it its itself",
        "we": "we us our ours ourselves 's",
        "they": "they them their theirs themselves themself 'em em",
        "this": "this these",
        "that": "that those",
        "one": "one oneself",
        "who": "who whom whose",
        "which": "which what",
        "other": "anybody anyone anything everybody everyone everything nobody none nothing "
        "somebody someone something each other all some any both there here",
    }.items()
    for form in forms.split()
}

FARTHEST = 10


@dataclass(frozen=True, eq=False, repr=False)
class MentionFeatures(Result):
    """What a model sees of the mentions of one document.

    A callable given as `features` of `AntecedentModel` returns this object.

    Attributes
    ----------
    types : sequence of str of length n_mentions
        The type of each mention, e.g. "PROPER" or "he". Every feature fires
        alone, and together with the types of the two mentions.
    mention : mapping of str to sequence of (str or None)
        Features of one mention by name; None where one does not fire. Each
        serves the current mention and the antecedent.
    backoff : mapping of str to sequence of (str or None)
        What replaces a value of `mention` that is rare in training, or not in
        it. A feature without it keeps all values of training, however rare,
        and does not fire for others.
    pair : mapping of str to array-like of int of shape (n_mentions, n_mentions)
        Categories of pairs, from 0: row for the current mention, column for
        the antecedent. 0 fires as any other category does.

    See Also
    --------
    surface_features : Makes this object.
    """

    types: Sequence[str] | Array
    mention: Mapping[str, Sequence[str | None] | Array] = field(default_factory=dict)
    backoff: Mapping[str, Sequence[str | None] | Array] = field(default_factory=dict)
    pair: Mapping[str, Array] = field(default_factory=dict)

    _shows_table = False

    def _sentence(self) -> str:
        return (
            f"<MentionFeatures of {counted(len(self.types), 'mention')}; of each: "
            f"{', '.join(self.mention) or 'none'}; of pairs: {', '.join(self.pair) or 'none'}>"
        )

    def _columns(self) -> Columns:
        """Return one row per mention."""
        return {"type": self.types, **self.mention}


def surface_features(document: Document) -> MentionFeatures:
    """Words, lengths, distances and matches: the SURFACE features of Durrett and Klein.

    Parameters
    ----------
    document : Document
        A document; parts of speech are used where there are any.

    Returns
    -------
    MentionFeatures
        For each mention its length in words, its head, first and last word
        (not for pronouns), and the words before and after it. For each pair
        the distance in mentions and in sentences, up to 10, and whether the
        strings and the heads are equal (not where the later mention is a
        pronoun).

    See Also
    --------
    AntecedentModel : Uses these features by default.

    References
    ----------
    Greg Durrett and Dan Klein, "Easy victories and uphill battles in
    coreference resolution", EMNLP 2013.

    Examples
    --------
    >>> from sklearn_calib.coref import Document, surface_features
    >>> words = ["Ada", "fed", "her", "dog"]
    >>> seen = surface_features(Document("demo", words, mentions=[(0, 1), (2, 3), (2, 4)]))
    >>> seen.types.tolist()
    ['PROPER', 'she', 'NOMINAL']
    >>> seen.mention["head"].tolist()
    ['ada', None, 'dog']
    """
    n = len(document)
    start, end, head = document.mentions.T
    words = np.empty(len(document.tokens) + 2, dtype=object)
    words[1:-1] = [token.lower() for token in document.tokens]
    words[0], words[-1] = "<start>", "<end>"
    classes = word_classes(document)
    types = mention_types(document)
    # Token i stands at i + 1, so that the words around a mention always exist.
    places = {
        "head": head + 1,
        "first": start + 1,
        "last": end,
        "before": start,
        "after": end + 1,
    }
    closed = is_pronoun(types)
    length = np.minimum(end - start, FARTHEST).astype(str)
    mention: dict[str, Array] = {"length": length.astype(object)}
    backoff: dict[str, Array] = {}
    for name, at in places.items():
        mention[name], backoff[name] = words[at], classes[at]
        if name in ("head", "first", "last"):
            mention[name][closed] = None
            backoff[name][closed] = None
    sentence = document.sentence_index[start] if n else start
    text = _codes([" ".join(words[s + 1 : e + 1]) for s, e in zip(start, end, strict=True)])
    heads = _codes(words[head + 1].tolist())
    pair = {
        "distance": _steps_back(np.arange(n)),
        "sentences": _steps_back(sentence),
        "same_text": where_open(closed, text[:, None] == text),
        "same_head": where_open(closed, heads[:, None] == heads),
    }
    return MentionFeatures(types, mention, backoff, pair)


def _steps_back(position: Array) -> Array:
    """Return how far each mention is behind each other one, up to a limit."""
    small = position.astype(np.int32)
    return np.clip(small[:, None] - small, 0, FARTHEST).astype(np.uint8)


def where_open(closed: Array, answer: Array) -> Array:
    """Return 0 where the current mention is a pronoun, 1 for no and 2 for yes elsewhere."""
    return np.where(closed[:, None], np.uint8(0), answer.astype(np.uint8) + np.uint8(1))


def is_pronoun(types: Array) -> Array:
    """Return which types are pronouns."""
    return np.array([kind not in (PROPER, NOMINAL) for kind in types], dtype=bool)


def mention_types(document: Document) -> Array:
    """Return PROPER, NOMINAL or a pronoun for each mention."""
    n = len(document)
    types = np.full(n, NOMINAL, dtype=object)
    tokens, upos = document.tokens, document.upos
    starts = set(document.sentence_starts.tolist())
    for i, (start, end, head) in enumerate(document.mentions.tolist()):
        word = tokens[head].lower()
        if word in PRONOUNS and (
            end - start == 1 if upos is None else upos[head] in ("PRON", "DET", "ADV")
        ):
            types[i] = PRONOUNS[word]
        elif upos is not None:
            types[i] = PROPER if upos[head] == "PROPN" else NOMINAL
        elif tokens[head][:1].isupper() and (head not in starts or end - start == 1):
            types[i] = PROPER
    return types


def word_classes(document: Document) -> Array:
    """Return a class for each token, with one before and one after the text.

    It is the part of speech, or the shape of the word and its ending.
    """
    classes = np.empty(len(document.tokens) + 2, dtype=object)
    classes[0], classes[-1] = "<start>", "<end>"
    classes[1:-1] = (
        [shape(token) for token in document.tokens] if document.upos is None else document.upos
    )
    return classes


def shape(word: str) -> str:
    """Return what kind of word it looks like."""
    if not any(c.isalpha() for c in word):
        return "0" if any(c.isdigit() for c in word) else "."
    case = "X" if word.isupper() and len(word) > 1 else "Xx" if word[0].isupper() else "x"
    return f"{case}-{word[-2:].lower()}" if len(word) > 4 else case


def _codes(values: list[str]) -> Array:
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(v, len(codes)) for v in values], dtype=np.intp)
