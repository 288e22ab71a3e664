"""What recalibration does for taggers and for coreference, on real text.

Taggers are trained and recalibrated on the training part of the ARK tweets, and measured on
the test part: error over all tags, mean error of the seven commonest tags, accuracy and log
loss, and whether the change of calibration is more than noise (`compare_calibration`).
Models that are calibrated already are among them, for they must not get worse. Then the same
out of the domain: trained on 3,000 sentences of news (CoNLL-2000), tested on all test sentences
of news and of web text (UD English EWT).
Coreference is cross-validated as in paper/coreference.py, and every error stands beside its
noise floor. Run with

    python benchmarks/recalibration.py

which takes about 20 minutes on one core, and leaves recalibration.json in benchmarks/results/.
--only tweets, news or coreference runs one part, and keeps the others of that file.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.model_selection import KFold

from sklearn_calib import (
    CalibratedStructureCV,
    Queries,
    adaptive_bin_calibration_error,
    calibration_error_interval,
    calibration_null,
    compare_calibration,
)
from sklearn_calib.coref import AntecedentModel
from sklearn_calib.datasets import (
    load_ark_tweets,
    load_conll2000,
    load_gum,
    load_litbank,
    load_ud_ewt,
)
from sklearn_calib.recalibration._chains import ChainNumbers, ScaledTagger
from sklearn_calib.recalibration._families import recalibrate
from sklearn_calib.recalibration._held_out import HeldOut, held_out_models
from sklearn_calib.sequence import CRFTagger, HMMTagger

sys.path.insert(0, str(Path(__file__).parent / "paper"))
from common import rounded
from coreference import BIN_SIZE, Posterior, without_singletons

METHODS = ("temperature", "scaling", "isotonic")
COMMONEST = 7

TAGGERS = {
    "HMM, Dirichlet": HMMTagger(unknown="dirichlet"),
    "HMM, signatures": HMMTagger(),
    "CRF, words, c2 = 1": CRFTagger(),
    "CRF, words, c2 = 0.03": CRFTagger(c2=0.03),
    "CRF, rich, c2 = 0.003": CRFTagger(features="rich", c2=0.003),
    "CRF, rich, c2 = 0.3": CRFTagger(features="rich", c2=0.3),
}

# Trained on so many sentences of news; CRF training stops after so many iterations.
NEWS = 3000
ITERATIONS = 100
NEWS_TAGGERS = {
    "HMM, signatures": HMMTagger(),
    "CRF, words, c2 = 0.003": CRFTagger(c2=0.003, max_iterations=ITERATIONS),
    "CRF, rich, c2 = 0.003": CRFTagger(features="rich", c2=0.003, max_iterations=ITERATIONS),
}


def commonest_error(queries: Queries, y: Any) -> float:
    """Return the mean error of the commonest tags."""
    names, counts = np.unique([tag for tags in y for tag in tags], return_counts=True)
    chosen = set(names[np.argsort(-counts, kind="stable")[:COMMONEST]].tolist())
    parts = [part for name, part in queries.by_label() if name in chosen]
    return float(np.mean([adaptive_bin_calibration_error(part) for part in parts]))


def log_loss(model: Any, X: Any, y: Any) -> float:
    """Return the mean log loss of a token; what has no probability counts as 1e-12."""
    column = {tag: j for j, tag in enumerate(model.classes_.tolist())}
    codes = np.array([column.get(tag, -1) for tags in y for tag in tags])
    right = model.predict_proba(X)[np.arange(len(codes)), codes]
    return float(-np.log(np.maximum(np.where(codes < 0, 0.0, right), 1e-12)).mean())


def pair_gap(model: Any, X: Any) -> float:
    """Return how far the pairs that end at a token are from summing to its tags."""
    classes = model.classes_.tolist()
    short = X[:50]
    pairs = model.predict_proba(
        short, unit="pair", pairs=[(a, b) for a in classes for b in classes]
    )
    tags = model.predict_proba(short)
    later = np.concatenate([np.arange(len(sentence)) > 0 for sentence in short])
    summed = pairs.reshape(len(pairs), len(classes), len(classes)).sum(axis=1)
    return float(np.abs(summed - tags[later]).max())


def describe(model: Any, X: Any, y: Any) -> tuple[dict[str, Any], Queries]:
    """Return the numbers of one tagger on test sentences, and its queries."""
    queries = model.calibration_queries(X, y)
    interval = calibration_error_interval(queries)
    flat = np.array([tag for tags in y for tag in tags])
    marginal = np.concatenate(model.predict(X, method="marginal"))
    return {
        "error": adaptive_bin_calibration_error(queries),
        "debiased": interval.error,
        "interval": interval.confidence_interval,
        "commonest": commonest_error(queries, y),
        "accuracy": model.score(X, y),
        "marginal_accuracy": float((marginal == flat).mean()),
        "brier": float(np.mean((queries.y_prob - queries.y_true) ** 2)),
        "log_loss": log_loss(model, X, y),
    }, queries


def fold_models(tagger: Any, X: Any, y: Any) -> list[HeldOut]:
    """Return the models of the folds, which CalibratedStructureCV would train for each method."""
    return held_out_models(
        tagger, X, y, cv=None, groups=None, weight=None, fit_options={}, n_jobs=None
    )


def tagger_rows(
    taggers: dict[str, Any], train: Any, tests: dict[str, Any], *, objectives: bool
) -> list[dict[str, Any]]:
    """Return a row for each tagger, method and test set."""
    rows = []
    for name, tagger in taggers.items():
        held_out, fitted = fold_models(tagger, *train), clone(tagger).fit(*train)
        mended: dict[str, Any] = {"raw": (fitted, {})}
        for method in METHODS:
            mended[method] = recalibrate(fitted, held_out, method, {})
        if objectives:
            for objective, loss in OBJECTIVES.items():
                mended[f"temperature by {objective}"] = by_objective(fitted, held_out, loss)
        for test, (X, y) in tests.items():
            before = None
            for method, (model, numbers) in mended.items():
                row, queries = describe(model, X, y)
                row = {"model": name, "test": test, "method": method, **row}
                if before is None:
                    before = queries
                else:
                    change = compare_calibration(before, queries)
                    row["difference"] = change.difference  # of squares: raw minus mended
                    row["difference_interval"] = change.confidence_interval
                    row["pvalue"] = change.pvalue
                    if method != "isotonic":
                        row["pair_gap"] = f"{pair_gap(model, X):.1e}"
                    names = ("temperature", "transition_temperature")
                    row.update({n: numbers[f"{n}_"] for n in names if f"{n}_" in numbers})
                rows.append(row)
                print(json.dumps(rounded(row)), flush=True)
    return rows


def marginal_loss(model: Any, part: HeldOut) -> float:
    """Return the log loss of the tags of held-out tokens, one by one."""
    return log_loss(model, part.X, part.y) * sum(map(len, part.y))


def sequence_loss(model: Any, part: HeldOut) -> float:
    """Return the log loss of whole held-out taggings."""
    found = model.log_likelihood(part.X, part.y)
    return -float(found[np.isfinite(found)].sum())


OBJECTIVES: dict[str, Callable[[Any, HeldOut], float]] = {
    "log loss of tags": marginal_loss,
    "likelihood of taggings": sequence_loss,
}


def by_objective(
    fitted: Any, held_out: list[HeldOut], loss: Callable[[Any, HeldOut], float]
) -> tuple[Any, dict[str, float]]:
    """Return a tagger at the temperature that another objective chooses."""

    def at(model: Any, temperature: float) -> ScaledTagger:
        none = np.zeros(len(model.classes_))
        return ScaledTagger(model, ChainNumbers(temperature, temperature, none))

    def total(log_temperature: float) -> float:
        temperature = float(np.exp(log_temperature))
        return sum(loss(at(part.model, temperature), part) for part in held_out)

    found = minimize_scalar(total, bounds=(-2.3, 2.3), method="bounded", options={"xatol": 0.01})
    temperature = float(np.exp(found.x))
    return at(fitted, temperature), {"temperature_": temperature}


def tweets(loader: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what became of taggers on text like that of their training."""
    train, test = (load_ark_tweets(split=split, **loader) for split in ("train", "test"))
    tests = {"ARK tweets": (test.X, test.y)}
    return tagger_rows(TAGGERS, (train.X, train.y), tests, objectives=True)


def news(loader: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what became of taggers that were trained on news, on news and on web text."""
    train, same = (load_conll2000(split=split, **loader) for split in ("train", "test"))
    other = load_ud_ewt(split="test", **loader)
    tests = {
        "CoNLL-2000": (same.X, same.y),
        "UD English EWT": (other.X, other.y),
    }
    return tagger_rows(NEWS_TAGGERS, (train.X[:NEWS], train.y[:NEWS]), tests, objectives=False)


def coreference(loader: dict[str, Any], seed: int, n_simulations: int) -> list[dict[str, Any]]:
    """Return errors of links beside their noise floors, raw and recalibrated, by five folds."""
    parts = [load_gum(split=split, **loader).X for split in ("train", "dev", "test")]
    corpora = {
        "GUM without singletons": without_singletons(parts[0] + parts[1] + parts[2]),
        "LitBank": load_litbank(**loader).X,
    }
    model = CalibratedStructureCV(AntecedentModel(features="extended"))
    rows = []
    for corpus, documents in corpora.items():
        found: dict[str, list[Any]] = {"raw": [None] * len(documents)}
        found["temperature"] = [None] * len(documents)
        numbers = []
        for train, test in KFold(5, shuffle=True, random_state=seed).split(documents):
            fitted = clone(model).fit([documents[i] for i in train])
            numbers.append([fitted.temperature_, fitted.new_shift_])
            for i in test:
                found["raw"][i] = fitted.estimator_.predict_antecedent_proba([documents[i]])[0]
                found["temperature"][i] = fitted.predict_antecedent_proba([documents[i]])[0]
        for method, antecedents in found.items():
            null = calibration_null(
                Posterior(antecedents),
                documents,
                [document.entities for document in documents],
                n_simulations=n_simulations,
                bin_size=BIN_SIZE,
                random_state=seed,
            )
            row = {
                "corpus": corpus,
                "method": method,
                "links": null.n_queries,
                "error": null.error,
                "floor": null.mean,
                "range": null.interval,
                "pvalue": null.pvalue,
            }
            if method != "raw":
                row["temperature_and_shift"] = numbers
            rows.append(row)
            print(json.dumps(rounded(row)), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", help="folder of the corpora (see load_conll2000)")
    parser.add_argument("--no-download", action="store_true", help="take only what is there")
    parser.add_argument("--only", choices=("tweets", "news", "coreference"))
    parser.add_argument("--simulations", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    loader = {"data_home": options.data_home, "download": not options.no_download}
    parts: dict[str, Callable[[], Any]] = {
        "tweets": lambda: tweets(loader),
        "news": lambda: news(loader),
        "coreference": lambda: coreference(loader, options.seed, options.simulations),
    }
    path = options.out / "recalibration.json"
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, run in parts.items():
        if options.only in (None, name):
            found[name] = rounded(run())
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(path)


if __name__ == "__main__":
    main()
