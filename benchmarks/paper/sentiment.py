"""Section 4.1: is a tweet happy? Naive Bayes against logistic regression.

The paper asks both models whether a tweet is happy or sad, by its words; the
truth is the emoticon that was cut out. Naive Bayes counts words that go together
as independent evidence and becomes overconfident; logistic regression does not.

The tweets here are a random sample of 20,000 of Sentiment140: 8,000 to train,
2,000 to choose the smoothing and the regularisation, 10,000 to test. Features are
which words occur. Each model is shown as it comes (add-one smoothing, C = 1), and
as chosen by F1 and by calibration error on the 2,000. Run with

    python benchmarks/paper/sentiment.py

which takes about ten seconds and leaves paper_sentiment.json in
benchmarks/results/ and Figure 2 in docs/_static/.
"""

from __future__ import annotations

from typing import Any

from common import choose, independent_draws, main, measure, null_errors
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, get_scorer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from sklearn_calib import AdaptiveCalibrationDisplay, Queries, compare_calibration
from sklearn_calib.datasets import load_sentiment140

GRIDS: dict[str, Any] = {
    "naive Bayes": (
        "alpha", [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0], lambda value: MultinomialNB(alpha=value),
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
                    **measure(queries, seed=options.seed),
                    "null": null_errors(independent_draws(queries.y_prob)),
                }
            )
            print({key: rows[-1][key] for key in ("model", "chosen_by", "value", "f1", "error")})
            if criterion == "default":
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
            queries, bin_size=200, ax=ax, consistency=True, legend=False, despine=True
        )
        row = next(r for r in found["rows"] if r["model"] == name)
        ax.set_title(f"{name}: calibration error {row['error']:.3f}")
    axes[1].set_ylabel("")
    return {"figure2": figure}


if __name__ == "__main__":
    main(__doc__, "sentiment", run, draw)
