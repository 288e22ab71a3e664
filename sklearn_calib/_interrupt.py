"""Ctrl-C while the command is still loading: one line and exit code 130, no traceback.

NumPy and scikit-learn take a second to load, long before `main` could catch anything. The package
imports this module first, which does nothing unless the process is the command.
"""

import os
import signal
import sys
from types import FrameType

__all__ = ["has_loaded", "is_the_command"]

_COMMAND, _MODULES = "sklearn-calib", ("sklearn_calib", "sklearn_calib.__main__")


def is_the_command(argv: list[str], orig_argv: list[str]) -> bool:
    """Tell whether Python was started as `sklearn-calib` or as `python -m sklearn_calib`."""
    if argv[:1] == ["-m"]:  # as long as the package of a module is imported
        return orig_argv[-len(argv)].removeprefix("-m") in _MODULES
    return bool(argv) and os.path.basename(argv[0]).removesuffix(".exe") == _COMMAND


def _leave(number: int, frame: FrameType | None) -> None:
    # Not by an exception, which half of an import might catch and take for something else.
    os.write(2, b"interrupted; nothing was written.\n")
    os._exit(130)


def has_loaded() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Where interrupts are ignored, as in the background of a shell, they stay so.
if (
    is_the_command(sys.argv, sys.orig_argv)
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, _leave)
