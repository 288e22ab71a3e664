"""Buckets of predictions, and their sums."""

import pickle
from copy import deepcopy

import numpy as np
import pytest

from sklearn_calib import Queries
from sklearn_calib.metrics._binning import _buckets
from sklearn_calib.metrics._binning._buckets import Buckets, BucketSums, ExactRows, added_up
from tests.scans import laws, queries_of


def predictions():
    rng = np.random.default_rng(0)
    edges = [0.0, 1.0, 0.5, 5e-324, 1e-310, 2.0**-5]
    near = [np.nextafter(0.5, 0), np.nextafter(0.5, 1), np.nextafter(1, 0), np.nextafter(2**-5, 0)]
    powers = 10.0 ** -rng.uniform(0, 320, 2000)
    return np.concatenate((rng.random(2000), powers, 1.0 - powers, edges, near))


@pytest.mark.parametrize("bits", [8, 12, 16, 18])
def test_buckets_are_ranges_in_order(bits):
    q, buckets = predictions(), Buckets(bits)
    number, above = buckets.of(q)
    least, behind, upper = buckets.range(number)
    u = np.minimum(q, 1.0 - q)
    np.testing.assert_array_equal(least + above, u)
    assert (least <= u).all()
    assert (u < behind).all()
    np.testing.assert_array_equal(upper, q > 0.5)
    assert (np.diff(number[np.argsort(q)]) >= 0).all()
    assert number.min() == 0
    assert number.max() == buckets.number - 1


def test_exactly_zero_and_one_have_buckets_of_their_own():
    number, _ = Buckets(16).of(predictions())
    q = predictions()
    np.testing.assert_array_equal(number == 0, q == 0.0)
    np.testing.assert_array_equal(number == Buckets(16).number - 1, q == 1.0)


def test_buckets_are_narrow_where_sums_are_made_from_them():
    q = predictions()
    q = q[(q > 1e-300) & (q < 1.0 - 1e-15)]
    least, behind, _ = Buckets(16).range(Buckets(16).of(q)[0])
    assert ((behind - least) / least <= 2.0**-10).all()


@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_sums_do_not_depend_on_chunks_or_on_who_adds_them(weights):
    queries = queries_of(np.concatenate(list(laws(300).values())), weights)
    whole = BucketSums(Buckets(12), weights is not None)
    whole.add(queries)
    parts = []
    for rows in np.array_split(np.random.default_rng(0).permutation(len(queries)), 5):
        part = BucketSums(Buckets(12), weights is not None)
        part.add(queries._take(rows))
        parts.append(pickle.loads(pickle.dumps(part)))
    merged = parts[0]
    for part in parts[1:]:
        merged.merge(part)
    for here, there in zip(merged.filled(), whole.filled(), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-12, atol=1e-300)
    assert merged.n_rows == len(queries)
    assert merged.whole_weights == whole.whole_weights


@pytest.mark.parametrize("weights", [None, "real"])
@pytest.mark.parametrize("often", [1, 8, 10**6])
def test_exact_rows_are_the_queries_of_their_buckets(often, weights, monkeypatch):
    monkeypatch.setattr(_buckets, "_OFTEN", often)
    queries = queries_of(laws(2000)["rounded"], weights)
    buckets = Buckets(12)
    wanted = np.unique(buckets.of(np.array([0.25, 0.5, 0.75]))[0])
    parts = []
    for rows in np.array_split(np.arange(len(queries)), 3):
        part = ExactRows(buckets, wanted, weights is not None)
        part.add(queries._take(rows))
        parts.append(pickle.loads(pickle.dumps(part)))
    found = parts[0]
    for part in parts[1:]:
        found.merge(part)
    if weights is None:
        # Together they are enough to be looked through.
        found._most = 0
        found.merge(ExactRows(buckets, wanted, False))
    singles = found.take_rows()
    assert len(found.take_rows()) == 0
    if often == 10**6 and weights is None:
        assert len(found.key) == 0
    ones = np.ones((len(found.sums), len(singles)))
    key, sums = added_up(
        np.concatenate((found.key, singles)), np.concatenate((found.sums, ones), axis=1)
    )
    q, answer = (key >> 1).view(np.float64), (key & 1).astype(bool)
    assert set(q) == {0.25, 0.5, 0.75}
    weight = np.ones(len(queries)) if weights is None else queries.sample_weight
    for value, yes, total in zip(q, answer, sums.T, strict=True):
        rows = (queries.y_prob == value) & (queries.y_true == yes)
        assert total[0] == np.count_nonzero(rows)
        if weights is not None:
            expected = [np.sum(weight[rows] ** k) for k in (1, 2, 3, 4, 6)]
            np.testing.assert_allclose(total[1:], expected)


def test_rows_without_weight_are_left_out():
    queries = Queries([0, 1, 1], [0.2, 0.4, 0.4], sample_weight=[0.0, 1.0, 2.0])
    sums = BucketSums(Buckets(12), True)
    sums.add(queries)
    bucket, count, _ = sums.filled()
    assert len(bucket) == 1
    assert count.tolist() == [[0, 2]]
    assert (sums.n_rows, sums.n_used) == (3, 2)


@pytest.mark.parametrize("n_parts", [1, 3])
def test_counts_and_places_are_told_apart_before_they_meet(n_parts):
    buckets = Buckets(16)
    q = np.resize([0.0, 0.3, 0.3, 0.3, 0.7, 1.0, 0.5], 2 * buckets.most)
    queries = Queries._from_checked(np.arange(len(q)) % 5 == 0, q)
    found = BucketSums(buckets, False)
    for rows in np.array_split(np.arange(len(q)), n_parts):
        part = BucketSums(buckets, False)
        part.add(queries._take(rows))
        before = deepcopy(part)
        found.merge(part)
        # A merge may be made again.
        np.testing.assert_array_equal(part.filled()[1], before.filled()[1])
    bucket, count, sums = found.filled()
    assert count.sum() == len(q)
    least, _, upper = buckets.range(bucket)
    for place, value in enumerate(np.unique(q)):
        for answer in (0, 1):
            n = np.count_nonzero((q == value) & (queries.y_true == answer))
            assert count[place, answer] == n
            u = 1.0 - value if upper[place] else value
            assert abs(least[place] + sums[0, place, answer] / n - u) <= 1e-12 * u


def test_narrow_buckets_keep_no_squares_and_others_do():
    q = np.random.default_rng(0).random(20_000) ** 4
    queries = Queries._from_checked(q > 0.5, q)
    found = BucketSums(Buckets(16), False)
    found.add(queries)
    bucket, _, sums = found.filled()
    least, behind, _ = Buckets(16).range(bucket)
    narrow = behind - least <= _buckets.NARROW * least
    assert narrow.any()
    assert not sums[1, narrow].any()
    number, away = Buckets(16).of(q)
    at = np.searchsorted(bucket, number)
    expected = np.bincount(at, np.square(away))
    away = np.abs(sums[1].sum(axis=1) - expected)
    assert (away <= 1e-6 * np.bincount(at) * np.square(behind - least))[~narrow].all()
