"""Groups in an order that their names cannot change."""

import numpy as np
import pytest

from sklearn_calib import calibration_error_interval, calibration_test
from sklearn_calib.metrics._inference._unit_order import units_by_content


def _few_skewed_groups(seed, weighted=False):
    """Return rare positives in groups of unequal size, of which resampling decides."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(25), rng.integers(1, 12, 25))
    # On a grid, so that many rows are equal, and 1 - q is exact.
    q = rng.integers(1, 20, len(group)) / 128
    y = rng.random(len(group)) < np.minimum(1.0, 2.5 * q)
    return y, q, group, rng.integers(1, 4, len(group)) / 2 if weighted else None


@pytest.mark.parametrize("weighted", [False, True])
def test_neither_names_nor_rows_nor_classes_change_the_order(weighted):
    y, q, group, w = _few_skewed_groups(0, weighted)
    one = units_by_content(group, y, q, w)
    assert sorted(set(one.tolist())) == list(range(25))
    names = np.random.default_rng(1).permutation(25)
    np.testing.assert_array_equal(units_by_content(names[group], y, q, w), one)
    rows = np.random.default_rng(2).permutation(len(q))
    shuffled = units_by_content(
        group[rows], y[rows], q[rows], None if w is None else w[rows]
    )  # fmt: skip
    np.testing.assert_array_equal(shuffled, one[rows])
    np.testing.assert_array_equal(units_by_content(group, ~y, 1.0 - q, w), one)


@pytest.mark.parametrize("scale", [2.0, 3.0, 1 / 7, 1e12, 1e-300, 1e200])
def test_the_scale_of_weights_changes_no_order_and_no_draw(scale):
    y, q, group, _ = _few_skewed_groups(0)
    w = np.random.default_rng(3).lognormal(size=len(q))
    np.testing.assert_array_equal(
        units_by_content(group, y, q, w * scale), units_by_content(group, y, q, w)
    )
    one, other = (
        calibration_error_interval(y, q, groups=group, sample_weight=weight)
        for weight in (w, w * scale)
    )
    assert other.pvalue == pytest.approx(one.pvalue, rel=1e-9)
    assert other.confidence_interval == pytest.approx(one.confidence_interval, rel=1e-6, abs=1e-12)


def test_weights_tell_groups_apart_that_are_alike_otherwise():
    group = np.repeat([0, 1], 2)
    q, y = np.array([0.2, 0.7, 0.2, 0.7]), np.array([False, True, False, True])
    w = np.array([1.0, 2.0, 2.0, 1.0])
    one = units_by_content(group, y, q, w)
    np.testing.assert_array_equal(units_by_content(1 - group, y, q, w), one)
    # Nor does it matter which class is called positive where predictions are their own mirror.
    q, y = np.array([0.25, 0.75, 0.25, 0.75]), np.array([False, True, True, False])
    one = units_by_content(group, y, q, w)
    np.testing.assert_array_equal(units_by_content(group, ~y, 1.0 - q, w), one)


def test_what_groups_hold_tells_them_apart():
    y, q, group, _ = _few_skewed_groups(0)
    other = y.copy()
    other[group == 3] ^= True
    assert (units_by_content(group, other, q, None) != units_by_content(group, y, q, None)).any()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_pvalues_do_not_depend_on_the_names_of_groups(seed, weighted):
    y, q, group, w = _few_skewed_groups(seed, weighted)
    names = np.random.default_rng(10 + seed).permutation(25)
    text = np.array([f"document {k}" for k in names])
    for function in (
        lambda groups: calibration_error_interval(y, q, groups=groups, sample_weight=w),
        lambda groups: calibration_test(y, q, groups=groups, sample_weight=w, random_state=0),
    ):
        one = function(group).pvalue
        assert 0.0 < one < 1.0
        for renamed in (names[group], text[group]):
            assert function(renamed).pvalue == pytest.approx(one, rel=1e-9)
