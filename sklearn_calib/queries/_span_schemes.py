"""How tags such as B-PER and I-PER spell spans: the schemes, and reading spans off tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_calib._validation import Array, check_option
from sklearn_calib._validation_sequences import flatten

__all__ = ["SCHEMES", "SchemeTags", "SpanScheme", "TaggedSpans", "read_scheme", "read_spans"]


@dataclass(frozen=True)
class SpanScheme:
    """Which prefix a tag has at each place of a span.

    Attributes
    ----------
    name : str
        How users call the scheme.
    first : str
        Prefix of the first token of a span.
    inside : str
        Prefix of the tokens after it.
    last : str or None
        Prefix of the last token of a span of two tokens or more; None where a
        span ends as soon as nothing continues it.
    single : str or None
        Prefix of a span of one token; None where it is `first`.
    """

    name: str
    first: str
    inside: str
    last: str | None = None
    single: str | None = None

    @property
    def prefixes(self) -> frozenset[str]:
        """All prefixes, with the O of tokens outside any span."""
        return frozenset({self.first, self.inside, self.last, self.single, "O"} - {None})  # type: ignore[arg-type]


SCHEMES = {
    scheme.name: scheme
    for scheme in (
        SpanScheme("BIO", "B", "I"),
        SpanScheme("BIOES", "B", "I", "E", "S"),
        SpanScheme("BILOU", "B", "I", "L", "U"),
        SpanScheme("IO", "I", "I"),
    )
}


@dataclass(frozen=True, eq=False)
class SchemeTags:
    """The tags of a scheme, each at its place.

    Attributes
    ----------
    scheme : SpanScheme
        The scheme that the tags follow.
    types : list of str
        What a span can be, sorted.
    first, inside, last, single : ndarray of int of shape (n_types,)
        The column of the tag at each place of a span of each type; -1 where
        there is no such tag.
    """

    scheme: SpanScheme
    types: list[str]
    first: Array
    inside: Array
    last: Array
    single: Array

    def allowed(self, n_tags: int) -> tuple[Array, Array, Array]:
        """Return which tags may start a sentence, end it, and follow each other."""
        start, end = np.ones(n_tags, dtype=bool), np.ones(n_tags, dtype=bool)
        step = np.ones((n_tags, n_tags), dtype=bool)
        if self.scheme.first == self.scheme.inside:
            return start, end, step
        for first, inside, last in zip(self.first, self.inside, self.last, strict=True):
            opened = [code for code in (first, inside) if code >= 0]
            going_on = [code for code in (inside, last) if code >= 0]
            start[going_on] = False
            if self.scheme.last is not None:
                # What was begun has to be brought to its end.
                end[opened] = False
                step[opened] = False
            step[:, going_on] = False
            step[np.ix_(opened, going_on)] = True
        return start, end, step


def _split(tag: str) -> tuple[str, str] | None:
    """Return prefix and type of a tag, or None if no scheme has such a tag."""
    prefix, _, kind = tag.partition("-")
    if len(prefix) != 1 or prefix not in "BIOESLU" or (prefix == "O" and tag != "O"):
        return None
    return None if tag.endswith("-") and not kind else (prefix, kind)


def read_scheme(
    classes: Sequence[str], scheme: str = "auto", *, option: str = "scheme"
) -> SchemeTags:
    """Return the scheme of some tags and the place of each tag, or say what does not fit."""
    check_option(scheme, option, ("auto", *SCHEMES))
    split = [_split(tag) for tag in classes]
    prefixes = {part[0] for part in split if part is not None}
    if scheme != "auto":
        found = SCHEMES[scheme]
        odd = [
            tag
            for tag, part in zip(classes, split, strict=True)
            if part is None or part[0] not in found.prefixes
        ]
        if odd:
            raise ValueError(
                f"{option}={scheme!r} has tags such as {_examples(found)}, but there are "
                f"{_listed(odd)}."
            )
    else:
        fits = [] if None in split else [s for s in SCHEMES.values() if _fits(s, prefixes)]
        if not fits:
            raise ValueError(
                f"The tags {_listed(classes)} follow no scheme of spans: BIO has tags such as "
                f"{_examples(SCHEMES['BIO'])}, BIOES {_examples(SCHEMES['BIOES'])}, BILOU "
                f"{_examples(SCHEMES['BILOU'])} and IO {_examples(SCHEMES['IO'])}."
            )
        found = fits[0]
    code = {part: j for j, part in enumerate(split)}
    types = sorted({part[1] for part in split if part is not None and part[0] != "O"})

    def codes(prefix: str | None) -> Array:
        return np.array([code.get((prefix or "", kind), -1) for kind in types], dtype=np.intp)

    return SchemeTags(
        found,
        types,
        codes(found.first),
        codes(found.inside),
        codes(found.last),
        codes(found.single),
    )


def _fits(scheme: SpanScheme, prefixes: set[str]) -> bool:
    """Tell whether a scheme is the one behind some prefixes."""
    if not prefixes <= scheme.prefixes:
        return False
    marks = {"BIO": {"B"}, "IO": {"I"}, "BIOES": {"E", "S"}, "BILOU": {"L", "U"}}[scheme.name]
    if scheme.last in prefixes and scheme.first not in prefixes:
        return False
    # Tags that are all O, as in a fold without a span, have no spans under any scheme.
    return bool(prefixes & marks) or prefixes == {"O"}


def _examples(scheme: SpanScheme) -> str:
    order = dict.fromkeys((scheme.first, scheme.inside, scheme.last, scheme.single))
    *most, last = [f"{prefix}-PER" for prefix in order if prefix is not None] + ["O"]
    return f"{', '.join(most)} and {last}"


def _listed(tags: Sequence[str]) -> str:
    shown = [str(tag) for tag in tags[:20]]
    return f"{shown} and {len(tags) - 20} more" if len(tags) > 20 else f"{shown}"


@dataclass(frozen=True, eq=False)
class TaggedSpans:
    """The spans of some tagged sentences, in the order of the tokens.

    Attributes
    ----------
    sentence, start, stop : ndarray of int of shape (n_spans,)
        Where each span is: its sentence, its first token, and the token after
        its last.
    kind : list of str
        The type of each span.
    """

    sentence: Array
    start: Array
    stop: Array
    kind: list[str]


def read_spans(sentences: Iterable[Sequence[str]], scheme: SpanScheme) -> TaggedSpans:
    """Return the spans that tags spell; what is not begun as the scheme has it is no span."""
    rows = list(sentences)
    lengths = np.array([len(row) for row in rows], dtype=np.intp)
    tags = flatten(rows)
    codes: dict[str, int] = {}
    code = np.array([codes.setdefault(tag, len(codes)) for tag in tags], dtype=np.intp)
    split = [_split(tag) for tag in codes]
    odd = [
        tag
        for tag, part in zip(codes, split, strict=True)
        if part is None or part[0] not in scheme.prefixes
    ]
    if odd:
        raise ValueError(
            f"y has the tags {_listed(odd)}, which scheme={scheme.name!r} lacks: it has tags such "
            f"as {_examples(scheme)}."
        )
    parts = [part for part in split if part is not None]
    kinds = {kind: j for j, kind in enumerate(dict.fromkeys(kind for _, kind in parts))}
    prefix = np.array([part[0] for part in parts] or [""])[code]
    kind = np.array([kinds[part[1]] for part in parts] or [0])[code]
    ends = np.cumsum(lengths)
    # A token is joined to the one before it where the two are of one span, if it is begun right.
    joined = np.isin(prefix, [p for p in (scheme.inside, scheme.last) if p is not None])
    joined[1:] &= np.isin(prefix[:-1], (scheme.first, scheme.inside)) & (kind[1:] == kind[:-1])
    joined[:1] = False
    joined[(ends - lengths)[lengths > 0]] = False
    head = np.flatnonzero(~joined)
    stop = np.append(head[1:], len(tags))
    begun, length = prefix[head], stop - head
    if scheme.last is None:
        whole = begun == scheme.first
    else:
        closed = (prefix[stop - 1] == scheme.last) & (length > 1)
        whole = (begun == scheme.single) | ((begun == scheme.first) & closed)
    head, stop = head[whole], stop[whole]
    sentence = np.searchsorted(ends, head, side="right")
    first = (ends - lengths)[sentence]
    names = list(kinds)
    return TaggedSpans(sentence, head - first, stop - first, [names[j] for j in kind[head]])
