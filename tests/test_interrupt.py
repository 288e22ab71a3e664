"""Ctrl-C ends the command with one line and 130, however early it comes."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sklearn_calib import _interrupt
from sklearn_calib._interrupt import is_the_command

ROOT = Path(__file__).parents[1]

SCRIPT = """\
import sys
from sklearn_calib.report._command import main
sys.exit(main())
"""

# In place of NumPy: it takes as long to load as the test likes, and hides what interrupts it.
SLOW = """\
import sys, time
print("loading", flush=True)
try:
    time.sleep(60)
except KeyboardInterrupt:
    raise ImportError("NumPy is broken")
"""


@pytest.mark.parametrize(
    ("argv", "orig_argv", "expected"),
    [
        (["-m"], ["python", "-m", "sklearn_calib"], True),
        (["-m", "report"], ["python", "-X", "dev", "-Im", "sklearn_calib", "report"], True),
        (["-m", "report"], ["python", "-msklearn_calib", "report"], True),
        (["/usr/bin/sklearn-calib", "report"], ["python", "/usr/bin/sklearn-calib", "x"], True),
        (["sklearn-calib.exe"], ["sklearn-calib.exe"], True),
        (["-m", "sklearn_calib"], ["python", "-m", "pytest", "sklearn_calib"], False),
        (["-c"], ["python", "-c", "import sklearn_calib"], False),
        (["sklearn-calib.py"], ["python", "sklearn-calib.py"], False),
        ([""], ["python"], False),
        ([], ["program"], False),
    ],
)
def test_the_command_is_known_by_how_it_was_started(argv, orig_argv, expected):
    assert is_the_command(argv, orig_argv) is expected


def test_nothing_changes_for_other_programs():
    assert signal.getsignal(signal.SIGINT) is not _interrupt._leave
    before = signal.getsignal(signal.SIGINT)
    _interrupt.has_loaded()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(sys.platform == "win32", reason="no signals of this kind")
@pytest.mark.parametrize("form", ["module", "script"])
def test_an_interrupt_while_numpy_is_loading(tmp_path, form):
    (tmp_path / "numpy.py").write_text(SLOW)
    script = tmp_path / "sklearn-calib"
    script.write_text(SCRIPT)
    start = [script] if form == "script" else ["-m", "sklearn_calib"]
    process = subprocess.Popen(
        [sys.executable, *start, "report", "x.csv", "--y-true", "y", "--y-prob", "p"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env=dict(os.environ, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}"),
    )  # fmt: skip
    stop = threading.Timer(60, process.kill)
    stop.start()
    assert process.stdout.readline() == "loading\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate()
    stop.cancel()
    assert (process.returncode, error) == (130, "interrupted; nothing was written.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no signals of this kind")
def test_what_is_ignored_stays_ignored():
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import runpy, sys; "
    code += "sys.argv = ['sklearn-calib', '--version']; import sklearn_calib; "
    code += "print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no signals of this kind")
def test_a_command_that_has_loaded_can_be_interrupted_as_before():
    code = "import signal, sys; sys.argv = ['sklearn-calib', '--version']; import sklearn_calib; "
    code += "from sklearn_calib import _interrupt; "
    code += "print(signal.getsignal(signal.SIGINT) is _interrupt._leave); "
    code += "from sklearn_calib.report._command import main\ntry:\n    main()\n"
    code += "except SystemExit:\n    pass\n"
    code += "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    first, _, last = done.stdout.splitlines()
    assert (first, last) == ("True", "True"), done.stderr
