"""How sure is a tagger of a chunk? Exact probabilities of spans against the usual substitutes.

    python benchmarks/spans.py --data-home FOLDER      # CoNLL-2000 chunks

A tagger that gives marginals of tags is often asked for the confidence of a
whole chunk by their product, mean or smallest. The exact probability of the
chunk costs about as much. All four answer the same questions here, once about
every chunk whose probability is at least .01, and once about those of the best
tagging only, which is what such confidences are mostly shown for. Neither
choice looks at the truth.

Every tagger is asked as it was trained and after each method of
CalibratedStructureCV. Recalibration changes which chunks reach .01; it is
therefore compared with the raw tagger on the chunks that reach it in either.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone

from sklearn_calib import Queries, calibration_error_interval, compare_calibration
from sklearn_calib.datasets import load_conll2000
from sklearn_calib.queries import span_queries
from sklearn_calib.recalibration._families import recalibrate
from sklearn_calib.recalibration._held_out import held_out_models
from sklearn_calib.sequence import CRFTagger, HMMTagger

RESULTS = Path(__file__).parent / "results" / "spans.json"
MIN_PROBA = 0.01
# Where one tagger says .01, another that says less than this might as well have said 0.
NEXT_TO_NOTHING = 1e-6

# Training of a CRF stops after so many iterations, each of the five folds included.
ITERATIONS = 100
MODELS = {
    "HMM": HMMTagger(emission_pseudocount=0.1),
    "CRF, word, c2 = 1": CRFTagger(features="word", c2=1.0, max_iterations=ITERATIONS),
    "CRF, rich, c2 = 0.1": CRFTagger(
        features="rich", c2=0.1, max_iterations=ITERATIONS, constraints="BIO"
    ),
    "CRF, rich, c2 = 0.003": CRFTagger(
        features="rich", c2=0.003, max_iterations=ITERATIONS, constraints="BIO"
    ),
}

# What is done to a tagger before it is asked: nothing, or a method of CalibratedStructureCV.
TREATMENTS = ("raw", "temperature", "scaling", "isotonic")

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


def either(raw, mended, X):
    """Return the spans that are probable enough in either tagger, as each of the two sees them."""
    seen = [
        [
            {s[:3]: s.proba for s in own}
            for own in tagger.predict_spans(X, min_proba=NEXT_TO_NOTHING)
        ]
        for tagger in (raw, mended)
    ]
    asked = [
        sorted({span for own in pair for span, proba in own.items() if proba >= MIN_PROBA})
        for pair in zip(*seen, strict=True)
    ]
    return [
        [
            [(*span, own.get(span, 0.0)) for span in spans]
            for own, spans in zip(sentences, asked, strict=True)
        ]
        for sentences in seen
    ]


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


def treated(estimator, X, y):
    """Yield a tagger as it was trained, and after each method, from the same five folds.

    CalibratedStructureCV would give the same, and train the folds anew for each method.
    """
    fitted = clone(estimator).fit(X, y)
    yield "raw", fitted, None
    held_out = held_out_models(
        estimator, X, y, cv=None, groups=None, weight=None, fit_options={}, n_jobs=None
    )
    for method in TREATMENTS[1:]:
        options = {"unit": "span", "min_proba": MIN_PROBA} if method == "isotonic" else {}
        mended, _ = recalibrate(fitted, held_out, method, options)
        # Isotonic maps mend answers, and leave the tagger as it was.
        yield (method, fitted, mended.maps) if method == "isotonic" else (method, mended, None)


def ask(tagger, maps, X, y):
    """Return the numbers of all answers about both choices of spans."""
    spans = tagger.predict_spans(X, min_proba=MIN_PROBA)
    asked = {}
    for choice, own in (("all", spans), ("best tagging", best_spans(tagger, X, spans))):
        exact = span_queries(y, own)
        if maps is not None:
            mended = maps.queries(exact)
            asked[choice] = {"exact": measure(mended, mended)}
            continue
        asked[choice] = {"exact": measure(exact, exact)}
        for name, other in substitutes(tagger, X, own).items():
            asked[choice][name] = measure(span_queries(y, other), exact)
    return asked


def against_raw(raw, tagger, maps, X, y):
    """Return by how much recalibration lowers the Brier score, on the same spans."""
    if maps is None:
        before, after = (span_queries(y, spans) for spans in either(raw, tagger, X))
    else:
        before = span_queries(y, raw.predict_spans(X, min_proba=MIN_PROBA))
        after = maps.queries(before)
    change = compare_calibration(before, after)
    return {
        "n": len(before),
        "brier": [float(brier(queries).mean()) for queries in (before, after)],
        "brier_change": mean_interval(brier(after) - brier(before), before.group),
        "errors": [change.error_a, change.error_b],
        "pvalue": change.pvalue,
    }


def run(data_home, n_train, only=None):
    load = {"tags": "chunk", "data_home": data_home, "download": data_home is None}
    train, test = load_conll2000(split="train", **load), load_conll2000(split="test", **load)
    X, y = train.X[:n_train], train.y[:n_train]
    rows = []
    for model, estimator in MODELS.items():
        if only not in (None, model):
            continue
        start = time.perf_counter()
        for treatment, tagger, maps in treated(estimator, X, y):
            if treatment == "raw":
                raw = tagger
            score, loose = f1(tagger, test.X, test.y)
            asked = tagger.calibration_questions(test.X, unit="span", min_proba=MIN_PROBA)
            row = {
                "model": model,
                "treatment": treatment,
                "f1": score,
                "loose_tags": loose,
                "missed_share": asked.missed_share(test.y),
                "asked": ask(tagger, maps, test.X, test.y),
            }
            if treatment != "raw":
                row["against_raw"] = against_raw(raw, tagger, maps, test.X, test.y)
            row["seconds"] = round(time.perf_counter() - start)
            rows.append(row)
            print(json.dumps(row), flush=True)
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
    parser.add_argument("--train", type=int, default=4000, help="number of training sentences")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--only", choices=MODELS, help="one model; keep the rows of the others")
    options = parser.parse_args()
    found = run(options.data_home, options.train, options.only)
    if options.only is not None:
        known = json.loads(options.out.read_text())
        if any(known[key] != found[key] for key in ("sentences", "min_proba")):
            parser.error(f"{options.out} was made with other sentences: run all models")
        rows = {(row["model"], row["treatment"]): row for row in known["rows"] + found["rows"]}
        order = [(model, treatment) for model in MODELS for treatment in TREATMENTS]
        found["rows"] = [rows[key] for key in order if key in rows]
    options.out.write_text(json.dumps(rounded(found), indent=1) + "\n")


if __name__ == "__main__":
    main()
