"""Sums of groups of a scan are those of the same queries in memory."""

import numpy as np
import pytest

from sklearn_calib.metrics._inference._grouped import pair_form
from sklearn_calib.metrics._inference._sample import make_sample
from sklearn_calib.metrics._inference._scanned_groups import _GroupCells, group_sums_of_scan
from tests.scans import assert_same, laws, queries_of, read_as_a_scan, scan_of


@pytest.mark.parametrize("weights", [None, "real"])
def test_the_form_is_that_in_memory(weights, monkeypatch):
    read_as_a_scan(monkeypatch)
    group = np.random.default_rng(0).integers(0, 60, 3000)
    queries = queries_of(laws(3000)["spread"], weights, group=group)
    sample = make_sample(queries, "auto", None)
    expected = pair_form(sample.bins)
    sums = group_sums_of_scan(scan_of(queries, 7), sample.bins.high)
    found = sums.form(len(sample.bins))
    assert_same(found.sums.toarray(), expected.sums.toarray())
    assert_same(found.weights.toarray(), expected.weights.toarray())
    count = sums.distinct(len(sample.bins))
    unit = sample.ordered.unit[: sample.bins.ends[2]]
    assert count(0, 3) == len(np.unique(unit))


def test_merged_parts_are_the_whole():
    group = np.array([f"g{i}" for i in np.random.default_rng(0).integers(0, 30, 2000)])
    queries = queries_of(laws(2000)["rounded"], group=group)
    high = np.array([0.1, 0.4, 1.0])
    whole, first, second = (_GroupCells(high) for _ in range(3))
    whole.add(queries)
    first.add(queries._take(slice(0, 700)))
    second.add(queries._take(slice(700, 2000)))
    first.merge(second)
    tables = []
    for cells in (whole, first):
        cells.settle()
        names = {code: name for name, code in cells.codes.items()}
        tables.append(
            {
                (names[key // 3], int(key % 3)): tuple(np.round(values, 9))
                for key, values in zip(cells.key.tolist(), cells.sums.T, strict=True)
            }
        )
        keys = {name: cells.content.mixed[:, at].tolist() for name, at in cells.codes.items()}
        tables.append(keys)
    assert tables[0] == tables[2]
    assert tables[1] == tables[3]
