"""Queries that are held, and their sums in small cells."""

import numpy as np
import pytest

from sklearn_calib import Queries
from sklearn_calib.metrics._binning import _buckets, _held_rows
from sklearn_calib.metrics._binning._buckets import Buckets, ExactRows
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
        found.settle()
        held.add(found)
    return held


def rows_in(queries, held, cell):
    """Return which of the queries lie in a cell, by its range."""
    return (queries.y_prob >= held.low[cell]) & (queries.y_prob <= held.high[cell])


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("often", [2, 10**6])
@pytest.mark.parametrize("n_parts", [1, 3])
def test_cells_are_ranges_of_predictions_with_their_sums(n_parts, often, weights, monkeypatch):
    monkeypatch.setattr(_buckets, "_OFTEN", often)
    monkeypatch.setattr(_held_rows, "_PER_CELL", 3)
    monkeypatch.setattr(_held_rows, "_ROWS", 100)
    queries = queries_of(np.concatenate([q[:60] for q in laws(400).values()]), weights)
    parents = Buckets(4)
    held = held_rows(queries, parents, n_parts)
    assert weights == "whole" or held.n_cells > len(held.bucket)
    assert (held.low <= held.high).all()
    assert (held.high[:-1] < held.low[1:]).all()
    # The quarters of a bucket are in order.
    assert (np.diff(4 * held.parent + held.part) >= 0).all()
    assert set(held.part) == {0, 1, 2, 3}
    w = np.ones(len(queries)) if weights is None else queries.sample_weight
    least, _, upper = parents.range(held.bucket[held.parent])
    for cell in range(held.n_cells):
        inside = rows_in(queries, held, cell) & (w > 0.0)
        assert set(parents.of(queries.y_prob[inside])[0]) == {held.bucket[held.parent[cell]]}
        for answer in (0, 1):
            rows = inside & (queries.y_true == answer)
            q, weight = queries.y_prob[rows], w[rows]
            away = np.where(upper[cell], 1.0 - q, q) - least[cell]
            assert held.count[cell, answer] == len(q)
            found = held.sums[:, cell, answer]
            if weights is None:
                expected = [away.sum(), np.square(away).sum()]
            else:
                expected = [weight.sum(), weight @ away, weight @ np.square(away)]
                for k in (2, 3, 4, 6):
                    expected += [np.sum(weight**k), weight**k @ away]
            # Narrow buckets keep no squares.
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("weights", [None, "real"])
@pytest.mark.parametrize("often", [2, 10**6])
def test_rows_of_cells_of_kept_buckets_and_of_those_not_forgotten(often, weights, monkeypatch):
    monkeypatch.setattr(_buckets, "_OFTEN", often)
    monkeypatch.setattr(_held_rows, "_PER_CELL", 2)
    queries = queries_of(laws(2000)["ends"], weights)
    parents = Buckets(4)
    held = held_rows(queries, parents)
    weight = np.ones(2000) if weights is None else queries.sample_weight

    def check(cells):
        key, sums, place = held.rows(np.isin(np.arange(held.n_cells), cells))
        inside = np.zeros(2000, dtype=bool)
        for cell in cells:
            inside |= rows_in(queries, held, cell)
        expected = np.unique(2 * queries.y_prob[inside].view(np.int64) + queries.y_true[inside])
        np.testing.assert_array_equal(key, expected)
        assert sums[0].sum() == np.count_nonzero(inside)
        np.testing.assert_allclose(sums[-1].sum(), np.sum(weight[inside] ** (6 if weights else 1)))
        assert set(place) == set(cells)

    every = np.arange(held.n_cells)
    check(every)
    check(every[::3])
    check(every[:0])
    kept = held.bucket[::2]
    before = len(held)
    held.keep(kept)
    np.testing.assert_array_equal(held.bucket, kept)
    assert len(held) < before
    check(np.arange(held.n_cells))
    counts = held.count.copy()
    chosen = np.arange(held.n_cells) % 3 == 0
    held.forget(chosen)
    np.testing.assert_array_equal(held.count, counts)
    check(np.flatnonzero(chosen))
    assert len(held.rows(~chosen)[0]) == 0


def test_queries_of_their_own_take_eight_bytes():
    q = np.random.default_rng(0).random(5000)
    held = held_rows(Queries(q < 0.5, q), Buckets(2))
    assert len(held) == 5000
    assert held._key.nbytes == 8 * 5000
    assert held._sums is None
    assert 4 < held.count.sum(axis=1).mean() < 64
