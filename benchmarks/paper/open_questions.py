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
matched.py, which must have run before; those of the tweets are chosen as in ablation.py.
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
SAMPLES = 200
LEAST = 1.0  # counts that the raw model expects at least so often


def taggers(options: Any) -> dict[str, Any]:
    """Return fitted taggers with the sentences to recalibrate and to test them."""
    train, dev, test = corpus(options.loader)
    chosen = json.loads((RESULTS / "paper_matched.json").read_text("utf-8"))
    n = chosen["sentences"]["CRF"]
    hmm = HMMTagger(unknown="dirichlet").fit(*train)
    found = {
        "CoNLL-2000, HMM": (hmm, dev, test),
        "CoNLL-2000, CRF": (crf(chosen["c2"]).fit(train[0][:n], train[1][:n]), dev, test),
    }
    tweets = [load_ark_tweets(split=s, **options.loader) for s in ("train", "dev", "test")]
    train, dev, test = ((part.X, part.y) for part in tweets)
    for name, tagger in {
        "tweets, HMM": HMMTagger(
            transition_pseudocount=0.1, emission_pseudocount=0.1, unknown="dirichlet"
        ),
        "tweets, CRF-basic": CRFTagger(c2=1.0, max_iterations=100),
        "tweets, CRF-advanced": CRFTagger(features="rich", c2=0.01, max_iterations=100),
    }.items():
        found[name] = (tagger.fit(*train), dev, test)
    return found


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
    classes = model.classes_.tolist()
    column = {tag: j for j, tag in enumerate(classes)}
    block = np.arange(len(X)) * BLOCKS // len(X)
    of_token = np.repeat(block, [len(sentence) for sentence in X])

    def table(tags: Any) -> Any:
        codes = np.array([column.get(tag, len(classes)) for tag in tags])
        cells = np.zeros((BLOCKS, len(classes) + 1))
        np.add.at(cells, (of_token, codes), 1)
        return cells[:, :-1]

    def flat(sentences: Any) -> Any:
        return [tag for sentence in sentences for tag in sentence]

    expected = np.zeros((BLOCKS, len(classes)))
    np.add.at(expected, of_token, model.predict_proba(X))
    drawn = model.sample(X, SAMPLES, random_state=seed)
    samples = np.stack([table(flat(sentence[i] for sentence in drawn)) for i in range(SAMPLES)])
    return {
        "true": table(flat(y)),
        "expected": expected,
        "best": table(flat(model.predict(X))),
        "spread": samples.std(axis=0, ddof=1),
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


def run(options: Any) -> dict[str, Any]:
    rng = np.random.default_rng(options.seed)
    settings = [("rare", "slope"), ("rare", "shift"), ("even", "slope")]
    simulated = [
        coverage(law, kind, strength, n, rng)
        for law, kind in settings
        for strength in STRENGTHS[kind]
        for n in DOCUMENTS
    ]
    rows = []
    for name, parts in taggers(options).items():
        rows += study_tagger(name, parts, options.seed)
    return {
        "corpora": CORPORA,
        "truths": TRUTHS,
        "coverage": simulated,
        "blocks": BLOCKS,
        "samples": SAMPLES,
        "taggers": rows,
    }


def draw(found: dict[str, Any]) -> dict[str, Any]:
    import matplotlib.pyplot as plt

    titles = {
        ("rare", "slope"): "events rare, too bold or too timid",
        ("rare", "shift"): "events rare, too high or too low",
        ("even", "slope"): "yes and no alike, bold or timid",
    }
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained", sharey=True)
    for ax, (key, title) in zip(axes, titles.items(), strict=True):
        some = [row for row in found["coverage"] if (row["law"], row["distortion"]) == key]
        for n, colour in zip(DOCUMENTS, ("#56B4E9", "#0072B2", "#D55E00"), strict=True):
            rows = sorted((r for r in some if r["documents"] == n), key=lambda row: row["error"])
            ax.plot([row["error"] for row in rows], [row["exact"] for row in rows], "o-",
                    markersize=4, color=colour, label=f"{n:,} documents")  # fmt: skip
        ax.axhline(0.95, color="black", linestyle="--", linewidth=1)
        ax.set(title=title, xlabel="calibration error", ylim=(0, 1.03))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("95 % intervals that hold the count")
    axes[0].legend(frameon=False)
    return {"open_questions": figure}


if __name__ == "__main__":
    main(__doc__, "open_questions", run, draw)
