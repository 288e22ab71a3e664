"""Estimates, tests and intervals of others, on the same simulated data.

How far from the true calibration error are the estimates, how often do tests reject a
calibrated model, or find a wrong one, and how often do intervals hold the true error?
Packages that are not installed are left out:

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
from scipy import special

from sklearn_calib import (
    adaptive_bin_calibration_error,
    calibration_error_interval,
    calibration_test,
    select_bin_size,
)
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


def sun_limits(y: Array, q: Array, level: float = 0.95) -> tuple[float, float, bool]:
    """Return the limits of Sun, Chaudhari, Barnett and Dobriban (2024), and whether 0 is held.

    The formulas are those of arXiv 2408.08998 as its authors' code has them, for one class. With
    m bins of equal width, u = y - q, and n_b rows in bin b:

        T      = sum over bins of ((sum of u)^2 - sum of u^2) / (n_b - 1), over n
        sigma1 = sum of n_b / n (4 mean(u)^2 mean(u^2) - 3 mean(u)^4) - (sum of n_b / n mean(u)^2)^2
        sigma0 = 2 x integral of (z (1 - z))^2 over [0, 1] = 1 / 15

    The squared error lies between T - z s and T + z s, with s = sqrt(sigma1 / n); near 0 the lower
    end is T / 2, and then T less the one-sided quantile. 0 is held where T is below that
    quantile times sqrt(sigma0 m) / n. Their simulations have 50 bins at n = 1,000; elsewhere the
    number grows here as the root of n.
    """
    n = len(q)
    m = max(2, round(50.0 * np.sqrt(n / 1000.0)))
    u = y - q
    cell = np.minimum((q * m).astype(int), m - 1)
    count = np.bincount(cell, minlength=m)
    one, two = np.bincount(cell, u, m), np.bincount(cell, u**2, m)
    several = count > 1
    t = float(np.sum((one**2 - two)[several] / (count[several] - 1.0))) / n
    used = count > 0
    share, mean, square = count[used] / n, one[used] / count[used], two[used] / count[used]
    first = float(np.sum(share * (4.0 * mean**2 * square - 3.0 * mean**4)))
    s = np.sqrt(max(0.0, first - float(np.sum(share * mean**2)) ** 2) / n)
    alpha = 1.0 - level
    both, single = -special.ndtri(alpha / 2.0), -special.ndtri(alpha)
    t = max(t, 0.0)
    low = max(0.0, t - single * s)
    if t >= 2.0 * both * s:
        low = t - both * s
    elif t >= 2.0 * single * s:
        low = t / 2.0
    return float(np.sqrt(low)), float(np.sqrt(t + both * s)), t < single * np.sqrt(m / 15.0) / n


def our_limits(y: Array, q: Array) -> tuple[float, float, bool]:
    low, high = calibration_error_interval(y, q).confidence_interval
    return low, high, low == 0.0


INTERVALS = {"sklearn-calib": our_limits, "Sun et al. (2024)": sun_limits}


def interval_study(n: int, replications: int) -> list[dict[str, Any]]:
    """Return how often limits hold the true error, and how wide they are."""
    rows = []
    for i, law in enumerate(LAWS):
        for j, truth in enumerate(TRUTHS):
            found: dict[str, list[float]] = {}
            for k in range(replications):
                rng = np.random.default_rng([5, i, j, n, k])
                sample = make_queries(n, random_state=rng, **LAWS[law], **TRUTHS[truth])
                for name, limits in INTERVALS.items():
                    low, high, zero = limits(sample.y_true, sample.y_prob)
                    held = zero if sample.error == 0.0 else low <= sample.error <= high
                    found.setdefault(name, []).append(held)
                    found.setdefault(f"{name} width", []).append(high - low)
            means = {name: round(float(np.mean(values)), 5) for name, values in found.items()}
            rows.append({"n": n, "law": law, "truth": truth, "error": sample.error, **means})
    return rows


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


def distances(n: int, replications: int) -> list[dict[str, Any]]:
    """Return how far estimates are from the true error."""
    rows = study({**ours(), **peers()}, n, replications)
    for row in rows:
        for name in [name for name in row if name not in ("n", "law", "truth", "error")]:
            away = np.array(row[name]) - row["error"]
            row[name] = round(float(np.sqrt(np.mean(np.square(away)))), 5)
        row["error"] = round(row["error"], 5)
    return rows


def rejections(n: int, replications: int) -> list[dict[str, Any]]:
    """Return how often tests reject at 5 %."""
    rows = study(tests(), n, replications)
    for row in rows:
        for name in [name for name in row if "," in name]:
            row[name] = round(float(np.mean(np.array(row[name]) <= 0.05)), 4)
        row["error"] = round(row["error"], 5)
    return rows


def coverages(n: int, replications: int) -> list[dict[str, Any]]:
    """Return how often limits hold the true error, and how wide they are, from more samples."""
    return interval_study(n, 10 * replications)


PARTS: dict[str, Callable[[int, int], list[dict[str, Any]]]] = {
    "rmse": distances,
    "rejected": rejections,
    "interval": coverages,
}


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
    parser.add_argument(
        "--only", choices=PARTS, nargs="+", default=PARTS, help="the others are left in --out"
    )
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if set(arguments.only) < set(PARTS) and arguments.out:
        kept = json.loads(arguments.out.read_text())["rows"]
        rows = [row for row in kept if row["what"] not in arguments.only]
    for n in (300, 3000):
        for what in arguments.only:
            rows += [{"what": what, **row} for row in PARTS[what](n, arguments.replications)]
        print(n, "done", flush=True)
    for what in ("rmse", "rejected"):
        some = [row for row in rows if row["what"] == what]
        for name in some[0] if some else ():
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
