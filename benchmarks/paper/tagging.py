"""Section 4.2: parts of speech. A hidden Markov model against a conditional random field.

Both models know the words alone, and give each token a probability for each tag.
The paper compares them at equal accuracy, which `matched.py` repeats. Here both have
all training sentences, on two corpora, beside an HMM that looks into unknown words.

The text is CoNLL-2000 (Wall Street Journal), with the last 1,000 training
sentences kept for choices, and UD English EWT as the open alternative. The
smoothing of the HMM and the regularisation of the CRF are chosen on models of
3,000 sentences, by accuracy as in the paper and by our scorer. The models that
are measured have all training sentences. CRF training stops after 100 iterations.

    python benchmarks/paper/tagging.py

takes about 15 minutes on one core, and leaves paper_tagging.json in
benchmarks/results/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from common import choose, main, measure, null_errors
from sklearn.metrics import get_scorer

from sklearn_calib import (
    adaptive_bin_calibration_error,
    compare_calibration,
    label_calibration,
    tag_queries,
)
from sklearn_calib.datasets import load_conll2000, load_ud_ewt
from sklearn_calib.sequence import CRFTagger, HMMTagger

# Queries a bin of the pooled curve, of which there are two million queries.
POOLED_BIN_SIZE = 5000
SELECTION = 3000
ITERATIONS = 100
PAIRS = 100
N_DRAWS = 20


def hmm(value: float, unknown: str) -> HMMTagger:
    return HMMTagger(
        transition_pseudocount=value, emission_pseudocount=value, unknown=unknown
    )  # fmt: skip


def crf(value: float) -> CRFTagger:
    return CRFTagger(features="word", c2=value, max_iterations=ITERATIONS)


# Name, parameter, values, model.
MODELS: dict[str, tuple[str, list[float], Callable[[float], Any]]] = {
    "HMM": ("pseudocount", [0.001, 0.01, 0.1, 1.0], lambda value: hmm(value, "dirichlet")),
    "HMM, signatures": (
        "pseudocount", [0.001, 0.01, 0.1, 1.0], lambda value: hmm(value, "signature"),
    ),
    "CRF": ("c2", [0.001, 0.01, 0.1, 1.0], crf),
}  # fmt: skip


def corpora(options: Any) -> dict[str, Any]:
    """Return training, development and test sentences of each corpus."""
    found = {}
    if "conll2000" in options.corpora:
        train, test = (load_conll2000(split=split, **options.loader) for split in ("train", "test"))
        found["CoNLL-2000"] = [
            (train.X[:-1000], train.y[:-1000]),
            (train.X[-1000:], train.y[-1000:]),
            (test.X, test.y),
        ]
    if "ud_ewt" in options.corpora:
        parts = (load_ud_ewt(split=split, **options.loader) for split in ("train", "dev", "test"))
        found["UD English EWT"] = [(part.X, part.y) for part in parts]
    return found


def select(train: Any, dev: Any) -> dict[str, dict[str, float]]:
    """Return the value that each criterion chooses for each model."""
    X, y = (part[:SELECTION] for part in train)
    scorer = get_scorer("neg_adaptive_bin_calibration_error")
    chosen: dict[str, Any] = {}
    for name, (_, values, make) in MODELS.items():
        models = {value: make(value).fit(X, y) for value in values}
        scores = {
            value: (model.score(*dev), scorer(model, *dev)) for value, model in models.items()
        }
        print(name, scores, flush=True)
        chosen[name] = {
            "accuracy": choose(scores, lambda pair: pair[0]),
            "calibration": choose(scores, lambda pair: pair[1]),
            "scores": {f"{v:g}": {"accuracy": a, "error": -e} for v, (a, e) in scores.items()},
        }
    return chosen


def model_draws(model: Any, X: Any, n: int, seed: int) -> list[list[Any]]:
    """Return taggings of all sentences that the model itself drew."""
    draws = model.sample(X, n, random_state=seed)
    return [[list(sentence[i]) for sentence in draws] for i in range(n)]


def test_model(model: Any, test: Any, pairs: Any, seed: int) -> dict[str, Any]:
    """Return accuracy and calibration over tags and over pairs."""
    X, y = test
    proba = model.predict_proba(X)
    tags = tag_queries(y, proba, classes=model.classes_)
    neighbours = model.calibration_queries(X, y, unit="pair", pairs=pairs)
    draws = (
        tag_queries(drawn, proba, classes=model.classes_)
        for drawn in model_draws(model, X, N_DRAWS, seed)
    )
    tables = {"tag": label_calibration(tags), "pair": label_calibration(neighbours)}
    plain = {
        name: adaptive_bin_calibration_error(part, bin_size=200) for name, part in tags.by_label()
    }
    return {
        "numbers": {
            "accuracy": model.score(X, y),
            **measure(tags, bin_size=POOLED_BIN_SIZE, seed=seed),
            "null": null_errors(draws, POOLED_BIN_SIZE),
            "tags": len(tables["tag"]),
            "mean_of_tags": np.nanmean(tables["tag"].error),
            "mean_of_top_5_tags": np.nanmean(tables["tag"].most_common(5).error),
            "mean_of_top_5_pairs": np.nanmean(tables["pair"].most_common(5).error),
            "mean_of_top_100_pairs": np.nanmean(tables["pair"].error),
        },
        "plain": plain,
        "queries": tags,
        "tables": tables,
    }


def compare(first: Any, second: Any) -> dict[str, Any]:
    """Return for how many tags the second model is better calibrated than the first."""
    tables = first["tables"]["tag"], second["tables"]["tag"]
    of = [dict(zip(table.labels, table.error, strict=True)) for table in tables]
    both = [tag for tag in of[0] if np.isfinite([of[0][tag], of[1].get(tag, np.nan)]).all()]
    certain = {"first": 0, "second": 0}
    parts = [dict(result["queries"].by_label()) for result in (first, second)]
    for tag in both:
        a, b = parts[0][tag], parts[1][tag]
        result = compare_calibration(a.y_true, a.y_prob, b.y_prob, groups=a.group)
        if result.pvalue < 0.05:
            certain["second" if result.difference > 0 else "first"] += 1
    return {
        "tags": len(both),
        "wins": sum(of[1][tag] < of[0][tag] for tag in both),
        "ties": sum(of[1][tag] == of[0][tag] for tag in both),
        "wins_by_plain_error": sum(second["plain"][tag] < first["plain"][tag] for tag in both),
        "wins_beyond_chance": certain["second"],
        "losses_beyond_chance": certain["first"],
    }


def run(options: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"selection": SELECTION, "iterations": ITERATIONS, "corpora": {}}
    for corpus, (train, dev, test) in corpora(options).items():
        print(corpus, flush=True)
        chosen = select(train, dev)
        rows, kept, pairs = [], {}, None
        for name, (parameter, _, make) in MODELS.items():
            results: dict[float, Any] = {}
            for criterion in ("accuracy", "calibration"):
                value = chosen[name][criterion]
                if value not in results:
                    model = make(value).fit(*train)
                    pairs = pairs or model.pairs_[:PAIRS]
                    results[value] = test_model(model, test, pairs, options.seed)
                row = {
                    "model": name,
                    "chosen_by": criterion,
                    "parameter": parameter,
                    "value": value,
                    **results[value]["numbers"],
                }
                rows.append(row)
                kept[name, criterion] = results[value]
                print({key: row[key] for key in list(row)[:12]}, flush=True)
        found["corpora"][corpus] = {
            "sentences": {
                "train": len(train[0]),
                "dev": len(dev[0]),
                "test": len(test[0]),
            },
            "tokens": sum(map(len, test[0])),
            "selection_scores": {name: entry["scores"] for name, entry in chosen.items()},
            "rows": rows,
            "wins_of_crf": {
                f"over {name}, by {criterion}": compare(
                    kept[name, criterion], kept["CRF", criterion]
                )
                for name in ("HMM", "HMM, signatures")
                for criterion in ("accuracy", "calibration")
            },
        }
    return found


if __name__ == "__main__":
    main(
        __doc__, "tagging", run, lambda found: {},
        corpora={"nargs": "+", "default": ["conll2000", "ud_ewt"],
                 "choices": ["conll2000", "ud_ewt"]},
    )  # fmt: skip
