"""Draw the pictures of the front page, and those that code in the guide draws.

The build calls ``write_pictures``; ``python docs/_make/pictures.py`` does the same by
hand. Every picture goes to docs/_pictures/. All data are made up on the spot, so that
nothing is downloaded.
"""

from __future__ import annotations

import doctest
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    CalibratedStructureCV,
    CountDisplay,
    calibration_error_interval,
    estimator_queries,
)
from sklearn_calib.datasets import make_event_corpus, make_queries, make_tagged_sequences
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon
from sklearn_calib.sequence import CRFTagger, HMMTagger

DOCS = Path(__file__).resolve().parents[1]
PICTURES = DOCS / "_pictures"

# Inches of a picture on a card; the page shows it about 290 pixels wide.
CARD = (2.9, 1.65)
INK, BLUE, ORANGE = "#333333", "#0072b2", "#d55e00"


def card():
    """Return a figure of the size of a card, and its axes."""
    figure, ax = plt.subplots(figsize=CARD, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize="x-small")
    return figure, ax


def plain(ax):
    """Leave out what is too small to be read on a card."""
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    ax.set_aspect("auto")
    ax.set(xlabel="", ylabel="", title="")


def measure():
    """Errors of three classifiers, each with its interval."""
    X, y = make_classification(6000, n_informative=4, n_redundant=12, flip_y=0.05, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    models = {
        "naive Bayes": GaussianNB(),
        "random forest": RandomForestClassifier(50, random_state=0),
        "logistic regression": LogisticRegression(max_iter=1000),
    }
    figure, ax = card()
    for row, model in enumerate(models.values()):
        found = calibration_error_interval(
            estimator_queries(model.fit(X_train, y_train), X_test, y_test)
        )
        low, high = found.confidence_interval
        ax.plot([low, high], [row, row], color=BLUE, linewidth=2.5, solid_capstyle="butt")
        ax.plot(found.error, row, "o", color=BLUE, markersize=4)
        far = low > 0.15
        ax.annotate(
            f"{found.error:.3f} [{low:.3f}, {high:.3f}]",
            (high if far else low, row),
            (0 if far else 3, 4),  # beside the axis, not on it
            textcoords="offset points",
            ha="right" if far else "left",
            fontsize="x-small",
        )
    ax.set_yticks(range(len(models)), models, fontsize="small")
    ax.set_ylim(2.4, -0.8)
    ax.set_xlim(0, None)
    ax.set_xlabel("calibration error, 95 % interval", fontsize="x-small")
    return figure


def see():
    """The curve of an overconfident model with its band."""
    sample = make_queries(4000, distortion="slope", strength=0.6, random_state=0)
    figure, ax = card()
    AdaptiveCalibrationDisplay.from_predictions(sample.queries, consistency=True, ax=ax)
    plain(ax)
    ax.set_xlabel("what the model says", fontsize="x-small")
    ax.set_ylabel("what happens", fontsize="x-small")
    return figure


def mend():
    """A tagger before and after recalibration."""
    data = make_tagged_sequences(700, random_state=0)
    mended = CalibratedStructureCV(CRFTagger(c2=1.0)).fit(data.X[:200], data.y[:200])
    figure, ax = card()
    for tagger in (mended.estimator_, mended):
        queries = tagger.calibration_queries(data.X[200:], data.y[200:])
        AdaptiveCalibrationDisplay.from_predictions(queries, ax=ax)
    plain(ax)
    ax.text(0.05, 0.86, "before", color=BLUE, fontsize="small", transform=ax.transAxes)
    ax.text(0.05, 0.72, "after", color=ORANGE, fontsize="small", transform=ax.transAxes)
    return figure


# A few sentences in which Paris is now a place and now part of a name.
TAGGED = """
Paris/B-LOC is/O large/O | Paris/B-PER Hilton/I-PER sings/O | Ada/B-PER saw/O Paris/B-LOC |
Ada/B-PER Hilton/I-PER is/O in/O Rome/B-LOC | Hilton/B-PER saw/O Ada/B-PER in/O Paris/B-LOC |
Paris/B-PER sings/O in/O Rome/B-LOC | Rome/B-LOC is/O large/O | Ada/B-PER sings/O in/O Paris/B-LOC
"""


def structure():
    """One sentence with its spans, and the exact probability of each."""
    rows = [
        [token.split("/") for token in part.split()]
        for part in TAGGED.replace("\n", " ").split("|")
    ]
    tagger = HMMTagger(emission_pseudocount=0.3, transition_pseudocount=0.3).fit(
        [[word for word, _ in row] for row in rows], [[tag for _, tag in row] for row in rows]
    )
    words = ["Paris", "Hilton", "saw", "Rome"]
    figure, ax = card()
    ax.set_axis_off()
    place = [0.0, 1.15, 2.3, 3.2]
    for x, word in zip(place, words, strict=True):
        ax.text(x, 0.0, word, fontsize="medium", color=INK, ha="left", va="top")
    height = [0.0] * len(words)
    for span in tagger.predict_spans([words], min_proba=0.04)[0]:
        level = 0.25 + max(height[span.start : span.stop])
        height[span.start : span.stop] = [level + 0.35] * (span.stop - span.start)
        left, right = place[span.start], place[span.stop - 1] + 0.95
        color = BLUE if span.label == "PER" else ORANGE
        ax.plot(
            [left, right], [level, level], color=color, linewidth=3, alpha=0.3 + 0.7 * span.proba
        )
        ax.text(
            left, level + 0.06, f"{span.label} {span.proba:.2f}", fontsize="x-small", color=color
        )
    ax.set_xlim(-0.1, 4.3)
    ax.set_ylim(-0.45, max(height) + 0.25)
    return figure


def explore():
    """Counts of events with their uncertainty."""
    corpus = make_event_corpus(400, random_state=0)
    rule = AgentRule(country_lexicon(), verbs=["attack"])
    counts = count_corpus(corpus.X, corpus.model, rule, period="Q", random_state=0)
    figure, ax = card()
    CountDisplay.from_posterior(counts, keys=["USA"], ax=ax)
    plain(ax)
    ax.tick_params(axis="x", labelrotation=0)
    ax.set_ylabel("articles", fontsize="x-small")
    return figure


def reading_a_curve():
    """What the code at the head of "Reading a curve" draws."""
    page = (DOCS / "user_guide" / "reading_a_curve.rst").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples(page.split(".. image::")[0]):
        exec(example.source, names)  # the same lines that the tests run
    figure = names["display"].figure_
    figure.set_size_inches(5.4, 5.4)
    return figure


MAKERS = (measure, see, mend, structure, explore, reading_a_curve)


def write_pictures(folder: Path = PICTURES) -> None:
    """Draw what is missing, or older than this script or the page it reads."""
    folder.mkdir(exist_ok=True)
    sources = (Path(__file__), DOCS / "user_guide" / "reading_a_curve.rst")
    newest = max(source.stat().st_mtime for source in sources)
    for make in MAKERS:
        target = folder / f"{make.__name__}.png"
        if not target.exists() or target.stat().st_mtime < newest:
            figure = make()
            figure.savefig(target, dpi=200)
            plt.close(figure)


if __name__ == "__main__":
    write_pictures()
