"""Speed and memory of the calibration error, against a sort and against other packages.

Everything is measured in one run and reported as a ratio to `np.sort` of the
same predictions, which no method that sorts all of them can beat. Packages that are not
installed are reported as such. See README.md for what the numbers mean.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import calibration_curve

from sklearn_calib import adaptive_bin_calibration_error, calibration_error_interval

Array = np.ndarray
Call = Callable[[], Any]
Record = dict[str, Any]

RESULTS = Path(__file__).parent / "results" / "speed.json"
SIZES = (100_000, 1_000_000, 10_000_000)
QUICK_SIZES = (100_000, 1_000_000)

FLOOR = "np.sort"
FIXED, AUTO = "error, bin_size=5000", 'error, bin_size="auto"'
WEIGHTED = "error, bin_size=5000, weights"
INTERVAL = "calibration_error_interval"
N_BINS = 20  # for peers that ask for a number of bins

HARD_SIZE, MAX_SECONDS, MAX_INTERVAL_RATIO = 1_000_000, 1.0, 2.2
# From so many rows on the plain error sorts only the rows at the edges of bins.
UNSORTED_SIZE, MAX_UNSORTED_RATIO = 10_000_000, 0.6
MAX_RATIO, MAX_MEMORY, MAX_SAMPLING_RATIO, MAX_GROWTH = 2.0, 3.0, 5.0, 1.1
UNSTABLE = 0.3

DISTRIBUTIONS = (
    "sklearn-calib", "numpy", "scipy", "scikit-learn", "netcal", "relplot",
    "uncertainty-calibration", "torchmetrics", "torch",
)  # fmt: skip


# --- what is compared


def skewed_queries(n: int, decimals: int | None = None) -> tuple[Array, Array]:
    """Return labels and predictions: most are near 0, and they are right."""
    rng = np.random.default_rng(0)
    q = rng.beta(0.2, 2.0, n)
    y = (rng.random(n) < q).astype(int)
    return y, q if decimals is None else np.round(q, decimals)


def ours(y: Array, q: Array) -> dict[str, Call]:
    weight = np.random.default_rng(3).gamma(2.0, 0.5, len(q))
    return {
        FIXED: lambda: adaptive_bin_calibration_error(y, q, bin_size=5000),
        AUTO: lambda: adaptive_bin_calibration_error(y, q, bin_size="auto"),
        WEIGHTED: lambda: adaptive_bin_calibration_error(y, q, bin_size=5000, sample_weight=weight),
        INTERVAL: lambda: calibration_error_interval(y, q),
    }


def sklearn_curve(y: Array, q: Array) -> Call:
    return lambda: calibration_curve(y, q, strategy="quantile", n_bins=N_BINS)


def netcal_ece(y: Array, q: Array) -> Call:
    from netcal.metrics import ECE

    return lambda: ECE(N_BINS).measure(q, y)


def relplot_smece(y: Array, q: Array) -> Call:
    import relplot

    return lambda: relplot.smECE(q, y)


def uncertainty_calibration(y: Array, q: Array) -> Call:
    import calibration

    return lambda: calibration.get_calibration_error(q, y)


def torchmetrics_error(y: Array, q: Array) -> Call:
    import torch
    from torchmetrics.classification import BinaryCalibrationError

    # One thread, as for everything else here: threads that wait for each other would count
    # as busy. Tensors share the arrays' memory, so that no conversion is timed.
    torch.set_num_threads(1)
    prediction, label = torch.from_numpy(q), torch.from_numpy(y)
    return lambda: BinaryCalibrationError(n_bins=N_BINS, norm="l2")(prediction, label)


PEERS: dict[str, Callable[[Array, Array], Call]] = {
    "scikit-learn calibration_curve": sklearn_curve,
    "netcal ECE": netcal_ece,
    "relplot smECE": relplot_smece,
    "uncertainty-calibration": uncertainty_calibration,
    "torchmetrics BinaryCalibrationError": torchmetrics_error,
}


def peers(y: Array, q: Array) -> tuple[dict[str, Call], list[str]]:
    """Return the peers that can run here, and the names of those that are not installed."""
    calls: dict[str, Call] = {}
    missing = []
    for name, make in PEERS.items():
        try:
            calls[name] = make(y, q)
        except ImportError:
            missing.append(name)
    return calls, missing


# --- how it is measured


def seconds(call: Call) -> float:
    """Return the CPU time of a call, all threads together: other jobs hardly count."""
    start = time.process_time()
    call()
    return time.process_time() - start


def interleaved(calls: dict[str, Call], rounds: int, budget: float) -> dict[str, list[float]]:
    """Time the calls in turn, round after round, so that a busy moment hits them all.

    A call that has used up its budget of seconds sits out the other rounds.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            if sum(times[name]) < budget:
                times[name].append(seconds(call))
    return times


def peak_bytes(call: Call) -> int:
    """Return the most memory that a call holds at once, beyond what was held before."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        call()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - before


def summary(times: dict[str, list[float]], floor: str) -> Record:
    """Return best times and ratios to the floor: of the bests, and the median over rounds."""
    least = min(times[floor])
    rows = {
        name: {
            "seconds": min(own),
            "ratio": min(own) / least,
            "median_ratio": statistics.median(
                a / b for a, b in zip(own, times[floor], strict=False)
            ),
            "rounds": len(own),
        }
        for name, own in times.items()
    }
    spread = float(np.quantile(times[floor], 0.75)) / least - 1.0
    return {"spread": spread, "rows": rows}


def measure_size(n: int, rounds: int, budget: float, with_peers: bool = True) -> Record:
    """Measure everything at one number of predictions."""
    y, q = skewed_queries(n)
    own = ours(y, q)
    others, missing = peers(y, q)
    others, failed = (
        split_failures(others) if with_peers else ({}, dict.fromkeys(others, "not timed"))
    )
    times = interleaved({FLOOR: lambda: np.sort(q), **own, **others}, rounds, budget)
    record = {"n": n, **summary(times, FLOOR)}
    record["rows"] |= dict.fromkeys(missing, "not installed") | failed
    record["memory"] = {name: peak_bytes(call) / q.nbytes for name, call in own.items()}
    return record


def split_failures(calls: dict[str, Call]) -> tuple[dict[str, Call], dict[str, str]]:
    """Call each peer once, to warm it up and to set aside any that cannot run here."""
    works: dict[str, Call] = {}
    failed = {}
    for name, call in calls.items():
        try:
            call()
            works[name] = call
        except Exception as error:
            failed[name] = f"failed ({type(error).__name__})"
    return works, failed


def measure_ties(n: int, rounds: int, budget: float) -> Record:
    """Measure our functions where most predictions are equal to many others."""
    y, q = skewed_queries(n, decimals=3)
    calls = {FLOOR: lambda: np.sort(q), **ours(y, q)}
    return {"n": n, **summary(interleaved(calls, rounds, budget), FLOOR)}


def measure_hard(n: int, rounds: int, budget: float) -> Record:
    """Time the interval where it has more to do: weights, groups, and answers that are rare."""
    rng = np.random.default_rng(2)
    y, q = skewed_queries(n)
    w = np.exp(1.6 * rng.standard_normal(n))
    rare = rng.beta(0.5, 5000.0, n)
    seldom = rng.random(n) < rare
    row = np.arange(n)
    ten, hundred, thousand = (rng.permutation(row // size) for size in (10, 100, 1000))
    sizes = 1 + np.exp(1.5 + rng.standard_normal(n)).astype(int)
    uneven = rng.permutation(np.repeat(row, sizes)[:n])
    names = np.char.add("document-", ten.astype(str))
    calls = {
        FLOOR: lambda: np.sort(q),
        "weights, lognormal(0, 1.6)": lambda: calibration_error_interval(y, q, sample_weight=w),
        "groups of 2": lambda: calibration_error_interval(y, q, groups=row // 2),
        "groups of 10": lambda: calibration_error_interval(y, q, groups=ten),
        "groups of 10, weights": lambda: calibration_error_interval(
            y, q, groups=ten, sample_weight=w
        ),
        "groups of 10, named by text": lambda: calibration_error_interval(y, q, groups=names),
        "groups of 100": lambda: calibration_error_interval(y, q, groups=hundred),
        "groups of 1,000": lambda: calibration_error_interval(y, q, groups=thousand),
        "groups of lognormal size": lambda: calibration_error_interval(y, q, groups=uneven),
        "one yes in 10,000": lambda: calibration_error_interval(seldom, rare),
        "one yes in 10,000, weights": lambda: calibration_error_interval(
            seldom, rare, sample_weight=w
        ),
        "one yes in 10,000, groups of 10": lambda: calibration_error_interval(
            seldom, rare, groups=ten
        ),
    }
    return {"n": n, **summary(interleaved(calls, rounds, budget), FLOOR)}


def spread_queries(n: int) -> tuple[Array, Array]:
    """Return queries none of whose bins are pure, so that Algorithm 2 draws for every bin."""
    rng = np.random.default_rng(1)
    q = rng.uniform(0.2, 0.8, n)
    return (rng.random(n) < q).astype(int), q


def measure_sampling(n: int, bins: int, resamples: int, rounds: int, budget: float) -> Record:
    """Time Algorithm 2, sort and checks included, against drawing its normals alone."""
    y, q = spread_queries(n)
    calls = {
        "normals": lambda: np.random.default_rng(0).standard_normal((resamples, bins)),
        "sampling": lambda: sampling(y, q, bins, resamples),
    }
    assert len(sampling(y, q, bins, 2).bins) == bins
    record = summary(interleaved(calls, rounds, budget), "normals")
    return {"n": n, "bins": bins, "resamples": resamples, **record}


def sampling(y: Array, q: Array, bins: int, resamples: int) -> Any:
    return calibration_error_interval(
        y, q, bin_size=len(q) // bins, method="sampling", n_resamples=resamples,
        random_state=np.random.default_rng(0),
    )  # fmt: skip


def measure_sampling_memory(n: int, bins: int, resamples: int) -> Record:
    """Return the peak memory of Algorithm 2 over very many bins."""
    y, q = spread_queries(n)
    few = peak_bytes(lambda: sampling(y, q, bins, 2))
    peak = peak_bytes(lambda: sampling(y, q, bins, resamples))
    return {
        "n": n,
        "bins": bins,
        "resamples": resamples,
        "peak_bytes": peak,
        "peak_bytes_of_two_resamples": few,
        "all_draws_bytes": 8 * bins * resamples,
    }


def growth(small: Record, large: Record) -> Record:
    """Return how often longer the larger size takes: the sort, and each function of ours."""
    rows = {
        name: large["rows"][name]["seconds"] / small["rows"][name]["seconds"]
        for name in (FLOOR, FIXED, AUTO, INTERVAL)
    }
    return {"from": small["n"], "to": large["n"], "rows": rows}


# --- what was to be reached


def targets(result: Record) -> list[Record]:
    """Return each target that this run can judge: what it was, what was found, whether met."""
    checks = []
    for record in result["sizes"]:
        at = f"n = {record['n']:,}"
        rows = record["rows"]
        for name in (FIXED, AUTO):
            if record["n"] >= 1_000_000:
                most = MAX_UNSORTED_RATIO if record["n"] >= UNSORTED_SIZE else MAX_RATIO
                checks.append((f"{name}, x sort, {at}", rows[name]["ratio"], most))
            checks.append((f"{name}, memory, {at}", record["memory"][name], MAX_MEMORY))
        if record["n"] >= 1_000_000:
            ratio = rows[INTERVAL]["ratio"]
            checks.append((f"{INTERVAL}, x sort, {at}", ratio, MAX_INTERVAL_RATIO))
        timed = [rows[peer]["ratio"] for peer in PEERS if isinstance(rows[peer], dict)]
        if timed:
            slowest = max(rows[FIXED]["ratio"], rows[AUTO]["ratio"])
            checks.append((f"error / fastest peer, {at}", slowest / min(timed), 1.0))
    for record in result["hard"]:
        longest = max(row["seconds"] for row in record["rows"].values())
        what = f"weights, groups, rare answers: longest interval in seconds, n = {record['n']:,}"
        checks.append((what, longest, MAX_SECONDS))
    if "growth" in result:
        rows = result["growth"]["rows"]
        for name in (FIXED, AUTO):
            checks.append((f"{name}, growth / sort's", rows[name] / rows[FLOOR], MAX_GROWTH))
    for record in result["sampling"]:
        ratio = record["rows"]["sampling"]["ratio"]
        checks.append((f"Algorithm 2, x normals, n = {record['n']:,}", ratio, MAX_SAMPLING_RATIO))
    big = result["sampling_memory"]
    grown = big["peak_bytes"] / big["peak_bytes_of_two_resamples"]
    what = f"Algorithm 2, memory of {big['resamples']:,} resamples / of 2"
    checks.append((what, grown, MAX_GROWTH))
    return [
        {"what": what, "found": found, "at_most": limit, "met": found <= limit}
        for what, found, limit in checks
    ]


# --- how it is told


def machine() -> str:
    """Describe the machine in general terms."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = " ".join(np.show_config(mode="dicts")["SIMD Extensions"]["found"])
    kind = platform.machine().replace("x86_64", "x86-64").replace("AMD64", "x86-64")
    vectors = ""
    if "X86_V4" in found or "AVX512" in found:
        vectors = ", AVX-512"
    elif "X86_V3" in found or "AVX2" in found:
        vectors = ", AVX2"
    return f"{cores} cores, {kind}{vectors}, {platform.system()}"


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    if "sklearn-calib" not in found:
        import sklearn_calib

        found["sklearn-calib"] = sklearn_calib.__version__
    return found


def table(title: str, columns: list[str], rows: dict[str, list[str]]) -> str:
    """Lay out rows of text under a title, the columns aligned to the right."""
    left = max(len(title), *(len(name) for name in rows))
    cells = [columns, *rows.values()]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    lines = [
        "".join([f"{name:<{left}}", *(f"  {c:>{w}}" for c, w in zip(row, widths, strict=True))])
        for name, row in [(title, columns), *rows.items()]
    ]
    lines.insert(1, "-" * max(len(line) for line in lines))
    return "\n".join(line.rstrip() for line in lines)


def cell(entry: Record | str) -> str:
    return entry if isinstance(entry, str) else f"{entry['ratio']:.2f}"


def ratio_table(title: str, records: list[Record]) -> str:
    columns = [f"n = {record['n']:,}" for record in records]
    names = list(records[0]["rows"])
    rows = {name: [cell(record["rows"][name]) for record in records] for name in names}
    floor = [1000 * record["rows"][FLOOR]["seconds"] for record in records]
    rows["  np.sort, best, in ms"] = [f"{ms:.1f}" for ms in floor]
    rows["  np.sort, upper quartile over best"] = [f"{1 + r['spread']:.2f}" for r in records]
    return table(title, columns, rows)


def memory_table(records: list[Record]) -> str:
    columns = [f"n = {record['n']:,}" for record in records]
    rows = {
        name: [f"{record['memory'][name]:.2f}" for record in records]
        for name in records[0]["memory"]
    }
    return table("Peak extra memory / predictions", columns, rows)


def growth_table(record: Record) -> str:
    column = f"{record['from']:,} to {record['to']:,}"
    rows = {name: [f"{ratio:.2f}"] for name, ratio in record["rows"].items()}
    return table("Growth of time", [column], rows)


def sampling_table(result: Record) -> str:
    rows = {
        f"{record['bins']:,} bins, {record['resamples']:,} resamples, n = {record['n']:,}": [
            f"{record['rows']['sampling']['ratio']:.2f} x drawing the normals"
        ]
        for record in result["sampling"]
    }
    big = result["sampling_memory"]
    rows[f"{big['bins']:,} bins, {big['resamples']:,} resamples, n = {big['n']:,}"] = [
        f"peak {big['peak_bytes'] / 1e6:.1f} MB (all draws: {big['all_draws_bytes'] / 1e6:,.0f} MB)"
    ]
    return table("Algorithm 2", [""], rows)


def target_table(found: list[Record]) -> str:
    rows = {
        check["what"]: [
            f"{check['found']:.2f}", f"{check['at_most']:g}", "met" if check["met"] else "missed"
        ]
        for check in found
    }  # fmt: skip
    return table("Targets", ["found", "at most", ""], rows)


def report(result: Record) -> str:
    parts = [
        f"{result['machine']}; "
        + ", ".join(f"{name} {number}" for name, number in result["versions"].items()),
        ratio_table("Time / np.sort", result["sizes"]),
        ratio_table("Time / np.sort, 3 decimals (ties)", result["ties"]),
        memory_table(result["sizes"]),
    ]
    if result["hard"]:
        parts.append(ratio_table("Interval / np.sort, harder cases", result["hard"]))
    if "growth" in result:
        parts.append(growth_table(result["growth"]))
    parts += [sampling_table(result), target_table(result["targets"])]
    unstable = [r["n"] for r in result["sizes"] if r["spread"] > UNSTABLE]
    if unstable:
        parts.append(f"The machine was busy (np.sort varied at n = {unstable}): run again.")
    return "\n\n".join(parts)


# --- one run


def run(sizes: list[int], quick: bool, budget: float | None, most_peers: float) -> Record:
    budget = budget or (4.0 if quick else 25.0)
    most = 15 if quick else 100
    rounds = {n: 3 * most if n < 1_000_000 else most for n in sizes}
    result: Record = {"machine": machine(), "versions": versions(), "quick": quick}
    result["sizes"] = [measure_size(n, rounds[n], budget, n <= most_peers) for n in sizes]
    result["ties"] = [measure_ties(n, rounds[n], budget) for n in sizes]
    result["hard"] = [measure_hard(n, rounds[n], budget) for n in sizes if n == HARD_SIZE]
    if len(sizes) > 1:
        result["growth"] = growth(*result["sizes"][-2:])
    result["sampling"] = [
        measure_sampling(n, 200, 10_000, 5 if quick else 40, budget) for n in (20_000, 1_000_000)
    ]
    resamples = 100 if quick else 10_000
    result["sampling_memory"] = measure_sampling_memory(1_000_000, 100_000, resamples)
    result["targets"] = targets(result)
    return result


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a minute instead of many")
    parser.add_argument("--budget", type=float, help="seconds for each table and size")
    parser.add_argument(
        "--peers-up-to", type=float, default=np.inf, help="other packages only up to this size"
    )
    parser.add_argument("--sizes", type=float, nargs="+", help="numbers of predictions")
    parser.add_argument(
        "--out", type=Path, help="JSON file to write (default: results/speed.json, unless --quick)"
    )
    return parser.parse_args()


def main() -> None:
    options = arguments()
    sizes = sorted(int(n) for n in options.sizes or (QUICK_SIZES if options.quick else SIZES))
    result = run(sizes, options.quick, options.budget, options.peers_up_to)
    print(report(result))
    out = options.out or (None if options.quick else RESULTS)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
