"""
The curve of a cross-validation
===============================

How much does the curve change from fold to fold?
:meth:`~sklearn_calib.AdaptiveCalibrationDisplay.from_cv_results` draws the test folds of a
cross-validation: all of them pooled, and each as a thin line.
"""

# %%
# ``return_estimator`` and ``return_indices`` keep what is needed: the model of each fold, and which
# rows it was tested on.

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

import sklearn_calib  # noqa: F401

X, y = make_classification(
    n_samples=5000,
    n_features=40,
    n_informative=10,
    n_redundant=30,
    flip_y=0,
    class_sep=0.8,
    random_state=4,
)
models = {"naive Bayes": GaussianNB(), "logistic regression": LogisticRegression(max_iter=1000)}
results = {
    name: cross_validate(
        model,
        X,
        y,
        scoring="neg_adaptive_bin_calibration_error",
        return_estimator=True,
        return_indices=True,
    )
    for name, model in models.items()
}

# %%
# The pooled curve has a query for every row of the data, each answered by a model that has not seen
# it. Its bins are those of the thick line. The thin lines have bins of their own.

import matplotlib.pyplot as plt

from sklearn_calib import AdaptiveCalibrationDisplay

fig, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
for ax, (name, result) in zip(axes, results.items(), strict=True):
    AdaptiveCalibrationDisplay.from_cv_results(result, X, y, name=name, despine=True, ax=ax)
plt.show()

# %%
# All folds of naive Bayes have the same shape, so it belongs to the model and not to the split. The
# folds of the logistic regression scatter around the diagonal, as small samples do.
#
# The scores of the folds are in the same results:

for name, result in results.items():
    print(name, -result["test_score"].round(3))
