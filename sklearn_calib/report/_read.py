"""Columns of a file: CSV, TSV, JSON lines or Parquet, plain or gzipped."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from sklearn_calib._results import printable
from sklearn_calib._validation import Array

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}

# What may stand between values: the usual mark of the format first.
SEPARATORS = {"csv": ",;\t", "tsv": "\t,;"}

_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?\s*")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,14}")

# Rows between two looks at the clock.
_STEP = 50_000


class FileError(ValueError):
    """What is wrong with the file, in one line."""


class Progress:
    """A line on the terminal that says how far reading has come; silent elsewhere."""

    def __init__(self, path: Path, stream: Any = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.path, self.last, self.shown = path, time.monotonic(), False

    def update(self, rows: int, share: float | None) -> None:
        if not self.stream.isatty() or time.monotonic() - self.last < 0.5:
            return
        part = "" if share is None else f" ({share:.0%})"
        self.stream.write(f"\rreading {printable(self.path.name)}: {rows:,} rows{part} ")
        self.stream.flush()
        self.last, self.shown = time.monotonic(), True

    def done(self) -> None:
        if self.shown:
            self.stream.write("\r\033[K")
            self.stream.flush()


def file_format(path: Path) -> str:
    """Return the format that the name of a file tells."""
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    found = FORMATS.get(suffixes[-1].lower()) if suffixes else None
    if found is None:
        raise FileError(
            f"{path.name}: the format is not known from the name; use one of "
            f"{', '.join(FORMATS)} (the text formats also with .gz)."
        )
    return found


def read_columns(path: Path, names: list[str]) -> dict[str, list[Any]]:
    """Return the named columns of a file as lists of raw values."""
    if not path.exists():
        raise FileError(f"{path}: no such file.")
    kind = file_format(path)
    try:
        if kind == "parquet":
            return _read_parquet(path, names)
        with _open(path) as stream:
            rows = _json_rows if kind == "jsonl" else _delimited_rows
            return _collect(path, stream, rows, kind, names)
    except UnicodeDecodeError as error:
        raise FileError(f"{path.name}: not UTF-8 text ({error.reason}).") from None
    except (OSError, EOFError, csv.Error, zlib.error) as error:
        raise FileError(f"{path.name}: cannot be read: {error}.") from None


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _collect(
    path: Path, stream: IO[str], rows: Callable[..., Iterator[list[Any]]], kind: str,
    names: list[str],
) -> dict[str, list[Any]]:  # fmt: skip
    columns: list[list[Any]] = [[] for _ in names]
    progress = Progress(path)
    size = path.stat().st_size if path.suffix != ".gz" else None
    for count, values in enumerate(rows(path, stream, kind, names), start=1):
        for column, value in zip(columns, values, strict=True):
            column.append(value)
        if count % _STEP == 0:
            # The text layer cannot tell its place while it is iterated over; its buffer can.
            place = getattr(getattr(stream, "buffer", None), "tell", None)
            progress.update(count, place() / size if size and place else None)
    progress.done()
    if not columns[0]:
        raise FileError(f"{path.name}: there are no rows.")
    return dict(zip(names, columns, strict=True))


def _missing(path: Path, name: str, known: list[str]) -> FileError:
    return FileError(f"{path.name}: no column {name!r}; it has {', '.join(map(repr, known[:20]))}.")


def _delimited_rows(
    path: Path, stream: IO[str], kind: str, names: list[str]
) -> Iterator[list[Any]]:
    first = stream.readline()
    while first.count('"') % 2 and (more := stream.readline()):
        # A name in quotes may go on in the next line.
        first += more
    if not first.strip():
        raise FileError(f"{path.name}: the file is empty.")
    # Where decimals have commas, values have semicolons between them: believe the header.
    lines = first.splitlines(keepends=True)
    headers = {mark: next(csv.reader(lines, delimiter=mark)) for mark in SEPARATORS[kind]}
    mark, header = max(headers.items(), key=lambda item: (len({*names} & {*item[1]}), len(item[1])))
    reader = csv.reader(stream, delimiter=mark)
    for name in names:
        if name not in header:
            raise _missing(path, name, header)
        if header.count(name) > 1:
            raise FileError(f"{path.name}: the header has {header.count(name)} columns {name!r}.")
    places = [header.index(name) for name in names]
    for row in reader:
        if not row or (len(row) == 1 and not row[0].strip()):
            continue
        if len(row) != len(header):
            raise FileError(
                f"{path.name}, line {len(lines) + reader.line_num}: {len(row)} values, but the "
                f"header has {len(header)}."
            )
        yield [row[place] for place in places]


def _json_rows(path: Path, stream: IO[str], kind: str, names: list[str]) -> Iterator[list[Any]]:
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise FileError(f"{path.name}, line {number}: not JSON ({error.msg}).") from None
        except RecursionError:
            raise FileError(f"{path.name}, line {number}: JSON that is nested too deep.") from None
        if not isinstance(row, dict):
            raise FileError(f"{path.name}, line {number}: a JSON object is expected.")
        for name in names:
            if name not in row:
                raise FileError(f"{path.name}, line {number}: no field {name!r}.")
        yield [row[name] for name in names]


def _read_parquet(path: Path, names: list[str]) -> dict[str, list[Any]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise FileError(
            f"{path.name}: reading Parquet needs pyarrow, which is not installed: "
            "pip install pyarrow."
        ) from None
    try:
        known = parquet.read_schema(path).names
        for name in names:
            if name not in known:
                raise _missing(path, name, known)
        table = parquet.read_table(path, columns=names)
    except (ArrowException, OSError) as error:
        raise FileError(f"{path.name}: cannot be read: {str(error).splitlines()[0]}") from None
    if table.num_rows == 0:
        raise FileError(f"{path.name}: there are no rows.")
    return {name: table[name].to_pylist() for name in names}


def as_numbers(values: list[Any], name: str, *, commas: bool = False) -> Array:
    """Return a column as float64, or name the first value that is not a number.

    With `commas`, a column may have decimal commas throughout. This is for probabilities
    only: 1,234 may be a large weight, but it is no probability unless it is a decimal.
    """
    try:
        return np.array(values, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        if commas and not any("." in str(value) for value in values):
            return as_numbers([_with_point(value) for value in values], name)
        for row, value in enumerate(values, start=1):
            try:
                float(value)
            except (OverflowError, TypeError, ValueError):
                hint = ""
                if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value):
                    hint = f" Write decimals with a point: {_with_point(value).strip()}."
                raise FileError(
                    f"column {name!r}, row {row}: {value!r} is not a number.{hint}"
                ) from None
        raise


def _with_point(value: Any) -> Any:
    decimal = isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value)
    return value.replace(",", ".") if decimal else value


def as_labels(values: list[Any], name: str) -> Array:
    """Return a column of labels: numbers where all of them are, else text."""
    for row, value in enumerate(values, start=1):
        if value is None or value == "":
            raise FileError(f"column {name!r}, row {row}: the label is missing.")
        if isinstance(value, (list, dict)):
            raise FileError(f"column {name!r}, row {row}: {value!r} is not a label.")
    texts = [str(value) for value in values]
    distinct = set(texts)
    if {text.lower() for text in distinct} <= {"true", "false"}:
        return np.array([text.lower() == "true" for text in texts])
    # Only texts that are written as numbers are, in one way each: 01 is not 1.
    if distinct <= {"0.0", "1.0", "-1.0"}:
        return np.array([int(float(text)) for text in texts])
    if all(_INTEGER.fullmatch(text) for text in distinct):
        return np.array([int(text) for text in texts])
    return np.array(texts)
