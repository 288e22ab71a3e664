"""Local logistic regression: its estimating equations, its standard errors and its limits."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._inference._fine_bins import fine_bins
from sklearn_calib.metrics._inference._local_fit import (
    _PRIOR_SD,
    choose_bandwidth,
    grouped_bins,
    local_logistic,
    odds_limits,
    smooth_fit,
)


def binomial(seed, g, m=40, size=200):
    """Return log-odds, numbers and answers of bins whose truth is expit(x + g(x))."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-3.0, 3.0, m)
    n = np.full(m, float(size))
    return x, n, rng.binomial(size, special.expit(x + g(x))).astype(float)


@pytest.mark.parametrize("degree", [1, 2])
def test_each_fit_maximises_its_local_likelihood(degree):
    x, n, yes = binomial(0, lambda x: 0.5 * np.sin(x))
    fit = local_logistic(x, n, yes, 0.8, degree)
    for i in (0, 13, 39):
        scaled = (x - x[i]) / 0.8
        kernel = np.exp(-0.5 * scaled**2)
        powers = np.stack([scaled**k for k in range(degree + 1)])

        def loss(beta, kernel=kernel, powers=powers):
            eta = x + beta @ powers
            prior = 0.5 * np.sum((beta / np.array(_PRIOR_SD[: degree + 1])) ** 2)
            return prior - (kernel * (yes * eta - n * np.logaddexp(0.0, eta))).sum()

        options = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4000}
        start = np.zeros(degree + 1)
        best = optimize.minimize(loss, start, method="Nelder-Mead", options=options)
        assert fit.g[i] == pytest.approx(best.x[0], abs=1e-4)
        assert fit.p[i] == pytest.approx(special.expit(x[i] + best.x[0]), abs=1e-4)
        assert fit.number[i] == pytest.approx(kernel @ n)


def test_a_straight_line_is_not_bent():
    # Log-odds that are shifted and stretched are in the model, whatever the bandwidth.
    x = np.linspace(-2.0, 2.0, 30)
    n = np.full(30, 1e7)
    yes = n * special.expit(0.4 + 0.6 * x)
    for bandwidth in (0.3, 1.0, 4.0):
        fit = local_logistic(x, n, yes, bandwidth, 1)
        np.testing.assert_allclose(fit.p, special.expit(0.4 + 0.6 * x), rtol=0, atol=1e-5)


def test_standard_errors_are_those_of_repetitions():
    fits = []
    for seed in range(150):
        x, n, yes = binomial(seed, lambda x: 0.3 * x)
        fit = local_logistic(x, n, yes, 0.8, 1)
        fits.append((fit.g, fit.se))
    found = np.std([g for g, _ in fits], axis=0, ddof=1)
    said = np.mean([se for _, se in fits], axis=0)
    # The standard deviation of 150 numbers is known to 6 %; forty of them are compared.
    np.testing.assert_allclose(said, found, rtol=0.25)


def test_influence_says_how_an_answer_moves_the_fit():
    x, n, yes = binomial(1, np.zeros_like)
    fit = local_logistic(x, n, yes, 1.0, 1)
    more = yes.copy()
    more[20] += 0.01
    moved = local_logistic(x, n, more, 1.0, 1, fit.g)
    np.testing.assert_allclose((moved.g - fit.g) / 0.01, fit.influence[:, 20], atol=2e-5)


def test_a_stretch_without_a_yes_has_a_finite_fit():
    x = np.linspace(-6.0, 0.0, 20)
    fit = local_logistic(x, np.full(20, 5.0), np.zeros(20), 0.5, 2)
    assert np.isfinite(fit.g).all()
    assert (fit.se > 0.5).all()
    assert (fit.p < special.expit(x)).all()


def test_bandwidth_follows_the_shape_of_the_truth():
    rng = np.random.default_rng(0)
    q = special.expit(rng.normal(size=20_000) * 1.5)
    straight = rng.random(20_000) < special.expit(0.7 * special.logit(q))
    wavy = rng.random(20_000) < special.expit(special.logit(q) + np.sin(4.0 * special.logit(q)))
    widths = []
    for y in (straight, wavy):
        bins = fine_bins(sort_queries(Queries(y, q)), 200)
        widths.append(choose_bandwidth(bins) / bins.spread)
    assert widths[0] > 1.0
    assert widths[1] < 0.4


def test_one_prediction_has_some_bandwidth():
    bins = fine_bins(sort_queries(Queries([0, 1, 1, 0], [0.4] * 4)), 10)
    assert choose_bandwidth(bins) == 1.0


def test_limits_of_many_answers_are_normal():
    centre, se = np.array([0.3]), np.array([0.004])
    low, high = odds_limits(centre, se, np.array([1e9]), 1.96)
    np.testing.assert_allclose(low, special.expit(0.3 - 1.96 * 0.004), rtol=1e-9)
    np.testing.assert_allclose(high, special.expit(0.3 + 1.96 * 0.004), rtol=1e-9)


@pytest.mark.parametrize("yes", [1, 3, 12])
def test_limits_of_few_answers_are_exact(yes):
    # A fit that knows nothing but n answers has the limits of Clopper and Pearson.
    n = 40.0
    p = yes / n
    centre, se = np.array([special.logit(p)]), np.array([1.0 / np.sqrt(n * p * (1.0 - p))])
    z = stats.norm.ppf(0.975)
    low, high = odds_limits(centre, se, np.array([n]), z)
    exact = stats.binomtest(yes, int(n)).proportion_ci(0.95, method="exact")
    np.testing.assert_allclose([low[0], high[0]], [exact.low, exact.high], rtol=1e-9)
    jeffreys = stats.beta.ppf([0.025, 0.975], yes + 0.5, n - yes + 0.5)
    low, high = odds_limits(centre, se, np.array([n]), z, prior=0.5)
    np.testing.assert_allclose([low[0], high[0]], jeffreys, rtol=1e-9)


def test_limits_hold_the_curve_and_widen_with_groups():
    sample = make_queries(2000, group_size=20, dependence=0.5, random_state=0)
    queries = sample.queries
    free = smooth_fit(sort_queries(queries), 1.0)
    bound = smooth_fit(sort_queries(queries, units=queries.units), 1.0)
    widths = []
    for fit in (free, bound):
        low, high = fit.limits(1.96)
        assert (low <= fit.curve.p).all()
        assert (fit.curve.p <= high).all()
        assert fit.bandwidth == 1.0
        widths.append(np.mean(high - low))
    assert widths[1] > 1.3 * widths[0]


def test_grouped_bins_count_for_less():
    sample = make_queries(2000, group_size=20, dependence=0.5, random_state=0)
    free = grouped_bins(sort_queries(sample.queries), 50)
    bound = grouped_bins(sort_queries(sample.queries, units=sample.queries.units), 50)
    np.testing.assert_allclose(free.q, bound.q)
    assert bound.n.sum() < 0.7 * free.n.sum()
    assert (bound.n <= free.n).all()
