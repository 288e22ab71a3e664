"""Queries that are too many for memory: they are read in chunks, as often as needed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from sklearn_calib._files import FileError
from sklearn_calib._results import counted
from sklearn_calib._validation import (
    Array,
    RandomState,
    are_within_reach,
    check_generator,
    check_integer,
    weights_within_reach,
)
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan_dask import DaskSource, is_dask_array, is_dask_frame
from sklearn_calib.queries._scan_sources import (
    Changed,
    DatasetSource,
    FunctionSource,
    LabelSource,
    Source,
    even_chunks,
    file_source,
)

__all__ = ["QueryScan", "scan_queries"]

# A scan of up to so many rows is read into memory once, and measured there.
MOST_IN_MEMORY = 1_000_000


class QueryScan:
    """Queries that are read in chunks, as often as a function needs them.

    It may stand in place of `Queries` wherever a function says that it takes a
    scan. Sums are kept for narrow buckets of predictions, so that memory does
    not grow with the number of rows; with groups, it grows with their number.
    A scan of at most a million rows is read into memory, and measured there.

    Parameters
    ----------
    source : object
        Where the rows come from; `scan_queries` makes it.
    labelled, grouped, weighted : bool, default=False
        Whether the rows have labels, groups and weights.
    show_progress : bool, default=None
        Whether to show how far a pass has come; by default on a terminal.

    Attributes
    ----------
    n_rows : int or None
        Number of rows, where it is known.
    n_passes : int
        How often the rows were read so far.
    weighted : bool
        Whether there are weights.
    grouped : bool
        Whether there are groups.
    labelled : bool
        Whether there are labels.

    See Also
    --------
    scan_queries : Makes this object.
    Queries : The same in memory.
    """

    def __init__(
        self,
        source: Source,
        *,
        labelled: bool = False,
        grouped: bool = False,
        weighted: bool = False,
        show_progress: bool | None = None,
    ) -> None:
        self._source = source
        self.labelled, self.grouped, self.weighted = labelled, grouped, weighted
        self.n_rows = source.n_rows
        self.n_passes = 0
        self._cache: dict[str, Any] = {}
        self._show = sys.stderr.isatty() if show_progress is None else show_progress

    def __repr__(self) -> str:
        rows = "rows not counted yet" if self.n_rows is None else counted(self.n_rows, "row")
        parts = [rows, counted(self.n_passes, "pass", "passes")]
        for name in ("labelled", "grouped", "weighted"):
            if getattr(self, name):
                parts.append(name)
        return f"<QueryScan: {', '.join(parts)}>"

    def chunks(self) -> Iterator[Queries]:
        """Yield all queries in chunks of at most about a million.

        Returns
        -------
        iterator of Queries
            The chunks, in order.
        """
        self.n_passes += 1
        chunks = even_chunks(self._source.chunks())
        largest = self._cache.get("largest_weight")
        return chunks if largest is None else (_held(chunk, largest) for chunk in chunks)

    def _reduce(self, make: Callable[[], Any], what: str = "") -> Any:
        """Read all rows once, and return what a reduction makes of them.

        `make` makes an object with the methods ``add(chunk)`` and
        ``merge(other)``. With Dask there is one for each partition, and they
        are merged as a tree. `what` is for the line that shows the progress.
        """
        self.n_passes += 1
        progress = _Progress(self.n_passes, what, self.n_rows) if self._show else None
        largest = self._cache.get("largest_weight")
        if largest is not None:
            make = partial(Changed, make, partial(_held, largest=largest))
        found = self._source.reduce(make, progress.update if progress else _silent)
        if largest is not None:
            found = found.found
        if progress:
            progress.done()
        rows = getattr(found, "n_rows", None)
        if rows is not None:
            if rows == 0:
                raise self._empty()
            if self.n_rows is not None and rows != self.n_rows:
                raise RuntimeError(
                    f"The scan returned {rows:,} rows, and {self.n_rows:,} before: every pass "
                    "must see the same. If the source is a function, it must return a new "
                    "iterator over the same chunks each time; if it is files, they were changed."
                )
            self.n_rows = rows
        return found

    def _hold_weights(self, largest: float, least: float) -> bool:
        """Keep powers of weights within reach from now on; True if what was read has to go."""
        if "largest_weight" in self._cache or are_within_reach(largest, least):
            return False
        self._cache["largest_weight"] = largest
        return True

    def _empty(self) -> FileError:
        return FileError(f"{self._source.where}The scan has no rows: at least one query is needed.")

    def collect(self) -> Queries:
        """Read all rows into memory.

        Returns
        -------
        Queries
            All queries, in the order of the source.
        """
        found: _AllRows = self._reduce(_AllRows, "all rows")
        if not found.parts:
            raise self._empty()
        return _held(Queries.concat(found.parts, shared_groups=True))

    def sample(self, n: int, *, random_state: RandomState = None) -> Queries:
        """Draw rows at random, without replacement, in one pass.

        Parameters
        ----------
        n : int
            How many rows; all of them where there are fewer.
        random_state : int, RandomState, Generator or None, default=None
            Seed of the draw.

        Returns
        -------
        Queries
            The drawn queries. With groups, single rows are drawn, not whole groups.
        """
        size = check_integer(n, "n")
        seed = int(check_generator(random_state).integers(2**63))
        found: _SampledRows = self._reduce(partial(_SampledRows, size, seed), "a sample")
        rows = found.drawn()
        if rows is None:
            raise self._empty()
        return rows

    def without_groups(self) -> QueryScan:
        """Return the same scan, with all queries taken as independent.

        Returns
        -------
        QueryScan
            A scan of the same rows.
        """
        other = QueryScan(
            self._source, labelled=self.labelled, weighted=self.weighted, show_progress=self._show
        )
        other.n_rows = self.n_rows
        # Buckets know nothing of groups, so that what was read serves both.
        other._cache = self._cache
        return other

    def where(self, *, label: object) -> QueryScan:
        """Return the scan of the queries of one label.

        Parameters
        ----------
        label : object
            Which label.

        Returns
        -------
        QueryScan
            A scan of its queries; a label that no row has makes an empty one.
        """
        if not self.labelled:
            raise ValueError("This scan has no labels: name their column with label=.")
        known: dict[object, QueryScan] = self._cache.setdefault("where", {})
        if label not in known:
            known[label] = QueryScan(
                LabelSource(self._source, label),
                grouped=self.grouped,
                weighted=self.weighted,
                show_progress=self._show,
            )
        return known[label]

    def in_memory(self) -> Queries | None:
        """Return the queries where there are at most a million, and None where there are more.

        Returns
        -------
        Queries or None
            All queries, read once and kept.
        """
        if "small" not in self._cache:
            self._cache["small"] = self._small()
        small: Queries | None = self._cache["small"]
        return small if small is None or self.grouped else small._grouped(None)

    def _small(self) -> Queries | None:
        if isinstance(self._source, DaskSource):
            return None
        if self.n_rows is not None and self.n_rows > MOST_IN_MEMORY:
            return None
        parts, held = [], 0
        for chunk in self._source.chunks():
            parts.append(chunk)
            held += len(chunk)
            if held > MOST_IN_MEMORY:
                return None
        if not parts:
            return None
        self.n_passes += 1
        self.n_rows = held
        return _held(Queries.concat(parts, shared_groups=True))


def _held(chunk: Queries, largest: float | None = None) -> Queries:
    """Return queries whose weights have powers within reach, `largest` being that of all."""
    w = chunk.sample_weight
    if w is None or not w.any():
        return chunk
    return chunk._with_weights(weights_within_reach(w, largest))


def _silent(rows: int) -> None:
    """Show no progress."""


class _Progress:
    """A line on the terminal that says how far a pass has come."""

    def __init__(self, number: int, what: str, total: int | None) -> None:
        self.head, self.total = f"pass {number}: {what}", total
        self.rows, self.last, self.shown = 0, time.monotonic(), False

    def update(self, rows: int) -> None:
        self.rows += rows
        if time.monotonic() - self.last < 0.5:
            return
        share = f" ({self.rows / self.total:.0%})" if self.total else ""
        sys.stderr.write(f"\r{self.head}, {self.rows:,} rows{share} ")
        sys.stderr.flush()
        self.last, self.shown = time.monotonic(), True

    def done(self) -> None:
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class _AllRows:
    """All rows, in order."""

    def __init__(self) -> None:
        self.parts: list[Queries] = []
        self.n_rows = 0

    def add(self, chunk: Queries) -> None:
        self.parts.append(chunk)
        self.n_rows += len(chunk)

    def merge(self, other: _AllRows) -> None:
        self.parts += other.parts
        self.n_rows += other.n_rows


class _SampledRows:
    """The rows with the smallest of random numbers, one for each row."""

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seed = size, seed
        # Each piece has random numbers of its own, so that it does not matter who reads it.
        self.piece = 0
        self.n_rows = 0
        self._rng: tuple[int, np.random.Generator] | None = None
        self._parts: list[tuple[Array, Queries]] = []
        self._most = 1.0
        self._held = 0

    def add(self, chunk: Queries) -> None:
        if self._rng is None or self._rng[0] != self.piece:
            self._rng = (self.piece, np.random.default_rng([self.seed, self.piece]))
        self.n_rows += len(chunk)
        number = self._rng[1].random(len(chunk))
        rows = np.flatnonzero(number < self._most)
        self._keep([(number[rows], chunk._take(rows))])

    def _keep(self, parts: list[tuple[Array, Queries]]) -> None:
        self._parts += [part for part in parts if len(part[0])]
        self._held += sum(len(number) for number, _ in parts)
        if self._held > 2 * self.size + 100_000:
            self._settle()

    def _settle(self) -> None:
        if not self._parts:
            return
        number = np.concatenate([part[0] for part in self._parts])
        rows = Queries.concat([part[1] for part in self._parts], shared_groups=True)
        if len(number) > self.size:
            first = np.sort(np.argpartition(number, self.size - 1)[: self.size])
            number, rows = number[first], rows._take(first)
            self._most = float(number.max())
        self._parts, self._held = [(number, rows)], len(number)

    def merge(self, other: _SampledRows) -> None:
        self.n_rows += other.n_rows
        self._most = min(self._most, other._most)
        self._keep(other._parts)

    def drawn(self) -> Queries | None:
        self._settle()
        return self._parts[0][1] if self._parts else None


def scan_queries(
    source: Any,
    *,
    y_true: str = "y_true",
    y_prob: str = "y_prob",
    label: str | None = None,
    group: str | None = None,
    sample_weight: str | None = None,
    pos_label: object = None,
    show_progress: bool | None = None,
) -> QueryScan:
    """Read queries that are too many for memory, in chunks.

    The functions that take `Queries` take a scan in their place, and give the
    same answer: equal predictions share a bin, so that a bin is a range of
    predictions, and its exact ends and sums come from a few passes over the
    rows, in any order and in chunks of any size.

    Parameters
    ----------
    source : path, pyarrow Dataset, Dask DataFrame, pair of Dask arrays, or callable
        Where the rows are: a Parquet or CSV file, a folder or a pattern of such
        files; a pyarrow Dataset, whose filter and columns are pushed down
        to its files; a Dask DataFrame or a pair of Dask arrays (y_true, y_prob),
        on whose scheduler the work runs; or a function without arguments that
        returns a new iterator of chunks each time. A chunk is a `Queries`
        object, a data frame, a mapping of columns or a tuple (y_true, y_prob).
    y_true, y_prob : str, default="y_true" and "y_prob"
        The columns of true answers and of predicted probabilities.
    label : str, default=None
        The column that says which question was asked.
    group : str, default=None
        The column of sentences, documents or persons. Rows of a group may be
        anywhere; memory grows with the number of groups.
    sample_weight : str, default=None
        The column of weights.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.
    show_progress : bool, default=None
        Whether to show which pass is made and how far it has come, in a line on
        the standard error stream; by default where that is a terminal. Work on a
        `distributed` cluster is shown by its own dashboard.

    Returns
    -------
    QueryScan
        The scan; nothing but the heads of files has been read yet.

    See Also
    --------
    Queries : The same in memory.

    Notes
    -----
    Reading Parquet and CSV files needs pyarrow
    (``pip install "sklearn-calib[parquet]"``), Dask collections need Dask
    (``pip install "sklearn-calib[dask]"``).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib import adaptive_bin_calibration_error, scan_queries
    >>> def chunks():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(20):
    ...         q = rng.random(1000)
    ...         yield rng.random(1000) < q**1.2, q
    >>> scan = scan_queries(chunks)
    >>> round(adaptive_bin_calibration_error(scan, bin_size=1000), 2)
    0.05
    """
    columns = {"y_true": y_true, "y_prob": y_prob}
    for role, name in (("label", label), ("group", group), ("sample_weight", sample_weight)):
        if name is not None:
            columns[role] = name
    for role, name in columns.items():
        if not isinstance(name, str):
            raise TypeError(
                f"{role} is the name of a column of the source; got {type(name).__name__}. Data in "
                "memory go to Queries, or straight to the function."
            )
    made = _source(source, columns, pos_label)
    labelled, grouped, weighted = (
        role in made.columns for role in ("label", "group", "sample_weight")
    )
    return QueryScan(
        made,
        labelled=labelled,
        grouped=grouped,
        weighted=weighted,
        show_progress=show_progress,
    )


def _source(source: Any, columns: dict[str, str], pos_label: object) -> Source:
    if isinstance(source, (str, PathLike)):
        return file_source(source, columns, pos_label)
    if hasattr(source, "scanner") and hasattr(source, "schema"):
        return DatasetSource(source, columns, pos_label)
    if isinstance(source, tuple) and len(source) == 2 and all(map(is_dask_array, source)):
        if len(columns) > 2:
            raise ValueError(
                "A pair of Dask arrays holds answers and predictions only; for labels, groups and "
                "weights pass a Dask DataFrame."
            )
        return DaskSource(source, columns, pos_label)
    if is_dask_frame(source):
        return DaskSource(source, columns, pos_label)
    if callable(source):
        return FunctionSource(source, columns, pos_label)
    if isinstance(source, Queries):
        raise TypeError("These queries are in memory already; pass them to the function itself.")
    if hasattr(source, "__next__"):
        raise TypeError(
            "source is an iterator, which can be read only once, and a scan reads several times: "
            "pass the function that makes it."
        )
    raise TypeError(
        "source must be a path, a pyarrow Dataset, a Dask DataFrame, a pair of Dask arrays or a "
        f"function that returns an iterator of chunks; got {type(source).__name__}."
    )
