"""Train the English coreference model that ships with the package, and measure it.

    pip install "spacy>=3.8,<3.9"
    python benchmarks/train_parser.py --data-home FOLDER --out PARSERS
    python benchmarks/train_parser.py --data-home FOLDER --out PARSERS_half0 --half 0 --steps 1200
    python benchmarks/train_parser.py --data-home FOLDER --out PARSERS_half1 --half 1 --steps 1200
    python benchmarks/train_antecedent_model.py --data-home FOLDER --parsers PARSERS

Only documents of GUM's training part whose texts may be used commercially are learnt
from (`FREE_GENRES`), each of them twice: with its true mentions and parse, and with the
mentions that `find_mentions` finds in a machine parse, which take over the entities of
the true mentions that they match (`transfer_entities`). A document is parsed by a
pipeline that was trained on the other half of these very documents, so that its parse
is as bad as that of a new text, and no other text has a part in it.

GUM's test part is measured with true mentions, and with those found in the parses of
the pipeline that was trained on all of GUM's training part. What depends on a choice
(which mentions to learn from, LitBank, how small a weight may be) is measured on the
development part, too. Leaves english.npz in the package and antecedent_model.json in
benchmarks/results/; takes about half an hour on one core.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import spacy
from spacy.tokens import Doc
from train_parser import FREE_GENRES, half_of

from sklearn_calib import calibration_null
from sklearn_calib.coref import (
    AntecedentModel,
    align_mentions,
    coreference_scores,
    document_from_spacy,
    find_mentions,
    load_antecedent_model,
    save_antecedent_model,
    transfer_entities,
)
from sklearn_calib.datasets import load_gum, load_litbank

RESULTS = Path(__file__).parent / "results" / "antecedent_model.json"
MODEL = Path(__file__).parents[1] / "sklearn_calib" / "coref" / "data" / "english.npz"

# Links per bin, as in the other experiments on coreference.
BIN_SIZE = 5000

# Weights closer to zero are left out of the file. Larger limits are measured for comparison.
MIN_WEIGHT = 0.001
LIMITS = (0.0, MIN_WEIGHT, 0.01, 0.03)


def parsed(documents, nlp):
    """Return documents with a machine's parse and mentions, on the words of the corpus."""
    texts = (Doc(nlp.vocab, words=document.tokens.tolist()) for document in documents)
    return [
        document_from_spacy(doc, id=document.id)
        for doc, document in zip(nlp.pipe(texts), documents, strict=True)
    ]


def transferred(gold, predicted):
    """Return predicted documents with the entities of the true ones."""
    return [transfer_entities(g, p) for g, p in zip(gold, predicted, strict=True)]


def on_predicted_parses(documents, parsers):
    """Return documents of both halves, parsed by the pipeline that has not seen them."""
    of = half_of(document.id for document in documents)
    found = {}
    for half in (0, 1):
        nlp = spacy.load(parsers.with_name(f"{parsers.name}_half{1 - half}") / "model-best")
        some = [document for document in documents if of[document.id] == half]
        found |= {p.id: p for p in transferred(some, parsed(some, nlp))}
    return [found[document.id] for document in documents]


def found_mentions(gold, predicted):
    """Return how many mentions were found, by span and by head."""
    sizes = sum(map(len, gold)), sum(map(len, predicted))
    rows = {"true": sizes[0], "predicted": sizes[1]}
    for match in ("span", "head"):
        pairs = zip(gold, predicted, strict=True)
        right = sum(int((align_mentions(g, p, match=match) >= 0).sum()) for g, p in pairs)
        rows[match] = {"precision": right / sizes[1], "recall": right / sizes[0]}
    return rows


def calibration(model, documents, *, simulations, min_proba=0.0):
    """Return the link error, and what a calibrated model would show."""
    null = calibration_null(
        model,
        documents,
        None,
        n_simulations=simulations,
        bin_size=BIN_SIZE,
        min_proba=min_proba,
        random_state=0,
    )
    return {
        "links": null.n_queries,
        "error": null.error,
        "floor": null.mean,
        "range": list(null.interval),
        "pvalue": null.pvalue,
    }


def measure(model, gold, aligned, *, simulations=0):
    """Return scores on true mentions, and on predicted ones against the true documents."""
    rows = {}
    answers = model.predict(gold)
    scores = coreference_scores(gold, answers, same_mentions=True)
    rows["gold_mentions"] = {"pairwise_f1": scores.pairwise.f1, "conll": scores.conll}
    guesses = [
        document.replace(entities=entities)
        for document, entities in zip(aligned, model.predict(aligned), strict=True)
    ]
    within = coreference_scores(aligned, guesses, same_mentions=True)
    # Against the entities that mentions took over: the links that were asked about.
    rows["predicted_mentions"] = {"pairwise_f1": within.pairwise.f1, "conll": within.conll}
    for match in ("span", "head"):
        for singletons in (True, False):
            scores = coreference_scores(gold, guesses, match=match, singletons=singletons)
            name = match if singletons else f"{match}, no singletons"
            rows["predicted_mentions"][name] = {
                "conll": scores.conll,
                **{
                    row["score"]: {key: row[key] for key in ("precision", "recall", "f1")}
                    for row in scores.to_frame().to_dict("records")
                },
            }
    if simulations:
        for name, documents in (("gold_mentions", gold), ("predicted_mentions", aligned)):
            rows[name]["links"] = calibration(model, documents, simulations=simulations)
            rows[name]["likely_links"] = calibration(
                model, documents, simulations=simulations, min_proba=0.05
            )
    return rows


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(entry) for entry in value]
    return round(float(value), 5) if isinstance(value, (float, np.floating)) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", required=True)
    parser.add_argument("--parsers", type=Path, required=True, help="see train_parser.py")
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--litbank", action="store_true", help="try LitBank as well")
    options = parser.parse_args()
    parts = {
        split: load_gum(split=split, data_home=options.data_home, download=False).X
        for split in ("train", "dev", "test")
    }
    free = [document for document in parts["train"] if document.genre in FREE_GENRES]
    nlp = spacy.load(options.parsers / "model-best")
    aligned = {
        split: transferred(parts[split], parsed(parts[split], nlp)) for split in ("dev", "test")
    }
    machine = on_predicted_parses(free, options.parsers)
    found = {
        "documents": len(free),
        "mentions": {
            "test": found_mentions(parts["test"], aligned["test"]),
            "test, true parses": found_mentions(
                parts["test"],
                [d.replace(entities=None, mentions=find_mentions(d)) for d in parts["test"]],
            ),
            "train": found_mentions(free, machine),
        },
        "trained_on": {},
        "limits": {},
    }
    print(json.dumps(rounded(found["mentions"]), indent=1), flush=True)
    corpora = {
        "true and predicted mentions": free + machine,
        "true mentions": free,
        "predicted mentions": machine,
    }
    if options.litbank:
        books = load_litbank(data_home=options.data_home, download=False).X
        corpora["true and predicted mentions, LitBank"] = (
            free
            + machine
            + [with_layers(b, p) for b, p in zip(books, parsed(books, nlp), strict=True)]
        )
    for name, documents in corpora.items():
        start = time.process_time()
        model = AntecedentModel(features="extended").fit(documents)
        seconds = time.process_time() - start
        row = measure(model, parts["dev"], aligned["dev"])
        found["trained_on"][name] = {
            "documents": len(documents),
            "fit_seconds": seconds,
            "iterations": model.n_iter_,
            "weights": len(model.coef_),
            "dev": {key: {k: row[key][k] for k in ("pairwise_f1", "conll")} for key in row},
        }
        print(name, json.dumps(rounded(found["trained_on"][name])), flush=True)
        if documents is not corpora["true and predicted mentions"]:
            continue
        MODEL.parent.mkdir(exist_ok=True)
        for limit in LIMITS:
            path = MODEL.with_name("limit.npz")
            save_antecedent_model(model, path, min_weight=limit)
            small = load_antecedent_model(path)
            row = measure(small, parts["dev"], aligned["dev"])
            found["limits"][str(limit)] = {
                "bytes": path.stat().st_size,
                "weights": int(np.count_nonzero(small.coef_)),
                "dev": {key: {k: row[key][k] for k in ("pairwise_f1", "conll")} for key in row},
            }
            path.unlink()
        print(json.dumps(rounded(found["limits"])), flush=True)
        save_antecedent_model(model, MODEL, min_weight=MIN_WEIGHT)
    shipped = load_antecedent_model("english")
    found["bytes"] = MODEL.stat().st_size
    found["min_weight"] = MIN_WEIGHT
    found["bin_size"] = BIN_SIZE
    found["test"] = measure(
        shipped, parts["test"], aligned["test"], simulations=options.simulations
    )
    text = json.dumps(rounded(found), indent=1) + "\n"
    RESULTS.write_text(text)
    print(text)


def with_layers(document, parse):
    """Return a document with its own mentions and the layers of its parse."""
    layers = {name: getattr(parse, name) for name in ("upos", "lemmas", "heads", "relations")}
    return document.replace(mentions=document.mentions[:, :2], **layers)


if __name__ == "__main__":
    main()
