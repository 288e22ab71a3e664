"""How classifiers become queries."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_calib import (
    adaptive_bin_calibration_error,
    classifier_queries,
)
from sklearn_calib.queries._as_queries import as_queries


def test_text_and_numbers_are_never_compared():
    with pytest.raises(TypeError, match="must be of one type"):
        adaptive_bin_calibration_error(
            [0, 1, 2, 0], np.eye(3)[[0, 1, 2, 0]], classes=["0", "1", "2"], average="top_label"
        )


PROBA = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])


def test_micro_asks_about_every_class():
    queries = classifier_queries(["a", "c", "b"], PROBA, classes=["a", "b", "c"])
    assert queries.y_prob.tolist() == PROBA.ravel().tolist()
    assert queries.y_true.tolist() == [1, 0, 0, 0, 0, 1, 0, 1, 0]
    assert queries.label.tolist() == ["a", "b", "c"] * 3
    assert queries.group.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    weighted = classifier_queries(
        ["a", "c", "b"], PROBA, classes=["a", "b", "c"], sample_weight=[1, 2, 3]
    )
    assert weighted.sample_weight.tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_top_label_asks_about_the_prediction():
    queries = classifier_queries(
        ["a", "c", "a"], PROBA, classes=["a", "b", "c"], average="top_label"
    )
    assert queries.y_prob.tolist() == [0.7, 0.6, 0.5]
    assert queries.y_true.tolist() == [True, True, False]
    assert queries.label.tolist() == ["a", "c", "b"]
    unmet = classifier_queries(["z"] * 3, PROBA, classes=["a", "b", "c"], average="top_label")
    assert not unmet.y_true.any()


def test_two_classes_ask_about_the_positive_one():
    proba = np.array([[0.8, 0.2], [0.4, 0.6]])
    queries = classifier_queries(["n", "p"], proba, classes=["n", "p"])
    assert queries.y_prob.tolist() == [0.2, 0.6]
    assert queries.y_true.tolist() == [False, True]
    queries = classifier_queries(["n", "p"], proba, classes=["n", "p"], pos_label="n")
    assert queries.y_prob.tolist() == [0.8, 0.4]
    assert queries.y_true.tolist() == [True, False]


def test_classes_that_were_never_met_have_probability_zero():
    queries = classifier_queries(["a", "aa", "b"], [[0.7, 0.3]] * 3, classes=["a", "b"])
    assert queries.labels.tolist() == ["a", "aa", "b"]
    unmet = queries.where(label="aa")
    assert unmet.y_prob.tolist() == [0, 0, 0]
    assert unmet.y_true.tolist() == [False, True, False]
    # Trained on one class alone: the positive class is still the last in order.
    for known, other in (("no", "yes"), ("yes", "no")):
        queries = classifier_queries([known, other], [[1.0], [1.0]], classes=[known])
        assert queries.labels.tolist() == ["yes"]
        assert queries.y_true.tolist() == [label == "yes" for label in (known, other)]
        assert queries.y_prob.tolist() == [float(known == "yes")] * 2


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_data_frame_name_their_classes(frame):
    y = ["a", "c", "b"]
    shuffled = frame({"c": PROBA[:, 2], "a": PROBA[:, 0], "b": PROBA[:, 1]})
    for make in (classifier_queries, as_queries):
        queries = make(y, shuffled)
        assert queries.label.tolist() == ["a", "b", "c"] * 3
        assert queries.y_prob.tolist() == PROBA.ravel().tolist()
        # A class that no row has is known by its name.
        assert make(["a", "c", "a"], shuffled).label.tolist() == ["a", "b", "c"] * 3
    binary = classifier_queries(["n", "y"], frame({"y": [0.2, 0.9], "n": [0.8, 0.1]}))
    assert (binary.labels.tolist(), binary.y_prob.tolist()) == (["y"], [0.2, 0.9])
    # Names that are no classes say nothing, as before.
    other = frame({"p1": PROBA[:, 0], "p2": PROBA[:, 1], "p3": PROBA[:, 2]})
    assert classifier_queries(y, other).y_prob.tolist() == PROBA.ravel().tolist()
    named = classifier_queries(y, shuffled, classes=["c", "a", "b"])
    assert named.where(label="b").y_prob.tolist() == PROBA[:, 1].tolist()


def test_numbers_of_columns_are_not_taken_for_classes():
    # 0, 1, 2 are what a data frame without names has: the classes may be 1, 2, 3.
    with pytest.raises(ValueError, match=r"2 distinct labels.*classes="):
        classifier_queries([1, 2, 1], pd.DataFrame(PROBA))
    assert classifier_queries([1, 2, 3], pd.DataFrame(PROBA)).labels.tolist() == [1, 2, 3]
    shuffled = pd.DataFrame(PROBA)[[2, 0, 1]]
    assert classifier_queries([0, 2, 1], shuffled).y_prob.tolist() == PROBA.ravel().tolist()
