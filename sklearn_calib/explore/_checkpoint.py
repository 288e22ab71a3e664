"""What a long run has counted so far, kept in a folder, so that a crash loses nothing."""

from __future__ import annotations

import binascii
import json
import os
import time
from collections.abc import Hashable, Mapping
from contextlib import nullcontext, suppress
from datetime import date as Date
from datetime import datetime as DateTime
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib._files import FileError, shortened
from sklearn_calib._version import __version__
from sklearn_calib.explore._counting import Counted
from sklearn_calib.explore._fingerprint import fingerprint
from sklearn_calib.explore._rule_answers import Answer

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["Checkpoint"]

_NAME = "counted.jsonl"
_FORMAT = "sklearn-calib checkpoint 1"
_BEGIN_AGAIN = "Name another folder, or remove this one to begin again."
# All dates lie within so many days of 1970, before or after it.
_MOST_DAYS = 10_000_000
# Seconds after which what was written is sent to the disk itself, in case the power fails.
_SYNC = 2.0


class Checkpoint:
    """A file of one line for each document that was counted.

    The first line says which run it is of. Every line has a checksum: one that is
    damaged, or that a crash has cut off, is ignored, and its document is counted
    again. Lines are JSON and nothing is pickled, so that reading a folder runs no
    code of whoever made it. What failed is not kept, and tried again.

    Parameters
    ----------
    folder : str or path
        Made if it is not there.
    parts : mapping
        What the result depends on; see `of_run`.
    seed : int or None
        Seed of the run; None takes that of the folder, if it has one.
    calendar : bool, default=False
        Whether periods are those of the calendar, which have numbers.
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        parts: Mapping[str, Any],
        seed: int | None,
        *,
        calendar: bool = False,
    ):
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise FileError(f"checkpoint {self.folder} is a file; name a folder.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / _NAME
        self.file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        try:
            self._lock()
            if os.fstat(self.file.fileno()).st_size == 0:
                self._begin(parts, seed)
            self.seed = self._check_head(parts, seed)
            self.known = self._read(parts.get("n_samples"), calendar)
        except BaseException:
            self.file.close()
            raise
        self.pending: dict[int, str] = {}
        self.synced = time.monotonic()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # What has gone wrong already is what should be told.
        with suppress(OSError) if kind is not None else nullcontext():
            os.fsync(self.file.fileno())
            self.file.close()

    def _lock(self) -> None:
        """Let no two runs write to one folder; the lock ends with the process, however it ends."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(f"checkpoint {self.folder} is in use by another run.") from None

    def _begin(self, parts: Mapping[str, Any], seed: int | None) -> None:
        """Write the first line; of runs that begin at once, the one with the lock does."""
        seed = int(np.random.default_rng().integers(2**32)) if seed is None else seed
        self.file.write(_line({"format": _FORMAT, "version": __version__, "seed": seed, **parts}))
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.seek(0)

    def _check_head(self, parts: Mapping[str, Any], seed: int | None) -> int:
        head = _checked(self.file.readline())
        if head is None or head.get("format") != _FORMAT or not _is_number(head.get("seed"), 2**64):
            raise FileError(f"{self.path}, line 1: this is not a checkpoint. {_BEGIN_AGAIN}")
        here = {"version": __version__, **parts}
        if seed is not None:
            here["seed"] = seed
        other = [name for name, value in here.items() if head.get(name) != value]
        if other:
            names = ", ".join("random_state" if name == "seed" else name for name in other)
            raise ValueError(
                f"checkpoint {self.folder} is of another run: it was begun with another {names}. "
                f"Pass the same to go on with it. {_BEGIN_AGAIN}"
            )
        return int(head["seed"])

    def _read(self, n_samples: object, calendar: bool) -> dict[int, tuple[str, Counted]]:
        """Return fingerprint and counts of each document that was counted."""
        known = {}
        line = b"\n"
        for place, line in enumerate(self.file, start=2):
            record = _checked(line)
            if record is None:
                continue
            try:
                counted = _counted(record)
                if not _is_number(record["number"], 2**63):
                    raise ValueError("its number is none")
                if n_samples is not None and counted.answer.n_samples != n_samples:
                    raise ValueError("it has another number of samples")
                if calendar and not _is_number(counted.period, _MOST_DAYS, -_MOST_DAYS):
                    raise ValueError("its period is not of the calendar")
                known[record["number"]] = (str(record["document"]), counted)
            except Exception as error:  # whatever a line says that this package has not written
                raise FileError(
                    f"{self.path}, line {place}: this is not a line of a checkpoint "
                    f"({type(error).__name__}: {shortened(str(error))}). {_BEGIN_AGAIN}"
                ) from None
        if not line.endswith(b"\n"):
            self.file.write(b"\n")  # of the line that a crash has cut off
        return known

    def look_up(self, number: int, source: Any) -> Counted | None:
        """Return what a document of the stream has added, if it was counted before."""
        found = _recognised(source)
        if number not in self.known:
            self.pending[number] = found
            return None
        before, counted = self.known.pop(number)
        if before != found:
            name = getattr(source, "id", None)
            now = f"now it is {name!r}" if name not in (None, counted.id) else "now it differs"
            raise ValueError(
                f"checkpoint {self.folder} is of other documents: number {number} was "
                f"{counted.id!r} when it was counted, and {now}. Pass the same documents in the "
                f"same order to go on with it. {_BEGIN_AGAIN}"
            )
        return counted

    def add(self, number: int, found: object) -> None:
        """Keep what a document adds; what failed is forgotten."""
        document = self.pending.pop(number)
        if not isinstance(found, Counted):
            return
        line = _line({"number": number, "document": document, **_record(found)})
        try:
            self.file.write(line)
            self.file.flush()
            now = time.monotonic()
            if now - self.synced > _SYNC:
                os.fsync(self.file.fileno())
                self.synced = now
        except OSError as error:
            why = f"{error.strerror}; what was counted so far is kept: make room, and run it again"
            raise OSError(error.errno, why, str(self.path)) from None

    def check_end(self, n_documents: int) -> None:
        """Refuse a stream that ended before the documents that were counted."""
        if self.known:
            raise ValueError(
                f"checkpoint {self.folder} is of other documents: it has counted number "
                f"{max(self.known)}, and now there are {n_documents}. {_BEGIN_AGAIN}"
            )


def _recognised(source: Any) -> str:
    try:
        return fingerprint(source)
    except TypeError:
        # A function that holds a file or a lock is known by its place and its name alone.
        return f"{type(source).__name__} {getattr(source, '__qualname__', '')}".strip()


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode("ascii")
    return b"%08x %s\n" % (binascii.crc32(text), text)


def _checked(line: bytes) -> dict[str, Any] | None:
    """Return what a line says, or None if it is not whole."""
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if checksum != b"%08x" % binascii.crc32(text):
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _record(counted: Counted) -> dict[str, Any]:
    """Return the counts of a document as JSON can say them."""
    answer = counted.answer
    best = answer.best
    return {
        "id": counted.id,
        "name": counted.name,
        "title": counted.title,
        "period": _encoded(counted.period, "period"),
        "weight": counted.weight,
        "n_samples": answer.n_samples,
        # A document has a key once or not at all, so that a bit for each sample is enough.
        "counts": [
            [_encoded(key, "key"), np.packbits(found.astype(bool)).tobytes().hex()]
            for key, found in answer.counts.items()
        ],
        "best": None if best is None else [[_encoded(k, "key"), n] for k, n in best.items()],
        "mentions": [[_encoded(key, "key"), list(m)] for key, m in answer.mentions.items()],
    }


def _counted(record: Mapping[str, Any]) -> Counted:
    n_samples = int(record["n_samples"])
    counts = {}
    for key, bits in record["counts"]:
        packed = np.frombuffer(bytes.fromhex(bits), dtype=np.uint8)
        if len(packed) != (n_samples + 7) // 8:
            raise ValueError("samples are missing")
        counts[_decoded(key)] = np.unpackbits(packed, count=n_samples)
    best = record["best"]
    if best is not None:
        best = {_decoded(key): _one(n) for key, n in best}
    mentions = {_decoded(key): tuple(map(str, found)) for key, found in record["mentions"]}
    id, name, title = (str(record[part]) for part in ("id", "name", "title"))
    weight = float(record["weight"])
    if not 0.0 <= weight < np.inf:
        raise ValueError("its weight is none")
    answer = Answer(counts, best, mentions, n_samples)
    return Counted(id, name, _decoded(record["period"]), weight, answer, title)


def _one(count: object) -> int:
    """Return how often a key is there: a document has it once or not at all."""
    if count != 1:
        raise ValueError("a key is there more than once")
    return 1


def _is_number(value: object, end: int, start: int = 0) -> bool:
    return type(value) is int and start <= value < end


def _encoded(value: Hashable, what: str) -> Any:
    """Return a key or a period as JSON can say it."""
    if isinstance(value, np.datetime64):
        return {"datetime64": [str(value), np.datetime_data(value.dtype)[0]]}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, float, int, str):
        return value
    if type(value) is tuple:
        return {"tuple": [_encoded(part, what) for part in value]}
    if type(value) is bytes:
        return {"bytes": value.hex()}
    if type(value) in (Date, DateTime):
        return {type(value).__name__: value.isoformat()}  # type: ignore[attr-defined]
    raise TypeError(
        f"A checkpoint cannot keep the {what} {shortened(value)}, a {type(value).__name__}. Return "
        f"a str, a number, a date or a tuple of these as {what}, or leave checkpoint out."
    )


def _decoded(value: Any) -> Hashable:
    if value is None or isinstance(value, (bool, float, int, str)):
        return value
    [(kind, inner)] = value.items()
    if kind == "tuple":
        return tuple(map(_decoded, inner))
    return _KINDS[kind](inner)


_KINDS: dict[str, Any] = {
    "bytes": bytes.fromhex,
    "date": Date.fromisoformat,
    "datetime": DateTime.fromisoformat,
    "datetime64": lambda pair: np.datetime64(*pair),
}
