"""Maps from a model's probability to the chance of truth."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from sklearn_calib.explore._probability_map import _log_beta_prime, draw_maps

ASKED = np.array([0.0, 0.01, 0.1, 0.3, 0.5, 0.69, 0.9, 0.99, 1.0])

TRUTHS = {
    "calibrated": lambda p: p,
    "overconfident": lambda p: expit(logit(p) / 1.6),
    "underconfident": lambda p: expit(logit(p) * 1.6),
    "shifted": lambda p: expit(logit(p) - 1.0),
    "missed": lambda p: 0.02 + 0.98 * p,
    "capped": lambda p: np.minimum(p, 0.7),
    "missed and capped": lambda p: 0.05 + 0.6 * p,
    "step": lambda p: np.where(p < 0.5, 0.3 * p, 0.5 + 0.5 * p),
}


def _answers(rng, n, truth):
    p = expit(rng.normal(-0.5, 2.5, n))
    return p, (rng.random(n) < truth(p)).astype(int)


@pytest.mark.parametrize("name", TRUTHS)
def test_many_answers_show_the_map(name):
    rng = np.random.default_rng(0)
    p, y = _answers(rng, 40_000, TRUTHS[name])
    maps = draw_maps(p, y, n_draws=300, rng=rng)
    asked = np.array([0.02, 0.1, 0.3, 0.6, 0.8, 0.95])
    assert np.abs(maps.chance(asked).mean(axis=0) - TRUTHS[name](asked)).max() < 0.04


def test_the_order_of_answers_does_not_matter():
    p, y = _answers(np.random.default_rng(1), 80, TRUTHS["calibrated"])
    order = np.random.default_rng(2).permutation(80)
    one, two = (
        draw_maps(p[rows], y[rows], n_draws=50, rng=np.random.default_rng(3))
        for rows in (np.arange(80), order)
    )
    assert np.allclose(one.chance(ASKED), two.chance(ASKED))


@pytest.mark.parametrize("answer", [[0], [1], [0] * 50, [1] * 50, [0, 1] * 10])
@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_chances_are_probabilities_for_any_answers(answer, probability):
    p = np.full(len(answer), probability)
    maps = draw_maps(p, answer, n_draws=40, rng=np.random.default_rng(0))
    chance = maps.chance(ASKED)
    assert chance.shape == (40, len(ASKED))
    assert np.all((chance > 0.0) & (chance < 1.0))
    assert maps.n_answers == len(answer)


def test_answers_pull_the_map_their_way():
    def middle(answer):
        maps = draw_maps(np.full(50, 0.3), answer, n_draws=200, rng=np.random.default_rng(0))
        return maps.chance([0.3]).mean()

    assert middle([0] * 50) < 0.1 < 0.9 < middle([1] * 50)


def test_missed_events_are_thought_of_relative_to_the_frequency():
    p, y = np.full(30, 0.001), np.zeros(30)
    rare, common = (
        draw_maps(p, y, frequency=[f], n_draws=400, rng=np.random.default_rng(0)).chance([0.0])
        for f in (0.001, 0.2)
    )
    assert rare.mean() < 0.3 * common.mean()


def test_keys_share_strength_and_may_differ():
    rng = np.random.default_rng(4)
    n, n_keys = 4000, 5
    key = rng.integers(4, size=n)
    p = expit(rng.normal(-1.0, 2.0, n))
    shift = np.array([-1.5, -1.5, -1.5, 0.5, 0.0])
    y = rng.random(n) < expit(logit(p) + shift[key])
    maps = draw_maps(p, y, key=key, n_keys=n_keys, n_draws=300, rng=rng)
    chance = np.array([maps.chance([0.5], [k])[:, 0] for k in range(n_keys)])
    assert np.allclose(chance.mean(axis=1)[:4], expit(shift[:4]), atol=0.07)
    # The fifth key has no answer: it is like the others, but less sure.
    assert chance[4].std() > 2.0 * chance[:4].std(axis=1).max()
    assert 0.15 < chance[4].mean() < 0.5


def test_all_keys_are_asked_at_once():
    rng = np.random.default_rng(5)
    p, y = _answers(rng, 200, TRUTHS["calibrated"])
    maps = draw_maps(p, y, key=np.arange(200) % 3, n_keys=3, n_draws=30, rng=rng)
    together = maps.chance([0.2, 0.2, 0.7], [2, 0, 1])
    assert np.allclose(together[:, 0], maps.chance([0.2], [2])[:, 0])
    assert np.allclose(together[:, 2], maps.chance([0.7], [1])[:, 0])


def test_summary_tells_what_is_wrong():
    rng = np.random.default_rng(6)
    p, y = _answers(rng, 3000, TRUTHS["missed and capped"])
    summary = draw_maps(p, y, frequency=[p.mean()], n_draws=300, rng=rng).summary()
    assert set(summary) == {"slope", "intercept", "floor", "cap"}
    for mean, low, high in summary.values():
        assert low <= mean <= high
    assert summary["floor"][1] < 0.05 < summary["floor"][2]
    assert summary["cap"][1] < 0.65 < summary["cap"][2]


@pytest.mark.parametrize("name", ["overconfident", "capped", "step"])
def test_intervals_of_totals_hold(name):
    held = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 11])
        p, y = _answers(rng, 1000, TRUTHS[name])
        maps = draw_maps(p[:100], y[:100], frequency=[p.mean()], n_draws=200, rng=rng)
        chance = maps.chance(p[100:])
        total = y[:100].sum() + (rng.random(chance.shape) < chance).sum(axis=1)
        low, high = np.quantile(total, [0.025, 0.975])
        held += low <= y.sum() <= high
    # Three standard errors below 95 %.
    assert held / 40 >= 0.85


def test_the_prior_of_the_floor_is_beta_prime():
    z = np.array([-6.0, -2.0, -0.3, 0.0, 0.3, 2.0, 6.0])
    law = stats.betaprime(0.5, 0.5)
    quantiles = np.log(law.ppf(stats.norm.cdf(z[:5])))
    np.testing.assert_allclose(_log_beta_prime(z[:5]), quantiles, atol=1e-12)
    np.testing.assert_allclose(_log_beta_prime(-z), -_log_beta_prime(z))
    assert np.isfinite(_log_beta_prime(np.array([-60.0, 60.0]))).all()


@pytest.mark.parametrize("n", [40, 120])
def test_a_floor_is_neither_ruled_out_nor_taken_for_granted(n):
    """Documents without a trace, none of which has an event: Jeffreys' interval is the guide."""
    maps = draw_maps(np.zeros(n), np.zeros(n), n_draws=2000, rng=np.random.default_rng(0))
    low, high = np.quantile(maps.chance([0.0])[:, 0], [0.025, 0.975])
    jeffreys = stats.beta(0.5, n + 0.5).ppf(0.975)
    assert low < 0.1 / n
    assert 0.6 * jeffreys < high < 1.1 * jeffreys
