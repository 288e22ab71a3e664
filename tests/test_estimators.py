"""What every estimator of sequences and documents promises, wrapped and recalibrated ones too.

scikit-learn's own checks are made for matrices, and run a single one on these.
"""

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.frozen import FrozenEstimator

from sklearn_calib import AdaptiveBinCalibrationError, CalibratedStructureCV, _version
from sklearn_calib.coref import AntecedentModel, ScoreRanker
from sklearn_calib.datasets import make_coref_documents, make_tagged_sequences
from sklearn_calib.sequence import CRFTagger, HMMTagger

TAGGED = make_tagged_sequences(40, random_state=0)
DOCUMENTS = make_coref_documents(16, random_state=0)


def wrapped_crf():
    return CRFTagger.from_crfsuite(CRFTagger(c2=0.1).fit(*words()).model_, features="word")


def wrapped_hmm():
    fitted = HMMTagger().fit(*words())
    return HMMTagger.from_hmmlearn(fitted.hmm_, fitted.classes_, fitted.vocabulary_)


def lattice_crf(**options):
    return CRFTagger(solver="lattice", c2=1.0, tol=1e-4, **options)


def words():
    return [list(map(str, x)) for x in TAGGED.X], [list(map(str, y)) for y in TAGGED.y]


def documents():
    return list(DOCUMENTS.X), list(DOCUMENTS.y)


def scores():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(len(y), len(y))) for y in DOCUMENTS.y], list(DOCUMENTS.y)


# What makes an estimator, and the data that it is for. A wrapped model is fitted from the start.
ESTIMATORS = {
    "HMMTagger": (HMMTagger, words),
    "HMMTagger.from_hmmlearn": (wrapped_hmm, words),
    "CRFTagger": (lambda: CRFTagger(c2=0.1, max_iterations=30), words),
    "CRFTagger with constraints": (lambda: CRFTagger(max_iterations=30, c1=0.1), words),
    "CRFTagger.from_crfsuite": (wrapped_crf, words),
    "CRFTagger, lattice": (lattice_crf, words),
    "CRFTagger, lattice, calibrated": (lambda: lattice_crf(objective="calibrated"), words),
    "CRFTagger, lattice, temperature": (lambda: CalibratedStructureCV(lattice_crf(), cv=2), words),
    "HMMTagger, temperature": (lambda: CalibratedStructureCV(HMMTagger(), cv=2), words),
    "HMMTagger, scaling": (
        lambda: CalibratedStructureCV(HMMTagger(), method="scaling", cv=2),
        words,
    ),
    "CRFTagger, isotonic": (
        lambda: CalibratedStructureCV(CRFTagger(max_iterations=20), method="isotonic", cv=2),
        words,
    ),
    "frozen CRFTagger, temperature": (
        lambda: CalibratedStructureCV(FrozenEstimator(wrapped_crf())),
        words,
    ),
    "AntecedentModel": (lambda: AntecedentModel(max_iter=30, tol=1e-2), documents),
    "AntecedentModel, extended": (
        lambda: AntecedentModel(features=["surface", "extended"], max_iter=30, tol=1e-2),
        documents,
    ),
    "AntecedentModel, temperature": (
        lambda: CalibratedStructureCV(AntecedentModel(max_iter=30, tol=1e-2), cv=2),
        documents,
    ),
    "ScoreRanker, temperature": (lambda: CalibratedStructureCV(ScoreRanker(), cv=2), scores),
}


@pytest.fixture(params=list(ESTIMATORS))
def case(request):
    """An estimator that is not fitted (unless it wraps a model), and its data."""
    make, data = ESTIMATORS[request.param]
    return make(), *data()


@pytest.fixture(scope="module")
def fitted_ones():
    return {}


@pytest.fixture
def fitted(request, fitted_ones, case):
    """The same, fitted once for all tests; no test may change it."""
    name = request.node.callspec.params["case"]
    estimator, X, y = case
    if name not in fitted_ones:
        fitted_ones[name] = estimator.fit(X, y)
    return fitted_ones[name], X, y


def same(found, expected):
    """Compare predictions: one matrix, or one entry for each sentence or document."""
    if isinstance(expected, np.ndarray):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        return
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(a).shape, np.asarray(b).shape)
        if np.asarray(b).dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(a, b)


def test_fitting_returns_itself_and_is_idempotent(case):
    estimator, X, y = case
    assert estimator.fit(X, y) is estimator
    before = copy.deepcopy(estimator.predict_proba(X))
    estimator.fit(X, y)
    same(estimator.predict_proba(X), before)


def test_fitting_forgets_what_it_was_fitted_on(case):
    estimator, X, y = case
    half = len(X) // 2
    first = clone(estimator).fit(X[:half], y[:half]).fit(X, y)
    same(first.predict_proba(X), clone(estimator).fit(X, y).predict_proba(X))


def test_the_order_of_samples_does_not_matter_to_predictions(fitted):
    estimator, X, _ = fitted
    same(estimator.predict(X[::-1]), estimator.predict(X)[::-1])
    one_by_one = [estimator.predict_proba([x]) for x in X[:5]]
    together = estimator.predict_proba(X[:5])
    if isinstance(together, np.ndarray):
        np.testing.assert_allclose(np.concatenate(one_by_one), together, atol=1e-12)
    else:
        same([rows[0] for rows in one_by_one], together)


def nearly_same(found, expected):
    """Compare probabilities of two fits that differ by the rounding of sums."""
    if isinstance(expected, np.ndarray):
        found, expected = [found], [expected]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=0.01)


def test_the_order_of_training_does_not_matter(fitted):
    estimator, X, y = fitted
    if isinstance(estimator, CalibratedStructureCV):
        pytest.skip("folds are cut by place")
    other = clone(estimator).fit(X[::-1], y[::-1])
    nearly_same(other.predict_proba(X), estimator.predict_proba(X))


def test_weights_of_training_are_repetitions(fitted):
    estimator, X, y = fitted
    if isinstance(estimator, CalibratedStructureCV):
        pytest.skip("copies may be in several folds, and a weight is in one")
    if "sample_weight" not in inspect.signature(estimator.fit).parameters:
        pytest.skip("it takes no weights")
    times = np.arange(len(X)) % 3
    if getattr(estimator, "solver", None) == "crfsuite":
        with pytest.raises(ValueError, match="lattice"):
            clone(estimator).fit(X, y, sample_weight=times)
        return
    repeated = np.repeat(np.arange(len(X)), times)
    again = clone(estimator).fit([X[i] for i in repeated], [y[i] for i in repeated])
    weighted = clone(estimator).fit(X, y, sample_weight=times)
    nearly_same(weighted.predict_proba(X), again.predict_proba(X))
    for wrong in (times[:-1], -1.0 - times, np.where(times, np.nan, 1.0)):
        with pytest.raises(ValueError, match="sample_weight"):
            clone(estimator).fit(X, y, sample_weight=wrong)


def test_nothing_is_changed(case):
    estimator, X, y = case
    parameters = pickle.dumps(estimator.get_params())
    kept = pickle.dumps((X, y))
    estimator.fit(X, y)
    estimator.predict(X)
    estimator.predict_proba(X)
    estimator.calibration_queries(X, y)
    assert pickle.dumps((X, y)) == kept
    assert pickle.dumps(estimator.get_params()) == parameters


def test_predicting_changes_no_attribute(fitted):
    estimator, X, y = fitted
    before = pickle.dumps(estimator)
    first = copy.deepcopy(estimator.predict_proba(X))
    estimator.predict(X[:3])
    estimator.calibration_queries(X, y)
    assert pickle.dumps(estimator) == before
    same(estimator.predict_proba(X), first)


def test_a_clone_has_the_parameters_and_is_not_fitted(fitted):
    estimator, X, _ = fitted
    copied = clone(estimator)
    assert type(copied) is type(estimator)
    assert repr(copied.get_params()) == repr(estimator.get_params())
    with pytest.raises(NotFittedError):
        copied.predict(X)
    names = set(inspect.signature(type(estimator).__init__).parameters) - {"self"}
    assert names == set(estimator.get_params(deep=False))
    assert type(estimator).__name__ in repr(estimator)


def test_a_pickle_predicts_the_same(fitted):
    estimator, X, _ = fitted
    read = pickle.loads(pickle.dumps(estimator))
    same(read.predict_proba(X), estimator.predict_proba(X))
    same(copy.deepcopy(estimator).predict(X), estimator.predict(X))


def test_a_pickle_of_another_version_warns(fitted, monkeypatch):
    estimator, X, _ = fitted
    monkeypatch.setattr(_version, "__version__", "0.0.9")
    old = pickle.dumps(estimator)
    monkeypatch.undo()
    name = type(estimator).__name__
    with pytest.warns(InconsistentVersionWarning, match=r"by sklearn-calib 0\.0\.9") as caught:
        read = pickle.loads(old)
    assert any(str(warning.message).startswith(f"{name} was pickled") for warning in caught)
    same(read.predict(X[:3]), estimator.predict(X[:3]))


def test_samples_and_truths_must_match(case):
    estimator, X, y = case
    with pytest.raises(ValueError, match=r"\d"):
        estimator.fit(X, y[:-1])
    shorter = [*y[:-1], y[-1][:-1]]
    with pytest.raises(ValueError, match=r"\d"):
        estimator.fit(X, shorter)


def test_what_is_no_sample_is_named(fitted):
    estimator, X, y = fitted
    for wrong in ([3, 4], [None], 7):
        with pytest.raises((TypeError, ValueError)):
            estimator.predict(wrong)
    with pytest.raises((TypeError, ValueError)):
        estimator.calibration_queries(X, y[:-1])


@pytest.mark.filterwarnings("ignore:method='isotonic' mends answers only")
def test_samples_depend_on_the_seed_alone(fitted):
    estimator, X, _ = fitted
    once = estimator.sample(X[:4], 3, random_state=0)
    same(estimator.sample(X[:4], 3, random_state=0), once)
    many = estimator.sample(X, 5, random_state=1)
    other = estimator.sample(X, 5, random_state=2)
    assert any(not np.array_equal(a, b) for a, b in zip(many, other, strict=True))


def test_weights_of_samples_are_repetitions(fitted):
    estimator, X, y = fitted
    scorer = AdaptiveBinCalibrationError(n_bins=5)
    weights = np.arange(len(X)) % 3 + 1.0
    score = scorer(estimator, X, y, sample_weight=weights)
    repeated = np.repeat(np.arange(len(X)), weights.astype(int))
    again = scorer(estimator, [X[i] for i in repeated], [y[i] for i in repeated])
    assert score == pytest.approx(again, abs=1e-9)
    assert scorer(estimator, X, y, sample_weight=np.ones(len(X))) == pytest.approx(
        scorer(estimator, X, y), abs=1e-12
    )


def test_every_estimator_is_here():
    """A new estimator has to be added to the list above."""
    import sklearn_calib

    public = {
        thing
        for module in (sklearn_calib, *(getattr(sklearn_calib, n) for n in sklearn_calib._ROOMS))
        for thing in map(module.__dict__.get, module.__all__)
        if inspect.isclass(thing) and issubclass(thing, _version.VersionedEstimator)
    }
    # A ScoreRanker learns nothing by itself; it is here where it is recalibrated.
    tested = {type(make()) for make, _ in ESTIMATORS.values()} | {ScoreRanker}
    assert {thing for thing in public if not inspect.isabstract(thing)} == tested
