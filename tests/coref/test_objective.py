"""The likelihood of the true entities, its gradient and its work."""

import numpy as np
import pytest

from sklearn_calib.coref import extended_features
from sklearn_calib.coref._encoding import Encoder, Weights
from sklearn_calib.coref._objective import Costs, Objective, antecedent_probabilities
from sklearn_calib.datasets import make_coref_documents


@pytest.fixture(scope="module")
def data():
    return make_coref_documents(6, n_sentences=6, random_state=0)


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
    documents = data.X[:5]
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
    documents = data.X[:6]
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


def test_window_bounds_the_work_of_training():
    [document] = make_coref_documents(1, n_sentences=200, random_state=0).X
    _, encoder, numbers = encoded([document], window=5)
    objective = Objective(numbers, [document.entities], encoder, C=1.0, costs=None)
    assert len(objective.codes) <= len(document) * (64 + 5)
