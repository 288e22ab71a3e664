"""The door for sequences: sentences, tags and scores of a lattice, with every message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_array_like, check_classes, check_integer

T = TypeVar("T")

__all__ = [
    "MAX_SCORE",
    "check_lattice",
    "check_observations",
    "check_partition",
    "check_scores",
    "check_sentences",
    "check_state_pairs",
    "check_tag_names",
    "check_tag_pairs",
    "check_tagged_sentences",
    "check_tags",
    "check_tokens",
    "check_vocabulary",
    "flatten",
]

# Scores are added along a sequence: a billion of these still are far from the largest float.
MAX_SCORE = 1e290


def check_lattice(
    log_potentials: ArrayLike, log_transitions: ArrayLike, lengths: ArrayLike | None
) -> tuple[Array, Array, Array]:
    """Return scores as float64 and lengths as integers; minus infinity is allowed."""
    potentials = _scores(log_potentials, "log_potentials")
    transitions = _scores(log_transitions, "log_transitions")
    k = transitions.shape[0]
    if transitions.shape != (k, k) or potentials.shape[1] != k:
        raise ValueError(
            "log_potentials must have shape (n_tokens, n_states) and log_transitions "
            f"(n_states, n_states); got {potentials.shape} and {transitions.shape}."
        )
    if lengths is None:
        lengths = [len(potentials)]
    length = np.asarray(lengths)
    if length.ndim != 1 or length.dtype.kind not in "iu":
        raise TypeError(
            f"lengths must be a list of integers, one for each sequence; got {lengths!r}."
        )
    if (length < 1).any():
        at = int((length < 1).argmax())
        raise ValueError(f"lengths[{at}] is {length[at]}: every sequence needs at least one token.")
    if length.sum() != len(potentials):
        raise ValueError(
            f"lengths add up to {length.sum()}, but log_potentials has {len(potentials)} rows."
        )
    return potentials, transitions, length.astype(np.intp)


def _scores(values: ArrayLike, name: str) -> Array:
    array = check_array_like(values, name)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold numbers, got dtype {array.dtype}.")
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"{name} must be a non-empty matrix, got shape {array.shape}.")
    return check_scores(array.astype(np.float64, copy=False), name)


def check_scores(array: Array, name: str) -> Array:
    """Refuse scores whose sum along a sequence could leave the range of a float."""
    # NaN makes the maximum NaN.
    if not array.max(initial=0.0) < np.inf:
        row, column = np.argwhere(~(array < np.inf))[0]
        raise ValueError(
            f"{name} contains {array[row, column]} at row {row}, column {column}: scores must be "
            "finite, or minus infinity for what is impossible."
        )
    if array.max(initial=0.0) > MAX_SCORE or array.min(initial=0.0) < -MAX_SCORE:
        large = np.argwhere(np.isfinite(array) & (np.abs(array) > MAX_SCORE))
        if len(large):
            row, column = large[0]
            raise ValueError(
                f"{name} contains {array[row, column]:.3g} at row {row}, column {column}: scores "
                f"must lie between -{MAX_SCORE:.0e} and {MAX_SCORE:.0e}, so that those of a "
                "sequence can be added up. Minus infinity says that something is impossible."
            )
    return array


def check_state_pairs(pairs: ArrayLike, n_states: int) -> Array:
    """Return pairs of states as an integer array of shape (n_pairs, 2)."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            "pairs must be a list of pairs of state numbers, such as [(0, 1), (1, 1)], or 'all'; "
            f"got {pairs!r}."
        )
    if array.size and (array.min() < 0 or array.max() >= n_states):
        bad = array[((array < 0) | (array >= n_states)).any(axis=1)][0]
        raise ValueError(f"pairs has {tuple(bad.tolist())}; states go from 0 to {n_states - 1}.")
    return array.astype(np.intp)


def check_sentences(X: Any, name: str = "X", thing: str = "tokens") -> list[Any]:
    """Return the sentences as a list; each must be a non-empty sequence, not a string."""
    if isinstance(X, (str, bytes, Mapping)) or not isinstance(X, Iterable):
        raise TypeError(
            f"{name} must be a list of sentences, each a list of {thing}; got {type(X).__name__}."
        )
    if hasattr(X, "columns"):
        raise TypeError(f"{name} is a table: pass a list of sentences, each a list of {thing}.")
    sentences = list(X)
    if not sentences:
        raise ValueError(f"{name} is empty: at least one sentence is needed.")
    for i, sentence in enumerate(sentences):
        if isinstance(sentence, (list, tuple, np.ndarray)):
            pass
        elif isinstance(sentence, (str, bytes, Mapping, Set)) or not isinstance(sentence, Iterable):
            raise TypeError(
                f"{name}[{i}] is {sentence!r}: every sentence must be a list of {thing}. For a "
                f"single sentence pass [{name}]."
            )
        else:
            sentences[i] = list(sentence)
        if len(sentences[i]) == 0:
            raise ValueError(f"{name}[{i}] is an empty sentence: remove it from X and y.")
    return sentences


def check_tags(
    y: Iterable[Sequence[str]], *, lengths: Sequence[int] | Array | None = None
) -> list[Sequence[str]]:
    """Return tag sequences as a list of lists of strings, of given lengths where there are any."""
    name = "y"
    sentences = check_sentences(y, name, "tags")
    if not all_strings(sentences):
        i, t, tag = _first_other(sentences)
        raise TypeError(
            f"{name}[{i}][{t}] is {tag!r} ({type(tag).__name__}): tags must be strings, for "
            "example str(tag)."
        )
    for tag in set(flatten(sentences)):
        if "\0" in tag:
            raise ValueError(f"{name} has the tag {tag!r}: a tag must not hold a zero byte.")
    if lengths is not None:
        _check_lengths(sentences, lengths)
    return sentences


def _check_lengths(tags: Sequence[Any], lengths: Sequence[int] | Array) -> None:
    """Refuse tags that do not match their tokens, naming the first sentence that differs."""
    if len(lengths) != len(tags):
        raise ValueError(f"X has {len(lengths)} sentences, but y has {len(tags)}.")
    for i, (n, row) in enumerate(zip(lengths, tags, strict=True)):
        if n != len(row):
            raise ValueError(
                f"Sentence {i} has {n} tokens, but {len(row)} tags: each token needs one tag."
            )


def check_tagged_sentences(X: Any, y: Any) -> tuple[list[Any], list[Sequence[str]]]:
    """Return sentences and the tags of their tokens."""
    sentences = check_sentences(X)
    return sentences, check_tags(y, lengths=[len(sentence) for sentence in sentences])


def check_tag_names(classes: ArrayLike) -> Array:
    """Return the tags of columns or states; they must be strings, as tags are."""
    names = check_classes(classes)
    for name in names.tolist():
        if not isinstance(name, str):
            raise TypeError(
                f"classes has {name!r} ({type(name).__name__}): tags must be strings, for example "
                "str(tag)."
            )
    return names


def all_strings(sentences: Sequence[Any]) -> bool:
    """Tell whether every item is a string, in one pass without a loop in Python."""
    return all(issubclass(kind, str) for kind in set(map(type, chain.from_iterable(sentences))))


def _first_other(sentences: Sequence[Any]) -> tuple[int, int, Any]:
    """Return where the first item is that is not a string."""
    return next(
        (i, t, item)
        for i, sentence in enumerate(sentences)
        for t, item in enumerate(sentence)
        if not isinstance(item, str)
    )


def check_tokens(sentences: Sequence[Any]) -> None:
    """Refuse tokens that are not strings."""
    if not all_strings(sentences):
        i, t, token = _first_other(sentences)
        raise TypeError(
            f"X[{i}][{t}] is {token!r} ({type(token).__name__}): tokens must be strings."
        )


def check_observations(sentences: Sequence[Any], n: Any, *, symbols: bool) -> Array:
    """Return one row per token: a symbol below n, or n finite numbers."""
    parts = []
    for i, sentence in enumerate(sentences):
        try:
            part = np.asarray(sentence)
        except ValueError:
            raise ValueError(f"Sentence {i} is ragged: its tokens differ in length.") from None
        part = part.reshape(len(part), -1)
        if part.dtype.kind not in "biuf":
            raise ValueError(
                f"Sentence {i} must hold numbers, which the wrapped model takes; for words pass "
                "vocabulary= to from_hmmlearn."
            )
        if symbols and (part.shape[1] != 1 or part.dtype.kind not in "iu"):
            raise ValueError(f"Sentence {i} must be a sequence of integer symbols.")
        if symbols and (part.min() < 0 or part.max() >= n):
            raise ValueError(f"Sentence {i} has a symbol outside 0 to {n - 1}.")
        if not symbols and part.shape[1] != (n or part.shape[1]):
            raise ValueError(
                f"Sentence {i} has {part.shape[1]} features per token; {n} are needed."
            )
        if not np.isfinite(part).all():
            raise ValueError(f"Sentence {i} must hold finite numbers only.")
        parts.append(part)
    return np.concatenate(parts)


def check_tag_pairs(
    pairs: int | Iterable[tuple[str, str]] | None,
    known: Sequence[tuple[str, str]],
    classes: Array,
) -> list[tuple[str, str]]:
    """Return the pairs of tags asked for: all known ones, the first few, or a list."""
    if pairs is None:
        return list(known)
    if not isinstance(pairs, (str, bytes)) and isinstance(pairs, Iterable):
        tags = set(classes.tolist())
        chosen = []
        for pair in pairs:
            entry = tuple(pair) if isinstance(pair, (tuple, list, np.ndarray)) else None
            if entry is None or len(entry) != 2:
                raise ValueError(f"pairs has {pair!r}; a pair of tags such as ('DT', 'NN') is due.")
            for tag in entry:
                if tag not in tags:
                    raise ValueError(
                        f"pairs has {entry!r}, but {tag!r} is not one of the tags "
                        f"{classes.tolist()[:10]}."
                    )
            chosen.append(entry)
        if not chosen:
            raise ValueError("pairs is empty: name at least one pair of tags.")
        if len(set(chosen)) != len(chosen):
            raise ValueError("pairs names a pair twice.")
        return chosen
    return list(known[: check_integer(pairs, "pairs")])


def flatten(sentences: Iterable[Iterable[T]]) -> list[T]:
    """Return all items of all sentences, end to end."""
    return list(chain.from_iterable(sentences))


def check_vocabulary(vocabulary: Any, n_symbols: int) -> dict[str, int]:
    """Return the symbol of each word, from a list of words or a mapping."""
    words = vocabulary
    if not isinstance(vocabulary, Mapping):
        if isinstance(vocabulary, (str, bytes)) or not isinstance(vocabulary, Iterable):
            raise TypeError("vocabulary must be a list of words, or a dict of words to symbols.")
        listed = list(vocabulary)
        words = {word: i for i, word in enumerate(listed)}
        if len(words) != len(listed):
            raise ValueError("vocabulary names a word twice.")
    if not words:
        raise ValueError("vocabulary is empty.")
    for word, symbol in words.items():
        if not isinstance(word, str):
            raise TypeError(f"vocabulary has {word!r}; words must be strings.")
        if not 0 <= check_integer(symbol, f"the symbol of {word!r}", low=0) < n_symbols:
            raise ValueError(
                f"vocabulary has the symbol {symbol} for {word!r}; the model has symbols from 0 to "
                f"{n_symbols - 1}."
            )
    return dict(words)


def check_partition(folds: Sequence[tuple[Array, Array]], n: int) -> None:
    """Refuse folds that leave a sentence out, test it twice, or train on it."""
    parts = []
    for train, test in folds:
        parts.append(np.asarray(test))
        if parts[-1].dtype.kind not in "iu" or np.asarray(train).dtype.kind not in "iu":
            raise ValueError(
                "cv must yield the numbers of sentences, as two integer arrays per fold."
            )
        both = np.intersect1d(train, test)
        if len(both):
            raise ValueError(f"Sentence {both[0]} is in the training and in the test of one fold.")
    every = np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)
    if len(every) and (every.min() < 0 or every.max() >= n):
        raise ValueError(f"cv yields numbers of sentences outside 0 to {n - 1}.")
    times = np.bincount(every, minlength=n)
    if (times != 1).any():
        i = int((times != 1).argmax())
        raise ValueError(
            f"Sentence {i} is in {times[i]} test folds: cv must put each sentence into exactly one."
        )
