"""Run by test_scorer in a fresh interpreter: every scikit-learn entry point that takes a string.

The one argument says whether sklearn_calib is imported before or after scikit-learn's modules.
"""

import sys
import warnings

warnings.simplefilter("error")
# scikit-learn 1.6 on a newer SciPy, and 1.9's renamed parameters of LogisticRegressionCV.
warnings.filterwarnings("ignore", category=DeprecationWarning)
warnings.filterwarnings("ignore", category=FutureWarning)
# TunedThresholdClassifierCV asks about decisions, which is worth a warning.
warnings.filterwarnings("ignore", message="y_prob holds only 0 and 1")

FIRST = sys.argv[1] == "first"
if FIRST:
    import sklearn_calib

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from sklearn import metrics
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    LearningCurveDisplay,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)

if not FIRST:
    import sklearn_calib

NAME = "neg_adaptive_bin_calibration_error"
X, y = make_classification(400, random_state=0)
model = LogisticRegression(C=0.1)
grid = {"C": [0.01, 1.0]}


def finite(values):
    assert np.isfinite(values).all(), values
    assert (np.asarray(values) <= 0).all(), values


for name in (NAME, f"{NAME}_macro", f"{NAME}_top_label"):
    finite(cross_val_score(model, X, y, scoring=name, cv=3))
    assert name in metrics.get_scorer_names()
    metrics.get_scorer(name)
assert f"{NAME}_tag_pair" in metrics.get_scorer_names()
assert f"{NAME}_span" in metrics.get_scorer_names()

finite(cross_validate(model, X, y, scoring=NAME, cv=3)["test_score"])
finite(cross_validate(model, X, y, scoring=[NAME, "accuracy"], cv=3)[f"test_{NAME}"])
finite(cross_validate(model, X, y, scoring={"c": NAME}, cv=3)["test_c"])
assert metrics.check_scoring(model, scoring=NAME)(model.fit(X, y), X, y) <= 0
for search in (
    GridSearchCV(model, grid, scoring=NAME, cv=3),
    RandomizedSearchCV(model, grid, n_iter=2, scoring=NAME, cv=3, random_state=0),
    HalvingGridSearchCV(model, grid, scoring=NAME, cv=3, random_state=0),
    HalvingRandomSearchCV(model, grid, n_candidates=2, scoring=NAME, cv=3, random_state=0),
):
    finite(search.fit(X, y).best_score_)
finite(learning_curve(model, X, y, scoring=NAME, cv=3)[2])
finite(validation_curve(model, X, y, param_name="C", param_range=[0.1, 1], scoring=NAME, cv=3)[1])
finite(permutation_test_score(model, X, y, scoring=NAME, cv=3, n_permutations=3)[0])
permutation_importance(model, X, y, scoring=NAME, n_repeats=2)
LogisticRegressionCV(Cs=2, scoring=NAME, cv=3).fit(X, y)
RidgeCV(scoring=NAME)._validate_params()
SequentialFeatureSelector(model, scoring=NAME, cv=2, n_features_to_select=1).fit(X[:, :3], y)
RFECV(model, scoring=NAME, cv=2, step=0.5).fit(X, y)
HistGradientBoostingClassifier(scoring=NAME, early_stopping=True, max_iter=5).fit(X, y)
TunedThresholdClassifierCV(model, scoring=NAME, cv=3).fit(X, y)
LearningCurveDisplay.from_estimator(model, X, y, scoring=NAME, cv=3)
scorer = sklearn_calib.AdaptiveBinCalibrationError()
LearningCurveDisplay.from_estimator(model, X, y, scoring=scorer, cv=3)
ValidationCurveDisplay.from_estimator(
    model, X, y, param_name="C", param_range=[0.1, 1.0], scoring=NAME, cv=3
)
print("ok")
