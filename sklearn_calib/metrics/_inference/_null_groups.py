"""The null of queries that depend on each other within groups.

Flipping the signs of whole groups keeps every dependence within a group and is
exact where residuals are symmetric. Drawing answers from their predictions, as
dependent within groups as those seen, keeps their skewness.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import sparse, special

from sklearn_calib._validation import Array
from sklearn_calib.metrics._inference._null_cells import CHUNK, Draws, NullCells

# Up to so many groups their signs are flipped; beyond, their sums are as good as normal.
_FLIP_UP_TO = 2_000

# Correlations to choose from.
_CORRELATIONS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)

# Once so many groups, or all, have surprises, they tell how strongly answers of a group depend;
# until then it may be the strongest.
_TELLING_GROUPS = 30

# Draws that estimate how large products within groups are for a correlation.
_FEW_DRAWS = 40


def flipped(cells: NullCells, basis: Array, n: int, rng: np.random.Generator) -> Draws:
    """Return sums with the signs of whole groups flipped.

    With very many groups, these are normal variables with the covariance that
    flipped sums have.
    """
    by_cell, scores = cells.by_group, cells.group_scores(basis)
    n_groups = by_cell.shape[0]
    if n_groups <= _FLIP_UP_TO:
        signs = rng.integers(0, 2, (n, n_groups)) * 2.0 - 1.0
        return Draws(signs @ by_cell, signs @ scores)
    both = sparse.hstack([by_cell, sparse.csr_array(scores)]).tocsr()
    value, vector = np.linalg.eigh((both.T @ both).toarray())
    root = vector * np.sqrt(np.maximum(value, 0.0))
    normal = rng.standard_normal((n, len(value))) @ root.T
    return Draws(normal[:, : cells.n_cells], normal[:, cells.n_cells :])


def dependent(
    cells: NullCells, group: Array, basis: Array, n: int, rng: np.random.Generator
) -> Iterator[Draws]:
    """Yield sums of drawn answers that depend on each other as those seen do, in parts."""
    correlation = within_correlation(cells, group, rng)
    for residuals in dependent_residuals(cells, group, correlation, n, rng):
        yield Draws(np.add.reduceat(residuals, cells.starts, axis=1), residuals @ basis)


def dependent_residuals(
    cells: NullCells, group: Array, correlation: float, n: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Yield weighted residuals of answers that depend on each other within a group, in parts.

    Each answer is yes with its predicted probability; within a group the answers
    are tied by normal variables of equal correlation.
    """
    edge = special.ndtri(cells.q)
    n_groups = int(group.max()) + 1
    own, common = math.sqrt(1.0 - correlation), math.sqrt(correlation)
    part = int(np.clip(CHUNK / len(edge), 1, n))
    for first in range(0, n, part):
        size = min(part, n - first)
        level = rng.standard_normal((size, len(edge)))
        level *= own
        level += common * rng.standard_normal((size, n_groups))[:, group]
        yield cells.w * ((level < edge) - cells.q)


def within_correlation(cells: NullCells, group: Array, rng: np.random.Generator) -> float:
    """Return the correlation whose draws have products within groups as large as those seen.

    Groups without a surprise tell nothing: where few have any, it is larger.
    """
    # Both answers to one half are as surprising, whichever class is called positive.
    surprising = (cells.y != (cells.q > 0.5)) | (cells.q == 0.5)
    unknown = untold_dependence(group, surprising)
    return max(_seen_correlation(cells, group, rng), unknown * _CORRELATIONS[-1])


def untold_dependence(group: Array, surprising: Array) -> float:
    """Return how little surprises tell of the dependence in groups: 1 where there are none."""
    telling = min(int(group.max()) + 1, _TELLING_GROUPS)
    return max(0.0, 1.0 - len(np.unique(group[surprising])) / telling)


def _seen_correlation(cells: NullCells, group: Array, rng: np.random.Generator) -> float:
    n, n_groups = len(cells), int(group.max()) + 1
    to_group = sparse.csr_array((np.ones(n), (np.arange(n), group)), shape=(n, n_groups))

    def products(residuals: Array) -> Array:
        """Return the sum of products of different residuals of a group, one per draw."""
        own = np.square(residuals).sum(axis=1)
        together: Array = np.square(residuals @ to_group).sum(axis=1)
        return together - own

    seen = float(products(cells.residuals[None, :])[0])
    if seen <= 0.0:
        return 0.0
    seed = int(rng.integers(2**32))
    expected = [0.0]
    for correlation in _CORRELATIONS[1:]:
        # The same random numbers for each, so that the means rise with the correlation.
        same = np.random.default_rng(seed)
        draws = dependent_residuals(cells, group, correlation, _FEW_DRAWS, same)
        expected.append(float(np.mean(np.concatenate([products(part) for part in draws]))))
    return float(np.interp(seen, np.maximum.accumulate(expected), _CORRELATIONS))
