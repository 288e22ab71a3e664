"""The door from arrays."""

from inspect import signature

import numpy as np
import pytest

from sklearn_calib import (
    Queries,
    adaptive_bin_calibration_error,
    bin_size_curve,
    calibration_band,
    calibration_bins,
    calibration_error_interval,
    calibration_test,
    compare_calibration,
    gaussian_process_calibration_curve,
    isotonic_calibration_curve,
    label_calibration,
    sample_size_curve,
    score_decomposition,
    select_bin_size,
    smooth_calibration_curve,
)
from sklearn_calib.queries._as_queries import as_queries

RNG = np.random.default_rng(0)
PROBA = RNG.dirichlet([1.0, 2.0, 1.0], size=120)
CLASSES = np.array(["a", "b", "c"])
Y = CLASSES[(RNG.random((120, 1)) > np.cumsum(PROBA, axis=1)).sum(axis=1)]

METRICS = [
    adaptive_bin_calibration_error,
    bin_size_curve,
    calibration_band,
    calibration_bins,
    calibration_error_interval,
    calibration_test,
    gaussian_process_calibration_curve,
    isotonic_calibration_curve,
    label_calibration,
    sample_size_curve,
    score_decomposition,
    select_bin_size,
    smooth_calibration_curve,
]


def test_top_label_of_one_column():
    y, q = [0, 1, 1, 0], [0.2, 0.9, 0.4, 0.6]
    top = adaptive_bin_calibration_error(y, q, average="top_label", n_bins=1)
    assert top == pytest.approx(abs(np.mean([0.8, 0.9, 0.6, 0.6]) - 0.5))


@pytest.mark.parametrize("metric", METRICS, ids=lambda f: f.__name__)
def test_every_metric_takes_a_matrix(metric):
    seed = {"random_state": 0} if "random_state" in signature(metric).parameters else {}
    one = metric(Y, PROBA, **seed)
    two = metric(Y, PROBA, classes=CLASSES, **seed)
    assert repr(one) == repr(two)
    with pytest.raises(ValueError, match=r"1 distinct labels.*3 columns.*classes="):
        metric(np.full(120, "a"), PROBA)
    metric(np.full(120, "a"), PROBA, classes=CLASSES)


def test_two_models_of_many_classes():
    sharper = PROBA**2 / (PROBA**2).sum(axis=1, keepdims=True)
    result = compare_calibration(Y, sharper, PROBA)
    rows = np.repeat(np.arange(120), 3)
    one, two = (as_queries(Y, p).with_groups(rows) for p in (sharper, PROBA))
    assert result.pvalue == compare_calibration(one, two).pvalue
    with pytest.raises(ValueError, match=r"y_prob_b contains 2\.0"):
        compare_calibration(Y, PROBA, np.full((120, 3), 2.0))


def test_the_rows_of_a_matrix_are_groups_unless_told_otherwise():
    queries = as_queries(Y, PROBA)
    assert queries.n_groups == 120
    assert queries.units is not None
    assert as_queries(Y, PROBA, groups=False).units is None
    documents = np.repeat(["x", "y", "z"], 40)
    grouped = as_queries(Y, PROBA, groups=documents)
    assert grouped.n_groups == 3
    assert grouped.group.tolist() == np.repeat(documents, 3).tolist()
    two = as_queries([0, 1, 1], [[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]])
    assert (len(two), two.units) == (3, None)
    wide = calibration_error_interval(Y, PROBA)
    assert wide.pvalue == calibration_error_interval(queries).pvalue
    assert wide.pvalue != calibration_error_interval(Y, PROBA, groups=False).pvalue


def test_groups_of_arrays_and_of_queries():
    queries = as_queries([0, 1, 1], [0.1, 0.2, 0.3], groups=["u", "v", "u"])
    assert queries.units.tolist() == [0, 1, 0]
    assert as_queries(queries) is queries
    assert as_queries(queries, groups=False).group is None
    assert as_queries(queries, groups=[1, 1, 2]).units.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="groups must have one entry for each of the 3"):
        as_queries([0, 1, 1], [0.1, 0.2, 0.3], groups=[1, 2])
    for option in ({"y_prob": [0.1]}, {"classes": [1]}, {"sample_weight": [1]}, {"pos_label": 1}):
        with pytest.raises(TypeError, match=f"{next(iter(option))} is part of the Queries"):
            as_queries(queries, **option)


def test_swapped_arguments_are_recognised():
    y, q = [0, 1, 0, 1], [0.2, 0.9, 0.4, 0.6]
    with pytest.raises(ValueError, match="seem to be swapped"):
        adaptive_bin_calibration_error(q, y)
    with pytest.raises(ValueError, match="seem to be swapped"):
        calibration_error_interval(np.array(q), np.array(y, dtype=bool))


def test_decisions_are_not_probabilities():
    y = [0, 1] * 10
    with pytest.warns(UserWarning, match="holds only 0 and 1. Are these decisions"):
        adaptive_bin_calibration_error(y, np.array(y, dtype=float))
    # One answer to all, or a handful, may well be meant.
    adaptive_bin_calibration_error(y, np.zeros(20))
    adaptive_bin_calibration_error([0, 1], [0.0, 1.0])


def test_rows_that_do_not_sum_to_one():
    with pytest.raises(ValueError, match=r"Row 0 of y_prob sums to .*softmax.*indicator matrix"):
        as_queries(Y, PROBA * 0.8)
    with pytest.warns(UserWarning, match=r"if the probabilities were rounded"):
        as_queries(Y, np.round(PROBA, 2))
    as_queries(Y, PROBA.astype(np.float32))
    # Several labels may be right: nothing to sum up.
    indicator = (Y[:, None] == CLASSES).astype(int)
    assert len(as_queries(indicator, PROBA * 0.8)) == 360


class Tensor:
    """A stand-in for a tensor that NumPy cannot read."""

    def __init__(self, error):
        self.error = error

    def __array__(self, dtype=None, copy=None):
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Can't call numpy() on Tensor that requires grad."),
        TypeError("Got unsupported ScalarType BFloat16"),
    ],
)
def test_tensors_that_numpy_cannot_read(error):
    with pytest.raises(TypeError, match=r"y_prob.detach\(\).cpu\(\).float\(\).numpy\(\)"):
        adaptive_bin_calibration_error([0, 1], Tensor(error))


def test_words_of_other_packages():
    with pytest.raises(ValueError, match="Did you mean 'adaptive'"):
        calibration_bins([0, 1], [0.1, 0.9], strategy="quantile")
    with pytest.raises(ValueError, match="Did you mean 'l1'"):
        adaptive_bin_calibration_error([0, 1], [0.2, 0.8], norm="L1")
    with pytest.raises(ValueError, match="Did you mean 'brier'"):
        score_decomposition([0, 1], [0.1, 0.9], score="Brier")


def test_queries_as_a_table():
    queries = Queries([0, 1], [0.1, 0.9], label=[("a", "b"), ("b", "c")], group=[1, 2])
    frame = queries.to_frame()
    assert frame.columns.tolist() == ["y_true", "y_prob", "label", "group"]
    assert frame["label"].tolist() == [("a", "b"), ("b", "c")]
