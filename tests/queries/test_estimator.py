"""The door from fitted models."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_calib import (
    AdaptiveBinCalibrationError,
    Queries,
    classifier_queries,
    estimator_queries,
)
from sklearn_calib.queries import fold_queries
from sklearn_calib.queries._estimator import join_options
from sklearn_calib.sequence import HMMTagger


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


def test_classifiers_are_asked_about_their_classes():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    queries = estimator_queries(model, X, y, sample_weight=np.arange(150) + 1)
    expected = classifier_queries(y, model.predict_proba(X), classes=[0, 1, 2])
    assert queries.y_prob.tolist() == expected.y_prob.tolist()
    assert queries.sample_weight.tolist() == np.repeat(np.arange(150) + 1, 3).tolist()
    top = estimator_queries(model, X, y, average="top_label")
    assert len(top) == 150
    some = y < 2
    two = GaussianNB().fit(X[some], y[some])
    assert estimator_queries(two, X[some], y[some], pos_label=0).labels.tolist() == [0]
    search = GridSearchCV(make_pipeline(StandardScaler(), GaussianNB()), {}, cv=3).fit(X, y)
    assert len(estimator_queries(search, X, y)) == 450


def test_options_are_those_of_the_model():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"unit='pair' does not apply to GaussianNB.*average and"):
        estimator_queries(GaussianNB().fit(X, y), X, y, unit="pair")
    with pytest.raises(TypeError, match=r"min_proba=0.1 does not apply to Protocol: .* are none"):
        estimator_queries(Protocol().fit(X, y), X, y, min_proba=0.1)
    with pytest.raises(TypeError, match="sample_weight"):
        estimator_queries(Protocol().fit(X, y), X, y, sample_weight=np.ones(150))


def test_only_options_that_are_set_reach_the_model():
    assert join_options(None, "micro", None) == join_options({}, "macro", None) == {}
    asked = {"unit": "pair"}
    assert join_options(asked, "top_label", 0) == {
        "unit": "pair", "average": "top_label", "pos_label": 0,
    }  # fmt: skip
    assert asked == {"unit": "pair"}
    with pytest.raises(TypeError, match=r"query_options must be a dict, such as .*got 'pair'"):
        join_options("pair", "micro", None)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        make_pipeline(StandardScaler(), GaussianNB()),
        GridSearchCV(GaussianNB(), {}),
        HMMTagger(),
        LinearSVC(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_unfitted_models_say_so(model):
    with pytest.raises(NotFittedError, match="not fitted"):
        estimator_queries(model, [["a", "b"]], [["x", "y"]])


def test_what_has_no_probabilities():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"LinearSVC has no predict_proba.*CalibratedClassifierCV"):
        estimator_queries(LinearSVC().fit(X, y), X, y)
    with pytest.raises(TypeError, match="pass a fitted object"):
        estimator_queries(GaussianNB, X, y)


def test_folds():
    X, y = load_iris(return_X_y=True)
    weight = np.arange(150.0)
    results = cross_validate(GaussianNB(), X, y, cv=3, return_estimator=True, return_indices=True)
    folds = fold_queries(results, X, y, sample_weight=weight, average="top_label")
    test = results["indices"]["test"][1]
    one = estimator_queries(
        results["estimator"][1], X[test], y[test], sample_weight=weight[test], average="top_label"
    )
    assert folds[1].y_prob.tolist() == one.y_prob.tolist()
    assert folds[1].sample_weight.tolist() == weight[test].tolist()
    with pytest.raises(ValueError, match="return_estimator=True"):
        fold_queries({}, X, y)
