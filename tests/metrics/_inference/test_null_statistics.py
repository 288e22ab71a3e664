"""The statistics of the tests of calibration, and how they are combined."""

import numpy as np
import pytest
from scipy import stats

from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._null_cells import null_cells
from sklearn_calib.metrics._inference._null_statistics import (
    PARTS,
    NullStatistics,
    brownian_range_sf,
    cauchy_pvalue,
    cosine_basis,
    cox_basis,
    hump_basis,
    kuiper_range,
    local_score,
    ranked_combination,
    upper_ranks,
)


def test_range_of_brownian_motion():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal((4000, 2000)) / np.sqrt(2000), axis=1)
    reach = np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0)
    for x in (1.0, 1.5, 2.0, 2.5):
        # The discrete walk misses its extremes by a little.
        assert brownian_range_sf(x) == pytest.approx(np.mean(reach > x), abs=0.035)
    assert brownian_range_sf(0.0) == brownian_range_sf(0.2) == 1.0
    assert brownian_range_sf(0.35) == pytest.approx(1.0, abs=1e-9)
    assert brownian_range_sf(np.inf) == 0.0
    values = [brownian_range_sf(x) for x in np.linspace(0.25, 6, 100)]
    assert (np.diff(values) <= 1e-12).all()


def test_kuiper_range_by_hand():
    sums = np.array([[1.0, -3.0, 1.0], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0]])
    assert kuiper_range(sums).tolist() == [3.0, 2.0, 0.0]


def test_bases_are_orthonormal_under_the_null_variance():
    cells = null_cells(make_queries(2000, a=0.5, b=2, random_state=0).queries)
    basis = cox_basis(cells)
    np.testing.assert_allclose((basis.T * cells.variance) @ basis, np.eye(2), atol=1e-9)
    variance = np.bincount(cells.cell, cells.variance)
    cosines = cosine_basis(variance)
    assert cosines.shape == (256, 32)
    np.testing.assert_allclose((cosines.T * variance) @ cosines, np.eye(32), atol=1e-9)
    assert np.ptp(cosines[:, 0]) < 1e-12
    assert cosine_basis(np.array([1.0, 2.0])).shape == (2, 2)


def test_humps_have_variance_one_and_are_the_same_from_both_ends():
    variance = np.random.default_rng(0).random(256)
    humps = hump_basis(variance)
    assert humps.shape == (256, 17 + 9)
    np.testing.assert_allclose(variance @ np.square(humps), 1.0)
    mirrored = hump_basis(variance[::-1])[::-1]
    np.testing.assert_allclose(mirrored[:, :17], humps[:, 16::-1], rtol=1e-9, atol=1e-12)
    # The highest point of each lies where the hump is.
    assert (np.diff(np.argmax(humps[:, :17], axis=0)) > 0).all()
    assert hump_basis(np.array([0.25])).shape == (1, 26)


def test_local_score_is_a_mean_over_widths_and_places():
    z = np.random.default_rng(0).standard_normal((3, 26))
    tangents = np.tan((0.5 - np.minimum(2 * stats.norm.sf(np.abs(z)), 0.99)) * np.pi)
    expected = (tangents[:, :17].mean(axis=1) + tangents[:, 17:].mean(axis=1)) / 2
    np.testing.assert_allclose(local_score(z), expected)


def test_statistics_of_draws_follow_their_limits():
    cells = null_cells(make_queries(4000, a=1, b=1, random_state=0).queries)
    statistics = NullStatistics(cells, PARTS)
    rng = np.random.default_rng(0)
    draws = cells.redrawn(statistics.basis, 600, rng)
    values = np.concatenate([statistics.of(part) for part in draws])
    pvalues = np.array([statistics.limits(row) for row in values])
    # The standard error is below 2 %; the walk over cells misses its extremes by a little.
    for level in (0.05, 0.2):
        assert np.abs(np.mean(pvalues <= level, axis=0) - level).max() <= 0.05


def test_cauchy_combination():
    same = np.array([0.03, 0.03, 0.03])
    assert cauchy_pvalue(same) == pytest.approx(0.03)
    expected = stats.cauchy.sf(np.mean(np.tan((0.5 - np.array([0.01, 0.4])) * np.pi)))
    assert cauchy_pvalue(np.array([0.01, 0.4])) == pytest.approx(expected)
    # A p-value of 1 does not outweigh a tiny one.
    assert cauchy_pvalue(np.array([1e-6, 1.0])) < 1e-5
    assert cauchy_pvalue(np.array([1e-200, 1.0])) == pytest.approx(2e-200)


def test_ranks_by_hand():
    values = np.array([[3.0], [1.0], [3.0 + 1e-14], [2.0]])
    assert upper_ranks(values)[:, 0].tolist() == [0.5, 1.0, 0.5, 0.75]
    assert ranked_combination(values)[0] == 0.5
    pool = np.array([[9.0, 9.0], [1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])
    pvalue, parts = ranked_combination(pool)
    assert pvalue == 0.25
    assert parts.tolist() == [0.25, 0.25]


def test_ranked_combination_is_exact_whatever_the_statistics():
    rng = np.random.default_rng(0)
    pool = rng.standard_cauchy((2000, 20, 1)) ** 3 * [1.0, -2.0, 0.5]
    pvalues = np.array([ranked_combination(rows)[0] for rows in pool])
    assert np.mean(pvalues <= 0.05) == pytest.approx(0.05, abs=0.015)
