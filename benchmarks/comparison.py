"""How often does a comparison of two models reject equal errors, and hold the true difference?

Both models predict an increasing function of the true probability, so that their calibration
errors are known. Two of the pairs have exactly the same error; what they reject is the size of the
test at 5 %. Every setting has a seed of its own. Run with

    python benchmarks/comparison.py --out benchmarks/results/comparison.json
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

from sklearn_calib import compare_calibration

SIZES = (50, 100, 300, 1000)

Array = np.ndarray
Law = Callable[[np.random.Generator, int], Array]
Model = Callable[[Array], Array]

LAWS: dict[str, Law] = {
    "uniform": lambda rng, n: rng.random(n),
    "Beta(.3, .3)": lambda rng, n: rng.beta(0.3, 0.3, n),
    "network": lambda rng, n: rng.beta(5.0, 0.5, n),
    "seven values": lambda rng, n: rng.choice((0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99), n),
    "rare, 2 % yes": lambda rng, n: special.expit(rng.normal(-4.6, 1.3, n)),
    "rare, 0.5 % yes": lambda rng, n: special.expit(rng.normal(-6.2, 1.3, n)),
    "rare, 0.2 % yes": lambda rng, n: special.expit(rng.normal(-7.1, 1.3, n)),
}


def moved(by: float) -> Model:
    """Return a model that is wrong most where it is least sure."""
    return lambda p: p + by * p * (1.0 - p)


def sloped(by: float) -> Model:
    """Return a model whose log-odds are too extreme, or not extreme enough."""
    return lambda p: special.expit(by * special.logit(p))


def right(p: Array) -> Array:
    return p


PAIRS: dict[str, tuple[Model, Model]] = {
    "mirror images": (moved(0.25), moved(-0.25)),
    "far mirror images": (moved(0.6), moved(-0.6)),
    "right and moved": (right, moved(0.4)),
    "right and too extreme": (right, sloped(1.5)),
    "too extreme and too timid": (sloped(1.4), sloped(0.7)),
}


def true_difference(law: Law, pair: tuple[Model, Model]) -> float:
    """Return the difference of the squared errors."""
    p = law(np.random.default_rng(7), 1_000_000)
    one, two = (float(np.mean(np.square(model(p) - p))) for model in pair)
    # Mirror images are exactly as far from the truth, whatever the rounding.
    return 0.0 if abs(one - two) < 1e-12 * one else one - two


def measure(law: str, pair: str, n: int, replications: int) -> dict[str, Any]:
    """Return coverage, width and share of rejections in one setting."""
    rng = np.random.default_rng([list(LAWS).index(law), list(PAIRS).index(pair), n])
    difference = true_difference(LAWS[law], PAIRS[pair])
    held, rejected, width, estimates, surprises = 0, 0, [], [], 0.0
    for _ in range(replications):
        p = LAWS[law](rng, n)
        y = rng.random(n) < p
        result = compare_calibration(y, *(model(p) for model in PAIRS[pair]))
        low, high = result.confidence_interval
        held += low <= difference <= high
        rejected += result.pvalue < 0.05
        width.append(high - low)
        estimates.append(result.difference)
        surprises += float(np.minimum(p, 1.0 - p).sum()) / replications
    return {
        "law": law,
        "pair": pair,
        "n": n,
        "replications": replications,
        "difference": difference,
        "equal": difference == 0.0,
        "surprises": round(surprises, 2),
        "covered": round(held / replications, 4),
        "rejected": round(rejected / replications, 4),
        "width": float(np.mean(width)),
        "oracle width": float(np.diff(np.quantile(estimates, (0.025, 0.975)))[0]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    start, rows = time.perf_counter(), []
    for n in arguments.sizes:
        for law in LAWS:
            for pair in PAIRS:
                rows.append(measure(law, pair, n, arguments.replications))
        some = [row for row in rows if row["n"] == n]
        least = min(some, key=lambda row: row["covered"])
        size = max((row for row in some if row["equal"]), key=lambda row: row["rejected"])
        print(
            f"{n}: covers at least {least['covered']:.3f} ({least['law']}, {least['pair']}), "
            f"size at most {size['rejected']:.3f} ({size['law']}, {size['pair']}), "
            f"{time.perf_counter() - start:.0f} s",
            flush=True,
        )
        if arguments.out:
            arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
