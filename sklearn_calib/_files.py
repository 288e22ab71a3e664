"""Text files, plain or packed: what they may expand to, and where one is damaged."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

__all__ = [
    "FileError",
    "check_files",
    "expansion_limit",
    "listed",
    "open_text",
    "shortened",
    "unpacked",
    "zip_texts",
]

# A packed file may expand to 64 MB, or to a hundred times its size if that is more. Text packs to a
# third or a tenth; what packs far better was made to fill a memory. A line takes time even if it is
# empty, and counts for 32 bytes at least.
FREE_EXPANSION = 64 * 2**20
MAX_EXPANSION = 100
_LINE_COST = 32

_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# What reading a packed file may raise: cut off, damaged, encrypted, or packed in an unknown way.
_DAMAGE = (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, OverflowError)


class FileError(ValueError):
    """What is wrong with a file, in one message that names it."""


def shortened(text: object, most: int = 60) -> str:
    """Return the text of a value as a message shows it: in quotes, and never very long."""
    if isinstance(text, (str, bytes)):
        return repr(text if len(text) <= most else text[:most]) + "..." * (len(text) > most)
    shown = repr(text)
    return shown if len(shown) <= most else f"{shown[:most]}..."


def listed(names: Iterable[object]) -> str:
    """Return names as a message lists them: each in quotes, some of them, and none of them long."""
    some = list(islice(names, 11))
    return ", ".join(shortened(name) for name in some[:10]) + ", ..." * (len(some) > 10)


def check_files(files: Iterable[Path]) -> None:
    """Refuse what a folder may hold beside files: opening a pipe or a device may never end."""
    for file in files:
        if not file.is_file():
            raise FileError(
                f"{shortened(str(file), 300)} is no file: it is a pipe, a device or a link to "
                "nowhere."
            )


class _Bounded(io.RawIOBase):
    """The bytes of a packed file, up to a limit."""

    def __init__(self, stream: IO[bytes], limit: int, below: IO[bytes]) -> None:
        self.stream, self.left, self.limit, self.below = stream, limit, limit, below

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _as_bad_zip():
            data = self.stream.read(len(buffer))
        lines = max(data.count(b"\n"), data.count(b"\r"))
        self.left -= max(len(data), _LINE_COST * lines)
        if self.left < 0:
            raise _TooLargeError(self.limit)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.stream.close()
        self.below.close()
        super().close()


class _TooLargeError(Exception):
    """A packed file holds more than it may."""


@contextmanager
def _as_bad_zip() -> Iterator[None]:
    """Raise BadZipFile for whatever else zipfile raises for offsets and fields that are wrong."""
    try:
        yield
    except (struct.error, lzma.LZMAError) as error:
        raise zipfile.BadZipFile(str(error)) from error
    except OSError as error:
        # A place before the file, or what bz2 cannot unpack. Of a broken disk it would not say so.
        if isinstance(error, gzip.BadGzipFile) or error.errno not in (None, errno.EINVAL):
            raise
        raise zipfile.BadZipFile(str(error)) from error


def expansion_limit(path: Path) -> int:
    """Return how many bytes a packed file may expand to."""
    return max(FREE_EXPANSION, MAX_EXPANSION * path.stat().st_size)


def _unpacked(raw: IO[bytes], path: Path, member: str | None) -> IO[bytes]:
    """Return the bytes of the text itself, whatever it is packed in."""
    start = raw.read(4)
    raw.seek(0)
    if start.startswith(_GZIP):
        packed = cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    elif start in _ZIP:
        packed = _member(_archive(raw), member, path)
    elif path.suffix == ".gz":
        raise FileError(f"{path} cannot be read: it is not a gzip file, as its name says.")
    else:
        return raw
    bounded = _Bounded(packed, expansion_limit(path), raw)
    # In small steps: of the step in which a file turns out to be damaged nothing is seen.
    return cast(IO[bytes], io.BufferedReader(bounded, buffer_size=8192))


@contextmanager
def unpacked(raw: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """Give the bytes of a file as they were before it was gzipped; others as they are."""
    if path.suffix != ".gz":
        yield raw
        return
    try:
        with _unpacked(raw, path, None) as stream:
            yield stream
    except (*_DAMAGE, _TooLargeError) as error:
        said = _plain(str(error), 200)
        raise FileError(f"{path} cannot be read; it is damaged or cut off ({said}).") from None


def _archive(file: IO[bytes] | Path) -> zipfile.ZipFile:
    with _as_bad_zip():
        try:
            return zipfile.ZipFile(file)
        except (UnicodeDecodeError, NotImplementedError) as error:  # a name, or a version
            raise zipfile.BadZipFile(str(error)) from error


def _member(archive: zipfile.ZipFile, member: str | None, path: Path) -> IO[bytes]:
    if member not in archive.namelist():
        raise FileError(f"{path} is a zip file without {member or 'a file that is known'}.")
    with _as_bad_zip(), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return archive.open(member)
        except UserWarning as error:  # of newer Pythons: two files in one place
            raise zipfile.BadZipFile(str(error)) from error
        except RuntimeError as error:  # encrypted, or packed in an unknown way
            raise FileError(
                f"{path}, file {shortened(member)}: it cannot be unpacked: {error}."
            ) from None


def _bounded_member(
    archive: zipfile.ZipFile, member: str, path: Path, left: int, limit: int
) -> IO[bytes]:
    stream = _member(archive, member, path)
    bounded = _Bounded(stream, left, stream)
    bounded.limit = limit
    return cast(IO[bytes], io.BufferedReader(bounded, buffer_size=8192))


def _plain(name: str, most: int = 60) -> str:
    """Return the name of a file in an archive, which may hold anything, for a message.

    What zipfile says may hold such names as well.
    """
    shown = name if len(name) <= most else f"{name[: most // 2]}...{name[-most // 2 :]}"
    return "".join(c if c.isprintable() else "?" for c in shown)


@contextmanager
def open_text(
    path: Path,
    *,
    member: str | None = None,
    encoding: str = "utf-8-sig",
    newline: str = "\n",
) -> Iterator[IO[str]]:
    """Open a text file that is plain, gzipped or a member of a zip file, by its content.

    Lines end in a newline, with or without a carriage return before it; other
    characters that Python takes for the end of a line are left alone. A file that
    is damaged or expands to too much raises a FileError with its name and line.
    """

    def opened() -> IO[bytes]:
        raw = path.open("rb")
        if not raw.seekable():
            return raw  # a pipe is read as it comes
        try:
            return _unpacked(raw, path, member)
        except BaseException:
            raw.close()
            raise

    with (
        _named_damage(path, opened, encoding),
        io.TextIOWrapper(opened(), encoding=encoding, newline=newline) as text,
    ):
        yield text


@contextmanager
def _named_damage(path: Path, opened: Callable[[], IO[bytes]], encoding: str) -> Iterator[None]:
    """Say where in a file something is wrong with it."""
    try:
        yield
    except (*_DAMAGE, _TooLargeError, UnicodeDecodeError) as error:
        where = f"{path}, line {_last_line(opened, encoding)}"
        if isinstance(error, UnicodeDecodeError):
            name = "UTF-8" if encoding.startswith("utf-8") else encoding
            message = f"not {name} text ({error.reason})."
        elif isinstance(error, _TooLargeError):
            message = (
                f"the file expands to more than {error.args[0] / 2**20:,.0f} MB. A packed file may "
                f"expand to {FREE_EXPANSION // 2**20} MB or to {MAX_EXPANSION} times its size, and "
                f"a line counts for {_LINE_COST} bytes at least. If it is what it should be, "
                "unpack it first."
            )
        else:
            said = _plain(str(error), 200)
            message = f"the rest cannot be read; the file is damaged or cut off ({said})."
        raise FileError(f"{where}: {message}") from error


def _last_line(opened: Callable[[], IO[bytes]], encoding: str) -> int:
    """Return the number of the line at which a file cannot be read further."""
    number = 0
    try:
        with _as_bad_zip(), opened() as stream:
            for line in stream:
                number += 1
                line.decode(encoding)
    except (*_DAMAGE, _TooLargeError):
        return number + 1
    except UnicodeDecodeError:
        pass
    return max(number, 1)


def zip_texts(
    path: Path, wanted: Callable[[str], bool], *, encoding: str = "utf-8-sig"
) -> Iterator[tuple[str, list[str]]]:
    """Yield name and lines of each wanted file in a zip file, which is opened once.

    Together they may expand to no more than a single packed file may.
    """
    limit = expansion_limit(path)
    try:
        with _archive(path) as archive:
            members = [info for info in archive.infolist() if wanted(info.filename)]
            if sum(info.file_size for info in members) > limit:
                raise _TooLargeError(limit)
            if len({info.filename for info in members}) < len(members):
                raise FileError(f"{path} has two files of the same name.")
            left = limit
            for info in members:
                opened = partial(_bounded_member, archive, info.filename, path, left, limit)
                with (
                    _named_damage(Path(f"{path}:{_plain(info.filename)}"), opened, encoding),
                    _as_bad_zip(),
                    io.TextIOWrapper(opened(), encoding=encoding, newline="\n") as text,
                ):
                    found = list(text)
                left -= max(info.file_size, _LINE_COST * len(found))
                yield info.filename, found
    except _TooLargeError:
        raise FileError(
            f"{path} expands to more than {limit / 2**20:,.0f} MB. A packed file may expand to "
            f"{FREE_EXPANSION // 2**20} MB or to {MAX_EXPANSION} times its size."
        ) from None
    except zipfile.BadZipFile as error:
        said = _plain(str(error), 200)
        raise FileError(f"{path} cannot be read; it is damaged or cut off ({said}).") from None
