"""Queries of a scan, in order of prediction."""

import math

import numpy as np
import pytest

from sklearn_calib import scan_queries
from sklearn_calib.metrics._binning import _held_rows, _scanned
from sklearn_calib.metrics._binning._binned import BinnedQueries, cut
from sklearn_calib.metrics._binning._rules import Balanced, ByNumber, BySize, ByWidth
from sklearn_calib.metrics._binning._scanned import ScanReader, sort_or_scan
from sklearn_calib.metrics._binning._sorted import sort_queries
from tests.scans import assert_same, laws, queries_of, read_as_a_scan, scan_of


@pytest.fixture(autouse=True)
def _read_as_a_scan(monkeypatch):
    read_as_a_scan(monkeypatch)


FUNCTIONS = {
    "prediction": lambda q: q,
    "square": np.square,
    "sixth power": lambda q: (1.0 - q) ** 6,
    "information": lambda q: q * (1.0 - q),
    "logarithm": lambda q: np.log(np.clip(q, 1e-16, 1.0)),
}


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("power", [1, 2, 3, 4, 6])
def test_sums_of_bins_are_those_in_memory(power, weights):
    for q in laws(3000).values():
        queries = queries_of(q, weights)
        ordered = sort_queries(queries)
        expected = BinnedQueries(ordered, ByNumber(20).ends(ordered))
        found = cut(sort_or_scan(scan_of(queries)), ByNumber(20))
        np.testing.assert_array_equal(found.count, expected.count)
        assert_same(found.effective_count, expected.effective_count)
        for function in FUNCTIONS.values():
            assert_same(found.total(power, function), expected.total(power, function))


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("per_cell", [1, 8])
def test_rows_that_are_held_in_cells_are_cut_as_in_memory(per_cell, weights, monkeypatch):
    monkeypatch.setattr(_held_rows, "_PER_CELL", per_cell)
    monkeypatch.setattr(_scanned, "_BITS", 4)
    for name, q in laws(4000).items():
        queries = queries_of(q, weights)
        ordered = sort_queries(queries)
        scan = scan_of(queries)
        reader = ScanReader(scan)
        for rule in (BySize(60), Balanced(), ByNumber(40), ByWidth(25)):
            expected = BinnedQueries(ordered, rule.ends(ordered))
            scanned = reader.resolved((rule,))
            found = BinnedQueries(scanned, rule.ends(scanned))
            np.testing.assert_array_equal(found.count, expected.count)
            # Such wide buckets have no exact sums of other functions.
            assert_same(found.total(1, lambda q: q), expected.total(1, lambda q: q))
        if name == "spread":
            # Cells that no bin ends in stay as they are.
            assert len(reader.ordered.q) < len(queries)
            assert scan.n_passes <= 6


def test_a_rule_is_not_looked_at_again_until_the_rows_are_ordered_anew(monkeypatch):
    queries, looked = queries_of(laws(20_000)["spread"]), []
    rule, touched = Balanced(), Balanced.touched

    def counted(self, ordered):
        looked.append(self)
        return touched(self, ordered)

    reader = ScanReader(scan_of(queries))
    reader.resolved((rule,))
    monkeypatch.setattr(Balanced, "touched", counted)
    ordered = reader.resolved((rule,))
    assert not looked
    np.testing.assert_array_equal(cut(ordered, rule).count, cut(sort_queries(queries), rule).count)
    reader.apart()
    reader.resolved((rule,))
    assert looked


def test_memory_for_single_rows_is_bounded(monkeypatch):
    monkeypatch.setattr(_scanned, "_MOST_HELD", 300)
    monkeypatch.setattr(_scanned, "_BITS", 8)
    monkeypatch.setattr(_scanned, "_MOST_BITS", 10)
    queries = queries_of(laws(5000)["spread"])
    ordered = sort_queries(queries)
    for rule in (BySize(100), Balanced(), ByNumber(40)):
        scanned = ScanReader(scan_of(queries)).resolved((rule,))
        expected = ordered.q[rule.ends(ordered) - 1]
        np.testing.assert_array_equal(scanned.q[rule.ends(scanned) - 1], expected)


def test_other_rows_in_a_later_pass_are_an_error():
    rng = np.random.default_rng(0)

    def other_rows():
        q = 0.3 + 1e-4 * rng.random(1000)
        yield q > 0.5, q

    with pytest.raises(RuntimeError, match="every pass must see the same"):
        cut(sort_or_scan(scan_queries(other_rows)), BySize(100))


def test_weights_out_of_reach_are_divided_by_a_power_of_two():
    queries = queries_of(laws(100)["spread"], "real")
    huge = type(queries)._from_checked(
        queries.y_true, queries.y_prob, weight=queries.sample_weight * 2.0**100
    )
    scan = scan_of(huge)
    found = sort_or_scan(scan).weights.sum() / queries.sample_weight.sum()
    assert found == pytest.approx(2.0 ** -math.frexp(queries.sample_weight.max())[1])
    # One pass to see them, and one to read them again.
    assert scan.n_passes == 2


def test_nothing_to_read_is_an_error():
    with pytest.raises(ValueError, match="no rows"):
        sort_or_scan(scan_queries(lambda: iter(())))
    queries = queries_of(laws(100)["spread"], "real")
    none = type(queries)._from_checked(queries.y_true, queries.y_prob, weight=np.zeros(100))
    with pytest.raises(ValueError, match="weight zero"):
        sort_or_scan(scan_of(none))
