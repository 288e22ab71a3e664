"""The antecedent model: its likelihood, its training and its manners."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from sklearn_calib import (
    AdaptiveBinCalibrationError,
    AntecedentModel,
    Document,
    MentionFeatures,
    calibration_null,
    coreference_scores,
    extended_features,
    link_probabilities,
    make_coref_documents,
    surface_features,
)
from sklearn_calib.coref._encoding import Encoder, Weights
from sklearn_calib.coref._objective import Costs, Objective, antecedent_probabilities

NAME = "neg_adaptive_bin_calibration_error"


@pytest.fixture(scope="module")
def data():
    return make_coref_documents(60, n_sentences=6, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return AntecedentModel().fit(data.documents[:40], data.entities[:40])


def types_and_pairs(document):
    """Features that the simulated documents were made with, and no others."""
    seen = surface_features(document)
    return MentionFeatures(seen.types, pair=seen.pair)


def encoded(documents, features=extended_features, min_count=2, window=None):
    seen = [features(document) for document in documents]
    encoder = Encoder(min_count, window).fit(seen)
    return seen, encoder, [encoder.encode(s) for s in seen]


def literal_scores(seen, encoder, weights, i, a, values):
    """Add up the weights of all features of one choice, one by one; a is None for a new entity."""

    def number(name, mention):
        value = seen.mention[name][mention]
        if value is None:
            return None
        found = values[name].get(f"={value}")
        backoff = seen.backoff.get(name)
        if found is None and backoff is not None:
            found = values[name].get(f"~{backoff[mention]}")
        return found

    def fired(mention):
        found = [0, *(number(name, mention) for name in values)]
        return [f for f in found if f is not None]

    def typed(feature, mention):
        code = feature * encoder.n_types + encoder.types[seen.types[mention]]
        return int(np.flatnonzero(encoder.typed == code)[0])

    total = 0.0
    if a is None:
        for f in fired(i):
            total += weights.new[f] + weights.new_typed[typed(f, i)]
        return total
    t_i, t_a = encoder.types[seen.types[i]], encoder.types[seen.types[a]]
    for f in fired(i):
        total += weights.current[f] + weights.current_typed[typed(f, i), t_a]
    for f in fired(a):
        total += weights.antecedent[f] + weights.antecedent_typed[typed(f, a), t_i]
    offset = 0
    for name, size in encoder.sizes.items():
        p = offset + int(seen.pair[name][i, a])
        total += weights.pair[p] + weights.pair_typed[p, t_i, t_a]
        offset += size
    return total


def test_probabilities_equal_a_literal_sum_of_weights(data):
    documents = data.documents[:5]
    seen, encoder, numbers = encoded(documents)
    vector = np.random.default_rng(0).normal(size=encoder.n_weights)
    weights = Weights.of(vector, encoder)
    for s, document, number in zip(seen, documents, numbers, strict=True):
        proba = antecedent_probabilities(number, encoder, weights)
        for i in range(len(document)):
            scores = [
                literal_scores(s, encoder, weights, i, a, encoder.values) for a in [*range(i), None]
            ]
            odds = np.exp(np.array(scores) - max(scores))
            np.testing.assert_allclose(proba[i, : i + 1], odds / odds.sum(), atol=1e-12)
            assert not proba[i, i + 1 :].any()


@pytest.mark.parametrize("costs", [None, Costs(0.1, 3.0, 1.0)])
@pytest.mark.parametrize("window", [None, 3])
def test_objective_and_gradient(data, costs, window):
    documents = data.documents[:6]
    _, encoder, numbers = encoded(documents, window=window)
    weight = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 3.0])
    entities = [document.entities for document in documents]
    objective = Objective(numbers, entities, encoder, C=0.7, costs=costs, document_weight=weight)
    rng = np.random.default_rng(1)
    vector = 0.3 * rng.normal(size=encoder.n_weights)
    value, gradient = objective(vector)
    # The value, from the probabilities of the model.
    if costs is None:
        loss = 0.0
        weights = Weights.of(vector, encoder)
        for number, entity, w in zip(numbers, entities, weight, strict=True):
            proba = antecedent_probabilities(number, encoder, weights)
            allowed = proba * (np.tri(len(entity), k=-1) if len(entity) else 1)
            right = ((entity[:, None] == entity) * allowed).sum(axis=1)
            near = np.array(
                [
                    any(entity[a] == entity[i] for a in range(max(0, i - (window or i)), i))
                    for i in range(len(entity))
                ]
            )
            loss -= w * np.log(np.where(near, right, np.diag(proba))).sum()
        assert value == pytest.approx(loss + 0.5 / 0.7 * vector @ vector)
    # The gradient, by differences along random directions.
    for _ in range(3):
        direction = rng.normal(size=encoder.n_weights)
        h = 1e-5
        slope = (objective(vector + h * direction)[0] - objective(vector - h * direction)[0]) / (
            2 * h
        )
        assert gradient @ direction == pytest.approx(slope, rel=1e-6)


def test_rows_are_distributions(model, data):
    for document, proba, links in zip(
        data.documents[40:],
        model.predict_antecedent_proba(data.documents[40:]),
        model.predict_proba(data.documents[40:]),
        strict=True,
    ):
        n = len(document)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert not np.triu(proba, 1).any()
        np.testing.assert_allclose(links, link_probabilities(proba))
        assert links.shape == (n, n)


def test_predictions_follow_the_best_antecedent(model, data):
    documents = data.documents[40:]
    for proba, entities in zip(
        model.predict_antecedent_proba(documents), model.predict(documents), strict=True
    ):
        for i, a in enumerate(proba.argmax(axis=1)):
            assert entities[i] == (i if a == i else entities[a])


def test_learns(model, data):
    documents, entities = data.documents[40:], data.entities[40:]
    alone = [np.arange(len(e)) for e in entities]
    assert model.score(documents, entities) > coreference_scores(entities, alone).conll + 0.1


def test_simulated_documents_come_out_calibrated():
    data = make_coref_documents(350, random_state=1)
    model = AntecedentModel(features=types_and_pairs).fit(data.documents[:250], data.entities[:250])
    held_out = data.documents[250:], data.entities[250:]
    null = calibration_null(model, *held_out, n_simulations=60, random_state=0)
    assert null.pvalue > 0.05
    assert null.error < 0.02
    # And it is close to the truth.
    found = model.predict_antecedent_proba(held_out[0])
    gaps = [f - t for f, t in zip(found, data.antecedent_proba[250:], strict=True)]
    assert np.sqrt(np.mean([np.mean(g**2) for g in gaps])) < 0.02
    # Margin costs make it much worse.
    model = AntecedentModel(features=types_and_pairs, cost="durrett-klein")
    model.fit(data.documents[:250], data.entities[:250])
    costly = calibration_null(model, *held_out, n_simulations=60, random_state=0)
    assert costly.error > 3 * null.error
    assert costly.pvalue < 0.05


def test_samples(model, data):
    documents = data.documents[40:43]
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
    documents = [*data.documents[:20], empty, silent, single]
    entities = [*data.entities[:20], [], [], [3]]
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
    documents, entities = data.documents[40:], data.entities[40:]
    every = model.calibration_queries(documents, entities)
    likely = model.calibration_queries(documents, entities, min_proba=0.1)
    assert len(likely) == np.count_nonzero(every.y_prob >= 0.1)
    weight = np.arange(1, 21)
    weighted = model.calibration_queries(documents, entities, sample_weight=weight)
    assert np.array_equal(weighted.sample_weight, weight[weighted.group])
    assert len(model.calibration_queries(documents, None)) == len(every)


def test_model_selection(data):
    documents, entities = data.documents, data.entities
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


def test_clones_and_pickles(model, data):
    again = pickle.loads(pickle.dumps(model))
    a, b = model.predict_proba(data.documents[:3]), again.predict_proba(data.documents[:3])
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    fresh = clone(AntecedentModel(C=0.5, features=["surface", types_and_pairs]))
    assert fresh.C == 0.5
    with pytest.raises(NotFittedError):
        fresh.predict(data.documents)


def test_a_fit_changes_nothing_and_repeats_itself(data):
    documents, entities = data.documents[:15], [e.copy() for e in data.entities[:15]]
    a = AntecedentModel().fit(documents, entities)
    b = AntecedentModel().fit(documents)
    assert np.array_equal(a.coef_, b.coef_)
    assert all(np.array_equal(x, y) for x, y in zip(entities, data.entities, strict=False))
    # Names of entities do not matter.
    c = AntecedentModel().fit(documents, [[f"e{i}" for i in e] for e in entities])
    np.testing.assert_allclose(a.coef_, c.coef_, atol=1e-12)


def test_weights_are_copies(data):
    documents, entities = data.documents[:10], data.entities[:10]
    options = {"min_count": 1, "tol": 1e-8, "max_iter": 500}
    weighted = AntecedentModel(**options).fit(documents, entities, sample_weight=[2] * 5 + [1] * 5)
    copied = AntecedentModel(**options).fit(documents[:5] + documents, entities[:5] + entities)
    for a, b in zip(
        weighted.predict_antecedent_proba(data.documents[10:15]),
        copied.predict_antecedent_proba(data.documents[10:15]),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, atol=0.005)


def test_window_bounds_antecedents(data):
    model = AntecedentModel(max_antecedents=4).fit(data.documents[:20], data.entities[:20])
    for proba in model.predict_antecedent_proba(data.documents[20:25]):
        far = np.tri(len(proba), k=-5, dtype=bool)
        assert not proba[far].any()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_what_training_has_not_seen(model):
    words = ["Zoe", "greeted", "whose", "unicorn", "1984"]
    document = Document("new", words, mentions=[(0, 1), (2, 3), (2, 4), (4, 5)])
    [proba] = model.predict_antecedent_proba([document])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)

    def more(document):
        n = len(document)
        return MentionFeatures(["x"] * n, pair={"far": np.full((n, n), 7)})

    def fewer(document):
        n = len(document)
        return MentionFeatures(["y"] * n, {"w": ["a"] * n}, pair={"far": np.zeros((n, n), int)})

    other = AntecedentModel(features=fewer).fit([document], [[0, 0, 1, 0]])
    other.features = more
    np.testing.assert_allclose(other.predict_antecedent_proba([document])[0].sum(axis=1), 1.0)


def hair(document):
    """A feature that gives the entities away."""
    colour = np.asarray(document.entities)
    return MentionFeatures(
        ["x"] * len(document), pair={"same": (colour[:, None] == colour).astype(int)}
    )


def test_callable_features(data):
    documents, entities = data.documents[:20], data.entities[:20]
    model = AntecedentModel(features=["surface", hair], C=10).fit(documents, entities)
    assert model.score(documents, entities) > 0.95
    assert "he" in model.types_  # those of the first set


def test_verbose_and_convergence(data, capsys):
    documents, entities = data.documents[:10], data.entities[:10]
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = AntecedentModel(max_iter=2, verbose=True).fit(documents, entities)
    assert model.n_iter_ == 2
    assert "iteration 2: objective" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C must be a positive"),
        ({"cost": "free"}, "cost='free' is not known"),
        ({"cost": (1, 2)}, "cost="),
        ({"cost": (1, 2, -3)}, "cost="),
        ({"features": "deep"}, "features='deep' is not known"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"max_antecedents": 0}, "max_antecedents must be at least 1"),
    ],
)
def test_bad_parameters(data, options, message):
    with pytest.raises(ValueError, match=message):
        AntecedentModel(**options).fit(data.documents[:3], data.entities[:3])


def wrong(**parts):
    def features(document):
        n = len(document)
        return MentionFeatures(**{"types": ["x"] * n, **parts})

    return features


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (wrong(types=["x"]), "'simulated-0': feature 'types' must have one entry"),
        (wrong(mention={"w": ["a"]}), "feature 'w' must have one entry"),
        (wrong(pair={"p": np.zeros((1, 1))}), "pair feature 'p' must hold integers"),
    ],
)
def test_bad_features_are_named(data, features, message):
    with pytest.raises(ValueError, match=message):
        AntecedentModel(features=features).fit(data.documents[:3], data.entities[:3])


def test_bad_documents_are_named(model, data):
    with pytest.raises(TypeError, match="X is a single Document"):
        model.predict(data.documents[0])
    with pytest.raises(TypeError, match=r"X\[1\] must be a Document, got str"):
        model.predict([data.documents[0], "text"])
    with pytest.raises(ValueError, match=r"y\[1\], document 'simulated-1', must have one entity"):
        AntecedentModel().fit(data.documents[:2], [data.entities[0], [1]])
    with pytest.raises(ValueError, match="X has 2, y has 1"):
        AntecedentModel().fit(data.documents[:2], data.entities[:1])
    with pytest.raises(ValueError, match="document 'd', has no entities"):
        AntecedentModel().fit([Document("d", ["a"], mentions=[(0, 1)])])
    with pytest.raises(ValueError, match="nothing to learn"):
        AntecedentModel().fit([Document("d", ["a"])])
    with pytest.raises(TypeError, match="a name, a callable"):
        AntecedentModel(features=3).fit(data.documents[:2])


def test_tuning_leaves_a_good_model_alone_and_mends_a_bad_one():
    data = make_coref_documents(200, random_state=2)
    train, test = slice(0, 140), slice(140, 200)
    found = {}
    for cost in (None, "durrett-klein"):
        for link_cv in (None, 2):
            model = AntecedentModel(features=types_and_pairs, cost=cost, link_cv=link_cv)
            model.fit(data.documents[train], data.entities[train])
            queries = model.calibration_queries(data.documents[test], data.entities[test])
            found[cost, link_cv] = model, np.mean((queries.y_prob - queries.y_true) ** 2)
    model, brier = found[None, 2]
    assert 0.8 < model.temperature_ < 1.2
    assert abs(model.new_shift_) < 0.3
    assert brier == pytest.approx(found[None, None][1], rel=0.02)
    # Costs made new entities too rare, and the shift brings them back.
    model, brier = found["durrett-klein", 2]
    assert model.new_shift_ > 0.5
    assert brier < 0.95 * found["durrett-klein", None][1]
    for proba in model.predict_antecedent_proba(data.documents[test]):
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_tuning_needs_documents(data):
    with pytest.raises(ValueError, match="link_cv=5 needs as many documents, but there are 3"):
        AntecedentModel(link_cv=5).fit(data.documents[:3], data.entities[:3])
    with pytest.raises(ValueError, match="link_cv must be at least 2"):
        AntecedentModel(link_cv=1).fit(data.documents[:3], data.entities[:3])


def test_repetitions_are_counted():
    words = ["Ada", "saw", "Bob", "and", "Ada", "and", "ada", "and", "she"]
    mentions = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
    seen = extended_features(Document("d", words, mentions=mentions))
    assert seen.mention["earlier"].tolist() == ["0", "0", "1", "2", "0"]
    assert seen.mention["later"].tolist() == ["2", "0", "1", "0", "0"]
