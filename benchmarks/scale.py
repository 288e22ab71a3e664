"""Scans of data larger than memory: CPU time against reading, memory, growth, and Dask workers.

Every measurement runs in a process of its own, so that its memory is its own. The files
are written to a temporary folder (8.4 bytes a row) and removed. Run with

    python benchmarks/scale.py                    # 2 million to 200 million rows
    python benchmarks/scale.py --rows 2000000     # a quick look
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "scale.json"
PER_FILE = 10_000_000
TASKS = ("read", "error", "bin_size", "interval", "report")


def write(folder, rows, seed=0):
    """Write a folder of Parquet files: skewed predictions that are a little too high."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(seed)
    for number, first in enumerate(range(0, rows, PER_FILE)):
        schema = pa.schema([("answer", pa.bool_()), ("score", pa.float64())])
        with parquet.ParquetWriter(folder / f"part-{number:03d}.parquet", schema) as file:
            for start in range(first, min(first + PER_FILE, rows), 1_000_000):
                n = min(1_000_000, rows - start)
                q = rng.random(n) ** 2
                y = rng.random(n) < q**1.05
                file.write_table(pa.table({"answer": y, "score": q}, schema=schema))


def read(folder):
    """Read the two columns and do nothing else."""
    from pyarrow import parquet

    rows = 0
    for path in sorted(folder.glob("*.parquet")):
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(1 << 20, columns=["answer", "score"]):
                rows += len(batch)
    return rows


def measure(task, folder):
    """Run one task in this process, and print its cost as JSON."""
    import pyarrow.parquet  # noqa: F401 (loading it is no part of what is measured)

    from sklearn_calib import (
        adaptive_bin_calibration_error,
        calibration_error_interval,
        calibration_report,
        scan_queries,
    )

    start, clock, passes, value = time.process_time(), time.perf_counter(), 1, None
    if task == "read":
        value = read(folder)
    else:
        scan = scan_queries(folder, y_true="answer", y_prob="score")
        if task == "error":
            value = adaptive_bin_calibration_error(scan)
        elif task == "bin_size":
            value = adaptive_bin_calibration_error(scan, bin_size=5000)
        elif task == "interval":
            value = calibration_error_interval(scan).error
        else:
            value = calibration_report(scan, random_state=0).error
        passes = scan.n_passes
    print(
        json.dumps(
            {
                "cpu_seconds": time.process_time() - start,
                "seconds": time.perf_counter() - clock,
                "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "passes": passes,
                "value": value,
            }
        )
    )


def first_steps(folder):
    """Do everything once on a single partition, in this process."""
    import dask
    import dask.dataframe as dd

    from sklearn_calib import calibration_error_interval, scan_queries

    frame = dd.read_parquet(str(folder), split_row_groups=True).partitions[[0]]
    with dask.config.set(scheduler="synchronous"):
        calibration_error_interval(scan_queries(frame, y_true="answer", y_prob="score"))


def workers(folder, number):
    """Run the interval on a cluster of so many worker processes, and print its time as JSON."""
    import dask.dataframe as dd
    import distributed

    from sklearn_calib import calibration_error_interval, scan_queries

    with (
        distributed.LocalCluster(
            n_workers=number, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        frame = dd.read_parquet(str(folder), split_row_groups=True)
        # What is imported is neither a worker's work nor ours.
        first_steps(folder)
        client.run(first_steps, folder)

        def cpu():
            """Return CPU times: of this thread, of this process, and of the workers."""
            workers = sum(client.run(time.process_time).values())
            return np.array([time.thread_time(), time.process_time(), workers])

        before, start = cpu(), time.perf_counter()
        scan = scan_queries(frame, y_true="answer", y_prob="score")
        value = calibration_error_interval(scan).error
        seconds, (thread, process, workers) = time.perf_counter() - start, cpu() - before
        found = {"seconds": seconds, "value": value, "passes": scan.n_passes}
        found["caller_cpu_seconds"] = thread
        # Beside the workers, in the same process as the caller.
        found["scheduler_cpu_seconds"] = process - thread
        found["worker_cpu_seconds"] = workers
        print(json.dumps(found))


def run(*arguments):
    """Run a part of this script in a process of its own."""
    found = subprocess.run(
        [sys.executable, __file__, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return json.loads(found.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--dask-rows", type=int, default=100_000_000)
    parser.add_argument("--only-dask", action="store_true", help="measure the workers alone")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--task")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.task:
        measure(options.task, options.folder)
        return
    if options.workers:
        workers(options.folder, options.workers)
        return
    results = {"machine": platform.processor() or platform.machine(), "sizes": []}
    results["cores"] = os.cpu_count()
    sizes = options.rows or (2_000_000, 10_000_000, 100_000_000, 200_000_000)
    for rows in () if options.only_dask else sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, rows)
            # The files are in the cache of the system from the first reading on.
            read(folder)
            found = {"rows": rows}
            for task in TASKS:
                # All are compared with reading, whose time should not be that of a bad moment.
                times = 5 if task == "read" else 1
                runs = [run("--task", task, "--folder", folder) for _ in range(times)]
                found[task] = sorted(runs, key=lambda cost: cost["cpu_seconds"])[times // 2]
                ratio = found[task]["cpu_seconds"] / found["read"]["cpu_seconds"]
                found[task]["ratio_to_reading"] = ratio
                print(rows, task, {k: v for k, v in found[task].items()}, flush=True)
            results["sizes"].append(found)
            results["load"] = os.getloadavg()[0]
            options.out.write_text(json.dumps(results, indent=1) + "\n")
    if options.dask_rows:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, options.dask_rows)
            found = measure_workers(folder)
        found |= {"rows": options.dask_rows, "cores": os.cpu_count(), "load": os.getloadavg()[0]}
        # With real-time priority, as of `chrt -r 1`, other jobs wait.
        found["first"] = os.sched_getscheduler(0) in (os.SCHED_RR, os.SCHED_FIFO)
        print(found)
        options.out.with_name("workers.json").write_text(json.dumps(found, indent=1) + "\n")


def measure_workers(folder, rounds=2):
    """Return what one and two workers of Dask take, the better of a few rounds in turn."""
    one, two = [], []
    for _ in range(rounds):
        for number, found in ((1, one), (2, two)):
            found.append(run("--workers", number, "--folder", folder))
    one, two = ({name: min(f[name] for f in found) for name in found[0]} for found in (one, two))
    # Where other jobs share the cores, times on the clock say little. CPU times say what two
    # workers would take of one worker's time if they and the scheduler had a core each.
    caller, workers = "caller_cpu_seconds", "worker_cpu_seconds"
    return {
        "one": one,
        "two": two,
        "ratio": two["seconds"] / one["seconds"],
        "cpu_ratio": (two[caller] + two[workers] / 2) / (one[caller] + one[workers]),
    }


if __name__ == "__main__":
    main()
