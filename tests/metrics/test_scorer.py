"""The scorer as scikit-learn meets it."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from sklearn_calib import (
    AdaptiveBinCalibrationError,
    Queries,
    adaptive_bin_calibration_error,
)

NAME = "neg_adaptive_bin_calibration_error"


ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def binary():
    return make_classification(600, random_state=0)


@pytest.fixture(scope="module")
def many():
    X, y = make_classification(900, n_informative=6, n_classes=4, random_state=0)
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.mark.parametrize("order", ["first", "last"])
def test_every_entry_point_takes_the_strings(order):
    done = run("-m", "tests.entry_points", order)
    assert done.stdout.strip() == "ok", done.stderr


@pytest.mark.parametrize(
    ("module", "name", "string_works"),
    [
        ("sklearn.metrics._scorer", "_BaseScorer", True),
        ("sklearn.metrics._scorer", "_SCORERS", False),
        ("sklearn.utils._param_validation", "StrOptions", False),
    ],
)
def test_moved_private_parts_give_one_warning_and_a_working_class(module, name, string_works):
    code = f"""
import warnings, {module} as module
import sklearn.isotonic, sklearn.linear_model, sklearn.model_selection
# Doctored: the private name is there for scikit-learn itself, but not for us.
saved = module.{name}
del module.{name}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import sklearn_calib
setattr(module, "{name}", saved)
ours = [w for w in caught if "{name}" in str(w.message)]
assert len(ours) == 1, caught
from sklearn.datasets import make_classification
from sklearn.base import clone
X, y = make_classification(200, random_state=0)
model = sklearn.linear_model.LogisticRegression()
scorer = clone(sklearn_calib.AdaptiveBinCalibrationError(n_bins=4))
score = sklearn.model_selection.cross_val_score
assert (score(model, X, y, scoring=scorer) <= 0).all()
many = sklearn.model_selection.cross_validate(model, X, y, scoring={{"a": scorer, "b": "accuracy"}})
assert (many["test_a"] <= 0).all()
if {string_works}:
    score(model, X, y, scoring="{NAME}")
sklearn.set_config(enable_metadata_routing=True)
scorer.set_score_request(sample_weight=True)
import numpy as np
w = np.linspace(0.1, 2, 200)
model.set_fit_request(sample_weight=False)
w1 = score(model, X, y, scoring=scorer, params={{"sample_weight": w}})
sklearn.set_config(enable_metadata_routing=False)
assert not np.allclose(w1, score(model, X, y, scoring=scorer))
print("ok")
"""
    done = run("-c", code)
    assert done.stdout.strip() == "ok", done.stderr


def test_agrees_with_the_metric(binary):
    X, y = binary
    model = GaussianNB().fit(X, y)
    expected = -adaptive_bin_calibration_error(y, model.predict_proba(X)[:, 1])
    assert get_scorer(NAME)(model, X, y) == pytest.approx(expected)
    assert AdaptiveBinCalibrationError()(model, X, y) == pytest.approx(expected)


@pytest.mark.parametrize("average", ["micro", "macro", "top_label"])
def test_agrees_with_the_metric_for_many_classes(many, average):
    X, y = many
    model = GaussianNB().fit(X, y)
    proba = model.predict_proba(X)
    expected = -adaptive_bin_calibration_error(y, proba, classes=model.classes_, average=average)
    scorer = AdaptiveBinCalibrationError(average=average)
    assert scorer(model, X, y) == pytest.approx(expected)


def test_micro_macro_and_top_label_by_hand(many):
    X, y = many
    model = GaussianNB().fit(X, y)
    proba = model.predict_proba(X)
    one_hot = y[:, None] == model.classes_
    options = {"bin_size": 100}
    micro = adaptive_bin_calibration_error(one_hot.ravel(), proba.ravel(), **options)
    per_label = [
        adaptive_bin_calibration_error(one_hot[:, k], proba[:, k], **options) for k in range(4)
    ]
    top = adaptive_bin_calibration_error(model.predict(X) == y, proba.max(axis=1), **options)
    for average, expected in (("micro", micro), ("macro", np.mean(per_label)), ("top_label", top)):
        scorer = AdaptiveBinCalibrationError(average=average, **options)
        assert -scorer(model, X, y) == pytest.approx(expected)


def test_clones_pickles_prints_and_sets_parameters():
    scorer = AdaptiveBinCalibrationError(bin_size=50, norm="l1")
    assert clone(scorer).get_params() == scorer.get_params()
    assert pickle.loads(pickle.dumps(scorer)).get_params() == scorer.get_params()
    assert repr(scorer) == "AdaptiveBinCalibrationError(bin_size=50, norm='l1')"
    assert scorer.set_params(n_bins=3, bin_size="auto")._kwargs["n_bins"] == 3
    assert AdaptiveBinCalibrationError.__name__ == "AdaptiveBinCalibrationError"
    with pytest.raises(TypeError):
        AdaptiveBinCalibrationError(50)
    with pytest.raises(ValueError, match="Invalid parameter"):
        scorer.set_params(bins=3)


def test_grid_search_over_two_metrics_in_two_processes(binary):
    X, y = binary
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [0.001, 1.0]},
        scoring=["neg_log_loss", NAME],
        refit="neg_log_loss",
        n_jobs=2,
        cv=3,
    ).fit(X, y)
    assert np.isfinite(search.cv_results_[f"mean_test_{NAME}"]).all()


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier that counts calls of predict_proba."""

    calls = 0

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        type(self).calls += 1
        return self.model_.predict_proba(X)


@pytest.mark.parametrize("data", ["binary", "many"])
def test_predictions_are_shared_between_metrics(data, request):
    X, y = request.getfixturevalue(data)
    Counting.calls = 0
    scoring = ["neg_log_loss", NAME, f"{NAME}_top_label", f"{NAME}_macro"]
    together = cross_validate(Counting(), X, y, scoring=scoring, cv=3, error_score="raise")
    assert Counting.calls == 3
    alone = cross_val_score(Counting(), X, y, scoring=NAME, cv=3)
    np.testing.assert_allclose(together[f"test_{NAME}"], alone)


def test_sample_weight_is_routed(binary):
    X, y = binary
    w = np.linspace(0.1, 3.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = AdaptiveBinCalibrationError(n_bins=5).set_score_request(sample_weight=True)
        model = GaussianNB().set_fit_request(sample_weight=False)
        assert clone(scorer).get_metadata_routing().score.requests == {"sample_weight": True}
        accuracy = get_scorer("accuracy").set_score_request(sample_weight=False)
        routed = cross_validate(
            model,
            X,
            y,
            scoring={"c": scorer, "acc": accuracy},
            params={"sample_weight": w},
            cv=KFold(3),
            error_score="raise",
        )["test_c"]
    expected = []
    for train, test in KFold(3).split(X):
        fitted = GaussianNB().fit(X[train], y[train])
        q = fitted.predict_proba(X[test])[:, 1]
        expected.append(
            -adaptive_bin_calibration_error(y[test], q, n_bins=5, sample_weight=w[test])
        )
    np.testing.assert_allclose(routed, expected)


def test_sample_weight_without_routing(binary):
    X, y = binary
    w = np.linspace(0.1, 3.0, len(y))
    model = GaussianNB().fit(X, y)
    score = AdaptiveBinCalibrationError()(model, X, y, sample_weight=w)
    q = model.predict_proba(X)[:, 1]
    assert score == pytest.approx(-adaptive_bin_calibration_error(y, q, sample_weight=w))


def test_string_labels_and_pos_label(binary):
    X, y = binary
    words = np.where(y == 1, "yes", "no")
    model = GaussianNB().fit(X, words)
    default = AdaptiveBinCalibrationError(n_bins=6)(model, X, words)
    yes = AdaptiveBinCalibrationError(n_bins=6, pos_label="yes")(model, X, words)
    no = AdaptiveBinCalibrationError(n_bins=6, pos_label="no")(model, X, words)
    assert default == pytest.approx(yes)
    q = model.predict_proba(X)[:, 0]
    assert no == pytest.approx(-adaptive_bin_calibration_error(words == "no", q, n_bins=6))
    with pytest.raises(ValueError, match="pos_label='maybe' is not a valid label"):
        AdaptiveBinCalibrationError(pos_label="maybe")(model, X, words)


@pytest.mark.parametrize("name", [NAME, f"{NAME}_macro", f"{NAME}_top_label"])
def test_a_class_missing_from_a_fold_is_normal(many, name):
    X, y = many
    order = np.argsort(y)  # whole classes fall into one fold
    scores = cross_val_score(
        GaussianNB(), X[order], y[order], scoring=name, cv=KFold(4), error_score="raise"
    )
    assert np.isfinite(scores).all()
    # A class that was never met has probability 0: the model is badly wrong there.
    assert (scores < -0.2).all()


def test_a_fold_with_a_single_class(binary):
    X, y = binary
    for label in (0, 1):
        model = DummyClassifier().fit(X, np.full(len(y), label))
        score = AdaptiveBinCalibrationError()(model, X, y)
        assert score == pytest.approx(-abs(label - y.mean()))


def test_multilabel_problems():
    X, Y = make_multilabel_classification(300, n_classes=4, random_state=0)
    for model in (
        RandomForestClassifier(n_estimators=10, random_state=0),
        MultiOutputClassifier(GaussianNB()),
    ):
        model.fit(X[:200], Y[:200])
        proba = np.column_stack([p[:, 1] for p in model.predict_proba(X[200:])])
        expected = adaptive_bin_calibration_error(Y[200:].ravel(), proba.ravel(), bin_size=50)
        scorer = AdaptiveBinCalibrationError(bin_size=50)
        assert -scorer(model, X[200:], Y[200:]) == pytest.approx(expected)


class Protocol(BaseEstimator):
    """A model of another family: it only answers calibration_queries."""

    def fit(self, X, y):
        return self

    def calibration_queries(self, X, y, unit="tag", average="micro"):
        self.options_ = {"unit": unit, "average": average}
        return Queries(y, np.full(len(y), 0.25), label=np.arange(len(y)) % 2)


def test_the_protocol_is_asked_first():
    X, y = np.zeros((8, 1)), np.array([0, 1] * 4)
    model = Protocol()
    assert AdaptiveBinCalibrationError()(model, X, y) == pytest.approx(-0.25)
    assert model.options_ == {"unit": "tag", "average": "micro"}
    AdaptiveBinCalibrationError(query_options={"unit": "pair"}, average="top_label")(model, X, y)
    assert model.options_ == {"unit": "pair", "average": "top_label"}
    # By label, one asks about 0s only and the other about 1s only.
    score = AdaptiveBinCalibrationError(average="macro")(model, X, y)
    assert score == pytest.approx(-(0.25 + 0.75) / 2)
    with pytest.raises(TypeError, match="pairs"):
        AdaptiveBinCalibrationError(query_options={"unit": "pair", "pairs": 3})(model, X, y)
    together = cross_validate(
        model,
        X,
        y,
        scoring={"a": AdaptiveBinCalibrationError(), "b": NAME},
        cv=2,
        error_score="raise",
    )
    assert (together["test_a"] == together["test_b"]).all()


def test_clear_errors(binary):
    X, y = binary
    model = GaussianNB().fit(X, y)
    with pytest.raises(TypeError, match=r"LinearSVC has no predict_proba.*CalibratedClassifierCV"):
        AdaptiveBinCalibrationError()(LinearSVC().fit(X, y), X, y)
    with pytest.raises(
        TypeError, match=r"unit='pair' does not apply to GaussianNB.*no calibration_queries"
    ):
        AdaptiveBinCalibrationError(query_options={"unit": "pair"})(model, X, y)
    with pytest.raises(ValueError, match="average='weighted' is not known"):
        AdaptiveBinCalibrationError(average="weighted")(model, X, y)
    with pytest.raises(ValueError, match="norm='l3' is not known"):
        AdaptiveBinCalibrationError(norm="l3")(model, X, y)
    with pytest.raises(TypeError, match="y_true has labels such as"):
        AdaptiveBinCalibrationError()(model, X, np.where(y == 1, "yes", "no"))


def test_pooled_classes_never_share_one_bin():
    X, y = load_iris(return_X_y=True)
    scores = cross_val_score(
        GaussianNB(), X, y, scoring="neg_adaptive_bin_calibration_error", cv=10
    )
    assert (scores < 0).all()
