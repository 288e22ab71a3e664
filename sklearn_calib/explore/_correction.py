"""What counts are corrected by, and the numbers that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import special, stats

from sklearn_calib._results import read_only
from sklearn_calib._validation import Array
from sklearn_calib.explore._count_map import draw_count_maps
from sklearn_calib.explore._design_estimate import design_estimate
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._prior_shift import prior_shift
from sklearn_calib.explore._probability_map import ProbabilityMaps, draw_maps
from sklearn_calib.explore._read_documents import ReadDocuments
from sklearn_calib.explore._redraw import redrawn
from sklearn_calib.queries import Queries

# Counts of weighted documents are drawn separately for each weight, up to this many numbers.
_MOST_NUMBERS = 200_000_000


@dataclass(frozen=True, eq=False)
class Evidence:
    """What counts were corrected by, and how; enough to do it again.

    Attributes
    ----------
    method : {"recalibrated", "design", "prior_shift"}
        How.
    read : ReadDocuments or None
        The documents that were read.
    queries : Queries or None
        Queries of annotated text.
    training_frequency : ndarray of shape (n_keys,) or None
        Frequencies where the model was trained.
    n_draws, seed : int
        Number of draws, and their seed.
    """

    method: str
    read: ReadDocuments | None
    queries: Queries | None
    training_frequency: Array | None
    n_draws: int
    seed: int


@dataclass(frozen=True, eq=False)
class Correction:
    """The corrected numbers.

    Attributes
    ----------
    draws : ndarray of shape (n_draws, n_periods, n_keys)
        Counts, drawn together: periods and keys share what is unsure about the
        model.
    mean : ndarray of shape (n_periods, n_keys)
        Their means.
    hit_probability, hit_deviation : ndarray of shape (n_hits,)
        Corrected probability that a document has a key, and the standard
        deviation of its count; 0 or 1 and no deviation where it was read.
    missed_probability : ndarray of shape (n_keys,)
        Probability of a key that the model gives no probability.
    map_variance, own_variance : ndarray of shape (n_keys,) or None
        Parts of the variance of totals, as in `ExpectedWidth`.
    """

    draws: Array
    mean: Array
    hit_probability: Array
    hit_deviation: Array
    missed_probability: Array
    map_variance: Array | None = None
    own_variance: Array | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))

    def __reduce__(self) -> tuple[Any, ...]:
        return Correction, tuple(getattr(self, f.name) for f in fields(self))


def correction_by(evidence: Evidence, posterior: CountPosterior) -> Correction:
    """Return the corrected numbers, by evidence that has been checked."""
    rng = np.random.default_rng(evidence.seed)
    read = evidence.read
    if evidence.method == "design":
        assert read is not None
        return _by_design(posterior, read, evidence.n_draws, rng)
    if read is not None and (posterior.hits.several or read.counts.max(initial=0) > 1):
        return _by_count_map(posterior, read, evidence.n_draws, rng)
    return _by_map(posterior, evidence, rng)


def _frequency(posterior: CountPosterior) -> Array:
    """Return the mean count of a document, by key."""
    whole = np.bincount(posterior.hit_key, posterior.hits.mean, minlength=len(posterior.keys))
    return whole / len(posterior.documents)


def _read_table(posterior: CountPosterior, read: ReadDocuments, values: Array) -> Array:
    """Return values of hits for the documents that were read, of shape (n_read, n_keys)."""
    place = np.full(len(posterior.documents), -1)
    place[read.place] = np.arange(len(read))
    rows = np.flatnonzero(place[posterior.hit_document] >= 0)
    table = np.zeros((len(read), len(posterior.keys)))
    table[place[posterior.hit_document[rows]], posterior.hit_key[rows]] = values[rows]
    return table


def _known(posterior: CountPosterior, read: ReadDocuments | None) -> tuple[Array, Array]:
    """Return which documents were not read, and the counts of those that were."""
    unread = np.ones(len(posterior.documents), dtype=bool)
    known = np.zeros((len(posterior.periods), len(posterior.keys)))
    if read is not None:
        unread[read.place] = False
        weight = posterior.document_weight[read.place, np.newaxis]
        np.add.at(known, posterior.document_period[read.place], weight * read.counts)
    return unread, known


def _by_map(posterior: CountPosterior, evidence: Evidence, rng: np.random.Generator) -> Correction:
    """Correct yes/no counts by a map of probabilities, drawn from its posterior."""
    read = evidence.read
    if evidence.training_frequency is not None:
        chance = _shifted(posterior, evidence.training_frequency, evidence.n_draws, rng)
    else:
        maps = _maps(posterior, evidence, rng)

        def chance(probability: Array, key: int) -> Array:
            return maps.chance(probability, np.full(len(probability), key))

    unread, known = _known(posterior, read)
    found = redrawn(posterior, unread, chance, evidence.n_draws, rng)
    probability = found.hit_chance.copy()
    deviation = np.sqrt(probability * (1.0 - probability))
    if read is not None:
        done = ~unread[posterior.hit_document]
        place = np.zeros(len(unread), dtype=np.int64)
        place[read.place] = np.arange(len(read))
        rows = place[posterior.hit_document[done]], posterior.hit_key[done]
        probability[done] = read.counts[rows] > 0
        deviation[done] = 0.0
    return Correction(
        draws=found.draws + known,
        mean=found.mean + known,
        hit_probability=probability,
        hit_deviation=deviation,
        missed_probability=found.missed_chance,
        map_variance=found.map_variance,
        own_variance=found.own_variance,
    )


def _maps(
    posterior: CountPosterior, evidence: Evidence, rng: np.random.Generator
) -> ProbabilityMaps:
    """Draw maps of probabilities from what was read, or from queries."""
    n_keys = len(posterior.keys)
    frequency = _frequency(posterior)
    if evidence.read is not None:
        read = evidence.read
        p = _read_table(posterior, read, posterior.hits.smoothed).ravel()
        answer = (read.counts > 0).ravel()
        key = np.tile(np.arange(n_keys), len(read))
    else:
        queries = evidence.queries
        assert queries is not None
        p, answer = queries.y_prob, queries.y_true
        key = np.zeros(len(p), dtype=np.int64)
        if queries.label is not None or n_keys > 1:
            # Queries about other keys, or about none in particular, say what keys share.
            names = {str(name): i for i, name in enumerate(posterior.keys)}
            label = [""] * len(p) if queries.label is None else [str(v) for v in queries.label]
            key = np.array([names.setdefault(name, len(names)) for name in label])
            more = [float(p[key == k].mean()) for k in range(n_keys, len(names))]
            frequency = np.concatenate([frequency, more])
    return draw_maps(
        p,
        answer,
        key=key,
        n_keys=len(frequency),
        frequency=frequency,
        n_draws=evidence.n_draws,
        rng=rng,
    )


def _shifted(
    posterior: CountPosterior, training: Array, n_draws: int, rng: np.random.Generator
) -> Any:
    """Return chances under other frequencies, drawn from their posterior."""
    n = len(posterior.documents)
    shifts = []
    for key, frequency in enumerate(training.tolist()):
        p = posterior.hits.smoothed[posterior.hit_key == key]
        # Equal probabilities share a term, and so do those that are nearly equal.
        odds = np.rint(special.logit(np.clip(p, 1e-9, 1.0 - 1e-9)) / 0.02) * 0.02
        levels, number = np.unique(np.append(special.expit(odds), 0.0), return_counts=True)
        number[0] += n - len(p) - 1
        shift = prior_shift(levels, frequency, weight=number)
        shifts.append((shift, shift.draw(n_draws, rng=rng)))

    def chance(probability: Array, key: int) -> Array:
        shift, frequency = shifts[key]
        return shift.adjusted(probability, frequency[:, np.newaxis])

    return chance


def _by_count_map(
    posterior: CountPosterior, read: ReadDocuments, n_draws: int, rng: np.random.Generator
) -> Correction:
    """Correct counts of documents that may count more than once."""
    n_keys = len(posterior.keys)
    hits = posterior.hits
    variance = np.square(hits.spread)
    maps = draw_count_maps(
        _read_table(posterior, read, hits.mean).ravel(),
        _read_table(posterior, read, variance).ravel(),
        read.counts.ravel(),
        key=np.tile(np.arange(n_keys), len(read)),
        n_keys=n_keys,
        frequency=_frequency(posterior),
        n_draws=n_draws,
        rng=rng,
    )
    unread, known = _known(posterior, read)
    weights, weight_of = np.unique(posterior.document_weight, return_inverse=True)
    shape = (len(posterior.periods), n_keys, len(weights))
    n_cells = int(np.prod(shape))
    if n_cells * n_draws > _MOST_NUMBERS:
        raise ValueError(
            f"The documents have {len(weights):,} different weights, which is too many to correct "
            "counts by numbers. Round them."
        )
    rows = np.flatnonzero(unread[posterior.hit_document])
    document = posterior.hit_document[rows]
    key = posterior.hit_key[rows]
    cell = (posterior.document_period[document] * n_keys + key) * len(weights)
    cell += weight_of[document]
    # Documents without a hit, of each cell and weight.
    at = np.flatnonzero(unread)
    there = np.bincount(
        posterior.document_period[at] * len(weights) + weight_of[at],
        minlength=shape[0] * len(weights),
    ).reshape(shape[0], 1, -1)
    none = (there - np.bincount(cell, minlength=n_cells).reshape(shape)).ravel()
    every = np.arange(n_cells)
    drawn = maps.draw(
        np.concatenate([hits.mean[rows], np.zeros(n_cells)]),
        np.concatenate([variance[rows], np.zeros(n_cells)]),
        np.concatenate([cell, every]),
        n_cells,
        key=np.concatenate([key, every // len(weights) % n_keys]),
        weight=np.concatenate([np.ones(len(rows)), none]),
        rng=rng,
    )
    draws = drawn.reshape(n_draws, *shape) @ weights + known
    probability, deviation = hits.probability.copy(), hits.spread.copy()
    done = ~unread[posterior.hit_document]
    deviation[done] = 0.0
    own = np.bincount(
        key, np.square(posterior.document_weight[document]) * variance[rows], minlength=n_keys
    )
    # The variance by the width of an interval: a few wild draws make no difference.
    low, high = np.quantile(draws.sum(axis=1), [0.025, 0.975], axis=0)
    whole = np.square((high - low) / (2.0 * stats.norm.ppf(0.975)))
    return Correction(
        draws=draws,
        mean=draws.mean(axis=0),
        hit_probability=probability,
        hit_deviation=deviation,
        missed_probability=np.zeros(n_keys),
        map_variance=np.maximum(whole - own, 0.0),
        own_variance=np.minimum(own, whole),
    )


def _by_design(
    posterior: CountPosterior, read: ReadDocuments, n_draws: int, rng: np.random.Generator
) -> Correction:
    """Estimate counts by the design of the sample, and draw around the estimates.

    Errors of one document are shared by all its cells. The law of each count is
    Student's, cut off at what is possible.
    """
    n_keys = len(posterior.keys)
    shape = (len(posterior.periods), n_keys)
    n_cells = shape[0] * n_keys
    weight = posterior.document_weight[read.place, np.newaxis]
    answer = (weight * read.counts).ravel()
    prediction = (weight * _read_table(posterior, read, posterior.hits.mean)).ravel()
    period = posterior.document_period[read.place, np.newaxis]
    cell = (period * n_keys + np.arange(n_keys)).ravel()
    document = np.repeat(np.arange(len(read)), n_keys)
    whole = np.bincount(posterior.document_period, posterior.document_weight, minlength=shape[0])
    size = np.full(n_cells, np.inf) if posterior.hits.several else np.repeat(whole, n_keys)
    found = design_estimate(
        answer,
        prediction,
        cell,
        document=document,
        inclusion=read.inclusion,
        prediction_total=posterior.mean.ravel(),
        cell_size=size,
        rng=rng,
    )
    error = np.zeros((len(read), n_cells))
    error[document, cell] = answer - found.tuning * prediction
    error *= np.sqrt(1.0 - read.inclusion[:, np.newaxis]) / read.inclusion[:, np.newaxis]
    length = np.sqrt(np.square(error).sum(axis=0))
    spread = np.maximum(found.spread, 1e-300)
    shared = np.minimum(length / spread, 1.0)
    direction = error / np.maximum(length, 1e-300)
    z = shared * (rng.standard_normal((n_draws, len(read))) @ direction)
    z += np.sqrt(1.0 - np.square(shared)) * rng.standard_normal((n_draws, n_cells))
    student = stats.t.ppf(stats.norm.cdf(z), found.degrees_of_freedom)
    least = np.bincount(cell, answer, minlength=n_cells)
    most = size - np.bincount(cell, np.repeat(weight, n_keys), minlength=n_cells) + least
    draws = np.clip(found.unbiased + student * found.spread, least, np.maximum(most, least))
    empty = np.bincount(cell, minlength=n_cells) == 0
    if empty.any():
        # Nothing was read there: all that is possible remains so.
        top = np.where(np.isfinite(most), most, found.estimate)
        draws[:, empty] = (rng.random((n_draws, n_cells)) * top)[:, empty]
    unread = _known(posterior, read)[0]
    deviation = np.where(unread[posterior.hit_document], posterior.hits.spread, 0.0)
    return Correction(
        draws=draws.reshape(n_draws, *shape),
        mean=found.estimate.reshape(shape),
        hit_probability=posterior.hits.probability,
        hit_deviation=deviation,
        missed_probability=np.zeros(n_keys),
    )
