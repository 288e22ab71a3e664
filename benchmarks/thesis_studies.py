"""The thesis's synthetic studies: calibration error against bin size and against sample size.

The studies belong to the thesis that goes with Nguyen & O'Connor (2015). They
ask what the error of known predictions looks like

- in bins of 2^1 to 2^16 of 100,000 queries (Figures 4.7-4.9), and
- in bins of sqrt(N) of 100 to 1,000,000 queries (Figures 4.10 and 4.11).

The predictions follow a Beta law. The answer to a prediction p is yes with
probability p (calibrated), or with probability t(p) = min(1, p + k) for k = .05
and .1. The thesis prints t(p) = min(0, p + k), which would be 0 everywhere: a
slip for min(1, p + k).

Beside the plain error of the thesis (here "plug-in") stands the debiased one.
All errors are roots; the thesis shows their squares. Run with

    python benchmarks/thesis_studies.py

which takes a few seconds, prints the numbers, and leaves two pictures and
thesis_studies.json in benchmarks/results/.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib import bin_size_curve, calibration_error_interval
from sklearn_calib.datasets import SimulatedQueries, make_queries

RESULTS = Path(__file__).parent / "results"

TRUTHS: dict[str, dict[str, Any]] = {
    "calibrated": {},
    "k = .05": {"distortion": "shift", "strength": 0.05},
    "k = .1": {"distortion": "shift", "strength": 0.1},
}
TITLES = {
    "calibrated": "calibrated",
    "k = .05": "t(p) = min(1, p + .05)",
    "k = .1": "t(p) = min(1, p + .1)",
}
N_QUERIES = 100_000
BIN_SIZES = [2**power for power in range(1, 17)]
SAMPLE_SIZES = [100, 316, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000]

# Okabe and Ito's colours, which can be told apart by everybody.
PLUG_IN, DEBIASED, CHOICE = "#D55E00", "#0072B2", "#CC79A7"


def rounded(values: Any) -> Any:
    """Return numbers that read well in a JSON file, and null for those that do not exist."""
    if np.ndim(values):
        return [rounded(value) for value in values]
    return None if np.isnan(values) else round(float(values), 6)


# --- error against bin size


def study_bin_sizes(sample: SimulatedQueries) -> dict[str, Any]:
    curve = bin_size_curve(sample.queries, bin_sizes=BIN_SIZES)
    return {
        "n": len(sample.queries),
        "true_error": rounded(sample.error),
        "bin_size": curve.bin_size.tolist(),
        "plug_in": rounded(curve.error),
        "debiased": rounded(curve.debiased_error),
        "null_low": rounded(curve.null_interval.low),
        "null_high": rounded(curve.null_interval.high),
        "selected": int(curve.selected),
    }


def draw_bin_sizes(studies: dict[str, dict[str, Any]]) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained", sharey=True)
    for ax, (truth, study) in zip(axes, studies.items(), strict=True):
        x = study["bin_size"]
        ax.fill_between(
            x, study["null_low"], study["null_high"], color="0.7", linewidth=1,
            label="plug-in error of a calibrated model (95 %)",
        )  # fmt: skip
        ax.axhline(study["true_error"], color="black", linestyle="--", label="truth")
        ax.axvline(study["selected"], color=CHOICE, linestyle=":", label='bin_size="auto"')
        ax.plot(x, study["plug_in"], "s", color=PLUG_IN, markersize=4, label="plug-in error")
        ax.plot(x, study["debiased"], "o", color=DEBIASED, markersize=4, label="debiased error")
        ax.set_xscale("log", base=2)
        ax.set(
            title=TITLES[truth],
            xlabel="queries a bin",
            xticks=[2**power for power in range(1, 17, 3)],
        )
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set(ylabel="calibration error", ylim=(-0.005, None))
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


# --- error against sample size


def study_sample_size(sample: SimulatedQueries, seed: int) -> dict[str, Any]:
    n = len(sample.queries)
    bin_size = round(n**0.5)
    ours = calibration_error_interval(sample.queries, bin_size=bin_size)
    paper = calibration_error_interval(
        sample.queries, bin_size=bin_size, method="sampling", random_state=seed
    )
    return {
        "n": n,
        "bin_size": bin_size,
        "true_error": rounded(sample.error),
        "plug_in": rounded(paper.error),
        "plug_in_interval": rounded(paper.confidence_interval),
        "debiased": rounded(ours.error),
        "debiased_interval": rounded(ours.confidence_interval),
    }


def draw_sample_sizes(studies: dict[str, list[dict[str, Any]]]) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained", sharey=True)
    for ax, (truth, rows) in zip(axes, studies.items(), strict=True):
        n = np.array([row["n"] for row in rows])
        ax.axhline(rows[0]["true_error"], color="black", linestyle="--", label="truth")
        for kind, shift, marker, colour, label in (
            ("plug_in", 0.9, "s", PLUG_IN, "plug-in error, Algorithm 2's 95 % interval"),
            ("debiased", 1.1, "o", DEBIASED, "debiased error, default 95 % interval"),
        ):
            low, high = np.transpose([row[f"{kind}_interval"] for row in rows])
            ax.vlines(n * shift, low, high, color=colour, linewidth=1.5)
            error = [row[kind] for row in rows]
            ax.plot(n * shift, error, marker, color=colour, markersize=5, label=label)
        ax.set(title=TITLES[truth], xlabel="queries, in bins of their square root", xscale="log")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set(ylabel="calibration error", ylim=(-0.005, None))
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


# --- both


def run(a: float, b: float, seed: int) -> dict[str, Any]:
    """Return the numbers of both studies; every sample has a seed of its own."""
    studies: dict[str, Any] = {
        "law": f"Beta({a:g}, {b:g})",
        "seed": seed,
        "bin_sizes": {},
        "sample_sizes": {},
    }
    for i, (truth, options) in enumerate(TRUTHS.items()):

        def simulate(n: int, options: Any = options, i: int = i) -> SimulatedQueries:
            rng = np.random.default_rng([seed, i, n])
            return make_queries(n, a=a, b=b, random_state=rng, **options)

        studies["bin_sizes"][truth] = study_bin_sizes(simulate(N_QUERIES))
        studies["sample_sizes"][truth] = [
            study_sample_size(simulate(n), seed) for n in SAMPLE_SIZES
        ]
    return studies


def report(studies: dict[str, Any]) -> str:
    """Return both studies as text."""
    lines = [f"predictions: {studies['law']}"]
    for truth, study in studies["bin_sizes"].items():
        lines += [
            "",
            f"{truth}, {study['n']:,} queries, true error {study['true_error']:.4f}, "
            f"automatic bin size {study['selected']:,}",
            "bin_size  plug-in  debiased  plug-in if calibrated (95 %)",
        ]
        columns = ("bin_size", "plug_in", "debiased", "null_low", "null_high")
        for size, plug_in, debiased, low, high in zip(*map(study.get, columns), strict=True):
            lines.append(f"{size:>8,}  {plug_in:>7.4f}  {debiased:>8.4f}  {low:.4f} to {high:.4f}")
    for truth, rows in studies["sample_sizes"].items():
        lines += [
            "",
            f"{truth}, bins of sqrt(N), true error {rows[0]['true_error']:.4f}",
            "        N  plug-in  [Algorithm 2    ]  debiased  [default        ]",
        ]
        for row in rows:
            paper, ours = (
                "[{:.4f}, {:.4f}]".format(*row[f"{kind}_interval"])
                for kind in ("plug_in", "debiased")
            )
            lines.append(
                f"{row['n']:>9,}  {row['plug_in']:>7.4f}  {paper}  {row['debiased']:>8.4f}  {ours}"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-a", type=float, default=0.5, help="of the Beta law of the predictions")
    parser.add_argument("-b", type=float, default=0.5, help="of the Beta law of the predictions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for pictures and numbers")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    studies = run(options.a, options.b, options.seed)
    print(report(studies))
    (options.out / "thesis_studies.json").write_text(json.dumps(studies, indent=1) + "\n")

    import matplotlib

    matplotlib.use("Agg")
    pictures = {
        "thesis_bin_size.png": draw_bin_sizes(studies["bin_sizes"]),
        "thesis_sample_size.png": draw_sample_sizes(studies["sample_sizes"]),
    }
    print()
    for name, figure in pictures.items():
        figure.savefig(options.out / name, dpi=100)
        print(options.out / name)


if __name__ == "__main__":
    main()
