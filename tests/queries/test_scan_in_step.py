"""Two scans of the same rows, read in step."""

import numpy as np
import pytest

from sklearn_calib import Queries, scan_queries
from sklearn_calib.queries._scan_in_step import in_step
from tests.scans import in_order


def make(n=1000, seed=0, **options):
    rng = np.random.default_rng(seed)
    return Queries(rng.random(n) < 0.4, rng.random(n), **options)


def test_chunks_of_any_size_come_in_step():
    one, two = make(), make()._with_predictions(np.linspace(0, 1, 1000))
    found = list(in_step(in_order(one, [1, 299, 300]), in_order(two, [250, 250, 250])))
    assert all(len(a) == len(b) for a, b in found)
    for side, queries in enumerate((one, two)):
        np.testing.assert_array_equal(
            np.concatenate([pair[side].y_prob for pair in found]), queries.y_prob
        )


def test_rows_that_differ_are_named():
    rng = np.random.default_rng(0)
    label, group, weight = rng.choice(["a", "b"], 1000), rng.integers(0, 9, 1000), rng.random(1000)
    one = make(label=label, group=group, sample_weight=weight)
    assert list(in_step(in_order(one, [300]), in_order(one, [700])))
    y = one.y_true.copy()
    y[123] = ~y[123]
    label[124], group[125], weight[126] = "c", 100, 5.0
    options = {"label": one.label, "group": one.group, "sample_weight": one.sample_weight}
    others = {
        "y_true": Queries(y, one.y_prob, **options),
        "label": Queries(one.y_true, one.y_prob, **{**options, "label": label}),
        "group": Queries(one.y_true, one.y_prob, **{**options, "group": group}),
        "sample_weight": Queries(one.y_true, one.y_prob, **{**options, "sample_weight": weight}),
    }
    rows = {"y_true": 123, "label": 124, "group": 125, "sample_weight": 126}
    for name, other in others.items():
        with pytest.raises(ValueError, match=rf"differ in {name}: .* in row {rows[name]} \("):
            list(in_step(in_order(one, [100]), in_order(other, [300])))
    plain = Queries(one.y_true, one.y_prob)
    with pytest.raises(ValueError, match=r"a column for sample_weight and the other has none"):
        list(in_step(in_order(one), in_order(plain)))


def test_scans_of_other_length_are_refused():
    one = make()
    for first, second, what in ((1000, 990, "first"), (10, 20, "second")):
        pair = (in_order(one._take(slice(0, n)), [7]) for n in (first, second))
        with pytest.raises(ValueError, match=f"the {what} one goes on after {min(first, second)}"):
            list(in_step(*pair))


def test_files_and_row_groups_are_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    q = np.linspace(0, 1, 100)
    for number in range(3):
        table = pa.table({"y": np.arange(100) % 2, "z": np.arange(100) % 2, "q": q})
        if number == 1:
            table = table.set_column(
                1, "z", pa.array(np.where(np.arange(100) == 57, 0, table["z"]))
            )
        parquet.write_table(table, tmp_path / f"{number}.parquet", row_group_size=30)
    one, two = (scan_queries(tmp_path, y_true=name, y_prob="q") for name in ("y", "z"))
    place = r"1\.parquet, row group 1, row 57 of the file"
    with pytest.raises(
        ValueError, match=rf"differ in y_true: 1 in .*{place}.*, and 0 in .*{place}"
    ):
        list(in_step(one, two))
