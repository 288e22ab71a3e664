"""Lexicon: the names of things to be counted, and where they stand in a text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from sklearn_calib._files import open_text, shortened
from sklearn_calib._results import Result

__all__ = ["Lexicon", "LexiconMatch", "as_lexicon", "country_lexicon"]

COUNTRIES = Path(__file__).parent / "data" / "countries.tsv"

# Tokens that may stand between the words of a name: "Guinea - Bissau", "People 's Republic".
_JOINTS = frozenset({"-", "‐", "‑", "'s"})  # noqa: RUF001


# A name of more words is a text; matching looks ahead as far as the longest name goes.
MAX_WORDS = 50

# How a name may be written, word by word; None for any case.
_Cases = frozenset[tuple[str, ...]] | None


class LexiconMatch(NamedTuple):
    """A place in a text where an entry of a lexicon stands.

    Examples
    --------
    >>> from sklearn_calib.explore import LexiconMatch
    >>> start, end, key = LexiconMatch(4, 6, "USA")
    >>> key
    'USA'
    """

    start: int
    end: int
    key: str


@dataclass(frozen=True, eq=False, repr=False)
class Lexicon(Result):
    """Names of things, such as countries, by the key that they are counted under.

    Parameters
    ----------
    entries : mapping of str to iterable of str
        The names of each key, of one word or several. A name that begins with
        "=" matches by case: "=US" is not found in "tell us".
    ignore : iterable of str, default=()
        Names that belong to no key, and keep shorter ones inside of them from
        matching: with "Indian Ocean" here, "Indian" does not match there.
    stem : bool, default=True
        Also match the plural of a name ("Iraqis"), by removing a final s.

    See Also
    --------
    country_lexicon : Countries and their demonyms.
    AgentRule : Uses a lexicon.

    Notes
    -----
    Case, accents, full stops ("U.S."), hyphens and possessives ("Iraq's", "the
    Netherlands'") make no difference. A name that matches by case also matches
    in capitals ("CHINA" for "=China"), as headlines have it. The longest name
    wins: in "Papua New Guinea" that is Papua New Guinea, and "Guinea" does not
    match. A name matches whole tokens only: "Niger" is not found in "Nigeria",
    nor "US" in the token "US-led". One name cannot belong to two keys.

    Examples
    --------
    >>> from sklearn_calib.explore import Lexicon
    >>> lexicon = Lexicon({"USA": ["=US", "American"], "GIN": ["Guinea"]}, ignore=["New Guinea"])
    >>> for match in lexicon.match("The U.S. told us that Americans left New Guinea".split()):
    ...     print(match)
    LexiconMatch(start=1, end=2, key='USA')
    LexiconMatch(start=5, end=6, key='USA')
    """

    entries: Mapping[str, Iterable[str]]
    ignore: Iterable[str] = ()
    stem: bool = True
    # The key of each name, word by word; and the same names as a tree of words.
    _index: dict[tuple[str, ...], tuple[str | None, _Cases]] = field(init=False)
    _tree: _Node = field(init=False)

    _shows_table = False

    def __post_init__(self) -> None:
        if not isinstance(self.entries, Mapping):
            raise TypeError(
                "entries must map each key to its names, such as {'USA': ['America', '=US']}; got "
                f"{type(self.entries).__name__}."
            )
        entries = {key: _names(names, shortened(key)) for key, names in self.entries.items()}
        for key in entries:
            if not isinstance(key, str) or not key:
                raise TypeError(f"A key of a lexicon must be a str, got {key!r}.")
        object.__setattr__(self, "entries", MappingProxyType(entries))
        object.__setattr__(self, "ignore", _names(self.ignore, "ignore"))
        index: dict[tuple[str, ...], tuple[str | None, _Cases]] = {}
        for owner, names in [*entries.items(), (None, self.ignore)]:
            for name in names:
                _add(index, owner, name)
        object.__setattr__(self, "_index", index)
        tree = _Node()
        for words, entry in index.items():
            tree.add(words, entry)
        object.__setattr__(self, "_tree", tree)

    def __getstate__(self) -> dict[str, Any]:
        state = {**vars(self), "entries": dict(self.entries)}
        state.pop("_needles", None)  # made when it is asked for
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, entries=MappingProxyType(state["entries"]))

    def _sentence(self) -> str:
        count = sum(len(tuple(names)) for names in self.entries.values())
        return f"<Lexicon: {len(self.entries):,} keys, {count:,} names>"

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """Return one row per name."""
        rows = [(key, name) for key, names in self.entries.items() for name in names]
        return {"key": [key for key, _ in rows], "name": [name for _, name in rows]}

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def read(cls, path: str | PathLike[str], *, stem: bool = True) -> Lexicon:
        """Read a lexicon from a file.

        Parameters
        ----------
        path : path-like
            A text file in UTF-8. Each line has a key, a tab, and names between
            semicolons or further tabs. Lines of the same key are joined, the
            key "-" stands for `ignore`, and "#" begins a comment line.
        stem : bool, default=True
            As in the class.

        Returns
        -------
        Lexicon
            What the file holds.
        """
        entries: dict[str, list[str]] = {}
        with open_text(Path(path)) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip() or line.startswith("#"):
                    continue
                key, *columns = line.rstrip("\r\n").split("\t")
                names = [n.strip() for column in columns for n in column.split(";") if n.strip()]
                if not key.strip() or not names:
                    raise ValueError(
                        f"{path}, line {number}: a key, a tab and names between semicolons are "
                        f"expected; got {line.rstrip()[:60]!r}."
                    )
                for name in names:
                    if len(_plain(name)) > MAX_WORDS:
                        raise ValueError(
                            f"{path}, line {number}: the name {shortened(name)} has more than "
                            f"{MAX_WORDS} words."
                        )
                entries.setdefault(key.strip(), []).extend(names)
        ignore = entries.pop("-", [])
        try:
            return cls(entries, ignore=ignore, stem=stem)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def merge(self, entries: Lexicon | Mapping[str, Iterable[str]]) -> Lexicon:
        """Return a lexicon that has further names, of old keys or new ones.

        Parameters
        ----------
        entries : Lexicon or mapping of str to iterable of str
            What to add. To replace a name, remove it first: see `without`.

        Returns
        -------
        Lexicon
            Both together.

        Examples
        --------
        >>> from sklearn_calib.explore import country_lexicon
        >>> len(country_lexicon().merge({"NATO": ["=NATO"]})) - len(country_lexicon())
        1
        """
        other = as_lexicon(entries, stem=self.stem)
        if other.stem != self.stem:
            raise ValueError(
                f"One lexicon has stem={self.stem} and the other stem={other.stem}: make both with "
                "the same."
            )
        joined = {key: tuple(names) for key, names in self.entries.items()}
        for key, names in other.entries.items():
            joined[key] = (*joined.get(key, ()), *names)
        return Lexicon(joined, ignore=(*self.ignore, *other.ignore), stem=self.stem)

    def without(self, names: Iterable[str]) -> Lexicon:
        """Return a lexicon that lacks some keys or names.

        Parameters
        ----------
        names : iterable of str
            Keys, which go with all of their names, or single names.

        Returns
        -------
        Lexicon
            The rest.

        Examples
        --------
        >>> from sklearn_calib.explore import country_lexicon
        >>> lexicon = country_lexicon().without(["Georgia", "AND"])
        >>> [match.key for match in lexicon.match("Georgia and Georgians , Andorra".split())]
        ['GEO']
        """
        gone = set(_names(names, "without"))
        plain = {_plain(name) for name in gone - set(self.entries)}
        for words in plain - set(self._index):
            raise ValueError(f"{' '.join(words)!r} is neither a key nor a name of the lexicon.")
        entries = {
            key: [name for name in names if _plain(name) not in plain]
            for key, names in self.entries.items()
            if key not in gone
        }
        ignore = [name for name in self.ignore if _plain(name) not in plain]
        return Lexicon(entries, ignore=ignore, stem=self.stem)

    def match(self, tokens: Iterable[str]) -> list[LexiconMatch]:
        """Find the names in a text.

        Parameters
        ----------
        tokens : iterable of str
            The words of the text.

        Returns
        -------
        list of LexiconMatch
            Start, end (exclusive) and key of each, from left to right; they do
            not overlap.
        """
        words, owner = [], []
        for i, token in enumerate(tokens):
            for word in _words(token):
                words.append(word)
                owner.append(i)
        found = []
        at = 0
        while at < len(words):
            key, stop = None, at + 1
            if at == 0 or owner[at - 1] != owner[at]:
                key, stop = self._longest_at(words, owner, at)
            if key is not None:
                found.append(LexiconMatch(owner[at], owner[stop - 1] + 1, key))
            at = stop
        return found

    def may_match(self, text: str) -> bool:
        """Tell whether a name can be found in a text, before it is split into words.

        Parameters
        ----------
        text : str
            A text as it was written.

        Returns
        -------
        bool
            False only if `match` finds nothing, however the text is split into
            tokens: no name has all of its letters there. True may be wrong.
        """
        cased = _letters(text).replace(".", "")
        plain = cased.casefold()
        in_any_case, by_case = self._needles
        return any(needle in plain for needle in in_any_case) or any(
            needle in cased for needle in by_case
        )

    @cached_property
    def _needles(self) -> tuple[list[str], list[str]]:
        """One word of each name that has a key: in any case, and by case."""
        in_any_case: set[str] = set()
        by_case: set[str] = set()
        for words, (key, cases) in self._index.items():
            if key is None:
                continue
            if cases is None:
                in_any_case.add(max(words, key=len).replace(".", ""))
                continue
            for cased in cases:
                word = max(cased, key=len).replace(".", "")
                by_case.update((word, word.upper()))
        return _shortest(in_any_case), _shortest(by_case)

    def _longest_at(
        self, words: list[tuple[str, str, str]], owner: list[int], at: int
    ) -> tuple[str | None, int]:
        """Return the key of the longest name that starts here, and where it stops."""
        key, end = None, at + 1
        node = self._tree
        for stop in range(at + 1, len(words) + 1):
            plain, singular, _ = words[stop - 1]
            if stop == len(words) or owner[stop] != owner[stop - 1]:  # not within a token
                # The last word of a name may be in the plural.
                for last in (singular, plain) if self.stem else (plain,):
                    entry = node.following[last].entry if last in node.following else None
                    if entry is not None and _same_case(entry[1], words[at:stop]):
                        key, end = entry[0], stop
            if plain not in node.following:
                break
            node = node.following[plain]
        return key, end


class _Node:
    """What may follow in a tree of names, and the name that ends here, if one does."""

    __slots__ = ("entry", "following")

    def __init__(self) -> None:
        self.entry: tuple[str | None, _Cases] | None = None
        self.following: dict[str, _Node] = {}

    def add(self, words: Iterable[str], entry: tuple[str | None, _Cases]) -> None:
        node = self
        for word in words:
            node = node.following.setdefault(word, _Node())
        node.entry = entry


def _names(names: Iterable[str], where: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise TypeError(f"{where}: pass a list of names, not the single str {shortened(names)}.")
    found = tuple(names)
    for name in found:
        if not isinstance(name, str) or not name.strip("= "):
            raise ValueError(f"{where}: {shortened(name)} is not a name.")
    return found


def _split(name: str) -> list[tuple[str, str, str]]:
    return [word for token in name.lstrip("=").split() for word in _words(token)]


def _plain(name: str) -> tuple[str, ...]:
    return tuple(word for word, _, _ in _split(name))


def _add(
    index: dict[tuple[str, ...], tuple[str | None, _Cases]], key: str | None, name: str
) -> None:
    plain = _plain(name)
    if not plain:
        raise ValueError(f"{shortened(key)}: {shortened(name)} is not a name.")
    if len(plain) > MAX_WORDS:
        raise ValueError(
            f"{shortened(key)}: the name {shortened(name)} has {len(plain):,} words; a name has at "
            f"most {MAX_WORDS}."
        )
    cases: _Cases = None
    if name.startswith("="):
        cases = frozenset({tuple(cased for _, _, cased in _split(name))})
    owner, old = index.get(plain, (key, frozenset()))
    if owner != key:
        both = f"both {shortened(owner)} and " + (shortened(key) if key is not None else "ignore")
        raise ValueError(
            f"The name {shortened(name)} belongs to {both}; a name must have one key. Remove it "
            "from one of them (the method without does so), or use a longer name."
        )
    index[plain] = (key, None if cases is None or old is None else old | cases)


@lru_cache(maxsize=100_000)
def _words(token: str) -> tuple[tuple[str, str, str], ...]:
    """Return the words of a token: without case, accents and dots; singular; and with case."""
    token = token.replace("’", "'")  # noqa: RUF001
    if token in _JOINTS:
        return ()
    found = []
    for part in token.split("-"):
        # The possessive of "Iraq" and of "the Netherlands".
        part = part.removesuffix("'s").removesuffix("'").replace(".", "") or part
        cased = _letters(part)
        plain = cased.casefold()
        # "Iraqis", but neither "Swiss" nor "us".
        stem = plain
        if len(stem) > 3 and stem.endswith("s") and not stem.endswith("ss"):
            stem = stem[:-1]
        found.append((plain, stem, cased))
    return tuple(found)


def _letters(text: str) -> str:
    """Return a text without accents and with plain apostrophes."""
    letters = unicodedata.normalize("NFKD", text.replace("’", "'"))  # noqa: RUF001
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _shortest(needles: set[str]) -> list[str]:
    """Return the needles that have no other needle as a part, the shortest first."""
    found: list[str] = []
    for needle in sorted(needles, key=len):
        if not any(other in needle for other in found):
            found.append(needle)
    return found


def _same_case(cases: _Cases, words: list[tuple[str, str, str]]) -> bool:
    """Tell whether words are written as an entry wants it, or in capitals."""
    return cases is None or any(
        all(
            found.startswith(wanted) or found.startswith(wanted.upper())
            for wanted, (_, _, found) in zip(cased, words, strict=True)
        )
        for cased in cases
    )


@cache
def country_lexicon() -> Lexicon:
    """Names and demonyms of countries by ISO 3166-1 alpha-3 code.

    Returns
    -------
    Lexicon
        Countries, some territories, and a few former states.

    See Also
    --------
    Lexicon.merge : Adds names.
    AgentRule : Uses a lexicon.

    Notes
    -----
    The names were written for this package. "Congo" is COD, "Korea" is KOR,
    "Dominican" is DOM and "Georgia" is GEO; their neighbours match by longer
    names ("Republic of Congo", "North Korea"). Names such as "US", "Turkey",
    "China", "Chad", "Jordan" and "Polish" match by case. Names of persons and
    of places elsewhere ("Michael Jordan", Georgia in the USA) are not told
    apart.

    Examples
    --------
    >>> from sklearn_calib.explore import country_lexicon
    >>> lexicon = country_lexicon()
    >>> text = "North Koreans in Guinea-Bissau polish Polish pottery for the U.S."
    >>> [match.key for match in lexicon.match(text.split())]
    ['PRK', 'GNB', 'POL', 'USA']
    """
    return Lexicon.read(COUNTRIES)


def as_lexicon(
    lexicon: Lexicon | Mapping[str, Iterable[str]] | str | PathLike[str], *, stem: bool = True
) -> Lexicon:
    """Return a Lexicon for a Lexicon, a mapping or the path of a file."""
    if isinstance(lexicon, Lexicon):
        return lexicon
    if isinstance(lexicon, (str, PathLike)):
        return Lexicon.read(lexicon, stem=stem)
    return Lexicon(lexicon, stem=stem)
