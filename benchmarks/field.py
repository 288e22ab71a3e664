"""Estimates and tests of other packages, on the same simulated data.

How far from the true calibration error are the estimates, and how often do tests reject a
calibrated model, or find a wrong one? Packages that are not installed are left out:

    python -m pip install relplot uncertainty-calibration mapie netcal probmetrics torchmetrics
    python -P benchmarks/field.py --out benchmarks/results/field.json

The estimates aim at the root mean square error, except for smECE (an error after smoothing) and
netcal's ECE (a mean of absolute values), whose targets are others: their distance from the root
mean square error is shown for orientation. Without -P, a package that looks for the package named
coverage would find the script of that name.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib import adaptive_bin_calibration_error, calibration_test, select_bin_size
from sklearn_calib.datasets import make_queries

Array = np.ndarray
Estimate = Callable[[Array, Array], float]

LAWS: dict[str, dict[str, Any]] = {
    "Beta(.3, .3)": {"a": 0.3, "b": 0.3},
    "Beta(.5, 2)": {"a": 0.5, "b": 2.0},
    "Beta(5, 5)": {"a": 5.0, "b": 5.0},
    "tagger": {"predictions": "mixture"},
}
TRUTHS: dict[str, dict[str, Any]] = {
    "calibrated": {},
    "shift .05": {"distortion": "shift", "strength": 0.05},
    "slope 1/1.5": {"distortion": "slope", "strength": 1 / 1.5},
    "slope 1/0.7": {"distortion": "slope", "strength": 1 / 0.7},
}


def ours() -> dict[str, Estimate]:
    def plain(y: Array, q: Array) -> float:
        return adaptive_bin_calibration_error(y, q)

    def debiased(y: Array, q: Array) -> float:
        return adaptive_bin_calibration_error(y, q, debias=True)

    def selected(y: Array, q: Array) -> float:
        return adaptive_bin_calibration_error(y, q, bin_size=select_bin_size(y, q), debias=True)

    return {
        "sklearn-calib": plain,
        "sklearn-calib, debias=True": debiased,
        "sklearn-calib, debias=True, select_bin_size": selected,
    }


def peers() -> dict[str, Estimate]:
    """Return the estimates of the packages that are installed."""
    found: dict[str, Estimate] = {}
    try:
        import calibration

        def verified(y: Array, q: Array) -> float:
            return float(calibration.get_calibration_error(q, y.astype(int), p=2, debias=True))

        found["uncertainty-calibration, debiased"] = verified
    except ImportError:
        pass
    try:
        import relplot

        found["relplot smECE"] = lambda y, q: float(relplot.smECE(q, y))
    except ImportError:
        pass
    try:
        from netcal.metrics import ECE

        found["netcal ECE, 10 bins"] = lambda y, q: float(ECE(10).measure(q, y.astype(int)))
    except ImportError:
        pass
    with contextlib.suppress(ImportError):
        found |= probmetrics_estimates()
    return found


def probmetrics_estimates() -> dict[str, Estimate]:
    """Return its error in bins, and the root of what recalibration takes off the Brier score."""
    import torch
    from probmetrics.calibrators import get_calibrator
    from probmetrics.metrics import BrierLoss, CalibrationError, MetricsWithCalibration
    from probmetrics.splitters import CVSplitter

    def tensors(y: Array, q: Array) -> tuple[Any, Any]:
        return torch.tensor(y.astype(int)), torch.tensor(np.column_stack((1.0 - q, q)))

    def binned(y: Array, q: Array) -> float:
        return float(
            CalibrationError(n_bins=15, norm="l2").compute_from_labels_probs(*tensors(y, q))
        )

    decomposition = MetricsWithCalibration(
        BrierLoss(), get_calibrator("logistic"), CVSplitter(n_cv=5), random_state=0
    )

    def fitted(y: Array, q: Array) -> float:
        parts = decomposition.compute_all_from_labels_probs(*tensors(y, q))
        gain = next(float(value) for name, value in parts.items() if name.startswith("calib-err"))
        # Summed over both classes, the Brier score counts an error twice.
        return float(np.sqrt(max(0.0, gain / 2.0)))

    return {
        "probmetrics RMSCE, 15 bins": binned,
        "probmetrics, Brier score less that after logistic recalibration": fitted,
    }


def tests() -> dict[str, Estimate]:
    """Return p-values of tests of perfect calibration."""
    found: dict[str, Estimate] = {
        f"sklearn-calib, {name}": lambda y, q, name=name: (
            calibration_test(y, q, statistic=name, n_resamples=199, random_state=0).pvalue
        )
        for name in ("omnibus", "kuiper", "spiegelhalter")
    }
    try:
        from mapie.metrics import calibration as mapie

        for name in ("kolmogorov_smirnov", "kuiper", "spiegelhalter"):
            function = getattr(mapie, f"{name}_p_value")
            found[f"MAPIE, {name.replace('_', '-')}"] = lambda y, q, f=function: float(
                f(y.astype(int), q)
            )
    except ImportError:
        pass
    return found


def study(functions: dict[str, Estimate], n: int, replications: int) -> list[dict[str, Any]]:
    rows = []
    for i, law in enumerate(LAWS):
        for j, truth in enumerate(TRUTHS):
            values: dict[str, list[float]] = {name: [] for name in functions}
            for k in range(replications):
                rng = np.random.default_rng([i, j, n, k])
                sample = make_queries(n, random_state=rng, **LAWS[law], **TRUTHS[truth])
                for name, function in functions.items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        values[name].append(function(sample.y_true, sample.y_prob))
            rows.append({"n": n, "law": law, "truth": truth, "error": sample.error, **values})
    return rows


def versions() -> dict[str, str]:
    found = {}
    for name in ("relplot", "uncertainty-calibration", "netcal", "probmetrics", "mapie"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for n in (300, 3000):
        for row in study({**ours(), **peers()}, n, arguments.replications):
            keys = ("n", "law", "truth", "error")
            for name in [name for name in row if name not in keys]:
                away = np.array(row[name]) - row["error"]
                row[name] = round(float(np.sqrt(np.mean(np.square(away)))), 5)
            rows.append({"what": "rmse", **row, "error": round(row["error"], 5)})
        for row in study(tests(), n, arguments.replications):
            for name in [name for name in row if "," in name]:
                row[name] = round(float(np.mean(np.array(row[name]) <= 0.05)), 4)
            rows.append({"what": "rejected", **row, "error": round(row["error"], 5)})
        print(n, "done", flush=True)
    for what in ("rmse", "rejected"):
        some = [row for row in rows if row["what"] == what]
        for name in some[0]:
            if name not in ("what", "n", "law", "truth", "error"):
                for kind in (True, False):
                    part = [r[name] for r in some if (r["truth"] == "calibrated") == kind]
                    label = "calibrated" if kind else "others"
                    print(f"{what:9}{name:48}{label:12}{np.mean(part):.4f}")
    if arguments.out:
        record = {"replications": arguments.replications, "versions": versions(), "rows": rows}
        arguments.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
