"""How fast are exact marginals? Against CRFsuite, hmmlearn and two matrix products.

    python benchmarks/sequence_speed.py --data-home FOLDER     # CoNLL-2000
    python benchmarks/sequence_speed.py                        # simulated sentences

Everything runs in one process and in turn, round after round; a time is CPU
time of one thread, the best of the rounds, so that only ratios matter.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from sklearn_calib.datasets import load_conll2000, make_chunked_sequences, make_tagged_sequences
from sklearn_calib.sequence import (
    CRFTagger,
    HMMTagger,
    forward_backward,
    k_best_sequences,
    sample_sequences,
    span_probabilities,
    viterbi,
)
from sklearn_calib.sequence._token_features import FEATURES

RESULTS = Path(__file__).parent / "results" / "sequence_speed.json"
TOKENS = 33_306
TAGS = 47


def corpus(data_home):
    """Return training and test sentences, and what they are."""
    if data_home is not None:
        train = load_conll2000(split="train", data_home=data_home, download=False)
        test = load_conll2000(split="test", data_home=data_home, download=False)
        X, n = [], 0
        for sentence in test.X:
            if n + len(sentence) > TOKENS:
                break
            X.append(sentence)
            n += len(sentence)
        return train.X[:3000], train.y[:3000], X, "CoNLL-2000"
    data = make_tagged_sequences(
        4000, n_tags=TAGS, n_words=8000, mean_length=24, word_concentration=0.02, random_state=0
    )
    return data.X[:2600], data.y[:2600], data.X[2600:], "simulated"


def best_times(functions, rounds):
    """Return the best CPU time of each function; a slow one sits out later rounds."""
    best = {}
    for turn in range(rounds):
        for name, function in functions.items():
            if turn > 1 and best[name] > 0.5:
                continue
            # As timeit does: a collection belongs to all that lives, not to whom it strikes.
            gc.disable()
            start = time.process_time()
            function()
            spent = time.process_time() - start
            gc.enable()
            best[name] = min(best.get(name, np.inf), spent)
    return best


def flat(marginals, classes):
    return np.array([[token[c] for c in classes] for row in marginals for token in row])


def measure_lattice(rounds):
    """Return times from potentials, and how they grow with the number of tokens."""
    rng = np.random.default_rng(0)
    lengths = np.maximum(1, rng.gamma(4.0, 6.0, size=1400).astype(int))
    lengths = lengths[: np.searchsorted(np.cumsum(lengths), TOKENS)]
    n = int(lengths.sum())
    potentials, transitions = 3 * rng.normal(size=(n, TAGS)), rng.normal(size=(TAGS, TAGS))
    weights, step = np.exp(potentials), np.exp(transitions)
    pairs = rng.integers(0, TAGS, size=(100, 2))
    many = np.tile(potentials, (10, 1)), np.tile(lengths, 10)
    forbidden = transitions.copy()
    forbidden[0, 1] = -np.inf
    times = best_times(
        {
            "two matrix products": lambda: (weights @ step, weights @ step.T),
            "tag marginals": lambda: forward_backward(potentials, transitions, lengths),
            "with 100 pair columns": lambda: forward_backward(
                potentials, transitions, lengths, pairs=pairs
            ),
            "with a forbidden transition": lambda: forward_backward(potentials, forbidden, lengths),
            "Viterbi": lambda: viterbi(potentials, transitions, lengths),
            "10 samples": lambda: sample_sequences(
                potentials, transitions, lengths, n_samples=10, random_state=0
            ),
            "ten times the tokens": lambda: forward_backward(many[0], transitions, many[1]),
        },
        rounds,
    )
    return {"tokens": n, "tags": TAGS, "seconds": times}


def measure_crf(tagger, make, X, rounds):
    crf, ready = tagger.crf_, make(X)
    columns = tagger._model.columns(make.__self__)

    def with_new_words():
        # As if none of these words had been met before.
        columns._known.clear()
        tagger.predict_proba(X)

    times = best_times(
        {
            "CRF.predict_marginals, from features": lambda: crf.predict_marginals(ready),
            "CRF.predict_marginals, from tokens": lambda: crf.predict_marginals(make(X)),
            "CRFTagger.predict_proba": lambda: tagger.predict_proba(X),
            "CRFTagger.predict_proba, every word new": with_new_words,
            "CRFTagger, 100 pairs": lambda: tagger.predict_proba(X, unit="pair", pairs=100),
        },
        rounds,
    )
    expected = flat(crf.predict_marginals(ready), tagger.classes_)
    attributes = [len(item) for row in ready for item in row]
    return {
        "seconds": times,
        "error": float(np.abs(tagger.predict_proba(X) - expected).max()),
        "attributes": float(np.mean(attributes)),
        "tags": len(tagger.classes_),
    }


def measure_spans(data_home, rounds):
    """Return times of spans beside those of tag marginals, for the same taggers and scores."""
    if data_home is not None:
        load = {"tags": "chunk", "data_home": data_home, "download": False}
        train, test = load_conll2000(split="train", **load), load_conll2000(split="test", **load)
        X_train, y_train, X, name = train.X[:3000], train.y[:3000], test.X, "CoNLL-2000 chunks"
    else:
        data = make_chunked_sequences(4000, n_types=4, n_words=4000, mean_length=24, random_state=0)
        X_train, y_train, X, name = data.X[:2600], data.y[:2600], data.X[2600:], "simulated"
    lengths = [len(sentence) for sentence in X]
    rows = {}
    trained = {"solver": "lattice", "tol": 1e-3}
    for model, tagger in (
        ("HMM", HMMTagger(emission_pseudocount=0.1)),
        ("CRF, word", CRFTagger(c2=1.0, **trained)),
        ("CRF, word, constraints", CRFTagger(c2=1.0, constraints="BIO", **trained)),
        ("CRF, rich", CRFTagger(features="rich", c2=0.1, **trained)),
    ):
        tagger.fit(X_train, y_train)
        scores = tagger.log_potentials(X), tagger.log_transitions_, lengths
        classes = tagger.classes_
        seconds = best_times(
            {
                "tag marginals, from scores": lambda s=scores: forward_backward(*s),
                "spans, from scores": lambda s=scores, c=classes: span_probabilities(*s, classes=c),
                "spans as objects, from scores": lambda s=scores, c=classes: list(
                    span_probabilities(*s, classes=c)
                ),
                "tag marginals, from tokens": lambda t=tagger: t.predict_proba(X),
                "spans, from tokens": lambda t=tagger: t.predict_spans(X),
                "spans as objects, from tokens": lambda t=tagger: list(t.predict_spans(X)),
                "10 best, from scores": lambda s=scores: k_best_sequences(*s, k=10),
            },
            rounds,
        )
        n_spans = sum(map(len, tagger.predict_spans(X)))
        rows[model] = {"seconds": seconds, "spans": n_spans, "tags": len(classes)}
    return {"corpus": name, "tokens": sum(lengths), "models": rows}


def measure_taggers(data_home, rounds):
    """Return times from tokens, against the libraries that hold the same models."""
    X_train, y_train, X, name = corpus(data_home)
    n = sum(map(len, X))
    rows = {}
    for features, c2 in (("word", 0.01), ("rich", 0.1)):
        # How far training goes makes no difference to the time of a prediction.
        tagger = CRFTagger(features=features, c2=c2, max_iterations=15).fit(X_train, y_train)
        rows[f"CRF, {features}"] = measure_crf(tagger, FEATURES[features].attributes, X, rounds)
    tagger = HMMTagger(emission_pseudocount=0.1).fit(X_train, y_train)
    symbols = tagger._symbols(X, tagger.vocabulary_).reshape(-1, 1)
    lengths = [len(sentence) for sentence in X]
    log, scaling = tagger.hmm_, HMMTagger(emission_pseudocount=0.1).fit(X_train, y_train).hmm_
    scaling.implementation = "scaling"
    times = best_times(
        {
            "hmmlearn predict_proba (default)": lambda: log.predict_proba(symbols, lengths),
            "hmmlearn predict_proba (scaling)": lambda: scaling.predict_proba(symbols, lengths),
            "HMMTagger.predict_proba": lambda: tagger.predict_proba(X),
        },
        rounds,
    )
    expected = log.predict_proba(symbols, lengths)
    error = float(np.abs(tagger.predict_proba(X) - expected).max())
    rows["HMM"] = {"seconds": times, "error": error, "tags": len(tagger.classes_)}
    return {"corpus": name, "tokens": n, "models": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", help="folder with the CoNLL-2000 files")
    parser.add_argument("--only-spans", action="store_true", help="keep the other numbers")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--out", default=str(RESULTS))
    options = parser.parse_args()
    if options.only_spans and not Path(options.out).exists():
        parser.error(f"there are no other numbers to keep: {options.out} does not exist")
    with threadpool_limits(1):
        spans = measure_spans(options.data_home, options.rounds)
        if options.only_spans:
            found = json.loads(Path(options.out).read_text())
            lattice, taggers = found["lattice"], found["taggers"]
        else:
            lattice = measure_lattice(options.rounds)
            taggers = measure_taggers(options.data_home, options.rounds)
    floor = lattice["seconds"]["two matrix products"]
    print(f"{lattice['tokens']:,} tokens, {TAGS} tags, from potentials; time / two products")
    for name, seconds in lattice["seconds"].items():
        print(f"  {name:<40} {seconds / floor:8.2f}")
    print(f"{taggers['corpus']}, {taggers['tokens']:,} tokens, from tokens; time / ours")
    for model, row in taggers["models"].items():
        ours = next(s for name, s in row["seconds"].items() if "Tagger.predict_proba" in name)
        print(f"  {model}: {row['tags']} tags, largest difference {row['error']:.1e}")
        for name, seconds in row["seconds"].items():
            print(f"    {name:<38} {seconds / ours:8.2f}   ({1e3 * seconds:.0f} ms)")
    print(f"{spans['corpus']}, {spans['tokens']:,} tokens; time / tag marginals")
    for model, row in spans["models"].items():
        print(f"  {model}: {row['tags']} tags, {row['spans']:,} spans")
        for source in ("from scores", "from tokens"):
            times = row["seconds"]
            ratio = times[f"spans, {source}"] / times[f"tag marginals, {source}"]
            objects = times[f"spans as objects, {source}"] / times[f"tag marginals, {source}"]
            print(f"    spans, {source:<31} {ratio:8.2f}   ({objects:.2f} with every object made)")
    found = {"lattice": lattice, "taggers": taggers, "spans": spans}
    Path(options.out).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
