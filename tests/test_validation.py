"""Bad input is met on purpose: what, where, what it got, and what to do."""

import decimal
import sys
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from sklearn_calib import (
    AdaptiveBinCalibrationError,
    AdaptiveCalibrationDisplay,
    Queries,
    _validation,
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_error_interval,
    classifier_queries,
    label_calibration,
    score_decomposition,
    select_bin_size,
)
from sklearn_calib._validation import check_sample_weight, text_array
from sklearn_calib.datasets import make_queries

FUNCTIONS = [
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_error_interval,
    score_decomposition,
    select_bin_size,
]


Y = [0, 1, 0, 1, 1, 0]


Q = [0.1, 0.9, 0.4, 0.6, 0.7, 0.2]


every_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


@every_function
@pytest.mark.parametrize(
    ("y", "q", "options", "error", "message"),
    [
        (Y, [np.nan, *Q[1:]], {}, ValueError, r"y_prob contains nan at position 0 \(1 of 6"),
        (Y, [0.1, np.inf, *Q[2:]], {}, ValueError, "y_prob contains inf at position 1"),
        (Y, [0.1, -np.inf, *Q[2:]], {}, ValueError, "y_prob contains -inf at position 1"),
        (Y, [*Q[:5], 1.5], {}, ValueError, r"1.5 at position 5 .* outside \[0, 1\]"),
        (Y, [-0.1, *Q[1:]], {}, ValueError, r"-0.1 at position 0 .* outside \[0, 1\]"),
        (Y, [[q] * 2 for q in Q], {}, ValueError, "Row 0 of y_prob sums to 0.2, not to 1"),
        (Y, list("abcdef"), {}, TypeError, "y_prob must hold numbers"),
        (Y, np.array(Q) + 1j, {}, TypeError, "y_prob must hold numbers"),
        (Y, None, {}, TypeError, "Pass y_true and y_prob, or a single Queries"),
        (Y, 0.5, {}, TypeError, "y_prob must be an array"),
        (Y, "0.5", {}, TypeError, "y_prob must be an array"),
        (None, Q, {}, TypeError, "y_true is missing"),
        ([0, 1, 2, 0, 1, 2], Q, {}, ValueError, r"3 classes \[0, 1, 2\].*\(n_samples, n_classes\)"),
        ([1, 2, 1, 2, 1, 2], Q, {}, ValueError, r"labels \[1, 2\].*Set pos_label"),
        (list("ababab"), Q, {}, ValueError, r"labels \['a', 'b'\].*Set pos_label"),
        (list("ababab"), Q, {"pos_label": "c"}, ValueError, "pos_label='c' is not a valid label"),
        (Y, Q, {"pos_label": 2}, ValueError, "pos_label=2 is not a valid label"),
        ([0, 1, None, 1, 0, 1], Q, {}, ValueError, "missing labels at position 2"),
        ([0, 1, np.nan, 1, 0, 1], Q, {}, ValueError, "NaN or infinity at position 2"),
        ([0, "1", 0, 1, 0, 1], Q, {"pos_label": 1}, (ValueError, TypeError), None),
        ([], [], {}, ValueError, "empty: at least one query"),
        (Y[:5], Q, {}, ValueError, "y_true has 5, y_prob has 6"),
        (Y, Q[:1], {}, ValueError, "y_true has 6, y_prob has 1"),
        ([[0, 1], [1]], Q, {}, ValueError, "ragged"),
        (Y, Q, {"sample_weight": [1] * 5}, ValueError, "each of the 6 queries; it has 5"),
        (Y, Q, {"sample_weight": [1, -1, 1, 1, 1, 1]}, ValueError, r"-1.0 at position 1"),
        (Y, Q, {"sample_weight": [0] * 6}, ValueError, "zero everywhere"),
        (Y, Q, {"sample_weight": [np.nan] * 6}, ValueError, "sample_weight contains nan"),
    ],
)
def test_bad_arrays(function, y, q, options, error, message):
    if function is select_bin_size:
        options = {k: v for k, v in options.items() if k != "n_bins"}
    with pytest.raises(error, match=message):
        function(y, q, **options)


@pytest.mark.parametrize("function", FUNCTIONS[:4], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"bin_size": 0}, ValueError, "bin_size must be at least 1, got 0"),
        ({"bin_size": -3}, ValueError, "bin_size must be at least 1, got -3"),
        ({"bin_size": 2.0}, TypeError, r"bin_size must be an integer, got 2.0 \(float\)"),
        ({"bin_size": True}, TypeError, "bin_size must be an integer"),
        ({"bin_size": None}, TypeError, "bin_size must be an integer"),
        ({"bin_size": "sqrt"}, ValueError, "bin_size='sqrt' is not known.*'auto'"),
        ({"bin_size": 5, "n_bins": 2}, ValueError, "both set"),
        ({"n_bins": 0}, ValueError, "n_bins must be at least 1"),
        ({"n_bins": 2.5}, TypeError, "n_bins must be an integer"),
        ({"bins": 3}, TypeError, "unexpected keyword"),
    ],
)
def test_bad_bins(function, options, error, message):
    with pytest.raises(error, match=message):
        function(Y, Q, **options)


@pytest.mark.parametrize(
    ("function", "options", "error", "message"),
    [
        (adaptive_bin_calibration_error, {"norm": "l3"}, ValueError, "norm='l3' is not known"),
        (adaptive_bin_calibration_error, {"average": None}, ValueError, "average=None is not"),
        (
            adaptive_bin_calibration_error,
            {"norm": "l1", "squared": True},
            ValueError,
            "squared=True goes with norm='l2'",
        ),
        (
            adaptive_bin_calibration_error,
            {"norm": "max", "debias": True},
            ValueError,
            "debias=True goes with norm='l2'",
        ),
        (
            adaptive_bin_calibration_error,
            {"bin_size": 1, "debias": True},
            ValueError,
            "bin_size must exceed 1",
        ),
        (
            adaptive_bin_calibration_error,
            {"n_bins": 6, "debias": True},
            ValueError,
            "bins with a single query",
        ),
        (adaptive_bin_calibration_error, {"classes": [0, 1]}, ValueError, "y_prob is 1-D"),
        (calibration_bins, {"strategy": "quantile"}, ValueError, "strategy='quantile' is not"),
        (
            calibration_bins,
            {"strategy": "uniform", "bin_size": 3},
            ValueError,
            "has no meaning for bins of equal width; set n_bins",
        ),
        (
            calibration_bins,
            {"strategy": "balanced", "bin_size": 3},
            ValueError,
            "has no meaning for balanced bins; set n_bins",
        ),
        (calibration_error_interval, {"method": "bayes"}, ValueError, "method='bayes' is not"),
        (calibration_error_interval, {"confidence_level": 95}, ValueError, r"mean 0.95\?"),
        (calibration_error_interval, {"confidence_level": 0}, ValueError, "between 0 and 1"),
        (calibration_error_interval, {"confidence_level": "95%"}, TypeError, "must be a number"),
        (calibration_error_interval, {"n_resamples": 1}, ValueError, "at least 2"),
        (calibration_error_interval, {"bin_size": 2}, ValueError, "bin_size=2 is too small"),
        (calibration_error_interval, {"n_bins": 3}, ValueError, "fewer than 4 queries"),
        (score_decomposition, {"score": "crps"}, ValueError, "score='crps' is not known"),
    ],
)
def test_bad_options(function, options, error, message):
    with pytest.raises(error, match=message):
        function(Y, Q, **options)


@pytest.mark.parametrize("function", FUNCTIONS[:4], ids=lambda f: f.__name__)
def test_bin_size_larger_than_the_data_is_one_bin_with_a_warning(function):
    with pytest.warns(UserWarning, match=r"bin_size=100 .* \(6\): all queries fall into one bin"):
        function(Y, Q, bin_size=100)


def test_more_bins_than_queries_gives_a_warning():
    with pytest.warns(UserWarning, match="n_bins=10 is larger than the number of queries"):
        assert len(calibration_bins(Y, Q, n_bins=10)) == 6


def test_interval_of_too_few_queries():
    with pytest.raises(ValueError, match="at least 4 queries, got 2"):
        calibration_error_interval([0, 1], [0.1, 0.9])


def test_matrix_errors():
    proba = np.full((6, 3), 1 / 3)
    with pytest.raises(ValueError, match=r"2 distinct labels but y_prob has 3 columns.*classes="):
        adaptive_bin_calibration_error(Y, proba)
    with pytest.raises(ValueError, match=r"shape \(n_samples, 2\).*got shape \(6, 3\)"):
        classifier_queries(Y, proba, classes=[0, 1])
    with pytest.raises(ValueError, match="names a class twice"):
        classifier_queries(Y, proba, classes=[0, 1, 1])
    with pytest.raises(ValueError, match="pos_label=0 is set, but there are 3 classes"):
        classifier_queries(Y, proba, classes=[0, 1, 2], pos_label=0)
    with pytest.raises(TypeError, match="labels such as 'a' and classes has 0"):
        classifier_queries(list("aaabbb"), proba, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"2 distinct labels but y_prob has 3 columns.*classes="):
        label_calibration(Y, proba)
    with pytest.raises(ValueError, match="single question"):
        label_calibration(Y, Q)
    with pytest.raises(ValueError, match="outside"):
        classifier_queries(Y, proba * 4, classes=[0, 1, 2])


def test_rounding_at_the_ends_is_forgiven_with_a_warning():
    q = np.array(Q)
    q[0] = 1 + 2 * np.finfo(float).eps
    with pytest.warns(UserWarning, match="rounding error"):
        error = adaptive_bin_calibration_error(Y, q, bin_size=2)
    q2 = q.copy()
    q2[0] = 1.0
    assert error == adaptive_bin_calibration_error(Y, q2, bin_size=2)
    with pytest.raises(ValueError, match="outside"):
        adaptive_bin_calibration_error(Y, np.where(q > 1, 1.00001, q))


@pytest.mark.parametrize(
    "make",
    [
        list, tuple, np.array, pd.Series, pl.Series,
        lambda v: pd.Series(v).astype("Int64" if isinstance(v[0], int) else "Float64"),
        lambda v: np.array(v, dtype=object),
        lambda v: np.array(v, dtype=np.float32),
        lambda v: np.array(v, dtype=">f8"),
        lambda v: np.array(v)[:, None],
        lambda v: np.repeat(v, 2)[::2],
        lambda v: [decimal.Decimal(str(x)) for x in v],
    ],
)  # fmt: skip
def test_containers(make):
    expected = adaptive_bin_calibration_error(Y, Q, bin_size=2)
    result = adaptive_bin_calibration_error(
        make(Y), make(Q), bin_size=2, sample_weight=make([1] * 6)
    )
    assert result == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        ([False, True], None), ([-1, 1], None), ([0.0, 1.0], None), ([1, 2], 2), (["n", "p"], "p"),
        ([2, 1], 1), ([0, 1], 1), ([True, False], False), (["0", "1"], "1"), ([1, 0], 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series])
def test_labels_of_all_kinds(labels, pos_label, make):
    y = make([labels[k] for k in Y])
    error = adaptive_bin_calibration_error(y, Q, bin_size=2, pos_label=pos_label)
    assert error == adaptive_bin_calibration_error(Y, Q, bin_size=2)


def test_categories_and_nullable_labels():
    words = ["yes" if k else "no" for k in Y]
    expected = adaptive_bin_calibration_error(Y, Q, bin_size=2)
    for y in (pd.Series(words, dtype="category"), pl.Series(words, dtype=pl.Categorical)):
        assert adaptive_bin_calibration_error(y, Q, bin_size=2, pos_label="yes") == expected
    y = pd.Series([bool(k) for k in Y], dtype="boolean")
    assert adaptive_bin_calibration_error(y, Q, bin_size=2) == expected
    y[3] = pd.NA
    with pytest.raises(ValueError, match="missing labels at position 3"):
        adaptive_bin_calibration_error(y, Q)


def test_a_single_class_needs_no_explanation():
    assert adaptive_bin_calibration_error([0, 0], [0.1, 0.3], n_bins=1) == pytest.approx(0.2)
    assert adaptive_bin_calibration_error(["no"] * 2, [0.1, 0.3], pos_label="yes", n_bins=1) == (
        pytest.approx(0.2)
    )


def test_masked_and_sparse_arrays_are_refused():
    from scipy import sparse

    with pytest.raises(ValueError, match="masked array with 1 masked"):
        adaptive_bin_calibration_error(Y, np.ma.array(Q, mask=[1, 0, 0, 0, 0, 0]))
    with pytest.raises(TypeError, match="sparse matrix"):
        adaptive_bin_calibration_error(Y, sparse.csr_matrix(Q))


def test_arguments_are_never_changed():
    rng = np.random.default_rng(0)
    y, q, w = rng.integers(0, 2, 50), rng.random(50), rng.random(50)
    for array in (y, q, w):
        array.flags.writeable = False
    copies = y.copy(), q.copy(), w.copy()
    for function in FUNCTIONS:
        function(y, q)
        function(y, q, sample_weight=w)
    for array, copy in zip((y, q, w), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_queries_in_place_of_both_arrays():
    queries = Queries(Y, Q, sample_weight=[1, 2, 1, 2, 1, 2])
    for function in FUNCTIONS:
        one, two = function(queries), function(Y, Q, sample_weight=[1, 2, 1, 2, 1, 2])
        if isinstance(one, (int, float)):
            assert one == two
        with pytest.raises(TypeError, match="y_prob is part of the Queries"):
            function(queries, Q)
        with pytest.raises(TypeError, match="sample_weight is part of the Queries"):
            function(queries, sample_weight=[1] * 6)
        with pytest.raises(ValueError, match="Queries object is empty"):
            function(queries.where(mask=np.zeros(6, dtype=bool)))


def test_random_state_is_honoured():
    sample = make_queries(300, random_state=0)
    options = {"method": "sampling", "n_resamples": 50}

    def draw(seed):
        return calibration_error_interval(sample.queries, random_state=seed, **options).distribution

    np.testing.assert_array_equal(draw(1), draw(1))
    assert (draw(1) != draw(2)).any()
    np.testing.assert_array_equal(draw(np.random.default_rng(3)), draw(np.random.default_rng(3)))
    np.testing.assert_array_equal(draw(np.random.RandomState(3)), draw(np.random.RandomState(3)))


def test_plots_name_the_extra(monkeypatch):

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"sklearn-calib\[plot\]"):
        AdaptiveCalibrationDisplay.from_predictions(Y, Q)


def test_missing_labels_in_object_arrays():
    y = np.array([1, np.nan, 1, np.nan], dtype=object)
    for function in (adaptive_bin_calibration_error, calibration_bins):
        with pytest.raises(ValueError, match="missing labels at position 1"):
            function(y, [0.9, 0.8, 0.7, 0.6], pos_label=1)


CHECKS = {
    "check_bin_options",
    "check_confidence_level",
    "check_groups",
    "check_labels",
    "check_option",
    "check_probabilities",
    "check_row_sums",
    "check_sample_weight",
}


def counted_checks(call):
    """Return how often each option and each array was checked during a call."""
    counts = Counter()

    def watch(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_name in CHECKS and code.co_filename == _validation.__file__:
            counts[code.co_name, frame.f_locals.get("name")] += 1

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counts


def test_what_came_through_a_door_is_not_checked_again():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    scorer = AdaptiveBinCalibrationError(norm="l1")
    q = np.random.default_rng(0).random(200)
    sample = make_queries(50, random_state=0).queries
    two, rows = (q > 0.4).astype(int), np.arange(200) // 4
    proba = np.column_stack([q, 1.0 - q])
    for call, seen in [
        (lambda: scorer(model, X, y, sample_weight=np.ones(150)), ("check_option", "norm")),
        (lambda: calibration_error_interval(two, q, groups=rows), ("check_groups", "groups")),
        (lambda: calibration_error_interval(two, proba, groups=rows), ("check_row_sums", "y_prob")),
        (lambda: adaptive_bin_calibration_error(two, q), ("check_option", "average")),
        (lambda: adaptive_bin_calibration_error(two, proba), ("check_option", "average")),
    ]:
        counts = counted_checks(call)
        assert seen in counts
        assert max(counts.values()) == 1, counts
    # Queries were asked for an average when they were made.
    assert ("check_option", "average") not in counted_checks(lambda: calibration_bins(sample))


def test_decisions_in_a_matrix_are_noticed():
    y = np.arange(12) % 3
    with pytest.warns(UserWarning, match=r"only 0 and 1.*predict_proba") as caught:
        adaptive_bin_calibration_error(y, np.eye(3)[y[::-1]])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="only 0 and 1"):
        adaptive_bin_calibration_error(y % 2, np.eye(2)[y % 2])
    # A single certain row is nothing to warn of.
    adaptive_bin_calibration_error(y, np.vstack([np.eye(3)[:2], np.full((10, 3), 1 / 3)]))


@pytest.mark.parametrize("labels", [np.arange(12) % 3, np.array(["a", "b", "c"] * 4)])
def test_a_matrix_in_the_place_of_labels_is_recognised(labels):
    proba = np.full((12, 3), 1 / 3)
    with pytest.raises(ValueError, match=r"shape \(12, 3\).*seem to be swapped"):
        adaptive_bin_calibration_error(proba, labels)


@pytest.mark.parametrize("scale", [5e-324, 1e-320, 1e-200, 1e-10, 1.0, 1e10, 1e200, 1.7e307])
def test_weights_keep_their_ratios_and_stay_within_reach(scale):
    given = scale * np.array([1.0, 0.0, 10.0, 5.0])
    weight = check_sample_weight(given, 4)
    np.testing.assert_array_equal(weight / weight.max(), given / given.max())
    assert 0.0 < np.sum(weight**6) < np.inf
    # Ordinary weights are kept as they are.
    assert (weight is given or np.array_equal(weight, given)) == (1e-12 < scale < 1e11)


def test_a_weight_that_counts_for_nothing_is_still_above_zero():
    weight = check_sample_weight([1e-320, 0.0, 1.0, 1e308], 4)
    assert (weight > 0).tolist() == [True, False, True, True]
    assert weight[0] ** 6 > 0
    assert weight[:3].sum() < 1e-16 * weight[3]


def test_texts_take_the_place_of_the_longest_unless_that_is_too_much():
    assert text_array(["a", "bcd"]).dtype == "<U3"
    assert text_array([]).shape == (0,)
    assert len(set(text_array(["a", "a\0"]).tolist())) == 2
    long = text_array(["a"] * 1000 + ["b" * 20_000])
    assert long.dtype == object
    assert [len(text) for text in long.tolist()] == [1] * 1000 + [20_000]
