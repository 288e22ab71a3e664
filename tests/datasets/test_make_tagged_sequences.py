"""Simulated tagged sentences."""

from itertools import pairwise

import numpy as np
import pytest

from sklearn_calib.datasets import make_tagged_sequences


def test_shares_are_those_of_the_model():
    data = make_tagged_sequences(4000, n_tags=3, n_words=12, mean_length=6, random_state=1)
    codes = {tag: i for i, tag in enumerate(data.classes)}
    first = np.bincount([codes[row[0]] for row in data.y], minlength=3) / 4000
    np.testing.assert_allclose(first, data.start, atol=5 * 0.5 / np.sqrt(4000))
    pairs = np.zeros((3, 3))
    words = np.zeros((3, 12))
    for tokens, tags in zip(data.X, data.y, strict=True):
        for a, b in pairwise(tags):
            pairs[codes[a], codes[b]] += 1
        for word, tag in zip(tokens, tags, strict=True):
            words[codes[tag], data.vocabulary.index(word)] += 1
    for counts, truth in ((pairs, data.transitions), (words, data.emissions)):
        total = counts.sum(axis=1, keepdims=True)
        error = np.sqrt(truth * (1 - truth) / total)
        assert (np.abs(counts / total - truth) <= 5 * error + 1e-9).all()
    lengths = np.array([len(row) for row in data.X])
    assert lengths.min() >= 1
    assert abs(lengths.mean() - 6) < 5 * np.sqrt(5 / 4000)


def test_the_seed_decides():
    one, two = (make_tagged_sequences(5, random_state=3) for _ in range(2))
    assert one.X == two.X
    assert one.y == two.y
    assert make_tagged_sequences(5, random_state=4).X != one.X


def test_many_tags_have_numbers():
    data = make_tagged_sequences(2, n_tags=30, random_state=0)
    assert data.classes[[0, 29]].tolist() == ["T00", "T29"]


@pytest.mark.parametrize(
    "options",
    [{"n_tags": 0}, {"mean_length": 0.5}, {"tag_concentration": 0.0}, {"word_concentration": -1}],
)
def test_wrong_options(options):
    with pytest.raises(ValueError):
        make_tagged_sequences(3, **options)
