"""The main job in one short run: ``make demo``, or ``python examples/demo.py --out folder``.

Two classifiers of about the same accuracy are measured, split, searched and drawn. Then taggers, a
coreference model and a corpus show what probabilities of whole structures are good for.
"""

import argparse
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    CountDisplay,
    calibration_error_interval,
    calibration_null,
    label_calibration,
    score_decomposition,
)
from sklearn_calib.coref import AntecedentModel
from sklearn_calib.datasets import (
    make_coref_documents,
    make_event_corpus,
    make_queries,
    make_tagged_sequences,
)
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon, reading_plan
from sklearn_calib.sequence import CRFTagger, HMMTagger

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "0.45"


def section(title):
    print(f"\n{title}\n{'-' * len(title)}")


def save(figure, folder, name, what):
    path = folder / name
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"  picture: {path}  ({what})")


def measure(models, X_test, y_test):
    """Print the calibration error of each model and return its predictions."""
    predictions = {}
    print(
        f"  {'model':<20} {'accuracy':>8} {'error':>7}   {'95% interval':<16} {'p':>7}   direction"
    )
    for name, model in models.items():
        q = model.predict_proba(X_test)[:, 1]
        predictions[name] = q
        result = calibration_error_interval(y_test, q)
        low, high = result.confidence_interval
        p = f"{result.pvalue:.3f}" if result.pvalue >= 0.001 else "< 0.001"
        way = "over" if result.mean_overconfidence > 0 else "under"
        print(
            f"  {name:<20} {model.score(X_test, y_test):>8.3f} {result.error:>7.4f}   "
            f"[{low:.4f}, {high:.4f}] {p:>7}   "
            f"{way}confident by {abs(result.mean_overconfidence):.3f}"
        )
    print("  p: the chance of so large an error if every prediction were right\n")
    return predictions


def decompose(y_test, predictions):
    parts = {name: score_decomposition(y_test, q) for name, q in predictions.items()}
    print(f"  {'':<14}" + "".join(f"{name:>22}" for name in parts))
    for row in ("calibration", "refinement", "within_bin", "score"):
        label = {"score": "= Brier score", "within_bin": "+ within bins"}.get(row, row)
        label = f"+ {label}" if row == "refinement" else label
        print(f"  {label:<14}" + "".join(f"{getattr(p, row):>22.4f}" for p in parts.values()))


def search_by_calibration(X, y):
    metrics = {
        "accuracy": "accuracy",
        "log loss": "neg_log_loss",
        "calibration error": "neg_adaptive_bin_calibration_error",
    }
    search = GridSearchCV(
        GaussianNB(),
        {"var_smoothing": np.logspace(-8, 2, 6)},
        scoring=list(metrics.values()),
        refit="neg_adaptive_bin_calibration_error",
    ).fit(X, y)
    print("  var_smoothing" + "".join(f"{name:>20}" for name in metrics))
    for i, params in enumerate(search.cv_results_["params"]):
        line = f"  {params['var_smoothing']:>13.3g}"
        for scoring in metrics.values():
            value = abs(search.cv_results_[f"mean_test_{scoring}"][i])
            best = search.cv_results_[f"rank_test_{scoring}"][i] == 1
            line += f"{value:>18.4f}{' *' if best else '  '}"
        print(line)
    print("  * the best of its column")


def draw_curves(y_test, predictions):
    figure, ax = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
    for name, q in predictions.items():
        AdaptiveCalibrationDisplay.from_predictions(y_test, q, name=name, ax=ax, despine=True)
    ax.set_title("Do predictions of 70 % come true 70 % of the time?", fontsize="medium")
    return figure


def draw_consistency(y_test, predictions):
    figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained", sharey=True)
    colours = (BLUE, ORANGE)
    for ax, (name, q), colour in zip(axes, predictions.items(), colours, strict=True):
        AdaptiveCalibrationDisplay.from_predictions(
            y_test,
            q,
            name=name,
            ax=ax,
            interval=None,
            consistency=True,
            despine=True,
            curve_kwargs={"color": colour},
        )
    axes[1].set_ylabel("")
    figure.suptitle("The grey band is where bins would fall if every prediction were right")
    return figure


def simulate_intervals(n_samples=100, n_queries=2000):
    """Print how often each interval holds the truth, and draw all of them."""
    methods = {
        "Algorithm 2": {"method": "sampling", "bin_size": 100, "n_resamples": 1000},
        "default interval": {},
    }
    laws = {
        "perfectly calibrated": {"distortion": "identity"},
        "predictions too low": {"distortion": "shift", "strength": 0.1},
    }
    figure, axes = plt.subplots(
        2, 2, figsize=(9, 6), layout="constrained", sharex=True, sharey="row"
    )
    print(f"  {n_samples} simulated samples of {n_queries:,} queries")
    print("  95% intervals that hold the truth:")
    for row, (law, options) in enumerate(laws.items()):
        samples = [make_queries(n_queries, random_state=i, **options) for i in range(n_samples)]
        truth = samples[0].error
        for column, (method, how) in enumerate(methods.items()):
            limits = np.array(
                [
                    calibration_error_interval(s.queries, random_state=0, **how).confidence_interval
                    for s in samples
                ]
            )
            holds = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
            print(f"    {law:<22} {method:<17} {holds.sum():>3} of {n_samples}")
            ax = axes[row, column]
            for kept, colour in ((True, BLUE), (False, ORANGE)):
                at = np.flatnonzero(holds == kept)
                ax.vlines(at, *limits[at].T, color=colour, linewidth=1.2)
            ax.axhline(truth, color=GREY, linewidth=1, linestyle="--")
            ax.set_title(
                f"{method}: {law}\n{holds.sum()} of {n_samples} hold the truth", fontsize=10
            )
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_xticks([])
    for ax in axes[:, 0]:
        ax.set_ylabel("calibration error")
        ax.set_ylim(bottom=-0.004)
    for ax in axes[1]:
        ax.set_xlabel("simulated samples")
    axes[0, 0].plot([], [], color=GREY, linestyle="--", linewidth=1, label="the truth")
    axes[0, 0].plot([], [], color=BLUE, linewidth=2, label="interval that holds it")
    axes[0, 0].plot([], [], color=ORANGE, linewidth=2, label="interval that misses it")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def measure_taggers():
    """Print how well taggers know what they know, and draw it."""
    data = make_tagged_sequences(
        1200, n_tags=6, n_words=800, word_concentration=0.3, mean_length=12, random_state=1
    )
    X_train, y_train, X_test, y_test = data.X[:600], data.y[:600], data.X[600:], data.y[600:]
    taggers = {
        "HMM": HMMTagger(emission_pseudocount=0.3),
        "CRF, little regularised": CRFTagger(c2=0.01),
        "CRF, much regularised": CRFTagger(c2=1.0),
    }
    figure, ax = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
    print(f"  {'tagger':<24} {'accuracy':>8} {'error':>7}   95% interval")
    for name, tagger in taggers.items():
        tagger.fit(X_train, y_train)
        result = calibration_error_interval(tagger.calibration_queries(X_test, y_test))
        low, high = result.confidence_interval
        accuracy = tagger.score(X_test, y_test)
        print(f"  {name:<24} {accuracy:>8.3f} {result.error:>7.4f}   [{low:.4f}, {high:.4f}]")
        AdaptiveCalibrationDisplay.from_estimator(
            tagger, X_test, y_test, name=name, ax=ax, despine=True
        )
    ax.set_title("Is this token tagged A, B, ...? Marginals of three taggers", fontsize="medium")
    return figure


def measure_coreference():
    """Print whether the errors of link probabilities are more than chance."""
    simulated = make_coref_documents(120, random_state=0)
    docs, entities = simulated.X, simulated.y
    model = AntecedentModel().fit(docs[:80], entities[:80])
    null = calibration_null(model, docs[80:], y=entities[80:], n_simulations=100, random_state=0)
    print(f"  {len(docs[80:])} documents that the model has not seen")
    for line in str(null).splitlines():
        print(f"  {line}")


def count_events(folder):
    """Print and draw in how many documents per year each country attacks; write a page of it."""
    corpus = make_event_corpus(1200, random_state=0)
    rule = AgentRule(country_lexicon(), verbs=["attack"])
    posterior = count_corpus(
        corpus.X, corpus.model, rule, n_samples=100, period="Q", random_state=0
    )
    keys = posterior.most_common(2)
    unsure = posterior.most_uncertain(2)
    print(f"  {len(corpus.X):,} simulated articles; most often: {', '.join(keys)}")
    for found in unsure:
        print(f"  worth reading by hand: {found}")
    page = posterior.to_html(
        folder / "attacks.html",
        documents=corpus.X,
        model=corpus.model,
        rule=rule,
        plan=reading_plan(posterior, 50, random_state=0),
        title="Who attacked, in simulated news",
    )
    print(f"  {page}: a page to explore; open it in a browser")
    return CountDisplay.from_posterior(posterior, keys=keys, despine=True).figure_


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo_output"), help="folder for pictures")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()

    print("sklearn-calib: can these probabilities be trusted?")

    section("1. Two models of about the same accuracy, one of them overconfident")
    X, y = make_classification(
        n_samples=20_000,
        n_features=40,
        n_informative=10,
        n_redundant=30,
        flip_y=0,
        class_sep=0.8,
        random_state=4,
    )
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    print(
        f"  {len(y_test):,} test rows. Of 40 features, 30 only mix the other ten, but naive Bayes"
    )
    print("  takes each of them for new evidence.\n")
    models = {
        "naive Bayes": GaussianNB().fit(X_train, y_train),
        "logistic regression": LogisticRegression(max_iter=1000).fit(X_train, y_train),
    }
    predictions = measure(models, X_test, y_test)
    save(draw_curves(y_test, predictions), folder, "calibration_curves.png", "both curves")
    figure = draw_consistency(y_test, predictions)
    save(figure, folder, "consistency_band.png", "each curve against its consistency band")

    section("2. What the Brier score is made of")
    decompose(y_test, predictions)
    print("  calibration: what a perfect recalibration of the bins would win")

    section("3. Ten digits, one at a time: naive Bayes, cross-validated")
    X_digits, y_digits = load_digits(return_X_y=True)
    proba = cross_val_predict(GaussianNB(), X_digits, y_digits, method="predict_proba")
    table = label_calibration(y_digits, proba, classes=np.unique(y_digits))
    print("  " + str(table).replace("\n", "\n  "))
    worst = table.labels[np.nanargmax(table.error)]
    print(f"  the digit {worst} has the largest error; low and high limit a 95% interval")
    print("  one yes where 0 was predicted makes p tiny, and hardly moves the mean of a bin")

    section("4. A grid search by calibration: the same digits")
    search_by_calibration(X_digits, y_digits)

    section("5. What the estimators see when the truth is known")
    figure = simulate_intervals()
    print()
    save(figure, folder, "known_truth.png", "200 intervals of each kind, and the truth")

    section("6. Taggers: probabilities of tags, exactly")
    figure = measure_taggers()
    save(figure, folder, "taggers.png", "the curves of three taggers")

    section("7. Coreference: is the error of the link probabilities more than chance?")
    measure_coreference()

    section("8. A corpus: who attacked, and how sure is that?")
    figure = count_events(folder)
    save(figure, folder, "counts.png", "counts per quarter, with 95% intervals")

    print(f"\nDone in {time.perf_counter() - started:.0f} seconds. The pictures are in {folder}/")


if __name__ == "__main__":
    main()
