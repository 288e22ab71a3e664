"""Limits for a curve that never falls."""

import numpy as np

from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._inference._scan import monotone_limits


def test_limits_never_fall_and_hold_the_isotonic_curve():
    ordered = sort_queries(make_queries(1500, a=1, b=1, random_state=0).queries)
    q, low, high, fit = monotone_limits(ordered, 0.95)
    for values in (q, low, high, fit):
        assert (np.diff(values) >= 0).all()
    assert (low <= fit + 1e-12).all()
    assert (fit <= high + 1e-12).all()


def test_a_higher_level_and_fewer_queries_widen_the_limits():
    sample = make_queries(4000, a=1, b=1, random_state=1)
    widths = []
    for n, level in ((4000, 0.8), (4000, 0.99), (400, 0.99)):
        _, low, high, _ = monotone_limits(sort_queries(sample.queries._take(np.arange(n))), level)
        widths.append(np.mean(high - low))
    assert widths[0] < widths[1] < widths[2]
