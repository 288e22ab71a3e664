"""What a rule answers about one document or sentence, sample by sample.

A rule sees each distinct entity of a document once, however many samples it
occurs in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array
from sklearn_calib.coref import Document
from sklearn_calib.explore._keys import Found, as_keys

# A rule about the entities of a document, given as the indices of their mentions.
EntityRule = Callable[[Document, tuple[int, ...]], Found]
# A rule about the tags of a sentence, given its tokens and one tag per token.
TagRule = Callable[[Sequence[Any], list[Any]], Found]

# Mentions that are kept to show why a document was counted.
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Answer:
    """The keys of one document.

    Attributes
    ----------
    counts : mapping of key to ndarray of int of shape (n_samples,)
        How often each key was found in each sample; absent keys never were.
    best : mapping of key to int, or None
        The same in the single best structure, where there is one.
    mentions : mapping of key to tuple of str
        Mentions of the entity for which the key was found most often.
    n_samples : int
        Number of samples.
    """

    counts: Mapping[Hashable, Array]
    best: Mapping[Hashable, int] | None
    mentions: Mapping[Hashable, tuple[str, ...]]
    n_samples: int


def check_rule(rule: EntityRule) -> EntityRule:
    """Refuse what cannot be asked about an entity."""
    if not callable(rule) and not hasattr(rule, "bind"):
        raise TypeError(
            f"rule must be callable as rule(document, entity), got {type(rule).__name__}."
        )
    return rule


def check_samples(samples: ArrayLike, n: int, *, name: str, unit: str) -> Array:
    """Return samples of shape (n_samples, n), one column per mention or token."""
    array = np.asarray(samples)
    if array.ndim != 2 or array.shape[1] != n or array.shape[0] == 0:
        raise ValueError(
            f"{name} has {n} {unit}s, so that its samples must have shape (n_samples, {n}); got "
            f"{array.shape}. Are the samples in the right order?"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name}: its samples contain NaN or infinity.")
    return array


def check_best(best: ArrayLike, n: int, *, name: str, unit: str, what: str) -> Array:
    """Return the single best structure, one entry per mention or token."""
    array = np.asarray(best)
    if array.shape != (n,):
        raise ValueError(f"{name} has {n} {unit}s, but its best {what} have shape {array.shape}.")
    return array


def entity_answer(
    document: Document, samples: Array, rule: EntityRule, best: Array | None, *, name: str
) -> Answer:
    """Apply a rule to the sampled entities of a document: it has a key once, or not at all.

    The samples have been checked, or come from a model.
    """
    bind = getattr(rule, "bind", None)
    bound = partial(rule, document) if bind is None else bind(document)
    if bound is None:  # no entity can have a key
        return Answer({}, None if best is None else {}, {}, len(samples))
    # Where other mentions make no difference, entities are cut down to those that matter.
    matter = np.asarray(getattr(bound, "mentions", np.arange(len(document))), dtype=np.intp)
    memo: dict[bytes, tuple[Hashable, ...]] = {}

    def keys_of(entity: Array) -> tuple[Hashable, ...]:
        members = entity.tobytes()
        if members not in memo:
            memo[members] = as_keys(bound(tuple(matter[entity].tolist())), name)
        return memo[members]

    found, often = _or_over_entities(samples[:, matter], keys_of)
    mentions = {
        key: tuple(document.mention_text(i) for i in matter[entity[:_SHOWN]])
        for key, (_, entity) in often.items()
    }
    chosen = None
    if best is not None:
        chosen = dict.fromkeys(_or_over_entities(best[np.newaxis, matter], keys_of)[0], 1)
    return Answer(found, chosen, mentions, len(samples))


def _or_over_entities(
    samples: Array, keys_of: Callable[[Array], Sequence[Hashable]]
) -> tuple[dict[Hashable, Array], dict[Hashable, tuple[int, Array]]]:
    """Return in which samples some entity has each key, and the most frequent such entity."""
    found: dict[Hashable, Array] = {}
    often: dict[Hashable, tuple[int, Array]] = {}
    if samples.shape[1] == 0:
        return found, often
    row, entities, which = distinct_entities(samples)
    frequency = np.bincount(which, minlength=len(entities))
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(frequency)
    for i, entity in enumerate(entities):
        for key in keys_of(entity):
            rows = row[order[ends[i] - frequency[i] : ends[i]]]
            if key not in found:
                found[key] = np.zeros(len(samples), dtype=np.uint8)
            found[key][rows] = 1
            if key not in often or frequency[i] > often[key][0]:
                often[key] = (int(frequency[i]), entity)
    return found, often


def distinct_entities(samples: Array) -> tuple[Array, list[Array], Array]:
    """Return the entities of sampled clusterings without repeats.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_mentions)
        The entity of each mention.

    Returns
    -------
    row : ndarray
        The sample of each entity of each sample.
    entities : list of ndarray
        The distinct entities, as the indices of their mentions.
    which : ndarray
        Which of the distinct entities each entity of each sample is.
    """
    n_samples, n = samples.shape
    codes = np.unique(samples, return_inverse=True)[1].reshape(samples.shape)
    flat = (codes + np.arange(n_samples)[:, np.newaxis] * (int(codes.max()) + 1)).ravel()
    order = np.argsort(flat, kind="stable")
    members = order % n
    start = np.flatnonzero(np.diff(flat[order], prepend=-1))
    size = np.diff(start, append=len(order))
    for seed in count():
        # A random number for each mention; an entity is known by the sum over its mentions.
        label = np.random.default_rng(seed).integers(2**63, size=(n,), dtype=np.uint64)
        total = np.add.reduceat(label[members], start)
        _, first, which = np.unique(total, return_index=True, return_inverse=True)
        same = start[first[which]]
        step = np.arange(len(order)) - np.repeat(start, size)
        if (size[first[which]] == size).all() and (
            members[np.repeat(same, size) + step] == members
        ).all():
            break  # else two entities have the same sum, and other numbers are tried
    entities = [members[start[i] : start[i] + size[i]] for i in first]
    return order[start] // n, entities, which


def tag_answer(
    tokens: Sequence[Any], samples: Array, rule: TagRule, best: Array | None, *, name: str
) -> Answer:
    """Apply a rule to the sampled tags of a sentence; every occurrence of a key counts."""
    rows, which = _distinct_rows(samples)
    found: dict[Hashable, Array] = {}
    for i, row in enumerate(rows):
        for key, times in Counter(as_keys(rule(tokens, row), name)).items():
            if key not in found:
                found[key] = np.zeros(len(samples), dtype=np.int64)
            found[key][which == i] = times
    found = {key: often.astype(np.min_scalar_type(often.max())) for key, often in found.items()}
    chosen = None
    if best is not None:
        chosen = dict(Counter(as_keys(rule(tokens, best.tolist()), name)))
    text = (" ".join(map(str, tokens)),)
    return Answer(found, chosen, dict.fromkeys(found, text), len(samples))


def _distinct_rows(array: Array) -> tuple[list[list[Any]], Array]:
    """Return the distinct rows, and which of them each row is."""
    places: dict[tuple[Any, ...], int] = {}
    which = [places.setdefault(tuple(row), len(places)) for row in array.tolist()]
    return [list(row) for row in places], np.array(which)
