"""Groups in an order that their names cannot change.

Where signs of groups or answers are drawn from a fixed seed, the order of the
groups decides which of them sees which random number. So they are put in order
of what they hold: of a number that is mixed from their rows.
"""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._sorted import CHUNK
from sklearn_calib.queries._numbered import numbered


def _mixed(bits: Array) -> Array:
    """Return 64 bits in which each of the given ones counts everywhere (SplitMix64's finaliser)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _bits(values: Array) -> Array:
    # Zero may have a sign, which says nothing.
    return (np.asarray(values, dtype=float) + 0.0).view(np.uint64)


def units_by_content(unit: Array, y: Array, q: Array, w: Array | None) -> Array:
    """Return numbers of units, from 0, in an order that depends on their queries alone.

    Neither the names of the units, nor the order of rows, nor which class is
    called positive makes a difference. Units that hold the same are alike, so
    that their order is of no consequence.
    """
    unit = numbered(unit)
    content = np.zeros((2, int(unit.max()) + 1), dtype=np.uint64)
    for key, row in zip(content, content_keys(y, q, w), strict=True):
        # A sum that wraps around does not depend on the order of its terms.
        np.add.at(key, unit, row)
    return order_by_content(content)[unit]


def content_keys(y: Array, q: Array, w: Array | None) -> Array:
    """Return a number that is mixed from each row, for either class called positive."""
    keys = np.empty((2, len(q)), dtype=np.uint64)
    for first in range(0, len(q), CHUNK):
        rows = slice(first, first + CHUNK)
        weight = np.uint64(0) if w is None else _mixed(_bits(w[rows]) + np.uint64(1))
        for key, answer, prediction in zip(
            keys, (y[rows], ~y[rows]), (q[rows], 1.0 - q[rows]), strict=True
        ):
            bits = _mixed(_bits(prediction) + np.uint64(2)) ^ weight
            key[rows] = _mixed(bits ^ answer.astype(np.uint64))
    return keys


def order_by_content(content: Array) -> Array:
    """Return the place of each unit from the sums of the numbers of its rows."""
    keys = [_mixed(key) for key in content]
    # Of the two classes, the one with the smaller mixture over all units is called positive.
    key = keys[int(keys[0].sum() > keys[1].sum())]
    place = np.empty(len(key), dtype=np.intp)
    place[np.argsort(key, kind="stable")] = np.arange(len(key))
    return place
