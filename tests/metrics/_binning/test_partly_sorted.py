"""Bins from queries of which only those at edges are sorted."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib import Queries, adaptive_bin_calibration_error, calibration_bins
from sklearn_calib.metrics._binning import _partly_sorted
from sklearn_calib.metrics._binning._binned import bin_queries
from sklearn_calib.metrics._binning._partly_sorted import (
    PartlySorted,
    _mean_run,
    _Octaves,
    _plan,
    _share_near_edges,
    partly_sorted,
    sort_for_bins,
)
from sklearn_calib.metrics._binning._rules import BySize
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._bins import bins_of
from tests.scans import laws, queries_of


@pytest.fixture
def always(monkeypatch):
    """Never let a full sort take over."""
    monkeypatch.setattr(_partly_sorted, "_MOST_HELD", 1.0)
    monkeypatch.setattr(_partly_sorted, "_ATTEMPTS", 1000)


def assert_same(queries, bin_size, n_bins, octaves):
    found = bin_queries(partly_sorted(queries, octaves), bin_size, n_bins)
    assert isinstance(found.queries, PartlySorted)
    ours, sort = bins_of(found), bins_of(bin_queries(sort_queries(queries), bin_size, n_bins))
    for name in ("count", "low", "high"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(sort, name), name)
    for name in ("weight", "effective_count"):
        np.testing.assert_allclose(getattr(ours, name), getattr(sort, name), 1e-12, err_msg=name)
    for name in ("prob_pred", "prob_true"):
        np.testing.assert_allclose(getattr(ours, name), getattr(sort, name), 1e-12, 1e-13)
    for norm in ("l2", "l1", "max"):
        assert ours.error(norm) == pytest.approx(sort.error(norm), abs=1e-12)


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("law", laws(10))
@pytest.mark.parametrize("octaves", [_Octaves(2, 4), _Octaves(8, 60)])
def test_bins_are_those_of_a_full_sort(always, law, weights, octaves):
    queries = queries_of(laws(2000)[law], weights)
    for bin_size, n_bins in ((50, None), (333, None), ("auto", None), ("auto", 37)):
        assert_same(queries, bin_size, n_bins, octaves)


@st.composite
def any_queries(draw):
    n = draw(st.integers(1, 60))
    odd = st.sampled_from([0.0, -0.0, 1.0, 0.5, 5e-324, 1e-310, 0.1, 1.0 - 2.0**-53, 2.0**-60])
    q = draw(st.lists(st.one_of(odd, st.floats(0, 1)), min_size=n, max_size=n))
    y = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    weight = st.one_of(st.just(0), st.integers(1, 5), st.floats(0.01, 10))
    w = draw(st.one_of(st.none(), st.lists(weight, min_size=n, max_size=n)))
    if w is not None and not any(w):
        w[0] = 1.0
    return Queries(y, q, sample_weight=w)


@settings(max_examples=300, deadline=None)
@given(any_queries(), st.integers(1, 20), st.sampled_from([_Octaves(1, 1), _Octaves(8, 40)]))
def test_bins_are_those_of_a_full_sort_for_any_queries(queries, size, octaves):
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", UserWarning)  # a size that exceeds the number of queries
        patch.setattr(_partly_sorted, "_MOST_HELD", 1.0)
        patch.setattr(_partly_sorted, "_ATTEMPTS", 1000)
        assert_same(queries, size, None, octaves)
        assert_same(queries, "auto", min(size, len(queries)), octaves)


@pytest.mark.parametrize("law", laws(10))
def test_only_queries_at_edges_are_sorted(law):
    queries = queries_of(laws(200_000)[law], None)
    found = bin_queries(sort_for_bins(queries, "auto", 10), "auto", 10)
    assert len(found.queries.q) == len(queries)  # too few rows for it to pay
    found = bin_queries(partly_sorted(queries, _Octaves(8, 40)), "auto", 10)
    if isinstance(found.queries, PartlySorted):
        assert len(found.queries.q) < len(queries) / 4
        assert len(found.queries) == len(queries)


def test_octaves_are_ranges_in_order():
    rng = np.random.default_rng(0)
    powers = 10.0 ** -rng.uniform(0, 320, 3000)
    u = np.sort(np.minimum(np.concatenate((powers, rng.random(3000), [0, 0.5, 5e-324])), 0.5))
    for octaves in (_Octaves(3, 5), _Octaves(8, 60), _Octaves(10, 1021)):
        code, away = octaves.of(u)
        assert (np.diff(code) >= 0).all()
        assert code[-1] == octaves.n_buckets - 1
        np.testing.assert_array_equal(code == 0, u == 0.0)
        inside = code > 1
        np.testing.assert_array_equal((octaves.place(code) + away)[inside], u[inside])
        assert (u[code > 0] <= octaves.place(code)[code > 0]).all()
        assert (u[inside] > octaves.place(code - 1)[inside]).all()


def test_long_sums_do_not_drift(always):
    # One tenth, added up a million times as it is, errs by 1e-11.
    q = np.concatenate((np.full(400_000, 0.1), np.linspace(0.3, 0.6, 200_000)))
    y = np.arange(len(q)) % 10 == 0
    assert_same(Queries(y, q), "auto", 40, _Octaves(8, 10))
    assert_same(Queries(y, q, sample_weight=np.full(len(q), 0.1)), "auto", 40, _Octaves(8, 10))


def many(n=600_000, law="skewed"):
    rng = np.random.default_rng(0)
    q = {
        "skewed": lambda: rng.beta(0.2, 2.0, n),
        "rounded": lambda: np.round(rng.beta(0.2, 2.0, n), 3),
        "constant": lambda: np.full(n, 0.3),
        "hard": lambda: rng.integers(0, 2, n).astype(float),
    }[law]()
    return rng.random(n) < q, q


@pytest.fixture
def _slow_sort(monkeypatch):
    """Let sorts be no faster than without the newest instructions."""
    monkeypatch.setattr(_partly_sorted, "_step", lambda: _partly_sorted._STEP)


def test_a_fast_sort_is_taken(monkeypatch):
    assert _partly_sorted._step() in (_partly_sorted._FAST_STEP, _partly_sorted._STEP)
    queries = Queries(*many())
    monkeypatch.setattr(_partly_sorted, "_step", lambda: _partly_sorted._FAST_STEP)
    assert type(sort_for_bins(queries, 5000, None)) is not PartlySorted
    weighted = Queries(*many(), sample_weight=np.resize([1.0, 2.0], len(queries)))
    assert isinstance(sort_for_bins(weighted, 5000, None), PartlySorted)


@pytest.mark.usefixtures("_slow_sort")
def test_what_is_faster_is_taken():
    queries = Queries(*many())
    assert isinstance(sort_for_bins(queries, 5000, None), PartlySorted)
    assert isinstance(sort_for_bins(queries, "auto", None), PartlySorted)
    # With bins of ten queries, most queries are near an edge.
    assert type(sort_for_bins(queries, 10, None)) is not PartlySorted
    for law in ("rounded", "constant", "hard"):
        assert _plan(Queries(*many(law=law)), 5000, None) is None
    few = Queries(*many(1000))
    assert type(sort_for_bins(few, 100, None)) is not PartlySorted


@pytest.mark.usefixtures("_slow_sort")
def test_functions_take_it(monkeypatch):
    y, q = many()
    weight = np.random.default_rng(1).gamma(1.0, size=len(q))
    options = [{"bin_size": 5000}, {}, {"n_bins": 30}, {"sample_weight": weight}]
    found = [adaptive_bin_calibration_error(y, q, **option) for option in options]
    bins = [calibration_bins(y, q, **option) for option in options]
    debiased = adaptive_bin_calibration_error(y, q, debias=True)
    monkeypatch.setattr(_partly_sorted, "_LEAST_ROWS", np.inf)
    for option, error, cut in zip(options, found, bins, strict=True):
        expected = adaptive_bin_calibration_error(y, q, **option)
        assert error == pytest.approx(expected, abs=1e-12)
        assert cut.error() == pytest.approx(expected, abs=1e-12)
    assert debiased == adaptive_bin_calibration_error(y, q, debias=True)


def test_full_sort_takes_over_where_edges_are_crowded(monkeypatch):
    q = np.random.default_rng(0).uniform(0.4, 0.4001, 5000)
    queries = Queries(q > 0.40005, q)
    binned = bin_queries(partly_sorted(queries, _Octaves(2, 4)), 100, None)
    assert not isinstance(binned.queries, PartlySorted)
    np.testing.assert_array_equal(binned.count, np.full(50, 100))


def test_shares_of_a_sample():
    # A hundred queries in ten equal buckets, and two bins: one edge, in a tenth of them.
    assert _share_near_edges(np.repeat(np.arange(10), 10), 1.0) == pytest.approx(0.09)
    assert _share_near_edges(np.arange(10), 100.0) == 0.0
    # A thousand queries that share 20 predictions come in runs of fifty.
    assert _mean_run(np.repeat(np.arange(20), 50), 1000) == pytest.approx(49.0)
    assert _mean_run(np.arange(50), 10_000) == 1.0


def test_one_look_where_the_first_bucket_holds_many_bins(monkeypatch):
    rng = np.random.default_rng(0)
    q = np.where(rng.random(200_000) < 0.3, 1e-30 * rng.random(200_000), rng.random(200_000))
    weight = rng.exponential(size=len(q))
    queries = Queries(rng.random(len(q)) < q, q, sample_weight=weight)
    looks = []
    look_up = _partly_sorted._EdgeReader._look_up

    def counted(reader, wanted):
        looks.append(len(wanted))
        look_up(reader, wanted)

    monkeypatch.setattr(_partly_sorted._EdgeReader, "_look_up", counted)
    found = partly_sorted(queries).resolved(BySize(2000.0))
    # Where the first bucket was taken for one bin, all others were looked for beside their places.
    assert len(looks) == 1
    assert isinstance(found, PartlySorted)
    expected = sort_queries(queries)
    ends = [
        x.run_weights[np.searchsorted(x.runs, x.cut_by_size(2000.0))] for x in (found, expected)
    ]
    np.testing.assert_allclose(*ends, rtol=1e-12)
