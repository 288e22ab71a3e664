"""Calibration of each label."""

import numpy as np
import pytest

from sklearn_calib import (
    Queries,
    adaptive_bin_calibration_error,
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
