"""How often does a comparison of two models reject equal errors, and hold the true difference?

Both models predict an increasing function of the true probability, so that their calibration
errors are known. Two of the pairs have exactly the same error; what they reject is the size of the
test at 5 %. Then there are settings where little is known: groups of answers that depend on each
other, with rare answers, and models that differ on few rows. Every setting has a seed of its own.
Run with

    python benchmarks/comparison.py --out benchmarks/results/comparison.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special, stats

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


@dataclass(frozen=True)
class Sample:
    """What a comparison is given, and the true probabilities."""

    p: Array
    y: Array
    one: Array
    two: Array
    groups: Array | None = None


def measure(draw: Callable[[], Sample], replications: int, difference: float) -> dict[str, Any]:
    """Return coverage, width and share of rejections in one setting."""
    held, rejected, wrong, width, estimates, surprises = 0, 0, 0, [], [], 0.0
    for _ in range(replications):
        sample = draw()
        result = compare_calibration(sample.y, sample.one, sample.two, groups=sample.groups)
        low, high = result.confidence_interval
        held += low <= difference <= high
        rejected += result.pvalue < 0.05
        wrong += result.pvalue < 0.05 and result.difference * difference <= 0.0
        width.append(high - low)
        estimates.append(result.difference)
        surprises += float(np.minimum(sample.p, 1.0 - sample.p).sum()) / replications
    return {
        "replications": replications,
        "difference": difference,
        "equal": difference == 0.0,
        "surprises": round(surprises, 2),
        "covered": round(held / replications, 4),
        "rejected": round(rejected / replications, 4),
        "wrong": round(wrong / replications, 4),
        "width": float(np.mean(width)),
        "oracle width": float(np.diff(np.quantile(estimates, (0.025, 0.975)))[0]),
    }


def of_rows(law: str, pair: str, n: int, replications: int) -> dict[str, Any]:
    """Return what is measured for rows that do not depend on each other."""
    rng = np.random.default_rng([list(LAWS).index(law), list(PAIRS).index(pair), n])

    def draw() -> Sample:
        p = LAWS[law](rng, n)
        return Sample(p, rng.random(n) < p, *(model(p) for model in PAIRS[pair]))

    found = measure(draw, replications, true_difference(LAWS[law], PAIRS[pair]))
    return {"setting": "rows", "law": law, "pair": pair, "n": n, **found}


# Number of groups, rows in all, whether sizes are lognormal, dependence, shared predictions.
GROUPS = (
    (20, 101, False, 0.5, False),
    (20, 400, False, 0.9, True),
    (50, 500, True, 0.9, False),
    (100, 1000, False, 0.5, False),
    (500, 2500, False, 0.9, True),
)


def of_groups(
    law: str, pair: str, kind: tuple[int, int, bool, float, bool], replications: int
) -> dict[str, Any]:
    """Return what is measured for groups, whose answers are tied by normal variables."""
    number, n, unequal, dependence, shared = kind
    seed = [list(LAWS).index(law), list(PAIRS).index(pair), n, number, int(unequal)]
    rng = np.random.default_rng(seed)

    def draw() -> Sample:
        size = rng.lognormal(0.0, 1.0, number) if unequal else np.ones(number)
        size = np.maximum(1, np.rint(size * n / size.sum())).astype(int)
        size[0] += max(0, n - size.sum()) if not unequal else 0
        group = np.repeat(np.arange(number), size)
        p = LAWS[law](rng, number)[group] if shared else LAWS[law](rng, len(group))
        level = np.sqrt(1.0 - dependence) * rng.standard_normal(len(group))
        level += np.sqrt(dependence) * rng.standard_normal(number)[group]
        y = stats.norm.cdf(level) < p
        return Sample(p, y, *(model(p) for model in PAIRS[pair]), group)

    found = measure(draw, replications, true_difference(LAWS[law], PAIRS[pair]))
    name = (
        f"{number} of {'unequal' if unequal else 'equal'} size, dependence {dependence}"
        f"{', one prediction each' if shared else ''}"
    )
    return {"setting": "groups", "law": law, "pair": pair, "groups": name, "n": n, **found}


# Rows that a model differs on, the prediction they are closest to, and what it adds to log-odds.
FEW = ((4, 0.95, 1.0), (16, 0.99, 1.0), (16, 0.99, 2.5), (16, 0.95, 2.5))


def of_few(
    law: str, change: tuple[int, float, float], both: bool, n: int, replications: int
) -> dict[str, Any]:
    """Return what is measured where one model is right but for few rows, or each is on its own.

    Other rows have predictions as those few are given, and the difference is so small
    that any sample is far from showing it: what counts is that nothing is rejected.
    """
    k, near, by = change
    rng = np.random.default_rng([list(LAWS).index(law), k, int(100 * near), int(10 * by), both, n])

    def draw() -> Sample:
        p = LAWS[law](rng, n)
        rows = rng.permutation(np.argsort(np.abs(p - near), kind="stable")[: (1 + both) * k])
        one, two = p.copy(), p.copy()
        for model, some in ((two, rows[:k]), (one, rows[k:])):
            moved = np.clip(p[some], 1e-6, 1.0 - 1e-6)
            model[some] = special.expit(special.logit(moved) + by)
        return Sample(p, rng.random(n) < p, one, two)

    found = measure(draw, replications, 0.0 if both else -1e-12)
    if not both:
        # The first model is better; by how much depends on the rows around the few.
        for name in ("difference", "covered"):
            found[name] = None
    pair = f"{'both' if both else 'one'} wrong on {k} rows near {near}, log-odds + {by}"
    return {"setting": "few", "law": law, "pair": pair, "n": n, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=400)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    start, rows = time.perf_counter(), []
    number = arguments.replications
    for n in arguments.sizes:
        for law in LAWS:
            for pair in PAIRS:
                rows.append(of_rows(law, pair, n, number))
        report([row for row in rows if row["n"] == n], str(n), start)
    for kind in GROUPS:
        some = [
            of_groups(law, pair, kind, number)
            for law in ("uniform", "rare, 2 % yes", "rare, 0.5 % yes")
            for pair in ("mirror images", "right and moved", "right and too extreme")
        ]
        rows += some
        report(some, some[0]["groups"], start)
    for both in (False, True):
        some = [
            of_few(law, change, both, n, number)
            for law in ("uniform", "network", "seven values")
            for change in FEW
            for n in (300, 1000)
        ]
        rows += some
        wrong = max(row["wrong"] for row in some)
        print(f"few rows differ: {wrong:.3f} wrong at most", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


def report(some: list[dict[str, Any]], name: str, start: float) -> None:
    """Print the worst of some settings."""
    least = min(some, key=lambda row: row["covered"])
    size = max((row for row in some if row["equal"]), key=lambda row: row["rejected"])
    print(
        f"{name}: covers at least {least['covered']:.3f} ({least['law']}, {least['pair']}), "
        f"size at most {size['rejected']:.3f} ({size['law']}, {size['pair']}), "
        f"{time.perf_counter() - start:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
