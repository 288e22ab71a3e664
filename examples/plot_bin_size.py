"""
How much the bin size matters
=============================

The calibration error depends on the bins. :func:`~sklearn_calib.bin_size_curve` shows how much, and
what a perfectly calibrated model would show in the same bins.
"""

# %%
# Two classifiers, one of which takes features that repeat each other for new evidence.

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
models = {"naive Bayes": GaussianNB(), "logistic regression": LogisticRegression(max_iter=1000)}
predictions = {
    name: model.fit(X_train, y_train).predict_proba(X_test)[:, 1] for name, model in models.items()
}

# %%
# One call, many sizes
# --------------------
# The predictions are sorted once; running sums then give the error for every size.

from sklearn_calib import bin_size_curve

curves = {name: bin_size_curve(y_test, q) for name, q in predictions.items()}
print(curves["naive Bayes"])

# %%
# The picture
# -----------
# :class:`~sklearn_calib.BinSizeDisplay` draws such a curve. The shaded *null band* is where the
# plain (plug-in) error of a perfectly calibrated model would fall in 95 % of samples. It rises to
# the left: in small bins, chance looks like error.

import matplotlib.pyplot as plt

from sklearn_calib import BinSizeDisplay

fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
for ax, (name, curve) in zip(axes, curves.items(), strict=True):
    BinSizeDisplay(curve).plot(ax=ax, despine=True)
    ax.set_title(name)
axes[0].set_ylim(-0.005, 0.26)
axes[1].set_ylabel("")
plt.show()

# %%
# The error of naive Bayes is far above the band at every size but the largest, and hardly changes
# between 50 and 1,000 queries per bin. That is the range to work in. With fewer than four bins it
# falls: predictions that are too low and too high meet in one bin, and cancel out.
#
# The plain error of the logistic regression follows the band. In the smallest bins it is as large
# as that of naive Bayes in good ones, and all of it is chance. The debiased error stays below 0.03.
#
# The size that the data choose
# -----------------------------
# The dotted line is the size of least leave-one-out risk: the size that predicts a residual best
# from the others in its bin. :func:`~sklearn_calib.select_bin_size` returns it. It depends on the
# labels, so that it is not the automatic choice: that is ``max(10, cbrt(N))`` bins, 22 here.

for name, curve in curves.items():
    print(f"{name:<20} bin_size {curve.selected:>6,.0f}")
