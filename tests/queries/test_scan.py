"""Scans: what they read, how often, and what they refuse."""

import numpy as np
import pytest

from sklearn_calib import Queries, calibration_bins, sample_size_curve, scan_queries
from sklearn_calib.queries import QueryScan
from tests.scans import laws, queries_of, read_as_a_scan, scan_of


def chunks_of(n_chunks=4, size=500):
    def chunks():
        rng = np.random.default_rng(0)
        for _ in range(n_chunks):
            # So close to each other that many share a bucket.
            q = 0.3 + 1e-4 * rng.random(size)
            yield {"answer": rng.random(size) < q, "score": q}

    return chunks


def test_a_small_scan_is_read_once_and_kept():
    scan = scan_queries(chunks_of(), y_true="answer", y_prob="score")
    assert scan.n_rows is None
    first, second = calibration_bins(scan), calibration_bins(scan, n_bins=3)
    assert first.count.sum() == second.count.sum() == 2000
    assert scan.n_passes == 1
    assert repr(scan) == "<QueryScan: 2,000 rows, 1 pass>"


def test_a_large_scan_is_never_held(monkeypatch):
    read_as_a_scan(monkeypatch)
    scan = scan_queries(chunks_of(), y_true="answer", y_prob="score")
    assert scan.in_memory() is None
    assert calibration_bins(scan, n_bins=3).count.sum() == 2000
    assert scan.n_rows == 2000
    assert scan.n_passes == 2


def test_collect_keeps_order_and_everything_else():
    rng = np.random.default_rng(0)
    queries = Queries(
        rng.integers(0, 2, 10),
        rng.random(10),
        label=list("aabbaabbab"),
        group=rng.integers(0, 3, 10),
        sample_weight=rng.random(10),
    )
    scan = scan_queries(lambda: (queries._take(part) for part in (slice(0, 4), slice(4, 10))))
    assert (scan.labelled, scan.grouped, scan.weighted) == (True, True, True)
    found = scan.collect()
    for name in ("y_true", "y_prob", "label", "group", "sample_weight"):
        np.testing.assert_array_equal(getattr(found, name), getattr(queries, name))


def test_a_sample_is_drawn_without_replacement_from_all_rows():
    q = np.arange(100_000) / 100_000
    scan = scan_of(Queries(q > 0.5, q), n_chunks=7)
    found = scan.sample(1000, random_state=0)
    assert len(found) == 1000
    assert len(np.unique(found.y_prob)) == 1000
    assert abs(found.y_prob.mean() - 0.5) < 0.05
    np.testing.assert_array_equal(found.y_true, found.y_prob > 0.5)
    assert len(scan.sample(10**6)) == 100_000


def test_every_row_has_the_same_chance_to_be_drawn():
    q = np.arange(60) / 60
    scan = scan_queries(lambda: iter([(q[:10] > 2, q[:10]), (q[10:] > 2, q[10:])]))
    drawn = np.zeros(60)
    for seed in range(300):
        rows = np.rint(scan.sample(6, random_state=seed).y_prob * 60).astype(int)
        drawn[rows] += 1
    # 300 draws at a chance of 0.1: 30, with a standard deviation of 5.2.
    assert abs(drawn[:10].mean() - 30) < 6
    assert drawn.min() > 8
    assert drawn.max() < 55


def test_chunks_are_even():
    scan = scan_of(queries_of(laws(1000)["spread"]), n_chunks=100)
    assert [len(chunk) for chunk in scan.chunks()] == [1000]


def test_progress_is_shown_on_demand(capsys, monkeypatch):
    read_as_a_scan(monkeypatch)
    monkeypatch.setattr("sklearn_calib.queries._scan.time.monotonic", iter(range(100)).__next__)
    scan = scan_queries(chunks_of(), y_true="answer", y_prob="score")
    shown = QueryScan(scan._source, show_progress=True)
    calibration_bins(shown, n_bins=3)
    text = capsys.readouterr().err
    assert "pass 1: sums of buckets, 2,000 rows" in text
    assert "pass 2: queries at the edges of bins, 2,000 rows (100%)" in text


def test_functions_that_need_all_queries_say_what_to_do(monkeypatch):
    read_as_a_scan(monkeypatch)
    scan = scan_queries(chunks_of(), y_true="answer", y_prob="score")
    with pytest.raises(TypeError, match=r"scan\.sample\(100_000"):
        sample_size_curve(scan)


def test_columns_are_part_of_the_scan():
    scan = scan_queries(chunks_of(), y_true="answer", y_prob="score")
    with pytest.raises(TypeError, match="sample_weight is part of the scan"):
        calibration_bins(scan, sample_weight=np.ones(2000))


def test_other_sources_are_refused():
    with pytest.raises(TypeError, match="can be read only once"):
        scan_queries(iter([]))
    with pytest.raises(TypeError, match="in memory already"):
        scan_queries(queries_of(laws(10)["spread"]))
    with pytest.raises(TypeError, match="a path, a pyarrow Dataset"):
        scan_queries(3)
    with pytest.raises(TypeError, match="name of a column"):
        scan_queries(chunks_of(), y_true=np.ones(3))
