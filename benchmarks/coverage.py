"""Do the intervals cover, do the tests keep their level, and how far off are the estimates?

Simulations with known truth. Every setting has seeds of its own, so that the
result does not depend on the number of processes. Run with

    python benchmarks/coverage.py --out benchmarks/results/coverage.json

and with --quick for a rough look.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from sklearn_calib import (
    adaptive_bin_calibration_error,
    calibration_error_interval,
    calibration_test,
)
from sklearn_calib.datasets import make_queries

LAWS: dict[str, dict[str, Any]] = {
    "Beta(.3, .3)": {"a": 0.3, "b": 0.3},
    "Beta(.5, 2)": {"a": 0.5, "b": 2.0},
    "Beta(5, 5)": {"a": 5.0, "b": 5.0},
    "mixture": {"predictions": "mixture"},
}
TRUTHS: dict[str, dict[str, Any]] = {
    "calibrated": {},
    "shift .05": {"distortion": "shift", "strength": 0.05},
    "shift .1": {"distortion": "shift", "strength": 0.1},
    "slope 1/0.7": {"distortion": "slope", "strength": 1 / 0.7},
    "slope 1/1.5": {"distortion": "slope", "strength": 1 / 1.5},
}
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "rounded to 2 decimals": {"decimals": 2},
    "Exp(1) weights": {},
    "groups of 20, dependence .8": {"group_size": 20, "dependence": 0.8},
}
# Replications are run in blocks, each with a seed of its own.
BLOCK = 50
# The bootstrap is measured in the first blocks only.
SLOW_BLOCKS = 2
GROUP_BLOCKS = 8


def slow_tests(setting: dict[str, Any], n: int) -> bool:
    """Whether to run the resampling tests, whose size is known where predictions are right."""
    return setting["truth"] == "calibrated" and setting["variant"] != "Exp(1) weights" and n <= 1000


def inside(limits: Any, truth: float) -> bool:
    return bool(limits.low <= truth <= limits.high)


def replicate(
    setting: dict[str, Any], n: int, rng: np.random.Generator, slow: bool
) -> dict[str, float]:
    """Simulate one sample and measure everything on it; what is slow, on request."""
    options = {**LAWS[setting["law"]], **TRUTHS[setting["truth"]], **VARIANTS[setting["variant"]]}
    sample = make_queries(n, random_state=rng, **options)
    y, q, truth = sample.y_true, sample.y_prob, sample.error
    weighted = setting["variant"] == "Exp(1) weights"
    weights = {"sample_weight": rng.exponential(size=n)} if weighted else {}
    grouped = {"groups": sample.queries.group}
    ours = calibration_error_interval(y, q, **weights, **grouped)
    out = {"score": inside(ours.confidence_interval, truth), "size asymptotic": ours.pvalue <= 0.05}
    if sample.queries.group is not None:
        ignored = calibration_error_interval(y, q)
        out["score, groups ignored"] = inside(ignored.confidence_interval, truth)
    if setting["variant"] == "plain":
        bins = int(np.ceil(np.cbrt(n)))
        paper = calibration_error_interval(
            y, q, method="sampling", n_bins=bins, n_resamples=300, random_state=rng
        )
        out["Algorithm 2, cbrt(N) bins"] = inside(paper.confidence_interval, truth)
        for name, size in (("auto", {}), ("sqrt(N)", {"n_bins": int(np.sqrt(n))})):
            for debias in (False, True):
                error = adaptive_bin_calibration_error(y, q, debias=debias, **size)
                kind = "debiased" if debias else "plug-in"
                out[f"square {kind}, {name} bins"] = (error - truth) ** 2
    if slow and setting["variant"] == "plain" and n <= 1000:
        boot = calibration_error_interval(
            y, q, method="bootstrap", n_resamples=400, random_state=rng
        )
        out["BCa bootstrap"] = inside(boot.confidence_interval, truth)
    if slow_tests(setting, n):
        for statistic in ("binned", "kuiper"):
            test = calibration_test(
                y, q, statistic=statistic, n_resamples=199, random_state=rng, **grouped
            )
            out[f"size {statistic}"] = test.pvalue <= 0.05
    return out


def block(setting: dict[str, Any], n: int, key: list[int], size: int) -> list[dict[str, float]]:
    rng = np.random.default_rng(key)
    return [replicate(setting, n, rng, slow=key[-1] < SLOW_BLOCKS) for _ in range(size)]


def study(
    variants: list[str], sizes: list[int], replications: int, n_jobs: int
) -> list[dict[str, Any]]:
    """Run every setting and return a row for each."""
    rows = []
    for v, variant in enumerate(VARIANTS):
        if variant not in variants:
            continue
        for i, law in enumerate(LAWS):
            for j, truth in enumerate(TRUTHS):
                setting = {"variant": variant, "law": law, "truth": truth}
                for n in sizes:
                    # Up to 10,000 queries where weights or groups make it slow.
                    if n > 10_000 and variant not in ("plain", "rounded to 2 decimals"):
                        continue
                    start = time.perf_counter()
                    blocks = Parallel(n_jobs=n_jobs)(
                        delayed(block)(setting, n, [v, i, j, n, b], BLOCK)
                        for b in range(max(1, replications // BLOCK))
                        # Groups are slow: fewer blocks give a standard error of 1 %.
                        if b < GROUP_BLOCKS or "groups" not in variant
                    )
                    results = [result for part in blocks for result in part]
                    row = {**setting, "n": n, "replications": len(results)}
                    for name in results[0]:
                        mean = float(np.mean([r[name] for r in results if name in r]))
                        if name.startswith("square"):
                            row["rmse" + name[6:]] = round(float(np.sqrt(mean)), 5)
                        else:
                            row[name] = round(mean, 4)
                    rows.append(row)
                    print(row, f"{time.perf_counter() - start:.0f} s", flush=True)
    return rows


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the extremes over laws and truths, a line for each variant, size and measure."""
    lines = []
    cells: dict[tuple[str, int, str], list[tuple[float, str]]] = {}
    for row in rows:
        for name, value in row.items():
            if name not in ("variant", "law", "truth", "n", "replications"):
                if name.startswith("size") and row["truth"] != "calibrated":
                    continue
                where = f"{row['law']}, {row['truth']}"
                cells.setdefault((row["variant"], row["n"], name), []).append((value, where))
    lines.append(f"{'variant':28}{'N':>8}  {'measure':32}{'least':>8}{'most':>8}  where least")
    for (variant, n, name), values in cells.items():
        low, high = min(values), max(values)
        lines.append(f"{variant:28}{n:>8}  {name:32}{low[0]:>8.3f}{high[0]:>8.3f}  {low[1]}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 replications, N up to 10,000")
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    sizes, replications = arguments.sizes, arguments.replications
    if arguments.quick:
        sizes, replications = [1000, 10_000], 100
    rows = study(arguments.variants, sizes, replications, arguments.n_jobs)
    print(summary(rows))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        text = ",\n".join(json.dumps(row) for row in rows)
        arguments.out.write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
