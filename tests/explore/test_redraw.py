"""Counts that are drawn again: exact laws, dependence within documents, bounded groups."""

import numpy as np
import pytest

import sklearn_calib.explore._redraw as redraw
from sklearn_calib.explore import count_documents, counts_from_probabilities
from tests.explore.pairs import document, samples, two_keys


def same(n_draws):
    """Return the map that leaves probabilities as they are."""

    def chance(probability, key):
        return np.tile(probability, (n_draws, 1))

    return chance


def drawn_law(draws):
    values, often = np.unique(draws, return_counts=True)
    return dict(zip(values.tolist(), (often / len(draws)).tolist(), strict=True))


def test_without_a_change_the_law_is_the_exact_one():
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(6), [0.5] * 4])
    post = counts_from_probabilities(p, period=["a"] * 5 + ["b"] * 5)
    n = 40_000
    found = redraw.redrawn(post, np.ones(10, dtype=bool), same(n), n, rng)
    np.testing.assert_allclose(found.mean, post.mean)
    np.testing.assert_allclose(found.hit_chance, p)
    np.testing.assert_allclose(found.map_variance, 0.0, atol=1e-9)
    np.testing.assert_allclose(found.own_variance, [(p * (1 - p)).sum()])
    for period in range(2):
        exact = np.ones(1)
        for q in p[5 * period : 5 * period + 5]:
            exact = np.convolve(exact, [1 - q, q])
        law = drawn_law(found.draws[:, period, 0])
        for value, chance in enumerate(exact):
            # Within four standard errors.
            assert law.get(value, 0.0) == pytest.approx(
                chance, abs=4 * np.sqrt(chance * (1 - chance) / n) + 1e-12
            )


def test_documents_that_the_model_ruled_out_may_be_found():
    post = counts_from_probabilities(
        [[0.5, 0.0]] * 10, period=["a"] * 4 + ["b"] * 6, keys=["x", "y"], sample_weight=[2.0] * 10
    )
    n = 4_000

    def chance(probability, key):
        return np.tile(np.where(probability == 0.0, 0.1, 0.7), (n, 1))

    unread = np.ones(10, dtype=bool)
    unread[0] = False
    found = redraw.redrawn(post, unread, chance, n, np.random.default_rng(0))
    np.testing.assert_allclose(found.mean, [[2 * 3 * 0.7, 2 * 3 * 0.1], [2 * 6 * 0.7, 2 * 6 * 0.1]])
    np.testing.assert_allclose(found.draws.mean(axis=0), found.mean, rtol=0.1)
    np.testing.assert_allclose(found.missed_chance, 0.1)
    assert found.hit_chance[0] == 0.0  # it was read
    assert set(np.unique(found.draws)) <= set(np.arange(0.0, 13.0, 2.0))
    assert found.draws[:, 0].max() == 6.0


@pytest.mark.parametrize("after", [0.25, 0.5, 0.8])
def test_keys_of_a_document_still_go_together(after):
    docs = [document(str(i)) for i in range(30)]
    post = count_documents(docs, [samples(0.5)] * 30, two_keys, keys=["A", "B"])
    n = 4_000

    def chance(probability, key):
        return np.full((n, len(probability)), after)

    found = redraw.redrawn(post, np.ones(30, dtype=bool), chance, n, np.random.default_rng(0))
    a, b = found.draws[:, 0].T
    assert a.mean() == pytest.approx(30 * after, abs=0.2)
    assert a.var() == pytest.approx(30 * after * (1 - after), rel=0.1)
    # The model's own draws agree always. What is changed after them is changed key by key.
    both = {0.25: 0.5 * 0.25, 0.5: 0.5, 0.8: 0.5 + 0.5 * 0.36}[after]
    assert np.cov(a, b)[0, 1] == pytest.approx(30 * (both - after**2), abs=0.6)


def test_keys_that_exclude_each_other_still_do():
    rng = np.random.default_rng(1)
    proba = rng.dirichlet([1, 1, 1], size=40)
    post = counts_from_probabilities(proba, period=None, keys=list("ABC"))
    n = 5_000
    found = redraw.redrawn(post, np.ones(40, dtype=bool), same(n), n, rng)
    np.testing.assert_array_equal(found.draws.sum(axis=2), 40)
    cov = np.cov(found.draws[:, 0].T)
    np.testing.assert_allclose(cov[0, 1], -(proba[:, 0] * proba[:, 1]).sum(), atol=0.4)


def test_parts_and_levels_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    p = rng.beta(0.3, 1.0, size=3_000)
    post = counts_from_probabilities(p, period=rng.choice(["a", "b", "c"], 3_000))
    unread = rng.random(3_000) < 0.9
    n = 400
    slope = np.exp(0.2 * rng.standard_normal(n))

    def chance(probability, key):
        return probability[np.newaxis] ** slope[:, np.newaxis]

    exact = (p[np.newaxis] ** slope[:, np.newaxis])[:, unread]
    at = post.document_period[unread]
    expected = np.stack([exact[:, at == i].sum(axis=1) for i in range(3)], axis=1)
    for parts in (redraw._PART, 20_000):
        monkeypatch.setattr(redraw, "_PART", parts)
        found = redraw.redrawn(post, unread, chance, n, np.random.default_rng(0))
        np.testing.assert_allclose(found.mean[:, 0], expected.mean(axis=0), rtol=1e-3)
        np.testing.assert_allclose(found.map_variance[0], expected.sum(axis=1).var(), rtol=1e-2)
        own = (exact * (1 - exact)).mean(axis=0).sum()
        np.testing.assert_allclose(found.own_variance, own, rtol=1e-2)
        whole = found.draws.sum(axis=(1, 2))
        assert whole.var() == pytest.approx(own + found.map_variance[0], rel=0.25)


def test_too_many_draws_within_documents_are_drawn_key_by_key(monkeypatch):
    docs = [document(str(i)) for i in range(30)]
    post = count_documents(docs, [samples(0.5)] * 30, two_keys, keys=["A", "B"])
    monkeypatch.setattr(redraw, "_MOST_JOINT", 10)
    found = redraw.redrawn(
        post, np.ones(30, dtype=bool), same(2_000), 2_000, np.random.default_rng(0)
    )
    a, b = found.draws[:, 0].T
    assert abs(np.cov(a, b)[0, 1]) < 1.0
    assert a.var() == pytest.approx(7.5, rel=0.15)
