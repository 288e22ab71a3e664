"""Counts of fewer keys: some of them, or several as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib._validation import Array

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


def pool(posterior: CountPosterior, groups: Mapping[Any, Iterable[Any]]) -> CountPosterior:
    """Return counts by group; a document counts once for each group."""
    documents, keys, counts, best, mentions = [], [], [], [], []
    for at, old in enumerate(groups.values()):
        if isinstance(old, str):
            raise TypeError(f"groups: pass a list of keys, not the single str {old!r}.")
        wanted = [posterior._key_index(key) for key in old]
        rows = np.flatnonzero(np.isin(posterior.hit_key, wanted))
        for document in np.unique(posterior.hit_document[rows]):
            mine = rows[posterior.hit_document[rows] == document]
            often = mine[np.argmax(posterior.hit_counts[mine].sum(axis=1))]
            documents.append(document)
            keys.append(at)
            counts.append((posterior.hit_counts[mine] > 0).any(axis=0))
            mentions.append(posterior.hit_mentions[often])
            if posterior.hit_best is not None:
                best.append((posterior.hit_best[mine] > 0).any())
    return replace(
        posterior,
        keys=tuple(groups),
        hit_document=np.array(documents, dtype=np.int64),
        hit_key=np.array(keys, dtype=np.int64),
        hit_counts=np.array(counts, dtype=np.uint8).reshape(-1, posterior.n_samples),
        hit_best=None if posterior.hit_best is None else np.array(best, dtype=np.int64),
        hit_mentions=tuple(mentions),
    )
