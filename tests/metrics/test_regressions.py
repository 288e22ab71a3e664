"""Cases that once went wrong."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_calib import (
    AdaptiveBinCalibrationError,
    AdaptiveCalibrationDisplay,
    Queries,
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_error_interval,
    calibration_test,
    compare_calibration,
    label_calibration,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._sorting import sort_queries


def test_automatic_bins_are_those_whose_risk_was_measured():
    y = [0] * 50 + [1] * 50 + [0] * 50
    assert adaptive_bin_calibration_error(y, [0.0] * 100 + [1.0] * 50) > 0.7


@pytest.mark.parametrize("size", [3, 7, 50])
def test_rare_ties_are_cut_like_common_ones(size):
    rng = np.random.default_rng(0)
    q = rng.random(2000).astype(np.float16).astype(float)
    q[:300] = rng.random(300)
    ordered = sort_queries(rng.random(2000) < q, q)
    np.testing.assert_array_equal(ordered._jumping_ends(size), ordered._greedy_ends(size, 1))


def test_copies_do_not_predict_each_other():
    sample = make_queries(3000, random_state=3)
    w = np.random.default_rng(0).integers(1, 4, 3000)
    plain = adaptive_bin_calibration_error(sample.queries)
    weighted = adaptive_bin_calibration_error(sample.y_true, sample.y_prob, sample_weight=w)
    assert weighted < plain + 0.02
    for scale in (1, 2, 10, 10.5, 1e6):
        same = adaptive_bin_calibration_error(
            sample.y_true, sample.y_prob, sample_weight=np.full(3000, scale)
        )
        assert same == pytest.approx(plain)


def test_pooled_classes_never_share_one_bin():
    X, y = load_iris(return_X_y=True)
    scores = cross_val_score(
        GaussianNB(), X, y, scoring="neg_adaptive_bin_calibration_error", cv=10
    )
    assert (scores < 0).all()


@pytest.mark.parametrize(("q", "p", "n"), [(0.0, 0.003, 1000), (1e-4, 0.01, 300), (1.0, 0.98, 300)])
def test_hard_predictions_have_an_honest_interval(q, p, n):
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        low, high = calibration_error_interval(rng.random(n) < p, np.full(n, q)).confidence_interval
        hits += low <= abs(p - q) <= high
    assert hits / 200 >= 0.92


def test_an_impossible_answer_rejects_calibration():
    y, q = [1] + [0] * 99, [0.0] * 100
    assert calibration_error_interval(y, q).pvalue == 0.0
    assert calibration_error_interval(y, q).confidence_interval.high > 0.01
    for statistic in ("binned", "kuiper"):
        assert calibration_test(y, q, statistic=statistic).pvalue == 0.0


def test_a_bin_never_holds_a_single_group():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(20), 50)
    q = np.repeat(np.linspace(0.05, 0.75, 20), 50)
    y = rng.random(1000) < q + 0.2
    low, high = calibration_error_interval(y, q, groups=group).confidence_interval
    assert low < 0.2 < high
    assert low > 0.05
    result = compare_calibration(y, q, np.clip(q + 0.2, 0, 1), groups=group)
    assert result.difference > 0.01


def test_missing_labels_in_object_arrays():
    y = np.array([1, np.nan, 1, np.nan], dtype=object)
    for function in (adaptive_bin_calibration_error, calibration_bins):
        with pytest.raises(ValueError, match="missing labels at position 1"):
            function(y, [0.9, 0.8, 0.7, 0.6], pos_label=1)


def test_text_and_numbers_are_never_compared():
    with pytest.raises(TypeError, match="must be of one type"):
        adaptive_bin_calibration_error(
            [0, 1, 2, 0], np.eye(3)[[0, 1, 2, 0]], labels=["0", "1", "2"], average="top_label"
        )


def test_the_unit_of_weights_does_not_matter():
    sample = make_queries(400, distortion="slope", random_state=0)
    y, q = sample.y_true, sample.y_prob
    ratio = np.random.default_rng(0).random(400) + 0.5
    for make in (
        lambda w: calibration_bins(y, q, sample_weight=w).confidence_interval().high,
        lambda w: calibration_bins(y, q, sample_weight=w).consistency_band().high,
        lambda w: (
            calibration_error_interval(
                y, q, sample_weight=w, method="bootstrap", n_resamples=50, random_state=0
            ).confidence_interval
        ),
        lambda w: (
            calibration_error_interval(
                y, q, sample_weight=w, method="sampling", n_resamples=50, random_state=0
            ).confidence_interval
        ),
    ):
        np.testing.assert_allclose(make(ratio), make(ratio * 1e-6), rtol=1e-6)


def test_one_row_with_all_the_weight():
    with pytest.raises(ValueError, match="one row has all the weight"):
        adaptive_bin_calibration_error(
            [0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], sample_weight=[1e9, 1e-9, 1e-9, 1e-9],
            debias=True, n_bins=1,
        )  # fmt: skip


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


def test_small_integers_as_bin_size():
    sample = make_queries(500, random_state=0)
    w = np.ones(500)
    one = calibration_bins(sample.y_true, sample.y_prob, bin_size=np.int8(100), sample_weight=w)
    assert one.count.tolist() == [100] * 5
    with pytest.warns(UserWarning, match="larger than the number of queries"):
        assert len(calibration_bins(sample.queries, n_bins=10**12)) == 500


def test_queries_do_not_share_memory():
    q = np.array([0.1, 0.2])
    queries = Queries([0, 1], q)
    q[0] = 5.0
    assert queries.y_prob.tolist() == [0.1, 0.2]


def test_display_of_a_handful_of_queries_or_of_one_group():
    display = AdaptiveCalibrationDisplay.from_predictions([0, 1], [0.2, 0.7])
    assert display.result is None
    one_group = Queries([0, 1, 0, 1], [0.2, 0.7, 0.3, 0.9], group=[1] * 4)
    assert AdaptiveCalibrationDisplay.from_queries(one_group).result is None


class Protocol(BaseEstimator):
    """Answers calibration_queries alone."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        return self

    def calibration_queries(self, X, y):
        return Queries(y, np.clip(np.abs(X[:, 0]) / 10 + self.shift, 0, 1))


def test_the_protocol_is_found_inside_pipelines_and_searches():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 1)), rng.integers(0, 2, 40)
    scorer = AdaptiveBinCalibrationError(n_bins=2)
    model = make_pipeline(StandardScaler(), Protocol()).fit(X, y)
    inner = StandardScaler().fit_transform(X)
    assert scorer(model, X, y) == scorer(Protocol(), inner, y)
    search = GridSearchCV(Protocol(), {"shift": [0.0, 0.4]}, scoring=scorer, cv=2).fit(X, y)
    assert scorer(search, X, y) == scorer(search.best_estimator_, X, y)


def test_groups_of_independent_queries_cost_little():
    """The floor for hard predictions must not widen grouped intervals of soft ones."""
    sample = make_queries(2000, group_size=20, random_state=0)
    grouped = calibration_error_interval(sample.queries).confidence_interval
    alone = calibration_error_interval(sample.queries, groups=False).confidence_interval
    assert grouped.high < 1.4 * alone.high
