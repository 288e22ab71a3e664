"""Batches of documents on their way to workers and back, even if a worker is lost."""

from __future__ import annotations

import os
import pickle
import threading
import uuid
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, wrap_non_picklable_objects

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Numbered", "Task", "on_dask", "on_joblib"]

# Batches that wait for a worker: enough to keep it busy, few enough to be held in memory.
_AHEAD = 4

# How often work is sent again if it is lost and no document is to blame.
_TRIES = 3

Outcome = TypeVar("Outcome")

# What is sent to workers: something with its number in the stream.
Numbered = tuple[int, Any]
Batch = list[Numbered]


class Task(Protocol[Outcome]):
    """What workers do."""

    def __call__(self, batch: Batch, /) -> list[Outcome]:
        """Return what became of each of a batch."""

    def lost(self, one: Numbered, /) -> Outcome:
        """Return what became of one that ended its worker twice."""

    def parts(self) -> Mapping[str, object]:
        """Return all that must be sent to workers, with its names."""


@dataclass(frozen=True, eq=False)
class _Packed:
    """A task on its way to workers, which unpack it once and keep it.

    It is not left to joblib or Dask to send the task along with each batch: they
    would send the model and the pipeline many times over, and hand out arrays in
    memory that cannot be written to, which spaCy refuses.

    A task in a file has a folder, in which each worker notes what it works on:
    when joblib's workers are lost, nobody else knows.
    """

    name: str
    data: bytes | Path

    def __call__(self, batch: Batch) -> list[Any]:
        task = self._unpacked()
        if isinstance(self.data, bytes):
            return task(batch)
        note = self.data.with_name(f"{os.getpid()}-{threading.get_ident()}.hand")
        note.write_text(str(batch[0][0]), encoding="ascii")
        try:
            return task(batch)
        finally:
            note.unlink()

    def _unpacked(self) -> Task[Any]:
        with _UNPACKING:
            if self.name not in _UNPACKED:
                data = self.data if isinstance(self.data, bytes) else self.data.read_bytes()
                _UNPACKED.clear()  # that of an earlier corpus
                _UNPACKED[self.name] = pickle.loads(data)
            return _UNPACKED[self.name]


# What this process has unpacked, if it is a worker.
_UNPACKED: dict[str, Task[Any]] = {}
_UNPACKING = threading.Lock()


def _pack(task: Task[Any]) -> bytes:
    try:
        # Functions of a notebook, too, as joblib would do it.
        return pickle.dumps(wrap_non_picklable_objects(task))
    except Exception as error:
        raise _cannot_be_sent(task) from error


def _cannot_be_sent(task: Task[Any]) -> TypeError:
    names = ", ".join(f"{name} {type(part).__name__}" for name, part in task.parts().items())
    return TypeError(
        f"Not everything can be pickled for the workers: {names}, and the documents. The error "
        "above says what cannot. Work in one process (leave n_jobs and client out), or change "
        "that part."
    )


def on_joblib(
    task: Task[Outcome], batches: Iterator[Batch], n_jobs: int | None
) -> Generator[Outcome, None, None]:
    """Yield what becomes of each document, worked on by joblib.

    If a worker is lost, the documents that were in hand are tried one by one, with
    nothing else at work. One that ends its worker twice is given up.
    """
    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        for batch in batches:
            yield from task(batch)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "task.pickle")
        path.write_bytes(_pack(task))
        packed = _Packed(uuid.uuid4().hex, path)

        def run(some: list[Batch]) -> list[list[Outcome]]:
            try:
                return Parallel(n_jobs=n_jobs, max_nbytes=None)(delayed(packed)(b) for b in some)
            except pickle.PicklingError as error:
                raise _cannot_be_sent(task) from error

        def alone(one: Numbered) -> list[Outcome]:
            for _ in range(2):
                try:
                    return run([[one]])[0]
                except BrokenProcessPool:
                    _taken_in_hand(path.parent)
            return [task.lost(one)]

        while some := list(islice(batches, workers * _AHEAD)):
            unexplained = 0
            while some:
                try:
                    found = run(some)
                except BrokenProcessPool as error:
                    in_hand = _taken_in_hand(path.parent)
                    unexplained = 0 if in_hand else unexplained + 1
                    if unexplained == _TRIES:
                        raise RuntimeError(
                            f"The workers ended {_TRIES} times before they began: {error} Is there "
                            "enough memory for the model in each of them?"
                        ) from error
                    suspects = [batch for batch in some if batch[0][0] in in_hand]
                    some = [batch for batch in some if batch[0][0] not in in_hand]
                    for batch in suspects:
                        for one in batch:
                            yield from alone(one)
                else:
                    some = []
                    for outcomes in found:
                        yield from outcomes


def _taken_in_hand(folder: Path) -> set[int]:
    """Return the first numbers of the batches that lost workers worked on, and forget them."""
    found = set()
    for note in folder.glob("*.hand"):
        text = note.read_text(encoding="ascii")
        if text.isdecimal():  # else it ended while it wrote the note
            found.add(int(text))
        note.unlink()
    return found


def on_dask(
    task: Task[Outcome], batches: Iterator[Batch], client: Client
) -> Generator[Outcome, None, None]:
    """Yield what becomes of each document, worked on by a Dask cluster.

    The scheduler sends a lost worker's batches to another one, and the packed task
    with them: it is a task itself, which is run again where its result is lost. A
    batch that the scheduler gives up, because one worker after the other was lost
    with it, is tried document by document, with nothing else at work.
    """
    try:
        import dask
        from distributed import as_completed
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise ImportError(
            "client needs dask.distributed, which is not installed: "
            'pip install "sklearn-calib[dask]".'
        ) from None

    def send_task() -> Future:
        # It is sent once, so that its size is no reason for a warning.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
            return client.submit(_Packed, uuid.uuid4().hex, data, pure=False)

    data = _pack(task)
    shared = send_task()
    at_once = max(1, sum(client.ncores().values())) * _AHEAD
    sent: dict[Future, Batch] = {}
    running = as_completed()
    suspects: list[Batch] = []
    resent = 0  # since anything was done

    def submit(batch: Batch) -> None:
        future = client.submit(_call, shared, batch, pure=False)
        sent[future] = batch
        running.add(future)

    def send_task_again(error: Exception) -> None:
        nonlocal shared, resent
        resent += 1
        if resent == _TRIES * at_once:
            raise error
        if shared.cancelled() or shared.status == "error":
            shared = send_task()

    def alone(one: Numbered) -> list[Outcome]:
        ended = 0
        while ended < 2:
            try:
                return client.submit(_call, shared, [one], pure=False).result()
            except KilledWorker as error:
                if error.task == shared.key:  # no document is to blame
                    send_task_again(error)
                    continue
                # Above 0, the scheduler has tried it again itself.
                ended += 2 if error.allowed_failures > 0 else 1
        return [task.lost(one)]

    while True:
        while len(sent) < at_once and not suspects and (batch := next(batches, None)) is not None:
            submit(batch)
        if sent:
            future = next(running)
            batch = sent.pop(future)
            try:
                found = future.result()
            except KilledWorker as error:
                if error.task == future.key:
                    suspects.append(batch)
                else:  # a worker was lost while it took the task itself
                    send_task_again(error)
                    submit(batch)
            except CancelledError as error:  # the cluster was started anew
                send_task_again(error)
                submit(batch)
            else:
                resent = 0
                yield from found
        elif suspects:
            for one in (one for batch in suspects for one in batch):
                yield from alone(one)
            suspects = []
        else:
            return


def _call(task: _Packed, batch: Batch) -> list[Any]:
    return task(batch)
