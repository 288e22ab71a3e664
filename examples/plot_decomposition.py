"""
What a score is made of
=======================

The Brier score and the log loss reward two things at once: probabilities that mean what they say,
and classes told apart. This example splits them.
"""

# %%
# A proper score is the sum of two parts and a small remainder.
#
# - *Calibration*: how far the mean prediction of each bin is from the frequency in it. A better
#   mapping of the same predictions removes it.
# - *Refinement*: how mixed the bins are. Only a model that tells the classes apart better lowers
#   it.
# - *Within bins*: what is lost by looking at bins and not at single predictions.
#
# The models are naive Bayes, the same after two kinds of recalibration, and a logistic regression.

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

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
models = {
    "naive Bayes": GaussianNB(),
    "sigmoid": CalibratedClassifierCV(GaussianNB(), method="sigmoid", ensemble=False),
    "isotonic": CalibratedClassifierCV(GaussianNB(), method="isotonic", ensemble=False),
    "logistic": LogisticRegression(max_iter=1000),
}
predictions = {
    name: model.fit(X_train, y_train).predict_proba(X_test)[:, 1] for name, model in models.items()
}

# %%
# The parts add up
# ----------------
# The sum of the parts is scikit-learn's ``brier_score_loss``, to rounding.

from sklearn.metrics import brier_score_loss

from sklearn_calib import score_decomposition

q = predictions["naive Bayes"]
parts = score_decomposition(y_test, q)
print(parts)
print(f"brier_score_loss  {brier_score_loss(y_test, q):.4f}")

# %%
# Four models
# -----------
# The number above a bar is its calibration part, drawn on top of refinement. Both recalibrations
# keep the order of the predictions, so they can win the calibration part and nothing else. The
# sigmoid has the wrong shape for naive Bayes and wins half of the calibration part of the Brier
# score; isotonic regression wins nearly all of it.
#
# The log loss leaves isotonic regression out: it predicts exactly 0 for a few rows whose answer is
# yes, and its log loss is infinite. ``score_decomposition`` warns about this.

import matplotlib.pyplot as plt
import numpy as np

fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", width_ratios=[4, 3])
for ax, score, title in zip(axes, ("brier", "log"), ("Brier score", "log loss"), strict=True):
    names = [name for name in models if score == "brier" or name != "isotonic"]
    split = [score_decomposition(y_test, predictions[n], score=score, n_bins=20) for n in names]
    refinement = np.array([s.refinement for s in split])
    calibration = np.array([s.calibration for s in split])
    ax.bar(names, refinement, width=0.6, color="#56B4E9", label="refinement")
    bars = ax.bar(
        names, calibration, width=0.6, bottom=refinement, color="#D55E00", label="calibration"
    )
    ax.bar_label(bars, [f"{value:.4f}" for value in calibration], padding=3)
    ax.set_title(title)
    ax.spines[["top", "right"]].set_visible(False)
axes[1].legend(loc="upper right", frameon=False)
plt.show()

# %%
# What the bins do to the split
# -----------------------------
# With bins of a single query nothing is mixed, so refinement is zero and the whole score counts as
# calibration. With a single bin, calibration is the squared gap of the two means. In between lies a
# range where the split hardly depends on the bins. The automatic bins, 22 for these 10,000 rows,
# are in it.

print("bin_size  calibration  refinement  within_bin   score")
for bin_size in (1, 10, 100, 500, 2000, 10_000):
    s = score_decomposition(y_test, predictions["naive Bayes"], bin_size=bin_size)
    print(
        f"{bin_size:>8}  {s.calibration:>11.4f}  {s.refinement:>10.4f}  {s.within_bin:>10.4f}"
        f"  {s.score:>6.4f}"
    )
