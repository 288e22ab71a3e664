"""Counts of fewer keys: some of them, or several as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib._validation import Array, check_option

if TYPE_CHECKING:
    from sklearn_calib.explore._posterior import CountPosterior


def choose_keys(posterior: CountPosterior, keys: tuple[Any, ...], place: Array) -> CountPosterior:
    """Return counts of some keys; `place` holds the new place of each old key, or -1."""
    kept = np.flatnonzero(place[posterior.hit_key] >= 0)
    best = posterior.hit_best
    return replace(
        posterior,
        keys=keys,
        hit_document=posterior.hit_document[kept],
        hit_key=place[posterior.hit_key[kept]],
        hit_counts=posterior.hit_counts[kept],
        hit_best=None if best is None else best[kept],
        hit_mentions=tuple(posterior.hit_mentions[i] for i in kept),
    )


def pool(
    posterior: CountPosterior, groups: Mapping[Any, Iterable[Any]], how: str | None
) -> CountPosterior:
    """Return counts by group of keys."""
    if how is not None:
        check_option(how, "how", ("any", "sum"))
    elif posterior.hit_counts.size and posterior.hit_counts.max() > 1:
        raise ValueError(
            "A document may count more than once here: pass how='sum' to add the counts of the "
            "keys, or how='any' to count documents that have one of them."
        )
    if not isinstance(groups, Mapping):
        raise TypeError(
            "groups must map each new key to a list of old ones, such as {'any': ['A', 'B']}; got "
            f"{type(groups).__name__}."
        )
    often = posterior.hit_counts.sum(axis=1, dtype=np.int64)
    rows, starts, keys = [], [], []
    size = 0
    for at, old in enumerate(groups.values()):
        if isinstance(old, str):
            raise TypeError(f"groups: pass a list of keys, not the single str {old!r}.")
        wanted = [posterior._key_index(key) for key in old]
        mine = np.flatnonzero(np.isin(posterior.hit_key, wanted))
        # By document, and the most frequent key first.
        mine = mine[np.lexsort((-often[mine], posterior.hit_document[mine]))]
        _, start = np.unique(posterior.hit_document[mine], return_index=True)
        rows.append(mine)
        starts.append(start + size)
        keys.append(np.full(len(start), at))
        size += len(mine)
    row = np.concatenate([np.empty(0, dtype=np.intp), *rows])
    start = np.concatenate([np.empty(0, dtype=np.intp), *starts])

    def joined(values: Array) -> Array:
        if len(start) == 0:
            return np.zeros((0, *values.shape[1:]), dtype=np.uint8)
        if how == "sum":
            return np.add.reduceat(values[row].astype(np.int64), start, axis=0)
        return np.logical_or.reduceat(values[row] > 0, start, axis=0).astype(np.uint8)

    return replace(
        posterior,
        keys=tuple(groups),
        hit_document=posterior.hit_document[row[start]],
        hit_key=np.concatenate([np.empty(0, dtype=np.intp), *keys]),
        hit_counts=joined(posterior.hit_counts),
        hit_best=None if posterior.hit_best is None else joined(posterior.hit_best),
        hit_mentions=tuple(posterior.hit_mentions[i] for i in row[start]),
    )
