"""What commands write: whole files or none, and nothing that a terminal would obey."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from sklearn_calib._files import FileError
from sklearn_calib._results import printable
from sklearn_calib._version import __version__

__all__ = ["GENERATOR", "check_output", "exit_code"]

# In the head of every page: it tells pages of this package from the files of others.
GENERATOR = f"<meta name='generator' content='sklearn-calib {__version__}'>"
_OURS = b"<meta name='generator' content='sklearn-calib "


def check_output(
    path: Path, *, inputs: Iterable[Path] = (), force: bool = False, option: str = "--out"
) -> None:
    """Refuse a place where a command should not write, before it has done any work.

    A page that this package wrote may be replaced by a new one. Any other file is
    replaced with `force` only, and the files that are read never are.
    """
    if not path.parent.is_dir():
        raise FileError(f"{option} {path}: there is no folder {path.parent}.")
    if path.is_dir():
        raise FileError(f"{option} {path} is a folder; name a file.")
    if not path.exists():
        return
    for given in inputs:
        if given.exists() and path.samefile(given):
            raise FileError(f"{option} {path} is the file of predictions itself.")
    if not force and path.is_file() and not _may_be_replaced(path):
        raise FileError(
            f"{option} {path} is there already, and sklearn-calib did not write it. Pass --force "
            "to replace it, or name another file."
        )


def _may_be_replaced(path: Path) -> bool:
    """Tell whether a file is empty, or a page of ours."""
    with path.open("rb") as file:
        start = file.read(1000)
    return not start or _OURS in start


def exit_code(command: Callable[[], None]) -> int:
    """Run a command and return its exit code; what goes wrong becomes one line of text."""
    try:
        command()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has read enough. Nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("interrupted; nothing was written.", file=sys.stderr)
        return 130
    except (ImportError, OSError, TypeError, ValueError) as error:
        print(f"error: {printable(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    return 0
