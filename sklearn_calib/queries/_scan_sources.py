"""Where the rows of a scan come from: files, datasets, Dask collections, functions."""

from __future__ import annotations

import glob
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sklearn_calib._files import FileError, check_files, expansion_limit, listed, shortened
from sklearn_calib._validation import text_array
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan_columns import Coded, Piece, QueryMaker

# Rows that are read at a time.
BATCH = 1 << 18

_CSV = {".csv": ",", ".tsv": "\t"}
# Each column of a CSV file costs pyarrow several kilobytes, whether it is wanted or not.
_MOST_COLUMNS = 20_000
# How many rows a Parquet file of less than so many bytes may have.
_MOST_ROWS, _SMALL = 5_000_000, 1_000_000


class Reduction(Protocol):
    """What is made from chunks of queries, in any order, and put together."""

    def add(self, chunk: Queries) -> None:
        """Add the queries of a chunk."""

    def merge(self, other: Any) -> None:
        """Add what was made from other chunks."""


class Source(ABC):
    """Chunks of queries that can be read again and again."""

    # How many rows there are, where that is known without reading them.
    n_rows: int | None = None
    # What messages about all of it begin with.
    where: str = ""

    def __init__(self, columns: Mapping[str, str], pos_label: object) -> None:
        self.columns = dict(columns)
        self._maker = QueryMaker(pos_label, {role: repr(name) for role, name in columns.items()})

    @abstractmethod
    def chunks(self) -> Iterator[Queries]:
        """Yield all queries, chunk by chunk."""

    def estimated_rows(self) -> int | None:
        """Return about how many rows there are, or None where that is not quickly told."""
        return self.n_rows

    def place_of(self, row: int) -> str:
        """Say where a row is that is counted from the first of all."""
        return f"row {row:,} (counted from 0)"

    def reduce(self, make: Callable[[], Any], progress: Callable[[int], None]) -> Any:
        """Return the reduction of all chunks."""
        found = make()
        for chunk in even_chunks(self.chunks()):
            found.add(chunk)
            progress(len(chunk))
        return found


class LabelSource(Source):
    """The queries of one label of a source."""

    def __init__(self, source: Source, label: object) -> None:
        super().__init__(source.columns, source._maker.pos_label)
        del self.columns["label"]
        self._source, self._of_label = source, partial(of_label, label=label)
        self.where = source.where

    def chunks(self) -> Iterator[Queries]:
        """Yield the queries of the label, chunk by chunk."""
        for chunk in self._source.chunks():
            part = self._of_label(chunk)
            if part is not None:
                yield part

    def reduce(self, make: Callable[[], Any], progress: Callable[[int], None]) -> Any:
        """Return the reduction of the queries of the label."""
        return self._source.reduce(partial(Changed, make, self._of_label), progress).found


class Changed:
    """A reduction that sees what a function makes of chunks; None is left out."""

    def __init__(self, make: Callable[[], Any], change: Callable[[Queries], Queries | None]):
        self.found, self._change = make(), change

    @property
    def n_rows(self) -> int:
        """How many rows were seen."""
        return int(getattr(self.found, "n_rows", 0))

    @property
    def piece(self) -> int:
        """Which partition the next chunk is of."""
        return int(self.found.piece)

    @piece.setter
    def piece(self, number: int) -> None:
        self.found.piece = number

    def add(self, chunk: Queries) -> None:
        """Add what is made of a chunk."""
        part = self._change(chunk)
        if part is not None:
            self.found.add(part)

    def merge(self, other: Changed) -> None:
        """Add what was made of other chunks."""
        self.found.merge(other.found)


def of_label(chunk: Queries, label: object) -> Queries | None:
    """Return the queries of a label, without it, or None where there are none."""
    if chunk.labels is None or label not in chunk.labels.tolist():
        return None
    found = chunk.where(label=label)
    return found.with_labels(None) if len(found) else None


def even_chunks(chunks: Iterator[Queries], least: int = BATCH // 2) -> Iterator[Queries]:
    """Join small chunks, and cut large ones, so that a chunk costs neither time nor memory."""
    waiting: list[Queries] = []
    held = 0
    for chunk in chunks:
        for first in range(0, len(chunk), BATCH):
            whole = first == 0 and len(chunk) <= BATCH
            part = chunk if whole else chunk._take(slice(first, first + BATCH))
            if not waiting and len(part) >= least:
                yield part
                continue
            waiting.append(part)
            held += len(part)
            if held >= least:
                yield Queries.concat(waiting, shared_groups=True)
                waiting, held = [], 0
    if waiting:
        yield Queries.concat(waiting, shared_groups=True)


def import_pyarrow(what: str) -> Any:
    """Return pyarrow, or say how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(
            f'{what} needs pyarrow, which is not installed: pip install "sklearn-calib[parquet]".'
        ) from None
    return pyarrow


def arrow_piece(columns: Mapping[str, Any], names: Mapping[str, str], place: Any) -> Piece:
    """Return arrow columns, by role, as a piece; none of their values may be null."""
    return Piece(
        {role: _from_arrow(column, names[role], place) for role, column in columns.items()}, place
    )


def _from_arrow(column: Any, name: str, place: Callable[[int], str]) -> Any:
    import pyarrow as pa

    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([])
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise FileError(f"{place(row)}: {name!r} is null.")
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type):
        try:
            names = column.dictionary.to_pylist()
        except UnicodeDecodeError:
            raise FileError(f"{place(0)}: {name!r} holds text that is not UTF-8.") from None
        if {*map(type, names)} <= {str}:
            return Coded(column.indices.to_numpy(zero_copy_only=False), text_array(names))
        column = column.dictionary_decode()
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)


def text_columns(path: Path, schema: Any, about: Any, names: Collection[str]) -> list[str]:
    """Return which of the columns of a Parquet file hold text, if it is not too much.

    Such columns are read as codes of their distinct values: a text that is there a
    million times takes next to no place in the file. Columns of lists are refused.
    """
    import pyarrow as pa

    for name in names:
        if schema.names.count(name) > 1:
            raise FileError(f"{path}: it has {schema.names.count(name)} columns {shortened(name)}.")
        if pa.types.is_nested(schema.field(name).type):
            kind = shortened(str(schema.field(name).type))
            raise FileError(
                f"{path}: the column {shortened(name)} holds {kind}, not single values."
            )
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    texts = {name for name in names if any(kind(schema.field(name).type) for kind in kinds)}
    # Of all columns: pyarrow ends the process over what a damaged file says of a single one.
    groups = range(about.num_row_groups) if texts else ()
    total = sum(about.row_group(group).total_byte_size for group in groups)
    limit = expansion_limit(path)
    if total > limit:
        raise FileError(
            f"{path}: it expands to {total / 2**20:,.0f} MB, some of it text; a file of its size "
            f"may expand to {limit / 2**20:,.0f} MB."
        )
    return sorted(texts)


class ParquetSource(Source):
    """Parquet files, row group by row group."""

    def __init__(self, files: list[Path], columns: Mapping[str, str], pos_label: object) -> None:
        super().__init__(columns, pos_label)
        self.files = files
        self.where = f"{files[0]}{f' and {len(files) - 1:,} more' * (len(files) > 1)}: "
        pyarrow = import_pyarrow(f"{files[0].name}: reading Parquet")
        from pyarrow import parquet

        n_rows = 0
        self._texts: dict[Path, list[str]] = {}
        for path in files:
            try:
                opened = parquet.ParquetFile(path)
            except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
                raise unreadable(str(path), error) from None
            with opened:
                self._check_rows(path, opened.metadata.num_rows)
                n_rows += opened.metadata.num_rows
                schema = opened.schema_arrow
                for name in self.columns.values():
                    if name not in schema.names:
                        raise FileError(
                            f"{path}: no column {name!r}; it has {listed(schema.names)}. "
                            "Columns that are in the names of folders can be read as well: pass "
                            "pyarrow.dataset.dataset(folder, partitioning='hive')."
                        )
                wanted = self.columns.values()
                self._texts[path] = text_columns(path, schema, opened.metadata, wanted)
        self.n_rows = n_rows

    @staticmethod
    def _check_rows(path: Path, n_rows: int) -> None:
        """Refuse a small file that would take long: one value can be repeated in a few bytes."""
        if n_rows > _MOST_ROWS and path.stat().st_size < _SMALL:
            raise FileError(
                f"{path}: it says that it has {n_rows:,} rows; a file of less than "
                f"{_SMALL // 10**6} MB may have {_MOST_ROWS:,}. If it is what it should be, pass "
                "pyarrow.dataset.dataset(path)."
            )

    def chunks(self) -> Iterator[Queries]:
        """Yield all queries, chunk by chunk."""
        import pyarrow
        from pyarrow import parquet

        wanted = list(dict.fromkeys(self.columns.values()))
        for path in self.files:
            with parquet.ParquetFile(path, read_dictionary=self._texts[path]) as file:
                first = 0
                for group in range(file.metadata.num_row_groups):
                    rows = file.metadata.row_group(group).num_rows
                    where = f"{path}, row group {group}"
                    batches = file.iter_batches(BATCH, [group], wanted)
                    done = 0
                    while True:
                        try:
                            batch = next(batches, None)
                        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
                            start = first + done
                            raise unreadable(
                                f"{where} (rows {start:,} to {first + rows - 1:,})", error
                            ) from None
                        if batch is None:
                            break
                        yield self._queries(batch, where, first + done)
                        done += len(batch)
                    first += rows
        # What was read is gone, and so is the memory for it.
        pyarrow.default_memory_pool().release_unused()

    def place_of(self, row: int) -> str:
        """Say where a row is that is counted from the first of all."""
        from pyarrow import parquet

        for path in self.files:
            found = parquet.read_metadata(path)
            if row >= found.num_rows:
                row -= found.num_rows
                continue
            group = before = 0
            while row >= before + found.row_group(group).num_rows:
                before += found.row_group(group).num_rows
                group += 1
            return f"{path}, row group {group}, row {row:,} of the file (counted from 0)"
        return super().place_of(row)

    def _queries(self, batch: Any, where: str, start: int) -> Queries:
        def place(row: int) -> str:
            return f"{where}, row {start + row:,} of the file (counted from 0)"

        columns = {role: batch.column(name) for role, name in self.columns.items()}
        return self._maker.queries(arrow_piece(columns, self.columns, place))


def unreadable(where: str, error: Exception) -> FileError:
    """Return the error that says what cannot be read, and why."""
    lines = str(error).strip().splitlines()
    said = lines[0][:300] if lines else type(error).__name__
    # It may quote the file, and characters that cannot be seen.
    said = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in said)
    return FileError(f"{where}: cannot be read: {said}")


class BatchSource(Source):
    """A pyarrow Dataset, or a CSV file: batches that come with the name of their file."""

    def __init__(
        self,
        batches: Callable[[list[str]], Iterator[tuple[str, Any]]],
        columns: Mapping[str, str],
        pos_label: object,
    ) -> None:
        super().__init__(columns, pos_label)
        self._batches = batches

    def chunks(self) -> Iterator[Queries]:
        """Yield all queries, chunk by chunk."""
        import pyarrow

        done: dict[str, int] = {}
        wanted = list(dict.fromkeys(self.columns.values()))
        batches = self._batches(wanted)
        where = ""
        while True:
            try:
                found = next(batches, None)
            except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
                raise self._unread(where, done.get(where, 0), wanted, error) from None
            if found is None:
                return
            where, batch = found
            start = done.get(where, 0)
            done[where] = start + len(batch)
            if len(batch) == 0:
                continue

            def place(row: int, where: str = where, start: int = start) -> str:
                return self._place(where, start + row)

            columns = {role: batch.column(name) for role, name in self.columns.items()}
            yield self._maker.queries(arrow_piece(columns, self.columns, place))

    def _place(self, where: str, row: int) -> str:
        """Say where a row is."""
        return f"{where}, row {row:,} of those read (counted from 0)"

    def _unread(self, where: str, row: int, wanted: list[str], error: Exception) -> FileError:
        """Say what could not be read, after a row of a file."""
        after = f"{where}, after row {row:,}" if where else self.where.removesuffix(": ")
        return unreadable(after or "the source", error)


class DatasetSource(BatchSource):
    """A pyarrow Dataset; its filter and the choice of columns go to it."""

    def __init__(self, dataset: Any, columns: Mapping[str, str], pos_label: object) -> None:
        known = dataset.schema.names
        for name in columns.values():
            if name not in known:
                raise FileError(f"the dataset has no column {name!r}; it has {listed(known)}.")
        self._dataset = dataset
        super().__init__(self._tagged, columns, pos_label)

    def _tagged(self, wanted: list[str]) -> Iterator[tuple[str, Any]]:
        for tagged in self._dataset.scanner(columns=wanted, batch_size=BATCH).scan_batches():
            yield getattr(tagged.fragment, "path", "the dataset"), tagged.record_batch

    def _place(self, where: str, row: int) -> str:
        filtered, files = self._files()
        first = 0
        # With a filter, rows of a file are left out, and it is not known which.
        for group in () if filtered else files[where].row_groups if where in files else ():
            if row < first + group.num_rows:
                return f"{where}, row group {group.id}, row {row:,} of the file (counted from 0)"
            first += group.num_rows
        return super()._place(where, row)

    def _unread(self, where: str, row: int, wanted: list[str], error: Exception) -> FileError:
        import pyarrow

        files = self._files()[1]
        for path in list(files)[list(files).index(where) if where in files else 0 :]:
            fragment, place, first = files[path], path, 0
            try:
                for group in fragment.row_groups:
                    last = first + group.num_rows - 1
                    place = f"{path}, row group {group.id} (rows {first:,} to {last:,})"
                    part = fragment.subset(row_group_ids=[group.id], schema=self._dataset.schema)
                    for _ in part.scanner(columns=wanted, batch_size=BATCH).to_batches():
                        pass
                    first = last + 1
            except (pyarrow.ArrowException, OSError) as found:
                return unreadable(place, found)
        return super()._unread(where, row, wanted, error)

    def _files(self) -> tuple[bool, dict[str, Any]]:
        """Return whether there is a filter, and the Parquet files of the dataset."""
        data = self._dataset
        try:
            filtered, found = False, list(data.get_fragments())
        except ValueError:
            # A filtered dataset does not tell its fragments.
            filtered = True
            found = [
                data.format.make_fragment(path, filesystem=data.filesystem)
                for path in getattr(data, "files", ())
            ]
        return filtered, {part.path: part for part in found if hasattr(part, "row_groups")}


def _open_csv(path: Path, wanted: list[str] | None = None) -> Any:
    from pyarrow import csv

    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=1 << (20 if wanted is None else 24)),
        parse_options=csv.ParseOptions(delimiter=_CSV[path.suffix.lower()]),
        convert_options=csv.ConvertOptions(include_columns=wanted),
    )


def _csv_types(path: Path) -> dict[str, Any]:
    """Return names and types of the columns of a CSV file, from its first lines."""
    import pyarrow

    with path.open("rb") as file:
        header = re.split(rb"[\r\n]", file.read(1 << 24).lstrip(b"\r\n"), maxsplit=1)[0]
    n_columns = header.count(_CSV[path.suffix.lower()].encode()) + 1
    if n_columns > _MOST_COLUMNS:
        raise FileError(
            f"{path}, line 1: {n_columns:,} columns; a scan reads CSV files of {_MOST_COLUMNS:,} "
            "at most. Write the columns that are needed to a file of their own."
        )
    try:
        with _open_csv(path) as reader:
            # Here already, since names that are no text are found when they are asked for.
            return {field.name: field.type for field in reader.schema}
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise unreadable(str(path), error) from None


def csv_source(files: list[Path], columns: Mapping[str, str], pos_label: object) -> BatchSource:
    """Return CSV files as a source."""
    pyarrow = import_pyarrow(f"{files[0].name}: reading a large CSV file")

    def batches(wanted: list[str]) -> Iterator[tuple[str, Any]]:
        for path in files:
            rows = 0
            try:
                with _open_csv(path, wanted) as reader:
                    for batch in reader:
                        yield str(path), batch
                        rows += len(batch)
            except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
                where = f"{path}, after row {rows:,}" if rows else str(path)
                raise unreadable(where, error) from None

    for path in files:
        known = list(_csv_types(path))
        for name in columns.values():
            if name not in known:
                raise FileError(f"{path}: no column {name!r}; it has {listed(known)}.")
    source = BatchSource(batches, columns, pos_label)
    source.where = f"{files[0]}: " if len(files) == 1 else ""
    return source


def files_of(path: str | PathLike[str]) -> list[Path]:
    """Return the files behind a path, a folder or a pattern: all of Parquet, or all CSV and TSV."""
    given = Path(path)
    if given.is_dir():
        inside = [
            file
            for file in sorted(given.rglob("*"))
            if file.suffix.lower() in (".parquet", *_CSV)
            and not any(part.startswith(("_", ".")) for part in file.relative_to(given).parts)
            and not file.is_dir()
        ]
        # Beside Parquet files, others are notes.
        files = [file for file in inside if file.suffix.lower() == ".parquet"] or inside
        if not files:
            raise FileError(f"{given}: the folder holds no files that end in .parquet or .csv.")
        check_files(files)
        return files
    if given.exists():
        files = [given]
    else:
        files = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
        if not files:
            raise FileError(f"{given}: no such file, folder or pattern of files.")
    check_files(file for file in files if not file.is_dir())
    kinds = {file.suffix.lower() for file in files}
    if kinds == {".parquet"} or kinds <= set(_CSV):
        return files
    raise FileError(
        f"{given}: a scan reads files that all end in .parquet, or all in .csv or .tsv; got "
        f"{', '.join(sorted(kinds))}. Pass a pyarrow Dataset for other formats."
    )


def file_source(path: str | PathLike[str], columns: Mapping[str, str], pos_label: object) -> Source:
    """Return the files behind a path, a folder or a pattern as a source."""
    files = files_of(path)
    made = csv_source if files[0].suffix.lower() in _CSV else ParquetSource
    return made(files, columns, pos_label)


def column_type(path: str | PathLike[str], name: str) -> Any:
    """Return the pyarrow type of a column of the first file behind a path."""
    from pyarrow import parquet

    first = files_of(path)[0]
    if first.suffix.lower() in _CSV:
        return _csv_types(first)[name]
    return parquet.read_schema(first).field(name).type


class FunctionSource(Source):
    """A function that returns an iterator of chunks."""

    def __init__(
        self, function: Callable[[], Any], columns: Mapping[str, str], pos_label: object
    ) -> None:
        super().__init__(columns, pos_label)
        self.function = function
        first = next(iter(function()), None)
        if isinstance(first, Queries):
            found = (("label", first.labels), ("group", first.group))
            for role, values in (*found, ("sample_weight", first.sample_weight)):
                if values is not None:
                    self.columns.setdefault(role, role)
                elif role in self.columns:
                    raise ValueError(
                        f"{role}={self.columns[role]!r} names a column, but the chunks are Queries "
                        f"without {role}."
                    )

    def chunks(self) -> Iterator[Queries]:
        """Yield all queries, chunk by chunk."""
        for number, chunk in enumerate(self.function()):
            if isinstance(chunk, Queries):
                if len(chunk):
                    yield self._fitting(chunk, number)
                continue

            def place(row: int, number: int = number) -> str:
                return f"chunk {number}, row {row:,} of it (counted from 0)"

            piece = chunk_piece(chunk, self.columns, place)
            if len(piece.columns["y_prob"]):
                yield self._maker.queries(piece)

    def _fitting(self, chunk: Queries, number: int) -> Queries:
        for role, found in (
            ("label", chunk.labels),
            ("group", chunk.group),
            ("sample_weight", chunk.sample_weight),
        ):
            if (role in self.columns) != (found is not None):
                has = "has" if found is not None else "lacks"
                raise ValueError(f"chunk {number} {has} {role}, unlike the first chunk.")
        if len(chunk) and chunk.y_prob.min() <= 0.0:
            # Zero may have a sign, which says nothing.
            return chunk._with_predictions(chunk.y_prob + 0.0)
        return chunk


def chunk_piece(chunk: Any, names: Mapping[str, str], place: Callable[[int], str]) -> Piece:
    """Return a chunk of any kind as a piece: a table, a mapping, or a tuple of two arrays."""
    if isinstance(chunk, tuple) and len(chunk) == 2:
        return Piece({"y_true": chunk[0], "y_prob": chunk[1]}, place)
    known = getattr(chunk, "column_names", None)
    if known is None and hasattr(chunk, "schema"):
        known = chunk.schema.names
    if known is None:
        known = list(chunk.keys()) if hasattr(chunk, "keys") else None
    if known is None:
        raise TypeError(
            f"{place(0)}: a chunk is Queries, a data frame, a mapping of columns or a tuple "
            f"(y_true, y_prob); got {type(chunk).__name__}."
        )
    for name in names.values():
        if name not in known:
            raise FileError(f"{place(0)}: no column {name!r}; it has {listed(known)}.")
    if hasattr(chunk, "schema") and hasattr(chunk, "num_rows"):
        return arrow_piece({role: chunk.column(n) for role, n in names.items()}, names, place)
    return Piece({role: _plain(chunk[name]) for role, name in names.items()}, place)


def _plain(column: Any) -> Any:
    """Return a column of a data frame as an array, or as codes where it is text."""
    if hasattr(column, "cat"):
        codes = np.asarray(column.cat.codes)
        if (codes < 0).any():
            return np.asarray(column, dtype=object)
        return Coded(codes, np.array(column.cat.categories.tolist()))
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
