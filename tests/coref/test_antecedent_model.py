"""The antecedent model: its likelihood, its training and its manners."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from sklearn_calib import AdaptiveBinCalibrationError, calibration_null
from sklearn_calib.coref import (
    AntecedentModel,
    Document,
    MentionFeatures,
    coreference_scores,
    link_probabilities,
)
from sklearn_calib.datasets import make_coref_documents
from tests.coref.documents import types_and_pairs

NAME = "neg_adaptive_bin_calibration_error"


def test_rows_are_distributions(model, data):
    for document, proba, links in zip(
        data.X[40:],
        model.predict_antecedent_proba(data.X[40:]),
        model.predict_proba(data.X[40:]),
        strict=True,
    ):
        n = len(document)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert not np.triu(proba, 1).any()
        np.testing.assert_allclose(links, link_probabilities(proba))
        assert links.shape == (n, n)


def test_predictions_follow_the_best_antecedent(model, data):
    documents = data.X[40:]
    for proba, entities in zip(
        model.predict_antecedent_proba(documents), model.predict(documents), strict=True
    ):
        for i, a in enumerate(proba.argmax(axis=1)):
            assert entities[i] == (i if a == i else entities[a])


def test_learns(model, data):
    documents, entities = data.X[40:], data.y[40:]
    alone = [np.arange(len(e)) for e in entities]
    assert (
        model.score(documents, entities)
        > coreference_scores(entities, alone, same_mentions=True).conll + 0.1
    )


def test_simulated_documents_come_out_calibrated():
    data = make_coref_documents(350, random_state=1)
    model = AntecedentModel(features=types_and_pairs).fit(data.X[:250], data.y[:250])
    held_out = data.X[250:], data.y[250:]
    null = calibration_null(model, *held_out, n_simulations=60, random_state=0)
    assert null.pvalue > 0.05
    assert null.error < 0.02
    # And it is close to the truth.
    found = model.predict_antecedent_proba(held_out[0])
    gaps = [f - t for f, t in zip(found, data.antecedent_proba[250:], strict=True)]
    assert np.sqrt(np.mean([np.mean(g**2) for g in gaps])) < 0.02
    # Margin costs make it much worse.
    model = AntecedentModel(features=types_and_pairs, cost="durrett-klein")
    model.fit(data.X[:250], data.y[:250])
    costly = calibration_null(model, *held_out, n_simulations=60, random_state=0)
    assert costly.error > 3 * null.error
    assert costly.pvalue < 0.05


def test_samples(model, data):
    documents = data.X[40:43]
    samples = model.sample(documents, 2000, random_state=0)
    again = model.sample(documents, 2000, random_state=0)
    for document, s, t, links in zip(
        documents, samples, again, model.predict_proba(documents), strict=True
    ):
        assert s.shape == (2000, len(document))
        assert np.array_equal(s, t)
        share = np.mean(s[:, :, None] == s[:, None, :], axis=0)
        assert np.abs(share - links).max() < 5 * 0.5 / np.sqrt(2000)


def test_short_documents_are_no_problem(data):
    empty = Document("empty", [], entities=[])
    silent = Document("silent", ["Rain", "."])
    single = Document("single", ["Ada", "slept"], mentions=[(0, 1)], entities=[0])
    documents = [*data.X[:20], empty, silent, single]
    entities = [*data.y[:20], [], [], [3]]
    model = AntecedentModel().fit(documents, entities)
    assert [p.shape for p in model.predict_proba([empty, silent, single])] == [
        (0, 0),
        (0, 0),
        (1, 1),
    ]
    assert [p.tolist() for p in model.predict([empty, single])] == [[], [0]]
    assert model.sample([empty, single], 2)[0].shape == (2, 0)
    assert len(model.calibration_queries([empty, single], [[], [0]])) == 0
    queries = model.calibration_queries(documents, entities)
    assert set(queries.group) <= set(range(20))


def test_queries_take_options(model, data):
    documents, entities = data.X[40:], data.y[40:]
    every = model.calibration_queries(documents, entities)
    likely = model.calibration_queries(documents, entities, min_proba=0.1)
    assert len(likely) == np.count_nonzero(every.y_prob >= 0.1)
    weight = np.arange(1, 21)
    weighted = model.calibration_queries(documents, entities, sample_weight=weight)
    assert np.array_equal(weighted.sample_weight, weight[weighted.group])
    assert len(model.calibration_queries(documents, None)) == len(every)


def test_model_selection(data):
    documents, entities = data.X, data.y
    scores = cross_val_score(AntecedentModel(), documents, entities, scoring=NAME, cv=3)
    assert scores.shape == (3,)
    assert ((scores > -0.5) & (scores < 0)).all()
    grid = GridSearchCV(AntecedentModel(), {"C": [0.01, 0.3]}, scoring=NAME, cv=2)
    grid.fit(documents, entities)
    assert grid.best_params_["C"] in (0.01, 0.3)
    found = cross_validate(
        AntecedentModel(), documents, entities, cv=2, scoring=AdaptiveBinCalibrationError(n_bins=5)
    )
    assert np.isfinite(found["test_score"]).all()


@pytest.mark.parametrize(("end", "option"), [("top_label", "average"), ("tag_pair", "unit")])
def test_scorers_of_tags_do_not_apply_to_links(model, data, end, option):
    with pytest.raises(TypeError, match=f"^{option}=.* does not apply to AntecedentModel"):
        get_scorer(f"{NAME}_{end}")(model, data.X, data.y)


def test_clones_and_pickles(model, data):
    again = pickle.loads(pickle.dumps(model))
    a, b = model.predict_proba(data.X[:3]), again.predict_proba(data.X[:3])
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    fresh = clone(AntecedentModel(C=0.5, features=["surface", types_and_pairs]))
    assert fresh.C == 0.5
    with pytest.raises(NotFittedError):
        fresh.predict(data.X)


def test_a_fit_changes_nothing_and_repeats_itself(data):
    documents, entities = data.X[:15], [e.copy() for e in data.y[:15]]
    a = AntecedentModel().fit(documents, entities)
    b = AntecedentModel().fit(documents)
    assert np.array_equal(a.coef_, b.coef_)
    assert all(np.array_equal(x, y) for x, y in zip(entities, data.y, strict=False))
    # Names of entities do not matter.
    c = AntecedentModel().fit(documents, [[f"e{i}" for i in e] for e in entities])
    np.testing.assert_allclose(a.coef_, c.coef_, atol=1e-12)


@pytest.mark.parametrize("min_count", [1, 8])
def test_weights_are_copies(data, min_count):
    documents, entities = data.X[:10], data.y[:10]
    model = AntecedentModel(min_count=min_count)
    rare = Document("rare", ["Zoe", "thanked", "whose", "cat"], mentions=[(0, 1), (2, 3)])
    weighted = clone(model).fit(
        [*documents, rare], [*entities, [0, 0]], sample_weight=[2] * 5 + [1] * 5 + [0]
    )
    copied = clone(model).fit(documents[:5] + documents, entities[:5] + entities)
    assert weighted.types_ == copied.types_
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-9)


def test_weight_without_mentions(data):
    documents = [data.X[0], Document("silent", ["Rain"])]
    with pytest.raises(ValueError, match="No document in X with a positive weight has a mention"):
        AntecedentModel().fit(documents, [data.y[0], []], sample_weight=[0, 1])


def test_a_fit_that_fails_leaves_the_model_as_it_was(data):
    documents, entities = data.X[:6], data.y[:6]
    model = AntecedentModel()

    def fail():
        model.set_params(cost=(0, 1000, 0))
        with pytest.raises(ValueError, match="Training failed"):
            model.fit(documents[3:], entities[3:])

    fail()
    with pytest.raises(NotFittedError):
        model.predict(documents)
    before = dict(vars(model.set_params(cost="durrett-klein").fit(documents, entities)))
    fail()
    assert all(vars(model)[name] is before[name] for name in before if name != "cost")


def test_parameters_set_after_a_fit_change_no_prediction(data):
    model = AntecedentModel(features="extended").fit(data.X[:6])
    before = model.predict_proba(data.X[6:7])[0]
    model.set_params(features="surface", max_antecedents=1)
    assert np.array_equal(model.predict_proba(data.X[6:7])[0], before)


def test_window_bounds_antecedents(data):
    model = AntecedentModel(max_antecedents=4).fit(data.X[:20], data.y[:20])
    for proba in model.predict_antecedent_proba(data.X[20:25]):
        far = np.tri(len(proba), k=-5, dtype=bool)
        assert not proba[far].any()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_what_training_has_not_seen(model):
    words = ["Zoe", "greeted", "whose", "unicorn", "1984"]
    document = Document("new", words, mentions=[(0, 1), (2, 3), (2, 4), (4, 5)])
    [proba] = model.predict_antecedent_proba([document])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)

    def other(document):
        n = len(document)
        if document.id == "new":
            return MentionFeatures(["x"] * n, pair={"far": np.full((n, n), 7)})
        return MentionFeatures(["y"] * n, {"w": ["a"] * n}, pair={"far": np.zeros((n, n), int)})

    model = AntecedentModel(features=other).fit([document.replace(id="old")], [[0, 0, 1, 0]])
    np.testing.assert_allclose(model.predict_antecedent_proba([document])[0].sum(axis=1), 1.0)


def test_verbose_and_convergence(data, capsys):
    documents, entities = data.X[:10], data.y[:10]
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = AntecedentModel(max_iter=2, verbose=True).fit(documents, entities)
    assert model.n_iter_ == 2
    assert "iteration 2: objective" in capsys.readouterr().out


def test_training_that_stops_early_is_reported(data, monkeypatch):
    def stopped(*args, **options):
        result = minimize(*args, **options)
        result.status, result.message = 2, "ABNORMAL"
        return result

    monkeypatch.setattr("sklearn_calib.coref._antecedent_model.minimize", stopped)
    with pytest.warns(ConvergenceWarning, match=r"stopped early, after \d+ iterations.*ABNORMAL"):
        AntecedentModel().fit(data.X[:3], data.y[:3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C must be a positive"),
        ({"C": np.inf}, "C must be a positive finite number, got inf"),
        ({"tol": -1}, "tol must be a finite number from 0, got -1"),
        ({"cost": (0, 1000, 0)}, r"Training failed: .*lower cost=\(0, 1000, 0\) or C=0.2"),
        ({"cost": "free"}, "cost='free' is not known"),
        ({"cost": (1, 2)}, "cost="),
        ({"cost": (1, 2, -3)}, "cost="),
        ({"features": "deep"}, "features='deep' is not known"),
        ({"features": []}, "features is empty"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"max_antecedents": 0}, "max_antecedents must be at least 1"),
    ],
)
def test_bad_parameters(data, options, message):
    with pytest.raises(ValueError, match=message):
        AntecedentModel(**options).fit(data.X[:3], data.y[:3])


@pytest.mark.parametrize("options", [{"C": None}, {"tol": "x"}])
def test_parameters_that_are_no_numbers(data, options):
    with pytest.raises(TypeError, match=r"must be a .*finite number"):
        AntecedentModel(**options).fit(data.X[:3], data.y[:3])


def test_bad_documents_are_named(model, data):
    with pytest.raises(TypeError, match="X is a single Document"):
        model.predict(data.X[0])
    with pytest.raises(TypeError, match=r"X\[1\] must be a Document, got str"):
        model.predict([data.X[0], "text"])
    with pytest.raises(ValueError, match=r"y\[1\], document 'simulated-1', must have one entity"):
        AntecedentModel().fit(data.X[:2], [data.y[0], [1]])
    with pytest.raises(ValueError, match="X has 2, y has 1"):
        AntecedentModel().fit(data.X[:2], data.y[:1])
    with pytest.raises(ValueError, match="document 'd', has no entities"):
        AntecedentModel().fit([Document("d", ["a"], mentions=[(0, 1)])])
    with pytest.raises(ValueError, match="nothing to learn"):
        AntecedentModel().fit([Document("d", ["a"])])
    with pytest.raises(TypeError, match=r"y\[0\], document 'simulated-0', must be a sequence"):
        AntecedentModel().fit(data.X[:2], [0, 1])
    with pytest.raises(TypeError, match="a name, a callable"):
        AntecedentModel(features=3).fit(data.X[:2])


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, X, y: model.predict(X),
        lambda model, X, y: model.predict_proba(X),
        lambda model, X, y: model.predict_antecedent_proba(X),
        lambda model, X, y: model.sample(X, 2),
        lambda model, X, y: model.score(X, y),
        lambda model, X, y: model.calibration_questions(X),
        lambda model, X, y: model.calibration_queries(X, y),
    ],
)
def test_a_model_that_is_not_fitted_says_so(data, ask):
    with pytest.raises(NotFittedError):
        ask(AntecedentModel(), data.X[:2], data.y[:2])


def test_one_prediction_serves_any_truth(model, data, monkeypatch):
    documents, entities = data.X[40:], data.y[40:]
    questions = model.calibration_questions(documents, min_proba=0.05)
    best = model.predict(documents)
    expected = [
        model.calibration_queries(documents, truth, min_proba=0.05) for truth in (entities, best)
    ]
    monkeypatch.setattr(AntecedentModel, "_antecedents", None)  # from here on it cannot predict
    for truth, queries in zip((entities, best), expected, strict=True):
        answered = questions.answer(truth)
        np.testing.assert_array_equal(answered.y_true, queries.y_true)
        np.testing.assert_array_equal(answered.y_prob, queries.y_prob)
        np.testing.assert_array_equal(answered.group, queries.group)
    with pytest.raises(ValueError, match="y must have one entry for each of the 20 documents"):
        questions.answer(entities[:2])
    with pytest.raises(ValueError, match=r"y\[1\], document 'simulated-41', must have one entity"):
        questions.answer([entities[0], [1], *entities[2:]])


def test_links_of_the_model_are_not_checked_again(model, data, monkeypatch):
    monkeypatch.setattr("sklearn_calib.queries._links.check_link_proba", None)
    monkeypatch.setattr("sklearn_calib.coref._clusters.check_antecedent_proba", None)
    assert len(model.calibration_queries(data.X[40:], data.y[40:]))
    assert model.score(data.X[40:], data.y[40:]) > 0
