"""How often do tests of calibration reject, where they should not and where they should?

Sizes are shares of rejected calibrated models, powers shares of rejected
distorted ones, all at the 5 % level. The oracle is the most powerful test of all
(Neyman and Pearson 1933), which knows place, shape and sign of the error: nothing
that does not can reach it. Every setting has a seed of its own. Run with

    python benchmarks/power.py --out benchmarks/results/power.json

and with --replications 50 for a rough look.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from sklearn_calib import Queries, calibration_test

LEVEL = 0.05
N_POWER = 1000
# Small samples, where the level is hard to keep, and some larger ones with a quarter of the draws.
SMALL = (8, 10, 15, 20, 30, 50)
LARGE = (100, 300, 1000)
TIED = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
SINGLE = ("spiegelhalter", "binned")
TESTS = ("omnibus", "kuiper", "cox", "local", "waves", *SINGLE)

Predictions = Callable[[int, np.random.Generator], np.ndarray]
Truth = Callable[[np.ndarray], np.ndarray]

LAWS: dict[str, Predictions] = {
    "uniform": lambda n, rng: rng.random(n),
    "three values": lambda n, rng: rng.choice((0.1, 0.5, 0.8), n),
    "seven values": lambda n, rng: rng.choice(TIED, n),
    "rare, 0.2 % yes": lambda n, rng: special.expit(rng.normal(-7.1, 1.3, n)),
    "rare, 0.5 % yes": lambda n, rng: special.expit(rng.normal(-6.2, 1.3, n)),
    "rare, 2 % yes": lambda n, rng: special.expit(rng.normal(-4.6, 1.3, n)),
    "half at 0 and 1": lambda n, rng: np.where(
        rng.random(n) < 0.5, rng.integers(0, 2, n), rng.random(n)
    ),
    "Beta(.3, .3)": lambda n, rng: rng.beta(0.3, 0.3, n),
}
# The distortions have about the same root mean square: 0.04 to 0.06.
TRUTHS: dict[str, Truth] = {
    "shift": lambda q: q + 0.04,
    "slope": lambda q: special.expit(special.logit(q) / 1.28),
    "S": lambda q: q - 0.06 * np.sin(2 * np.pi * q),
    "step": lambda q: q + 0.05 * np.sign(0.5 - q),
    "bump": lambda q: q + 0.12 * np.exp(-0.5 * np.square((q - 0.5) / 0.08)),
    "bump at .2": lambda q: q + 0.17 * np.exp(-0.5 * np.square((q - 0.2) / 0.04)),
    "narrow bump": lambda q: q + 0.18 * np.exp(-0.5 * np.square((q - 0.6) / 0.03)),
    "wave": lambda q: q + 0.09 * np.sin(12 * np.pi * q),
}


def rejections(
    law: Predictions, truth: Truth | None, n: int, replications: int, seed: list[int]
) -> dict[str, float]:
    """Return the share of samples that each test rejects."""
    rng = np.random.default_rng(seed)
    pvalues = []
    for _ in range(replications):
        q = law(n, rng)
        p = q if truth is None else np.clip(truth(q), 0.0, 1.0)
        queries = Queries(rng.random(n) < p, q)
        omnibus = calibration_test(queries, n_resamples=199, random_state=rng)
        found = {"omnibus": omnibus.pvalue, **omnibus.components}
        for statistic in SINGLE:
            found[statistic] = calibration_test(
                queries, statistic=statistic, n_resamples=199, random_state=rng
            ).pvalue
        pvalues.append([found[name] for name in TESTS])
    shares = np.mean(np.array(pvalues) <= LEVEL, axis=0)
    return {name: round(float(share), 4) for name, share in zip(TESTS, shares, strict=True)}


def oracle(truth: Truth, n: int, seed: list[int], replications: int = 4000) -> float:
    """Return how often the likelihood ratio of truth and prediction, both known, rejects."""
    rng = np.random.default_rng(seed)
    ratios = []
    for wrong in (False, True):
        q = rng.random((replications, n))
        p = np.clip(truth(q), 1e-12, 1.0 - 1e-12)
        y = rng.random(q.shape) < (p if wrong else q)
        ratios.append(np.where(y, np.log(p / q), np.log((1.0 - p) / (1.0 - q))).sum(axis=1))
    return float(np.mean(ratios[1] > np.quantile(ratios[0], 1.0 - LEVEL)))


def study_sizes(replications: int) -> list[dict[str, Any]]:
    """Return how often calibrated models are rejected; small shares need more samples."""
    many, sizes, start = 4 * replications, [], time.perf_counter()
    for i, (name, law) in enumerate(LAWS.items()):
        for n in (*SMALL, *LARGE):
            samples = many if n in SMALL else replications
            row = rejections(law, None, n, samples, [1, i, n])
            sizes.append({"law": name, "n": n, "replications": samples, **row})
            print(sizes[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
    return sizes


def study_powers(replications: int) -> list[dict[str, Any]]:
    """Return how often distorted models are rejected."""
    powers, start = [], time.perf_counter()
    for i, (name, truth) in enumerate(TRUTHS.items()):
        row = rejections(LAWS["uniform"], truth, N_POWER, replications, [2, i])
        row["oracle"] = round(oracle(truth, N_POWER, [3, i]), 4)
        q = (np.arange(10_000) + 0.5) / 10_000
        error = float(np.sqrt(np.mean(np.square(np.clip(truth(q), 0.0, 1.0) - q))))
        powers.append({"truth": name, "error": round(error, 4), "n": N_POWER, **row})
        print(powers[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
    return powers


PARTS = {"sizes": study_sizes, "powers": study_powers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=500)
    parser.add_argument(
        "--only", choices=PARTS, nargs="+", default=PARTS, help="the other is left in --out"
    )
    parser.add_argument("--out", type=Path, help="where to write the numbers as JSON")
    arguments = parser.parse_args()
    result: dict[str, Any] = {"level": LEVEL, "replications": {}}
    if set(arguments.only) < set(PARTS) and arguments.out is not None:
        result = json.loads(arguments.out.read_text(encoding="utf-8"))
    for part in arguments.only:
        result[part] = PARTS[part](arguments.replications)
        factor = 4 if part == "sizes" else 1
        result["replications"][part] = factor * arguments.replications
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
