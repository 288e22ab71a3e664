"""Tables that were written to be slow to read, or look wrong and are right."""

import csv
import gzip

import pytest

from sklearn_calib.report._command import main
from sklearn_calib.report._read import read_columns
from tests.limits import within_limits


def refused(path, names, message):
    assert path.stat().st_size < 1.1e6
    with within_limits(), pytest.raises(ValueError, match=message) as caught:
        read_columns(path, names)
    assert len(str(caught.value)) < 3000


def test_a_header_with_a_name_of_many_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('label,"' + "\n" * 100_000 + '",score\n1,x,0.5\n')
    with within_limits():
        assert read_columns(path, ["label", "score"]) == {"label": ["1"], "score": ["0.5"]}
    path.write_text('label,"' + "\n" * 100_000)
    refused(path, ["score"], "a.csv: no column 'score'; it has 'label'")
    for name in ("\n" * 900_000, "a" * 200_000):
        path.write_text(f'label,"{name}",score\n1,x,0.5\n')
        refused(path, ["score"], "a.csv, line 1: the header cannot be read: field larger than")


def test_a_field_that_is_too_long_has_its_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("label,score\n1,0.5\n1," + "9" * 200_000 + "\n")
    refused(path, ["score"], "a.csv, line 3: field larger than field limit")


def test_ten_thousand_columns(tmp_path):
    names = [f"the class {i}" for i in range(10_000)]
    assert len(",".join(names)) > csv.field_size_limit()
    path = tmp_path / "wide.csv"
    rows = [",".join(["label", *names])]
    rows += [",".join([names[i], *("1" if j == i else "0" for j in range(10_000))]) for i in (3, 7)]
    path.write_text("\n".join(rows))
    with within_limits():
        found = read_columns(path, ["label", *names])
    assert found["the class 7"] == ["0", "1"]


def test_the_report_of_ten_thousand_columns(tmp_path, capsys):
    n = 10_000
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(n)]
    other = 0.5 / (n - 1)
    rows = [",".join(["label", *names])]
    rows += [
        ",".join([names[i], *(f"{0.5 if j == i else other}" for j in range(n))]) for i in (3, 7)
    ]
    path.write_text("\n".join(rows))
    assert main(["report", str(path), "--y-true", "label", "--y-prob", *names[:2]]) == 2
    assert "has no probability column" in capsys.readouterr().err


def test_numbers_with_thousands_of_digits(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"score": 0.5}\n{"score": ' + "9" * 5000 + "}\n")
    refused(path, ["score"], "a.jsonl, line 2: ")
    path.write_text('{"score": ' + "[" * 500_000 + "\n")
    refused(path, ["score"], "a.jsonl, line 1: JSON that is nested too deep")


@pytest.mark.parametrize("score", ["9" * 5000, "\u00b2", "1_0", "nan", "a" * 100_000])
def test_scores_that_are_no_probabilities(tmp_path, capsys, score):
    path = tmp_path / "a.csv"
    path.write_text(f"label,score\n1,0.5\n0,{score}\n", encoding="utf-8")
    with within_limits():
        assert main(["report", str(path), "--y-true", "label", "--y-prob", "score"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert len(error) < 500


def test_parquet_that_says_it_has_billions_of_rows(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    column = pyarrow.array([0.5] * 3_000_000)
    parquet.write_table(pyarrow.table({"score": column}), path)
    assert path.stat().st_size < 20_000
    refused(path, ["score"], "a.parquet: it says that it has 3,000,000 rows; .* may have 2,000,000")


def test_packed_tables(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"score\n" + b"0.5\n" * 1000)[:-9])
    refused(path, ["score"], r"a\.csv\.gz, line \d+: .* damaged or cut off")
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"score\n")
        for _ in range(70):
            file.write(b" " * 2**20)
    refused(path, ["score"], r"a\.csv\.gz, line 2: the file expands to more than 64 MB")


def test_damaged_parquet_is_refused_in_one_printable_line(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"y": [0, 1] * 20, "p": [0.5, None] * 20}), path)
    whole = path.read_bytes()
    said = set()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + b"\x0f" + whole[place + 1 :])
        try:
            read_columns(path, ["y", "p"])
        except ValueError as error:
            said.add(str(error))
    assert len(said) > 5
    assert all("a.parquet" in message and message.isprintable() for message in said)


@pytest.mark.parametrize("option", ["--y-true", "--group"])
def test_one_long_label_does_not_make_all_of_them_long(tmp_path, capsys, option):
    path = tmp_path / "a.csv"
    rows = "".join(f"{i % 2},0.5,{i % 977}\n" for i in range(80_000))
    path.write_text(f"y,p,g\n1,0.5,1\n{rows}{'a' * 100_000},0.5,{'b' * 100_000}\n")
    chosen = {"--y-true": ["--y-true", "y"], "--group": ["--y-true", "y", "--group", "g"]}[option]
    with within_limits():
        assert main(["report", str(path), "--y-prob", "p", *chosen, "--pos-label", "1"]) == 0
        capsys.readouterr()
        assert main(["report", str(path), "--y-prob", "p", *chosen]) == 2
    assert len(capsys.readouterr().err) < 1000


def test_text_of_a_parquet_file_is_kept_once(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    codes = pa.array([0, 1, None] * 100_000)
    names = pa.DictionaryArray.from_arrays(codes, ["a" * 900_000, "b"])
    parquet.write_table(pa.table({"y": names}), path, compression="zstd")
    with within_limits():
        found = read_columns(path, ["y"])["y"]
    assert len(found) == 300_000
    assert found[:3] == ["a" * 900_000, "b", None]
    parquet.write_table(pa.table({"y": [[1, 2], [3]]}), path)
    refused(path, ["y"], r"a\.parquet: the column 'y' holds 'list<element: int64>'")


@pytest.mark.parametrize(
    "text",
    ["y,p\n1,50%\n", "y,p\n1,0x1p-1\n", "y,p\n1,1.0000000001\n0,.5\n", "y,p\n1,.5\n",
     "y,p\na,.5\nb,.5\n", "y,p\ntrue,.5\n0,.5\n", "y,p\n\x1b[31m,.5\nb,.5\n",
     "sep=,\ny,p\n1,.5\n", "y;p\n1,.5\n", "y\0,p\n1,.5\n"],
)  # fmt: skip
def test_whatever_is_wrong_the_file_is_named(tmp_path, capsys, text):
    path = tmp_path / "predictions.csv"
    path.write_text(text)
    assert main(["report", str(path), "--y-true", "y", "--y-prob", "p"]) == 2
    said = capsys.readouterr().err
    assert "predictions.csv" in said
    assert said.count("\n") == 1
    assert said[:-1].isprintable()
