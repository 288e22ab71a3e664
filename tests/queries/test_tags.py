"""Marginals of any tagger as queries."""

import numpy as np
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401

from sklearn_calib import (
    tag_queries,
)


def test_marginals_from_elsewhere():
    tags = [["X", "Y", "Z"], ["Z"]]
    proba = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.3, 0.4]])
    queries = tag_queries(tags, proba, classes=["X", "Y", "Z"])
    assert queries.group.tolist() == [0] * 9 + [1] * 3
    assert queries.where(label="Z").y_prob.tolist() == [0.2, 0.1, 0.6, 0.4]
    top = tag_queries(tags, proba, classes=["X", "Y", "Z"], average="top_label")
    assert top.y_prob.tolist() == [0.5, 0.8, 0.6, 0.4]
    assert top.y_true.all()
    pairs = tag_queries(
        tags,
        [[0.4, 0.1], [0.3, 0.2]],
        classes=["X", "Y", "Z"],
        unit="pair",
        pairs=[("X", "Y"), ("Y", "Z")],
    )
    assert pairs.y_true.tolist() == [True, False, False, True]
    assert pairs.group.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "pair"}, "unit='pair' needs pairs"),
        ({"pairs": [("X", "Y")]}, "pairs go with unit='pair'"),
        ({"unit": "pair", "pairs": [("X", "Q")]}, "'Q' is not one of the tags"),
        ({"unit": "pair", "pairs": ["XY"]}, "a pair of tags such as"),
        ({"unit": "pair", "pairs": []}, "pairs is empty"),
        ({"unit": "pair", "pairs": [("X", "Y")]}, "a column for each of the 1 pairs"),
        ({"average": "mean"}, "average='mean' is not known"),
        ({"classes": [0, 1]}, "classes has 0 .*tags must be strings"),
        ({"unit": "pair", "pairs": 3}, "pairs=3 must be a list"),
        ({"sample_weight": [1.0, 2.0]}, "sample_weight must have one entry"),
        ({"classes": ["X", "Y", "Z"]}, r"y_prob must have shape \(n_samples, 3\)"),
    ],
)
def test_marginals_that_do_not_fit(options, message):
    options = {"classes": ["X", "Y"], **options}
    with pytest.raises((ValueError, TypeError), match=message):
        tag_queries([["X", "Y"]], [[0.5, 0.5], [0.1, 0.9]], **options)


def test_rows_that_do_not_fit():
    with pytest.raises(ValueError, match="y_prob has 2 rows, but y has 3"):
        tag_queries([["X", "Y", "X"]], [[0.5, 0.5], [0.1, 0.9]], classes=["X", "Y"])
