"""Statistics that see different errors, and how their p-values are combined.

* "kuiper", the range of the running sum of residuals: errors of one sign over a
  long stretch;
* "cox", the score statistic of a wrong intercept or slope in the log-odds;
* "local", sums of residuals under humps of two widths that lie side by side over
  the null variance: errors of one sign over some stretch;
* "waves", sums of residuals times cosines, the first 1, 2, 4, ... 32 of them:
  anything else. The cosines run over the null variance and are orthonormal
  under it; they take the part of a binned statistic and find more than bins do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy import special, stats

from sklearn_calib._validation import Array
from sklearn_calib.metrics._inference._null_cells import Draws, NullCells

# The parts of the omnibus test.
PARTS = ("kuiper", "cox", "local", "waves")

# Resolutions of the wave statistic: it sums the squares of so many first cosines.
RESOLUTIONS = (1, 2, 4, 8, 16, 32)

# Standard deviations of the humps of the local statistic, as shares of the null variance.
WIDTHS = (1 / 16, 1 / 8)

# Log-odds are kept within those of one in a million.
LEAST_PROBABILITY = 1e-6


def log_odds(q: Array) -> Array:
    """Return log-odds, kept within those of one in a million."""
    clipped: Array = special.logit(np.clip(q, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))
    return clipped


def cox_basis(cells: NullCells) -> Array:
    """Return columns 1 and centred log-odds, orthonormal under the null variance.

    With them, Cox's score statistic is a sum of two squares. The second column is
    zero where all predictions are equal.
    """
    v, x = cells.variance, log_odds(cells.q)
    total = float(v.sum())
    away = x - float(np.dot(v, x)) / total
    spread = float(np.dot(v, np.square(away)))
    slope = away / math.sqrt(spread) if spread > 1e-12 * total else np.zeros(len(x))
    return np.stack([np.full(len(x), 1.0 / math.sqrt(total)), slope], axis=1)


def cosine_basis(variance: Array) -> Array:
    """Return cosines over the null variance, orthonormal under it: one row per cell.

    The first column is constant. There are at most 32 columns, and no more than
    there are cells.
    """
    n_cosines = min(RESOLUTIONS[-1], len(variance))
    time = (np.cumsum(variance) - 0.5 * variance) / variance.sum()
    waves = np.cos(np.pi * np.outer(time, np.arange(n_cosines)))
    root = np.sqrt(variance)[:, None]
    basis: Array = np.linalg.qr(waves * root)[0] / root
    return basis


def hump_basis(variance: Array) -> Array:
    """Return humps over the null variance, each of variance one: one row per cell.

    The humps of each width lie side by side, a standard deviation apart.
    """
    time = (np.cumsum(variance) - 0.5 * variance) / variance.sum()
    humps = []
    for width in WIDTHS:
        away = (time[:, None] - np.linspace(0.0, 1.0, round(1.0 / width) + 1)) / width
        humps.append(np.exp(-0.5 * np.square(away)))
    basis = np.concatenate(humps, axis=1)
    scaled: Array = basis / np.sqrt(variance @ np.square(basis))
    return scaled


def local_score(z: Array) -> Array:
    """Return the Cauchy combination over widths and places of the sums under humps.

    Each sum is compared with the normal law. One row per draw.
    """
    ends = np.cumsum([round(1.0 / width) + 1 for width in WIDTHS])[:-1]
    scores = [cauchy_score(2.0 * special.ndtr(-np.abs(part))) for part in np.split(z, ends, axis=1)]
    mean: Array = np.mean(scores, axis=0)
    return mean


def wave_score(z: Array) -> Array:
    """Return the Cauchy combination over resolutions of the squares of cosine sums.

    At each resolution the sum of the first squares is compared with its
    chi-squared law. One row per draw.
    """
    squares = np.cumsum(np.square(z), axis=1)
    used = sorted({min(k, z.shape[1]) for k in RESOLUTIONS})
    return cauchy_score(np.stack([special.chdtrc(k, squares[:, k - 1]) for k in used], axis=1))


def kuiper_range(sums: Array) -> Array:
    """Return the range of the running sum over cells, one row per draw."""
    walk = np.cumsum(sums, axis=1)
    reach: Array = np.maximum(walk.max(axis=1), 0.0) - np.minimum(walk.min(axis=1), 0.0)
    return reach


def brownian_range_sf(x: float) -> float:
    """Return the probability that Brownian motion on [0, 1] has a range above x (Feller 1951)."""
    if x < 0.3:
        return 1.0  # to 16 digits
    # Terms whose normal tail is not zero in float64.
    k = np.arange(1, 2 + math.floor(40.0 / x))
    series = 8.0 * np.sum((-1.0) ** (k - 1) * k * special.ndtr(-k * x))
    return float(np.clip(series, 0.0, 1.0))


class NullStatistics:
    """Some of the statistics as functions of draws.

    Parameters
    ----------
    cells : NullCells
        What the draws are sums of.
    names : sequence of str
        Which statistics, of `PARTS`.
    by_group : bool
        Whether sums are scaled by how much whole groups vary, and not as if
        queries were independent.
    """

    def __init__(self, cells: NullCells, names: Sequence[str], *, by_group: bool = False) -> None:
        self.names = tuple(names)
        self.basis = cox_basis(cells)
        self.freedom = 2 if self.basis[:, 1].any() else 1
        self._cells = cells
        self._by_group = by_group

    @cached_property
    def _sd(self) -> float:
        """Standard deviation of the sum of all residuals."""
        alone = float(self._cells.variance.sum())
        if not self._by_group:
            return math.sqrt(alone)
        # Residuals of a group may add up, or cancel as those of the classes of a row do.
        # In the latter case the end of the walk says nothing about its way there.
        together = np.square(self._cells.by_group.sum(axis=1)).sum()
        return math.sqrt(max(alone, float(together)))

    @cached_property
    def _precision(self) -> Array:
        """Inverse of the covariance of Cox's scores."""
        if not self._by_group:
            return np.eye(2)
        scores = self._cells.group_scores(self.basis)
        inverse: Array = np.linalg.pinv(scores.T @ scores, rcond=1e-9, hermitian=True)
        return inverse

    @cached_property
    def _cosines(self) -> Array:
        """The cosines, divided by the standard deviation of their sums."""
        return self._scaled(cosine_basis)

    @cached_property
    def _humps(self) -> Array:
        """The humps, divided by the standard deviation of their sums."""
        return self._scaled(hump_basis)

    def _scaled(self, make: Callable[[Array], Array]) -> Array:
        """Return columns of cells, divided by the standard deviation of their sums."""
        cells = self._cells
        columns = make(np.bincount(cells.cell, cells.variance))
        if not self._by_group:
            return columns
        scale = np.sqrt([np.square(cells.by_group @ column).sum() for column in columns.T])
        scale[scale == 0.0] = np.inf
        return columns / scale

    def of(self, draws: Draws) -> Array:
        """Return the statistics of each draw, one column per name."""
        return np.stack([self._one(name, draws) for name in self.names], axis=1)

    def _one(self, name: str, draws: Draws) -> Array:
        if name == "kuiper":
            return kuiper_range(draws.sums) / self._sd
        if name == "cox":
            u = draws.scores
            square: Array = np.einsum("ij,jk,ik->i", u, self._precision, u)
            return square
        if name == "local":
            return local_score(draws.sums @ self._humps)
        return wave_score(draws.sums @ self._cosines)

    def limits(self, values: Array) -> Array:
        """Return the p-values of a row of statistics in the limit of large samples."""
        laws = {
            "kuiper": brownian_range_sf,
            "cox": lambda x: float(special.chdtrc(self.freedom, x)),
            "local": lambda x: float(stats.cauchy.sf(x)),
            "waves": lambda x: float(stats.cauchy.sf(x)),
        }
        return np.array([laws[name](x) for name, x in zip(self.names, values, strict=True)])


def cauchy_score(pvalues: Array) -> Array:
    """Return the Cauchy combination of p-values along the last axis (Liu & Xie 2020)."""
    # A p-value of 1 would outweigh any evidence: only evidence against the null counts.
    score: Array = np.tan((0.5 - np.clip(pvalues, 1e-300, 0.99)) * np.pi).mean(axis=-1)
    return score


def cauchy_pvalue(pvalues: Array) -> float:
    """Return the p-value of the Cauchy combination of p-values."""
    least = float(pvalues.min())
    if least <= 1e-15:
        # Beyond the precision of the tangent, the smallest of them is all that counts.
        return min(1.0, len(pvalues) * least)
    return float(stats.cauchy.sf(cauchy_score(pvalues)))


def upper_ranks(values: Array) -> Array:
    """Return for each entry of each column the share of the column that is at least as large."""
    n = len(values)
    shares = np.empty(values.shape)
    for k, column in enumerate(values.T):
        # Rounding must not decide between draws that are really equal.
        rounded = np.round(column / (np.abs(column).max() or 1.0), 11)
        shares[:, k] = (n - np.searchsorted(np.sort(rounded), rounded, side="left")) / n
    return shares


def ranked_combination(pool: Array) -> tuple[float, Array]:
    """Return the p-value of the first row of a pool of exchangeable rows, and of its columns.

    Each column is turned into p-values by its ranks in the pool, these are
    combined row by row, and the first row's combination is ranked in turn. If
    every prediction is right all rows are alike, so that the level is exact
    whatever the statistics.
    """
    shares = upper_ranks(pool)
    if shares.shape[1] == 1:
        return float(shares[0, 0]), shares[0]
    score = cauchy_score(shares)
    least = score[0] - 1e-9 * max(1.0, abs(float(score[0])))
    return float(np.count_nonzero(score >= least) / len(pool)), shares[0]
