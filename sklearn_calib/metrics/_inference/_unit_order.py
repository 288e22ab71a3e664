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
    called positive, nor the scale of weights makes a difference. Units that hold
    the same are alike, so that their order is of no consequence.
    """
    unit = numbered(unit)
    content = UnitContent()
    content.extend(int(unit.max()) + 1)
    content.add(unit, y, q, w)
    return content.order()[unit]


class UnitContent:
    """What units hold, for either class called positive, added up from rows in any order.

    `mixed` has sums of numbers that are mixed from the rows: they wrap around, and
    do not depend on the order of their terms. Weights have no part in it, because
    their bits change with their scale; `weighted` has sums of weight times a share
    that is mixed from the row, in which only the scale changes with the scale.
    """

    def __init__(self) -> None:
        self.mixed = np.zeros((2, 0), dtype=np.uint64)
        self.weighted = np.zeros((2, 0))

    def extend(self, n_units: int) -> None:
        """Make room for so many units."""
        more = ((0, 0), (0, n_units - self.mixed.shape[1]))
        self.mixed, self.weighted = np.pad(self.mixed, more), np.pad(self.weighted, more)

    def add(self, unit: Array, y: Array, q: Array, w: Array | None) -> None:
        """Add rows."""
        for first in range(0, len(q), CHUNK):
            rows = slice(first, first + CHUNK)
            for row, sums, answer, prediction in zip(
                self.mixed,
                self.weighted,
                (y[rows], ~y[rows]),
                (q[rows], 1.0 - q[rows]),
                strict=True,
            ):
                key = _mixed(_mixed(_bits(prediction) + np.uint64(2)) ^ answer.astype(np.uint64))
                np.add.at(row, unit[rows], key)
                if w is not None:
                    np.add.at(sums, unit[rows], w[rows] * _share(key))

    def merge(self, other: UnitContent, unit: Array) -> None:
        """Add what was made from other rows, whose units have these numbers here."""
        for name in ("mixed", "weighted"):
            for row, more in zip(getattr(self, name), getattr(other, name), strict=True):
                np.add.at(row, unit, more)

    def order(self) -> Array:
        """Return the place of each unit."""
        keys = [_mixed(row) for row in self.mixed]
        # Of the two classes, the one with the smaller mixture over all units is called positive.
        both = [
            (int(key.sum()), float(sums @ _share(key)))
            for key, sums in zip(keys, self.weighted, strict=True)
        ]
        chosen = int(both[0] > both[1])
        place = np.empty(len(keys[0]), dtype=np.intp)
        place[np.lexsort((self.weighted[chosen], keys[chosen]))] = np.arange(len(place))
        return place


def _share(key: Array) -> Array:
    """Return 64 mixed bits as numbers from 0 to 1."""
    return key * 2.0**-64
