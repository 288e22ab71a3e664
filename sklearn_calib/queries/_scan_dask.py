"""Dask collections as sources of a scan: the work runs where the collection lives."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any

from sklearn_calib._files import FileError
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan_columns import QueryMaker
from sklearn_calib.queries._scan_sources import Source, chunk_piece, even_chunks, unreadable

# Partial results that are put together at a time.
_AT_A_TIME = 4

# Of so many partitions, one is read to tell how many rows there may be.
_MANY = 20

# Tasks for each thread: few, because each sends what it made of its partitions, and more than
# one, because some take longer than others.
_TASKS_PER_THREAD = 3


def is_dask_frame(source: Any) -> bool:
    """Tell a Dask DataFrame without importing Dask."""
    return hasattr(source, "to_delayed") and hasattr(source, "columns")


def is_dask_array(source: Any) -> bool:
    """Tell a Dask array without importing Dask."""
    return hasattr(source, "to_delayed") and hasattr(source, "chunks")


class DaskSource(Source):
    """Partitions of a Dask DataFrame, or blocks of two Dask arrays."""

    def __init__(self, source: Any, columns: Mapping[str, str], pos_label: object) -> None:
        if isinstance(source, tuple):
            columns = {role: columns[role] for role in ("y_true", "y_prob")}
        super().__init__(columns, pos_label)
        if isinstance(source, tuple):
            y, q = source
            if y.ndim != 1 or q.ndim != 1:
                raise ValueError(
                    f"a pair of Dask arrays must be 1-D, got {y.ndim} and {q.ndim} dimensions."
                )
            if y.numblocks != q.numblocks or (
                y.chunks != q.chunks and not _unknown(y) and not _unknown(q)
            ):
                q = q.rechunk(y.chunks)
            self._parts = list(zip(y.to_delayed().ravel(), q.to_delayed().ravel(), strict=True))
        else:
            known = list(source.columns)
            for name in columns.values():
                if name not in known:
                    raise ValueError(
                        f"the Dask DataFrame has no column {name!r}; it has "
                        f"{', '.join(map(repr, known[:20]))}."
                    )
            wanted = list(dict.fromkeys(columns.values()))
            self._parts = source[wanted].to_delayed()

    def estimated_rows(self) -> int | None:
        """Return how many rows there are if all partitions have as many as one in the middle."""
        from dask.delayed import delayed

        recipes = self._recipes
        if recipes is None or len(recipes) < _MANY:
            return None
        middle = len(recipes) // 2
        try:
            rows = delayed(_n_rows, pure=False)(_Unread(recipes[middle : middle + 1])).compute()
        except Exception:
            # The pass that reads all of them says what is wrong, and where.
            return None
        return int(rows) * len(recipes)

    def chunks(self) -> Iterator[Queries]:
        """Yield all queries, partition by partition."""
        for number, part in enumerate(self._parts):
            parts = part if isinstance(part, tuple) else (part,)
            found = tuple(one.compute() for one in parts)
            whole = found if isinstance(part, tuple) else found[0]
            yield _queries(whole, number, self.columns, self._maker)

    def reduce(self, make: Callable[[], Any], progress: Callable[[int], None]) -> Any:
        """Return the reduction of all partitions, as a tree on their scheduler."""
        from dask.callbacks import Callback
        from dask.delayed import delayed

        step, join = delayed(_reduced, pure=False), delayed(_joined, pure=False)
        # One for all partitions: it may hold many buckets, and would be sent with every task.
        shared = delayed(make, pure=False, traverse=False)
        parts = [
            step(some, first, shared, self.columns, self._maker.pos_label)
            for first, some in self._shares()
        ]
        while len(parts) > 1:
            parts = [
                join(parts[first : first + _AT_A_TIME])
                for first in range(0, len(parts), _AT_A_TIME)
            ]
        if not parts:
            return make()

        def done(key: Any, found: Any, *_: Any) -> None:
            if str(key).startswith(_reduced.__name__):
                progress(getattr(found, "n_rows", 0))

        # Schedulers of this machine say which tasks are done; a cluster has a page for it.
        with Callback(posttask=done):
            try:
                return parts[0].compute()
            except Exception as error:
                placed = self._placed(error)
                if placed is error:
                    raise
                raise placed from None

    def _shares(self) -> Iterator[tuple[int, Any]]:
        """Yield the partitions of each task, after the number of the first of them."""
        recipes = self._recipes
        if recipes is None:
            for number, part in enumerate(self._parts):
                yield number, [part]
            return
        size = max(1, len(recipes) // (_TASKS_PER_THREAD * _n_threads()))
        for first in range(0, len(recipes), size):
            yield first, _Unread(recipes[first : first + size])

    @cached_property
    def _recipes(self) -> list[_Recipe] | None:
        return _recipes(self._parts)

    def _placed(self, error: Exception) -> Exception:
        """Say which partition an error is about that Dask met before its rows were looked at."""
        if isinstance(error, FileError) or not isinstance(error, (OSError, _arrow_error())):
            return error
        for number, part in enumerate(self._parts):
            try:
                for one in part if isinstance(part, tuple) else (part,):
                    one.compute()
            except Exception as found:
                return unreadable(f"partition {number}", found)
        return error


# What makes a partition: its tasks, and the keys of the one or two results that are wanted.
_Recipe = tuple[dict[Any, Any], list[Any]]


class _Unread:
    """Partitions that the task which reads them makes, one after the other.

    So one of them is in memory at a time, and what is made of all of them is sent once.
    """

    def __init__(self, recipes: list[_Recipe]) -> None:
        self._recipes = recipes

    def __iter__(self) -> Iterator[Any]:
        from dask.core import get

        for tasks, keys in self._recipes:
            # It has no name here, so that it is gone before the next one comes.
            yield _one_or_two(get(tasks, keys))


def _one_or_two(found: Sequence[Any]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


def _recipes(parts: list[Any]) -> list[_Recipe] | None:
    """Return what makes each partition, or None where they share work, or live on workers."""
    from dask.optimization import cull

    graphs: dict[int, dict[Any, Any]] = {}
    recipes: list[_Recipe] = []
    seen: set[Any] = set()
    for part in parts:
        tasks: dict[Any, Any] = {}
        several = part if isinstance(part, tuple) else (part,)
        for one in several:
            graph = one.__dask_graph__()
            if id(graph) not in graphs:
                graphs[id(graph)] = dict(graph)
            tasks |= cull(graphs[id(graph)], [one.key])[0]
        if not seen.isdisjoint(tasks) or any(_is_elsewhere(task, tasks) for task in tasks.values()):
            return None
        seen.update(tasks)
        recipes.append((tasks, [one.key for one in several]))
    return recipes


def _is_elsewhere(task: Any, tasks: dict[Any, Any]) -> bool:
    """Tell the result of a task that runs, or has run, on a cluster."""
    needed = getattr(task, "dependencies", ())
    return (
        not set(needed) <= tasks.keys()
        or _is_future(task)
        or _is_future(getattr(task, "value", None))
    )


def _is_future(value: Any) -> bool:
    return type(value).__name__.endswith("Future") or hasattr(value, "__dask_future__")


def _n_threads() -> int:
    """Return how many threads Dask works with: those of a cluster, or those of this machine."""
    from dask.system import CPU_COUNT

    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            return max(1, sum(distributed.default_client().nthreads().values()))
        except ValueError:
            pass
    return int(CPU_COUNT)


def _arrow_error() -> type[Exception]:
    try:
        from pyarrow import ArrowException
    except ImportError:
        return OSError
    error: type[Exception] = ArrowException
    return error


def _unknown(array: Any) -> bool:
    return any(size != size for sizes in array.chunks for size in sizes)


def _n_rows(parts: Iterable[Any]) -> int:
    return sum(len(part[0] if isinstance(part, tuple) else part) for part in parts)


def _maker(columns: Mapping[str, str], pos_label: object) -> QueryMaker:
    return QueryMaker(pos_label, {role: repr(name) for role, name in columns.items()})


def _queries(part: Any, number: int, columns: Mapping[str, str], maker: QueryMaker) -> Queries:
    def place(row: int) -> str:
        return f"partition {number}, row {row:,} of it (counted from 0)"

    return maker.queries(chunk_piece(part, columns, place))


def _reduced(
    parts: Iterable[Any],
    first: int,
    make: Callable[[], Any],
    columns: Mapping[str, str],
    pos_label: object,
) -> Any:
    found = make()
    maker = _maker(columns, pos_label)
    for number, part in enumerate(parts, start=first):
        found.piece = number
        for chunk in even_chunks(iter([_queries(part, number, columns, maker)])):
            found.add(chunk)
        del part
    found.negative = maker.negative
    return found


def _joined(parts: list[Any]) -> Any:
    # A scheduler may run a task again, so that its input must stay as it is.
    first, *others = deepcopy(parts[0]), *parts[1:]
    for other in others:
        first.merge(other)
        first.negative = list(dict.fromkeys(first.negative + other.negative))
    if len(first.negative) > 1:
        raise ValueError(
            f"y_true has the labels {first.negative} besides the one that means yes, in different "
            "partitions: one probability per row answers a yes/no question."
        )
    return first
