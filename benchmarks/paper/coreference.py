"""Section 5.3: are two mentions the same entity? Calibration of coreference links.

The paper samples clusterings from the antecedent model of Durrett and Klein (2013), and
asks of every pair of mentions whether the two share an entity (Figure 5). Here the same
model is trained on GUM and LitBank with true mentions, link probabilities are exact, and
every error stands beside its noise floor: what a calibrated model would show on the
same documents (`calibration_null`). Run with

    python benchmarks/paper/coreference.py

which takes about half an hour on one core (--quick: GUM test only, three minutes), and
leaves paper_coreference.json in benchmarks/results/ and Figure 5 in docs/_static/.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import main, measure
from sklearn.base import clone
from sklearn.model_selection import KFold

from sklearn_calib import (
    CalibratedStructureCV,
    Queries,
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_null,
    score_decomposition,
)
from sklearn_calib.coref import (
    AntecedentModel,
    Document,
    coreference_scores,
    link_probabilities,
    sample_entities,
    sampled_link_probabilities,
)
from sklearn_calib.coref._clusters import best_entities
from sklearn_calib.datasets import load_gum, load_litbank
from sklearn_calib.queries import LinkQuestions

# Links per bin, wherever errors are compared.
BIN_SIZE = 5000

# Links above this probability are looked at on their own.
LIKELY = 0.05

Proba = np.ndarray

MODELS = {
    "surface": AntecedentModel(),
    "surface, costs": AntecedentModel(cost="durrett-klein"),
    "extended": AntecedentModel(features="extended"),
    "extended, tuned": CalibratedStructureCV(AntecedentModel(features="extended"), cv=2),
}

# The models of Figure 5, with their colours.
DRAWN = {"surface": "#0072B2", "surface, costs": "#D55E00", "extended, tuned": "#009E73"}


class Posterior:
    """What a model, or the models of several folds, said about some documents."""

    def __init__(self, antecedents: list[Proba]) -> None:
        self.antecedents = antecedents

    def sample(self, X: Any, n_samples: int, random_state: Any) -> list[np.ndarray]:
        return [sample_entities(p, n_samples, random_state) for p in self.antecedents]

    def calibration_queries(self, X: Any, y: Any, **options: Any) -> Queries:
        return self.calibration_questions(X, **options).answer(y)

    def calibration_questions(self, X: Any, **options: Any) -> LinkQuestions:
        return LinkQuestions((link_probabilities(p) for p in self.antecedents), **options)

    def predict(self) -> list[np.ndarray]:
        """Return the entities that follow from the best antecedents."""
        return [best_entities(proba) for proba in self.antecedents]


def log_likelihood(antecedents: list[Proba], entities: list[np.ndarray]) -> float:
    """Return the mean log probability of a right antecedent, over mentions."""
    total = count = 0.0
    for proba, entity in zip(antecedents, entities, strict=True):
        same = np.tril(entity[:, None] == entity, -1)
        right = np.where(same.any(axis=1), (proba * same).sum(axis=1), np.diag(proba))
        total += np.log(right).sum()
        count += len(entity)
    return total / count


def without_singletons(documents: list[Document]) -> list[Document]:
    """Return the documents without mentions that nothing else refers to, as in OntoNotes."""
    kept = []
    for document in documents:
        _, code, count = np.unique(document.entities, return_inverse=True, return_counts=True)
        kept.append(document.select(count[code] > 1))
    return kept


def cross_validate(model: Any, documents: list[Document], seed: int) -> Posterior:
    """Return what models that were trained on the other folds say about each document."""
    found: list[Any] = [None] * len(documents)
    for train, test in KFold(5, shuffle=True, random_state=seed).split(documents):
        fitted = clone(model).fit([documents[i] for i in train])
        for i in test:
            found[i] = fitted.predict_antecedent_proba([documents[i]])[0]
    return Posterior(found)


def describe(
    name: str, posterior: Posterior, documents: list[Document], seed: int, n_simulations: int
) -> tuple[dict[str, Any], Queries]:
    """Return all numbers about one set of predictions."""
    entities = [document.entities for document in documents]
    options = {"n_simulations": n_simulations, "bin_size": BIN_SIZE, "random_state": seed}
    null = calibration_null(posterior, documents, entities, **options)
    likely = calibration_null(posterior, documents, entities, min_proba=LIKELY, **options)
    queries = posterior.calibration_queries(documents, entities)
    base = queries.y_true.mean()
    brier = score_decomposition(queries, bin_size=BIN_SIZE)
    scores = coreference_scores(entities, posterior.predict(), same_mentions=True)
    row = {
        "name": name,
        "documents": len(documents),
        "mentions": sum(map(len, documents)),
        "links": len(queries),
        "true_links": int(np.count_nonzero(queries.y_true)),
        **measure(queries, bin_size=BIN_SIZE, seed=seed),
        "null": {"mean": null.mean, "range": null.interval, "pvalue": null.pvalue},
        "likely": {
            "links": likely.n_queries,
            "error": likely.error,
            "null": {"mean": likely.mean, "range": likely.interval, "pvalue": likely.pvalue},
        },
        "mean_prob": queries.y_prob.mean(),
        "mean_true": base,
        "brier": brier.score,
        "refinement": brier.refinement,
        "brier_of_base_rate": base * (1 - base),
        "log_likelihood": log_likelihood(posterior.antecedents, entities),
        "pairwise": [*scores.pairwise, scores.pairwise.f1],
        "muc": scores.muc.f1,
        "b_cubed": scores.b_cubed.f1,
        "ceaf_e": scores.ceaf_e.f1,
        "conll": scores.conll,
    }
    print(
        f"{name}: {len(queries):,} links, error {row['error']:.4f} (floor {null.mean:.4f} "
        f"[{null.interval.low:.4f}, {null.interval.high:.4f}], p = {null.pvalue:.3f}), likely "
        f"{likely.error:.4f} ({likely.mean:.4f}), F1 {scores.pairwise.f1:.3f}, CoNLL "
        f"{scores.conll:.3f}",
        flush=True,
    )
    return row, queries


def curve(posterior: Posterior, documents: list[Document], seed: int) -> dict[str, Any]:
    """Return the calibration curve, and where the bins of a calibrated model would fall."""
    entities = [document.entities for document in documents]
    questions = posterior.calibration_questions(documents)
    queries = questions.answer(entities)
    bins = calibration_bins(queries, bin_size=BIN_SIZE)
    order = np.argsort(queries.y_prob, kind="stable")
    starts = np.concatenate([[0], np.cumsum(bins.count)[:-1]])
    samples = posterior.sample(documents, 60, np.random.default_rng(seed))
    drawn = [
        np.add.reduceat(questions.answer(truth).y_true[order].astype(float), starts) / bins.count
        for truth in ([s[k] for s in samples] for k in range(60))
    ]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return {"pred": bins.prob_pred, "true": bins.prob_true, "low": low, "high": high}


def exact_and_sampled(posterior: Posterior, seed: int) -> dict[str, Any]:
    """Return the time of exact and of sampled link probabilities, and how far they are apart."""

    def clock(function: Callable[[Proba], Any]) -> tuple[float, list[Any]]:
        start = time.process_time()
        found = [function(p) for p in posterior.antecedents]
        return time.process_time() - start, found

    rng = np.random.default_rng(seed)
    exact_seconds, exact = clock(link_probabilities)
    sampled_seconds, sampled = clock(lambda p: sampled_link_probabilities(p, 1000, rng))
    draw_seconds, _ = clock(lambda p: sample_entities(p, 1000, rng))
    gaps = np.concatenate(
        [
            (s.probability - e)[np.tri(len(e), k=-1, dtype=bool)]
            for s, e in zip(sampled, exact, strict=True)
        ]
    )
    # The longest document with many samples: are the gaps what chance makes?
    longest = max(range(len(exact)), key=lambda i: len(exact[i]))
    many = sampled_link_probabilities(posterior.antecedents[longest], 100_000, rng)
    p = exact[longest]
    error = np.sqrt(p * (1 - p) / 100_000)
    use = np.tri(len(p), k=-1, dtype=bool) & (p * 100_000 > 25)
    z = (many.probability - p)[use] / error[use]
    # A document of 300 mentions, as the others are, for the time of one.
    proba = first_mentions(posterior.antecedents, 300)
    single = {}
    for label, function in (
        ("exact", link_probabilities),
        ("sampled", lambda p: sampled_link_probabilities(p, 1000, rng)),
        ("drawn", lambda p: sample_entities(p, 1000, rng)),
    ):
        times = []
        for _ in range(7):
            start = time.process_time()
            function(proba)
            times.append(time.process_time() - start)
        single[label] = 1000 * float(np.median(times))
    return {
        "seconds": {"exact": exact_seconds, "sampled": sampled_seconds, "drawn": draw_seconds},
        "n_samples": 1000,
        "rmse": np.sqrt(np.mean(gaps**2)),
        "largest": np.abs(gaps).max(),
        "z_rms": np.sqrt(np.mean(z**2)),
        "z_largest": np.abs(z).max(),
        "milliseconds_300": single,
    }


def first_mentions(antecedents: list[Proba], n: int) -> Proba:
    """Return the first n mentions of the shortest document that has so many."""
    fitting = [p for p in antecedents if len(p) >= n]
    return min(fitting, key=len)[:n, :n]


def run(options: Any) -> dict[str, Any]:
    seed, rows, pictures = options.seed, [], {}
    train, test = (load_gum(split=split, **options.loader).X for split in ("train", "test"))
    n = options.simulations
    for name, model in MODELS.items():
        start = time.process_time()
        fitted = clone(model).fit(train)
        seconds = time.process_time() - start
        posterior = Posterior(fitted.predict_antecedent_proba(test))
        row, queries = describe(f"GUM test, {name}", posterior, test, seed, n)
        tuned = {
            "temperature": getattr(fitted, "temperature_", 1.0),
            "new_shift": getattr(fitted, "new_shift_", 0.0),
        }
        trained = getattr(fitted, "estimator_", fitted)
        rows.append({**row, **tuned, "fit_seconds": seconds, "iterations": trained.n_iter_})
        if name == "surface":
            sampling = exact_and_sampled(posterior, seed)
            constant = np.full(len(queries), base_rate(train))
            of_constant = adaptive_bin_calibration_error(
                queries.y_true, constant, bin_size=BIN_SIZE
            )
    corpora: dict[str, list[Document]] = {}
    if not options.quick:
        corpora["GUM"] = train + load_gum(split="dev", **options.loader).X + test
        corpora["GUM without singletons"] = without_singletons(corpora["GUM"])
        corpora["LitBank"] = load_litbank(**options.loader).X
    for corpus, documents in corpora.items():
        for name, model in MODELS.items():
            posterior = cross_validate(model, documents, seed)
            rows.append(describe(f"{corpus}, 5-fold, {name}", posterior, documents, seed, n)[0])
            if name in DRAWN:
                pictures[corpus, name] = curve(posterior, documents, seed)
    return {
        "bin_size": BIN_SIZE,
        "likely": LIKELY,
        "simulations": n,
        "rows": rows,
        "base_rate_error": of_constant,
        "sampling": sampling,
        "pictures": pictures,
    }


def base_rate(documents: list[Document]) -> float:
    """Return the share of links that hold."""
    right = sum(np.count_nonzero(np.tril(d.entities[:, None] == d.entities, -1)) for d in documents)
    return right / sum(len(d) * (len(d) - 1) / 2 for d in documents)


def draw(found: dict[str, Any]) -> dict[str, Any]:
    import matplotlib.pyplot as plt

    pictures = found["pictures"]
    corpora = list(dict.fromkeys(corpus for corpus, _ in pictures))
    if not corpora:
        return {}
    figure, axes = plt.subplots(
        1, len(corpora), figsize=(4.3 * len(corpora), 4.5), layout="constrained", sharey=True
    )
    for ax, corpus in zip(np.atleast_1d(axes), corpora, strict=True):
        ax.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle=":", zorder=1)
        for name, colour in DRAWN.items():
            points = pictures[corpus, name]
            ax.plot(points["pred"], points["true"], color=colour, linewidth=1.6, label=name)
            if name == "surface":
                ax.fill_between(
                    points["pred"], points["low"], points["high"], color="grey", alpha=0.3,
                    linewidth=0, zorder=0, label="surface, if calibrated (95 %)",
                )  # fmt: skip
        row = next(r for r in found["rows"] if r["name"] == f"{corpus}, 5-fold, surface")
        ax.set_title(f"{corpus}\n{row['links'] / 1e6:.1f} million links")
        ax.set_xlabel("predicted probability of a link")
        ax.set_aspect("equal")
        ax.spines[["top", "right"]].set_visible(False)
    np.atleast_1d(axes)[0].set_ylabel("share of links that hold")
    np.atleast_1d(axes)[0].legend(frameon=False, loc="upper left")
    return {"figure5": figure}


if __name__ == "__main__":
    main(
        __doc__,
        "coreference",
        run,
        draw,
        quick={"action": "store_true", "help": "GUM test only"},
        simulations={"type": int, "default": 100, "help": "truths to draw for each noise floor"},
    )
