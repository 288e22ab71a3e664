"""Section 6 of the paper: who attacks, and who speaks, by country and period.

A coreference model is trained on GUM. On GUM itself, in five folds, the events that
it finds are compared with those of the annotated entities: are the probabilities of
events right, and do the intervals of counts hold the true counts? On AMALGUM's news,
whose own coreference is ignored, events are counted and the time that takes is measured.
Attacks in the news over time are in `news.py`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Memory
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).parent))
from common import main, measure

from sklearn_calib import AdaptiveCalibrationDisplay
from sklearn_calib.coref import AntecedentModel, Document
from sklearn_calib.datasets import load_amalgum_news, load_gum
from sklearn_calib.explore import (
    AgentRule,
    CountPosterior,
    count_corpus,
    count_documents,
    country_lexicon,
    rule_queries,
)

VERBS = {
    "attack": ["attack"],
    "attack-like": [
        "attack",
        "bomb",
        "bombard",
        "raid",
        "shell",
        "shoot",
        "strike",
        "invade",
        "assault",
        "kill",
        "fire",
        "ambush",
    ],
    "say-like": [
        "say",
        "tell",
        "announce",
        "state",
        "claim",
        "declare",
        "warn",
        "add",
        "deny",
        "confirm",
        "report",
        "ask",
    ],
}
FOLDS = 5
ARTICLES = 193_403  # of the paper


def rules(documents: list[Document]) -> dict[str, AgentRule]:
    """Return the rules; the last takes any verb that occurs."""
    every = {
        lemma
        for document in documents
        for lemma, tag in zip(document.lemmas, document.upos, strict=True)
        if tag == "VERB"
    }
    lists = {**VERBS, "any verb": sorted(every)}
    return {name: AgentRule(country_lexicon(), verbs) for name, verbs in lists.items()}


def fit(documents: list[Document]) -> AntecedentModel:
    return AntecedentModel().fit(documents)


def held_out(documents: list[Document], n_samples: int, seed: int) -> tuple[list[Any], list[Any]]:
    """Return samples and best entities of each document, by a model that has not seen it."""
    samples: list[Any] = [None] * len(documents)
    best: list[Any] = [None] * len(documents)
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    for number, (train, test) in enumerate(folds.split(documents)):
        start = time.perf_counter()
        model = fit([documents[i] for i in train])
        some = [documents[i] for i in test]
        drawn = model.sample(some, n_samples, random_state=seed + number)
        for i, entities, chosen in zip(test, drawn, model.predict(some), strict=True):
            samples[i], best[i] = entities.astype(np.int16), chosen
        print(f"fold {number}: {time.perf_counter() - start:.0f} s", flush=True)
    return samples, best


def inside(low: Any, truth: Any, high: Any) -> Any:
    return (np.asarray(low) <= truth) & (truth <= np.asarray(high))


def coverage(post: CountPosterior, truth: CountPosterior) -> dict[str, Any]:
    """Return how often intervals hold the true count, where the model expects something."""
    assert truth.best is not None
    assert post.best is not None
    cells = post.mean >= 0.2  # chosen by the model alone, without a look at the truth
    row: dict[str, Any] = {"cells": cells.sum(), "true": truth.best[cells].sum()}
    for method in ("exact", "normal", "quantile"):
        low, high = post.confidence_interval(0.95, method=method)
        row[method] = inside(low, truth.best, high)[cells].mean()
        if method == "normal":
            row["normal_below_zero"] = (low < 0.0)[cells].mean()
    row["best_is_right"] = (post.best == truth.best)[cells].mean()
    return row


def summed(post: CountPosterior) -> Any:
    """Return the 95 % interval of the sum of all counts."""
    return np.quantile(post.samples.sum(axis=(1, 2)), [0.025, 0.975])


def best_hits(post: CountPosterior) -> set[tuple[int, int]]:
    """Return which document has which key in the single best structure."""
    assert post.hit_best is not None
    hits = zip(post.hit_document.tolist(), post.hit_key.tolist(), strict=True)
    return {hit for hit, times in zip(hits, post.hit_best.tolist(), strict=True) if times}


def gum(documents: list[Document], memory: Memory, n_samples: int, seed: int) -> dict[str, Any]:
    """Compare the events of held-out documents with those of the annotated entities."""
    samples, best = memory.cache(held_out)(documents, n_samples, seed)
    gold = [document.entities for document in documents]
    rows, curves = [], {}
    for name, rule in rules(documents).items():
        queries = rule_queries(documents, samples, rule)
        lists = {"keys": list(country_lexicon().entries), "period": lambda d: d.genre}
        model = count_documents(documents, samples, rule, best=best, **lists)
        truth = count_documents(documents, samples, rule, best=gold, **lists)
        row = {
            "verbs": name,
            "queries": len(queries),
            "true": truth.best.sum(),
            "never_sampled": truth.best.sum() - queries.y_true.sum(),
            "expected": model.mean.sum(),
            # Countries of one document depend on each other: sums are taken sample by sample.
            "total_interval": summed(model),
            "best": model.best.sum(),
            "best_right": len(best_hits(model) & best_hits(truth)),
            "brier": np.mean(np.square(queries.y_prob - queries.y_true)),
        }
        if len(queries) >= 40:
            row |= measure(queries, bin_size=20)
            row["by_genre"] = coverage(model, truth)
            whole = {"keys": lists["keys"], "period": None}
            row["by_country"] = coverage(
                count_documents(documents, samples, rule, best=best, **whole),
                count_documents(documents, samples, rule, best=gold, **whole),
            )
            curves[name] = queries
        rows.append(row)
        print({k: v for k, v in row.items() if not isinstance(v, dict)}, flush=True)
    return {"rows": rows, "curves": curves, "documents": len(documents)}


def by_class(post: CountPosterior, name: str) -> CountPosterior:
    """Return the counts of one list of verbs, by country, most common first."""
    chosen = post.select([key for key in post.most_common() if key[1] == name])
    return chosen.pool({key[0]: [key] for key in chosen.keys})


def news(
    train: list[Document], documents: list[Document], memory: Memory, n_samples: int, seed: int
) -> dict[str, Any]:
    """Count events in AMALGUM's news."""
    model = memory.cache(fit)(train)
    rule = AgentRule(country_lexicon(), VERBS, returns="pair")
    plain = [document.replace(entities=None) for document in documents]
    cpu, wall = time.process_time(), time.perf_counter()
    post = count_corpus(
        plain, model, rule, n_samples=n_samples, period="Y", random_state=seed, verbose=1
    )
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    start = time.process_time()
    for document in plain:
        rule.bind(document)
    binding = time.process_time() - start
    rows = []
    for name in VERBS:
        counts = by_class(post, name)
        low, high = counts.confidence_interval(0.95)
        cells = (counts.mean > 0) | (counts.best > 0)
        # A document counts once, whoever it was: countries of one document depend on each other.
        once = counts.pool({"anyone": counts.keys})
        total = {"mean": once.mean.sum(), "interval": summed(once), "best": once.best.sum()}
        events = {"mean": counts.mean.sum(), "interval": summed(counts), "best": counts.best.sum()}
        rows.append(
            {
                "verbs": name,
                "countries": len(counts.keys),
                "documents": total,
                "events": events,
                "cells": cells.sum(),
                "best_outside": (~inside(low, counts.best, high))[cells].mean(),
                "best_above_mean": (counts.best > counts.mean)[cells].mean(),
                "uncertain_hits": ((counts.hit_counts.mean(axis=1) > 0.05)
                                   & (counts.hit_counts.mean(axis=1) < 0.95)).sum(),
                "hits": len(counts.hit_key),
                "most_common": [
                    {
                        "country": key,
                        "mean": counts.mean[:, i].sum(),
                        "best": counts.best[:, i].sum(),
                        "interval": [float(end[0, 0]) for end in
                                     counts.select([key]).total().confidence_interval(0.95)],
                    }
                    for i, key in enumerate(counts.keys[:8])
                ],
                "most_uncertain": [
                    {"id": d.id, "key": str(d.key), "probability": d.probability,
                     "mentions": list(d.mentions[:4])}
                    for d in counts.most_uncertain(5)
                ],
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
    say = by_class(post, "say-like")
    exceeded = []
    for year in say.period_labels:
        found = say.difference("USA", "GBR", periods=year)
        exceeded.append({"year": year, "mean": found.mean, "probability": found.probability})
    mentions = [len(document) for document in documents]
    rate = len(documents) / cpu
    return {
        "rows": rows,
        "documents": len(documents),
        "mentions": np.mean(mentions),
        "n_samples": n_samples,
        "usa_above_gbr": exceeded,
        "speed": {
            "documents_a_second": rate,
            "wall_seconds": wall,
            "binding_share": binding / cpu,
            "hours_of_one_core": ARTICLES / rate / 3600,
            "hours_of_two_cores": ARTICLES / rate / 7200,
            "hours_of_ten_workers": ARTICLES / rate / 36000,
        },
    }


def run(options: argparse.Namespace) -> dict[str, Any]:
    memory = Memory(options.cache, verbose=0)
    annotated = load_gum(split="all", **options.loader).X
    found = {"gum": gum(annotated, memory, options.samples, options.seed)}
    articles = load_amalgum_news(**options.loader).X
    found["news"] = news(annotated, articles, memory, 100, options.seed)
    found["n_samples"] = options.samples
    return {**found, "pictures": {"curves": found["gum"].pop("curves")}}


def draw(found: dict[str, Any]) -> dict[str, Any]:
    curve = AdaptiveCalibrationDisplay.from_predictions(
        found["pictures"]["curves"]["any verb"], name="any verb"
    )
    return {
        "events_calibration": curve.figure_,
    }


if __name__ == "__main__":
    main(
        __doc__,
        "events",
        run,
        draw,
        samples={"type": int, "default": 1000, "help": "samples of each document of GUM"},
        cache={"default": None, "help": "folder in which fitted models are kept"},
    )
