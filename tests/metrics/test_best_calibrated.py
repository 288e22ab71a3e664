"""Choosing under a constraint of calibration."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_validate,
)

from sklearn_calib import best_calibrated

ERROR = "neg_adaptive_bin_calibration_error"


def results(errors, scores, name="accuracy"):
    """Return what a search leaves behind, from one row per setting and one column per fold."""
    found = {}
    for key, table in ((ERROR, -np.array(errors)), (name, np.array(scores))):
        for fold, column in enumerate(table.T):
            found[f"split{fold}_test_{key}"] = column
        found[f"mean_test_{key}"] = table.mean(axis=1)
    return found


def test_the_most_accurate_of_those_that_are_near():
    found = results(
        errors=[[0.02, 0.04, 0.03], [0.03, 0.02, 0.05], [0.10, 0.13, 0.11]],
        scores=[[0.80, 0.80, 0.80], [0.85, 0.85, 0.85], [0.95, 0.95, 0.95]],
    )
    # The second differs from the first by less than a standard error, the third by much.
    assert best_calibrated()(found) == 1
    assert best_calibrated(tolerance=0.0)(found) == 0
    assert best_calibrated(tolerance=1e6)(found) == 2


def test_folds_are_paired():
    # Errors vary much between folds and equally for both: the second is worse for sure.
    folds = np.array([0.02, 0.20, 0.10, 0.05])
    worse = folds + np.array([0.010, 0.011, 0.009, 0.010])
    found = results(errors=[folds, worse], scores=[[0.5] * 4, [0.9] * 4])
    assert best_calibrated()(found) == 0


def test_ties_in_the_score_go_to_the_better_calibrated():
    found = results(errors=[[0.05, 0.01], [0.02, 0.03]], scores=[[0.9, 0.9], [0.9, 0.9]])
    assert best_calibrated()(found) == 1


def test_failed_settings_are_left_out():
    nan = np.nan
    found = results(errors=[[nan, 0.0], [0.1, 0.2]], scores=[[nan, 0.9], [0.5, 0.6]])
    assert best_calibrated()(found) == 1
    with pytest.raises(ValueError, match="No setting has finite scores"):
        best_calibrated()(results(errors=[[nan]], scores=[[nan]]))


def test_one_fold_has_no_standard_error():
    found = results(errors=[[0.02], [0.03]], scores=[[0.5], [0.9]])
    assert best_calibrated()(found) == 0


def test_names_are_not_mixed_up():
    found = results(errors=[[0.1, 0.1]], scores=[[0.5, 0.5]])
    with pytest.raises(ValueError, match="no score 'f1', only"):
        best_calibrated("f1")(found)
    # One name may end like another.
    found = results(errors=[[0.1, 0.1], [0.1, 0.1]], scores=[[1, 1], [0, 0]], name="my_accuracy")
    with pytest.raises(ValueError, match="no score 'accuracy'"):
        best_calibrated("accuracy")(found)


@pytest.mark.parametrize("options", [{"tolerance": -1.0}, {"tolerance": "x"}, {"score": len}])
def test_bad_options(options):
    with pytest.raises((TypeError, ValueError)):
        best_calibrated(**options)


def test_in_searches():
    X, y = make_classification(400, n_informative=4, flip_y=0.2, random_state=0)
    refit = best_calibrated("neg_log_loss")
    grid = {"C": [1e-4, 1e-2, 1.0, 100.0]}
    search = GridSearchCV(
        LogisticRegression(), grid, scoring=["neg_log_loss", ERROR], refit=refit, cv=4
    )
    search = clone(search).fit(X, y)
    assert search.best_index_ == refit(search.cv_results_)
    assert search.predict_proba(X).shape == (400, 2)
    again = pickle.loads(pickle.dumps(refit))
    assert again(search.cv_results_) == search.best_index_
    drawn = RandomizedSearchCV(
        LogisticRegression(), grid, n_iter=2, scoring=["neg_log_loss", ERROR], refit=refit
    ).fit(X, y)
    assert drawn.best_index_ in (0, 1)


def test_a_search_can_be_scored_and_nested():
    X, y = make_classification(300, n_informative=4, flip_y=0.2, random_state=0)
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [1e-3, 1.0]},
        scoring=["accuracy", ERROR],
        refit=best_calibrated(),
        cv=3,
    )
    nested = cross_validate(search, X, y, cv=3, return_estimator=True)
    own = nested["estimator"][0].best_estimator_
    first = next(iter(StratifiedKFold(3).split(X, y)))[1]
    assert nested["test_score"][0] == own.score(X[first], y[first])


def test_it_is_found_under_the_name_of_its_score():
    one = best_calibrated("f1", calibration="error")
    assert {"f1": 1, "error": 2}[one] == 1
    assert one == best_calibrated("f1", calibration="error")
    assert one != best_calibrated("f1", calibration="error", tolerance=2.0)
    assert one != "error"
    assert one != 1
