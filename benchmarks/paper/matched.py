"""Section 4.2 as it was done: an HMM and a CRF of equal accuracy.

The paper trains an HMM with one pseudocount on all sentences, and the CRF on fewer,
until both are equally accurate. Both know the words alone. Here the text is CoNLL-2000
(Wall Street Journal), with the last 1,000 training sentences kept for choices: the
regularisation of the CRF, a power of ten, is the one with the best accuracy on them. The
number of its sentences is, as in the paper, the one with which the accuracies on the test
sentences are nearest. What finer steps of regularisation would do is shown as well.

Errors are those of Algorithm 1 in bins of 5,000 queries with the interval of
Algorithm 2 from 10,000 draws, as in all experiments of the paper. Beside them stand
the debiased error and its interval, which takes a sentence for one observation.

    python benchmarks/paper/matched.py

takes about ten minutes on one core, and leaves paper_matched.json in
benchmarks/results/ and Figures 3 and 4 in docs/_static/.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
from common import choose, main, null_errors, sides

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    LabelCalibrationDisplay,
    Queries,
    adaptive_bin_calibration_error,
    calibration_error_interval,
    compare_calibration,
    label_calibration,
    tag_queries,
)
from sklearn_calib.datasets import load_conll2000
from sklearn_calib.sequence import CRFTagger, HMMTagger

BIN_SIZE = 5000
DRAWS = 10_000
C2 = [0.001, 0.01, 0.1, 1.0]
OTHER_C2 = [0.001, 0.003, 0.03, 0.1]  # for the matched number of sentences
SIZES = range(1350, 1551, 50)
FIRST_SIZE = 1500  # of the CRFs among which the regularisation is chosen
ITERATIONS = 100
N_PAIRS = 100
N_NULL = 20


def crf(value: float) -> CRFTagger:
    return CRFTagger(features="word", c2=value, max_iterations=ITERATIONS)


def corpus(loader: dict[str, Any]) -> list[Any]:
    """Return training, development and test sentences with their tags."""
    train, test = (load_conll2000(split=split, **loader) for split in ("train", "test"))
    return [
        (train.X[:-1000], train.y[:-1000]),
        (train.X[-1000:], train.y[-1000:]),
        (test.X, test.y),
    ]


def matched_models(train: Any, dev: Any, test: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return an HMM and a CRF of equal accuracy, and how they were chosen."""
    hmm = HMMTagger(
        transition_pseudocount=1.0, emission_pseudocount=1.0, unknown="dirichlet"
    ).fit(*train)  # fmt: skip
    target = hmm.score(*test)
    X, y = train
    tried = {c2: crf(c2).fit(X[:FIRST_SIZE], y[:FIRST_SIZE]) for c2 in C2}
    scores = {c2: model.score(*dev) for c2, model in tried.items()}
    c2 = choose(scores, lambda score: score)
    print(f"CRF of {FIRST_SIZE} sentences, development accuracy by c2: {scores}", flush=True)
    models = {n: tried[c2] if n == FIRST_SIZE else crf(c2).fit(X[:n], y[:n]) for n in SIZES}
    sizes = {n: model.score(*test) for n, model in models.items()}
    n = choose(sizes, lambda score: -abs(score - target))
    print(f"HMM {target:.4f}; CRF with c2 = {c2:g} by sentences: {sizes}", flush=True)
    how = {
        "c2": c2,
        "development_accuracy_by_c2": {f"{value:g}": score for value, score in scores.items()},
        "test_accuracy_by_sentences": sizes,
        "sentences": {"HMM": len(X), "CRF": n},
    }
    return {"HMM": hmm, "CRF": models[n]}, how


def other_settings(train: Any, dev: Any, test: Any, n: int) -> list[dict[str, Any]]:
    """Return what the CRF of n sentences is like with other regularisation."""
    X, y = (part[:n] for part in train)
    rows = []
    for c2 in OTHER_C2:
        model = crf(c2).fit(X, y)
        queries = model.calibration_queries(*test)
        rows.append(
            {
                "c2": c2,
                "development_accuracy": model.score(*dev),
                "accuracy": model.score(*test),
                "error": adaptive_bin_calibration_error(queries, bin_size=BIN_SIZE),
                "sides": sides(queries, BIN_SIZE),
            }
        )
        print(rows[-1], flush=True)
    return rows


def pooled(model: Any, test: Any, seed: int) -> tuple[dict[str, Any], Queries]:
    """Return the calibration of all tags of all tokens in one curve."""
    X, y = test
    proba = model.predict_proba(X)
    queries = tag_queries(y, proba, classes=model.classes_)
    paper = calibration_error_interval(
        queries, bin_size=BIN_SIZE, method="sampling", n_resamples=DRAWS, groups=False,
        random_state=seed,
    )  # fmt: skip
    ours = calibration_error_interval(queries)
    drawn = model.sample(X, N_NULL, random_state=seed)
    truths = ([list(sentence[i]) for sentence in drawn] for i in range(N_NULL))
    null = null_errors(
        (tag_queries(truth, proba, classes=model.classes_) for truth in truths), BIN_SIZE
    )
    return {
        "accuracy": model.score(X, y),
        "n": len(queries),
        "error": paper.error,
        "algorithm_2": paper.confidence_interval,
        "null": null,
        "debiased": ours.error,
        "interval": ours.confidence_interval,
        "sides": sides(queries, BIN_SIZE),
    }, queries


def one_by_one(queries: dict[str, Queries], seed: int) -> dict[str, Any]:
    """Return the errors of each label for each model, and who is better."""
    paper = {
        name: label_calibration(
            part, bin_size=BIN_SIZE, method="sampling", n_resamples=DRAWS, groups=False,
            random_state=seed,
        )
        for name, part in queries.items()
    }  # fmt: skip
    ours = {name: label_calibration(part) for name, part in queries.items()}
    parts = {name: dict(part.by_label()) for name, part in queries.items()}
    labels = [label for label in parts["HMM"] if label in parts["CRF"]]
    at = {name: {label: i for i, label in enumerate(table.labels)} for name, table in paper.items()}
    wins = Counter()
    rows = []
    for label in labels:
        i, j = at["HMM"][label], at["CRF"][label]
        first, second = parts["HMM"][label], parts["CRF"][label]
        test = compare_calibration(
            first.y_true, first.y_prob, second.y_prob, groups=first.group
        )  # fmt: skip
        errors = [float(paper["HMM"].error[i]), float(paper["CRF"].error[j])]
        limits = [
            [float(end[k]) for end in paper[name].confidence_interval]
            for name, k in (("HMM", i), ("CRF", j))
        ]
        wins["plain"] += errors[1] < errors[0]
        wins["apart"] += limits[1][1] < limits[0][0]
        wins["apart_hmm"] += limits[0][1] < limits[1][0]
        wins["debiased"] += ours["CRF"].error[j] < ours["HMM"].error[i]
        if test.pvalue < 0.05:
            wins["beyond_chance" if test.difference > 0 else "beyond_chance_hmm"] += 1
        name = label if isinstance(label, str) else " ".join(label)
        rows.append({"label": name, "count": int(first.y_true.sum()), "error": errors,
                     "algorithm_2": limits, "pvalue": test.pvalue})  # fmt: skip
    return {
        "labels": len(labels),
        "wins_of_crf": dict(wins),
        "rows": sorted(rows, key=lambda row: -row["count"]),
        "tables": paper,
        "debiased_tables": ours,
    }


def means(tables: dict[str, Any], top: tuple[int, ...]) -> dict[str, Any]:
    """Return mean errors over the most frequent labels."""
    return {
        name: {f"{k}": np.nanmean(table.most_common(k).error) for k in top}
        for name, table in tables.items()
    }


def run(options: Any) -> dict[str, Any]:
    train, dev, test = corpus(options.loader)
    models, how = matched_models(train, dev, test)
    found: dict[str, Any] = {
        "corpus": "CoNLL-2000",
        "test": {"sentences": len(test[0]), "tokens": sum(map(len, test[0]))},
        "bin_size": BIN_SIZE,
        "draws": DRAWS,
        "iterations": ITERATIONS,
        **how,
        "pooled": {},
    }
    tags, pictures = {}, {}
    for name, model in models.items():
        found["pooled"][name], tags[name] = pooled(model, test, options.seed)
        print(name, found["pooled"][name], flush=True)
    result = one_by_one(tags, options.seed)
    pictures["tag"] = result.pop("tables")
    debiased = result.pop("debiased_tables")
    found["tag"] = {**result, "means": means(pictures["tag"], (5, result["labels"])),
                    "debiased_means": means(debiased, (5,))}  # fmt: skip

    frequent = Counter(pair for tags_ in test[1] for pair in pairwise(tags_))
    pairs = [pair for pair, _ in frequent.most_common(N_PAIRS)]
    queries = {
        name: model.calibration_queries(*test, unit="pair", pairs=pairs)
        for name, model in models.items()
    }
    result = one_by_one(queries, options.seed)
    pictures["pair"] = result.pop("tables")
    debiased = result.pop("debiased_tables")
    found["pair"] = {**result, "means": means(pictures["pair"], (5, N_PAIRS)),
                     "debiased_means": means(debiased, (5, N_PAIRS))}  # fmt: skip
    for unit in ("tag", "pair"):
        print(unit, found[unit]["labels"], found[unit]["wins_of_crf"], found[unit]["means"])
    found["other_settings"] = other_settings(train, dev, test, how["sentences"]["CRF"])
    return {**found, "pictures": {"queries": tags, "tables": pictures}}


def draw(found: dict[str, Any]) -> dict[str, Any]:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.5), layout="constrained", sharey=True)
    for ax, (name, queries) in zip(axes, found["pictures"]["queries"].items(), strict=True):
        AdaptiveCalibrationDisplay.from_queries(
            queries, bin_size=BIN_SIZE, ax=ax, legend=False, despine=True,
            curve_kwargs={"markersize": 4},
        )  # fmt: skip
        row = found["pooled"][name]
        ax.set_title(f"{name}: accuracy {row['accuracy']:.1%}, error {row['error']:.4f}")
    axes[1].set_ylabel("")
    figures = {"figure3": figure}
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 8), layout="constrained")
    for ax, unit, averages in ((axes[0], "tag", (5,)), (axes[1], "pair", (5, 100))):
        LabelCalibrationDisplay(found["pictures"]["tables"][unit]).plot(
            ax=ax, max_labels=30, averages=averages, despine=True, legend=unit == "tag"
        )
        ax.set_title(f"each {unit}, the most frequent first")
    figures["figure4"] = figure
    return figures


if __name__ == "__main__":
    main(__doc__, "matched", run, draw)
