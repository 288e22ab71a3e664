"""Draw the counts of all periods and keys again, when probabilities have changed together.

Documents are no longer independent, because they share the map of probabilities,
which is itself uncertain. So counts are drawn: a map, then every document that
was not read. Documents of one cell with equal probability and weight are drawn
together, as one binomial variable, which needs little memory and is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from sklearn_calib._validation import Array
from sklearn_calib.explore._hits import SampledHits
from sklearn_calib.explore._posterior import CountPosterior

# Probabilities nearer to 0 and 1 than this are drawn as if they were this.
_LEAST = 1e-5
# Different probabilities of a key that are still taken as they are.
_MOST_LEVELS = 256
# Otherwise log-odds are rounded to one of these, the first that makes few enough draws.
_STEPS, _MOST_DRAWS = (0.02, 0.05, 0.1, 0.2, 0.4), 30_000_000
# Keys of one document are drawn together up to this many draws, and in parts of that many.
_MOST_JOINT, _PART = 1_000_000_000, 4_000_000

# The chance of truth of some probabilities of one key, of shape (n_draws, n).
Chance = Callable[[Array, int], Array]


@dataclass(frozen=True, eq=False)
class Redrawn:
    """Counts that were drawn again.

    Attributes
    ----------
    draws : ndarray of shape (n_draws, n_periods, n_keys)
        The counts.
    mean : ndarray of shape (n_periods, n_keys)
        Their mean, free of the noise of drawing documents.
    map_variance, own_variance : ndarray of shape (n_keys,)
        Parts of the variance of a key's total: that of the map, which more
        reading makes smaller, and that of the documents given the map.
    hit_chance : ndarray of shape (n_hits,)
        Mean chance of each hit of the posterior.
    missed_chance : ndarray of shape (n_keys,)
        Mean chance that a document has a key that the model gives no probability.
    """

    draws: Array
    mean: Array
    map_variance: Array
    own_variance: Array
    hit_chance: Array
    missed_chance: Array


def redrawn(
    posterior: CountPosterior,
    unread: Array,
    chance: Chance,
    n_draws: int,
    rng: np.random.Generator,
) -> Redrawn:
    """Draw the documents that were not read.

    Parameters
    ----------
    posterior : CountPosterior
        The counts given the model.
    unread : ndarray of bool of shape (n_documents,)
        Which documents were not read; the others add nothing here.
    chance : callable
        `chance(probability, key)` returns draws of the chance of truth.
    n_draws : int
        Number of draws.
    rng : Generator
        The source of randomness.
    """
    n_keys = len(posterior.keys)
    shape = (len(posterior.periods), n_keys)
    n_cells = shape[0] * shape[1]
    weights, weight_of = np.unique(posterior.document_weight, return_inverse=True)
    rows = np.flatnonzero(unread[posterior.hit_document])
    cell = posterior.document_period[posterior.hit_document] * n_keys + posterior.hit_key
    level, probability = _levels(posterior, cell[rows], rows, n_draws)
    # All that is needed of a hit: its key and its level.
    start = np.concatenate([[0], np.cumsum([len(p) for p in probability])])
    hit_level = np.full(len(posterior.hit_key), -1)
    hit_level[rows] = level + start[posterior.hit_key[rows]]
    tables = [chance(np.append(p, 0.0), key) for key, p in enumerate(probability)]
    missed = np.stack([table[:, -1] for table in tables], axis=1) if tables else np.zeros((1, 0))
    table = np.concatenate([t[:, :-1] for t in tables], axis=1) if tables else np.zeros((1, 0))

    hit_weight = weight_of[posterior.hit_document[rows]]
    none = _without_hits(posterior, unread, weight_of, len(weights), cell[rows], hit_weight)
    joint = _joint(posterior, rows, n_draws)
    # Hits that are alike, and then documents without a hit, which share the last level.
    alike = (cell[rows] * max(table.shape[1], 1) + hit_level[rows]) * len(weights) + hit_weight
    expected = np.zeros((n_draws, n_cells))
    own = np.zeros(n_cells)
    draws = np.zeros((n_draws, n_cells))
    for code, drawn in ((alike[~joint], True), (alike[joint], False)):
        distinct, number = np.unique(code, return_counts=True)
        rest, which_weight = np.divmod(distinct, len(weights))
        which_cell, which_level = np.divmod(rest, max(table.shape[1], 1))
        for part in _parts(len(distinct), n_draws):
            group = _Alike(which_cell[part], weights[which_weight[part]], number[part])
            p = table[:, which_level[part]]
            group.add(p, expected, own)
            if drawn:
                group.draw(p, draws, rng)
    for part in _parts(none.shape[1], n_draws):
        rare = _Alike(none[0, part], weights[none[1, part]], none[2, part])
        p = missed[:, none[0, part] % n_keys]
        rare.add(p, expected, own)
        rare.draw(p, draws, rng)
    _add_joint(posterior, rows[joint], cell, hit_level, table, draws, rng)

    hit_chance = np.zeros(len(hit_level))
    hit_chance[rows] = table.mean(axis=0)[hit_level[rows]]
    total = expected.reshape(n_draws, *shape).sum(axis=1)
    return Redrawn(
        draws=draws.reshape(n_draws, *shape),
        mean=expected.mean(axis=0).reshape(shape),
        map_variance=total.var(axis=0),
        own_variance=own.reshape(shape).sum(axis=0),
        hit_chance=hit_chance,
        missed_chance=missed.mean(axis=0),
    )


@dataclass(frozen=True, eq=False)
class _Alike:
    """Groups of documents of one cell that have the same probability and weight."""

    cell: Array
    weight: Array
    number: Array

    def add(self, p: Array, expected: Array, own: Array) -> None:
        """Add expected counts by draw and cell, and variances by cell."""
        expected += p @ _sums(self.cell, self.weight * self.number, expected.shape[1])
        variance = (p * (1.0 - p)).mean(axis=0) * np.square(self.weight) * self.number
        own += np.bincount(self.cell, variance, minlength=len(own))

    def draw(self, p: Array, draws: Array, rng: np.random.Generator) -> None:
        """Add drawn counts by draw and cell."""
        # A document by itself needs a single comparison, a tenth of the time of a binomial.
        alone = self.number == 1
        for chosen in (alone, ~alone):
            if not chosen.any():
                continue
            chance = p[:, chosen]
            sums = _sums(self.cell[chosen], self.weight[chosen], draws.shape[1])
            if chosen is alone:
                yes = rng.random(chance.shape, dtype=np.float32) < chance
                draws += yes.astype(np.float64) @ sums
            else:
                draws += rng.binomial(self.number[chosen], chance) @ sums


def _levels(
    posterior: CountPosterior, cell: Array, rows: Array, n_draws: int
) -> tuple[Array, list[Array]]:
    """Return the level of each hit within its key, and the probabilities of each key's levels.

    A level holds equal probabilities. Where they are many, it holds probabilities
    that are nearly equal and stands for their mean.
    """
    p, key = posterior.hits.smoothed[rows], posterior.hit_key[rows]
    n_keys = len(posterior.keys)
    distinct = [np.unique(p[key == k]) for k in range(n_keys)]
    if max((len(values) for values in distinct), default=0) <= _MOST_LEVELS:
        level = np.zeros(len(rows), dtype=np.int64)
        for k, values in enumerate(distinct):
            level[key == k] = np.searchsorted(values, p[key == k])
        return level, distinct
    odds = special.logit(np.clip(p, _LEAST, 1.0 - _LEAST))
    for step in _STEPS:
        code = np.rint(odds / step).astype(np.int64)
        code -= code.min()
        if len(np.unique(cell * (int(code.max()) + 1) + code)) * n_draws <= _MOST_DRAWS:
            break
    level = np.zeros(len(rows), dtype=np.int64)
    means = []
    for k in range(n_keys):
        mine = key == k
        _, place = np.unique(code[mine], return_inverse=True)
        level[mine] = place
        means.append(np.bincount(place, p[mine]) / np.bincount(place))
    return level, means


def _without_hits(
    posterior: CountPosterior,
    unread: Array,
    weight_of: Array,
    n_weights: int,
    hit_cell: Array,
    hit_weight: Array,
) -> Array:
    """Return cell, weight and number of the unread documents that have no hit in a cell."""
    n_keys = len(posterior.keys)
    shape = (len(posterior.periods), n_keys, n_weights)
    at = np.flatnonzero(unread)
    documents = np.bincount(
        posterior.document_period[at] * n_weights + weight_of[at], minlength=shape[0] * n_weights
    ).reshape(shape[0], 1, n_weights)
    hits = np.bincount(hit_cell * n_weights + hit_weight, minlength=int(np.prod(shape)))
    number = (documents - hits.reshape(shape)).ravel()
    found = np.flatnonzero(number)
    return np.stack([found // n_weights, found % n_weights, number[found]])


def _joint(posterior: CountPosterior, rows: Array, n_draws: int) -> Array:
    """Tell which hits are drawn document by document, because its keys depend on each other."""
    hits = posterior.hits
    document = posterior.hit_document[rows]
    several = np.bincount(document, minlength=len(posterior.documents))[document] > 1
    dependent = isinstance(hits, SampledHits) or hits.exclusive
    if not dependent or int(several.sum()) * n_draws > _MOST_JOINT:
        return np.zeros(len(rows), dtype=bool)
    return several


def _add_joint(
    posterior: CountPosterior,
    rows: Array,
    cell: Array,
    hit_level: Array,
    table: Array,
    draws: Array,
    rng: np.random.Generator,
) -> None:
    """Add draws of documents with several keys, which keep their dependence.

    A yes of the model's own draw stays a yes, or a no becomes one, with the
    probability that makes the chance right.
    """
    hits, n_draws = posterior.hits, len(draws)
    rows = rows[np.argsort(posterior.hit_document[rows], kind="stable")]
    document = posterior.hit_document[rows]
    first = np.flatnonzero(np.diff(document, prepend=-1))
    size = max(1, _PART // n_draws // 3)
    # Documents are never cut in two.
    ends = [*first[size::size].tolist(), len(rows)] if len(first) else []
    begin = 0
    for end in ends:
        part = rows[begin:end]
        owner = np.unique(document[begin:end], return_inverse=True)[1]
        begin = end
        yes = hits.draw(part, owner, n_draws, rng)
        before = hits.probability[part][:, np.newaxis]
        after = table[:, hit_level[part]].T
        with np.errstate(divide="ignore", invalid="ignore"):
            stays = np.where(yes, after / before, (after - before) / (1.0 - before))
        yes = rng.random(yes.shape, dtype=np.float32) < stays
        weight = posterior.document_weight[posterior.hit_document[part]]
        draws += (yes.T.astype(np.float32)) @ _sums(cell[part], weight, draws.shape[1])


def _sums(cell: Array, weight: Array, n_cells: int) -> sparse.csr_array:
    """Return the matrix that sums weighted columns by cell."""
    return sparse.csr_array((weight, (np.arange(len(cell)), cell)), shape=(len(cell), n_cells))


def _parts(n: int, n_draws: int) -> list[slice]:
    """Return parts of n columns that are small enough to be held in memory."""
    size = max(1, _PART // n_draws)
    return [slice(start, start + size) for start in range(0, n, size)]
