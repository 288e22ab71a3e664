"""Section 7: three questions that the paper leaves open, each with an experiment.

1. In what sense are intervals of counts good when calibration is perfect? Documents with
   known probabilities are simulated; the answers follow them, or a distortion of them.
   How often does the 95 % interval of a count hold the true count, for 20, 200 and 2,000
   documents in a period?
2. Does calibration help decoding? The tag with the largest marginal (minimum Bayes risk
   for the number of wrong tags) against the Viterbi path, for taggers as they are and
   after recalibration on development sentences.
3. Does recalibration help the counts? The test sentences are cut into blocks. How often
   do intervals of the number of each tag in a block hold the true number, before and
   after, and how far off is the expected number?

    python benchmarks/paper/open_questions.py

takes about five minutes on one core, and leaves paper_open_questions.json in
benchmarks/results/ and a figure in docs/_static/. The taggers of CoNLL-2000 are those of
matched.py, which must have run before. --only runs some parts and keeps the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from common import RESULTS, main
from matched import corpus, crf
from scipy import special
from sklearn.frozen import FrozenEstimator

from sklearn_calib import CalibratedStructureCV, calibration_error_interval
from sklearn_calib.datasets import load_ark_tweets
from sklearn_calib.explore import counts_from_probabilities
from sklearn_calib.sequence import CRFTagger, HMMTagger

# --- the first question

DOCUMENTS = (20, 200, 2000)
LAWS = {"rare": (0.1, 0.9), "even": (0.5, 0.5)}
STRENGTHS = {
    "slope": [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0],
    "shift": [-1.0, -0.6, -0.3, -0.1, 0.0, 0.1, 0.3, 0.6, 1.0],
}
CORPORA = 40
TRUTHS = 250

Distortion = Callable[[Any, float], Any]
DISTORTIONS: dict[str, Distortion] = {
    "slope": lambda p, strength: special.expit(strength * special.logit(p)),
    "shift": lambda p, strength: special.expit(special.logit(p) + strength),
}


def coverage(law: str, kind: str, strength: float, n: int, rng: Any) -> dict[str, Any]:
    """Return how often the intervals of a period of n documents hold the true count."""
    held = {"exact": 0.0, "normal": 0.0}
    errors, gaps, widths = [], [], []
    for _ in range(CORPORA):
        p = np.clip(rng.beta(*LAWS[law], size=n), 1e-12, 1 - 1e-12)
        truth = DISTORTIONS[kind](p, strength)
        counts = rng.random((TRUTHS, n)) < truth
        total = counts.sum(axis=1)
        post = counts_from_probabilities(p, period=None)
        for method in held:
            low, high = (float(end[0, 0]) for end in post.confidence_interval(0.95, method=method))
            held[method] += np.mean((low <= total) & (total <= high)) / CORPORA
            if method == "exact":
                widths.append(high - low)
        errors.append(np.mean(np.square(p - truth)))
        gaps.append(np.mean(p - truth))
    return {
        "law": law,
        "distortion": kind,
        "strength": strength,
        "documents": n,
        "error": np.sqrt(np.mean(errors)),
        "mean_gap": np.mean(gaps),
        "width": np.mean(widths),
        **held,
    }


# --- the second and the third question

BLOCKS = 20
SAMPLES = 100
LEAST = 1.0  # counts that the raw model expects at least so often


def news_tagger(kind: str, options: Any) -> Any:
    """Return a tagger of matched.py with the sentences to recalibrate and to test it."""
    train, dev, test = corpus(options.loader)
    if kind == "HMM":
        return HMMTagger(unknown="dirichlet").fit(*train), dev, test
    chosen = json.loads((RESULTS / "paper_matched.json").read_text("utf-8"))
    n = chosen["sentences"]["CRF"]
    return crf(chosen["c2"]).fit(train[0][:n], train[1][:n]), dev, test


def tweet_tagger(tagger: Any, options: Any) -> Any:
    """Return a tagger of tweets with the tweets to recalibrate and to test it."""
    parts = [load_ark_tweets(split=s, **options.loader) for s in ("train", "dev", "test")]
    train, dev, test = ((part.X, part.y) for part in parts)
    return tagger.fit(*train), dev, test


TAGGERS: dict[str, Callable[[Any], Any]] = {
    "CoNLL-2000, HMM": lambda options: news_tagger("HMM", options),
    "CoNLL-2000, CRF": lambda options: news_tagger("CRF", options),
    "tweets, HMM": lambda options: tweet_tagger(
        HMMTagger(transition_pseudocount=0.1, emission_pseudocount=0.1, unknown="dirichlet"),
        options,
    ),
    "tweets, CRF-basic": lambda options: tweet_tagger(
        CRFTagger(c2=1.0, max_iterations=100), options
    ),
    "tweets, CRF-advanced": lambda options: tweet_tagger(
        CRFTagger(features="rich", c2=0.01, max_iterations=100), options
    ),
}
SIMULATION = "simulation"


def decoding(model: Any, test: Any) -> dict[str, Any]:
    """Return the accuracy of the best path and of the best tag of each token."""
    X, y = test
    right = {
        method: [
            np.asarray(tags) == np.asarray(gold)
            for tags, gold in zip(model.predict(X, method=method), y, strict=True)
        ]
        for method in ("viterbi", "marginal")
    }
    tokens = {method: np.concatenate(found) for method, found in right.items()}
    # The difference by sentence, which is one observation.
    more = np.array(
        [b.sum() - a.sum() for a, b in zip(right["viterbi"], right["marginal"], strict=True)]
    )
    return {
        **{method: found.mean() for method, found in tokens.items()},
        "sentences": {
            method: np.mean([part.all() for part in found]) for method, found in right.items()
        },
        "gain": more.sum() / len(tokens["viterbi"]),
        "gain_error": np.sqrt(np.sum(np.square(more - more.mean()))) / len(tokens["viterbi"]),
    }


def block_counts(model: Any, test: Any, seed: int) -> dict[str, Any]:
    """Return the true, expected, drawn and single best number of each tag in each block."""
    X, y = test
    classes = np.asarray(model.classes_)
    block = np.arange(len(X)) * BLOCKS // len(X)
    of_token = np.repeat(block, [len(sentence) for sentence in X])

    def table(tags: Any) -> Any:
        """Count tags, one row of them for each sample, by block."""
        tags = np.atleast_2d(tags)
        place = np.minimum(np.searchsorted(classes, tags), len(classes) - 1)
        known = classes[place] == tags
        sample = np.arange(len(tags))[:, None]
        cell = (sample * BLOCKS + of_token) * len(classes) + place
        counts = np.bincount(cell[known], minlength=len(tags) * BLOCKS * len(classes))
        return counts.reshape(len(tags), BLOCKS, len(classes))

    proba = model.predict_proba(X)
    expected = np.stack([proba[of_token == k].sum(axis=0) for k in range(BLOCKS)])
    drawn = np.concatenate(model.sample(X, SAMPLES, random_state=seed), axis=1)
    return {
        "true": table(np.concatenate(y))[0],
        "expected": expected,
        "best": table(np.concatenate(model.predict(X)))[0],
        "spread": table(drawn).std(axis=0, ddof=1),
    }


def compare_counts(found: dict[str, Any], cells: Any) -> dict[str, Any]:
    """Return how good the intervals and the counts are over the chosen cells."""
    gap = (found["expected"] - found["true"])[cells]
    spread = found["spread"][cells]
    best = (found["best"] - found["true"])[cells]
    return {
        "cells": int(cells.sum()),
        "covered": np.mean(np.abs(gap) <= 1.96 * spread),
        "width": np.mean(2 * 1.96 * spread),
        "rmse": np.sqrt(np.mean(np.square(gap))),
        "rmse_of_best": np.sqrt(np.mean(np.square(best))),
    }


def study_tagger(name: str, parts: Any, seed: int) -> list[dict[str, Any]]:
    model, dev, test = parts
    treatments = {"raw": model}
    for method in ("temperature", "scaling"):
        mended = CalibratedStructureCV(FrozenEstimator(model), method=method).fit(*dev)
        treatments[method] = mended
    rows, cells = [], None
    for treatment, tagger in treatments.items():
        counts = block_counts(tagger, test, seed)
        cells = counts["expected"] >= LEAST if cells is None else cells
        ours = calibration_error_interval(tagger.calibration_queries(*test))
        rows.append(
            {
                "tagger": name,
                "treatment": treatment,
                "error": ours.error,
                "interval": ours.confidence_interval,
                "decoding": decoding(tagger, test),
                "counts": compare_counts(counts, cells),
            }
        )
        print(rows[-1], flush=True)
    return rows


def simulate(seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    settings = [("rare", "slope"), ("rare", "shift"), ("even", "slope")]
    return [
        coverage(law, kind, strength, n, rng)
        for law, kind in settings
        for strength in STRENGTHS[kind]
        for n in DOCUMENTS
    ]


def run(options: Any) -> dict[str, Any]:
    path = options.out / "paper_open_questions.json"
    parts = json.loads(path.read_text("utf-8")) if options.only and path.exists() else {}
    found: dict[str, Any] = {
        "corpora": CORPORA,
        "truths": TRUTHS,
        "coverage": parts.get("coverage", []),
        "blocks": BLOCKS,
        "samples": SAMPLES,
        "taggers": parts.get("taggers", []),
    }
    wanted = options.only or [SIMULATION, *TAGGERS]
    if SIMULATION in wanted:
        found["coverage"] = simulate(options.seed)
    for name, make in TAGGERS.items():
        if name in wanted:
            rows = study_tagger(name, make(options), options.seed)
            found["taggers"] = [row for row in found["taggers"] if row["tagger"] != name] + rows
    order = list(TAGGERS)
    found["taggers"].sort(key=lambda row: order.index(row["tagger"]))
    return found


def draw(found: dict[str, Any]) -> dict[str, Any]:
    import matplotlib.pyplot as plt

    if not found["coverage"]:
        return {}
    titles = {
        ("rare", "slope"): ("rare events", "too bold  ←  calibration error  →  too timid", 1.0),
        ("rare", "shift"): ("rare events", "too high  ←  calibration error  →  too low", 0.0),
        ("even", "slope"): (
            "yes and no alike",
            "too bold  ←  calibration error  →  too timid",
            1.0,
        ),
    }
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained", sharey=True)
    for ax, (key, (title, label, neutral)) in zip(axes, titles.items(), strict=True):
        some = [row for row in found["coverage"] if (row["law"], row["distortion"]) == key]
        for n, colour in zip(DOCUMENTS, ("#56B4E9", "#0072B2", "#D55E00"), strict=True):
            rows = sorted((r for r in some if r["documents"] == n), key=lambda r: r["strength"])
            x = [row["error"] * np.sign(row["strength"] - neutral) for row in rows]
            ax.plot(x, [row["exact"] for row in rows], "o-", markersize=4, color=colour,
                    label=f"{n:,} documents")  # fmt: skip
        ax.axhline(0.95, color="black", linestyle="--", linewidth=1)
        ax.xaxis.set_major_formatter(lambda value, _: f"{abs(value):.2g}")
        ax.set(title=title, xlabel=label, ylim=(0, 1.03))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("95 % intervals that hold the count")
    axes[2].legend(frameon=False, loc="lower center")
    return {"open_questions": figure}


if __name__ == "__main__":
    main(
        __doc__, "open_questions", run, draw,
        only={"nargs": "+", "choices": [SIMULATION, *TAGGERS],
              "help": "some parts alone; the others are kept as they are"},
    )  # fmt: skip
