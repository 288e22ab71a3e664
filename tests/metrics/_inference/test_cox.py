"""Cox's slope and intercept."""

import math

import numpy as np
import pytest
from scipy import special
from sklearn.linear_model import LogisticRegression

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._cox import CoxFit, fit_cox


def tilted(n, intercept, slope, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, n)
    return Queries(rng.random(n) < special.expit(intercept + slope * x), special.expit(x))


# scikit-learn 1.8 takes C=inf for penalty=None, and warns that this ignores C.
@pytest.mark.filterwarnings("ignore:Setting penalty=None will ignore the C")
def test_both_fits_are_logistic_regression():
    queries = tilted(3000, 0.3, 0.7, 0)
    x = special.logit(queries.y_prob)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(x[:, None], queries.y_true)
    profile = fit_cox(queries)
    wald = fit_cox(queries.with_groups(np.arange(3000) // 2))
    for fit in (profile, wald):
        assert fit.intercept == pytest.approx(model.intercept_[0], abs=1e-3)
        assert fit.slope == pytest.approx(model.coef_[0, 0], abs=1e-3)
    assert wald.slope_limits == pytest.approx(profile.slope_limits, abs=0.03)
    assert wald.intercept_limits == pytest.approx(profile.intercept_limits, abs=0.03)


@pytest.mark.parametrize("n", [60, 400])
def test_limits_cover(n):
    held = np.zeros(2)
    for seed in range(200):
        fit = fit_cox(tilted(n, 0.4, 0.8, seed))
        held += [
            fit.intercept_limits[0] <= 0.4 <= fit.intercept_limits[1],
            fit.slope_limits[0] <= 0.8 <= fit.slope_limits[1],
        ]
    # The standard error is 1.5 %.
    assert (held / 200 >= 0.9).all()
    assert (held / 200).min() <= 0.99


def test_limits_of_groups_are_wider():
    sample = make_queries(2000, a=2, b=2, group_size=20, dependence=0.8, random_state=0)
    with_groups, without = fit_cox(sample.queries), fit_cox(sample.queries.with_groups(None))
    assert np.diff(with_groups.intercept_limits) > 1.5 * np.diff(without.intercept_limits)


def test_swapped_classes():
    queries = tilted(500, 0.3, 0.7, 1)
    swapped = Queries(~queries.y_true, 1.0 - queries.y_prob)
    one, two = fit_cox(queries), fit_cox(swapped)
    assert two.slope == pytest.approx(one.slope, abs=1e-6)
    assert two.intercept == pytest.approx(-one.intercept, abs=1e-6)
    assert two.slope_limits == pytest.approx(one.slope_limits, abs=1e-5)


def test_degenerate_fits():
    q = np.linspace(0.05, 0.95, 30)
    separated = fit_cox(Queries(q > 0.5, q))
    assert separated.slope == math.inf
    assert separated.slope_limits[0] > 1.0
    assert separated.slope_limits[1] == math.inf
    assert "not extreme enough" in separated.meaning
    backwards = fit_cox(Queries(q < 0.5, q))
    assert backwards.slope == -math.inf
    assert backwards.meaning.startswith("Log-odds point the wrong way")
    constant = fit_cox(Queries(np.arange(40) < 10, np.full(40, 0.5)))
    assert math.isnan(constant.slope)
    assert constant.intercept == pytest.approx(special.logit(0.25), abs=1e-6)
    assert constant.meaning.startswith("Log-odds are too high by 1.10 [")
    yes = fit_cox(Queries(np.ones(30, bool), np.full(30, 0.5)))
    assert yes.intercept == math.inf
    assert yes.intercept_limits[0] > 0.0
    assert yes.intercept_limits[1] == math.inf
    assert yes.meaning.endswith("or more]")
    assert math.isnan(fit_cox(Queries([0, 1], [0.0, 1.0])).slope)


def test_meanings():
    line = (-0.1, 0.1)
    cases = {
        "Log-odds are too extreme by 1.30 [1.12 to 1.49]": CoxFit(
            0.0, 1 / 1.3, line, (1 / 1.49, 1 / 1.12)
        ),
        "Log-odds are too extreme by 4.00 [2.00 or more]": CoxFit(0.0, 0.25, line, (-0.1, 0.5)),
        "Log-odds are not extreme enough by 1.50 [1.20 to 1.80]": CoxFit(
            0.0, 1.5, line, (1.2, 1.8)
        ),
        "Log-odds are too low by 0.50 [0.20 to 0.80]": CoxFit(0.5, 1.0, (0.2, 0.8), (0.9, 1.1)),
        "Log-odds are too high by 0.50 [0.20 to 0.80]": CoxFit(-0.5, 1.0, (-0.8, -0.2), (0.9, 1.1)),
    }
    for meaning, fit in cases.items():
        assert fit.meaning == meaning
    assert CoxFit(0.0, 1.0, line, (0.9, 1.1)).meaning.endswith("slope 1.00 [0.90 to 1.10]")
