"""Does the interval cover, how wide is it, and do its rivals cover?

Simulations with known truth, on laws and truths that language data have and textbooks avoid: rare
positives, ties, piles at exactly 0 and 1, skewed weights, unequal groups. Every cell has seeds of
its own. A cell under 94 % or above 98 % is measured again with four times as many fresh
samples, and the fresh ones count: so the extremes of many cells are not the unluckiest of them. Run
with

    python benchmarks/coverage.py --out benchmarks/results/coverage.json
    python benchmarks/coverage.py --again 0.935 0.98 --replications 1000 --out ...  # the extremes

and with --quick for a rough look.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import special

from sklearn_calib import Queries, calibration_error_interval
from sklearn_calib.metrics._inference._sample import make_sample

Array = np.ndarray
Rng = np.random.Generator


def mixture(rng: Rng, n: int) -> Array:
    """Draw marginals such as those of a tagger."""
    part = rng.choice(3, size=n, p=[0.6, 0.35, 0.05])
    a, b = np.array([[0.2, 20.0], [20.0, 0.2], [1.0, 1.0]])[part].T
    return rng.beta(a, b)


def piles(rng: Rng, n: int) -> Array:
    u = rng.random(n)
    return np.where(u < 0.375, 0.0, np.where(u < 0.75, 1.0, rng.random(n)))


LAWS: dict[str, Callable[[Rng, int], Array]] = {
    "Beta(.3, .3)": lambda rng, n: rng.beta(0.3, 0.3, n),
    "Beta(.5, 2)": lambda rng, n: rng.beta(0.5, 2.0, n),
    "Beta(5, 5)": lambda rng, n: rng.beta(5.0, 5.0, n),
    "Beta(.05, .05)": lambda rng, n: rng.beta(0.05, 0.05, n),
    "uniform": lambda rng, n: rng.random(n),
    "tagger": mixture,
    "rounded to .1": lambda rng, n: np.round(rng.beta(0.7, 0.7, n), 1),
    "rounded to .01": lambda rng, n: np.round(rng.beta(0.5, 2.0, n), 2),
    "seven values": lambda rng, n: rng.choice(
        [0.01, 0.05, 0.2, 0.5, 0.75, 0.9, 0.98], size=n, p=[0.3, 0.15, 0.1, 0.1, 0.1, 0.1, 0.15]
    ),
    "piles at 0 and 1": piles,
    "network": lambda rng, n: np.clip(special.expit(rng.normal(4, 4, n)), 1e-12, 1 - 1e-12),
    "constant .3": lambda rng, n: np.full(n, 0.3),
    "constant .02": lambda rng, n: np.full(n, 0.02),
    "2 % positives": lambda rng, n: rng.beta(0.5, 24.5, n),
    "0.5 % positives": lambda rng, n: rng.beta(0.2, 39.8, n),
    "0.2 % positives": lambda rng, n: rng.beta(0.5, 249.5, n),
}


def log_odds(change: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def truth(q: Array) -> Array:
        with np.errstate(divide="ignore"):
            return special.expit(change(special.logit(q)))

    return truth


TRUTHS: dict[str, Callable[[Array], Array]] = {
    "calibrated": lambda q: q,
    "shift .05": lambda q: np.clip(q + 0.05, 0, 1),
    "shift .2": lambda q: np.clip(q + 0.2, 0, 1),
    "shift -.1": lambda q: np.clip(q - 0.1, 0, 1),
    "odds x .3": log_odds(lambda x: x + np.log(0.3)),
    "slope .6": log_odds(lambda x: 0.6 * x),
    "slope 1.5": log_odds(lambda x: 1.5 * x),
    "S": lambda q: np.clip(q + 0.12 * np.sin(2 * np.pi * q), 0, 1),
    "step": lambda q: np.clip(q + np.where(q > 0.5, 0.08, -0.08), 0, 1),
    "bump": lambda q: np.clip(q - 0.3 * np.exp(-(((q - 0.5) / 0.12) ** 2)), 0, 1),
}
# Of groups with rare answers alone, for errors that are large beside them.
LARGE = "shift .2"
FEW_TRUTHS = ("calibrated", "shift .05", "slope .6", "slope 1.5", "bump")
WEIGHTS: dict[str, Callable[[Rng, int], Array]] = {
    "Exp(1) weights": lambda rng, n: rng.exponential(size=n),
    "lognormal(0, 1) weights": lambda rng, n: np.exp(rng.standard_normal(n)),
    "lognormal(0, 1.6) weights": lambda rng, n: np.exp(1.6 * rng.standard_normal(n)),
}
# Dependence, and whether a group shares one prediction.
DEPENDENCE = ((0.3, False), (0.9, False), (0.9, True))

# A cell whose coverage lies outside is measured again.
EXPECTED = (0.94, 0.98)

# The bootstrap is slow: other intervals are tried on so many samples of each cell.
RIVALS = 40

# Where fewer units than this are expected to hold a surprise, answers are too discrete for an
# upper bound.
DISCRETE = 5.0


def cells(quick: bool) -> Iterator[dict[str, Any]]:
    """Yield every setting: variant, law, truth, number of queries or groups."""
    sizes = [50, 300, 3000] if quick else [50, 100, 300, 1000, 10_000, 100_000]
    for n in sizes:
        # The largest samples take the longest, and differ the least.
        laws = list(LAWS) if n < 100_000 else list(LAWS)[::2]
        for law in laws:
            truths = [truth for truth in TRUTHS if truth != LARGE]
            for truth in truths if n < 100_000 else FEW_TRUTHS:
                yield {"variant": "plain", "law": law, "truth": truth, "n": n}
    laws = ("Beta(.3, .3)", "Beta(5, 5)", "tagger", "rounded to .1", "0.5 % positives")
    for weights in WEIGHTS:
        for n in [100, 1000] if quick else [100, 1000, 10_000]:
            for law in laws:
                for truth in FEW_TRUTHS:
                    yield {"variant": weights, "law": law, "truth": truth, "n": n}
    for groups in [20, 100] if quick else [20, 50, 100, 500]:
        for kind in ("equal", "lognormal"):
            for law in ("uniform", "tagger", "2 % positives"):
                truths = ["calibrated", "shift .05", "slope .6"]
                for truth in truths + [LARGE] * (law == "2 % positives"):
                    for dependence in DEPENDENCE:
                        yield {
                            "variant": f"groups of {kind} size",
                            "law": law,
                            "truth": truth,
                            "n": groups,
                            "dependence": dependence[0],
                            "shared": dependence[1],
                        }
    # Few large groups that hardly depend: the error is plain to see, and the interval short.
    for law in ("uniform", "tagger"):
        for truth in ("calibrated", "shift -.1", "bump"):
            for correlation in (0.0, 0.2):
                yield {
                    "variant": "groups of 200 queries",
                    "law": law,
                    "truth": truth,
                    "n": 30,
                    "dependence": correlation,
                    "shared": False,
                }


def draw(cell: dict[str, Any], rng: Rng) -> tuple[Array, Array, Array | None, Array | None]:
    """Draw answers, predictions, weights and groups."""
    law, truth, n, group = LAWS[cell["law"]], TRUTHS[cell["truth"]], cell["n"], None
    if "dependence" in cell:
        sizes = np.full(n, 200 if "200" in cell["variant"] else 10)
        if "lognormal" in cell["variant"]:
            sizes = np.maximum(1, np.rint(10 * np.exp(rng.standard_normal(n) - 0.5)).astype(int))
        group = np.repeat(np.arange(n), sizes)
        q = law(rng, n)[group] if cell["shared"] else law(rng, len(group))
        share = cell["dependence"]
        common = rng.standard_normal(n)[group]
        normal = np.sqrt(share) * common + np.sqrt(1 - share) * rng.standard_normal(len(group))
        u = special.ndtr(normal)
    else:
        q = law(rng, n)
        u = rng.random(n)
    weights = WEIGHTS[cell["variant"]](rng, len(q)) if cell["variant"] in WEIGHTS else None
    return u < truth(q), q, weights, group


def surprised_units(cell: dict[str, Any]) -> float:
    """Return how many queries, or groups, are expected to hold an answer against the odds.

    Ten answers of a group that go together are one surprise, and units of
    unequal weight count as fewer (Kish's effective number).
    """
    if cell["variant"] == "plain":
        truth = TRUTHS[cell["truth"]](LAWS[cell["law"]](np.random.default_rng(7), 100_000))
        return float(cell["n"] * np.minimum(truth, 1 - truth).mean())
    rng, found, number = np.random.default_rng(8), 0.0, 40
    for _ in range(number):
        y, q, w, group = draw(cell, rng)
        mass = np.ones(len(q)) if w is None else w
        surprise = y != (TRUTHS[cell["truth"]](q) > 0.5)
        if group is not None:
            mass, surprise = np.bincount(group, mass), np.bincount(group, surprise) > 0
        mass = mass[surprise]
        found += float(mass.sum() ** 2 / max(np.square(mass).sum(), 1e-300)) / number
    return found


def true_error(law: str, truth: str) -> float:
    q = LAWS[law](np.random.default_rng(7), 1_000_000)
    return float(np.sqrt(np.mean(np.square(TRUTHS[truth](q) - q))))


def plug_in_limits(queries: Queries) -> tuple[float, float]:
    """Return asymptotic limits around the debiased square, in the manner of Sun et al. (2024).

    As in arXiv 2408.08998, the law of T is normal where the error is not zero,
    and that of perfect calibration where it is; which of the two it is, a test
    decides. Bins and moments are those of our own interval.
    """
    moments = make_sample(queries, "auto", None).moments
    z, t = 1.959964, moments.square
    null = z * np.sqrt(moments.null_variance)
    if t <= null:
        return 0.0, float(np.sqrt(max(0.0, t + null)))
    spread = max(moments.spread, 0.0) * t**2 / moments.n
    half = z * np.sqrt(moments.variance + max(moments.linear, 0.0) + spread)
    return float(np.sqrt(max(0.0, t - half))), float(np.sqrt(t + half))


def replicate(cell: dict[str, Any], error: float, rng: Rng, rivals: bool) -> dict[str, float]:
    y, q, w, group = draw(cell, rng)
    ours = calibration_error_interval(y, q, sample_weight=w, groups=group)
    low, high = ours.confidence_interval
    out = {
        "score": low <= error <= high,
        "width": high - low,
        "estimate": ours.error,
        "agree": (low > 0.0) == (ours.pvalue < 1.0 - 0.95),
        "rejected": ours.pvalue < 0.05,
    }
    if rivals:
        queries = Queries(y, q)
        n_bins = int(np.ceil(np.cbrt(len(q))))
        paper = calibration_error_interval(
            queries, method="sampling", n_bins=n_bins, n_resamples=300, random_state=rng
        )
        boot = calibration_error_interval(
            queries, method="bootstrap", n_resamples=300, random_state=rng
        )
        limits = {
            "Algorithm 2": paper.confidence_interval,
            "bootstrap": boot.confidence_interval,
            "Sun et al.": plug_in_limits(queries),
        }
        for name, (below, above) in limits.items():
            out[name] = below <= error <= above
            out[f"{name} width"] = above - below
    return out


def measure(
    cell: dict[str, Any], replications: int, stages: Sequence[int] = (0, 1), others: bool = True
) -> dict[str, Any]:
    """Simulate one cell; each stage has samples of its own."""
    error = true_error(cell["law"], cell["truth"])
    rivals = others and cell["variant"] == "plain" and cell["n"] == 300
    key = zlib.crc32(repr(sorted(cell.items())).encode())
    means: dict[str, float] = {}
    surprised = surprised_units(cell)
    least, most = EXPECTED if surprised >= DISCRETE else (EXPECTED[0], 1.0)
    for stage in stages:
        rng = np.random.default_rng([key, stage])
        number = replications * (4 if stage == 1 else 1)
        rows = [
            replicate(cell, error, rng, rivals and not stage and k < RIVALS) for k in range(number)
        ]
        means |= {
            name: float(np.mean([row[name] for row in rows if name in row])) for name in rows[0]
        }
        if least <= means["score"] <= most:
            break
    estimates = [row["estimate"] for row in rows]
    # What an interval would need whose owner knew the law of the estimate.
    means["oracle width"] = float(np.diff(np.quantile(estimates, [0.025, 0.975]))[0])
    del means["estimate"]
    return {
        **cell,
        "error": round(error, 5),
        "replications": number,
        "surprised": round(surprised, 1),
        "discrete": surprised < DISCRETE,
        **{name: round(value, 5) for name, value in means.items()},
    }


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the extremes, one line for each variant and size."""
    lines = [f"{'variant':28}{'n':>8}{'least':>8}{'most':>8}{'width':>8}{'oracle':>8}  where least"]
    for variant, n in dict.fromkeys((row["variant"], row["n"]) for row in rows):
        some = [row for row in rows if (row["variant"], row["n"]) == (variant, n)]
        least = min(some, key=lambda row: row["score"])
        numbers = (least["score"], max(row["score"] for row in some))
        widths = (np.mean([row[name] for row in some]) for name in ("width", "oracle width"))
        cell = "".join(f"{value:>8.3f}" for value in (*numbers, *widths))
        lines.append(f"{variant:28}{n:>8}{cell}  {least['law']}, {least['truth']}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few sizes and replications")
    parser.add_argument("--replications", type=int, default=250)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="variants whose name begins so")
    parser.add_argument("--law", default="", help="laws whose name begins so")
    parser.add_argument("--sizes", type=int, nargs="+", default=None, help="only these sizes")
    parser.add_argument(
        "--again",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        default=None,
        help="only cells outside in --out, with fresh samples; above only where not too discrete",
    )
    parser.add_argument(
        "--ours", action="store_true", help="leave other intervals in --out as they are"
    )
    parser.add_argument("--out", type=Path, default=None, help="other variants are left there")
    arguments = parser.parse_args()
    replications = 60 if arguments.quick else arguments.replications

    def number(cell: dict[str, Any]) -> int:
        slow = cell["n"] >= (500 if "dependence" in cell else 10_000)
        return max(40, replications * 2 // 5) if slow else replications

    start = time.perf_counter()
    every = list(cells(arguments.quick))
    todo = [
        cell
        for cell in every
        if cell["variant"].startswith(arguments.only)
        and cell["law"].startswith(arguments.law)
        and (arguments.sizes is None or cell["n"] in arguments.sizes)
    ]
    kept: list[dict[str, Any]] = []
    part_only = (arguments.only, arguments.law, arguments.sizes, arguments.again, arguments.ours)
    if any(part_only) and arguments.out:
        kept = json.loads(arguments.out.read_text())
    stages: Sequence[int] = (0, 1)
    if arguments.again:
        low, high = arguments.again
        outside = {
            name(row)
            for row in kept
            if row["score"] < low or (row["score"] > high and not row["discrete"])
        }
        todo = [cell for cell in todo if name(cell) in outside]
        stages = (2,)
    rows: list[dict[str, Any]] = []
    # In parts, so that progress is seen and kept.
    for first in range(0, len(todo), 54):
        part = todo[first : first + 54]
        rows += Parallel(n_jobs=arguments.n_jobs)(
            delayed(measure)(cell, number(cell), stages, not arguments.ours) for cell in part
        )
        done = len(rows) / len(todo)
        spent = time.perf_counter() - start
        print(f"{len(rows)} of {len(todo)} cells, {spent / done - spent:.0f} s left", flush=True)
        if arguments.out:
            save(arguments.out, every, kept + rows)
    print(summary(rows))


def name(row: dict[str, Any]) -> tuple[object, ...]:
    """Return what a cell and its row share."""
    return tuple(row.get(key) for key in ("variant", "law", "truth", "n", "dependence", "shared"))


def save(path: Path, every: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Write the rows in the order of the cells; of two for one cell, the later counts."""
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for row in rows:
        found[name(row)] = found.get(name(row), {}) | row
    text = ",\n".join(json.dumps(found[name(cell)]) for cell in every if name(cell) in found)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
