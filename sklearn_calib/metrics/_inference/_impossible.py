"""Answers that no calibrated model could have given: a yes at 0, or a no at 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sklearn_calib._results import counted
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.queries._queries import Queries

# Predictions up to it are taken for 0: products of smaller numbers are lost to rounding.
CERTAIN = 1e-50


class ImpossibleAnswers(NamedTuple):
    """How many answers are yes where the prediction is 0, and no where it is 1.

    It is true where there are any.
    """

    yes: int = 0
    no: int = 0

    def __bool__(self) -> bool:
        return self.yes > 0 or self.no > 0

    @property
    def text(self) -> str:
        """What happened, in words; empty where nothing did."""
        met = [
            f"{counted(n, 'answer')} of {answer} met a prediction of {prediction}"
            for n, answer, prediction in ((self.yes, "yes", 0), (self.no, "no", 1))
            if n
        ]
        return " and ".join(met)


def impossible_answers(queries: Queries | SortedQueries) -> ImpossibleAnswers:
    """Count the answers that contradict a prediction of 0 or 1; those without weight do not."""
    if isinstance(queries, Queries):
        y, q, n = queries.y_true, queries.y_prob, queries.sample_weight
        n = None if n is None else n > 0.0
    else:
        y, q, n = queries.y, queries.q, None if queries.pool is None else queries.pool.n
    low: slice | np.ndarray
    high: slice | np.ndarray
    if isinstance(queries, SortedQueries) and queries.pool is None:
        low = slice(0, int(np.searchsorted(q, CERTAIN, "right")))
        high = slice(int(np.searchsorted(q, 1.0)), None)
    else:
        low, high = np.flatnonzero(q <= CERTAIN), np.flatnonzero(q >= 1.0)
    if n is None:
        return ImpossibleAnswers(int(np.count_nonzero(y[low])), int(np.count_nonzero(~y[high])))
    yes, no = (n[low] * y[low]).sum(), (n[high] * ~y[high]).sum()
    return ImpossibleAnswers(round(float(yes)), round(float(no)))
