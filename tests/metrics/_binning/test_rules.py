"""Rules cut a scan where they cut the same queries in memory."""

import numpy as np
import pytest

from sklearn_calib.metrics._binning._rules import Balanced, ByNumber, BySize, ByWidth, Fine
from sklearn_calib.metrics._binning._scanned import ScanReader
from sklearn_calib.metrics._binning._sorted import sort_queries
from tests.scans import laws, queries_of, read_as_a_scan, scan_of

RULES = [
    ByNumber(1),
    ByNumber(37),
    BySize(7),
    BySize(250),
    BySize(250, min_rows=4),
    ByWidth(10),
    ByWidth(97),
    Balanced(),
    Balanced(most=21),
    Balanced(60),
    Balanced(60, by_count=True),
    Fine(200),
    Fine(40, by_count=True),
]


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_scan_is_cut_as_in_memory(rule, weights, monkeypatch):
    read_as_a_scan(monkeypatch)
    for name, q in laws(3000).items():
        queries = queries_of(q, weights)
        ordered = sort_queries(queries)
        high = ordered.q[rule.ends(ordered) - 1]
        scanned = ScanReader(scan_of(queries)).resolved((rule,))
        np.testing.assert_array_equal(scanned.q[rule.ends(scanned) - 1], high, err_msg=name)


def test_an_untied_scan_needs_two_passes(monkeypatch):
    read_as_a_scan(monkeypatch)
    scan = scan_of(queries_of(laws(20_000)["spread"]))
    ScanReader(scan).resolved((BySize(500), ByNumber(30), Balanced(), ByWidth(20)))
    assert scan.n_passes == 2
