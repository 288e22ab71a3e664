"""CountDifference: did one count exceed another?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib._results import ConfidenceInterval, percent
from sklearn_calib._validation import Array, check_confidence_level
from sklearn_calib.explore._intervals import NoUnitError, distribution, sample_interval
from sklearn_calib.explore._periods import end_of

if TYPE_CHECKING:
    from sklearn_calib.explore._posterior import CountPosterior

__all__ = ["CountDifference"]


@dataclass(frozen=True, eq=False)
class CountDifference:
    """The difference of two counts.

    Attributes
    ----------
    mean : float
        Posterior mean of the first count minus the second.
    confidence_interval : ConfidenceInterval
        Credible interval of the difference.
    probability : float
        Posterior probability that the first count is larger.
    probability_equal : float
        Posterior probability that the counts are equal.
    confidence_level : float
        Level of the interval.
    method : {"exact", "quantile"}
        "exact" convolves the documents' distributions. Where weights forbid
        that, as in `CountPosterior.confidence_interval`, the sampled differences
        are taken as they are ("quantile").

    See Also
    --------
    CountPosterior.difference : Makes this object.
    """

    mean: float
    confidence_interval: ConfidenceInterval
    probability: float
    probability_equal: float
    confidence_level: float
    method: str

    def __str__(self) -> str:
        low, high = self.confidence_interval
        return (
            f"difference {self.mean:.4g} [{low:.4g}, {high:.4g}] "
            f"({percent(self.confidence_level)}), larger with probability {self.probability:.3f}, "
            f"equal {self.probability_equal:.3f}"
        )


def difference(
    posterior: CountPosterior,
    key: Any,
    other: Any,
    periods: Any,
    other_periods: Any,
    confidence_level: float,
) -> CountDifference:
    """Compare two counts of a posterior."""
    level = check_confidence_level(confidence_level)
    if other is None and other_periods is None:
        raise ValueError("Pass a second key (other) or second periods (other_periods) to compare.")
    first = _rows(posterior, key, periods)
    second = _rows(
        posterior,
        key if other is None else other,
        periods if other_periods is None else other_periods,
    )
    # One row a document: what it adds to the difference in each sample.
    involved = np.concatenate([posterior.hit_document[first], posterior.hit_document[second]])
    documents, place = np.unique(involved, return_inverse=True)
    change = np.zeros((len(documents), posterior.n_samples), dtype=np.int64)
    np.add.at(change, place[: len(first)], posterior.hit_counts[first].astype(np.int64))
    np.subtract.at(change, place[len(first) :], posterior.hit_counts[second].astype(np.int64))
    weight = posterior.document_weight[documents]
    mean = float((weight * change.mean(axis=1)).sum())
    try:
        unit, total = distribution(weight, change)
        low, high = (unit * end for end in total.interval(level))
        larger = total.above(0)
        equal = total.above(-1) - larger
        method = "exact"
    except NoUnitError:
        sampled = weight @ change
        low, high = map(float, sample_interval(sampled, level))
        close = np.isclose(sampled, 0.0)
        larger, equal = float(((sampled > 0.0) & ~close).mean()), float(close.mean())
        method = "quantile"
    return CountDifference(mean, ConfidenceInterval(low, high), larger, equal, level, method)


def _rows(posterior: CountPosterior, key: Any, periods: Any) -> Array:
    """Return the hits of a key in some periods."""
    rows = np.flatnonzero(posterior.hit_key == posterior._key_index(key))
    if periods is None:
        return rows
    several = isinstance(periods, Iterable) and not isinstance(periods, str)
    chosen = list(periods) if several else [periods]
    if not chosen:
        raise ValueError("A list of periods is empty; leave it out to take all periods.")
    places = np.concatenate([_places(posterior, value) for value in chosen])
    return rows[np.isin(posterior.document_period[posterior.hit_document[rows]], places)]


def _places(posterior: CountPosterior, value: Any) -> Array:
    """Return the places of the periods that a name or a date stands for."""
    labels = posterior.period_labels
    dated = posterior.periods.dtype.kind == "M"
    if dated and isinstance(value, (int, np.integer)):
        value = f"{value:04d}"  # a year
    found = [i for i, label in enumerate(labels) if label == value]
    if not found and dated:
        try:
            date = np.datetime64(value)
        except ValueError:
            date = np.datetime64("NaT")
        if not np.isnat(date):
            if np.datetime_data(date.dtype)[0] not in "YMWD":
                date = date.astype("datetime64[D]")
            first = date.astype("datetime64[D]")
            after = (date + 1).astype("datetime64[D]")
            ends = end_of(posterior.periods, posterior.period)
            found = np.flatnonzero((posterior.periods < after) & (ends > first)).tolist()
    elif not found:
        found = [i for i, period in enumerate(posterior.periods) if period == value]
    if not found:
        raise ValueError(
            f"There is no period {value!r}; the periods are {labels[0]!r} to {labels[-1]!r}."
        )
    return np.array(found)
