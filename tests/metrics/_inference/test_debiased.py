"""The debiased square."""

import numpy as np
import pytest

from sklearn_calib import (
    adaptive_bin_calibration_error,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._inference._moments import residual_moments


def test_debiased_square_is_unbiased():
    rng = np.random.default_rng(0)
    squares = []
    for _ in range(600):
        sample = make_queries(400, distortion="shift", strength=0.1, random_state=rng)
        ordered = sort_queries(sample.queries)
        bins = BinnedQueries(ordered, ordered.cut_by_size(10))
        squares.append(residual_moments(bins).square)
    error = np.std(squares) / np.sqrt(600)
    assert np.mean(squares) == pytest.approx(sample.error**2, abs=3 * error)


def test_one_row_with_all_the_weight():
    with pytest.raises(ValueError, match="one row has all the weight"):
        adaptive_bin_calibration_error(
            [0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], sample_weight=[1e9, 1e-9, 1e-9, 1e-9],
            debias=True, n_bins=1,
        )  # fmt: skip
