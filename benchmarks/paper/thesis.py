"""Thesis, section 4.3: the calibration score against bin size and against sample size.

Predictions p follow a Beta law. The answer is yes with probability p (calibrated), or
with probability t(p), which is max(0, p - k) up to one half and min(1, p + k) above it.
The thesis prints min(0, p + k), a slip. Its score is the squared calibration error. It
does not say which Beta laws it had, so that there are five here, with k = .1.

- Figure 4.7: 100,000 calibrated pairs in bins of 2^1 to 2^16. The claim: doubling the
  bin size never raises the score. It is checked on further samples of other sizes.
- Figures 4.8 and 4.9: the same in bins of 1,000 to 50,000, calibrated and not.
- Figures 4.10 and 4.11: 10,000 to 50,000 pairs in bins of the square root of their
  number, calibrated and not.

Beside each score stands what it is made of: the truth, and the mean of p(1 - p) in a
bin over its size, which noise adds. A last study has our estimate and both intervals
for 100 to 1,000,000 pairs.

    python benchmarks/paper/thesis.py

takes about a minute, and leaves paper_thesis.json in benchmarks/results/ and two
figures in docs/_static/.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from common import main

from sklearn_calib import (
    adaptive_bin_calibration_error,
    bin_size_curve,
    calibration_error_interval,
)
from sklearn_calib.datasets import SimulatedQueries, make_queries

LAWS = {"Beta(.5, .5)": (0.5, 0.5), "Beta(1, 1)": (1, 1), "Beta(2, 5)": (2, 5),
        "Beta(.2, 2)": (0.2, 2), "Beta(5, 5)": (5, 5)}  # fmt: skip
TRUTHS: dict[str, dict[str, Any]] = {
    "calibrated": {},
    "uncalibrated": {"distortion": "thesis", "strength": 0.1},
}
N_PAIRS = 100_000
DOUBLED = [2**power for power in range(1, 17)]
STEPS = list(range(1000, 50_001, 1000))
SAMPLE_SIZES = list(range(10_000, 50_001, 1000))
WIDE_SIZES = [100, 1000, 10_000, 100_000, 1_000_000]
CHECKS = 40  # further samples of each law and truth for the claim about doubling

# Okabe and Ito's colours, which can be told apart by everybody.
SCORE, DEBIASED = "#D55E00", "#0072B2"


def rises(values: Any) -> int:
    """Return how often a sequence rises, beyond rounding."""
    values = np.asarray(values)
    return int((np.diff(values) > 1e-12).sum())


def study_bins(sample: SimulatedQueries, sizes: list[int]) -> dict[str, Any]:
    """Return the score in bins of each size, and the parts that it consists of."""
    curve = bin_size_curve(sample.queries, bin_sizes=sizes)
    score = np.square(curve.error)
    noise = np.mean(sample.probability * (1.0 - sample.probability)) * curve.n_bins / N_PAIRS
    return {
        "bin_size": curve.bin_size,
        "score": score,
        "debiased": np.square(curve.debiased_error),
        "noise": noise,
        "rises": rises(score),
    }


def doubling(law: str, truth: str, seed: int) -> dict[str, int]:
    """Count how often doubling the bin size raises the score, in samples of odd sizes."""
    a, b = LAWS[law]
    found = {"steps": 0, "rises": 0}
    for i in range(CHECKS):
        rng = np.random.default_rng([seed, 7, i])
        n = int(rng.integers(50, 20_000))
        sample = make_queries(n, a=a, b=b, random_state=rng, **TRUTHS[truth])
        first = int(rng.integers(1, 8))
        sizes = [first * 2**power for power in range(16) if first * 2**power <= n]
        scores = [
            adaptive_bin_calibration_error(sample.queries, bin_size=size, squared=True)
            for size in sizes
        ]
        found["steps"] += len(sizes) - 1
        found["rises"] += rises(scores)
    return found


def study_sample_sizes(law: str, truth: str, seed: int) -> dict[str, Any]:
    a, b = LAWS[law]
    rows: dict[str, list[Any]] = {"n": [], "score": [], "debiased": []}
    for n in SAMPLE_SIZES:
        rng = np.random.default_rng([seed, 3, n])
        queries = make_queries(n, a=a, b=b, random_state=rng, **TRUTHS[truth]).queries
        options: Any = {"bin_size": round(n**0.5), "squared": True}
        rows["n"].append(n)
        rows["score"].append(adaptive_bin_calibration_error(queries, **options))
        rows["debiased"].append(adaptive_bin_calibration_error(queries, debias=True, **options))
    return {
        **rows,
        "rises": rises(rows["score"]),
        "slope": np.polyfit(np.log(rows["n"]), np.log(rows["score"]), 1)[0],
    }


def study_intervals(truth: str, seed: int) -> list[dict[str, Any]]:
    """Return both intervals in samples of very different sizes, for Beta(.5, .5)."""
    rows = []
    for n in WIDE_SIZES:
        rng = np.random.default_rng([seed, 5, n])
        sample = make_queries(n, random_state=rng, **TRUTHS[truth])
        paper = calibration_error_interval(
            sample.queries, bin_size=round(n**0.5), method="sampling", squared=True,
            random_state=seed,
        )  # fmt: skip
        ours = calibration_error_interval(sample.queries, squared=True)
        rows.append(
            {
                "n": n,
                "score": paper.error,
                "algorithm_2": paper.confidence_interval,
                "debiased": ours.error,
                "interval": ours.confidence_interval,
            }
        )
    return rows


def run(options: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"pairs": N_PAIRS, "k": TRUTHS["uncalibrated"]["strength"], "laws": []}
    for number, (law, (a, b)) in enumerate(LAWS.items()):
        for truth, distortion in TRUTHS.items():
            rng = np.random.default_rng([options.seed, number])
            sample = make_queries(N_PAIRS, a=a, b=b, random_state=rng, **distortion)
            entry = {
                "law": law,
                "truth": truth,
                "true_score": sample.error**2,
                "doubled": study_bins(sample, DOUBLED),
                "steps": study_bins(sample, STEPS),
                "doubling": doubling(law, truth, options.seed),
                "sample_sizes": study_sample_sizes(law, truth, options.seed),
            }
            found["laws"].append(entry)
            print(law, truth, entry["true_score"], entry["doubling"], entry["steps"]["rises"],
                  entry["sample_sizes"]["slope"], flush=True)  # fmt: skip
    found["intervals"] = {truth: study_intervals(truth, options.seed) for truth in TRUTHS}
    return found


def draw(found: dict[str, Any]) -> dict[str, Any]:
    import matplotlib.pyplot as plt

    law = next(iter(LAWS))
    entries = {e["truth"]: e for e in found["laws"] if e["law"] == law}

    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.7), layout="constrained")
    calibrated = [e for e in found["laws"] if e["truth"] == "calibrated"]
    for entry in calibrated:
        study = entry["doubled"]
        main_law = entry["law"] == law
        axes[0].plot(
            study["bin_size"], study["score"], "o", markersize=4, zorder=3 if main_law else 2,
            color=SCORE if main_law else "0.65", label="score" if main_law else None,
        )  # fmt: skip
        axes[0].plot(study["bin_size"], study["noise"], color="black" if main_law else "0.8",
                     linewidth=1, label="noise alone" if main_law else None)  # fmt: skip
    axes[0].set_xscale("log", base=2)
    axes[0].set_yscale("log")
    axes[0].set(title="4.7: calibrated, doubled", xlabel="queries a bin",
                ylabel="squared calibration error")  # fmt: skip
    titles = {"calibrated": "4.8: calibrated", "uncalibrated": "4.9: k = .1"}
    for ax, (truth, title) in zip(axes[1:], titles.items(), strict=True):
        study = entries[truth]["steps"]
        ax.plot(study["bin_size"], study["score"], "o", markersize=4, color=SCORE, label="score")
        ax.axhline(entries[truth]["true_score"], color="black", linestyle="--", label="truth")
        ax.set(title=title, xlabel="queries a bin")
        ax.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
    figures = {"thesis_bin_size": figure}

    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.7), layout="constrained")
    titles = {"calibrated": "4.10: calibrated", "uncalibrated": "4.11: k = .1"}
    for ax, (truth, title) in zip(axes, titles.items(), strict=True):
        study = entries[truth]["sample_sizes"]
        ax.plot(study["n"], study["score"], "o", markersize=4, color=SCORE, label="score")
        ax.plot(study["n"], study["debiased"], "s", markersize=4, color=DEBIASED, label="debiased")
        ax.axhline(entries[truth]["true_score"], color="black", linestyle="--", label="truth")
        ax.set(title=title, xlabel="queries, in bins of their square root",
               ylabel="squared calibration error")  # fmt: skip
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
    axes[1].set(ylabel="", ylim=(0, None))
    return {**figures, "thesis_sample_size": figure}


if __name__ == "__main__":
    main(__doc__, "thesis", run, draw)
