"""Columns of a file: CSV, TSV, JSON lines or Parquet, plain or gzipped."""

from __future__ import annotations

import csv
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from sklearn_calib._files import FileError, open_text, shortened
from sklearn_calib._results import printable
from sklearn_calib._validation import Array, text_array
from sklearn_calib.queries._scan_sources import text_columns

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

# A Parquet file may have two million rows, or two for each of its bytes if that is more: a column
# that repeats one value takes next to no place in the file, but does in memory.
_FREE_ROWS = 2_000_000


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
        with open_text(path, newline="") as stream:
            rows = _json_rows if kind == "jsonl" else _delimited_rows
            return _collect(path, stream, rows, kind, names)
    except OSError as error:
        raise FileError(f"{path.name}: cannot be read: {error}.") from None


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
    listing = ", ".join(map(shortened, known[:20])) + (", ..." if len(known) > 20 else "")
    return FileError(f"{path.name}: no column {shortened(name)}; it has {listing}.")


def _delimited_rows(
    path: Path, stream: IO[str], kind: str, names: list[str]
) -> Iterator[list[Any]]:
    lines = [stream.readline()]
    quotes = lines[0].count('"')
    while quotes % 2 and (more := stream.readline()):
        # A name in quotes may go on in the next line.
        lines.append(more)
        quotes += more.count('"')
    if not any(line.strip() for line in lines):
        raise FileError(f"{path.name}: the file is empty.")
    # Where decimals have commas, values have semicolons between them: believe the header.
    # A long line is one field to a mark that it does not have, and may be too long for one.
    headers: dict[str, list[str]] = {}
    problem = None
    for mark in SEPARATORS[kind]:
        try:
            headers[mark] = next(csv.reader(lines, delimiter=mark))
        except csv.Error as error:
            problem = f"{path.name}, line 1: the header cannot be read: {error}."
    if not headers:
        raise FileError(problem)
    mark, header = max(headers.items(), key=lambda item: (len({*names} & {*item[1]}), len(item[1])))
    times = Counter(header)
    for name in names:
        if name not in times:
            raise FileError(problem) if problem else _missing(path, name, header)
        if times[name] > 1:
            raise FileError(f"{path.name}: the header has {times[name]} columns {name!r}.")
    at = {name: place for place, name in enumerate(header)}
    places = [at[name] for name in names]
    reader = csv.reader(stream, delimiter=mark)
    try:
        for row in reader:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            if len(row) != len(header):
                raise FileError(
                    f"{path.name}, line {len(lines) + reader.line_num}: {len(row)} values, but the "
                    f"header has {len(header)}."
                )
            yield [row[place] for place in places]
    except csv.Error as error:
        raise FileError(f"{path.name}, line {len(lines) + reader.line_num}: {error}.") from None


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
        except ValueError as error:  # a number with thousands of digits
            raise FileError(f"{path.name}, line {number}: {error}.") from None
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
            'pip install "sklearn-calib[parquet]".'
        ) from None
    try:
        about = parquet.read_metadata(path)
        most = max(_FREE_ROWS, 2 * path.stat().st_size)
        if about.num_rows > most:
            raise FileError(
                f"{path.name}: it says that it has {about.num_rows:,} rows; a file of its size may "
                f"have {most:,}."
            )
        schema = parquet.read_schema(path)
        for name in names:
            if name not in schema.names:
                raise _missing(path, name, schema.names)
        texts = text_columns(path, schema, about, names)
        with parquet.ParquetFile(path, read_dictionary=texts) as file:
            table = file.read(columns=names)
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        said = printable(str(error).splitlines()[0])[:300]
        raise FileError(f"{path.name}: cannot be read: {said}") from None
    if table.num_rows == 0:
        raise FileError(f"{path.name}: there are no rows.")
    try:
        return {name: _values(table[name]) for name in names}
    except UnicodeDecodeError:
        raise FileError(f"{path.name}: cannot be read: it has text that is not UTF-8.") from None


def _values(column: Any) -> list[Any]:
    """Return the values of a column, in which the same text is one object."""
    if not hasattr(column.type, "index_type"):
        return column.to_pylist()
    column = column.unify_dictionaries()
    names = column.chunk(0).dictionary.to_pylist()
    return [
        None if code is None else names[code]
        for chunk in column.chunks
        for code in chunk.indices.to_pylist()
    ]


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
                    hint = f" Write decimals with a point: {_with_point(value).strip()[:60]}."
                raise FileError(
                    f"column {name!r}, row {row}: {shortened(value)} is not a number.{hint}"
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
            raise FileError(f"column {name!r}, row {row}: {shortened(value)} is not a label.")
    texts = [str(value) for value in values]
    distinct = set(texts)
    if {text.lower() for text in distinct} <= {"true", "false"}:
        return np.array([text.lower() == "true" for text in texts])
    # Only texts that are written as numbers are, in one way each: 01 is not 1.
    if all(text.endswith(".0") and _INTEGER.fullmatch(text[:-2]) for text in distinct):
        return np.array([int(text[:-2]) for text in texts])
    if all(_INTEGER.fullmatch(text) for text in distinct):
        return np.array([int(text) for text in texts])
    return text_array(texts)
