"""Names as numbers from 0."""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array, text_array

# Whole numbers that lie so close together, for each of them, are looked up in a table.
_SPREAD = 4

# Names that are mixed into numbers at a time.
_CHUNK = 32_768


def numbered(values: Array) -> Array:
    """Return the place of each value among the distinct ones in order.

    It is the inverse that `numpy.unique` returns. Names are not sorted where
    they are whole numbers that lie close together, and text is sorted once for
    each distinct name.
    """
    found = None
    if len(values) and values.dtype.kind in "iu":
        found = _looked_up(values)
    elif len(values) and (
        values.dtype.kind == "U"
        or (values.dtype.kind == "O" and set(map(type, values.tolist())) == {str})
    ):
        text = values if values.dtype.kind == "U" else text_array(values.tolist())
        # Where one name is very long, each would take its place.
        found = _mixed(text) if text.dtype.kind == "U" else None
    return np.unique(values, return_inverse=True)[1] if found is None else found


def _looked_up(values: Array) -> Array | None:
    """Return the places of whole numbers; None where they lie too far apart."""
    low, high = int(values.min()), int(values.max())
    if high - low >= _SPREAD * len(values):
        return None
    # Signed numbers are widened first, so that no difference overflows.
    wide = values if values.dtype.kind == "u" else values.astype(np.int64)
    offset = (wide - wide.dtype.type(low)).astype(np.intp)
    present = np.zeros(high - low + 1, dtype=bool)
    present[offset] = True
    place: Array = (np.cumsum(present) - 1)[offset]
    return place


def _mixed(values: Array) -> Array | None:
    """Return the places of text; None where two names were mixed into the same number."""
    text = np.ascontiguousarray(values)
    if text.dtype.itemsize == 0:
        return None
    letters = text.view(np.uint32).reshape(len(text), -1)
    key = np.zeros(len(text), dtype=np.uint64)
    for first in range(0, len(text), _CHUNK):
        some, part = letters[first : first + _CHUNK], key[first : first + _CHUNK]
        for column in some.T:
            part ^= column
            part *= np.uint64(0x9E3779B97F4A7C15)
            part ^= part >> np.uint64(29)
    _, at, code = np.unique(key, return_index=True, return_inverse=True)
    names = values[at]
    if not (names[code] == values).all():
        return None
    place = np.empty(len(names), dtype=np.intp)
    place[np.argsort(text[at], kind="stable")] = np.arange(len(names))
    found: Array = place[code]
    return found
