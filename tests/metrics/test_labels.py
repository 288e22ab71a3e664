"""Calibration of each label."""

import numpy as np
import pytest

from sklearn_calib import (
    Queries,
    adaptive_bin_calibration_error,
    calibration_error_interval,
    classifier_queries,
    label_calibration,
)


def test_labels_without_weight_or_groups():
    queries = Queries(
        [0, 1, 0, 1], [0.1, 0.9, 0.2, 0.8], label=list("aabb"), sample_weight=[1, 1, 0, 0]
    )
    macro = adaptive_bin_calibration_error(queries, average="macro", n_bins=1)
    assert macro == pytest.approx(0.0)
    with pytest.raises(ValueError, match="weight zero"):
        adaptive_bin_calibration_error(queries.where(label="b"))
    assert queries.where(label="a").labels.tolist() == ["a"]
    with pytest.raises(ValueError, match="no labels"):
        adaptive_bin_calibration_error(Queries([0, 1], [0.1, 0.2]), average="macro")
    lone = Queries([0, 1] * 10, [0.2, 0.7] * 10, label=["a", "b"] * 10, group=[0, 1] * 10)
    table = label_calibration(lone)
    assert np.isnan(table.error).all()


def test_label_table():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([5, 3, 1], size=1500)
    y = np.array([rng.choice(3, p=p) for p in proba])
    names = np.array(["common", "middle", "rare"])
    table = label_calibration(names[y], proba, classes=names)
    assert len(table) == 3
    assert table.most_common(2).labels.tolist() == ["common", "middle"]
    assert (table.confidence_interval.low == 0).all()
    assert table.to_frame().loc["rare", "count"] == (y == 2).sum()
    assert "common" in str(table)
    queries_table = label_calibration(classifier_queries(names[y], proba, classes=names))
    np.testing.assert_array_equal(queries_table.error, table.error)
    assert table.mean_error == pytest.approx(table.error.mean())


def test_label_with_too_few_queries_says_that_nothing_is_known():
    table = label_calibration([0, 1, 2], np.full((3, 3), 1 / 3), classes=[0, 1, 2])
    assert np.isnan(table.error).all()
    assert table.confidence_interval.low.tolist() == [0, 0, 0]
    assert table.confidence_interval.high.tolist() == [1, 1, 1]
    assert np.isnan(table.mean_error)


def test_unmet_label_has_a_row():
    proba = np.tile([0.5, 0.5], (40, 1))
    table = label_calibration(["a", "b", "c", "a"] * 10, proba, classes=["a", "b"])
    assert table.labels.tolist() == ["a", "b", "c"]
    assert table.mean_gap[2] == pytest.approx(-0.25)


def test_slices():
    rng = np.random.default_rng(0)
    q = rng.random(3000)
    region = rng.choice(["north", "south", "west"], size=3000)
    y = rng.random(3000) < np.where(region == "south", q**2, q)
    table = label_calibration(y, q, by=region)
    assert table.labels.tolist() == ["north", "south", "west"]
    assert (table.adjusted_pvalue < 0.05).tolist() == [False, True, False]
    assert table.n_queries.sum() == 3000
    south = calibration_error_interval(y[region == "south"], q[region == "south"])
    assert table.error[1] == south.error
    assert table.pvalue[1] == south.pvalue
    assert "1 of 3 with an adjusted p-value below 0.05" in str(table)
    frame = table.to_frame()
    assert frame.loc["south", "adjusted_pvalue"] == table.adjusted_pvalue[1]
    proba = np.column_stack([1 - q, q / 2, q / 2])
    many = label_calibration(rng.integers(0, 3, 3000), proba, by=region)
    assert many.n_queries.sum() == 9000
    same = label_calibration(Queries(y, q), by=region)
    assert same.error.tolist() == table.error.tolist()
    words = label_calibration(np.where(y, "yes", "no"), q, by=region, pos_label="yes")
    assert words.error.tolist() == table.error.tolist()
    ages = np.where(region == "west", np.nan, 30.0)
    assert label_calibration(y, q, by=ages).labels.tolist() == ["30.0", "missing"]
    with pytest.raises(ValueError, match="by must have one entry for each of the 3000 rows"):
        label_calibration(y, q, by=region[:5])
    by_group = r"for each of the 3000 queries; got shape \(5,\)\. What is known by group"
    with pytest.raises(ValueError, match=by_group):
        label_calibration(Queries(y, q), by=region[:5])


def test_rows_that_can_tell_little_say_so():
    q = np.r_[np.full(50, 0.001), np.full(50, 0.4)]
    table = label_calibration(np.zeros(100), q, by=np.repeat(["rare", "common"], 50))
    assert table.note.tolist() == ["", "fewer than one yes expected"]
    assert "fewer than one yes expected" in str(table)
    assert "note" not in str(table.most_common(1))
