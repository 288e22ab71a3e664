"""How sentences are laid out side by side."""

import numpy as np

from sklearn_calib.sequence import _packing


def test_chunks_hold_every_token_once():
    lengths = np.random.default_rng(0).integers(1, 30, size=200)
    for size in (1, 7, 100, 10**6):
        rows = np.concatenate([chunk.rows for chunk in _packing.chunks(lengths, size)])
        np.testing.assert_array_equal(np.sort(rows), np.arange(lengths.sum()))
