"""CalibratedStructureCV as an estimator among others."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    CalibratedStructureCV,
    LabelCalibrationDisplay,
    Queries,
    calibration_null,
    estimator_queries,
)
from sklearn_calib.coref import AntecedentModel
from sklearn_calib.datasets import make_coref_documents, make_tagged_sequences
from sklearn_calib.sequence import CRFTagger, HMMTagger, cross_val_marginals

NAME = "neg_adaptive_bin_calibration_error"
METHODS = ["temperature", "scaling", "isotonic"]


@pytest.fixture(scope="module")
def data():
    return make_tagged_sequences(120, random_state=0)


@pytest.fixture(scope="module", params=METHODS)
def mended(request, data):
    return CalibratedStructureCV(HMMTagger(), method=request.param).fit(data.X[:80], data.y[:80])


def test_it_clones_and_pickles(mended, data):
    fresh = clone(mended)
    assert fresh.method == mended.method
    with pytest.raises(NotFittedError):
        fresh.predict(data.X)
    again = pickle.loads(pickle.dumps(mended))
    np.testing.assert_array_equal(again.predict_proba(data.X), mended.predict_proba(data.X))


def test_it_asks_like_the_model_inside(mended, data):
    X, y = data.X[80:], data.y[80:]
    assert mended.classes_.tolist() == mended.estimator_.classes_.tolist()
    assert mended.pairs_ == mended.estimator_.pairs_
    assert [len(row) for row in mended.predict(X)] == [len(row) for row in X]
    assert 0.3 < mended.score(X, y) <= 1.0
    assert mended.score(X, y, sample_weight=np.ones(len(X))) == pytest.approx(mended.score(X, y))
    queries = mended.calibration_queries(X, y)
    np.testing.assert_array_equal(queries.y_prob, mended.predict_proba(X).ravel())
    answered = mended.calibration_questions(X).answer(y)
    np.testing.assert_array_equal(answered.y_prob, queries.y_prob)
    np.testing.assert_array_equal(answered.y_true, queries.y_true)
    for end in ("", "_macro", "_top_label"):
        assert -0.5 < get_scorer(NAME + end)(mended, X, y) < 0.0
    with pytest.raises(TypeError, match=r"min_prob=0\.1 does not apply to HMMTagger"):
        mended.calibration_queries(X, y, min_prob=0.1)
    with pytest.raises(TypeError, match=r"min_prob=0\.1 does not apply to HMMTagger"):
        estimator_queries(mended, X, y, min_prob=0.1)


def test_pairs_scorer_and_null(data):
    mended = CalibratedStructureCV(HMMTagger()).fit(data.X[:80], data.y[:80])
    X, y = data.X[80:], data.y[80:]
    assert get_scorer(f"{NAME}_tag_pair")(mended, X, y) < 0.0
    null = calibration_null(mended, X, y, n_simulations=20, random_state=0, unit="pair", pairs=5)
    assert null.error is not None
    assert not hasattr(mended, "predict_entities")


def test_displays(mended, data):
    X, y = data.X[80:], data.y[80:]
    assert AdaptiveCalibrationDisplay.from_estimator(mended, X, y).ax_ is not None
    assert LabelCalibrationDisplay.from_estimator(mended, X, y).ax_ is not None


def test_search_and_cross_validation(data):
    grid = GridSearchCV(
        CalibratedStructureCV(HMMTagger(), cv=2),
        {"estimator__emission_pseudocount": [0.1, 1.0], "method": ["temperature", "scaling"]},
        scoring=NAME,
        cv=2,
    ).fit(data.X, data.y)
    assert grid.best_params_["method"] in ("temperature", "scaling")
    assert len(estimator_queries(grid, data.X, data.y))
    scores = cross_val_score(CalibratedStructureCV(HMMTagger(), cv=2), data.X, data.y, cv=2)
    assert (scores > 0.3).all()
    found = cross_val_marginals(CalibratedStructureCV(HMMTagger(), cv=2), data.X, data.y, cv=2)
    np.testing.assert_allclose(found.y_prob.sum(axis=1), 1.0)


def test_a_search_inside(data):
    search = GridSearchCV(HMMTagger(), {"emission_pseudocount": [0.1, 1.0]}, cv=2)
    mended = CalibratedStructureCV(search, cv=2).fit(data.X, data.y)
    assert mended.estimator_.best_params_
    assert mended.temperature_ > 0
    frozen = CalibratedStructureCV(FrozenEstimator(mended.estimator_)).fit(data.X, data.y)
    np.testing.assert_allclose(frozen.predict_proba(data.X[:5]).sum(axis=1), 1.0)


def test_inside_a_pipeline(data):
    same = FunctionTransformer()
    model = make_pipeline(same, CalibratedStructureCV(HMMTagger(), cv=2)).fit(data.X, data.y)
    assert len(estimator_queries(model, data.X, data.y))


def test_splitters_and_groups(data):
    groups = np.arange(120) // 10
    mended = CalibratedStructureCV(HMMTagger(), cv=GroupKFold(3))
    assert mended.fit(data.X, data.y, groups=groups).temperature_ > 0
    parallel = CalibratedStructureCV(HMMTagger(), cv=GroupKFold(3), n_jobs=2)
    parallel.fit(data.X, data.y, groups=groups)
    assert parallel.temperature_ == pytest.approx(mended.temperature_, rel=1e-9)


def test_a_second_fit_forgets_the_first(data):
    mended = CalibratedStructureCV(HMMTagger(), method="scaling").fit(data.X, data.y)
    assert mended.bias_.shape == mended.classes_.shape
    mended.set_params(method="temperature").fit(data.X, data.y)
    assert not hasattr(mended, "bias_")
    temperature = mended.temperature_
    with pytest.raises(ValueError, match="X has 120 and y has 3"):
        mended.fit(data.X, data.y[:3])
    assert mended.temperature_ == temperature


def test_documents():
    data = make_coref_documents(30, random_state=0)
    mended = CalibratedStructureCV(AntecedentModel()).fit(data.X[:20])
    assert mended.score(data.X[20:]) > 0.3
    assert len(mended.predict_entities(data.X[20:], min_proba=0.2)) == 10
    queries = mended.calibration_queries(data.X[20:])
    assert queries.n_groups == 10
    search = GridSearchCV(AntecedentModel(), {"C": [0.1, 0.2]}, cv=2)
    assert CalibratedStructureCV(search, cv=2).fit(data.X[:20], data.y[:20]).temperature_ > 0
    # Scores of tags do not apply to links.
    with pytest.raises(TypeError, match="unit='pair' does not apply"):
        mended.calibration_queries(data.X[20:], unit="pair")
    assert not hasattr(mended, "classes_")
    assert not hasattr(mended, "predict_log_proba")
    weighted = CalibratedStructureCV(AntecedentModel()).fit(data.X[:20], sample_weight=np.ones(20))
    assert weighted.new_shift_ == pytest.approx(mended.new_shift_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "platt"}, "method='platt' is not known"),
        ({"query_options": {"unit": "pair"}}, "says which answers method='isotonic' mends"),
    ],
)
def test_bad_options(data, options, message):
    with pytest.raises(ValueError, match=message):
        CalibratedStructureCV(HMMTagger(), **options).fit(data.X, data.y)


def test_models_that_cannot_be_mended(data):
    with pytest.raises(TypeError, match="make CalibratedStructureCV its last step"):
        CalibratedStructureCV(make_pipeline(FunctionTransformer(), HMMTagger())).fit(data.X, data.y)
    documents = make_coref_documents(6, random_state=0).X
    with pytest.raises(ValueError, match="method='scaling' is for taggers"):
        CalibratedStructureCV(AntecedentModel(), method="scaling").fit(documents)
    X, y = np.random.default_rng(0).random((20, 2)).tolist(), [0, 1] * 10
    for method in ("temperature", "isotonic"):
        with pytest.raises(TypeError, match="For classifiers there is"):
            CalibratedStructureCV(LogisticRegression(), method=method).fit(X, y)


class Coins(BaseEstimator):
    """A model of another family: coins, each with a logit, and a temperature."""

    def __init__(self, temperature=1.0):
        self.temperature = temperature

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def at_temperature(self, temperature):
        return Coins(self.temperature * temperature).fit(None, None)

    def calibration_queries(self, X, y, *, sample_weight=None):
        q = 1.0 / (1.0 + np.exp(-np.asarray(X) / self.temperature))
        return Queries(y, q, sample_weight=sample_weight)


def test_another_family():
    rng = np.random.default_rng(0)
    logits = 3 * rng.normal(size=4000)
    y = rng.random(4000) < 1 / (1 + np.exp(-logits / 3))
    mended = CalibratedStructureCV(Coins()).fit(logits.tolist(), y.tolist())
    assert mended.temperature_ == pytest.approx(3.0, rel=0.1)
    half = logits[:2000].tolist()
    queries = mended.calibration_queries(half, y[:2000])
    expected = Coins(mended.temperature_).calibration_queries(half, y[:2000])
    np.testing.assert_array_equal(queries.y_prob, expected.y_prob)
    isotonic = CalibratedStructureCV(Coins(), method="isotonic").fit(logits.tolist(), y.tolist())
    gap = isotonic.calibration_queries(half, y[:2000]).y_prob - 1 / (1 + np.exp(-logits[:2000] / 3))
    assert np.abs(gap).mean() < 0.04
    assert not hasattr(isotonic, "predict_proba")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tags", ["one", "many", "with spaces", "of single tokens"])
def test_strange_tag_sets(method, tags):
    rng = np.random.default_rng(0)
    length = 1 if tags == "of single tokens" else 4
    words = rng.integers(300 if tags == "many" else 12, size=(24, length))
    X = [[f"w{i}" for i in row] for row in words]
    name = {
        "one": lambda i: "T",
        "many": lambda i: f"t{i // 2}",
        "with spaces": lambda i: f"tag {i % 3} = ü/",
        "of single tokens": lambda i: "XYZ"[i % 3],
    }[tags]
    y = [[name(i) for i in row] for row in words]
    tagger = CRFTagger(solver="lattice", c2=0.1, tol=1e-3)
    mended = CalibratedStructureCV(tagger, method=method, cv=3).fit(X, y)
    assert mended.classes_.tolist() == sorted({tag for row in y for tag in row})
    proba = mended.predict_proba(X)
    assert proba.shape == (words.size, len(mended.classes_))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert mended.score(X, y) > 0.9
    assert len(mended.calibration_queries(X, y)) == proba.size


def test_lattice_crfs_with_features_of_ones_own(data):
    def features(tokens):
        return [{"word": token, "first": i == 0, "size": 0.5} for i, token in enumerate(tokens)]

    X, y = data.X[:60], data.y[:60]
    tagger = CRFTagger(features=features, solver="lattice", objective="marginal", c2=0.1)
    search = GridSearchCV(
        CalibratedStructureCV(tagger, cv=2),
        {"estimator__c2": [0.1, 1.0], "method": ["temperature", "isotonic"]},
        scoring="neg_adaptive_bin_calibration_error",
        cv=2,
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    ready = [features(tokens) for tokens in X]
    options = {"method": search.best_params_["method"], "cv": 2}
    given = clone(tagger).set_params(features=None, c2=search.best_params_["estimator__c2"])
    same = CalibratedStructureCV(given, **options).fit(ready, y)
    np.testing.assert_allclose(same.predict_proba(ready), search.predict_proba(X), atol=1e-8)
