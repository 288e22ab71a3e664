"""Queries that are held, and their sums in small cells."""

import numpy as np
import pytest

from sklearn_calib import Queries
from sklearn_calib.metrics._binning import _buckets, _held_rows
from sklearn_calib.metrics._binning._buckets import Buckets, BucketSums, ExactRows
from sklearn_calib.metrics._binning._held_rows import HeldRows
from tests.scans import laws, queries_of


def held_rows(queries, parents, n_parts=1):
    """Hold all queries, taken over in parts: each has the buckets of a range of predictions."""
    weighted = queries.sample_weight is not None
    held = HeldRows(parents, weighted)
    every = np.unique(parents.of(queries.y_prob)[0])
    for wanted in np.array_split(every, n_parts):
        found = ExactRows(parents, wanted, weighted)
        found.add(queries)
        held.add(found)
    return held


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("often", [2, 10**6])
@pytest.mark.parametrize("n_parts", [1, 3])
def test_cells_have_the_sums_of_buckets(n_parts, often, weights, monkeypatch):
    monkeypatch.setattr(_buckets, "_OFTEN", often)
    monkeypatch.setattr(_held_rows, "_PER_CELL", 0.5)
    monkeypatch.setattr(_held_rows, "_ROWS", 100)
    queries = queries_of(np.concatenate(list(laws(400).values())), weights)
    parents = Buckets(4)
    held = held_rows(queries, parents, n_parts)
    assert held.buckets.bits > parents.bits
    sums = BucketSums(held.buckets, weights is not None)
    sums.add(queries)
    cell, count, expected = sums.filled()
    np.testing.assert_array_equal(held.cell, cell)
    np.testing.assert_array_equal(held.count, count)
    np.testing.assert_allclose(held.sums, expected, rtol=1e-12, atol=1e-300)
    q = (held.rows(np.ones(len(cell), dtype=bool))[0] >> 1).view(np.float64)
    inside = dict(zip(held.buckets.of(q)[0], parents.of(q)[0], strict=True))
    assert [inside[c] for c in cell] == held.parent.tolist()


@pytest.mark.parametrize("weights", [None, "real"])
def test_rows_of_cells_and_of_kept_buckets(weights, monkeypatch):
    monkeypatch.setattr(_held_rows, "_PER_CELL", 2)
    queries = queries_of(laws(2000)["ends"], weights)
    parents = Buckets(4)
    held = held_rows(queries, parents)
    weight = np.ones(2000) if weights is None else queries.sample_weight

    def check(cells):
        key, sums, place = held.rows(np.isin(held.cell, cells))
        rows = np.isin(held.buckets.of(queries.y_prob)[0], cells)
        expected = np.unique(2 * queries.y_prob[rows].view(np.int64) + queries.y_true[rows])
        np.testing.assert_array_equal(key, expected)
        assert sums[0].sum() == np.count_nonzero(rows)
        np.testing.assert_allclose(sums[-1].sum(), np.sum(weight[rows] ** (6 if weights else 1)))
        assert set(held.cell[place]) == set(cells)

    check(held.cell)
    check(held.cell[::3])
    check(held.cell[:0])
    kept = np.unique(held.parent)[::2]
    before = len(held)
    held.keep(kept)
    assert set(held.parent) == set(kept)
    assert len(held) < before
    check(held.cell)


def test_queries_of_their_own_take_eight_bytes():
    q = np.random.default_rng(0).random(5000)
    held = held_rows(Queries(q < 0.5, q), Buckets(2))
    assert len(held) == 5000
    assert held._single.nbytes == 8 * 5000
    assert len(held._key) == 0
    assert 8 < held.count.sum(axis=1).mean() < 128
