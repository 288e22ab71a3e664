"""Queries in cells, and draws of their answers."""

import numpy as np
import pytest

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._null_cells import equal_cells, null_cells


def test_equal_predictions_share_a_cell():
    queries = make_queries(3000, decimals=2, random_state=0).queries
    cells = null_cells(queries)
    assert cells.n_cells == len(np.unique(cells.q))
    few = null_cells(queries, most=10)
    assert few.n_cells <= 10
    for value in np.unique(few.q):
        assert len(set(few.cell[few.q == value])) == 1
    assert (np.diff(few.cell) >= 0).all()


def test_cells_have_about_equal_measure():
    measure = np.random.default_rng(0).exponential(size=5000)
    cell = equal_cells(measure, 50)
    assert cell[0] == 0
    assert cell[-1] == 49
    held = np.bincount(cell, measure)
    assert held.max() < 1.3 * held.mean()
    assert equal_cells(np.array([1.0, 100.0, 1.0]), 2).tolist() == [0, 1, 1]


def test_nothing_open():
    assert null_cells(Queries([0, 1], [0.0, 1.0])) is None
    assert len(null_cells(Queries([0, 1, 1], [0.0, 1.0, 0.5]))) == 1


@pytest.mark.parametrize("law", [{"a": 1, "b": 1}, {"a": 0.05, "b": 3}])
def test_draws_have_the_moments_of_right_predictions(law):
    sample = make_queries(400, random_state=0, **law)
    weight = 1.0 + np.arange(400) % 3
    cells = null_cells(Queries(sample.y_true, sample.y_prob, sample_weight=weight), most=4)
    basis = np.stack([np.ones(len(cells)), cells.q], axis=1)
    rng = np.random.default_rng(0)
    parts = list(cells.redrawn(basis, 4000, rng))
    sums = np.concatenate([part.sums for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    assert sums.shape == (4000, cells.n_cells)
    np.testing.assert_allclose(sums.sum(axis=1), scores[:, 0], atol=1e-9)
    variance = np.bincount(cells.cell, cells.variance)
    assert (np.abs(sums.mean(axis=0)) <= 4.0 * np.sqrt(variance / 4000)).all()
    np.testing.assert_allclose(sums.var(axis=0), variance, rtol=0.15, atol=1e-4)
    own = cells.observed(basis)
    assert own.scores[0, 0] == pytest.approx(np.sum(cells.w * (cells.y - cells.q)))


def test_the_name_of_the_positive_class_does_not_matter():
    rng = np.random.default_rng(0)
    for n in (5, 40):
        for symmetric in (False, True):
            q = rng.integers(1, 16, n) / 16
            if symmetric:
                q = np.concatenate([q, 1.0 - q])
            y = rng.random(len(q)) < q
            w, group = rng.integers(1, 4, len(q)), rng.integers(0, 3, len(q))
            one = null_cells(Queries(y, q, sample_weight=w, group=group))
            two = null_cells(Queries(~y, 1.0 - q, sample_weight=w, group=group))
            for name in ("y", "q", "w", "cell", "group"):
                np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
