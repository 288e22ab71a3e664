"""What this package and others do with bad input: an error, NaN, or a number.

Every function gets the same 1,000 predictions, first as they should be and then with one thing
wrong. What comes back is told apart by what it equals: the answer for clipped predictions, for the
rows that are left, for labels of 0 and 1, and so on. An error is clear if it speaks of what is
wrong; the messages are kept beside the verdicts, so that anybody can judge. Packages that are not
installed are left as they were measured last.
"""

from __future__ import annotations

import argparse
import json
import platform
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

Array = Any
Call = Callable[[Array, Array], Any]

RESULTS = Path(__file__).parent / "results" / "bad_input.json"
N = 1000

# The title of each column, and words of which a clear error has at least one.
CASES = {
    "nan": ("NaN", ("nan", "missing", "finite")),
    "outside": (
        "predictions outside [0, 1]",
        ("[0, 1]", "[0,1]", "between 0 and 1", "outside", "out of range", "probabilit"),
    ),
    "labels_1_2": ("labels {1, 2}", ("label", "binary", "class", "target", "0 and 1", "zero")),
    "labels_-1_1": ("labels {-1, 1}", ("label", "binary", "class", "target", "0 and 1", "zero")),
    "empty": ("empty input", ("empty", "0 sample", "at least one", "no sample", "minimum of 1")),
    "lengths": ("lengths n and n - 1", ("length", "number", "shape", "size", "entry")),
}


def packages() -> dict[str, tuple[str, str, Callable[[], Call]]]:
    """Return what is compared: distribution, name, and a function that imports it."""
    return {
        "sklearn-calib": ("sklearn-calib", "**sklearn-calib**", _ours),
        "scikit-learn": ("scikit-learn", "scikit-learn `calibration_curve`", _sklearn),
        "netcal": ("netcal", "netcal `ECE`", _netcal),
        "relplot": ("relplot", "relplot `smECE`", _relplot),
        "uncertainty-calibration": (
            "uncertainty-calibration",
            "uncertainty-calibration `get_ece`",
            _uncertainty,
        ),
        "torchmetrics": ("torchmetrics", "torchmetrics `binary_calibration_error`", _torchmetrics),
        "mapie": ("mapie", "MAPIE `expected_calibration_error`", _mapie),
        "calzone": ("calzone-tool", "calzone `reliability_diagram`", _calzone),
    }


def _ours() -> Call:
    from sklearn_calib import adaptive_bin_calibration_error

    return lambda y, q: adaptive_bin_calibration_error(y, q)


def _sklearn() -> Call:
    from sklearn.calibration import calibration_curve

    def call(y: Array, q: Array) -> float:
        true, pred = calibration_curve(y, q, n_bins=10, strategy="quantile")
        return float(np.abs(true - pred).mean())

    return call


def _netcal() -> Call:
    from netcal.metrics import ECE

    return lambda y, q: ECE(10).measure(q, y)


def _relplot() -> Call:
    import relplot

    return lambda y, q: relplot.smECE(f=q, y=y)


def _uncertainty() -> Call:
    import calibration

    return lambda y, q: calibration.get_ece(q, y)


def _torchmetrics() -> Call:
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    return lambda y, q: float(binary_calibration_error(torch.tensor(q), torch.tensor(y), n_bins=10))


def _mapie() -> Call:
    from mapie.metrics.calibration import expected_calibration_error

    return lambda y, q: expected_calibration_error(y, q, num_bins=10)


def _calzone() -> Call:
    from calzone.metrics import calculate_ece_mce
    from calzone.utils import reliability_diagram

    def call(y: Array, q: Array) -> float:
        proba = np.column_stack([1 - q, q])
        reliability, confidence, *_, counts = reliability_diagram(
            y, proba, num_bins=10, class_to_plot=1
        )
        return calculate_ece_mce(reliability, confidence, counts)[0]

    return call


def data() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    q = rng.beta(0.8, 1.2, N)
    return (rng.random(N) < q**1.3).astype(int), q


def damaged(case: str) -> tuple[Array, Array]:
    """Return labels and predictions with one thing wrong."""
    y, q = data()
    if case == "nan":
        q[7] = np.nan
    elif case == "outside":
        q[[7, 8]] = 1.2, -0.1
    elif case == "labels_1_2":
        y += 1
    elif case == "labels_-1_1":
        y = 2 * y - 1
    elif case == "empty":
        y, q = y[:0], q[:0]
    elif case == "lengths":
        q = q[:-1]
    return y, q


def explanations(case: str) -> dict[str, tuple[Array, Array]]:
    """Return what a number might be the answer for."""
    y, q = data()
    if case == "nan":
        left = np.delete(np.arange(N), 7)
        return {"drops the row silently": (y[left], q[left])}
    if case == "outside":
        _, bad = damaged(case)
        left = np.delete(np.arange(N), [7, 8])
        return {
            "clips silently": (y, np.clip(bad, 0, 1)),
            "applies a sigmoid to all": (y, 1 / (1 + np.exp(-bad))),
            "drops rows silently": (y[left], q[left]),
        }
    if case.startswith("labels"):
        return {"the right number": (y, q)}
    if case == "lengths":
        return {"cuts the longer one": (y[:-1], q[:-1])}
    return {}


def asked(call: Call, y: Array, q: Array) -> tuple[float | None, str]:
    """Return the number, or None and the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return float(np.asarray(call(y, q)).item()), ""
        except Exception as error:
            return None, f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def verdict(call: Call, case: str) -> dict[str, Any]:
    """Return what a function makes of one thing that is wrong."""
    y, q = damaged(case)
    before = y.copy(), q.copy()
    number, error = asked(call, y, q)
    changed = not all(np.array_equal(a, b, equal_nan=True) for a, b in zip((y, q), before))  # noqa: B905
    if error:
        clear = any(word in error.lower() for word in CASES[case][1]) and "broadcast" not in error
        said = "error" if clear else "obscure error"
    elif number is None or np.isnan(number):
        said = "NaN"
    else:
        said = "a wrong number" if case.startswith("labels") else "a number"
        if case == "empty":
            said = f"{number:.1f}"
        for name, (other_y, other_q) in explanations(case).items():
            other, _ = asked(call, other_y, other_q)
            # Some packages add noise to break ties.
            if other is not None and np.isclose(number, other, rtol=1e-6):
                said = name
    if changed:
        said += ", and changes its arguments"
    found = {"said": said, "value": None if number is None or np.isnan(number) else number}
    return {**found, "error": error, "changes_its_arguments": changed}


def measure() -> dict[str, Any]:
    """Return the verdicts on what is installed."""
    found = {}
    for name, (distribution, title, load) in packages().items():
        try:
            installed = _version(distribution)
            call = load()
        except (ImportError, PackageNotFoundError):
            print(f"{name} is not installed")
            continue
        clean, error = asked(call, *data())
        if clean is None:
            raise RuntimeError(f"{name} cannot be called: {error}")
        cases = {case: verdict(call, case) for case in CASES}
        found[name] = {"title": title, "version": installed, "clean": clean, "cases": cases}
    return found


def _version(distribution: str) -> str:
    if distribution == "sklearn-calib":
        from sklearn_calib import __version__

        return __version__
    return version(distribution)


def readme_table(results: dict[str, Any]) -> str:
    """Return the table of the README, which a test compares with it."""
    shown = ["nan", "outside", "labels_1_2", "empty"]
    lines = ["| | " + " | ".join(CASES[case][0] for case in shown) + " |", "|---|" + "---|" * 4]
    for package in results["packages"].values():
        cells = [package["cases"][case]["said"] for case in shown]
        lines.append(f"| {package['title']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    before = json.loads(options.out.read_text())["packages"] if options.out.exists() else {}
    now = measure()
    order = {name: {**before, **now}[name] for name in packages() if name in {**before, **now}}
    results = {"n": N, "python": platform.python_version(), "packages": order}
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    print(readme_table(results))


if __name__ == "__main__":
    main()
