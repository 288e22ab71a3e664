"""Which scorer picks the better calibrated of two models?

Two models predict the same answers: one is calibrated or nearly so, the other has log-odds that
are stretched, shrunk or shifted a little more. Each scorer sees five test folds and picks the model
with the better mean score. Run with

    python benchmarks/selection.py --out benchmarks/results/selection.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import special

from sklearn_calib import Queries, adaptive_bin_calibration_error, select_bin_size

Array = np.ndarray

LAWS = {
    "Beta(.3, .3)": (0.3, 0.3),
    "Beta(.5, 2)": (0.5, 2.0),
    "Beta(2, 2)": (2, 2),
    "rare": (0.5, 9),
}
# Slope and intercept of the log-odds of the better and of the worse model.
PAIRS = {
    "calibrated, stretched": ((1.0, 0.0), (1.4, 0.0)),
    "calibrated, shrunk": ((1.0, 0.0), (0.7, 0.0)),
    "calibrated, shifted": ((1.0, 0.0), (1.0, 0.4)),
    "a little stretched, more": ((1.2, 0.0), (1.6, 0.0)),
    "a little shifted, more": ((1.0, -0.2), (1.0, -0.6)),
}
SIZES = (100, 300, 1000, 5000)
N_FOLDS = 5


def selected(queries: Queries) -> float:
    return adaptive_bin_calibration_error(queries, bin_size=select_bin_size(queries))


SCORES: dict[str, Callable[[Queries], float]] = {
    "default": adaptive_bin_calibration_error,
    "ten bins": lambda queries: adaptive_bin_calibration_error(queries, n_bins=10),
    "select_bin_size": selected,
    "Brier score": lambda queries: float(np.mean((queries.y_true - queries.y_prob) ** 2)),
}


def choices(law: str, pair: str, n: int, replications: int) -> dict[str, float]:
    """Return how often each score picks the better model."""
    rng = np.random.default_rng([list(LAWS).index(law), list(PAIRS).index(pair), n])
    right = dict.fromkeys(SCORES, 0.0)
    for _ in range(replications):
        p = np.clip(rng.beta(*LAWS[law], size=n), 1e-9, 1 - 1e-9)
        y = rng.random(n) < p
        predictions = [special.expit(a * special.logit(p) + b) for a, b in PAIRS[pair]]
        folds = np.array_split(rng.permutation(n), N_FOLDS)
        for name, score in SCORES.items():
            better, worse = (
                np.mean([score(Queries(y[fold], q[fold])) for fold in folds]) for q in predictions
            )
            right[name] += 1.0 if better < worse else 0.5 if better == worse else 0.0
    return {name: round(value / replications, 4) for name, value in right.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    rows = []
    for n in SIZES:
        for law in LAWS:
            for pair in PAIRS:
                found = choices(law, pair, n, arguments.replications)
                rows.append({"n": n, "law": law, "pair": pair, **found})
        mean = {name: np.mean([row[name] for row in rows if row["n"] == n]) for name in SCORES}
        print(n, {name: round(float(value), 3) for name, value in mean.items()}, flush=True)
    if arguments.out:
        text = ",\n".join(json.dumps(row) for row in rows)
        arguments.out.write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
