"""Scanned and in memory, every function gives the same answer."""

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from sklearn_calib import (
    Queries,
    adaptive_bin_calibration_error,
    bin_size_curve,
    calibration_band,
    calibration_bins,
    calibration_error_interval,
    calibration_report,
    calibration_test,
    gaussian_process_calibration_curve,
    isotonic_calibration_curve,
    label_calibration,
    sample_size_curve,
    score_decomposition,
    select_bin_size,
    smooth_calibration_curve,
)
from sklearn_calib.metrics import TooFewError
from sklearn_calib.queries import _scan
from tests.scans import (
    assert_same,
    laws,
    queries_of,
    read_as_a_scan,
    scan_of,
    scan_of_columns,
)

pytestmark = pytest.mark.slow

BINS = ("count", "weight", "prob_pred", "prob_true", "low", "high", "effective_count")
PARTS = ("score", "calibration", "refinement", "within_bin_spread", "within_bin_covariance")


@pytest.fixture(autouse=True)
def _read_as_a_scan(monkeypatch):
    read_as_a_scan(monkeypatch)


@st.composite
def weighted_queries(draw):
    """Queries that crowd into few buckets, with ties, ends and weights."""
    n = draw(st.integers(20, 120))
    centre = draw(st.sampled_from([0.3, 0.5, 0.999, 1e-7]))
    width = draw(st.sampled_from([1e-7, 1e-5, 1e-2]))
    steps = draw(st.lists(st.integers(0, draw(st.sampled_from([3, 1000]))), min_size=n, max_size=n))
    q = np.clip(centre * (1.0 + width * np.array(steps) / 1000.0), 0.0, 1.0)
    ends = draw(st.lists(st.sampled_from([None] * 8 + [0.0, 1.0]), min_size=n, max_size=n))
    q = np.array([value if end is None else end for value, end in zip(q, ends, strict=True)])
    y = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    y = np.where(q == 0.0, False, np.where(q == 1.0, True, y))
    kind = draw(st.sampled_from([None, st.integers(0, 3), st.floats(0.1, 10.0)]))
    w = None if kind is None else np.array(draw(st.lists(kind, min_size=n, max_size=n)), float)
    if w is not None and not w.any():
        w[0] = 1.0
    return Queries(y, q, sample_weight=w)


@settings(max_examples=60, deadline=None)
@given(queries=weighted_queries(), chunks=st.integers(1, 9), size=st.integers(1, 30))
def test_bins_errors_and_parts(queries, chunks, size):
    _scan.MOST_IN_MEMORY = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scan = scan_of(queries, chunks)
        for options in (
            {},
            {"bin_size": size},
            {"n_bins": size},
            {"strategy": "balanced"},
            {"strategy": "uniform", "n_bins": size},
        ):
            found, expected = (
                calibration_bins(scan, **options),
                calibration_bins(queries, **options),
            )
            for name in BINS:
                assert_same(getattr(found, name), getattr(expected, name))
        for options in ({"bin_size": size}, {"norm": "l1"}, {"squared": True}, {"norm": "max"}):
            assert_same(
                adaptive_bin_calibration_error(scan, **options),
                adaptive_bin_calibration_error(queries, **options),
            )
        for score in ("brier", "log"):
            found, expected = (score_decomposition(x, score=score) for x in (scan, queries))
            assert_same(found.score, expected.score)
            assert_same(found.calibration, expected.calibration)


def assert_same_interval(scan, queries):
    """Both have the same error in the same bins, or both are too few."""
    try:
        expected = calibration_error_interval(queries)
    except TooFewError:
        with pytest.raises(TooFewError):
            calibration_error_interval(scan)
        return
    found = calibration_error_interval(scan)
    np.testing.assert_array_equal(found.bins.count, expected.bins.count)
    # A debiased square may be the small difference of large numbers.
    np.testing.assert_allclose(found.error, expected.error, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("n", [12, 21, 34, 58, 90, 150])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_of_small_samples(n, weighted):
    for seed in range(3):
        rng = np.random.default_rng([n, seed])
        q = rng.beta(0.7, 1.2, n)
        w = np.exp(rng.standard_normal(n)) if weighted else None
        queries = Queries(rng.random(n) < q, q, sample_weight=w)
        assert_same_interval(scan_of(queries), queries)


@settings(max_examples=40, deadline=None)
@given(queries=weighted_queries(), chunks=st.integers(1, 9))
def test_intervals(queries, chunks):
    _scan.MOST_IN_MEMORY = 0
    assert_same_interval(scan_of(queries, chunks), queries)


# Predictions whose bits are at the ends of what floats can hold.
BITS = (0.0, -0.0, 5e-324, 1e-310, 2.0**-1022, 1e-300, 2.0**-30, 0.5, 1.0 - 2.0**-53, 1.0)
ANSWERS = {
    "booleans": (np.array([False, True]), None),
    "numbers": (np.array([0, 1]), None),
    "signs": (np.array([-1, 1]), None),
    "whole floats": (np.array([0.0, 1.0]), None),
    "other numbers": (np.array([1, 2]), 2),
    "first of two numbers": (np.array([2, 1]), 1),
    "text": (np.array(["ham", "spam"]), "spam"),
    "first of two texts": (np.array(["no", "aye"]), "aye"),
}


@st.composite
def columns_of_any_kind(draw):
    """Columns as users have them, and the queries that they stand for."""
    n = draw(st.integers(8, 80))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    q = rng.beta(0.5, 1.0, n)
    kind = draw(st.sampled_from(["spread", "rounded", "piles", "bits", "few"]))
    if kind == "rounded":
        q = q.round(1)
    elif kind == "piles":
        q = np.where(rng.random(n) < 0.7, rng.integers(0, 2, n), q)
    elif kind == "bits":
        q = rng.choice(BITS, n)
    elif kind == "few":
        q = rng.choice(q[:3], n)
    q = q.astype(draw(st.sampled_from([np.float32, np.float64])))
    yes = rng.random(n) < np.where((q > 0.0) & (q < 1.0), 0.3 + 0.4 * q, q)
    names, pos_label = ANSWERS[draw(st.sampled_from(sorted(ANSWERS)))]
    columns, options = {"y_true": names[yes.astype(int)], "y_prob": q}, {}
    if draw(st.booleans()):
        weight = rng.integers(0, 4, n) if draw(st.booleans()) else rng.exponential(size=n)
        weight[0] = 1
        columns["sample_weight"] = options["sample_weight"] = weight
    if draw(st.booleans()):
        columns["label"] = options["label"] = rng.choice(["a", "b", "c"], n)
    if draw(st.booleans()):
        columns["group"] = options["group"] = rng.integers(0, max(2, n // 4), n)
    return columns, pos_label, Queries(yes, q.astype(float) + 0.0, **options)


@settings(max_examples=80, deadline=None)
@given(
    drawn=columns_of_any_kind(),
    n_chunks=st.integers(0, 9),
    n_workers=st.integers(1, 4),
    size=st.integers(1, 20),
    seed=st.integers(0, 99),
)
def test_columns_of_any_kind_in_any_chunks_order_and_number_of_workers(
    drawn, n_chunks, n_workers, size, seed
):
    _scan.MOST_IN_MEMORY = 0
    columns, pos_label, queries = drawn
    scan = scan_of_columns(columns, n_chunks, n_workers, pos_label, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for options in ({"bin_size": size}, {"n_bins": size}, {"strategy": "balanced"}):
            found, expected = (calibration_bins(x, **options) for x in (scan, queries))
            for name in BINS:
                assert_same(getattr(found, name), getattr(expected, name))
        assert_same(
            adaptive_bin_calibration_error(scan, bin_size=size),
            adaptive_bin_calibration_error(queries, bin_size=size),
        )
        found, expected = (score_decomposition(x) for x in (scan, queries))
        for name in PARTS:
            assert_same(getattr(found, name), getattr(expected, name))
        if scan.labelled:
            found, expected = (
                adaptive_bin_calibration_error(x, average="macro") for x in (scan, queries)
            )
            assert_same(found, expected)
        assert_same_interval(scan, queries)


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("law", ["spread", "rounded", "single precision", "tiny", "ends"])
def test_every_number_agrees(law, weights):
    queries = queries_of(laws(30_000)[law], weights)
    scan = scan_of(queries, 5)
    found, expected = calibration_error_interval(scan), calibration_error_interval(queries)
    assert_same(found.error, expected.error)
    assert_same(found.confidence_interval, expected.confidence_interval)
    assert_same(found.pvalue, expected.pvalue)
    assert_same(
        adaptive_bin_calibration_error(scan, debias=True),
        adaptive_bin_calibration_error(queries, debias=True),
    )
    for score in ("brier", "log"):
        found, expected = (score_decomposition(x, score=score) for x in (scan, queries))
        for name in PARTS:
            assert_same(getattr(found, name), getattr(expected, name))
    found, expected = (bin_size_curve(x, [20, 500, 3000]) for x in (scan, queries))
    for name in ("n_bins", "error", "debiased_error", "risk"):
        assert_same(getattr(found, name), getattr(expected, name))
    assert select_bin_size(scan) == select_bin_size(queries)
    for options in ({"statistic": "binned"}, {"tolerance": 0.05}):
        found, expected = (calibration_test(x, **options) for x in (scan, queries))
        assert_same([found.statistic, found.pvalue], [expected.statistic, expected.pvalue])


@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_tests_curves_and_bands_agree_to_a_millionth(weights):
    for law in ("spread", "rounded", "tiny"):
        queries = queries_of(laws(30_000)[law], weights)
        scan = scan_of(queries, 5)
        for statistic in ("omnibus", "kuiper", "cox", "spiegelhalter"):
            found, expected = (
                calibration_test(x, statistic=statistic, method="asymptotic")
                for x in (scan, queries)
            )
            numbers = [[x.statistic, x.pvalue, *x.estimates.values()] for x in (found, expected)]
            assert_same(*numbers, rtol=1e-6)
        for curve in (smooth_calibration_curve, gaussian_process_calibration_curve):
            found, expected = curve(scan), curve(queries)
            assert_same(found.prob_pred, expected.prob_pred)
            assert_same(found.prob_true, expected.prob_true, rtol=1e-6)
        found, expected = (calibration_band(x, method="monotone") for x in (scan, queries))
        assert_same(found.low, expected.low, rtol=1e-6)
        assert_same(found.high, expected.high, rtol=1e-6)
        found, expected = (isotonic_calibration_curve(x, random_state=0) for x in (scan, queries))
        # Between points, the curve of a scan has a step for each bucket, not each prediction.
        np.testing.assert_allclose(found.prob_true, expected.prob_true, rtol=5e-3, atol=1e-6)
        assert_same(found.decomposition.score, expected.decomposition.score)


def test_draws_of_a_scan_have_the_law_of_those_in_memory():
    queries = queries_of(laws(30_000)["tiny"])
    found, expected = (
        calibration_test(x, method="resampling", random_state=0)
        for x in (scan_of(queries), queries)
    )
    assert found.method == "resampling"
    assert abs(found.pvalue - expected.pvalue) < 0.1


@pytest.mark.parametrize("weights", [None, "real"])
@pytest.mark.parametrize("n_groups", [40, 4000])
def test_groups_may_be_spread_over_chunks(n_groups, weights):
    group = np.random.default_rng(0).integers(0, n_groups, 25_000)
    names = np.array([f"document {number}" for number in group])
    queries = queries_of(laws(25_000)["spread"], weights, group=names)
    scan = scan_of(queries, 6)
    for options in ({}, {"bin_size": 500}, {"groups": False}):
        found, expected = (calibration_error_interval(x, **options) for x in (scan, queries))
        np.testing.assert_array_equal(found.bins.count, expected.bins.count)
        assert_same(found.confidence_interval, expected.confidence_interval)
        assert_same(found.pvalue, expected.pvalue)


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("n_groups", [90, 3000])
@pytest.mark.parametrize("law", ["spread", "rounded", "ends", "tiny"])
def test_tests_of_groups(law, n_groups, weights):
    rng = np.random.default_rng(n_groups)
    # Answers of a group go together, so that groups matter.
    q, group = laws(45_000)[law], rng.integers(0, n_groups, 45_000)
    y = (rng.random(n_groups)[group] + 0.5 * rng.random(45_000)) % 1.0 < q
    w = queries_of(q, weights).sample_weight
    queries = Queries(y, q, group=np.array([f"g{g}" for g in group]), sample_weight=w)
    scans = [scan_of(queries, n_chunks, seed=n_chunks) for n_chunks in (3, 7)]
    for statistic in ("omnibus", "kuiper", "cox", "spiegelhalter"):
        options = {"statistic": statistic, "method": "asymptotic"}
        expected = calibration_test(queries, **options)
        for scan in scans:
            found = calibration_test(scan, **options)
            assert_same(found.statistic, expected.statistic, rtol=1e-6)
            assert_same(found.pvalue, expected.pvalue, rtol=1e-5)
            for values, others in (
                (found.components, expected.components),
                (found.estimates, expected.estimates),
            ):
                assert values.keys() == others.keys()
                assert_same(list(values.values()), list(others.values()), rtol=1e-5)
    apart = calibration_test(scans[0], statistic="spiegelhalter", groups=False)
    assert apart.pvalue != found.pvalue


@pytest.mark.parametrize("n_groups", [150, 2500])
def test_draws_of_groups(n_groups):
    rng = np.random.default_rng(1)
    q, group = rng.beta(1.0, 2.0, 60_000), rng.integers(0, n_groups, 60_000)
    queries = Queries((rng.random(n_groups)[group] + 0.8 * rng.random(60_000)) % 1 < q, q)
    queries = queries.with_groups(group)
    for statistic in ("omnibus", "kuiper", "cox"):
        options = {"statistic": statistic, "n_resamples": 1999, "random_state": 0}
        expected = calibration_test(queries, **options)
        found = [calibration_test(scan_of(queries, n, seed=n), **options) for n in (2, 9)]
        # Other groups see other random numbers than in memory, but the same in all chunks.
        assert found[0].pvalue == found[1].pvalue
        assert found[0].method == expected.method == "resampling"
        for name, pvalue in expected.components.items() or [("", expected.pvalue)]:
            other = found[0].components.get(name, found[0].pvalue)
            assert abs(other - pvalue) < 5.0 * np.sqrt(2.0 * pvalue / 1999)


def test_few_open_answers_of_groups_are_drawn_as_in_memory():
    rng = np.random.default_rng(2)
    q = np.where(
        rng.random(30_000) < 0.8, rng.integers(0, 2, 30_000).astype(float), rng.random(30_000)
    )
    group = rng.integers(0, 400, 30_000)
    queries = Queries(rng.random(30_000) < q, q, group=group)
    for statistic in ("omnibus", "kuiper", "cox", "spiegelhalter"):
        found, expected = (
            calibration_test(x, statistic=statistic, random_state=0)
            for x in (scan_of(queries, 4), queries)
        )
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert dict(found.components) == dict(expected.components)


@pytest.mark.parametrize("statistic", ["omnibus", "kuiper", "cox", "spiegelhalter"])
def test_groups_of_one_query_and_one_group(statistic):
    queries = queries_of(laws(40_000)["spread"])
    found, expected = (
        calibration_test(x, statistic=statistic)
        for x in (scan_of(queries.with_groups(np.arange(40_000))), scan_of(queries))
    )
    assert_same(found.statistic, expected.statistic, rtol=1e-9)
    assert_same(found.pvalue, expected.pvalue, rtol=1e-9)
    with pytest.raises(TooFewError, match="one group"):
        calibration_test(scan_of(queries.with_groups(np.zeros(40_000))), statistic=statistic)


@pytest.mark.parametrize("weights", [None, "real"])
@pytest.mark.parametrize("law", ["spread", "rounded", "tiny", "ends"])
def test_curves_and_bands_of_groups(law, weights):
    group = np.random.default_rng(0).integers(0, 200, 15_000)
    queries = queries_of(laws(15_000)[law], weights, group=group)
    scan = scan_of(queries, 4)
    for curve in (smooth_calibration_curve, gaussian_process_calibration_curve):
        found, expected = curve(scan), curve(queries)
        assert_same(found.prob_true, expected.prob_true, rtol=1e-6)
        assert_same(found.confidence_interval, expected.confidence_interval, rtol=1e-6)
    found, expected = (isotonic_calibration_curve(x, random_state=0) for x in (scan, queries))
    assert_same(found.confidence_interval, expected.confidence_interval, rtol=1e-6)
    for method in ("monotone", "smooth"):
        found, expected = (calibration_band(x, method=method) for x in (scan, queries))
        np.testing.assert_allclose(found.low, expected.low, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(found.high, expected.high, rtol=1e-6, atol=1e-7)
    # Groups matter here, or this test would say nothing.
    found, apart = smooth_calibration_curve(scan), smooth_calibration_curve(scan, groups=False)
    assert (apart.confidence_interval[1] != found.confidence_interval[1]).any()


@pytest.mark.parametrize("kind", ["alone", "groups", "labels"])
@pytest.mark.parametrize("powers", [(-300, 300), (-40, 0), (-300, -290), (290, 300), (-20, 20)])
def test_weights_of_any_size(kind, powers):
    q = laws(5000)["spread"]
    w = 10.0 ** np.random.default_rng(3).uniform(*powers, 5000)
    extra = {"groups": {"group": np.arange(5000) // 20}, "labels": {"label": np.arange(5000) % 3}}
    queries = Queries(queries_of(q).y_true, q, sample_weight=w, **extra.get(kind, {}))
    columns = {"y_true": queries.y_true, "y_prob": q, "sample_weight": w}
    columns |= {name: values for name, values in extra.get(kind, {}).items()}
    scan = scan_of_columns(columns, 4, n_workers=3)
    if kind == "labels":
        found, expected = label_calibration(scan), label_calibration(queries)
        assert_same(found.error, expected.error)
        assert_same(found.pvalue, expected.pvalue, rtol=1e-6)
        return
    found, expected = calibration_error_interval(scan), calibration_error_interval(queries)
    assert_same(found.error, expected.error)
    assert_same(found.confidence_interval, expected.confidence_interval)
    for options in ({}, {"n_bins": 600}, {"n_bins": 13, "norm": "l1"}):
        errors = [adaptive_bin_calibration_error(x, **options) for x in (scan, queries)]
        assert_same(*errors)
    for statistic in ("omnibus", "spiegelhalter"):
        options = {"statistic": statistic, "method": "asymptotic"}
        tests = [calibration_test(x, **options) for x in (scan, queries)]
        assert_same(tests[0].statistic, tests[1].statistic, rtol=1e-6)
    np.testing.assert_allclose(scan.collect().sample_weight.max(), queries.sample_weight.max())


@pytest.mark.parametrize("few", [0, 50_000])
def test_labels(few, monkeypatch):
    monkeypatch.setattr("sklearn_calib.metrics._binning._scanned._FEW", few)
    shapes = laws(4000)
    label = np.repeat(list(shapes), 4000)
    queries = queries_of(np.concatenate(list(shapes.values())), label=label)
    scan = scan_of(queries, 4)
    found, expected = label_calibration(scan), label_calibration(queries)
    assert found.labels.tolist() == expected.labels.tolist()
    for name in ("count", "n_queries", "error", "mean_gap", "expected", "pvalue"):
        assert_same(getattr(found, name), getattr(expected, name), rtol=1e-8)
    for options in ({}, {"bin_size": 200}, {"classes": ["spread", "tiny"]}, {"debias": True}):
        assert_same(
            adaptive_bin_calibration_error(scan, average="macro", **options),
            adaptive_bin_calibration_error(queries, average="macro", **options),
        )
    # All labels share the passes.
    assert scan.n_passes <= 8
    one = scan.where(label="spread")
    assert_same(
        calibration_bins(one).prob_pred, calibration_bins(queries.where(label="spread")).prob_pred
    )


def test_the_report_needs_two_passes_and_says_the_same():
    queries = queries_of(laws(40_000)["spread"])
    scan = scan_of(queries, 5)
    found, expected = (calibration_report(x, random_state=0) for x in (scan, queries))
    assert found.rows() == expected.rows()
    assert scan.n_passes == 2
    assert found.verdict == expected.verdict
    assert len(found.to_html()) > 1000
    assert scan.n_passes == 2


def test_what_a_scan_cannot_do_says_what_to_do():
    queries = queries_of(laws(1000)["spread"], label=np.repeat(["a", "b"], 500))
    scan = scan_of(queries)
    hint = r"scan\.(sample|collect)\("
    for call in (
        lambda: sample_size_curve(scan),
        lambda: calibration_error_interval(scan, method="bootstrap"),
        lambda: calibration_test(scan, statistic="binned", method="resampling"),
        lambda: adaptive_bin_calibration_error(scan, classes=["a"]),
    ):
        with pytest.raises(TypeError, match=hint):
            call()
    with pytest.raises(TypeError, match=r"scan_queries\(\.\.\., label="):
        label_calibration(scan_of(queries.with_labels(None)))
    with pytest.raises(TypeError, match=r"scan_queries\(\.\.\., group="):
        calibration_error_interval(scan, groups=np.arange(1000))
