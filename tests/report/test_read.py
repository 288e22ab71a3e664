"""Columns as labels."""

import pytest

from sklearn_calib.report._read import as_labels


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "0"], [1, 0]),
        (["1.0", "0.0"], [1, 0]),
        (["true", "False"], [True, False]),
        (["1", "01"], ["1", "01"]),
        (["9007199254740992", "9007199254740993"], ["9007199254740992", "9007199254740993"]),
        (["nan", "1"], ["nan", "1"]),
        ([10**30, 1], [str(10**30), "1"]),
        (["a", "b"], ["a", "b"]),
    ],
)
def test_labels_never_merge(values, expected):
    assert as_labels(values, "y").tolist() == expected
