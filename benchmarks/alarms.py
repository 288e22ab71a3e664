"""How often does a table of labels raise an alarm although every label is calibrated?

Tables of 5 to 500 labels, drawn from their own predictions: labels of equal frequency, labels whose
frequencies fall as those of words do, labels of which most are hardly ever right, and rows that
depend on each other within groups. An alarm is an adjusted p-value (Holm's) below 5 %. Run with

    python benchmarks/alarms.py --out benchmarks/results/alarms.json
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from sklearn_calib import Queries, label_calibration

N_LABELS = (5, 20, 47, 100, 500)
KINDS = ("balanced", "Zipf", "rare")

# Rows of a table, and rows of a group where there are groups.
ROWS = 1000
GROUP = 10

# How strongly the rows of a group depend on each other.
DEPENDENCE = 0.5


def frequencies(kind: str, k: int) -> np.ndarray:
    """Return how often each label is right."""
    rank = np.arange(1, k + 1)
    weight = {"balanced": np.ones(k), "Zipf": 1.0 / rank, "rare": np.where(rank <= 3, 1.0, 0.004)}
    found: np.ndarray = weight[kind] / weight[kind].sum()
    return found


def draw(kind: str, k: int, grouped: bool, rng: np.random.Generator) -> Queries:
    """Draw a calibrated table: each row has one right label, drawn from its own prediction."""
    log_odds = np.log(frequencies(kind, k)) + 1.5 * rng.standard_normal((ROWS, k))
    proba = special.softmax(log_odds, axis=1)
    group = np.arange(ROWS) // GROUP if grouped else np.arange(ROWS)
    # Where rows of a group depend on each other, they share a part of what decides.
    share = DEPENDENCE if grouped else 0.0
    common = rng.standard_normal(ROWS // GROUP)[group] if grouped else 0.0
    u = special.ndtr(np.sqrt(share) * common + np.sqrt(1 - share) * rng.standard_normal(ROWS))
    right = np.minimum((np.cumsum(proba, axis=1) < u[:, None]).sum(axis=1), k - 1)
    answers = right[:, None] == np.arange(k)
    return Queries(
        answers.ravel(),
        proba.ravel(),
        label=np.tile(np.arange(k), ROWS),
        group=np.repeat(group, k) if grouped else None,
    )


def measure(kind: str, k: int, grouped: bool, replications: int) -> dict[str, Any]:
    """Return the share of tables with any alarm, and the mean number without adjustment."""
    alarmed, plain, silent = 0, 0.0, 0.0
    for replication in range(replications):
        seed = [KINDS.index(kind), k, int(grouped), replication]
        table = label_calibration(draw(kind, k, grouped, np.random.default_rng(seed)))
        alarmed += bool(table.alarm.any())
        plain += float(np.mean(table.pvalue < 0.05)) * k / replications
        silent += float(np.mean(table.note != "")) * k / replications
    return {
        "labels": k,
        "frequencies": kind,
        "grouped": grouped,
        "replications": replications,
        "any alarm": round(alarmed / replications, 4),
        "below .05 without adjustment": round(plain, 2),
        "with a note": round(silent, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument(
        "--least", type=int, default=20, help="the fewest tables of a kind; a fifth with groups"
    )
    parser.add_argument("--labels", type=int, nargs="+", default=N_LABELS, choices=N_LABELS)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--resume", action="store_true", help="keep what --out already holds")
    arguments = parser.parse_args()
    start = time.perf_counter()
    rows: list[dict[str, Any]] = []
    if arguments.resume and arguments.out.exists():
        rows = json.loads(arguments.out.read_text())
    # Groups take four times as long, and come last.
    every = list(itertools.product((False, True), N_LABELS, KINDS))
    for grouped, k, kind in every:
        if k not in arguments.labels:
            continue
        if any((r["grouped"], r["labels"], r["frequencies"]) == (grouped, k, kind) for r in rows):
            continue
        # A table of 500 labels takes as long as a hundred of five.
        cost = max(10, k) * (4 if grouped else 1)
        least = arguments.least // 5 if grouped else arguments.least
        rows.append(measure(kind, k, grouped, max(1, least, arguments.replications * 10 // cost)))
        print(rows[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
        if arguments.out:
            rows.sort(key=lambda r: every.index((r["grouped"], r["labels"], r["frequencies"])))
            arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
