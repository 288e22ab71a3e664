"""Answers drawn from the predictions, at the cost of those that go against them.

A surprise is an answer that goes against its prediction: a yes where no is
more likely, or a no where yes is. Where predictions are sure, surprises are
few, and a draw of all answers costs no more than they do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sklearn_calib._validation import Array

# Entries that are drawn at a time.
_CHUNK = 2_000_000


def expected_surprises(q: Array) -> float:
    """Return the expected number of answers that go against their prediction."""
    return float(np.minimum(q, 1.0 - q).sum())


def draw_surprises(
    q: Array, n_draws: int, rng: np.random.Generator, width: int = 1
) -> Iterator[tuple[int, Array, Array]]:
    """Yield parts of so many draws: their number, and the row and column of each surprise.

    A row is a draw, a column a query. `width` is how many numbers a draw needs in
    what is made of it, so that parts are not too large for that.
    """
    chance = np.minimum(q, 1.0 - q)
    step = int(np.clip(_CHUNK / (chance.sum() + width), 1, n_draws))
    for first in range(0, n_draws, step):
        size = min(step, n_draws - first)
        yield size, *_events(chance, size, rng)


def _events(chance: Array, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw n rows of independent events; return the row and the column of those that happen."""
    count = rng.binomial(n, chance)
    # Crowded columns are drawn entry by entry. For the others, the number of events is
    # binomial, and they fall on distinct rows.
    crowded = np.flatnonzero(count > n // 16)
    placed = count.copy()
    placed[crowded] = 0
    column = np.repeat(np.arange(len(chance)), placed)
    row = rng.integers(0, n, len(column))
    while True:
        # Events of one column that fell on one row are placed again, all but the first.
        key = column * n + row
        order = np.argsort(key, kind="stable")
        again = order[1:][key[order][1:] == key[order][:-1]]
        if len(again) == 0:
            break
        row[again] = rng.integers(0, n, len(again))
    if len(crowded) == 0:
        return row, column
    rows, columns = [row], [column]
    step = max(1, _CHUNK // n)
    for first in range(0, len(crowded), step):
        part = crowded[first : first + step]
        at, hit = np.nonzero(rng.random((len(part), n)) < chance[part, None])
        rows.append(hit)
        columns.append(part[at])
    return np.concatenate(rows), np.concatenate(columns)
