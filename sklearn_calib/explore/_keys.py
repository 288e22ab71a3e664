"""Keys: what a rule returns, and what is counted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

# A rule may return one key, several, or none (None or False).
Found = Hashable | Iterable[Hashable]


def as_keys(found: Found, name: str) -> tuple[Hashable, ...]:
    """Return the keys that a rule returned: none, one or several.

    `name` says whose keys they are, for messages.
    """
    if isinstance(found, np.ndarray) and found.ndim == 0:
        found = found.item()
    several: Iterable[object] = (found,)
    if isinstance(found, Iterable) and not isinstance(found, (str, bytes, tuple)):
        several = found
    keys: list[Hashable] = []
    for key in several:
        if key is None or key is False or key is np.False_:
            continue
        if not is_hashable(key):
            raise TypeError(
                f"{name}: the rule returned the key {key!r}, which cannot be counted because it "
                "is not hashable. Return a str, a number, a tuple, or a list of such keys."
            )
        keys.append("yes" if key is True or key is np.True_ else key)
    return tuple(keys)


def is_hashable(value: object) -> bool:
    """Tell whether a value can be a key, with all that it holds."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def key_name(key: Hashable) -> str:
    """Return a key as people read it: the parts of a tuple with dots between them."""
    return " · ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def check_keys(keys: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return a user's list of keys, refusing a single one and repeats."""
    if isinstance(keys, (str, bytes)) or not isinstance(keys, Iterable):
        raise TypeError(f"keys must be a list of keys, such as [{keys!r}].")
    found = tuple(keys)
    seen = set()
    for key in found:
        if not is_hashable(key):
            raise TypeError(f"keys: {key!r} cannot be a key, because it is not hashable.")
        if key in seen:
            raise ValueError(f"keys: {key!r} is named twice.")
        seen.add(key)
    return found


def some_keys(keys: Sequence[Hashable], most: int = 10) -> str:
    """Return the first keys as they stand in a message."""
    return f"{', '.join(map(repr, keys[:most]))}{', ...' if len(keys) > most else ''}"
