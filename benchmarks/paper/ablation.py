"""Thesis, sections 4.1 and 4.2: better models, better calibration?

A hidden Markov model, a conditional random field that knows the words alone
(basic), and one that knows their neighbours, shapes, prefixes and suffixes too
(advanced). One question for each corpus: is this token NN (CoNLL-2000, 3,000
training sentences)? Is it V (ARK tweets)? The settings are chosen by accuracy on
other sentences. Beside each error stands the null: what the same model would show
if the tags came from itself, so that it were perfectly calibrated.

    python benchmarks/paper/ablation.py

takes about 8 minutes on one core, and leaves paper_ablation.json in
benchmarks/results/ and a figure in docs/_static/.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from common import BIN_SIZE, choose, main, measure, null_errors
from sklearn.metrics import get_scorer

from sklearn_calib import AdaptiveCalibrationDisplay, Queries
from sklearn_calib.datasets import load_ark_tweets, load_conll2000
from sklearn_calib.sequence import CRFTagger, HMMTagger

ITERATIONS = 100
TRAIN = 3000
N_DRAWS = 50


def hmm(value: float) -> HMMTagger:
    return HMMTagger(
        transition_pseudocount=value, emission_pseudocount=value, unknown="dirichlet"
    )  # fmt: skip


def crf(features: str, value: float) -> CRFTagger:
    return CRFTagger(features=features, c2=value, max_iterations=ITERATIONS)


MODELS: dict[str, Any] = {
    "HMM": ("pseudocount", [0.001, 0.01, 0.1, 1.0], hmm),
    "CRF-basic": ("c2", [0.003, 0.01, 0.1, 1.0], lambda value: crf("word", value)),
    "CRF-advanced": ("c2", [0.01, 0.03, 0.1, 0.3, 1.0], lambda value: crf("rich", value)),
}


def corpora(options: Any) -> dict[str, Any]:
    """Return the question, and training, development and test sentences."""
    news, news_test = (load_conll2000(split=s, **options.loader) for s in ("train", "test"))
    tweets = [load_ark_tweets(split=s, **options.loader) for s in ("train", "dev", "test")]
    return {
        "CoNLL-2000": (
            "NN",
            [
                (news.X[:TRAIN], news.y[:TRAIN]),
                (news.X[-1000:], news.y[-1000:]),
                (news_test.X, news_test.y),
            ],
        ),
        "ARK tweets": ("V", [(part.X, part.y) for part in tweets]),
    }


def run(options: Any) -> dict[str, Any]:
    scorer = get_scorer("neg_adaptive_bin_calibration_error")
    rows, grid = [], []
    pictures: dict[str, Any] = {}
    for corpus, (tag, (train, dev, test)) in corpora(options).items():
        pictures[corpus] = {}
        for name, (parameter, values, make) in MODELS.items():
            models = {value: make(value).fit(*train) for value in values}
            scores = {v: (model.score(*dev), scorer(model, *dev)) for v, model in models.items()}
            grid += [
                {"corpus": corpus, "model": name, "value": v, "accuracy": a, "error": -e}
                for v, (a, e) in scores.items()
            ]
            chosen = {
                "accuracy": choose(scores, lambda pair: pair[0]),
                "calibration": choose(scores, lambda pair: pair[1]),
            }
            for criterion, value in chosen.items():
                model = models[value]
                queries = model.calibration_queries(*test).where(label=tag)
                drawn = model.sample(test[0], N_DRAWS, random_state=options.seed)
                answers = np.concatenate([sentence == tag for sentence in drawn], axis=1)
                draws = (Queries(answer, queries.y_prob) for answer in answers)
                rows.append(
                    {
                        "corpus": corpus,
                        "tag": tag,
                        "model": name,
                        "chosen_by": criterion,
                        "parameter": parameter,
                        "value": value,
                        "accuracy": model.score(*test),
                        **measure(queries, seed=options.seed),
                        "null": null_errors(draws),
                    }
                )
                print({key: rows[-1][key] for key in list(rows[-1])[:10]}, flush=True)
                if criterion == "accuracy":
                    pictures[corpus][name] = queries
    return {
        "train": {"CoNLL-2000": TRAIN, "ARK tweets": 1000},
        "iterations": ITERATIONS,
        "draws": N_DRAWS,
        "rows": rows,
        "development": grid,
        "pictures": pictures,
    }


def draw(found: dict[str, Any]) -> dict[str, Any]:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 5.4), layout="constrained", sharey=True)
    for ax, (corpus, models) in zip(axes, found["pictures"].items(), strict=True):
        for name, queries in models.items():
            AdaptiveCalibrationDisplay.from_queries(
                queries, bin_size=BIN_SIZE, name=name, ax=ax, despine=True,
                curve_kwargs={"markersize": 4},
            )  # fmt: skip
        tag = next(row["tag"] for row in found["rows"] if row["corpus"] == corpus)
        ax.set_title(f"{corpus}: is this token {tag}?")
    axes[1].set_ylabel("")
    return {"ablation": figure}


if __name__ == "__main__":
    main(__doc__, "ablation", run, draw)
