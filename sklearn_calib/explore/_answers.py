"""What a rule says about one document, sample by sample.

A rule sees each distinct entity of a document once, however many samples it
occurs in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.coref import Document

# Mentions that are kept to show why a document was counted.
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Answer:
    """The keys of one document.

    Attributes
    ----------
    counts : dict of key to ndarray of int of shape (n_samples,)
        How often each key was found in each sample; absent keys never were.
    best : dict of key to int, or None
        The same in the single best structure, where there is one.
    mentions : dict of key to tuple of str
        Mentions of the entity for which the key was found most often.
    n_samples : int
        Number of samples.
    """

    counts: dict[Any, Array]
    best: dict[Any, int] | None
    mentions: dict[Any, tuple[str, ...]]
    n_samples: int


def as_keys(found: Any, where: str) -> tuple[Any, ...]:
    """Return the keys that a rule returned: none, one or several."""
    if isinstance(found, np.ndarray) and found.ndim == 0:
        found = found.item()
    several = isinstance(found, Iterable) and not isinstance(found, (str, bytes, tuple))
    keys: list[Any] = []
    for key in found if several else (found,):
        if key is None or key is False or key is np.False_:
            continue
        if not is_hashable(key):
            raise TypeError(
                f"{where}: the rule returned the key {key!r}, which cannot be counted because it "
                "is not hashable. Return a str, a number, a tuple, or a list of such keys."
            )
        keys.append("yes" if key is True or key is np.True_ else key)
    return tuple(keys)


def is_hashable(value: Any) -> bool:
    """Tell whether a value can be a key, with all that it holds."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def check_keys(keys: Any) -> tuple[Any, ...] | None:
    """Return the keys to count, if they were chosen, refusing repeats."""
    if keys is None:
        return None
    if isinstance(keys, (str, bytes)) or not isinstance(keys, Iterable):
        raise TypeError(f"keys must be a list of keys, such as [{keys!r}].")
    found = tuple(keys)
    for at, key in enumerate(found):
        if not is_hashable(key):
            raise TypeError(f"keys: {key!r} cannot be a key, because it is not hashable.")
        if key in found[:at]:
            raise ValueError(f"keys: {key!r} is named twice.")
    return found


def check_samples(samples: Any, n: int, where: str, unit: str) -> Array:
    """Return samples of shape (n_samples, n)."""
    array = np.asarray(samples)
    if array.ndim != 2 or array.shape[1] != n or array.shape[0] == 0:
        raise ValueError(
            f"{where} has {n} {unit}s, so that its samples must have shape (n_samples, {n}); got "
            f"{array.shape}. Are the samples in the right order?"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{where}: its samples contain NaN or infinity.")
    return array


def answer_document(document: Document, samples: Any, rule: Any, best: Any = None) -> Answer:
    """Apply a rule to the sampled entities of a document."""
    where = f"Document {document.id!r}"
    array = check_samples(samples, len(document), where, "mention")
    if hasattr(rule, "bind"):
        bound = rule.bind(document)  # None where no entity can have a key
    elif callable(rule):
        bound = partial(rule, document)
    else:
        raise TypeError(
            f"rule must be callable as rule(document, entity), got {type(rule).__name__}."
        )
    if best is not None and np.shape(best) != (len(document),):
        raise ValueError(
            f"{where} has {len(document)} mentions, but its best entities have shape "
            f"{np.shape(best)}."
        )
    if bound is None:
        return Answer({}, None if best is None else {}, {}, len(array))
    # Where other mentions make no difference, entities are cut down to those that matter.
    matter = np.asarray(getattr(bound, "mentions", np.arange(len(document))), dtype=np.intp)
    memo: dict[bytes, tuple[Any, ...]] = {}

    def keys_of(entity: Array) -> tuple[Any, ...]:
        name = entity.tobytes()
        if name not in memo:
            memo[name] = as_keys(bound(tuple(matter[entity].tolist())), where)
        return memo[name]

    found, often = _or_over_entities(array[:, matter], keys_of)
    mentions = {
        key: tuple(document.mention_text(i) for i in matter[entity[:_SHOWN]])
        for key, (_, entity) in often.items()
    }
    chosen = None
    if best is not None:
        row = np.asarray(best)[np.newaxis, matter]
        chosen = dict.fromkeys(_or_over_entities(row, keys_of)[0], 1)
    return Answer(found, chosen, mentions, len(array))


def _or_over_entities(
    samples: Array, keys_of: Callable[[Array], Sequence[Any]]
) -> tuple[dict[Any, Array], dict[Any, tuple[int, Array]]]:
    """Return in which samples some entity has each key, and the most frequent such entity."""
    found: dict[Any, Array] = {}
    often: dict[Any, tuple[int, Array]] = {}
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


def answer_tags(
    where: str, tokens: Sequence[Any], samples: Any, rule: Callable[..., Any], best: Any = None
) -> Answer:
    """Apply a rule to the sampled tags of a sentence; every occurrence of a key counts."""
    array = check_samples(samples, len(tokens), where, "token")
    rows, which = _distinct_rows(array)
    found: dict[Any, Array] = {}
    for i, row in enumerate(rows):
        for key, times in Counter(as_keys(rule(tokens, row), where)).items():
            if key not in found:
                found[key] = np.zeros(len(array), dtype=np.int64)
            found[key][which == i] = times
    found = {key: often.astype(np.min_scalar_type(often.max())) for key, often in found.items()}
    chosen = None
    if best is not None:
        row = check_samples([best], len(tokens), f"{where}, best tags:", "token")[0]
        chosen = dict(Counter(as_keys(rule(tokens, row.tolist()), where)))
    text = (" ".join(map(str, tokens)),)
    return Answer(found, chosen, dict.fromkeys(found, text), len(array))


def _distinct_rows(array: Array) -> tuple[list[list[Any]], Array]:
    """Return the distinct rows, and which of them each row is."""
    places: dict[tuple[Any, ...], int] = {}
    which = [places.setdefault(tuple(row), len(places)) for row in array.tolist()]
    return [list(row) for row in places], np.array(which)
