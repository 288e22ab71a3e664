"""Two models on two scans of the same rows."""

import numpy as np
import pytest

from sklearn_calib import compare_calibration
from sklearn_calib.metrics._inference import _scanned_pairs
from tests.scans import assert_same, in_order, laws, queries_of, read_as_a_scan

NUMBERS = ("error_a", "error_b", "difference", "standard_error", "pvalue", "confidence_interval")


@pytest.fixture(autouse=True)
def _read_as_a_scan(monkeypatch):
    read_as_a_scan(monkeypatch)


def two_models(law, weights, n_groups=None, n=12_000):
    rng, q = np.random.default_rng(3), laws(n)[law]
    group = (
        None if n_groups is None else np.array([f"d{g}" for g in rng.integers(n_groups, size=n)])
    )
    one = queries_of(q, weights, group=group)
    return one, one._with_predictions(np.where((q > 0.0) & (q < 1.0), q**1.05, q))


@pytest.mark.parametrize("n_groups", [None, 300])
@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("law", ["spread", "rounded", "single precision", "tiny", "ends"])
def test_comparisons_are_those_in_memory(law, weights, n_groups):
    one, two = two_models(law, weights, n_groups)
    for options in ({}, {"bin_size": 300}, {"n_bins": 17}, {"groups": False}):
        scans = in_order(one, [3000, 1, 4000]), in_order(two, [5000, 5000])
        found = compare_calibration(*scans, **options)
        expected = compare_calibration(one, two, **options)
        for name in NUMBERS:
            assert_same(getattr(found, name), getattr(expected, name))


def test_a_small_scan_is_compared_in_memory(monkeypatch):
    monkeypatch.undo()
    one, two = two_models("spread", None)
    scans = in_order(one, [500]), in_order(two)
    assert compare_calibration(*scans).pvalue == compare_calibration(one, two).pvalue
    assert [scan.n_passes for scan in scans] == [1, 1]


def test_what_cannot_be_compared_says_so(monkeypatch):
    one, two = two_models("spread", None)
    scans = in_order(one), in_order(two)
    for call in (
        lambda: compare_calibration(scans[0], two),
        lambda: compare_calibration(one.y_true, scans[0], one.y_prob),
        lambda: compare_calibration(*scans, two.y_prob),
    ):
        with pytest.raises(TypeError, match=r"scan|Queries"):
            call()
    with pytest.raises(TypeError, match="scan_queries"):
        compare_calibration(*scans, sample_weight=np.ones(12_000))
    grouped = in_order(one.with_groups(np.arange(12_000) // 10))
    with pytest.raises(ValueError, match="One of the scans has groups"):
        compare_calibration(grouped, scans[1])
    monkeypatch.setattr(_scanned_pairs, "_MOST_PAIRS", 100)
    with pytest.raises(ValueError, match="fewer with bin_size or n_bins"):
        compare_calibration(*scans)
