"""Train for calibration, choose for it, or mend it? And how fast is training on the lattice?

Taggers are trained with each objective of CRFTagger over a path of L2 penalties (and margins or
strengths), chosen on development sentences by accuracy, or by `best_calibrated`'s idea: the most
accurate setting whose calibration error is within noise of the least. Each choice is measured on
test sentences, raw and after temperatures were fitted on the development sentences. Corpora: ARK
tweets, UD English EWT, and CoNLL-2000, once with parts of speech and once with chunks, whose spans
are measured, too. Then the speed of the solvers. Run with

    python benchmarks/training.py --data-home FOLDER

which takes about 40 minutes on one core and leaves training.json in benchmarks/results/.
--only speed, path or the name of a corpus runs one part, and keeps the others of that file.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

from sklearn_calib import (
    CalibratedStructureCV,
    adaptive_bin_calibration_error,
    calibration_error_interval,
    compare_calibration,
)
from sklearn_calib.datasets import load_ark_tweets, load_conll2000, load_ud_ewt
from sklearn_calib.sequence import CRFTagger

sys.path.insert(0, str(Path(__file__).parent / "paper"))
from common import rounded

RESULTS = Path(__file__).parent / "results" / "training.json"
COMMONEST = 7
PENALTIES = (1.0, 0.3, 0.1, 0.03, 0.01)
# What each objective is tried with, beside the penalties.
OBJECTIVES: dict[str, list[dict[str, Any]]] = {
    "likelihood": [{}],
    "marginal": [{"objective": "marginal"}],
    "calibrated": [
        {"objective": "calibrated", "calibration_strength": strength} for strength in (1.0, 10.0)
    ],
    "softmax_margin": [{"objective": "softmax_margin", "margin": margin} for margin in (0.5, 2.0)],
}
TRAIN, DEV, TEST = 1200, 600, 1000


def corpora(data_home: str) -> dict[str, Any]:
    """Return training, development and test sentences of each corpus."""
    options = {"data_home": data_home, "download": False}
    found: dict[str, Any] = {}
    for name, load in (("ARK tweets", load_ark_tweets), ("UD English EWT", load_ud_ewt)):
        parts = [load(split=split, **options) for split in ("train", "dev", "test")]
        sizes = (TRAIN, DEV, TEST)
        found[name] = [(p.X[:n], p.y[:n]) for p, n in zip(parts, sizes, strict=True)]
    for name, tags in (("CoNLL-2000", "pos"), ("CoNLL-2000 chunks", "chunk")):
        train = load_conll2000(split="train", tags=tags, **options)
        test = load_conll2000(split="test", tags=tags, **options)
        found[name] = [
            (train.X[:TRAIN], train.y[:TRAIN]),
            (train.X[TRAIN : TRAIN + DEV], train.y[TRAIN : TRAIN + DEV]),
            (test.X[:TEST], test.y[:TEST]),
        ]
    return found


def sentence_errors(tagger: Any, X: Any, y: Any) -> np.ndarray:
    """Return the calibration error on five parts of the sentences, as folds would show it."""
    parts = np.array_split(np.arange(len(X)), 5)
    return np.array(
        [
            adaptive_bin_calibration_error(
                tagger.calibration_queries([X[i] for i in part], [y[i] for i in part])
            )
            for part in parts
        ]
    )


def choose(settings: list[dict[str, Any]]) -> dict[str, int]:
    """Return the place of the most accurate setting, and of the most accurate calibrated one."""
    accuracy = np.array([setting["accuracy"] for setting in settings])
    errors = np.array([setting["errors"] for setting in settings])
    best = int(errors.mean(axis=1).argmin())
    gap = errors - errors[best]
    near = gap.mean(axis=1) <= gap.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
    near[best] = True
    return {
        "accuracy": int(accuracy.argmax()),
        "calibration": int(np.where(near, accuracy, -1.0).argmax()),
    }


def describe(model: Any, X: Any, y: Any, *, spans: bool) -> tuple[dict[str, Any], Any]:
    queries = model.calibration_queries(X, y)
    interval = calibration_error_interval(queries)
    names, counts = np.unique([tag for tags in y for tag in tags], return_counts=True)
    commonest = set(names[np.argsort(-counts, kind="stable")[:COMMONEST]].tolist())
    flat = [tag for tags in y for tag in tags]
    column = {tag: j for j, tag in enumerate(model.classes_.tolist())}
    codes = np.array([column.get(tag, -1) for tag in flat])
    right = np.where(codes < 0, 0.0, model.predict_proba(X)[np.arange(len(codes)), codes])
    row = {
        "accuracy": model.score(X, y),
        "log_loss": float(-np.log(np.maximum(right, 1e-12)).mean()),
        "error": interval.error,
        "interval": interval.confidence_interval,
        "commonest": float(
            np.mean(
                [
                    adaptive_bin_calibration_error(part)
                    for name, part in queries.by_label()
                    if name in commonest
                ]
            )
        ),
    }
    if spans:
        found = calibration_error_interval(model.calibration_queries(X, y, unit="span"))
        row |= {"span_error": found.error, "span_interval": found.confidence_interval}
    return row, queries


def experiment(name: str, parts: Any) -> list[dict[str, Any]]:
    """Return one row for each objective, choice and treatment."""
    train, dev, test = parts
    spans = name.endswith("chunks")
    rows = []
    for objective, grid in OBJECTIVES.items():
        settings = []
        for options in grid:
            tagger = CRFTagger(
                features="rich", solver="lattice", warm_start=True, tol=1e-4, **options
            )
            for c2 in PENALTIES:
                tagger.set_params(c2=c2).fit(*train)
                fitted = clone(tagger)
                fitted.__dict__.update(tagger.__dict__)
                settings.append(
                    {
                        "options": {"c2": c2, **options},
                        "tagger": fitted,
                        "accuracy": tagger.score(*dev),
                        "errors": sentence_errors(tagger, *dev),
                    }
                )
                print(name, options, c2, settings[-1]["accuracy"], flush=True)
        for by, place in choose(settings).items():
            chosen = settings[place]["tagger"]
            mended = CalibratedStructureCV(FrozenEstimator(chosen)).fit(*dev)
            raw, asked = describe(chosen, *test, spans=spans)
            after, asked_again = describe(mended, *test, spans=spans)
            change = compare_calibration(asked, asked_again)
            common = {
                "corpus": name,
                "objective": objective,
                "chosen_by": by,
                "options": settings[place]["options"],
            }
            rows.append({**common, "treatment": "raw", **raw})
            rows.append({**common, "treatment": "temperature", **after, "pvalue": change.pvalue})
    return rows


def timed(tagger: Any, X: Any, y: Any) -> float:
    start = time.process_time()
    clone(tagger).fit(X, y)
    return time.process_time() - start


def speed(data_home: str) -> list[dict[str, Any]]:
    """Return CPU seconds of an iteration, by solver, features and sentences."""
    train = load_conll2000(split="train", data_home=data_home, download=False)
    rows = []
    few, many = 3, 18
    for features in ("word", "rich"):
        for n in (1000, 3000, 8900):
            X, y = train.X[:n], train.y[:n]
            seconds = {}
            for solver in ("crfsuite", "lattice"):
                tagger = CRFTagger(features=features, c2=0.1, solver=solver)
                if solver == "lattice":
                    tagger.set_params(tol=0.0)
                spent = [
                    min(timed(tagger.set_params(max_iterations=m), X, y) for _ in range(2))
                    for m in (few, many)
                ]
                seconds[solver] = (spent[1] - spent[0]) / (many - few)
            rows.append(
                {
                    "features": features,
                    "sentences": n,
                    "tokens": sum(map(len, X)),
                    **{f"{solver}_seconds": value for solver, value in seconds.items()},
                    "ratio": seconds["lattice"] / seconds["crfsuite"],
                }
            )
            print(rows[-1], flush=True)
    return rows


def path(data_home: str) -> dict[str, Any]:
    """Return CPU seconds of fits over the penalties, each alone and each after the one before."""
    train = load_conll2000(split="train", data_home=data_home, download=False)
    X, y = train.X[:1500], train.y[:1500]
    penalties = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.09)
    alone = warm = 0.0
    following = CRFTagger(features="rich", solver="lattice", warm_start=True)
    gaps = []
    for c2 in penalties:
        start = time.process_time()
        own = CRFTagger(features="rich", solver="lattice", c2=c2).fit(X, y)
        middle = time.process_time()
        following.set_params(c2=c2).fit(X, y)
        end = time.process_time()
        alone, warm = alone + middle - start, warm + end - middle
        gaps.append(following.objective_value_ / own.objective_value_ - 1.0)
    return {
        "penalties": penalties,
        "alone_seconds": alone,
        "warm_seconds": warm,
        "ratio": warm / alone,
        "largest_relative_gap": float(np.max(np.abs(gaps))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", required=True)
    parser.add_argument("--only", default=None)
    arguments = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"experiment": []}
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        if arguments.only in (None, "speed"):
            found["speed"] = speed(arguments.data_home)
        if arguments.only in (None, "path"):
            found["path"] = path(arguments.data_home)
        for name, parts in corpora(arguments.data_home).items():
            if arguments.only in (None, name):
                kept = [row for row in found["experiment"] if row["corpus"] != name]
                found["experiment"] = kept + experiment(name, parts)
                RESULTS.write_text(json.dumps(rounded(found), indent=1) + "\n")
    RESULTS.write_text(json.dumps(rounded(found), indent=1) + "\n")


if __name__ == "__main__":
    main()
