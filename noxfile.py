"""Run the tests on every supported version: ``make matrix``, or ``nox -s newest minimum``.

A Python that is not installed is passed over, and nox says so.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import nox

# Any of the Pythons may come without ensurepip, which venv needs and virtualenv does not.
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["tests", "newest", "minimum"]
nox.options.error_on_missing_interpreters = False

# pyenv puts one of its Pythons on the path; the others are as good.
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
os.environ["PATH"] += "".join(f"{os.pathsep}{path}" for path in sorted(PYENV.glob("*/bin")))

# Every Python for which the requirements have wheels. The extra hmm has none for 3.14 yet, and crf
# none for 3.15: the extra all leaves them out there, and tests that need them are skipped.
PYTHON = ["3.11", "3.12", "3.13", "3.14", "3.15"]
# Where everything is run beside the oldest requirements: the newest Python that has all extras, and
# the newest. Between them, examples of the guide and slow tests would only say the same again.
WHOLE = ["3.13", "3.15"]
QUICK = ["-m", "not slow", "tests"]
# Those between the oldest, in the session minimum, and the newest.
SCIKIT_LEARN = ["1.7.2", "1.8.0"]
# The lower bounds of pyproject.toml. scikit-learn 1.6.0 itself cannot cross-validate with metadata
# routing on, hence 1.6.1. The second line is what the tests use, from the same time.
MINIMUM = ["scikit-learn==1.6.1", "numpy==1.26.0", "scipy==1.12.0", "matplotlib==3.8.0"]
MINIMUM += ["pandas==2.2.3", "pyarrow==17.0.0", "pyparsing==3.1.4"]


@nox.session
@nox.parametrize("scikit_learn", SCIKIT_LEARN, ids=SCIKIT_LEARN)
def tests(session: nox.Session, scikit_learn: str) -> None:
    """Run the quick tests on one scikit-learn."""
    run_pytest(session, f"scikit-learn=={scikit_learn}", options=QUICK)


@nox.session(python=PYTHON)
def newest(session: nox.Session) -> None:
    """Run the tests on the newest version of every requirement."""
    run_pytest(session, options=() if session.python in WHOLE else QUICK)


@nox.session(python="3.11")
def minimum(session: nox.Session) -> None:
    """Run the tests on the oldest supported version of every requirement."""
    run_pytest(session, *MINIMUM)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and types."""
    session.install("--editable", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation."""
    session.install("--editable", ".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")


def run_pytest(session: nox.Session, *pins: str, options: Sequence[str] = ()) -> None:
    session.install("--editable", ".[test]", *pins)
    chosen = session.posargs or options
    session.run("pytest", "-n", "2", "--quiet", *chosen, env={"MPLBACKEND": "Agg"})
