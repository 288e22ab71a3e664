"""Bands for the whole curve."""

import numpy as np
import pytest
from scipy import special, stats

from sklearn_calib import calibration_band
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics import BandRegion, CalibrationBand
from sklearn_calib.metrics._band import _say

METHODS = ("monotone", "smooth")
every_method = pytest.mark.parametrize("method", METHODS)

LAWS = {
    "uniform": lambda rng, n: rng.random(n),
    "crowded": lambda rng, n: np.clip(special.expit(rng.normal(3, 2, n)), 1e-6, 1 - 1e-6),
    "rare": lambda rng, n: special.expit(rng.normal(-6.2, 1.3, n)),
    "tied": lambda rng, n: rng.choice([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99], n),
}
TRUTHS = {
    "calibrated": lambda q: q,
    "overconfident": lambda q: special.expit(0.6 * special.logit(q)),
    "bump": lambda q: np.clip(q + 0.12 * np.exp(-0.5 * ((q - 0.5) / 0.15) ** 2), 0, 1),
    "flat": lambda q: np.full(len(q), 0.3),
    "step": lambda q: q + 0.05 * np.sign(q - 0.5) * (np.abs(q - 0.5) < 0.4),
}


def coverage(law, truth, n, replications, **options):
    """Return how often the whole curve was held, and the mean width."""
    held, width = [], []
    for seed in range(replications):
        rng = np.random.default_rng([seed, n])
        q = LAWS[law](rng, n)
        p = TRUTHS[truth](q)
        band = calibration_band(rng.random(n) < p, q, **options)
        low, high = band.at(q)
        # A smooth band lies at the means of bins: beyond the outermost it keeps its limits.
        inner = (q >= band.q[0]) & (q <= band.q[-1])
        held.append(np.all((low <= p + 1e-9) & (p <= high + 1e-9) | ~inner))
        width.append(np.mean(high - low))
    return np.mean(held), np.mean(width)


@pytest.mark.parametrize(
    ("law", "truth", "n"),
    [
        ("uniform", "calibrated", 300),
        ("uniform", "flat", 300),
        ("uniform", "flat", 3000),
        ("uniform", "step", 3000),
        ("crowded", "overconfident", 1000),
        ("rare", "overconfident", 1000),
        ("tied", "overconfident", 300),
    ],
)
def test_monotone_band_holds_the_whole_curve(law, truth, n):
    # A true 95 % has a standard error of 2.8 points in 60 replications.
    held, width = coverage(law, truth, n, 60, method="monotone")
    assert held >= 0.89
    assert width < 0.6


@pytest.mark.parametrize(
    ("law", "truth", "n"),
    [
        ("uniform", "calibrated", 300),
        ("uniform", "bump", 1000),
        ("crowded", "overconfident", 300),
        ("tied", "overconfident", 1000),
    ],
)
def test_smooth_band_holds_the_whole_curve(law, truth, n):
    # A true 95 % has a standard error of 5.6 points in 15 replications.
    held, width = coverage(law, truth, n, 15, method="smooth")
    assert held >= 0.85
    assert width < 0.6


def test_few_predictions_close_to_one_are_not_taken_at_their_word():
    # A handful of predictions of 0.999 and more, nothing near them, of which half come true: far
    # from what the fit expects of their log-odds.
    held = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 3])
        q = np.clip(special.expit(1.5 * rng.standard_t(2, 200) - 1), 1e-9, 1 - 1e-9)
        band = calibration_band(rng.random(200) < np.minimum(q, 0.5), q, method="smooth")
        p = np.minimum(band.q, 0.5)
        held += np.all((band.low <= p + 1e-9) & (p <= band.high + 1e-9))
    # A quarter of them, where the prior may outvote the answers.
    assert held >= 27


def test_smooth_band_is_the_narrower_one_with_many_queries():
    width = {method: [] for method in METHODS}
    for seed in range(5):
        sample = make_queries(3000, a=1, b=1, distortion="slope", random_state=seed)
        for method, found in width.items():
            low, high = calibration_band(sample.queries, method=method).at(sample.y_prob)
            found.append(np.mean(high - low))
    assert np.mean(width["smooth"]) < 0.8 * np.mean(width["monotone"])


def test_auto_is_monotone_until_no_such_curve_fits():
    rng = np.random.default_rng(0)
    q = rng.random(5000)
    rising = calibration_band(rng.random(5000) < q, q)
    assert rising.method == "monotone"
    assert not rising.crosses
    falling = rng.random(5000) < 1.0 - q
    assert calibration_band(falling, q).method == "smooth"
    contradiction = calibration_band(falling, q, method="monotone")
    assert contradiction.crosses
    assert contradiction.sentences[0].startswith("No curve that never falls fits the answers")


def test_monotone_limits_never_fall_and_are_never_beyond_those_of_all_queries():
    """The whole is one of the intervals: its exact limits bound the curve's ends."""
    rng = np.random.default_rng(0)
    q = rng.random(400)
    y = rng.random(400) < q
    band = calibration_band(y, q, method="monotone")
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.high) >= 0).all()
    # Fewer limits than intervals: each may err by at least Bonferroni's share.
    limit = stats.beta.ppf(0.05 / 2 / 10_000, y.sum(), 400 - y.sum() + 1)
    assert band.low[-1] >= limit


def test_one_prediction_has_the_exact_interval():
    y = np.repeat([1, 0], [30, 70])
    band = calibration_band(y, np.full(100, 0.4), method="monotone")
    tail = stats.norm.sf(stats.norm.ppf(0.975))
    # The critical value is simulated: two digits of it are sure.
    assert band.low[0] == pytest.approx(stats.beta.ppf(tail, 30, 71), abs=0.005)
    assert band.high[0] == pytest.approx(stats.beta.ppf(1 - tail, 31, 70), abs=0.005)


def test_sentences():
    sample = make_queries(20_000, a=1, b=1, distortion="slope", strength=0.5, random_state=0)
    for method in METHODS:
        band = calibration_band(sample.queries, method=method)
        low, high = band.sentences
        assert low.endswith("the model is overconfident: its predictions are too low.")
        assert high.endswith("the model is overconfident: its predictions are too high.")
        assert high.startswith("Between 0.")
        assert repr(band).endswith(f"(all at once, 95% {method} band)")
    calm = calibration_band(make_queries(500, random_state=0).queries)
    assert calm.sentences == ["The diagonal lies within the band: calibration is not refuted."]
    assert calm.regions == []


def drawn(low, high, q=(0.0, 0.25, 0.5, 0.75, 1.0)):
    q, low, high = (np.array(values, dtype=float) for values in (q, low, high))
    return CalibrationBand(q, low, high, (low + high) / 2, "smooth", 0.9)


def test_regions_are_cut_at_one_half_and_named():
    # The diagonal is above the band from 0.25 to 0.75, where it touches it.
    band = drawn([0.0, 0.1, 0.2, 0.5, 0.9], [0.1, 0.25, 0.4, 0.75, 1.0])
    first, second = band.regions
    assert first.too_high
    assert second.too_high
    assert not first.overconfident
    assert second.overconfident
    assert 0.25 < first.start < 0.3
    assert first.stop < second.start == 0.5
    assert band.sentences == [
        "Between 0.29 and 0.46 the model is underconfident: its predictions are too high.",
        "Between 0.50 and 0.71 the model is overconfident: its predictions are too high.",
    ]


def test_ends_are_rounded_inwards():
    def say(*region):
        return _say(BandRegion(*region))

    assert say(0.304, 0.609, True).startswith("Between 0.31 and 0.60 the")
    assert say(0.3, 0.6, True).startswith("Between 0.30 and 0.60 the")
    assert say(0.00123, 0.2, False).startswith("Between 0.0013 and 0.20 the")
    assert say(0.81, 1.0 - 1e-9, True).startswith("Between 0.81 and 1 the")
    assert say(1e-12, 0.04, False).startswith("Between 0 and 0.04 the")
    assert say(0.601, 0.604, True).startswith("Near 0.60 the")


def test_slivers_are_left_out_where_there_is_more_to_say():
    q = [0.0, 0.3, 0.301, 0.302, 0.303, 0.6, 0.601, 0.8, 1.0]
    high = np.full(9, 1.0)
    high[2] = 0.2
    alone = drawn(np.zeros(9), high, q)
    (sentence,) = alone.sentences
    assert sentence.startswith("Near 0.30 the model is underconfident")
    high[6:8] = 0.5
    (sentence,) = drawn(np.zeros(9), high, q).sentences
    assert sentence.startswith("Between 0.61 and 0.97")


@every_method
def test_degenerate_data(method):
    for y, q in (
        ([0, 1, 0, 1], [0.3] * 4),
        ([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0]),
        ([1], [0.2]),
        ([1] * 10, np.linspace(0.05, 0.95, 10)),
        ([0, 1] * 5, np.linspace(0.05, 0.95, 10)),
        ([1] * 500, np.linspace(0.0, 1.0, 500)),
    ):
        band = calibration_band(y, q, method=method)
        assert (band.low >= 0.0).all()
        assert (band.high <= 1.0).all()
        assert (band.high - band.low > 0.0).all()
        assert band.sentences
        assert len(band.to_frame()) == len(band.q)


@every_method
def test_naming_the_other_class_turns_the_band_around(method):
    sample = make_queries(1500, distortion="slope", random_state=0)
    one = calibration_band(sample.y_true, sample.y_prob, method=method)
    two = calibration_band(~sample.y_true.astype(bool), 1.0 - sample.y_prob, method=method)
    np.testing.assert_allclose(one.q, 1.0 - two.q[::-1], atol=1e-12)
    np.testing.assert_allclose(one.low, 1.0 - two.high[::-1], atol=1e-6)
    np.testing.assert_allclose(one.high, 1.0 - two.low[::-1], atol=1e-6)


@every_method
def test_whole_weights_are_copies(method):
    """Up to the critical value, which counts the rows' weights and not the copies'."""
    sample = make_queries(200, decimals=1, random_state=0)
    weight = np.random.default_rng(0).integers(1, 4, 200)
    one = calibration_band(sample.y_true, sample.y_prob, sample_weight=weight, method=method)
    two = calibration_band(
        np.repeat(sample.y_true, weight), np.repeat(sample.y_prob, weight), method=method
    )
    np.testing.assert_allclose(one.estimate, two.estimate, atol=1e-9)
    np.testing.assert_allclose(one.low, two.low, atol=0.01)
    np.testing.assert_allclose(one.high, two.high, atol=0.01)


@every_method
def test_order_of_rows_does_not_matter(method):
    sample = make_queries(300, decimals=2, random_state=0)
    order = np.random.default_rng(1).permutation(300)
    one = calibration_band(sample.y_true, sample.y_prob, method=method)
    two = calibration_band(sample.y_true[order], sample.y_prob[order], method=method)
    np.testing.assert_array_equal(one.low, two.low)
    np.testing.assert_array_equal(one.high, two.high)


@every_method
def test_groups_widen_the_band_until_it_holds(method):
    held = {None: [], False: []}
    for seed in range(8):
        sample = make_queries(1500, a=1, b=1, group_size=15, dependence=0.9, random_state=seed)
        for groups, found in held.items():
            band = calibration_band(sample.queries, groups=groups, method=method)
            low, high = band.at(sample.y_prob)
            p = np.clip(sample.y_prob, band.q[0], band.q[-1])
            found.append((np.all((low <= p) & (p <= high)), np.mean(high - low)))
    (with_groups, wide), (_, narrow) = (np.mean(found, axis=0) for found in held.values())
    assert with_groups >= 0.85
    assert wide > 1.2 * narrow


@every_method
def test_unequal_weights_widen_the_band(method):
    rng = np.random.default_rng(0)
    q = rng.random(1000)
    y = rng.random(1000) < q
    plain = calibration_band(y, q, method=method)
    weighted = calibration_band(y, q, sample_weight=rng.lognormal(0, 1.2, 1000), method=method)
    width = [np.mean(np.subtract(*band.at(q)[::-1])) for band in (plain, weighted)]
    assert width[1] > 1.15 * width[0]


def test_limits_between_points():
    band = CalibrationBand(
        np.array([0.2, 0.6]), np.array([0.1, 0.4]), np.array([0.5, 0.9]), np.array([0.3, 0.7]),
        "monotone", 0.95,
    )  # fmt: skip
    low, high = band.at([0.1, 0.2, 0.4, 0.6, 0.7])
    assert low.tolist() == [0.0, 0.1, 0.1, 0.4, 0.4]
    assert high.tolist() == [0.5, 0.5, 0.9, 0.9, 1.0]
    assert band.prob_pred is band.q
    assert band.prob_true is band.estimate


def test_wrong_options():
    with pytest.raises(ValueError, match="method='wald' is not known"):
        calibration_band([0, 1], [0.2, 0.8], method="wald")
    with pytest.raises(ValueError, match="bandwidth must be a positive number"):
        calibration_band([0, 1], [0.2, 0.8], bandwidth=-1)
