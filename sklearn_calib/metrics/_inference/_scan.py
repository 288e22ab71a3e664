"""Limits for a curve that never falls, from the frequencies on many intervals at once.

If the curve never falls, the number of yes among queries with predictions from a
to b is at most binomial with the curve's value at b, and at least with that at a.
So a lower limit of the frequency on [a, b] is one for the curve from b on to the
right, and an upper limit one from a on to the left (Dimitriadis, Duembgen, Henzi,
Puke & Ziegel 2023). Instead of all pairs of predictions, blocks of about equal
weight are made, and the intervals are those of 1, 2, 4, ... neighbouring blocks.
Neither depends on the answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special
from sklearn.isotonic import isotonic_regression

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._binned import BinnedQueries, cut
from sklearn_calib.metrics._binning._rules import Fine
from sklearn_calib.metrics._binning._sizes import n_effective
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._inference._fine_bins import group_sums, inflation, own_squares

# Blocks per cube root of the number of queries, and the most; the width hardly depends on them.
_BLOCKS, _MOST_BLOCKS = 5.0, 400

# The share of a sum below which a part of it is no more than rounding.
_LOST = 1e-12

# Whole weights stand for copies; beyond so many, an exact limit is out of a float's reach.
_MOST_COPIES = 1e12

# Draws behind the error that each limit may have; each is read in both directions.
_DRAWS = 1500


def monotone_limits(queries: SortedQueries, level: float) -> tuple[Array, Array, Array, Array]:
    """Return predictions, limits of a curve that never falls, and the isotonic curve.

    The lower limit holds from its prediction on to the right, the upper one to the left.
    """
    blocks = _blocks(queries)
    m = len(blocks)
    lengths = np.unique(np.append(2 ** np.arange(int(math.log2(m)) + 1), m))
    # Intervals are of blocks from `first` up to but without `last`.
    first = np.concatenate([np.arange(m - k + 1) for k in lengths])
    last = np.concatenate([np.arange(k, m + 1) for k in lengths])
    add = _adder(first, last)
    weight, square = add(blocks.weight), add(blocks.squared_weight)
    fit = isotonic_regression(blocks.prob_true, sample_weight=blocks.weight, y_min=0.0, y_max=1.0)
    # Beside large weights, the sum of small ones is lost in rounding: such intervals say nothing.
    some = (weight > _LOST * weight.max()) & (square > _LOST * square.max())
    weight, square = np.where(some, weight, 1.0), np.where(some, square, 1.0)
    share = np.clip(add(blocks.weight * blocks.prob_true) / weight, 0.0, 1.0)
    number = np.where(some, weight if queries.whole_weights else np.square(weight) / square, 0.0)
    number = np.minimum(number, _MOST_COPIES)
    if queries.grouped:
        own = add(own_squares(blocks, fit))
        number = number / inflation(group_sums(blocks, fit), add, own)
    tail = _tail(np.sqrt(blocks.squared_weight), first, last, level)
    low, high = _exact_limits(share * number, number, tail)
    lower, upper = np.zeros(m), np.ones(m)
    np.maximum.at(lower, last - 1, low)
    np.minimum.at(upper, first, high)
    lower = np.maximum.accumulate(lower)
    upper = np.minimum.accumulate(upper[::-1])[::-1]
    # A lower limit steps up at the last prediction of a block, an upper one at the first.
    q = np.unique(np.concatenate((blocks.low, blocks.high)))
    reached = np.searchsorted(blocks.high, q, side="right") - 1
    coming = np.searchsorted(blocks.low, q, side="left")
    return (
        q,
        np.where(reached >= 0, lower[np.maximum(reached, 0)], 0.0),
        np.where(coming < m, upper[np.minimum(coming, m - 1)], 1.0),
        np.interp(q, blocks.prob_pred, fit),
    )


def _blocks(queries: SortedQueries) -> BinnedQueries:
    number = round(_BLOCKS * n_effective(queries) ** (1.0 / 3.0))
    number = int(max(1, min(number, len(queries), _MOST_BLOCKS)))
    return cut(queries, Fine(number, by_count=True))


def _adder(first: Array, last: Array) -> Callable[[Array], Array]:
    """Return the function that adds up the values of blocks, in the last axis, on each interval."""

    def add(values: Array) -> Array:
        start = np.zeros((*values.shape[:-1], 1))
        running = np.concatenate((start, np.cumsum(values, axis=-1)), axis=-1)
        return running[..., last] - running[..., first]

    return add


def _tail(block_sd: Array, first: Array, last: Array, level: float) -> float:
    """Return the error that each one-sided limit may have so that all hold at once.

    Bonferroni treats the intervals as strangers, although most of them overlap.
    The least favourable curve is flat, where the standardised frequencies behave
    like those of normal sums over blocks. Their largest deviation is simulated
    from a fixed seed for these very blocks. Reading each draw from both ends makes
    the answer the same whichever class is called positive.
    """
    add = _adder(first, last)
    variance = add(np.square(block_sd))
    sd = np.sqrt(np.where(variance > _LOST * variance.max(), variance, math.inf))
    rng = np.random.default_rng(0)
    most = []
    part = max(1, 4_000_000 // len(first))
    for done in range(0, _DRAWS, part):
        normal = rng.standard_normal((min(part, _DRAWS - done), len(block_sd)))
        most += [np.abs(add(z * block_sd) / sd).max(axis=1) for z in (normal, normal[:, ::-1])]
    scan = float(special.ndtr(-np.quantile(np.concatenate(most), level)))
    return max(scan, (1.0 - level) / (2.0 * len(first)))


def _exact_limits(yes: Array, n: Array, tail: float) -> tuple[Array, Array]:
    """Return Clopper and Pearson's one-sided limits, each of error `tail`."""
    yes = np.clip(yes, 0.0, n)
    no = n - yes
    # Sums of weights that are zero but for rounding.
    yes, no = (np.where(part < 1e-9 * n, 0.0, part) for part in (yes, no))
    low = special.betaincinv(np.maximum(yes, 1e-12), no + 1.0, tail)
    high = special.betainccinv(yes + 1.0, np.maximum(no, 1e-12), tail)
    return np.where(yes > 0.0, low, 0.0), np.where(no > 0.0, high, 1.0)
