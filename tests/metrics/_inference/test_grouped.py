"""The debiased square as a sum over pairs of units."""

import numpy as np
import pytest

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._inference import _grouped
from sklearn_calib.metrics._inference._grouped import pair_form
from sklearn_calib.metrics._inference._sample import make_sample


@pytest.mark.parametrize("dense", [0, 2000])
@pytest.mark.parametrize("entries", [16, 4_000_000])
@pytest.mark.parametrize("crowded", [0.0, 2.0])
def test_pair_form_against_all_pairs(monkeypatch, dense, entries, crowded):
    monkeypatch.setattr(_grouped, "_DENSE", dense)
    monkeypatch.setattr(_grouped, "_ENTRIES", entries)
    monkeypatch.setattr(_grouped, "_CROWDED", crowded)
    rng = np.random.default_rng(0)
    sample = make_queries(60, group_size=4, random_state=1)
    w = rng.random(60) + 0.5
    queries = Queries(sample.y_true, sample.y_prob, group=sample.queries.group, sample_weight=w)
    ordered = sort_queries(queries, units=queries.units)
    ends = ordered.cut_by_size(8)
    form = pair_form(BinnedQueries(ordered, ends))
    bins = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    r = ordered.w * (ordered.y - ordered.q)
    kernel = np.zeros((15, 15))
    for b in range(len(ends)):
        inside = bins == b
        weight = np.bincount(ordered.unit[inside], ordered.w[inside], minlength=15)
        s = np.bincount(ordered.unit[inside], r[inside], minlength=15)
        pairs = weight.sum() ** 2 - np.sum(weight**2)
        kernel += np.outer(s, s) * weight.sum() / ordered.w.sum() / pairs
    off = kernel - np.diag(np.diag(kernel))
    assert form.square == pytest.approx(off.sum())
    assert form.rows == pytest.approx(off.sum(axis=1))
    assert form.cross_moment(form) == pytest.approx(np.sum(off**2))
    assert form.third_moment() == pytest.approx(np.trace(off @ off @ off))


def test_influence_against_all_pairs():
    sample = make_queries(60, distortion="shift", strength=0.2, group_size=4, random_state=1)
    ordered = sort_queries(sample.queries, units=sample.queries.units)
    form = pair_form(BinnedQueries(ordered, ordered.cut_by_size(12)))
    s, w = form.sums.toarray(), form.weights.toarray()
    total = w.sum(axis=0)
    units = total**2 / np.square(w).sum(axis=0)
    centring, pairing = np.sqrt(units / (units - 1)), 1 + 1 / (units - 2)
    share = total / w.sum()
    centred = s - w * s.sum(axis=0) / total
    influence, noise, between = np.zeros(15), 0.0, 0.0
    for g in range(15):
        c = share / total / (total - w[g])
        for h in range(15):
            if h != g:
                influence[g] += np.sum(c * centring * pairing * s[g] * s[h])
                product = centring**2 * centred[g] * centred[h]
                noise += np.sum(form.factor * np.sqrt(pairing) / centring * product) ** 2
                between += g * h * np.sum(form.factor * product)
    pairs = s.sum(axis=0) ** 2 - np.square(s).sum(axis=0)
    influence -= w @ (form.factor * centring * pairing * pairs / total)
    assert form.centred.sums.toarray() == pytest.approx(centring * centred)
    assert form.influence == pytest.approx(influence)
    assert form.influence_noise == pytest.approx(noise)
    assert form.centred.between(np.arange(15.0)) == pytest.approx(between)


@pytest.mark.parametrize(
    ("n_groups", "group_size", "strength", "dependence"),
    [(30, 60, 0.15, 0.0), (30, 60, 0.15, 0.3), (60, 5, 0.0, 0.5), (12, 20, 0.2, 0.0)],
)
def test_moments_of_groups_are_right_on_average(n_groups, group_size, strength, dependence):
    squares, variances = [], []
    rng = np.random.default_rng(2)
    for _ in range(250):
        sample = make_queries(
            n_groups * group_size, a=2, b=2, distortion="shift", strength=strength,
            group_size=group_size, dependence=dependence, random_state=rng,
        )  # fmt: skip
        found = make_sample(sample.queries, "auto", None).moments
        squares.append(found.square)
        uneven = found.spread * sample.error**4 / found.n
        variances.append(found.variance + found.linear + uneven)
    # The variance of 250 draws has a standard error of about 9 %.
    assert np.mean(variances) == pytest.approx(np.var(squares), rel=0.25)


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_single_precision_is_enough_for_the_third_moment(monkeypatch, size):
    sample = make_queries(6000, group_size=20, dependence=0.5, random_state=0)
    queries = Queries(
        sample.y_true, sample.y_prob, group=sample.queries.group, sample_weight=np.full(6000, size)
    )
    ordered = sort_queries(queries, units=queries.units)
    bins = BinnedQueries(ordered, ordered.cut_by_number(40))
    expected = pair_form(bins).third_moment()
    monkeypatch.setattr(_grouped, "_MANY", 0)
    monkeypatch.setattr(_grouped, "_ENTRIES", 1000)
    assert pair_form(bins).third_moment() == pytest.approx(expected, rel=1e-6)
    right = pair_form(bins, np.zeros(6000))
    assert right.third_moment() == right.cross_moment(right) == 0.0
