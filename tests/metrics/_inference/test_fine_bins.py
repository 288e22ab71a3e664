"""Fine bins: what they are worth, and what groups take away."""

import numpy as np
import pytest
from scipy import sparse, special

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._inference import _fine_bins as module
from sklearn_calib.metrics._inference._fine_bins import (
    LEAST,
    fine_bins,
    group_sums,
    inflation,
    log_odds,
    own_squares,
)


def ordered(queries):
    return sort_queries(queries, units=queries.units)


def test_few_predictions_have_a_bin_each():
    rng = np.random.default_rng(0)
    q = rng.choice([0.1, 0.5, 0.8], size=500)
    y = rng.random(500) < q
    bins = fine_bins(ordered(Queries(y, q)), 10)
    assert len(bins) == 3
    np.testing.assert_allclose(bins.q, [0.1, 0.5, 0.8], rtol=1e-12)
    np.testing.assert_array_equal(bins.n, [(q == value).sum() for value in (0.1, 0.5, 0.8)])
    np.testing.assert_allclose(bins.yes, [y[q == value].sum() for value in (0.1, 0.5, 0.8)])
    np.testing.assert_allclose(bins.x, special.logit(bins.q))


@pytest.mark.parametrize("most", [5, 50])
def test_many_predictions_are_cut(most):
    sample = make_queries(3000, random_state=0)
    bins = fine_bins(ordered(sample.queries), most)
    assert 0.5 * most <= len(bins) <= most
    assert bins.n.sum() == pytest.approx(3000)
    assert bins.yes.sum() == pytest.approx(sample.y_true.sum())
    assert (np.diff(bins.q) > 0).all()
    assert (bins.n * bins.q).sum() == pytest.approx(sample.y_prob.sum())


def test_weights_are_repetitions():
    sample = make_queries(600, random_state=1)
    times = np.random.default_rng(0).integers(1, 4, size=600)
    weighted = Queries(sample.y_true, sample.y_prob, sample_weight=times.astype(float))
    repeated = Queries(np.repeat(sample.y_true, times), np.repeat(sample.y_prob, times))
    ours, theirs = (fine_bins(ordered(queries), 20) for queries in (weighted, repeated))
    np.testing.assert_allclose(ours.n, theirs.n)
    np.testing.assert_allclose(ours.q, theirs.q)
    np.testing.assert_allclose(ours.yes, theirs.yes)


def test_log_odds_are_kept_from_infinity():
    found = log_odds(np.array([0.0, 0.5, 1.0, LEAST / 2]))
    assert np.isfinite(found).all()
    assert found[1] == 0.0
    assert found[0] == found[3] == pytest.approx(-found[2])


def test_spread_of_one_prediction_is_one():
    bins = fine_bins(ordered(Queries([0, 1, 1], [0.3, 0.3, 0.3])), 10)
    assert bins.spread == 1.0


def test_own_squares_and_group_sums():
    sample = make_queries(400, group_size=8, random_state=2)
    queries = ordered(sample.queries)
    bins = fine_bins(queries, 7)
    fit = np.linspace(0.1, 0.9, len(bins))
    column = np.repeat(np.arange(len(bins)), bins.binned.count)
    rest = queries.y - fit[column]
    np.testing.assert_allclose(own_squares(bins.binned, fit), np.bincount(column, rest**2))
    sums = group_sums(bins.binned, fit).toarray()
    assert sums.shape == (50, len(bins))
    for unit in (0, 17, 49):
        for bin_ in range(len(bins)):
            own = rest[(queries.unit == unit) & (column == bin_)].sum()
            assert sums[unit, bin_] == pytest.approx(own)


@pytest.mark.parametrize("at_a_time", [7, 10**6])
def test_inflation_by_hand(at_a_time, monkeypatch):
    monkeypatch.setattr(module, "_AT_A_TIME", at_a_time)
    sums = np.array([[3.0, 0.0], [-1.0, 1.0], [2.0, 1.0], [0.0, -2.0]])
    own = np.array([7.0, 100.0])
    found = inflation(sparse.csr_array(sums), lambda part: part, own)
    second, fourth = (sums**2).sum(axis=0), (sums**4).sum(axis=0)
    grown = second / own * (1.0 + np.sqrt(2.0 * fourth / second**2))
    # The second is below one: groups never make queries worth more.
    np.testing.assert_allclose(found, [grown[0], 1.0])


def test_copies_in_groups_inflate_by_their_number():
    sample = make_queries(2000, random_state=3)
    five = Queries(
        np.repeat(sample.y_true, 5),
        np.repeat(sample.y_prob, 5),
        group=np.repeat(np.arange(2000), 5),
    )
    queries = ordered(five)
    bins = fine_bins(queries, 30)
    factor = bins.group_inflation(bins.yes / bins.n, bins.spread)
    # Five copies are worth one query; a standard error is added on top.
    assert (factor > 4.5).all()
    assert np.median(factor) < 6.0
    np.testing.assert_allclose(bins.deflated(factor).n, bins.n / factor)
    # And queries that are groups of their own are worth what they are.
    single = sort_queries(sample.queries, units=np.arange(2000))
    alone = fine_bins(single, 30)
    factor = alone.group_inflation(alone.yes / alone.n, alone.spread)
    assert (factor >= 1.0).all()
    assert np.median(factor) < 1.2
