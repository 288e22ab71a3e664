"""Samples and models that the tests of displays draw, and one way to draw each display."""

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    BinSizeDisplay,
    CountDisplay,
    LabelCalibrationDisplay,
)
from sklearn_calib.datasets import make_event_corpus, make_queries
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon

SAMPLE = make_queries(1500, distortion="slope", random_state=0)
SMALL = make_queries(900, distortion="slope", strength=0.3, random_state=0)
LARGE = make_queries(4000, predictions="mixture", random_state=1)

DIGITS, NAMES = load_digits(return_X_y=True)
MODELS = {
    "bayes": GaussianNB().fit(DIGITS[:900], NAMES[:900]),
    "logistic": LogisticRegression(C=0.001, max_iter=1000).fit(DIGITS[:900], NAMES[:900]),
}
X_TEST, Y_TEST = DIGITS[900:], NAMES[900:]
PROBA = {name: model.predict_proba(X_TEST) for name, model in MODELS.items()}

NEWS = make_event_corpus(50, random_state=0)
COUNTS = count_corpus(NEWS.X, NEWS.model, AgentRule(country_lexicon()), random_state=0)


def curve(sample=SAMPLE, **options):
    return AdaptiveCalibrationDisplay.from_predictions(sample.y_true, sample.y_prob, **options)


def labels(model="bayes", **options):
    return LabelCalibrationDisplay.from_predictions(
        Y_TEST, PROBA[model], classes=MODELS[model].classes_, **options
    )


def by_bin_size(sample=SAMPLE, **options):
    return BinSizeDisplay.from_predictions(sample.y_true, sample.y_prob, **options)


def by_sample_size(sample=SAMPLE, **options):
    return BinSizeDisplay.from_predictions(
        sample.queries, against="sample_size", random_state=0, **options
    )


def counts(**options):
    return CountDisplay.from_posterior(COUNTS, **options)
