"""
Model selection by calibration
==============================

Importing ``sklearn_calib`` gives scikit-learn new strings for ``scoring``. This example uses them
in cross-validation and in a grid search, next to scikit-learn's own.
"""

# %%
# Cross-validation
# ----------------
# The string is enough. As with every ``neg_`` string of scikit-learn, the score is minus the error,
# so larger is better.

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB

import sklearn_calib  # noqa: F401

X, y = load_digits(return_X_y=True)
naive_bayes, forest = GaussianNB(), RandomForestClassifier(random_state=0)

for name, model in {"naive Bayes": naive_bayes, "random forest": forest}.items():
    scores = cross_val_score(model, X, y, scoring="neg_adaptive_bin_calibration_error")
    print(f"{name:<14} {-scores.mean():.4f} (folds: {-scores.max():.4f} to {-scores.min():.4f})")

# %%
# Several strings at once
# -----------------------
# With ten classes there are three ways to average. The plain string pools the questions about all
# classes; ``_macro`` takes the mean over the classes; ``_top_label`` asks only whether the
# predicted class is the right one. scikit-learn predicts each fold once for all of them.

name = "neg_adaptive_bin_calibration_error"
results = cross_validate(naive_bayes, X, y, scoring=[name, f"{name}_macro", f"{name}_top_label"])
for key, values in results.items():
    if key.startswith("test_"):
        print(f"{key.removeprefix('test_'):<46} {values.mean():.4f}")

# %%
# A grid search
# -------------
# A calibration error alone is a poor goal: a model that always answers with the base rate has a
# small one and is useless. So search with several scores, let a proper score such as the log loss
# choose, and look at calibration beside it.

import numpy as np

search = GridSearchCV(
    naive_bayes,
    {"var_smoothing": np.logspace(-4, 2, 13)},
    scoring=["accuracy", "neg_log_loss", "neg_adaptive_bin_calibration_error"],
    refit="neg_log_loss",
).fit(X, y)
print(f"var_smoothing={search.best_params_['var_smoothing']:g}")

# %%
# Little smoothing makes naive Bayes too bold, much smoothing makes it too cautious. The accuracy
# hardly notices; the calibration error does. The orange point is the best of each panel.

import matplotlib.pyplot as plt

smoothing = search.cv_results_["param_var_smoothing"].astype(float)
panels = {
    "accuracy": ("accuracy", 1),
    "log loss": ("neg_log_loss", -1),
    "calibration error": ("neg_adaptive_bin_calibration_error", -1),
}
fig, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for ax, (title, (scoring, sign)) in zip(axes, panels.items(), strict=True):
    mean = sign * search.cv_results_[f"mean_test_{scoring}"]
    best = np.argmin(search.cv_results_[f"rank_test_{scoring}"])
    ax.semilogx(smoothing, mean, marker="o", markersize=4, color="#0072B2")
    ax.semilogx(smoothing[best], mean[best], marker="o", markersize=9, color="#D55E00")
    ax.set(title=title, xlabel="var_smoothing", ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Options
# -------
# The strings stand for scorer objects with default options. For other options, pass the object.

from sklearn_calib import AdaptiveBinCalibrationError

scoring = {
    "root mean square": AdaptiveBinCalibrationError(),
    "debiased": AdaptiveBinCalibrationError(debias=True),
    "mean gap, 10 bins": AdaptiveBinCalibrationError(n_bins=10, norm="l1"),
}
results = cross_validate(search.best_estimator_, X, y, scoring=scoring)
for key in scoring:
    print(f"{key:<18} {-results[f'test_{key}'].mean():.4f}")
