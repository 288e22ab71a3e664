"""What intervals, tests and comparisons share: groups, and bins that hold several."""

import numpy as np
import pytest

from sklearn_calib import (
    Queries,
    calibration_error_interval,
    calibration_test,
    classifier_queries,
    compare_calibration,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._sample import make_sample


def test_groups_of_one_equal_no_groups():
    sample = make_queries(500, distortion="slope", random_state=0)
    one = calibration_error_interval(sample.y_true, sample.y_prob)
    two = calibration_error_interval(sample.y_true, sample.y_prob, groups=np.arange(500))
    assert one.confidence_interval == two.confidence_interval
    assert one.pvalue == two.pvalue
    tests = [
        calibration_test(sample.y_true, sample.y_prob, groups=groups, random_state=0).pvalue
        for groups in (None, np.arange(500))
    ]
    assert tests[0] == tests[1]


def test_queries_bring_their_groups():
    sample = make_queries(400, group_size=5, dependence=0.9, random_state=0)
    own = calibration_error_interval(sample.queries)
    named = calibration_error_interval(
        sample.y_true, sample.y_prob, groups=[f"s{k:03}" for k in sample.queries.group]
    )
    ignored = calibration_error_interval(sample.queries, groups=False)
    plain = calibration_error_interval(sample.y_true, sample.y_prob)
    assert own.confidence_interval == pytest.approx(named.confidence_interval)
    assert ignored.confidence_interval == plain.confidence_interval
    assert own.confidence_interval != plain.confidence_interval
    # The queries of one row of a many-class problem form a group.
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    queries = classifier_queries(proba.argmax(axis=1), proba, classes=[0, 1, 2])
    assert make_sample(queries, "auto", None).grouped


def test_bad_groups():
    sample = make_queries(100, random_state=0)
    with pytest.raises(ValueError, match="groups must have one entry for each of the 100"):
        calibration_error_interval(sample.y_true, sample.y_prob, groups=[1, 2])
    with pytest.raises(ValueError, match="All queries belong to one group"):
        calibration_error_interval(sample.y_true, sample.y_prob, groups=[1] * 100)
    with pytest.raises(ValueError, match="All queries belong to one group"):
        compare_calibration(sample.y_true, sample.y_prob, sample.y_prob, groups=[1] * 100)
    with pytest.raises(ValueError, match="statistic='ece' is not known"):
        calibration_test(sample.y_true, sample.y_prob, statistic="ece")
    with pytest.raises(ValueError, match="n_resamples must be at least 19"):
        calibration_test(sample.y_true, sample.y_prob, n_resamples=5)
    with pytest.raises(ValueError, match="y_true has 100, y_prob_b has 99"):
        compare_calibration(sample.y_true, sample.y_prob, sample.y_prob[1:])
    with pytest.raises(ValueError, match=r"y_prob_b contains 2\.0"):
        compare_calibration(sample.y_true, sample.y_prob, np.full(100, 2.0))
    empty = Queries([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], group=[0, 0, 1, 1])
    assert calibration_error_interval(empty).confidence_interval.high <= 1.0


def test_a_bin_never_holds_a_single_group():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(20), 50)
    q = np.repeat(np.linspace(0.05, 0.75, 20), 50)
    y = rng.random(1000) < q + 0.2
    low, high = calibration_error_interval(y, q, groups=group).confidence_interval
    assert low < 0.2 < high
    assert low > 0.05
    result = compare_calibration(y, q, np.clip(q + 0.2, 0, 1), groups=group)
    assert result.difference > 0.01
