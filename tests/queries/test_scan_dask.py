"""Dask collections as sources of a scan."""

import os
import signal
from functools import partial
from itertools import count

import numpy as np
import pytest

from sklearn_calib import Queries, calibration_error_interval, calibration_test, scan_queries
from sklearn_calib.queries import _scan, _scan_dask
from tests.scans import assert_same, laws, queries_of

dask = pytest.importorskip("dask")
cloudpickle = pytest.importorskip("cloudpickle")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.filterwarnings("ignore")


def frame_of(queries, n_partitions=7):
    frame = queries.to_frame().sample(frac=1.0, random_state=0)
    return dd.from_pandas(frame, npartitions=n_partitions, sort=False)


@pytest.mark.parametrize("weights", [None, "real"])
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_data_frame(weights, scheduler):
    queries = queries_of(laws(5000)["spread"], weights)
    name = None if weights is None else "sample_weight"
    with dask.config.set(scheduler=scheduler):
        found = calibration_error_interval(scan_queries(frame_of(queries), sample_weight=name))
    expected = calibration_error_interval(queries)
    assert_same(found.confidence_interval, expected.confidence_interval)
    assert_same(found.pvalue, expected.pvalue)


def test_a_pair_of_arrays():
    queries = queries_of(laws(5000)["rounded"])
    y, q = da.from_array(queries.y_true, chunks=700), da.from_array(queries.y_prob, chunks=900)
    with dask.config.set(scheduler="synchronous"):
        scan = scan_queries((y, q))
        assert_same(
            calibration_error_interval(scan).confidence_interval,
            calibration_error_interval(queries).confidence_interval,
        )
        np.testing.assert_array_equal(scan.collect().y_prob, queries.y_prob)
        assert len(scan.sample(100, random_state=0)) == 100
    with pytest.raises(ValueError, match="answers and predictions only"):
        scan_queries((y, q), group="doc")


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_progress_is_shown(scheduler, capsys, monkeypatch):
    monkeypatch.setattr(_scan.time, "monotonic", count(0.0, 1.0).__next__)
    frame = frame_of(queries_of(laws(5000)["spread"]), 5)
    with dask.config.set(scheduler=scheduler):
        calibration_error_interval(scan_queries(frame, show_progress=True))
    shown = capsys.readouterr().err
    assert "pass 1: sums of buckets" in shown
    assert "5,000 rows" in shown
    assert "pass 2: queries at the edges of bins, 5,000 rows (100%)" in shown
    with dask.config.set(scheduler=scheduler):
        calibration_error_interval(scan_queries(frame, show_progress=False))
    assert capsys.readouterr().err == ""


def test_the_place_of_what_is_wrong():
    q = np.linspace(0.0, 1.0, 100)
    q[73] = 1.5
    y = np.zeros(100, dtype=int)
    pair = (da.from_array(y, chunks=30), da.from_array(q, chunks=30))
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match=r"partition 2, row 13 of it .*is 1\.5"),
    ):
        scan_queries(pair).collect()


def test_a_partition_that_cannot_be_read_is_named(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    q = np.linspace(0.0, 1.0, 900)
    path = tmp_path / "predictions.parquet"
    pq.write_table(pa.table({"y_true": q > 0.5, "y_prob": q}), path, row_group_size=300)
    start = pq.ParquetFile(path).metadata.row_group(2).column(1).data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 400] = b"\xff" * 400
    path.write_bytes(bytes(content))
    frame = dd.read_parquet(str(path), split_row_groups=1)
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match="partition 2: cannot be read"),
    ):
        calibration_error_interval(scan_queries(frame))


@pytest.mark.parametrize("value", [None, float("nan"), 1.5])
def test_a_late_fault_of_a_data_frame_has_a_place(value):
    data = queries_of(laws(1000)["spread"]).to_frame()
    data.loc[950, "y_prob"] = value
    parts = dd.from_pandas(data, npartitions=10, sort=False)
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match=r"partition 9, row 50 of it .*'y_prob' is"),
    ):
        calibration_error_interval(scan_queries(parts))


def test_labels_that_differ_between_partitions():
    y = np.array([0, 1, 0, 1, -1, 1])
    pair = (da.from_array(y, chunks=2), da.from_array(np.full(6, 0.5), chunks=2))
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match="in different partitions"),
    ):
        scan_queries(pair).collect()


def test_a_column_that_is_not_there():
    with pytest.raises(ValueError, match="no column 'score'"):
        scan_queries(frame_of(queries_of(laws(100)["spread"])), y_prob="score")


def test_what_partitions_share_is_sent_once():
    frame = frame_of(queries_of(laws(1000)["spread"]), 10)
    graphs = []

    def get(graph, keys, **options):
        graphs.append(graph)
        return dask.get(graph, keys, **options)

    make = partial(_Heavy, np.zeros(100_000))
    with dask.config.set(scheduler=get):
        found = scan_queries(frame)._reduce(make)
    assert found.n_rows == 1000
    # A scheduler sends each task on its own; one of them holds what they share.
    graph = graphs[-1]
    tasks = (graph.__dask_graph__() if hasattr(graph, "__dask_graph__") else graph).values()
    assert sum(len(cloudpickle.dumps(task)) for task in tasks) < 1.5 * 800_000


def tasks_of(frame):
    """Return how many tasks read partitions in a pass."""
    graphs = []

    def get(graph, keys, **options):
        graphs.append(graph)
        return dask.get(graph, keys, **options)

    with dask.config.set(scheduler=get):
        scan = scan_queries(frame)
        assert scan._reduce(partial(_Heavy, None)).n_rows == 2000
    graph = graphs[-1]
    keys = graph.__dask_graph__() if hasattr(graph, "__dask_graph__") else graph
    return sum(str(key).startswith("_reduced") for key in keys)


def test_a_task_reads_several_partitions_unless_they_share_work(monkeypatch):
    monkeypatch.setattr(_scan_dask, "_n_threads", lambda: 2)
    queries = queries_of(laws(2000)["spread"], group=np.arange(2000) % 100)
    frame = frame_of(queries, 30)
    assert tasks_of(frame) == 6
    assert tasks_of(frame_of(queries, 5)) == 5
    assert tasks_of(frame.shuffle("group")) == 30


def test_one_of_many_partitions_tells_how_many_rows_there_are():
    queries = queries_of(laws(2000)["spread"])

    def estimate(frame):
        return scan_queries(frame)._source.estimated_rows()

    def broken(part, partition_info=None):
        raise OSError("gone")

    with dask.config.set(scheduler="synchronous"):
        many = frame_of(queries, 25)
        assert estimate(many) == 2000
        assert estimate(frame_of(queries, 4)) is None
        assert estimate(many.map_partitions(broken, meta=many._meta)) is None


def test_a_sample_and_the_order_do_not_depend_on_who_reads(monkeypatch):
    queries = queries_of(laws(2000)["spread"])
    data = queries.to_frame()
    data["label"] = np.arange(2000) % 3
    frame = dd.from_pandas(data, npartitions=30, sort=False)
    found = []
    with dask.config.set(scheduler="synchronous"):
        for n_threads in (1, 3, 20):
            monkeypatch.setattr(_scan_dask, "_n_threads", lambda n=n_threads: n)
            scan = scan_queries(frame, label="label")
            drawn = scan.sample(300, random_state=0).y_prob
            of_label = scan.where(label=1).sample(100, random_state=0).y_prob
            found.append((drawn, of_label))
            np.testing.assert_array_equal(scan.collect().y_prob, queries.y_prob)
    for drawn, of_label in found[1:]:
        np.testing.assert_array_equal(drawn, found[0][0])
        np.testing.assert_array_equal(of_label, found[0][1])
    # Each partition has random numbers of its own: the same places in all would be drawn.
    place = np.searchsorted(np.sort(queries.y_prob), found[0][1])
    rows = np.argsort(queries.y_prob, kind="stable")[place] % 67
    assert len(np.unique(rows)) > 45


def test_partitions_may_be_empty():
    queries = queries_of(laws(3000)["spread"], "real", group=np.arange(3000) // 10)
    frame = dd.from_pandas(queries.to_frame(), npartitions=12, sort=False)
    first = Queries(
        queries.y_true[:500],
        queries.y_prob[:500],
        sample_weight=queries.sample_weight[:500],
        group=queries.group[:500],
    )
    with dask.config.set(scheduler="synchronous"):
        scan = scan_queries(
            frame[frame["group"] < 50], group="group", sample_weight="sample_weight"
        )
        for statistic in ("spiegelhalter", "cox"):
            found, expected = (
                calibration_test(x, statistic=statistic, method="asymptotic") for x in (scan, first)
            )
            assert_same(found.statistic, expected.statistic, rtol=1e-6)


def test_arrays_of_unknown_sizes():
    queries = queries_of(laws(3000)["spread"])
    y, q = da.from_array(queries.y_true, chunks=400), da.from_array(queries.y_prob, chunks=400)
    with dask.config.set(scheduler="synchronous"):
        few = q < 0.4
        scan = scan_queries((y[few], q[few]))
        keep = queries.y_prob < 0.4
        assert_same(
            calibration_error_interval(scan).error,
            calibration_error_interval(Queries(queries.y_true[keep], queries.y_prob[keep])).error,
        )
        with pytest.raises(ValueError, match=r"partition .* unequal length"):
            scan_queries((y[few], q[q < 0.5])).collect()


class _Heavy:
    """A reduction that counts rows, and knows much before it starts."""

    def __init__(self, knows):
        self.n_rows = 0

    def add(self, chunk):
        self.n_rows += len(chunk)

    def merge(self, other):
        self.n_rows += other.n_rows


def fall_once(frame, marks, marked):
    """Kill the worker that reads one of the marked partitions, each the first time only."""
    number = int(frame["number"].iloc[0])
    if number in marked and not (marks / str(number)).exists():
        (marks / str(number)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return frame


@pytest.mark.slow
def test_a_lost_worker_costs_only_time(tmp_path):
    distributed = pytest.importorskip("distributed")
    queries = queries_of(laws(20_000)["spread"])
    expected = calibration_error_interval(queries)
    rows = queries.to_frame()
    rows["number"] = np.arange(len(rows)) // 1000
    # More partitions than tasks: one that is lost had read several.
    frame = dd.from_pandas(rows, npartitions=20, sort=False)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        uninterrupted = calibration_error_interval(scan_queries(frame))
        # A worker falls in the middle of the first pass, and another one later in it; new ones
        # come in their places.
        fragile = frame.map_partitions(fall_once, tmp_path, (7, 15), meta=frame._meta)
        scan = scan_queries(fragile)
        found = calibration_error_interval(scan)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["15", "7"]
        assert scan.n_passes > 1
    for result in (uninterrupted, found):
        assert_same(result.confidence_interval, expected.confidence_interval)
    assert found.error == pytest.approx(uninterrupted.error, rel=1e-12)
    assert found.pvalue == pytest.approx(uninterrupted.pvalue, rel=1e-9)
