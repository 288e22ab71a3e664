"""The debiased squared error, for bins of all kinds.

Within a bin, the product of two different residuals has the squared mean
residual as its expectation; a square alone would add its variance. So the
squares of single units (queries, or groups of them) are taken away:

    T = sum over bins of c ((sum of s)^2 - sum of s^2),

with s the weighted residual of a unit, and c the share of the bin over the
weight of its pairs of units.
"""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._binned import BinnedQueries


def pair_factor(weight: Array, squared_weight: Array) -> Array:
    """Return the c of each bin from its weight and the sum of the squared weights of its units.

    Bins are on the last axis. A bin in which one unit has all the weight has no
    pair to compare: its c is 0, and the others share its part.
    """
    pairs = np.square(weight) - squared_weight
    some = pairs > 1e-12 * np.square(weight)
    factor = np.divide(weight, pairs, out=np.zeros_like(pairs), where=some)
    total = np.sum(weight, axis=-1, keepdims=True, where=some)
    return np.divide(factor, total, out=factor, where=total > 0.0)


def debiased_square(sums: Array, own_squares: Array, factor: Array) -> Array:
    """Return T from the sum of each bin, the sum of its squares, and its c; it may be negative."""
    return np.einsum("...b,...b->...", np.square(sums) - own_squares, factor)


def debiased_square_of(bins: BinnedQueries) -> float:
    """Return T of queries in bins, each query on its own."""
    y = bins.queries.y
    sums = bins.total(1, lambda q: y - q)
    own = bins.total(2, lambda q: np.square(y - q))
    factor = pair_factor(bins.weight, bins.squared_weight)
    if not factor.any():
        raise ValueError("In every bin one row has all the weight: there are no pairs to compare.")
    return float(debiased_square(sums, own, factor))
