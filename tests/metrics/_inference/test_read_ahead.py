"""One pass reads what all numbers of a report need."""

import numpy as np

from sklearn_calib import calibration_bins, calibration_error_interval, calibration_test
from sklearn_calib.metrics._inference._read_ahead import count_yes, read_ahead
from tests.scans import laws, queries_of, read_as_a_scan, scan_of


def test_nothing_is_read_after_it(monkeypatch):
    read_as_a_scan(monkeypatch)
    queries = queries_of(laws(20_000)["spread"])
    scan = scan_of(queries)
    read_ahead(scan)
    passes = scan.n_passes
    calibration_bins(scan)
    calibration_error_interval(scan)
    calibration_test(scan)
    assert scan.n_passes == passes
    assert count_yes(scan) == np.count_nonzero(queries.y_true)
