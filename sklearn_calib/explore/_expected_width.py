"""How wide the intervals of corrected counts will be, before more is read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from sklearn_calib._results import Result, percent
from sklearn_calib._validation import Array, check_confidence_level
from sklearn_calib.explore._count_map import draw_count_maps
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._probability_map import draw_maps
from sklearn_calib.explore._redraw import redrawn
from sklearn_calib.explore._survey import scaled_to

__all__ = ["ExpectedWidth"]

# Documents of the trial from which widths for other numbers follow, and draws in it.
_TRIAL, _N_DRAWS = 200, 200


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedWidth(Result):
    """Expected widths of the intervals of corrected totals.

    Attributes
    ----------
    n_documents : ndarray of int of shape (n_sizes,)
        How many documents are read in all.
    keys : tuple
        What was counted.
    width : ndarray of shape (n_sizes, n_keys)
        Expected widths of the intervals of each key's total over all periods.
    plain_width : ndarray of shape (n_keys,)
        Widths given the model, which do not allow for its errors.
    confidence_level : float
        Level of the intervals.

    See Also
    --------
    ReadingPlan.expected_width : Makes this object.

    Notes
    -----
    The variance of a corrected count has two parts. That of the documents
    given the map of probabilities becomes smaller only where they are
    read. That of the map is in inverse proportion to the number of documents
    that are read, and in proportion to the square of that which is not.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib.explore import counts_from_probabilities, reading_plan
    >>> p = np.random.default_rng(0).beta(0.3, 1.0, size=1000)
    >>> plan = reading_plan(counts_from_probabilities(p, period=None), 100, random_state=0)
    >>> widths = plan.expected_width([50, 500])
    >>> bool(widths.width[0, 0] > widths.width[1, 0])
    True
    """

    n_documents: Array
    keys: tuple[Hashable, ...]
    width: Array
    plain_width: Array
    confidence_level: float

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        n_sizes, n_keys = self.width.shape
        return {
            "n_documents": np.repeat(self.n_documents, n_keys),
            "key": list(self.keys) * n_sizes,
            "width": self.width.ravel(),
            "plain_width": np.tile(self.plain_width, n_sizes),
        }

    def _sentence(self) -> str:
        return (
            f"Expected widths of {percent(self.confidence_level)} intervals of totals, by number "
            "of documents that are read."
        )


def scaled_width(
    posterior: CountPosterior,
    sizes: Array,
    n_documents: Sequence[int],
    confidence_level: float,
    *,
    map_variance: Array,
    own_variance: Array,
    n_read: int,
) -> ExpectedWidth:
    """Return expected widths from the parts of the variance that a reading of n_read left."""
    level = check_confidence_level(confidence_level)
    n = np.array(n_documents)
    keys = len(posterior.keys)
    square = np.square(posterior.document_weight[posterior.hit_document])
    variance = square * np.nan_to_num(np.square(posterior.hits.spread))

    def unread(n_documents: int) -> Array:
        """Return the variance of each key in what a plan of that size leaves unread."""
        left = 1.0 - scaled_to(sizes, n_documents)[posterior.hit_document]
        return np.bincount(posterior.hit_key, left * variance, minlength=keys)

    n_all = len(posterior.documents)
    now = np.maximum(unread(n_read), 1e-12)
    width = np.empty((len(n), keys))
    z = 2.0 * stats.norm.ppf((1.0 + level) / 2.0)
    for i, size in enumerate(n.tolist()):
        # What is unsure about the map is unsure for all that is unread at once.
        share = max(n_all - size, 0) / max(n_all - n_read, 1)
        own = own_variance * np.minimum(unread(size) / now, n_all)
        width[i] = z * np.sqrt(own + map_variance * share**2 * n_read / size)
    plain = z * np.sqrt(np.bincount(posterior.hit_key, variance, minlength=keys))
    return ExpectedWidth(n, posterior.keys, width, plain, level)


def expected_width(
    posterior: CountPosterior,
    sizes: Array,
    n_documents: Sequence[int],
    confidence_level: float,
    seed: int,
) -> ExpectedWidth:
    """Return expected widths if the model is right: from a trial whose answers it makes up."""
    rng = np.random.default_rng([seed, 1])
    n_keys = len(posterior.keys)
    n = min(_TRIAL, max(1, len(posterior.documents) // 2))
    chosen = rng.random(len(posterior.documents)) < scaled_to(sizes, n)
    chosen[rng.integers(len(chosen))] = True
    place = np.cumsum(chosen) - 1
    rows = np.flatnonzero(chosen[posterior.hit_document])
    at = place[posterior.hit_document[rows]], posterior.hit_key[rows]
    shape = (int(chosen.sum()), n_keys)
    whole = np.bincount(posterior.hit_key, posterior.hits.mean, minlength=n_keys)
    frequency = whole / len(posterior.documents)
    key = np.tile(np.arange(n_keys), shape[0])
    p, answer = np.zeros(shape), np.zeros(shape)
    if posterior.hits.several:
        variance = np.zeros(shape)
        p[at], variance[at] = posterior.hits.mean[rows], np.square(posterior.hits.spread[rows])
        sampled = posterior.hit_counts[rows]
        answer[at] = sampled[np.arange(len(rows)), rng.integers(sampled.shape[1], size=len(rows))]
        maps = draw_count_maps(
            p.ravel(),
            variance.ravel(),
            answer.ravel(),
            key=key,
            n_keys=n_keys,
            frequency=frequency,
            n_draws=_N_DRAWS,
            rng=rng,
        )
        unread = np.flatnonzero(~chosen[posterior.hit_document])
        drawn = maps.draw(
            posterior.hits.mean[unread],
            np.square(posterior.hits.spread[unread]),
            posterior.hit_key[unread],
            n_keys,
            key=posterior.hit_key[unread],
            rng=rng,
        )
        own = np.bincount(
            posterior.hit_key[unread], posterior.hits.spread[unread] ** 2, minlength=n_keys
        )
        map_variance = np.maximum(drawn.var(axis=0) - own, 0.0)
    else:
        p[at] = posterior.hits.smoothed[rows]
        answer[at] = rng.random(len(rows)) < posterior.hits.mean[rows]
        fitted = draw_maps(
            p.ravel(),
            answer.ravel(),
            key=key,
            n_keys=n_keys,
            frequency=frequency,
            n_draws=_N_DRAWS,
            rng=rng,
        )

        def chance(probability: Array, key: int) -> Array:
            return fitted.chance(probability, np.full(len(probability), key))

        found = redrawn(posterior, ~chosen, chance, _N_DRAWS, rng)
        map_variance, own = found.map_variance, found.own_variance
    return scaled_width(
        posterior,
        sizes,
        n_documents,
        confidence_level,
        map_variance=map_variance,
        own_variance=own,
        n_read=shape[0],
    )
