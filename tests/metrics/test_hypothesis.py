"""Tests of perfect calibration: their size, their power, and their exact small cases."""

import numpy as np
import pytest

from sklearn_calib import (
    calibration_error_interval,
    calibration_test,
    classifier_queries,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._null_statistics import brownian_range_sf


@pytest.mark.parametrize("statistic", ["binned", "kuiper"])
@pytest.mark.parametrize(("n", "method"), [(30, "resampling"), (300, "auto"), (5000, "asymptotic")])
def test_size_of_the_test(statistic, n, method):
    rng = np.random.default_rng(1)
    pvalues = [
        calibration_test(
            make_queries(n, a=0.5, b=2, random_state=rng).queries,
            statistic=statistic,
            method=method,
            n_resamples=199,
            random_state=rng,
        ).pvalue
        for _ in range(500)
    ]
    # Standard error 1 %; a discrete statistic may be conservative.
    assert 0.015 <= np.mean(np.array(pvalues) <= 0.05) <= 0.08


def test_size_of_the_grouped_test():
    rng = np.random.default_rng(2)
    for statistic in ("binned", "kuiper"):
        rejected = {True: 0, False: 0}
        for _ in range(300):
            sample = make_queries(600, a=2, b=2, group_size=10, dependence=0.8, random_state=rng)
            for grouped in (True, False):
                result = calibration_test(
                    sample.queries,
                    statistic=statistic,
                    n_resamples=99,
                    random_state=rng,
                    groups=None if grouped else False,
                )
                rejected[grouped] += result.pvalue <= 0.05
        assert rejected[True] / 300 <= 0.09
        assert rejected[False] >= rejected[True] + 15


def test_power():
    sample = make_queries(3000, distortion="slope", strength=0.5, random_state=0)
    for statistic in ("binned", "kuiper"):
        for method in ("resampling", "asymptotic"):
            result = calibration_test(
                sample.queries, statistic=statistic, method=method, random_state=0
            )
            assert result.pvalue <= 0.005
            assert statistic in str(result)


def test_test_does_not_depend_on_row_order():
    sample = make_queries(300, decimals=1, random_state=0)
    order = np.random.default_rng(0).permutation(300)
    for statistic in ("binned", "kuiper"):
        one = calibration_test(sample.y_true, sample.y_prob, statistic=statistic, random_state=0)
        two = calibration_test(
            sample.y_true[order], sample.y_prob[order], statistic=statistic, random_state=0
        )
        assert one.statistic == two.statistic
        assert one.pvalue == two.pvalue


def test_range_of_brownian_motion():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal((4000, 2000)) / np.sqrt(2000), axis=1)
    reach = np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0)
    for x in (1.0, 1.5, 2.0, 2.5):
        # The discrete walk misses its extremes by a little.
        assert brownian_range_sf(x) == pytest.approx(np.mean(reach > x), abs=0.035)
    assert brownian_range_sf(0.0) == brownian_range_sf(0.2) == 1.0
    assert brownian_range_sf(0.35) == pytest.approx(1.0, abs=1e-9)
    assert brownian_range_sf(np.inf) == 0.0
    values = [brownian_range_sf(x) for x in np.linspace(0.25, 6, 100)]
    assert (np.diff(values) <= 1e-12).all()


@pytest.mark.filterwarnings("ignore:y_prob holds only 0 and 1")
def test_certain_predictions():
    right = calibration_test([0, 1] * 10, [0.0, 1.0] * 10, random_state=0)
    assert right.pvalue == 1.0
    for statistic in ("binned", "kuiper"):
        for method in ("resampling", "asymptotic"):
            wrong = calibration_test(
                [1] * 10 + [0] * 10,
                [0.0] * 10 + [1.0] * 10,
                statistic=statistic,
                method=method,
                random_state=0,
            )
            assert wrong.pvalue <= 0.001


def test_level_where_residuals_of_a_row_cancel():
    """The residuals of all classes of a row add up to zero."""
    rng = np.random.default_rng(0)
    rejected = {"binned": 0, "kuiper": 0}
    for _ in range(60):
        proba = rng.dirichlet([1.0, 1.0, 1.0], size=300)
        y = (rng.random((300, 1)) > np.cumsum(proba, axis=1)).sum(axis=1)
        queries = classifier_queries(y, proba, classes=[0, 1, 2])
        for statistic in rejected:
            result = calibration_test(queries, statistic=statistic)
            assert result.statistic < 100
            rejected[statistic] += result.pvalue <= 0.05
    # At a level of 5 %, more than 8 of 60 have a chance of one in 400.
    assert max(rejected.values()) <= 8
    # The walk is shorter than that of independent residuals, and still finds what is wrong.
    wrong = proba**3 / (proba**3).sum(axis=1, keepdims=True)
    queries = classifier_queries(y, wrong, classes=[0, 1, 2])
    assert calibration_test(queries, statistic="kuiper").pvalue < 0.01


def test_an_impossible_answer_rejects_calibration():
    y, q = [1] + [0] * 99, [0.0] * 100
    assert calibration_error_interval(y, q).pvalue == 0.0
    assert calibration_error_interval(y, q).confidence_interval.high > 0.01
    for statistic in ("binned", "kuiper"):
        assert calibration_test(y, q, statistic=statistic).pvalue == 0.0
