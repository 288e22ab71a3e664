"""What the experiments share: their options, their measures and their pictures."""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib import (
    Queries,
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_error_interval,
)

RESULTS = Path(__file__).parents[1] / "results"
PICTURES = Path(__file__).parents[2] / "docs" / "_static"

# Queries a bin wherever errors of the paper's kind are compared.
BIN_SIZE = 200


def rounded(value: Any) -> Any:
    """Return what reads well in a JSON file; numbers that do not exist become null."""
    if isinstance(value, dict):
        return {str(key): rounded(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [rounded(entry) for entry in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        # Six decimals, and of what is smaller than a thousandth four digits.
        number = float(value)
        if not np.isfinite(number):
            return None
        return round(number, 6) if abs(number) >= 1e-3 else float(f"{number:.4g}")
    return value


def null_errors(draws: Iterable[Queries], bin_size: int = BIN_SIZE) -> dict[str, Any]:
    """Return the plain errors of predictions for answers that the model itself drew.

    This is what a perfectly calibrated model with these predictions would show.
    """
    errors = [adaptive_bin_calibration_error(queries, bin_size=bin_size) for queries in draws]
    return {"mean": np.mean(errors), "range": np.quantile(errors, [0.025, 0.975])}


def independent_draws(y_prob: Any, seed: int = 0, n: int = 100) -> Iterable[Queries]:
    """Yield the predictions with answers drawn from them, one by one."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield Queries(rng.random(len(y_prob)) < y_prob, y_prob)


def measure(queries: Queries, *, bin_size: int = BIN_SIZE, seed: int = 0) -> dict[str, Any]:
    """Return the paper's error and interval, and ours.

    The paper's are the plain error in bins of a given size and Algorithm 2. Ours
    are the debiased error in bins that are chosen automatically and its interval,
    which knows the groups of the queries.
    """
    paper = calibration_error_interval(
        queries, bin_size=bin_size, method="sampling", groups=False, random_state=seed
    )
    ours = calibration_error_interval(queries)
    return {
        "n": len(queries),
        "bin_size": bin_size,
        "error": paper.error,
        "algorithm_2": paper.confidence_interval,
        "debiased": ours.error,
        "interval": ours.confidence_interval,
        "mean_overconfidence": ours.mean_overconfidence,
    }


def sides(queries: Queries, bin_size: int) -> dict[str, Any]:
    """Return on which side of the diagonal the bins lie, below one half and above it."""
    bins = calibration_bins(queries, bin_size=bin_size)
    found: dict[str, Any] = {}
    for name, part in (("low", bins.prob_pred < 0.5), ("high", bins.prob_pred >= 0.5)):
        gap = bins.prob_true[part] - bins.prob_pred[part]
        found[name] = {
            "bins": part.sum(),
            "above": (gap > 0).sum(),
            "mean_gap": np.average(gap, weights=bins.count[part]),
        }
    middle = np.argsort(np.abs(bins.prob_pred - 0.5))[:4]
    found["middle"] = [[bins.prob_pred[i], bins.prob_true[i]] for i in sorted(middle)]
    return found


def choose(models: dict[Any, Any], score: Callable[[Any], float]) -> Any:
    """Return the key of the best model; the first of equals."""
    return max(models, key=lambda key: score(models[key]))


def main(
    doc: str,
    name: str,
    run: Callable[[argparse.Namespace], dict[str, Any]],
    draw: Callable[[dict[str, Any]], dict[str, Any]],
    **flags: dict[str, Any],
) -> None:
    """Run an experiment: read the options, measure, and leave numbers and pictures.

    `run` returns the numbers, and under the key "pictures" what only `draw` needs.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--data-home", help="folder of the corpora (see load_conll2000)")
    parser.add_argument("--no-download", action="store_true", help="take only what is there")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the numbers")
    parser.add_argument("--pictures", type=Path, default=PICTURES, help="folder for the pictures")
    parser.add_argument("--seed", type=int, default=0)
    for flag, settings in flags.items():
        parser.add_argument(f"--{flag.replace('_', '-')}", **settings)
    options = parser.parse_args()
    options.loader = {"data_home": options.data_home, "download": not options.no_download}

    start = time.perf_counter()
    found = run(options)
    pictures = found.pop("pictures", {})
    found["seconds"] = round(time.perf_counter() - start)
    found["python"] = platform.python_version()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"paper_{name}.json"
    path.write_text(json.dumps(rounded(found), indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"\n{path} ({found['seconds']} s)")

    import matplotlib

    matplotlib.use("Agg")
    options.pictures.mkdir(parents=True, exist_ok=True)
    for stem, figure in draw({**found, "pictures": pictures}).items():
        target = options.pictures / f"paper_{stem}.png"
        figure.savefig(target, dpi=100, bbox_inches="tight")
        print(target)
