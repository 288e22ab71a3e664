"""CountDifference: did one count exceed another?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_calib._results import ConfidenceInterval, Result, percent
from sklearn_calib._validation import Array

__all__ = ["CountDifference"]


@dataclass(frozen=True, eq=False, repr=False)
class CountDifference(Result):
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
    method : {"exact", "quantile", "rounded"}
        "exact" convolves the documents' distributions. Where weights forbid
        that, as in `CountPosterior.confidence_interval`, the sampled differences
        are taken as they are ("quantile"), or weights are rounded where there are
        no samples ("rounded"). Corrected counts are drawn ("quantile").

    See Also
    --------
    CountPosterior.difference : Makes this object.

    Examples
    --------
    >>> from sklearn_calib.explore import count_tags
    >>> samples = [[["N", "V"]] * 12 + [["V", "V"]] * 8] * 3
    >>> posterior = count_tags([["fish", "swim"]] * 3, samples)
    >>> posterior.difference("V", "N")
    difference 2.4 [0, 6] (95%), larger with probability 0.784, equal 0.216
    """

    mean: float
    confidence_interval: ConfidenceInterval
    probability: float
    probability_equal: float
    confidence_level: float
    method: str

    _shows_table = False

    def _sentence(self) -> str:
        low, high = self.confidence_interval
        return (
            f"difference {self.mean:.4g} [{low:.4g}, {high:.4g}] "
            f"({percent(self.confidence_level)}), larger with probability {self.probability:.3f}, "
            f"equal {self.probability_equal:.3f}"
        )

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        low, high = self.confidence_interval
        return {
            "mean": [self.mean],
            "low": [low],
            "high": [high],
            "probability": [self.probability],
            "probability_equal": [self.probability_equal],
        }


def drawn_difference(drawn: Array, level: float, mean: float) -> CountDifference:
    """Return a difference of which draws are known, and the mean."""
    low, high = map(float, outer_quantiles(drawn, level))
    close = np.isclose(drawn, 0.0)
    larger, equal = float(((drawn > 0.0) & ~close).mean()), float(close.mean())
    return CountDifference(mean, ConfidenceInterval(low, high), larger, equal, level, "quantile")


def outer_quantiles(drawn: Array, level: float) -> tuple[Array, Array]:
    """Return quantiles over the last axis: drawn values, the nearest outwards."""
    tail = (1.0 - level) / 2.0
    low = np.quantile(drawn, tail, axis=-1, method="lower")
    return low, np.quantile(drawn, 1.0 - tail, axis=-1, method="higher")
