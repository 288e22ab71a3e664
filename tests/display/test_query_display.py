"""From arrays, models and cross-validations to every display of queries."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    BinSizeDisplay,
    LabelCalibrationDisplay,
    Queries,
    calibration_error_interval,
    classifier_queries,
    estimator_queries,
)
from tests.display.makers import DIGITS, MODELS, NAMES, PROBA, SAMPLE, X_TEST, Y_TEST

every_kind = pytest.mark.parametrize(
    "kind", [AdaptiveCalibrationDisplay, BinSizeDisplay, LabelCalibrationDisplay]
)


def numbers(display):
    return display.to_frame().select_dtypes("number").to_numpy()


class Tagger(BaseEstimator):
    """Two tags, and pairs of them: a model family of its own."""

    def calibration_queries(self, X, y, unit="tag", pairs=None):
        q = np.asarray(X)
        label = np.where(q > 0.5, "NN", "VB") if unit == "tag" else np.full(len(q), "NN VB")
        return Queries(y, q, label=label)


@every_kind
def test_any_model_family_can_be_drawn(kind):
    X, y = SAMPLE.y_prob, SAMPLE.y_true
    tags = kind.from_estimator(Tagger(), X, y)
    pairs = kind.from_estimator(Tagger(), X, y, query_options={"unit": "pair"}, name="pairs")
    if kind is LabelCalibrationDisplay:
        assert tags.tables["Tagger"].labels.tolist() == ["NN", "VB"]
        assert pairs.tables["pairs"].labels.tolist() == ["NN VB"]
    else:
        assert pairs.name == "pairs"


def test_every_display_of_a_cross_validation_pools_the_folds():
    results = cross_validate(
        GaussianNB(), DIGITS, NAMES, cv=3, return_estimator=True, return_indices=True
    )
    rows = LabelCalibrationDisplay.from_cv_results(results, DIGITS, NAMES)
    assert rows.tables["GaussianNB"].count.sum() == len(NAMES)
    errors = BinSizeDisplay.from_cv_results(results, DIGITS, NAMES, average="top_label")
    assert errors.curve.bin_size[-1] == len(NAMES)
    assert errors.plug_in_.get_label() == "GaussianNB: plug-in error"
    fitted = BinSizeDisplay.from_estimator(MODELS["bayes"], X_TEST, Y_TEST, name="nb")
    assert fitted.curve.bin_size[-1] == len(Y_TEST) * 10
    assert fitted.debiased_.get_label() == "nb: debiased error"


@every_kind
@pytest.mark.parametrize("average", ["micro", "macro", "top_label"])
def test_a_matrix_and_its_model_and_its_queries_are_one_picture(kind, average):
    drawn = [
        kind.from_predictions(Y_TEST, PROBA["bayes"], average=average),
        kind.from_predictions(Y_TEST, PROBA["bayes"], classes=range(10), average=average),
        kind.from_estimator(MODELS["bayes"], X_TEST, Y_TEST, average=average),
        kind.from_queries(
            classifier_queries(Y_TEST, PROBA["bayes"], average=average), name="queries"
        ),
    ]
    for display in drawn[1:]:
        np.testing.assert_array_equal(numbers(display), numbers(drawn[0]))
    assert "GaussianNB" in repr(drawn[2])
    assert "queries" in repr(drawn[3])


def test_rows_of_a_matrix_are_groups_unless_told_otherwise():
    queries = estimator_queries(MODELS["bayes"], X_TEST, Y_TEST)
    for groups in (None, False, np.arange(len(Y_TEST)) // 3):
        display = AdaptiveCalibrationDisplay.from_predictions(Y_TEST, PROBA["bayes"], groups=groups)
        expected = calibration_error_interval(Y_TEST, PROBA["bayes"], groups=groups)
        assert display.result.confidence_interval == expected.confidence_interval
    assert (
        AdaptiveCalibrationDisplay.from_queries(queries).result.confidence_interval
        == calibration_error_interval(queries).confidence_interval
    )


def test_weights_and_positive_labels_reach_the_queries():
    names = np.where(SAMPLE.y_true, "yes", "no")
    weight = np.linspace(1, 2, len(names))
    display = AdaptiveCalibrationDisplay.from_predictions(
        names, SAMPLE.y_prob, pos_label="yes", sample_weight=weight
    )
    assert display.bins.weight.sum() == pytest.approx(weight.sum())
    binary = GaussianNB().fit(DIGITS, NAMES > 4)
    display = AdaptiveCalibrationDisplay.from_estimator(
        binary, DIGITS, NAMES > 4, pos_label=False, sample_weight=NAMES + 1.0
    )
    queries = estimator_queries(
        binary, DIGITS, NAMES > 4, pos_label=False, sample_weight=NAMES + 1.0
    )
    expected = AdaptiveCalibrationDisplay.from_queries(queries)
    np.testing.assert_array_equal(numbers(display), numbers(expected))


@every_kind
def test_options_of_a_model_are_checked_against_the_model(kind):
    X, y = SAMPLE.y_prob, SAMPLE.y_true
    with pytest.raises(TypeError, match=r"min_proba=0\.1 does not apply to Tagger"):
        kind.from_estimator(Tagger(), X, y, query_options={"min_proba": 0.1})
    with pytest.raises(TypeError, match="query_options must be a dict"):
        kind.from_estimator(Tagger(), X, y, query_options="pair")
    with pytest.raises(TypeError, match="unit='pair' does not apply to GaussianNB"):
        kind.from_estimator(MODELS["bayes"], X_TEST, Y_TEST, query_options={"unit": "pair"})
    for make in (
        lambda: kind.from_estimator(MODELS["bayes"], X_TEST, Y_TEST, average="mean"),
        lambda: kind.from_predictions(y, X, average="mean"),
    ):
        with pytest.raises(ValueError, match="average='mean' is not known"):
            make()


@every_kind
@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        make_pipeline(StandardScaler(), GaussianNB()),
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}),
    ],
)
def test_an_unfitted_estimator_says_so(kind, estimator):
    with pytest.raises(NotFittedError, match="not fitted"):
        kind.from_estimator(estimator, X_TEST, Y_TEST)


def test_only_displays_of_several_models_take_dicts():
    display = LabelCalibrationDisplay.from_estimator(MODELS, X_TEST, Y_TEST)
    assert list(display.tables) == ["bayes", "logistic"]
    with pytest.raises(TypeError, match="y_prob must be an array of values; got dict"):
        AdaptiveCalibrationDisplay.from_predictions(Y_TEST, PROBA)


@every_kind
def test_queries_of_a_cross_validation_take_the_options_of_the_model(kind):
    results = cross_validate(
        GaussianNB(), DIGITS, NAMES, cv=3, return_estimator=True, return_indices=True
    )
    with pytest.raises(TypeError, match="unit='pair' does not apply to GaussianNB"):
        kind.from_cv_results(results, DIGITS, NAMES, query_options={"unit": "pair"})
