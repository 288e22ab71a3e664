"""How sure is a tagger of a chunk? Exact probabilities of spans against the usual substitutes.

    python benchmarks/spans.py --data-home FOLDER      # CoNLL-2000 chunks

A tagger that gives marginals of tags is often asked for the confidence of a
whole chunk by their product, mean or smallest. The exact probability of the
chunk costs about as much. All four answer the same questions here, once about
every chunk whose probability is at least .01, and once about those of the best
tagging only, which is what such confidences are mostly shown for. Neither
choice looks at the truth.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np

from sklearn_calib import Queries, calibration_error_interval, compare_calibration
from sklearn_calib.datasets import load_conll2000
from sklearn_calib.queries import span_queries
from sklearn_calib.sequence import CRFTagger, HMMTagger

RESULTS = Path(__file__).parent / "results" / "spans.json"
MIN_PROBA = 0.01

MODELS = {
    "HMM": HMMTagger(emission_pseudocount=0.1),
    "CRF, word, c2 = 1": CRFTagger(features="word", c2=1.0),
    "CRF, rich, c2 = 0.1": CRFTagger(features="rich", c2=0.1, constraints="BIO"),
    "CRF, rich, c2 = 0.003": CRFTagger(
        features="rich", c2=0.003, max_iterations=200, constraints="BIO"
    ),
}

# What is done to a model before it is asked. A recalibrated model stands beside "raw" as one more
# entry: a function of an unfitted tagger and the training data that returns a fitted one.
TREATMENTS = {"raw": lambda tagger, X, y: tagger.fit(X, y)}

SUBSTITUTES = {"product of marginals": np.prod, "mean of marginals": np.mean, "smallest": np.min}


def tags_of(span):
    return [f"B-{span.label}", *[f"I-{span.label}"] * (span.stop - span.start - 1)]


def substitutes(tagger, X, spans):
    """Return the same spans with what each substitute makes of the marginals of their tags."""
    column = {tag: j for j, tag in enumerate(tagger.classes_.tolist())}
    proba, at = tagger.predict_proba(X), 0
    made = {name: [] for name in SUBSTITUTES}
    for tokens, own in zip(X, spans, strict=True):
        rows = [
            proba[np.arange(at + s.start, at + s.stop), [column[tag] for tag in tags_of(s)]]
            for s in own
        ]
        for name, reduce in SUBSTITUTES.items():
            scores = [float(reduce(row)) for row in rows]
            made[name].append([(*s[:3], p) for s, p in zip(own, scores, strict=True)])
        at += len(tokens)
    return made


def best_spans(tagger, X, spans):
    """Keep the spans that the most probable tagging holds."""
    kept = []
    for tags, own in zip(tagger.predict(X), spans, strict=True):
        tags = [*tags, "O"]
        kept.append(
            [
                s
                for s in own
                if tags[s.start : s.stop] == tags_of(s) and tags[s.stop] != f"I-{s.label}"
            ]
        )
    return kept


def brier(queries: Queries) -> np.ndarray:
    return (queries.y_prob - queries.y_true) ** 2


def mean_interval(values, groups):
    """Return a mean and its 95 % interval; whole sentences vary together."""
    mean = float(values.mean())
    sums = np.bincount(groups, weights=values - mean)
    error = float(np.sqrt(np.square(sums).sum())) / len(values)
    return [mean, mean - 1.96 * error, mean + 1.96 * error]


def measure(queries: Queries, exact: Queries) -> dict:
    interval = calibration_error_interval(queries)
    found = {
        "n": len(queries),
        "true": int(queries.y_true.sum()),
        "brier": mean_interval(brier(queries), queries.group),
        "error": interval.error,
        "interval": list(interval.confidence_interval),
        "overconfidence": interval.mean_overconfidence,
    }
    if queries is not exact:
        found["brier_over_exact"] = mean_interval(brier(queries) - brier(exact), queries.group)
        found["pvalue"] = compare_calibration(queries, exact).pvalue
    return found


def f1(tagger, X, y):
    """Return chunk F1 of the best tagging, and how many of its tags continue nothing."""
    predicted = tagger.predict(X)
    inside = [
        tags[t]
        for tags in predicted
        for t in range(len(tags))
        if tags[t].startswith("I-") and (t == 0 or tags[t - 1] not in (tags[t], f"B-{tags[t][2:]}"))
    ]
    # The chunks of a tagging are the chunks of which that tagging is certain.
    certain = [[(*s, 1.0) for s in chunks(tags)] for tags in predicted]
    right = int(span_queries(y, certain).y_true.sum())
    n_predicted, n_true = sum(map(len, certain)), sum(len(chunks(tags)) for tags in y)
    return 2 * right / (n_predicted + n_true), len(inside)


def chunks(tags):
    """Return start, stop and type of the chunks of BIO tags."""
    found = []
    for t, tag in enumerate(tags):
        if tag.startswith("B-"):
            stop = t + 1
            while stop < len(tags) and tags[stop] == f"I-{tag[2:]}":
                stop += 1
            found.append((t, stop, tag[2:]))
    return found


def run(data_home, n_train):
    load = {"tags": "chunk", "data_home": data_home, "download": data_home is None}
    train, test = load_conll2000(split="train", **load), load_conll2000(split="test", **load)
    X, y = train.X[:n_train], train.y[:n_train]
    rows = []
    for model, estimator in MODELS.items():
        for treatment, fit in TREATMENTS.items():
            start = time.perf_counter()
            tagger = fit(estimator, X, y)
            score, loose = f1(tagger, test.X, test.y)
            spans = tagger.predict_spans(test.X, min_proba=MIN_PROBA)
            asked = tagger.calibration_questions(test.X, unit="span", min_proba=MIN_PROBA)
            row = {
                "model": model,
                "treatment": treatment,
                "f1": score,
                "loose_tags": loose,
                "missed_share": asked.missed_share(test.y),
                "asked": {},
            }
            for choice, own in (
                ("all", spans),
                ("best tagging", best_spans(tagger, test.X, spans)),
            ):
                exact = span_queries(test.y, own)
                measured = {"exact": measure(exact, exact)}
                for name, other in substitutes(tagger, test.X, own).items():
                    measured[name] = measure(span_queries(test.y, other), exact)
                row["asked"][choice] = measured
            row["seconds"] = round(time.perf_counter() - start)
            rows.append(row)
            print(json.dumps(row, indent=1))
    return {
        "corpus": "CoNLL-2000",
        "sentences": {"train": len(X), "test": len(test.X)},
        "min_proba": MIN_PROBA,
        "rows": rows,
        "python": platform.python_version(),
    }


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return round(value, 6) if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", help="folder with the CoNLL-2000 files")
    parser.add_argument("--train", type=int, help="number of training sentences; all by default")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    found = run(options.data_home, options.train)
    options.out.write_text(json.dumps(rounded(found), indent=1) + "\n")


if __name__ == "__main__":
    main()
