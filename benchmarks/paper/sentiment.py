"""Section 4.1: is a tweet happy? Naive Bayes against logistic regression.

The paper asks both models whether a tweet is happy, by its words; the truth is the
emoticon that was cut out. Features are which words occur, naive Bayes is the Bernoulli
model, and smoothing and regularisation are those with the best F1 on development
tweets.

The tweets here are a random sample of 20,000 of Sentiment140: 8,000 to train, 2,000 to
choose, 10,000 to test, where the paper had 100,000 of each. Its bins of 5,000 make 20
bins of its test tweets; bins of 500 make 20 of ours. Each model is also shown as it
comes (add-one smoothing, C = 1), and as chosen by calibration error. Run with

    python benchmarks/paper/sentiment.py

which takes about ten seconds and leaves paper_sentiment.json in benchmarks/results/
and Figure 2 in docs/_static/.
"""

from __future__ import annotations

from typing import Any

from common import choose, independent_draws, main, measure, null_errors, sides
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, get_scorer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from sklearn_calib import AdaptiveCalibrationDisplay, Queries, compare_calibration
from sklearn_calib.datasets import load_sentiment140

BIN_SIZE = 500
GRIDS: dict[str, Any] = {
    "naive Bayes": (
        "alpha", [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0], lambda value: BernoulliNB(alpha=value),
    ),
    "logistic regression": (
        "C", [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0],
        lambda value: LogisticRegression(C=value, max_iter=1000),
    ),
}  # fmt: skip


def words() -> CountVectorizer:
    """Return the features: which words and signs occur, and never how often."""
    return CountVectorizer(binary=True, token_pattern=r"[@#]?\w[\w']*|[^\w\s]+")


def run(options: Any) -> dict[str, Any]:
    tweets = load_sentiment140(**options.loader)
    X, X_rest, y, y_rest = train_test_split(
        tweets.X, tweets.y, test_size=12_000, random_state=options.seed
    )
    X_dev, X_test, y_dev, y_test = train_test_split(
        X_rest, y_rest, test_size=10_000, random_state=options.seed
    )

    def f1(model: Any) -> float:
        return f1_score(y_dev, model.predict(X_dev))

    scorer = get_scorer("neg_adaptive_bin_calibration_error")

    def calibration(model: Any) -> float:
        return scorer(model, X_dev, y_dev)

    rows: list[dict[str, Any]] = []
    pictures = {}
    for name, (parameter, values, make) in GRIDS.items():
        models = {value: make_pipeline(words(), make(value)).fit(X, y) for value in values}
        chosen = {
            "default": 1.0,
            "F1": choose(models, f1),
            "calibration": choose(models, calibration),
        }
        for criterion, value in chosen.items():
            predicted = models[value].predict(X_test)
            queries = Queries(y_test, models[value].predict_proba(X_test)[:, 1])
            rows.append(
                {
                    "model": name,
                    "chosen_by": criterion,
                    "parameter": parameter,
                    "value": value,
                    "f1": f1_score(y_test, predicted),
                    "accuracy": accuracy_score(y_test, predicted),
                    **measure(queries, bin_size=BIN_SIZE, seed=options.seed),
                    "null": null_errors(independent_draws(queries.y_prob), BIN_SIZE),
                    "sides": sides(queries, BIN_SIZE),
                }
            )
            print({key: rows[-1][key] for key in ("model", "chosen_by", "value", "f1", "error")})
            if criterion == "F1":
                pictures[name] = queries
    first, second = pictures.values()
    comparison = compare_calibration(y_test, first.y_prob, second.y_prob)
    return {
        "corpus": tweets.name,
        "sizes": {"train": len(X), "dev": len(X_dev), "test": len(X_test)},
        "rows": rows,
        "pvalue_of_equal_errors": comparison.pvalue,
        "pictures": pictures,
    }


def draw(found: dict[str, Any]) -> dict[str, Any]:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4.7), layout="constrained", sharey=True)
    for ax, (name, queries) in zip(axes, found["pictures"].items(), strict=True):
        AdaptiveCalibrationDisplay.from_queries(
            queries, bin_size=BIN_SIZE, ax=ax, consistency=True, legend=False, despine=True
        )
        row = next(r for r in found["rows"] if (r["model"], r["chosen_by"]) == (name, "F1"))
        ax.set_title(f"{name}: calibration error {row['error']:.3f}")
    axes[1].set_ylabel("")
    return {"figure2": figure}


if __name__ == "__main__":
    main(__doc__, "sentiment", run, draw)
