"""Features beyond the surface."""

from sklearn_calib.coref import (
    Document,
    extended_features,
)


def test_repetitions_are_counted():
    words = ["Ada", "saw", "Bob", "and", "Ada", "and", "ada", "and", "she"]
    mentions = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
    seen = extended_features(Document("d", words, mentions=mentions))
    assert seen.mention["earlier"].tolist() == ["0", "0", "1", "2", "0"]
    assert seen.mention["later"].tolist() == ["2", "0", "1", "0", "0"]
