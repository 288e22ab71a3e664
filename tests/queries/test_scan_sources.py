"""Files, datasets and functions as sources of a scan."""

import os
import warnings

import numpy as np
import pytest

from sklearn_calib import calibration_bins, label_calibration, scan_queries
from sklearn_calib.queries import _scan_sources
from sklearn_calib.report._read import read_columns
from tests.limits import within_limits
from tests.scans import queries_of, read_as_a_scan

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def table(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    q = rng.beta(0.5, 1.5, n)
    return {
        "answer": rng.random(n) < q,
        "score": q,
        "tag": rng.choice(["NN", "VB"], n),
        "doc": rng.integers(0, 50, n),
        "w": rng.exponential(size=n),
        "other": rng.random(n),
    }


NAMES = {"y_true": "answer", "y_prob": "score"}
ALL = {**NAMES, "label": "tag", "group": "doc", "sample_weight": "w"}


@pytest.fixture
def folder(tmp_path):
    data = table()
    for number in range(3):
        rows = slice(1000 * number, 1000 * (number + 1))
        part = pa.table({name: values[rows] for name, values in data.items()})
        pq.write_table(part, tmp_path / f"part-{number}.parquet", row_group_size=300)
    (tmp_path / "_SUCCESS").write_text("")
    return tmp_path


def assert_all(found, data):
    np.testing.assert_array_equal(found.y_true, data["answer"])
    np.testing.assert_array_equal(found.y_prob, data["score"])
    np.testing.assert_array_equal(found.label, data["tag"])
    np.testing.assert_array_equal(found.group, data["doc"])
    np.testing.assert_array_equal(found.sample_weight, data["w"])


def test_a_file_a_folder_and_a_pattern(folder):
    data = table()
    for source in (folder, str(folder), str(folder / "part-*.parquet")):
        scan = scan_queries(source, **ALL)
        assert scan.n_rows == 3000
        assert_all(scan.collect(), data)
    assert scan_queries(folder / "part-1.parquet", **NAMES).n_rows == 1000


def test_a_dataset_with_a_filter(folder):
    ds = pytest.importorskip("pyarrow.dataset")
    data = table()
    dataset = ds.dataset(folder, format="parquet")
    assert_all(scan_queries(dataset, **ALL).collect(), data)
    nouns = scan_queries(dataset.filter(ds.field("tag") == "NN"), **NAMES).collect()
    np.testing.assert_array_equal(nouns.y_prob, data["score"][data["tag"] == "NN"])
    with pytest.raises(ValueError, match="no column 'missing'; it has 'answer'"):
        scan_queries(dataset, y_true="missing", y_prob="score")


def test_a_csv_file(tmp_path):
    from pyarrow import csv

    data = table()
    path = tmp_path / "predictions.csv"
    csv.write_csv(pa.table(data), path)
    assert_all(scan_queries(path, **ALL).collect(), data)
    path.write_text("answer,score\n1,0.5\n0,high\n")
    with pytest.raises(ValueError, match=r"predictions\.csv.*must hold numbers"):
        scan_queries(path, **NAMES).collect()
    with pytest.raises(ValueError, match="no column 'w'"):
        scan_queries(path, **NAMES, sample_weight="w")


def test_chunks_of_many_kinds():
    pd = pytest.importorskip("pandas")
    data = table()
    frame = pd.DataFrame(data)
    categories = frame.assign(tag=frame["tag"].astype("category"))
    kinds = [frame, categories, pa.table(data), pa.RecordBatch.from_pydict(data), data]
    for chunk in kinds:
        assert_all(scan_queries(lambda chunk=chunk: iter([chunk]), **ALL).collect(), data)


def test_the_place_of_what_is_wrong(folder):
    data = table(1000, seed=5)
    data["score"][637] = 1.5
    pq.write_table(pa.table(data), folder / "part-2.parquet", row_group_size=300)
    with pytest.raises(
        ValueError, match=r"part-2\.parquet, row group 2, row 637 of the file .*'score' is 1\.5"
    ):
        calibration_bins(scan_queries(folder, **NAMES))


def test_a_null_has_a_place(folder):
    data = table(1000, seed=5)
    column = pa.array(data["score"], mask=np.arange(1000) == 950)
    pq.write_table(
        pa.table({**data, "score": column}), folder / "part-2.parquet", row_group_size=300
    )
    with pytest.raises(
        ValueError, match=r"part-2\.parquet, row group 3, row 950 of the file .*'score' is null"
    ):
        calibration_bins(scan_queries(folder, **NAMES))


def test_an_unknown_label_has_a_place(folder):
    data = table(1000, seed=5)
    labels = np.where(data["answer"], "yes", "no").astype(object)
    labels[444] = "perhaps"
    pq.write_table(
        pa.table({**data, "answer": labels}), folder / "late.parquet", row_group_size=300
    )
    with pytest.raises(ValueError, match=r"row group 1, row 444 .*'answer' is 'perhaps'"):
        scan_queries(folder / "late.parquet", **NAMES, pos_label="yes").collect()


def corrupt(path, row_group):
    """Write over a page of a Parquet file."""
    start = pq.ParquetFile(path).metadata.row_group(row_group).column(1).data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 400] = b"\xff" * 400
    path.write_bytes(bytes(content))


def test_a_corrupt_row_group_has_a_place(folder):
    corrupt(folder / "part-1.parquet", row_group=2)
    with pytest.raises(ValueError, match=r"part-1\.parquet, row group 2 \(rows 600 to 899\)"):
        calibration_bins(scan_queries(folder, **NAMES))


WRONG = {
    "null": ("score", None, "'score' is null"),
    "outside": ("score", 1.5, r"'score' is 1\.5: a probability in \[0, 1\] is needed"),
    "not a number": ("score", float("nan"), r"'score' is missing \(NaN\)"),
    "unknown label": ("answer", "perhaps", "'answer' is 'perhaps'"),
}


def wrong_table(kind):
    """Return a column each of answers and predictions, and what is wrong in row 2950."""
    data = table()
    name, value, message = WRONG[kind]
    columns = {
        "answer": np.where(data["answer"], "yes", "no").astype(object),
        "score": data["score"],
    }
    columns = {key: list(values) for key, values in columns.items()}
    columns[name][2950] = value
    return pa.table(columns), message


def sources_of(whole, folder):
    """Yield sources of a table, and where they say that row 2950 is."""
    from pyarrow import csv, dataset

    pq.write_table(whole, folder / "whole.parquet", row_group_size=300)
    place = r"whole\.parquet, row group 9, row 2,950 of the file"
    yield folder / "whole.parquet", place
    parts = folder / "parts"
    parts.mkdir()
    for number in range(3):
        part = whole.slice(1000 * number, 1000)
        pq.write_table(part, parts / f"part-{number}.parquet", row_group_size=300)
    place = r"part-2\.parquet, row group 3, row 950 of the file"
    yield parts, place
    yield str(parts / "part-*.parquet"), place
    data = dataset.dataset(parts)
    yield data, place
    kept = data.filter(dataset.field("answer").is_valid())
    yield kept, r"part-2\.parquet, row 950 of those read"
    if whole["score"].null_count == 0 and not np.isnan(whole["score"]).any():
        csv.write_csv(whole, folder / "whole.csv")
        yield folder / "whole.csv", r"whole\.csv, row 2,950 of those read"
    yield lambda: iter(whole.to_batches(1000)), r"chunk 2, row 950 of it"


@pytest.mark.parametrize("kind", list(WRONG))
def test_a_late_fault_has_a_place_in_every_source(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(_scan_sources, "BATCH", 64)
    whole, message = wrong_table(kind)
    for source, place in sources_of(whole, tmp_path):
        scan = scan_queries(source, **NAMES, pos_label="yes")
        with pytest.raises(ValueError, match=rf"{place}.*{message}"):
            calibration_bins(scan)


def test_a_null_in_a_csv_file_has_a_place(tmp_path):
    lines = [f"{number % 2},{number / 3000}" for number in range(3000)]
    lines[2950] = "1,"
    path = tmp_path / "predictions.csv"
    path.write_text("\n".join(["answer,score", *lines]))
    with pytest.raises(ValueError, match=r"predictions\.csv, row 2,950 of those read.*is null"):
        calibration_bins(scan_queries(path, **NAMES))


def test_several_csv_files(tmp_path):
    y, q = np.resize([0, 1, 1], 5000), np.random.default_rng(0).random(5000)
    for number, rows in enumerate(np.array_split(np.arange(5000), 3)):
        path = tmp_path / f"part-{number}.{('csv', 'tsv')[number % 2]}"
        between = ",\t"[number % 2]
        lines = [f"{q[row]}{between}{y[row]}" for row in rows.tolist()]
        path.write_text("\n".join([f"score{between}answer", *lines]))
    whole = calibration_bins(y, q).error()
    (tmp_path / "README.md").write_text("how they were made")
    for source in (tmp_path, str(tmp_path / "part-*")):
        scan = scan_queries(source, **NAMES)
        assert calibration_bins(scan).error() == pytest.approx(whole, rel=1e-9)
        assert scan.n_rows == 5000
    with (tmp_path / "part-1.tsv").open("a") as file:
        file.write("\n0.5")
    with pytest.raises(ValueError, match=r"part-1\.tsv: cannot be read"):
        calibration_bins(scan_queries(tmp_path, **NAMES))
    (tmp_path / "part-1.tsv").unlink()
    (tmp_path / "part-2.csv").write_text("answer\n1\n")
    with pytest.raises(ValueError, match=r"part-2\.csv: no column 'score'; it has 'answer'"):
        scan_queries(tmp_path, **NAMES)
    # Beside Parquet files, others are left alone.
    pq.write_table(pa.table({"answer": y, "score": q}), tmp_path / "all.parquet")
    assert scan_queries(tmp_path, **NAMES).collect().y_true.sum() == y.sum()


def test_a_corrupt_row_group_of_a_dataset_has_a_place(folder):
    from pyarrow import dataset

    corrupt(folder / "part-1.parquet", row_group=2)
    data = dataset.dataset(str(folder), format="parquet")
    for source in (data, data.filter(dataset.field("score") > 0.01)):
        message = r"part-1\.parquet, row group 2 \(rows 600 to 899\): cannot be read"
        with pytest.raises(ValueError, match=message):
            calibration_bins(scan_queries(source, **NAMES))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        scan_queries(tmp_path / "missing.parquet")
    with pytest.raises(ValueError, match=r"holds no files that end in \.parquet"):
        scan_queries(tmp_path)
    (tmp_path / "broken.parquet").write_text("not a table")
    with pytest.raises(ValueError, match=r"broken\.parquet: cannot be read"):
        scan_queries(tmp_path)
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ValueError, match="a scan reads files that all end in"):
        scan_queries(tmp_path / "x.json")


def test_a_column_that_is_not_there(folder):
    with pytest.raises(ValueError, match="no column 'probability'; it has 'answer', 'score'"):
        scan_queries(folder, y_true="answer", y_prob="probability")


def test_without_pyarrow(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"sklearn-calib\[parquet\]"):
        _scan_sources.import_pyarrow("reading Parquet")


def test_chunks_that_differ():
    plain, weighted = queries_of(np.full(5, 0.5)), queries_of(np.full(5, 0.5), "real")
    with pytest.raises(ValueError, match="chunk 1 has sample_weight, unlike the first"):
        scan_queries(lambda: iter([plain, weighted])).collect()
    with pytest.raises(TypeError, match="a chunk is Queries, a data frame"):
        scan_queries(lambda: iter([3])).collect()
    with pytest.raises(ValueError, match="no column 'y_prob'"):
        scan_queries(lambda: iter([{"y_true": [1]}])).collect()


def test_the_filtered_columns_are_the_only_ones_read(folder, monkeypatch):
    read_as_a_scan(monkeypatch)
    found = []
    original = pq.ParquetFile.iter_batches

    def spy(self, size, groups, columns):
        found.append(columns)
        return original(self, size, groups, columns)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    calibration_bins(scan_queries(folder, **NAMES), n_bins=5)
    assert {tuple(columns) for columns in found} == {("answer", "score")}


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path, compression="zstd")
    assert path.stat().st_size < 1e6
    return path


def refused(path, message):
    with within_limits(), pytest.raises(ValueError, match=message) as caught:
        calibration_bins(scan_queries(path, y_true="y", y_prob="p"))
    said = str(caught.value)
    assert said.isprintable()
    assert len(said) < 1000


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"\x80\x04y,p\n1,0.5\n", r"a\.csv: cannot be read: 'utf-8' codec"),
        ("a.csv", b"y,p\n1,\x1b[31m,2\n", r"a\.csv: cannot be read: CSV parse error"),
        ("a.csv", b"c," * 400_000 + b"y,p\n1,1\n", r"a\.csv, line 1: 400,002 columns; .* 20,000"),
        ("a.tsv", b"\t" * 500_000 + b"y\tp\n", r"a\.tsv, line 1: 500,002 columns"),
        ("a.csv", b"y,p\n", r"a\.csv: The scan has no rows"),
        ("a.csv", "y,p\n\u06dd\n".encode(), r"a\.csv: cannot be read: .*got 1: \\u06dd"),
        ("a.csv", b"y,p\n1,\x80" + b"7" * 5000 + b"\n", r"a\.csv, row 0 .* hold numbers only"),
        ("a.csv", ("n" * 400_000 + ",p\n1,0.5\n").encode(), r"a\.csv: no column 'y'; it has 'nn"),
    ],
)
def test_hostile_csv_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    refused(path, message)


def test_ten_thousand_columns_can_be_scanned(tmp_path):
    path = tmp_path / "wide.csv"
    row = ",".join(["1"] * 10_000)
    path.write_text(",".join(f"c{i}" for i in range(10_000)) + f",y,p\n{row},1,0.5\n{row},0,0.5\n")
    with within_limits():
        assert len(scan_queries(path, y_true="y", y_prob="p").collect()) == 2


def test_parquet_columns_that_hold_no_single_values(tmp_path):
    path = tmp_path / "a.parquet"
    refused(
        parquet(path, y=[[0] * 1000] * 20_000, p=np.full(20_000, 0.5)),
        r"a\.parquet: the column 'y' holds 'list<.*', not single values",
    )
    two = pa.Table.from_arrays([pa.array([1]), pa.array([0.5]), pa.array([0.1])], ["y", "p", "p"])
    pq.write_table(two, path)
    refused(path, r"a\.parquet: it has 2 columns 'p'")
    refused(parquet(path, y=pa.array([], pa.int8()), p=pa.array([], pa.float64())), "no rows")


def test_text_of_parquet_files_that_expands(tmp_path):
    path = tmp_path / "a.parquet"
    long = [f"{'a' * 100_000}{i}" for i in range(2000)]
    refused(
        parquet(path, y=long, p=np.full(2000, 0.5)),
        r"a\.parquet: it expands to 191 MB, some of it text; a file of its size may .* 64 MB",
    )
    codes = pa.array(np.arange(300_000, dtype=np.int32) % 2)
    names = pa.DictionaryArray.from_arrays(codes, ["a" * 900_000, "b"])
    parquet(path, y=codes, p=np.full(300_000, 0.5), label=names)
    with within_limits():
        found = scan_queries(path, y_true="y", y_prob="p", label="label").collect()
    assert [len(name) for name in found.labels.tolist()] == [900_000, 1]
    assert len(found.where(label="b")) == 150_000


def test_one_long_name_does_not_make_all_of_them_long(tmp_path):
    path = tmp_path / "a.csv"
    rows = "".join(f"{i % 2},0.5,{i % 977}\n" for i in range(80_000))
    path.write_text(f"y,p,name\n1,0.5,{'a' * 100_000}\n{rows}")
    with within_limits():
        grouped = scan_queries(path, y_true="y", y_prob="p", group="name").collect()
        assert grouped.n_groups == 978
        table = label_calibration(scan_queries(path, y_true="y", y_prob="p", label="name"))
    assert len(table) == 978


def test_damage_to_what_a_parquet_file_says_of_a_column(tmp_path):
    path = tmp_path / "a.parquet"
    whole = parquet(path, y=[0, 1] * 20, p=[0.5] * 40, label=["a", "b"] * 20).read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    rng = np.random.default_rng(0)
    said = []
    for _ in range(300):
        data = bytearray(whole)
        # In the footer, and in the pages, where text is.
        first = len(data) - footer if rng.random() < 0.7 else 4
        data[rng.integers(first, len(data) - 8)] = rng.integers(256)
        path.write_bytes(data)
        with warnings.catch_warnings(), within_limits():
            warnings.simplefilter("ignore")
            try:
                label_calibration(scan_queries(path, y_true="y", y_prob="p", label="label"))
            except ValueError as error:
                said.append(str(error))
    assert len(said) > 50
    assert all("a.parquet" in message for message in said)


def test_text_that_is_not_utf8(tmp_path):
    path = tmp_path / "a.parquet"
    parquet(path, y=[0, 1], p=[0.5, 0.5], label=["abcdef", "b"])
    path.write_bytes(path.read_bytes().replace(b"abcdef", b"\x80bcdef"))
    with pytest.raises(ValueError, match=r"a\.parquet, row group 0, .* text that is not UTF-8"):
        scan_queries(path, y_true="y", y_prob="p", label="label").collect()
    with pytest.raises(ValueError, match=r"a\.parquet: cannot be read: it has text that is not"):
        read_columns(path, ["label"])


def test_a_small_parquet_file_of_very_many_rows(tmp_path):
    path = tmp_path / "a.parquet"
    n = 6_000_000
    parquet(path, y=np.zeros(n, dtype=np.int8), p=np.zeros(n, dtype=np.float32))
    refused(path, r"a\.parquet: it says that it has 6,000,000 rows; .* 1 MB may have 5,000,000")
    with pytest.raises(ValueError, match=r"a\.parquet: it says that it has 6,000,000 rows"):
        read_columns(path, ["y"])
    ds = pytest.importorskip("pyarrow.dataset")
    assert scan_queries(ds.dataset(path), y_true="y", y_prob="p") is not None


def test_names_of_columns_that_are_not_utf8(tmp_path):
    path = tmp_path / "a.parquet"
    parquet(path, y=[0, 1], p=[0.5, 0.5], another=[1, 2])
    path.write_bytes(path.read_bytes().replace(b"another", b"\x80nother"))
    refused(path, r"a\.parquet: cannot be read: 'utf-8' codec")
    with pytest.raises(ValueError, match=r"a\.parquet: cannot be read: 'utf-8' codec"):
        read_columns(path, ["y"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes of this kind")
@pytest.mark.parametrize("name", ["data", "data/a.parquet", "data/*.parquet", "data/b.csv"])
def test_pipes_are_not_waited_for(tmp_path, name):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "folder.parquet").mkdir()
    os.mkfifo(folder / "a.parquet")
    os.mkfifo(folder / "b.csv")
    with pytest.raises(ValueError, match=r"is no file: it is a pipe"):
        scan_queries(tmp_path / name, y_true="y", y_prob="p")
