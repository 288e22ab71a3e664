"""The bootstrap of the debiased square."""

import numpy as np
import pytest

from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._inference._grouped import pair_form
from sklearn_calib.metrics._inference._resampling import _influence


def test_influence_is_the_derivative():
    sample = make_queries(40, random_state=2)
    step = 1e-6

    def square(weights):
        ordered = SortedQueries(sample.y_true, sample.y_prob, weights)
        return pair_form(BinnedQueries(ordered, np.array([15, 40]))).square

    plain = SortedQueries(sample.y_true, sample.y_prob)
    influence = _influence(pair_form(BinnedQueries(plain, np.array([15, 40]))))
    for i in (0, 14, 15, 39):
        up, down = np.ones(40), np.ones(40)
        up[i] += step
        down[i] -= step
        assert influence[i] == pytest.approx((square(up) - square(down)) / (2 * step), abs=1e-7)
