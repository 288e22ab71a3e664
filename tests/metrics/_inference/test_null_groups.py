"""Draws of answers that depend on each other within groups."""

import numpy as np
import pytest

from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._null_cells import null_cells
from sklearn_calib.metrics._inference._null_groups import (
    dependent_residuals,
    flipped,
    within_correlation,
)


@pytest.fixture
def cells():
    sample = make_queries(1000, a=2, b=2, group_size=10, dependence=0.8, random_state=0)
    return null_cells(sample.queries, most=8)


def test_flips_keep_the_size_of_whole_groups(cells):
    basis = np.ones((len(cells), 1))
    draws = flipped(cells, basis, 4000, np.random.default_rng(0))
    np.testing.assert_allclose(draws.sums.sum(axis=1), draws.scores[:, 0], atol=1e-9)
    together = np.square(np.bincount(cells.group, cells.residuals)).sum()
    assert draws.scores.var() == pytest.approx(together, rel=0.1)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_dependent_draws_keep_the_predictions(cells, correlation):
    rng = np.random.default_rng(0)
    draws = np.concatenate(list(dependent_residuals(cells, cells.group, correlation, 3000, rng)))
    sd = np.sqrt(cells.variance / 3000)
    assert np.abs(draws.mean(axis=0) / sd).max() <= 5.0
    found = np.corrcoef(draws[:, cells.group == 0].T)[np.triu_indices(10, 1)]
    # Answers are less correlated than the normal variables behind them.
    assert found.min() > -0.07
    assert (0.2 < found.mean() < 0.5) if correlation else abs(found.mean()) < 0.02


def test_dependence_is_recognised(cells):
    rng = np.random.default_rng(0)
    assert within_correlation(cells, cells.group, rng) > 0.4
    free = make_queries(1000, a=2, b=2, random_state=0).queries
    alone = null_cells(free.with_groups(np.arange(1000) // 10))
    assert within_correlation(alone, alone.group, rng) < 0.1
