"""What is written: whole files or none, and nothing that a terminal would obey."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sklearn_calib._files import FileError
from sklearn_calib._results import printable
from sklearn_calib._version import __version__

__all__ = ["GENERATOR", "check_output", "check_target", "exit_code", "whole_file", "write_whole"]

# In the head of every page: it tells pages of this package from the files of others.
GENERATOR = f"<meta name='generator' content='sklearn-calib {__version__}'>"
_OURS = b"<meta name='generator' content='sklearn-calib "
_PAGE = "a page of sklearn-calib"


def _is_page(path: Path) -> bool:
    """Tell whether a file is a page of ours."""
    with path.open("rb") as file:
        return _OURS in file.read(1000)


def check_output(
    path: Path,
    *,
    inputs: Iterable[Path] = (),
    force: bool = False,
    option: str = "--out",
    forced: str = "--force",
    ours: Callable[[Path], bool] = _is_page,
    kind: str = _PAGE,
) -> None:
    """Refuse a place where nothing should be written, before any work is done.

    A file that this package wrote may be replaced by a new one of its `kind`, which
    `ours` recognises. Any other file is replaced with `force` only, unless it is
    empty, and the files that are read never are. Messages call the place `option`,
    and say that `forced` would replace a file.
    """
    if not path.parent.is_dir():
        raise FileError(f"{option} {path}: there is no folder {path.parent}.")
    if path.is_dir():
        raise FileError(f"{option} {path} is a folder; name a file.")
    if not path.exists():
        return
    for given in inputs:
        if given.exists() and path.samefile(given):
            raise FileError(f"{option} {path} is one of the files that are read.")
    if not force and path.is_file() and path.stat().st_size and not ours(path):
        raise FileError(
            f"{option} {path} is there already, and is not {kind}. Pass "
            f"{forced} to replace it, or name another file."
        )


def check_target(
    path: str | os.PathLike[str],
    force: bool,
    ours: Callable[[Path], bool] = _is_page,
    kind: str = _PAGE,
) -> Path:
    """Return the place that a function is to write to, checked as by `check_output`."""
    target = Path(path)
    check_output(target, force=force, option="path", forced="force=True", ours=ours, kind=kind)
    return target


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that it is there whole or not at all, whatever happens meanwhile."""
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that is there, whole, once the body has ended well.

    It is written under another name in the same folder, and then given its own.
    """
    # A link stays a link, to a new file.
    target = path.resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as file:  # a device or a pipe, such as /dev/stdout
            yield file
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _mode(target: Path) -> int:
    """Return the permissions that the file has, or would have if it were made by open."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def exit_code(command: Callable[[], None]) -> int:
    """Run a command and return its exit code; what goes wrong becomes one line of text."""
    try:
        command()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has read enough. Nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt as error:  # some of them say how far they were
        said = " ".join(str(error).split()) or "interrupted; nothing was written."
        print(printable(said), file=sys.stderr)
        return 130
    except (ImportError, OSError, TypeError, ValueError) as error:
        print(f"error: {printable(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    return 0
