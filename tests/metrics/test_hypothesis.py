"""Tests of perfect calibration: their size, their power, and their exact small cases."""

import numpy as np
import pytest
from scipy import special

from sklearn_calib import (
    calibration_error_interval,
    calibration_test,
    classifier_queries,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._hypothesis import STATISTICS

# Predictions of simulated models, by number and generator.
LAWS = {
    "uniform": lambda n, rng: rng.random(n),
    "rare": lambda n, rng: special.expit(rng.normal(-6.2, 1.3, n)),
    "tied": lambda n, rng: rng.choice([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99], n),
}


def rejected(law, truth, n, replications, statistic="omnibus", **options):
    """Return how often a test at the 5 % level rejects, and its parts do."""
    rng = np.random.default_rng(3)
    counts = {}
    for _ in range(replications):
        q = LAWS[law](n, rng)
        y = rng.random(n) < np.clip(truth(q), 0.0, 1.0)
        result = calibration_test(
            y, q, statistic=statistic, n_resamples=199, random_state=rng, **options
        )
        for name, pvalue in {statistic: result.pvalue, **result.components}.items():
            counts[name] = counts.get(name, 0) + (pvalue <= 0.05)
    return {name: count / replications for name, count in counts.items()}


@pytest.mark.parametrize("statistic", ["binned", "kuiper"])
@pytest.mark.parametrize(("n", "method"), [(30, "resampling"), (300, "auto"), (5000, "asymptotic")])
def test_size_of_the_test(statistic, n, method):
    rng = np.random.default_rng(1)
    pvalues = [
        calibration_test(
            make_queries(n, a=0.5, b=2, random_state=rng).queries,
            statistic=statistic,
            method=method,
            n_resamples=199,
            random_state=rng,
        ).pvalue
        for _ in range(500)
    ]
    # Standard error 1 %; a discrete statistic may be conservative.
    assert 0.015 <= np.mean(np.array(pvalues) <= 0.05) <= 0.08


def test_size_of_the_grouped_test():
    rng = np.random.default_rng(2)
    for statistic in ("binned", "kuiper"):
        rejected = {True: 0, False: 0}
        for _ in range(300):
            sample = make_queries(600, a=2, b=2, group_size=10, dependence=0.8, random_state=rng)
            for grouped in (True, False):
                result = calibration_test(
                    sample.queries,
                    statistic=statistic,
                    n_resamples=99,
                    random_state=rng,
                    groups=None if grouped else False,
                )
                rejected[grouped] += result.pvalue <= 0.05
        assert rejected[True] / 300 <= 0.09
        assert rejected[False] >= rejected[True] + 15


def test_power():
    sample = make_queries(3000, distortion="slope", strength=0.5, random_state=0)
    for statistic in ("binned", "kuiper"):
        for method in ("resampling", "asymptotic"):
            result = calibration_test(
                sample.queries, statistic=statistic, method=method, random_state=0
            )
            assert result.pvalue <= 0.005
            assert statistic in str(result)


def test_test_does_not_depend_on_row_order():
    sample = make_queries(300, decimals=1, random_state=0)
    order = np.random.default_rng(0).permutation(300)
    for statistic in ("binned", "kuiper", "omnibus", "cox", "spiegelhalter"):
        one = calibration_test(sample.y_true, sample.y_prob, statistic=statistic, random_state=0)
        two = calibration_test(
            sample.y_true[order], sample.y_prob[order], statistic=statistic, random_state=0
        )
        assert one.statistic == two.statistic
        assert one.pvalue == two.pvalue


@pytest.mark.filterwarnings("ignore:y_prob holds only 0 and 1")
def test_certain_predictions():
    for statistic in STATISTICS:
        right = calibration_test([0, 1] * 10, [0.0, 1.0] * 10, statistic=statistic, random_state=0)
        assert right.pvalue == 1.0
        for method in ("resampling", "asymptotic"):
            wrong = calibration_test(
                [1] * 10 + [0] * 10,
                [0.0] * 10 + [1.0] * 10,
                statistic=statistic,
                method=method,
                random_state=0,
            )
            assert wrong.pvalue <= 0.001


def test_level_where_residuals_of_a_row_cancel():
    """The residuals of all classes of a row add up to zero."""
    rng = np.random.default_rng(0)
    rejected = {"binned": 0, "kuiper": 0}
    for _ in range(60):
        proba = rng.dirichlet([1.0, 1.0, 1.0], size=300)
        y = (rng.random((300, 1)) > np.cumsum(proba, axis=1)).sum(axis=1)
        queries = classifier_queries(y, proba, classes=[0, 1, 2])
        for statistic in rejected:
            result = calibration_test(queries, statistic=statistic)
            assert result.statistic < 100
            rejected[statistic] += result.pvalue <= 0.05
    # At a level of 5 %, more than 8 of 60 have a chance of one in 400.
    assert max(rejected.values()) <= 8
    # The walk is shorter than that of independent residuals, and still finds what is wrong.
    wrong = proba**3 / (proba**3).sum(axis=1, keepdims=True)
    queries = classifier_queries(y, wrong, classes=[0, 1, 2])
    assert calibration_test(queries, statistic="kuiper").pvalue < 0.01


def test_an_impossible_answer_rejects_calibration():
    y, q = [1] + [0] * 99, [0.0] * 100
    assert calibration_error_interval(y, q).pvalue == 0.0
    assert calibration_error_interval(y, q).confidence_interval.high > 0.01
    for statistic in STATISTICS:
        assert calibration_test(y, q, statistic=statistic).pvalue == 0.0


@pytest.mark.parametrize("n", [8, 20, 100])
@pytest.mark.parametrize("law", LAWS)
def test_size_in_small_samples(law, n):
    found = rejected(law, lambda q: q, n, 400)
    assert set(found) == {"omnibus", "kuiper", "cox", "local", "waves"}
    # The standard error is 1.1 %.
    assert max(found.values()) <= 0.075
    assert found["omnibus"] <= 0.07
    z = rejected(law, lambda q: q, n, 400, statistic="spiegelhalter")["spiegelhalter"]
    assert z <= 0.07


def test_size_in_the_limit():
    found = rejected("uniform", lambda q: q, 2000, 200, method="asymptotic")
    assert 0.01 <= found["omnibus"] <= 0.095
    assert max(found.values()) <= 0.1


def test_the_omnibus_finds_errors_of_every_shape():
    truths = {
        "shift": lambda q: q + 0.06,
        "slope": lambda q: special.expit(special.logit(q) / 1.4),
        "step": lambda q: q + 0.06 * np.sign(0.5 - q),
        "bump": lambda q: q + 0.2 * np.exp(-0.5 * np.square((q - 0.5) / 0.08)),
        "wave": lambda q: q + 0.11 * np.sin(12 * np.pi * q),
    }
    found = {name: rejected("uniform", truth, 1000, 40) for name, truth in truths.items()}
    for name, shares in found.items():
        assert shares["omnibus"] >= 0.75, name
    # A single test sees less.
    assert found["wave"]["kuiper"] <= 0.5
    assert found["wave"]["local"] <= 0.5
    assert found["wave"]["cox"] <= 0.7
    assert found["bump"]["cox"] < found["bump"]["local"]
    assert found["wave"]["waves"] >= 0.8
    blind = rejected("uniform", truths["shift"], 1000, 40, statistic="spiegelhalter")
    assert blind["spiegelhalter"] <= 0.25


def test_size_of_the_omnibus_with_groups():
    rng = np.random.default_rng(4)
    pvalues = []
    for _ in range(150):
        sample = make_queries(300, a=2, b=2, group_size=10, dependence=0.8, random_state=rng)
        pvalues.append(
            [
                calibration_test(
                    sample.queries, statistic=statistic, n_resamples=99, random_state=rng
                ).pvalue
                for statistic in ("omnibus", "cox", "spiegelhalter")
            ]
        )
    # The standard error is 1.8 %.
    assert np.mean(np.array(pvalues) <= 0.05, axis=0).max() <= 0.09


@pytest.mark.parametrize("method", ["resampling", "asymptotic"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_degenerate_input(statistic, method):
    rng = np.random.default_rng(0)
    uniform = rng.random(40)
    cases = {
        "equal predictions": (rng.random(40) < 0.3, np.full(40, 0.3), None),
        "halves": (rng.random(40) < 0.5, np.full(40, 0.5), None),
        "all yes": (np.ones(40, bool), uniform, None),
        "all no": (np.zeros(40, bool), uniform, None),
        "separated": (uniform > 0.5, uniform, None),
        "separated the wrong way": (uniform < 0.5, uniform, None),
        "four queries": ([0, 1, 0, 1], [0.2, 0.7, 0.4, 0.9], None),
        "zero weights": (uniform > rng.random(40), uniform, np.arange(40) % 2),
        "uneven weights": (uniform > rng.random(40), uniform, rng.exponential(size=40) ** 3),
        "tiny weights": (uniform > rng.random(40), uniform, 1e-30 * (1 + np.arange(40) % 3)),
        "almost certain": (np.arange(40) % 2 == 0, np.where(np.arange(40) % 2, 1e-300, 0.5), None),
    }
    for name, (y, q, w) in cases.items():
        result = calibration_test(
            y, q, statistic=statistic, method=method, sample_weight=w, n_resamples=99,
            random_state=0, pos_label=1,
        )  # fmt: skip
        assert 0.0 <= result.pvalue <= 1.0, name
        assert not np.isnan(result.statistic), name
        assert result.meaning
        assert "nan" not in result.meaning
        if name == "separated the wrong way":
            assert result.pvalue <= 0.02
        if name in ("equal predictions", "zero weights"):
            assert result.pvalue > 0.01


def test_queries_without_weight_are_no_queries():
    sample = make_queries(200, distortion="slope", random_state=0)
    keep = np.arange(200) % 3 > 0
    for statistic in STATISTICS:
        one = calibration_test(
            sample.y_true, sample.y_prob, sample_weight=2.0 * keep, statistic=statistic,
            random_state=0,
        )  # fmt: skip
        two = calibration_test(
            sample.y_true[keep], sample.y_prob[keep], statistic=statistic, random_state=0
        )
        assert one.pvalue == pytest.approx(two.pvalue, abs=1e-9)
        for name, value in two.estimates.items():
            if not name.endswith(("low", "high")):
                assert one.estimates[name] == pytest.approx(value, abs=1e-6)


def test_names_of_groups_do_not_matter():
    sample = make_queries(300, group_size=15, dependence=0.5, distortion="slope", random_state=0)
    number = sample.queries.group
    for statistic in STATISTICS:
        pvalues = {
            calibration_test(
                sample.y_true, sample.y_prob, groups=groups, statistic=statistic, random_state=0
            ).pvalue
            for groups in (number, -number, [f"s{k}" for k in number])
        }
        # The draws behind the skewness of the binned statistic go by the groups' numbers.
        assert statistic == "binned" or len(pvalues) == 1
        with pytest.raises(ValueError, match="All queries belong to one group"):
            calibration_test(
                sample.y_true, sample.y_prob, groups=np.zeros(300), statistic=statistic
            )


def test_the_binned_test_is_that_of_the_interval():
    for seed in range(5):
        sample = make_queries(300, distortion="shift", strength=0.03, random_state=seed)
        interval = calibration_error_interval(sample.queries)
        result = calibration_test(sample.queries, statistic="binned")
        assert result.pvalue == interval.pvalue
        assert result.method == "asymptotic"
        drawn = calibration_test(
            sample.queries, statistic="binned", method="resampling", random_state=0
        )
        assert drawn.method == "resampling"
        assert drawn.pvalue == pytest.approx(result.pvalue, abs=0.06)


def test_cox_says_by_how_much():
    sample = make_queries(20_000, distortion="slope", strength=1 / 1.3, random_state=0)
    result = calibration_test(sample.queries, statistic="cox", random_state=0)
    assert result.estimates["slope_low"] < 1 / 1.3 < result.estimates["slope_high"]
    assert result.estimates["intercept_low"] < 0.0 < result.estimates["intercept_high"]
    assert result.meaning.startswith("Log-odds are too extreme by 1.")
    assert result.components == {}
    assert "Log-odds are too extreme" in str(result)
    assert result.to_frame()["slope"].tolist() == [result.estimates["slope"]]


def test_spiegelhalter_compares_brier_scores():
    sample = make_queries(3000, distortion="slope", strength=0.5, random_state=0)
    result = calibration_test(sample.queries, statistic="spiegelhalter", random_state=0)
    y, q = sample.y_true, sample.y_prob
    assert result.estimates["brier"] == pytest.approx(np.mean((y - q) ** 2))
    assert result.estimates["promised"] == pytest.approx(np.mean(q * (1 - q)))
    assert result.statistic == pytest.approx(
        np.sum((y - q) * (1 - 2 * q)) / np.sqrt(np.sum((1 - 2 * q) ** 2 * q * (1 - q)))
    )
    assert result.meaning.endswith("predictions are too extreme")
    timid = make_queries(3000, distortion="slope", strength=2.0, random_state=0)
    result = calibration_test(timid.queries, statistic="spiegelhalter", random_state=0)
    assert result.meaning.endswith("predictions are not extreme enough")


@pytest.mark.parametrize("options", [{}, {"distortion": "shift", "strength": 0.03}])
def test_tolerance_agrees_with_the_interval(options):
    found = set()
    for seed, n in enumerate((300, 3000, 30_000)):
        queries = make_queries(n, random_state=seed, **options).queries
        high = calibration_error_interval(queries).confidence_interval.high
        for tolerance in (0.01, 0.02, 0.05, 0.1, high * 0.999, high * 1.001):
            result = calibration_test(queries, tolerance=tolerance)
            assert (result.pvalue < 0.025) == (high < tolerance)
            assert result.estimates["upper"] == pytest.approx(high)
            assert result.meaning.startswith("The error is below") == (high < tolerance)
            assert result.name == "tolerance"
            assert "for an error at or above it" in str(result)
            found.add(result.pvalue < 0.025)
    assert found == {True, False}


def test_bad_tolerance():
    sample = make_queries(100, random_state=0)
    with pytest.raises(ValueError, match="tolerance must be a positive finite number"):
        calibration_test(sample.queries, tolerance=0.0)
    with pytest.raises(TypeError, match="tolerance must be a positive finite number"):
        calibration_test(sample.queries, tolerance="2%")
    with pytest.raises(ValueError, match="tolerance must be below 1"):
        calibration_test(sample.queries, tolerance=2)
    for statistic in ("kuiper", "cox", "spiegelhalter"):
        with pytest.raises(ValueError, match="does not measure how large the error is"):
            calibration_test(sample.queries, statistic=statistic, tolerance=0.02)
    with pytest.raises(ValueError, match="draws answers of a perfect model"):
        calibration_test(sample.queries, method="resampling", tolerance=0.02)
