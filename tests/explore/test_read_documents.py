"""Documents that were read: choices and pools of their keys."""

import numpy as np

from sklearn_calib.explore._read_documents import ReadDocuments

READ = ReadDocuments(np.array([4, 2]), np.array([0.5, 0.1]), np.array([[1, 0, 2], [0, 0, 3]]))


def test_keys_are_chosen_and_pooled():
    assert len(READ) == 2
    assert READ.select([2, 0]).counts.tolist() == [[2, 1], [3, 0]]
    groups = {"ab": ["a", "b"], "all": ["a", "b", "c"], "none": []}
    assert READ.pooled(groups, ("a", "b", "c"), None).counts.tolist() == [[1, 1, 0], [0, 1, 0]]
    assert READ.pooled(groups, ("a", "b", "c"), "sum").counts.tolist() == [[1, 3, 0], [0, 3, 0]]
    assert READ.pooled(groups, ("a", "b", "c"), "sum").place.tolist() == [4, 2]
