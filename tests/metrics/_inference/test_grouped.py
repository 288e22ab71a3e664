"""The debiased square as a sum over pairs of units."""

import numpy as np
import pytest

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import sort_queries
from sklearn_calib.metrics._inference import _grouped
from sklearn_calib.metrics._inference._grouped import pair_form


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
