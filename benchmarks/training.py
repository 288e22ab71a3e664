"""Train for calibration, choose for it, or mend it? And how fast is training on the lattice?

Taggers are trained with each objective of CRFTagger over a path of L2 penalties (and margins or
strengths), chosen on development sentences by accuracy, or by `best_calibrated`: the most accurate
setting whose calibration error is within noise of the least. Each choice is measured on test
sentences, raw and after a temperature was fitted on the development sentences. Corpora: ARK tweets,
UD English EWT, and CoNLL-2000, once with parts of speech and once with chunks, whose spans are
measured, too. Then the cost of training, of its path over penalties, and of gradients. Run with

    python benchmarks/training.py --data-home FOLDER

which takes about half an hour on one core and leaves training.json in benchmarks/results/.
--only experiment, speed, path, gradient, agreement or memory runs one part, and --corpus the
experiment on one corpus; the rest of that file is kept. The same command gives the same numbers.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import sys
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

from sklearn_calib import (
    CalibratedStructureCV,
    adaptive_bin_calibration_error,
    best_calibrated,
    calibration_error_interval,
    compare_calibration,
)
from sklearn_calib.datasets import load_ark_tweets, load_conll2000, load_ud_ewt
from sklearn_calib.sequence import CRFTagger, forward_backward
from sklearn_calib.sequence._token_features import FEATURES

sys.path.insert(0, str(Path(__file__).parent / "paper"))
from common import rounded

RESULTS = Path(__file__).parent / "results" / "training.json"
COMMONEST = 7
PENALTIES = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
# Objectives that are not convex would creep on for hundreds of iterations.
ITERATIONS = 100
DEV_PARTS = 5
# What each objective is tried with, beside the penalties.
OBJECTIVES: dict[str, list[dict[str, Any]]] = {
    "likelihood": [{}],
    "marginal": [{"objective": "marginal"}],
    "calibrated": [{"objective": "calibrated", "calibration_strength": s} for s in (1.0, 10.0)],
    "softmax_margin": [{"objective": "softmax_margin", "margin": m} for m in (0.5, 2.0)],
}
# At most so many training sentences, for a fit of half a minute, and so many for development.
TRAIN = {"ARK tweets": 1000, "UD English EWT": 2000, "CoNLL-2000 chunks": 2500, "CoNLL-2000": 2500}
DEV = 600
PATH_SENTENCES = 600


def spread(X: Any, y: Any, n: int) -> tuple[Any, Any]:
    """Return at most n sentences, from all over a corpus: genres follow one another in some."""
    at = np.linspace(0, len(X) - 1, min(n, len(X))).astype(int)
    return [X[i] for i in at], [y[i] for i in at]


def load_corpus(name: str, data_home: str) -> list[Any]:
    """Return training, development and test sentences of a corpus."""
    options: dict[str, Any] = {"data_home": data_home, "download": False}
    if name.startswith("CoNLL-2000"):
        # The last articles serve for development.
        options["tags"] = "chunk" if name.endswith("chunks") else "pos"
        found, test = (load_conll2000(split=split, **options) for split in ("train", "test"))
        train = found.X[:-DEV], found.y[:-DEV]
        dev = found.X[-DEV:], found.y[-DEV:]
    else:
        load = {"ARK tweets": load_ark_tweets, "UD English EWT": load_ud_ewt}[name]
        found, held, test = (load(split=split, **options) for split in ("train", "dev", "test"))
        train, dev = (found.X, found.y), (held.X, held.y)
    return [spread(*train, TRAIN[name]), spread(*dev, DEV), (test.X, test.y)]


def development_scores(tagger: Any, X: Any, y: Any) -> dict[str, list[float]]:
    """Return accuracy and calibration on parts of the sentences, as the folds of a search."""
    scores: dict[str, list[float]] = {"accuracy": [], "calibration": []}
    for part in np.array_split(np.arange(len(X)), DEV_PARTS):
        own = [X[i] for i in part], [y[i] for i in part]
        scores["accuracy"].append(tagger.score(*own))
        error = adaptive_bin_calibration_error(tagger.calibration_queries(*own))
        scores["calibration"].append(-error)
    return scores


def choose(settings: list[dict[str, Any]]) -> dict[str, int]:
    """Return the place of the most accurate setting, and of the most accurate calibrated one."""
    cv_results = {
        f"split{part}_test_{name}": [setting["scores"][name][part] for setting in settings]
        for name in ("accuracy", "calibration")
        for part in range(DEV_PARTS)
    }
    accuracy = [np.mean(setting["scores"]["accuracy"]) for setting in settings]
    return {
        "accuracy": int(np.argmax(accuracy)),
        "calibration": best_calibrated("accuracy", calibration="calibration")(cv_results),
    }


class Answers:
    """What a tagger says about the test sentences, and how good that is."""

    def __init__(self, model: Any, X: Any, y: Any, *, spans: bool) -> None:
        self.queries = model.calibration_queries(X, y)
        self.sentence = np.repeat(np.arange(len(X)), [len(tags) for tags in y])
        flat = [tag for tags in y for tag in tags]
        column = {tag: j for j, tag in enumerate(model.classes_.tolist())}
        codes = np.array([column.get(tag, -1) for tag in flat])
        right = np.where(codes < 0, 0.0, model.predict_proba(X)[np.arange(len(codes)), codes])
        # A tag that training lacked has no chance; 1e-6 keeps it from ruling the mean.
        self.losses = -np.log(np.maximum(right, 1e-6))
        interval = calibration_error_interval(self.queries)
        names, counts = np.unique(flat, return_counts=True)
        top = names[np.argsort(-counts, kind="stable")[:COMMONEST]]
        tags = {tag: calibration_error_interval(self.queries.where(label=tag)) for tag in top}
        self.row = {
            "accuracy": model.score(X, y),
            "log_loss": float(self.losses.mean()),
            "error": interval.error,
            "interval": interval.confidence_interval,
            "overconfidence": interval.mean_overconfidence,
            "commonest": float(np.mean([found.error for found in tags.values()])),
            "tags": [[tag, found.error, *found.confidence_interval] for tag, found in tags.items()],
        }
        if spans:
            found = calibration_error_interval(model.calibration_queries(X, y, unit="span"))
            self.row |= {"span_error": found.error, "span_interval": found.confidence_interval}

    def against(self, other: Answers) -> dict[str, Any]:
        """Return by how much these answers differ from others to the same questions."""
        change = self.losses - other.losses
        mean = float(change.mean())
        sums = np.bincount(self.sentence, weights=change - mean)
        noise = 1.96 * float(np.sqrt(np.square(sums).sum())) / len(change)
        return {
            "log_loss": [mean, mean - noise, mean + noise],
            "pvalue": compare_calibration(other.queries, self.queries).pvalue,
        }


def trained(train: Any, dev: Any, grid: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a tagger for every setting of one objective, with its development scores."""
    settings = []
    for options in grid:
        tagger = CRFTagger(
            features="rich",
            solver="lattice",
            warm_start=True,
            tol=1e-4,
            max_iterations=ITERATIONS,
            **options,
        )
        for c2 in PENALTIES:
            start = time.process_time()
            tagger.set_params(c2=c2).fit(*train)
            seconds = time.process_time() - start
            settings.append(
                {
                    "options": {"c2": c2, **options},
                    "tagger": copy.copy(tagger),
                    "seconds": seconds,
                    "iterations": tagger.n_iter_,
                    "scores": development_scores(tagger, *dev),
                }
            )
            print(settings[-1]["options"], tagger.n_iter_, round(seconds, 1), flush=True)
    return settings


def experiment(name: str, parts: Any) -> list[dict[str, Any]]:
    """Return one row for each objective, choice and treatment.

    All are compared with likelihood training, chosen by accuracy: raw and recalibrated.
    """
    train, dev, test = parts
    print(name, flush=True)
    rows: list[dict[str, Any]] = []
    usual: dict[str, Answers] = {}
    for objective, grid in OBJECTIVES.items():
        settings = trained(train, dev, grid)
        measured: dict[int, dict[str, Answers]] = {}
        for by, place in choose(settings).items():
            setting = settings[place]
            if place not in measured:
                mended = CalibratedStructureCV(FrozenEstimator(setting["tagger"])).fit(*dev)
                measured[place] = {
                    treatment: Answers(model, *test, spans=name.endswith("chunks"))
                    for treatment, model in (("raw", setting["tagger"]), ("temperature", mended))
                }
            usual = usual or measured[place]
            for treatment, answers in measured[place].items():
                # Raw or recalibrated alike; the usual way recalibrated, against itself as it was.
                other = usual[treatment] if usual[treatment] is not answers else usual["raw"]
                against = {} if other is answers else {"against_usual": answers.against(other)}
                rows.append(
                    {
                        "corpus": name,
                        "objective": objective,
                        "chosen_by": by,
                        "treatment": treatment,
                        "options": setting["options"],
                        "iterations": setting["iterations"],
                        "sentences": {
                            part: len(own[0])
                            for part, own in zip(("train", "dev", "test"), parts, strict=True)
                        },
                        "searched": searched(),
                        "seconds": sum(s["seconds"] for s in settings),
                        **answers.row,
                        **against,
                    }
                )
    return rows


def searched() -> dict[str, Any]:
    """Return what the experiment tries."""
    grid = [options for settings in OBJECTIVES.values() for options in settings]
    return {
        "penalties": PENALTIES,
        "iterations": [ITERATIONS],
        **{
            name: [options[name] for options in grid if name in options]
            for name in ("calibration_strength", "margin")
        },
    }


def speed(data_home: str) -> list[dict[str, Any]]:
    """Return CPU seconds of an iteration, by solver, features and sentences."""
    train = load_conll2000(split="train", data_home=data_home, download=False)
    return [
        speed_row(features, train.X[:n], train.y[:n])
        for features in ("word", "rich")
        for n in (1000, 8900)
    ]


class Stamps(io.StringIO):
    """Where progress is written to: it notes the CPU time of each line."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def write(self, text: str) -> int:
        if text.endswith("\n"):
            self.seconds.append(time.process_time())
        return super().write(text)


def iteration_seconds(tagger: CRFTagger, X: Any, y: Any) -> float:
    """Return the CPU time of the quickest iteration of a fit: others were disturbed."""
    if tagger.solver == "crfsuite":
        # CRFsuite notes the CPU time of each iteration itself.
        return float(min(i["time"] for i in tagger.fit(X, y).crf_.training_log_.iterations))
    with contextlib.redirect_stderr(Stamps()) as stamps:
        tagger.set_params(verbose=True).fit(X, y)
    return float(np.diff(stamps.seconds).min())


def speed_row(features: str, X: Any, y: Any, iterations: int = 15) -> dict[str, Any]:
    """Return CPU seconds of an iteration of both solvers; with few sentences they take turns."""
    tried: dict[str, list[float]] = {"crfsuite": [], "lattice": []}
    for _ in range(3 if len(X) <= 1000 else 1):
        for solver, spent in tried.items():
            tagger = CRFTagger(features=features, c2=0.1, solver=solver, tol=0.0)
            spent.append(iteration_seconds(tagger.set_params(max_iterations=iterations), X, y))
    seconds = {solver: min(spent) for solver, spent in tried.items()}
    row = {
        "features": features,
        "sentences": len(X),
        "tokens": sum(map(len, X)),
        **{f"{solver}_seconds": value for solver, value in seconds.items()},
        "ratio": seconds["lattice"] / seconds["crfsuite"],
    }
    print(row, flush=True)
    return row


def memory(data_home: str) -> list[dict[str, Any]]:
    """Return the peak of what training on the lattice holds, by the number of sentences."""
    train = load_conll2000(split="train", data_home=data_home, download=False)
    rows = []
    for n in (250, 500, 1000, 2000):
        X, y = train.X[:n], train.y[:n]
        tracemalloc.start()
        CRFTagger(features="rich", solver="lattice", max_iterations=1).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append({"sentences": n, "tokens": sum(map(len, X)), "peak_mb": peak / 1e6})
        print(rows[-1], flush=True)
    return rows


def path(data_home: str) -> dict[str, Any]:
    """Return CPU seconds of fits over the penalties, each alone and each after the one before."""
    train = load_conll2000(split="train", data_home=data_home, download=False)
    X, y = train.X[:PATH_SENTENCES], train.y[:PATH_SENTENCES]
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
        "sentences": len(X),
        "alone_seconds": alone,
        "warm_seconds": warm,
        "ratio": warm / alone,
        "largest_relative_gap": float(np.max(np.abs(gaps))),
    }


def gradient(_: str) -> dict[str, Any]:
    """Return the cost of gradients of marginals, as a multiple of the marginals themselves."""
    rng = np.random.default_rng(0)
    lengths = np.maximum(1, rng.gamma(4.0, 6.0, size=1400).astype(int))
    n = int(lengths.sum())
    rows = []
    for k in (5, 12, 22, 47, 100):
        scores = 3 * rng.normal(size=(n, k)), rng.normal(size=(k, k)), lengths
        found = forward_backward(*scores)
        slopes = rng.normal(size=(n, k))
        forward, backward = [], []
        for _ in range(15):
            start = time.process_time()
            forward_backward(*scores)
            middle = time.process_time()
            found.vjp(slopes)
            forward.append(middle - start)
            backward.append(time.process_time() - middle)
        row = {"tags": k, "marginals_seconds": min(forward), "vjp_seconds": min(backward)}
        rows.append(row | {"ratio": min(backward) / min(forward)})
        print(rows[-1], flush=True)
    return {"tokens": n, "rows": rows}


def agreement(data_home: str) -> list[dict[str, Any]]:
    """Return how far the two solvers are apart, both run until nothing changes."""
    train = load_conll2000(split="train", data_home=data_home, download=False)
    rows = []
    for features, c2, n in (("word", 0.1, 500), ("rich", 0.1, 150), ("rich", 1.0, 150)):
        X, y = train.X[:n], train.y[:n]
        theirs = CRFTagger(features=features, c2=c2)
        # CRFsuite's own rule stops early: its parameters are set by hand.
        crf = theirs._new_crf()
        crf.epsilon, crf.delta, crf.period, crf.max_iterations = 1e-9, 1e-12, 10, 100_000
        crf.fit(FEATURES[features].attributes(X), y)
        theirs = CRFTagger.from_crfsuite(crf, features=features)
        ours = CRFTagger(features=features, c2=c2, solver="lattice", tol=1e-12).fit(X, y)
        loss = crf.training_log_.iterations[-1]["loss"]
        gap = np.abs(
            ours.predict_proba(train.X[n : n + 300]) - theirs.predict_proba(train.X[n : n + 300])
        )
        rows.append(
            {
                "features": features,
                "c2": c2,
                "sentences": n,
                "objective": ours.objective_value_,
                "crfsuite_objective": loss,
                "relative_gap": f"{abs(ours.objective_value_ / loss - 1.0):.1e}",
                "largest_difference": f"{gap.max():.1e}",
            }
        )
        print(rows[-1], flush=True)
    return rows


def keep(part: str, value: Any) -> None:
    """Write one part of the results, and leave the others as they are."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"experiment": []}
    if part == "experiment":
        names = {row["corpus"] for row in value}
        value = [row for row in found[part] if row["corpus"] not in names] + value
        value.sort(key=lambda row: list(TRAIN).index(row["corpus"]))
    found[part] = value
    kept = {name: found[name] for name in ("experiment", *PARTS) if name in found}
    RESULTS.write_text(json.dumps(rounded(kept), indent=1) + "\n")


PARTS: dict[str, Any] = {
    "speed": speed,
    "path": path,
    "gradient": gradient,
    "agreement": agreement,
    "memory": memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", required=True)
    parser.add_argument("--only", default=None, choices=("experiment", *PARTS))
    parser.add_argument("--corpus", default=None, choices=list(TRAIN))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    home, only, corpus = arguments.data_home, arguments.only, arguments.corpus
    with threadpool_limits(1):
        for name in TRAIN:
            if only in (None, "experiment") and corpus in (None, name):
                keep("experiment", experiment(name, load_corpus(name, home)))
        for name, measure in PARTS.items():
            if only == name or (only is None and corpus is None):
                keep(name, measure(home))


if __name__ == "__main__":
    main()
