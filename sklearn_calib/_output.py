"""What is written: whole files or none, and nothing that a terminal would obey."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from sklearn_calib._files import FileError
from sklearn_calib._results import printable
from sklearn_calib._version import __version__

__all__ = ["GENERATOR", "check_output", "exit_code", "write_whole"]

# In the head of every page: it tells pages of this package from the files of others.
GENERATOR = f"<meta name='generator' content='sklearn-calib {__version__}'>"
_OURS = b"<meta name='generator' content='sklearn-calib "


def check_output(
    path: Path,
    *,
    inputs: Iterable[Path] = (),
    force: bool = False,
    option: str = "--out",
    forced: str = "--force",
) -> None:
    """Refuse a place where nothing should be written, before any work is done.

    A page that this package wrote may be replaced by a new one. Any other file is
    replaced with `force` only, and the files that are read never are. Messages call
    the place `option`, and say that `forced` would replace a file.
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
    if not force and path.is_file() and not _may_be_replaced(path):
        raise FileError(
            f"{option} {path} is there already, and is not a page of sklearn-calib. Pass "
            f"{forced} to replace it, or name another file."
        )


def _may_be_replaced(path: Path) -> bool:
    """Tell whether a file is empty, or a page of ours."""
    with path.open("rb") as file:
        start = file.read(1000)
    return not start or _OURS in start


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that it is there whole or not at all, whatever happens meanwhile.

    It is written under another name in the same folder, and then given its own.
    """
    data = content.encode() if isinstance(content, str) else content
    # A link stays a link, to a new file.
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(data)  # a device or a pipe, such as /dev/stdout
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
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
