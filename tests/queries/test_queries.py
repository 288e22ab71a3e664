"""The yes/no questions themselves."""

import pickle

import numpy as np
import pytest

from sklearn_calib import (
    Queries,
    adaptive_bin_calibration_error,
    classifier_queries,
)


def test_queries_do_not_share_memory():
    q = np.array([0.1, 0.2])
    queries = Queries([0, 1], q)
    q[0] = 5.0
    assert queries.y_prob.tolist() == [0.1, 0.2]


PROBA = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])


def test_attributes_are_read_only():
    y, q = np.array([0, 1]), np.array([0.2, 0.7])
    queries = Queries(y, q, group=[1, 2], label=["a", "b"], sample_weight=[1, 2])
    with pytest.raises(ValueError, match="read-only"):
        queries.y_prob[0] = 0.5
    with pytest.raises(AttributeError):
        queries.y_prob = q
    q[0] = 0.3  # the caller's own array stays writable
    assert len(queries) == 2
    assert queries.label.tolist() == ["a", "b"]
    assert queries.group.tolist() == [1, 2]
    assert "2 labels, 2 groups, weighted" in repr(queries)
    one = queries.where(label="a")
    assert repr(one) == "<Queries: 1 query, 0 of them true, 1 label, 1 group, weighted>"
    assert pickle.loads(pickle.dumps(queries)).y_true.tolist() == [False, True]


def test_where_and_by_label():
    queries = classifier_queries([0, 2, 1], PROBA, classes=[0, 1, 2])
    assert queries.where(label=1).y_prob.tolist() == [0.2, 0.3, 0.5]
    assert [name for name, _ in queries.by_label()] == [0, 1, 2]
    for name, part in queries.by_label():
        assert part.y_prob.tolist() == queries.where(label=name).y_prob.tolist()
    both = queries.where(label=1, mask=queries.y_prob > 0.25)
    assert both.y_prob.tolist() == [0.3, 0.5]
    with pytest.raises(ValueError, match="label=7 is not among the labels"):
        queries.where(label=7)
    with pytest.raises(ValueError, match="boolean array of shape"):
        queries.where(mask=[1, 0, 1])
    with pytest.raises(ValueError, match="no labels"):
        Queries([0], [0.1]).by_label()
    with pytest.raises(ValueError, match="no labels"):
        Queries([0], [0.1]).where(label=1)


def test_pairs_as_labels():
    label = [("DT", "NN"), ("NN", "VB"), ("DT", "NN")]
    queries = Queries([0, 1, 1], [0.2, 0.7, 0.6], label=label)
    assert queries.labels.tolist() == [("DT", "NN"), ("NN", "VB")]
    assert queries.where(label=("DT", "NN")).y_prob.tolist() == [0.2, 0.6]
    joined = Queries.concat([queries, queries])
    assert joined.label.tolist() == label * 2
    both = adaptive_bin_calibration_error(queries, average="macro", n_bins=1)
    assert both == pytest.approx((0.1 + 0.3) / 2)


def test_concat():
    one = Queries([0, 1], [0.2, 0.7], label=["a", "b"], group=[0, 1], sample_weight=[1, 2])
    two = Queries([1], [0.9], label=["c"], group=[0], sample_weight=[3])
    joined = Queries.concat([one, two])
    assert joined.label.tolist() == ["a", "b", "c"]
    assert joined.group.tolist() == [0, 1, 2]
    assert joined.sample_weight.tolist() == [1, 2, 3]
    assert Queries.concat([one, two], shared_groups=True).group.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="group is set for 1 of 2 parts"):
        Queries.concat([one, Queries([1], [0.5], label=["a"], sample_weight=[1])])
    with pytest.raises(TypeError, match="at least one"):
        Queries.concat([])


def test_bad_queries():
    with pytest.raises(ValueError, match="y_prob has 2, label has 3"):
        Queries([0, 1], [0.1, 0.2], label=["a", "b", "c"])
    with pytest.raises(ValueError, match="group must be 1-D"):
        Queries([0, 1], [0.1, 0.2], group=[[1, 2], [2, 3]])
    with pytest.raises(ValueError, match="outside"):
        Queries([0, 1], [0.1, 1.2])
