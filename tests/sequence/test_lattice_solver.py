"""Training on the lattice: CRFsuite's optimum, true gradients, and other objectives."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy.optimize import check_grad
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from sklearn_calib import AdaptiveBinCalibrationError
from sklearn_calib.sequence import CRFTagger
from sklearn_calib.sequence._lattice_solver import OBJECTIVES, Objective, _start
from tests.sequence.text import sentences


@pytest.fixture(scope="module")
def text():
    return sentences()


def lattice(**options):
    return CRFTagger(solver="lattice", **options)


@pytest.mark.parametrize("features", ["word", "rich"])
@pytest.mark.parametrize("everything", [False, True])
def test_likelihood_finds_the_optimum_of_crfsuite(text, features, everything):
    X, y = text
    options = {"features": features, "c2": 0.1, "all_possible_transitions": everything}
    theirs = CRFTagger(**options).fit(X, y)
    ours = lattice(tol=1e-9, **options).fit(X, y)
    reached = theirs.crf_.training_log_.iterations[-1]["loss"]
    assert ours.objective_value_ == pytest.approx(reached, rel=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert ours.predict(X) == theirs.predict(X)
    assert ours.pairs_ == theirs.pairs_


def test_features_that_are_given_have_values_and_names_as_in_crfsuite(text):
    X, y = text
    ready = [
        [{"word": w, "long": len(w) > 3, "length": len(w) / 5, "ends": [w[-1], w[-1]]} for w in s]
        for s in X
    ]
    theirs = CRFTagger(features=None, c2=0.1).fit(ready, y)
    ours = lattice(features=None, c2=0.1, tol=1e-9).fit(ready, y)
    np.testing.assert_allclose(ours.predict_proba(ready), theirs.predict_proba(ready), atol=1e-4)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients_of_every_objective(name):
    rng = np.random.default_rng(0)
    lengths = np.array([4, 1, 6])
    tags = rng.integers(3, size=lengths.sum())
    weight = np.array([1.0, 2.0, 0.5])
    objective = Objective(name, margin=0.7, strength=2.0)

    def split(theta):
        return theta[:-9].reshape(-1, 3).copy(), theta[-9:].reshape(3, 3).copy()

    def value(theta):
        return objective(*split(theta), lengths, tags, weight)[0]

    def gradient(theta):
        _, one, two = objective(*split(theta), lengths, tags, weight)
        return np.concatenate([one.ravel(), two.ravel()])

    theta = rng.normal(size=3 * lengths.sum() + 9)
    assert check_grad(value, gradient, theta, seed=0) < 1e-5


def test_marginal_objective_has_better_marginals_and_worse_likelihood(text):
    X, y = text
    tags = [tag for row in y for tag in row]

    def losses(tagger):
        proba = tagger.predict_proba(X)
        true = proba[np.arange(len(tags)), np.searchsorted(tagger.classes_, tags)]
        return -np.log(true).sum() + tagger.c2 * penalty(tagger)

    def penalty(tagger):
        return (tagger._model.weights.data**2).sum() + (tagger._model.transitions**2).sum()

    likelihood = lattice(c2=0.1, tol=1e-8).fit(X, y)
    marginal = lattice(c2=0.1, tol=1e-8, objective="marginal").fit(X, y)
    assert losses(marginal) == pytest.approx(marginal.objective_value_)
    assert losses(marginal) < losses(likelihood) - 1e-3


def test_calibrated_objective_without_strength_is_likelihood(text):
    X, y = text
    plain = lattice(c2=0.5).fit(X, y)
    without = lattice(c2=0.5, objective="calibrated", calibration_strength=0.0).fit(X, y)
    np.testing.assert_array_equal(plain.predict_proba(X), without.predict_proba(X))
    much = lattice(c2=0.5, objective="calibrated", calibration_strength=5.0).fit(X, y)
    assert np.abs(much.predict_proba(X) - plain.predict_proba(X)).max() > 0.01


def test_softmax_margin_without_margin_is_likelihood(text):
    X, y = text
    plain = lattice(c2=0.5).fit(X, y)
    none = lattice(c2=0.5, objective="softmax_margin", margin=0.0).fit(X, y)
    np.testing.assert_allclose(none.predict_proba(X), plain.predict_proba(X), atol=1e-12)
    # A margin pushes the true tag up.
    wide = lattice(c2=0.5, objective="softmax_margin", margin=2.0).fit(X, y)
    assert wide.predict_proba(X).max(axis=1).mean() > plain.predict_proba(X).max(axis=1).mean()


def test_weights_are_repetition_and_zero_is_absence(text):
    X, y = text
    weight = np.random.default_rng(1).integers(0, 3, size=len(X))
    weighted = lattice(c2=0.3, tol=1e-9).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(len(X)), weight)
    repeated = lattice(c2=0.3, tol=1e-9).fit([X[i] for i in rows], [y[i] for i in rows])
    np.testing.assert_array_equal(weighted.classes_, repeated.classes_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


def test_weights_reach_training_and_scoring_through_a_search(text):
    X, y = text
    weight = np.arange(1.0, len(X) + 1)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = AdaptiveBinCalibrationError().set_score_request(sample_weight=True)
        search = GridSearchCV(
            lattice().set_fit_request(sample_weight=True), {"c2": [0.1, 1.0]}, scoring=scorer, cv=2
        ).fit(X, y, sample_weight=weight)
    alone = lattice(**search.best_params_).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(search.predict_proba(X), alone.predict_proba(X))
    half = len(X) // 2
    first = lattice(c2=0.1).fit(X[half:], y[half:], sample_weight=weight[half:])
    score = AdaptiveBinCalibrationError()(first, X[:half], y[:half], sample_weight=weight[:half])
    assert search.cv_results_["split0_test_score"][0] == score


def test_warm_start_reaches_the_same_place_sooner(text):
    X, y = text
    cold = lattice(features="rich", c2=0.1, tol=1e-8).fit(X, y)
    warm = lattice(features="rich", c2=0.15, tol=1e-8, warm_start=True).fit(X, y)
    warm.set_params(c2=0.1).fit(X, y)
    assert warm.objective_value_ == pytest.approx(cold.objective_value_, rel=1e-6)
    assert warm.n_iter_ < cold.n_iter_
    # From a model that lacks words and tags, too.
    short = lattice(features="rich", c2=0.1, tol=1e-8, warm_start=True).fit(X[:3], y[:3])
    short.fit(X, y)
    assert short.objective_value_ == pytest.approx(cold.objective_value_, rel=1e-6)


def test_a_path_is_followed_ahead(text):
    X, y = text
    options = {"features": "rich", "tol": 1e-8, "warm_start": True}
    following = lattice(**options)
    for c2 in (0.4, 0.3, 0.225):
        following.set_params(c2=c2).fit(X, y)
    # A pickle holds the last weights alone, and begins at them.
    again = pickle.loads(pickle.dumps(following))
    following.set_params(c2=0.17).fit(X, y)
    again.set_params(c2=0.17).fit(X, y)
    assert following.n_iter_ < again.n_iter_
    cold = lattice(features="rich", tol=1e-8, c2=0.17).fit(X, y)
    assert following.objective_value_ == pytest.approx(cold.objective_value_, rel=1e-6)
    # Where the last two fits had other data or objectives, or the path turns, no harm is done.
    for change in ({"c2": 0.2}, {"c2": 0.1}, {"c2": 0.0}, {"c2": 0.3}, {"objective": "marginal"}):
        following.set_params(**change).fit(X[2:], y[2:])
    following.set_params(objective="likelihood", c2=0.17).fit(X, y)
    assert following.objective_value_ == pytest.approx(cold.objective_value_, rel=1e-6)


def test_a_path_begins_at_the_better_place():
    known = [(4.0, np.array([1.0])), (2.0, np.array([2.0]))]

    def start(c2, optimum):
        return float(_start(known, c2, lambda theta: ((theta[0] - optimum) ** 2, theta))[0])

    assert start(1.0, 2.9) == 3.0
    assert start(1.0, 2.1) == 2.0
    assert start(4.0, 0.0) == 1.0
    assert start(2.0, 9.0) == 2.0
    # Too far ahead to tell, or to infinity.
    assert start(0.1, 9.0) == start(0.0, 9.0) == 2.0
    assert _start(known[1:], 1.0, None)[0] == 2.0


def test_clone_pickle_and_determinism(text):
    X, y = text
    tagger = lattice(c2=0.2, objective="marginal").fit(X, y)
    again = pickle.loads(pickle.dumps(tagger))
    np.testing.assert_array_equal(again.predict_proba(X), tagger.predict_proba(X))
    twin = clone(tagger).fit(X, y)
    np.testing.assert_array_equal(twin.predict_proba(X), tagger.predict_proba(X))
    with pytest.raises(AttributeError, match="trained on the lattice"):
        tagger.crf_  # noqa: B018
    # A fit by CRFsuite afterwards leaves nothing of it, and the other way round.
    tagger.set_params(solver="crfsuite", objective="likelihood").fit(X, y)
    assert tagger.crf_ is not None
    assert not hasattr(tagger, "n_iter_")
    assert not hasattr(tagger, "objective_value_")
    tagger.set_params(solver="lattice").fit(X, y)
    assert not hasattr(tagger, "model_")


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"objective": "marginal"}, {}, "objective='marginal' needs solver='lattice'"),
        ({"warm_start": True}, {}, "warm_start=True needs solver='lattice'"),
        ({}, {"sample_weight": [1.0] * 16}, "sample_weight needs solver='lattice'"),
        ({"solver": "lattice", "c1": 0.1}, {}, "no L1 penalty"),
        ({"solver": "adam"}, {}, "solver='adam'"),
        ({"solver": "lattice", "objective": "risk"}, {}, "objective='risk'"),
        ({"solver": "lattice"}, {"sample_weight": [0.0] * 16}, "no sentences are left"),
        ({"solver": "lattice"}, {"sample_weight": [1.0]}, "each of the 16 sentences"),
        ({"solver": "lattice", "margin": "much"}, {}, "margin"),
    ],
)
def test_what_cannot_be_done_is_said(text, options, fit, message):
    X, y = text
    with pytest.raises((ValueError, TypeError), match=message):
        CRFTagger(**options).fit(X, y, **fit)


def test_too_few_iterations_warn(text):
    X, y = text
    with pytest.warns(ConvergenceWarning, match="in iteration 2 .* Raise max_iterations") as seen:
        lattice(max_iterations=2).fit(X, y)
    assert seen[0].filename == __file__


def test_the_end_of_what_floats_can_tell_is_convergence(text):
    X, y = text
    tagger = lattice(max_iterations=5000, tol=0.0).fit(X, y)
    assert tagger.n_iter_ < 5000


def test_no_step_goes_down():
    X = [[{"a": 1e30}, {"a": -1e30}], [{"b": 1.0}]]
    with pytest.warns(ConvergenceWarning, match="No step lowers the objective.*scale the features"):
        lattice(features=None, c2=0.01).fit(X, [["A", "B"], ["A"]])


def test_features_that_are_too_large(text):
    X, y = text
    tagger = lattice(features=lambda words: [{"size": 1e200} for _ in words])
    with pytest.raises(ValueError, match="Training went to infinity"):
        tagger.fit(X, y)


def test_edges():
    # One sentence of one token, a tag seen once, a token without any feature.
    assert lattice().fit([["a"]], [["X"]]).predict([["a"], ["b"]]) == [["X"], ["X"]]
    tagger = lattice(features=None, c2=0.01).fit([[{}, {"x": 1.0}]], [["A", "B"]])
    assert tagger.predict([[{"x": 1.0}]]) == [["B"]]


def test_works_without_crfsuite(text, monkeypatch):
    import sys

    X, y = text
    monkeypatch.setitem(sys.modules, "sklearn_crfsuite", None)
    assert lattice(c2=0.1).fit(X, y).score(X, y) > 0.9


def test_progress_is_shown(text, capsys):
    X, y = text
    lattice(verbose=True).fit(X, y)
    assert "CRFTagger: iteration 1, " in capsys.readouterr().err
