"""Coverage, width and error of calibration curves and bands, on simulated queries.

python benchmarks/curves.py --out benchmarks/results/curves.json
python benchmarks/curves.py --groups --replications 100 --out benchmarks/results/curve_groups.json

Every sample has a known true curve. For each curve this measures the root of its mean squared
distance from the truth, over the predictions of the sample, and for each interval or band how
often it holds the truth: at the mean point, and everywhere at once. With --groups, the queries
of a group depend on each other, and bands alone are measured.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import special

from sklearn_calib import (
    calibration_band,
    calibration_bins,
    gaussian_process_calibration_curve,
    isotonic_calibration_curve,
    smooth_calibration_curve,
)
from sklearn_calib.datasets import make_queries

LAWS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "uniform": lambda rng, n: rng.random(n),
    # Most predictions near 1, as those of an overconfident network.
    "crowded": lambda rng, n: special.expit(np.clip(rng.normal(3.0, 2.0, n), -13.0, 13.0)),
    # About one yes in 200.
    "rare": lambda rng, n: special.expit(rng.normal(-6.2, 1.3, n)),
}
TRUTHS: dict[str, Callable[[Any], Any]] = {
    "calibrated": lambda q: q,
    "overconfident": lambda q: special.expit(special.logit(q) / 1.5),
    "bump": lambda q: np.clip(q + 0.12 * np.exp(-0.5 * np.square((q - 0.5) / 0.15)), 0.0, 1.0),
    "step up": lambda q: np.clip(q + 0.05 * np.sign(q - 0.5), 0.0, 1.0),
    "waves": lambda q: np.clip(q + 0.09 * np.sin(12.0 * np.pi * q), 0.0, 1.0),
}
SETTINGS = [
    *(("uniform", truth) for truth in TRUTHS),
    ("crowded", "calibrated"),
    ("crowded", "overconfident"),
    ("rare", "overconfident"),
]


def limits_in(low: Any, high: Any, truth: Any) -> tuple[float, float, float]:
    """Return the share of points held, whether all are, and the mean width."""
    inside = (low <= truth + 1e-9) & (truth <= high + 1e-9)
    return float(inside.mean()), float(inside.all()), float(np.mean(high - low))


def one(law: str, truth: str, n: int, seed: int) -> dict[str, tuple[float, ...]]:
    """Return the measures of one sample."""
    rng = np.random.default_rng([seed, n])
    q = LAWS[law](rng, n)
    curve = TRUTHS[truth]
    p = curve(q)
    y = rng.random(n) < p
    out: dict[str, tuple[float, ...]] = {}

    def error(fitted: Any) -> float:
        return float(np.mean(np.square(fitted - p)))

    bins = calibration_bins(y, q)
    fitted = bins.prob_true[np.minimum(np.searchsorted(bins.high, q), len(bins) - 1)]
    out["bins"] = (error(fitted), *limits_in(*bins.confidence_interval(), curve(bins.prob_pred)))
    made = {
        "smooth": smooth_calibration_curve(y, q),
        "isotonic": isotonic_calibration_curve(y, q, n_resamples=20, random_state=0),
        "Gaussian process": gaussian_process_calibration_curve(y, q),
    }
    for name, found in made.items():
        fitted = np.interp(q, found.prob_pred, found.prob_true)
        limits = limits_in(*found.confidence_interval, curve(found.prob_pred))
        out[name] = (error(fitted), *limits)
    for method in ("monotone", "smooth"):
        band = calibration_band(y, q, method=method, bandwidth=made["smooth"].bandwidth or "auto")
        # A smooth band is known between its first and its last point.
        at = q[(q >= band.q[0]) & (q <= band.q[-1])]
        fitted = np.interp(q, band.q, band.estimate)
        out[f"{method} band"] = (error(fitted), *limits_in(*band.at(at), curve(at)))
    out["predictions"] = (error(q),)
    return out


# Number of groups, queries of each, and how much their answers depend.
GROUPS = ((100, 20, 0.5), (600, 5, 0.9), (3000, 5, 0.5), (3000, 5, 0.9))
GROUPED_TRUTHS = ("calibrated", "overconfident", "bump")


def grouped(truth: str, setting: tuple[int, int, float], seed: int) -> dict[str, Any]:
    """Return whether bands of grouped queries hold the whole truth, and how wide they are."""
    n_groups, size, dependence = setting
    sample = make_queries(
        n_groups * size, a=1, b=1, distortion=TRUTHS[truth], group_size=size,
        dependence=dependence, random_state=np.random.default_rng([seed, n_groups]),
    )  # fmt: skip
    found = {}
    for method in ("monotone", "smooth"):
        band = calibration_band(sample.queries, method=method)
        q = sample.y_prob[(sample.y_prob >= band.q[0]) & (sample.y_prob <= band.q[-1])]
        found[f"{method} band"] = limits_in(*band.at(q), TRUTHS[truth](q))
    return found


def study_groups(replications: int, n_jobs: int) -> list[dict[str, Any]]:
    rows = []
    for setting in GROUPS:
        for truth in GROUPED_TRUTHS:
            found = Parallel(n_jobs=n_jobs)(
                delayed(grouped)(truth, setting, seed) for seed in range(replications)
            )
            for name in found[0]:
                _, whole, width = np.mean([sample[name] for sample in found], axis=0)
                row = dict(zip(("groups", "size", "dependence"), setting, strict=True))
                row |= {"truth": truth, "curve": name, "replications": replications}
                rows.append(row | {"simultaneous": round(whole, 4), "width": round(width, 4)})
                print(rows[-1], flush=True)
    return rows


def study(sizes: list[int], replications: int, n_jobs: int) -> list[dict[str, Any]]:
    rows = []
    for law, truth in SETTINGS:
        for n in sizes:
            start = time.perf_counter()
            found = Parallel(n_jobs=n_jobs)(
                delayed(one)(law, truth, n, seed) for seed in range(replications)
            )
            for name in found[0]:
                square, *shares = np.mean([sample[name] for sample in found], axis=0)
                row = {"law": law, "truth": truth, "n": n, "curve": name}
                row |= {"replications": replications, "error": round(float(np.sqrt(square)), 4)}
                measures = ("pointwise", "simultaneous", "width")
                row |= {m: round(float(v), 4) for m, v in zip(measures, shares, strict=False)}
                rows.append(row)
                print(row, flush=True)
            print(f"{time.perf_counter() - start:.0f} s", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="5 replications")
    parser.add_argument("--replications", type=int, default=40)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 3000])
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--groups", action="store_true", help="bands of grouped queries")
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    replications = 5 if arguments.quick else arguments.replications
    if arguments.groups:
        rows = study_groups(replications, arguments.n_jobs)
    else:
        rows = study(arguments.sizes, replications, arguments.n_jobs)
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        text = ",\n".join(json.dumps(row) for row in rows)
        arguments.out.write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
