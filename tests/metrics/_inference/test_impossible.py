"""Answers that no calibrated model could have given."""

import numpy as np
import pytest

from sklearn_calib import (
    Queries,
    calibration_error_interval,
    calibration_report,
    calibration_test,
    label_calibration,
)
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._inference._impossible import impossible_answers
from tests.scans import read_as_a_scan, scan_of


def sure_and_wrong(n=600, yes=3, no=1):
    """Return calibrated queries, and some that are sure and wrong."""
    rng = np.random.default_rng(0)
    q = rng.random(n)
    y = rng.random(n) < q
    sure = np.repeat([0.0, 1.0, 0.0, 1.0], (yes, no, 5, 5))
    answer = np.repeat([True, False, False, True], (yes, no, 5, 5))
    return np.append(y, answer), np.append(q, sure)


@pytest.mark.parametrize(("yes", "no"), [(0, 0), (3, 0), (0, 2), (3, 1)])
def test_one_count_for_queries_sorted_queries_and_scans(yes, no, monkeypatch):
    read_as_a_scan(monkeypatch)
    y, q = sure_and_wrong(yes=yes, no=no)
    queries = Queries(y, q)
    for form in (queries, sort_queries(queries), sort_or_scan(scan_of(queries, 3))):
        found = impossible_answers(form)
        assert found == (yes, no)
        assert bool(found) is (yes + no > 0)


def test_what_is_next_to_zero_is_zero_and_what_has_no_weight_does_not_count():
    assert impossible_answers(Queries([1, 1], [1e-51, 1e-49])) == (1, 0)
    assert impossible_answers(sort_queries(Queries([1, 1], [1e-51, 1e-49]))) == (1, 0)
    weighted = Queries([1, 1, 0], [0.0, 0.0, 1.0], sample_weight=[2.0, 0.0, 0.0])
    assert impossible_answers(weighted) == (1, 0)
    assert calibration_test([1, 0] * 20, [1e-51, 0.5] * 20).pvalue == 0.0


def test_words():
    assert impossible_answers(Queries([0, 1], [0.0, 1.0])).text == ""
    found = impossible_answers(Queries([1, 1, 0], [0.0, 0.0, 1.0]))
    expected = "2 answers of yes met a prediction of 0 and 1 answer of no met a prediction of 1"
    assert found.text == expected


@pytest.mark.parametrize("statistic", ["omnibus", "binned", "kuiper", "cox", "spiegelhalter"])
def test_a_test_says_why_its_p_value_is_zero(statistic):
    y, q = sure_and_wrong()
    result = calibration_test(y, q, statistic=statistic)
    assert result.pvalue == 0.0
    assert result.impossible == (3, 1)
    assert "3 answers of yes met a prediction of 0" in str(result)
    assert result.to_frame()["n_impossible"].item() == 4
    fine = calibration_test(*sure_and_wrong(yes=0, no=0), statistic=statistic)
    assert "impossible" not in str(fine)


@pytest.mark.parametrize("method", ["score", "sampling", "bootstrap"])
def test_an_interval_says_why(method):
    y, q = sure_and_wrong()
    result = calibration_error_interval(y, q, method=method, n_resamples=99, random_state=0)
    assert result.impossible == (3, 1)
    assert "3 answers of yes met a prediction of 0" in str(result)
    assert "1e-300" not in str(result)
    assert result.to_frame()["n_impossible"].item() == 4


def test_tables_and_reports_say_why():
    y, q = sure_and_wrong()
    slices = np.where(q < 0.5, "low", "high")
    table = label_calibration(y, q, by=slices)
    np.testing.assert_array_equal(table.labels, ["high", "low"])
    np.testing.assert_array_equal(table.n_impossible, [1, 3])
    assert table.note[1] == "3 against a prediction of 0 or 1"
    assert table.most_common(1).n_impossible.tolist() == [1]
    assert "3 answers of yes met a prediction of 0" in str(calibration_report(y, q))
