"""Draw the pictures of the README: ``python docs/_make/readme_picture.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from sklearn_calib import AdaptiveCalibrationDisplay, CountDisplay
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon

STATIC = Path(__file__).parents[1] / "_static"


def save(figure, name):
    figure.savefig(STATIC / name, dpi=130)
    print(f"docs/_static/{name}")


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
models = {"naive Bayes": GaussianNB(), "logistic regression": LogisticRegression(max_iter=1000)}

fig, ax = plt.subplots(figsize=(5.4, 5.4), layout="constrained")
for name, model in models.items():
    AdaptiveCalibrationDisplay.from_estimator(
        model.fit(X_train, y_train), X_test, y_test, name=name, ax=ax, despine=True
    )
scores = [f"{model.score(X_test, y_test):.0%}" for model in models.values()]
ax.set_title(f"Two classifiers, right {' and '.join(scores)} of the time", fontsize="medium")

save(fig, "calibration_curve.png")

corpus = make_event_corpus(600, random_state=0)
rule = AgentRule(country_lexicon(), verbs=["attack"])
counts = count_corpus(corpus.X, corpus.model, rule, period="Q", random_state=0)
display = CountDisplay.from_posterior(counts, keys=["USA", "IRQ"], despine=True)
display.ax_.set_title("Simulated articles in which a country attacks", fontsize="medium")
save(display.figure_, "counts.png")
