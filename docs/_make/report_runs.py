"""Run the commands of user_guide/report.rst, so that the page shows what they print.

The build calls this; ``python docs/_make/report_runs.py`` does the same by hand. Every
run goes to docs/_tables/, to be included by the page.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]

# Scripts and commands find this Python and this copy of the package, installed or not.
ENVIRONMENT = os.environ | {
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "PYTHONPATH": os.pathsep.join([str(DOCS.parent), os.environ.get("PYTHONPATH", "")]),
    "MPLBACKEND": "Agg",
}

# The script that makes a file, and the commands to run on it, as the page shows them.
RUNS = {
    "predictions": [
        "head -n 4 predictions.csv",
        "sklearn-calib report predictions.csv \\\n"
        "      --y-true label --y-prob score --pos-label spam --group doc \\\n"
        "      --out report.html",
    ],
    "without_groups": [
        "sklearn-calib report predictions.csv \\\n"
        "      --y-true label --y-prob score --pos-label spam | head -n 5",
    ],
    "animals": [
        "sklearn-calib report animals.csv --y-true animal --y-prob cat dog fox",
    ],
    "wrong": [
        "sklearn-calib report predictions.csv --y-true label --y-prob scoer",
        "echo $?",
    ],
}


def run(commands: list[str], folder: str) -> str:
    """Return commands and what they print, as on a terminal."""
    text, code = "", 0
    for command in commands:
        # Every command has a shell of its own, which knows nothing of the last exit code. The
        # console script is there after an installation only; the module is the same.
        done = subprocess.run(
            command.replace("$?", str(code)).replace("sklearn-calib ", "python -m sklearn_calib "),
            shell=True,
            cwd=folder,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        text, code = text + f"$ {command}\n{done.stdout}", done.returncode
    return text


def write_runs(tables: Path = DOCS / "_tables") -> None:
    """Write every run."""
    tables.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for script in sorted((DOCS / "report_files").glob("*.py")):
            subprocess.run([sys.executable, script], cwd=folder, env=ENVIRONMENT, check=True)
        for name, commands in RUNS.items():
            (tables / f"report_{name}.txt").write_text(run(commands, folder), encoding="utf-8")


if __name__ == "__main__":
    write_runs()
