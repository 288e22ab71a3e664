"""Features by name, by a callable, or several; wrong ones are named."""

import numpy as np
import pytest

from sklearn_calib.coref import (
    AntecedentModel,
    MentionFeatures,
)


def hair(document):
    """A feature that gives the entities away."""
    colour = np.asarray(document.entities)
    return MentionFeatures(
        ["x"] * len(document), pair={"same": (colour[:, None] == colour).astype(int)}
    )


def test_callable_features(data):
    documents, entities = data.X[:20], data.y[:20]
    model = AntecedentModel(features=["surface", hair], C=10).fit(documents, entities)
    assert model.score(documents, entities) > 0.95
    assert "he" in model.types_  # those of the first set


def wrong(**parts):
    def features(document):
        n = len(document)
        return MentionFeatures(**{"types": ["x"] * n, **parts})

    return features


def every(types=("x",), mention=("a",), backoff=("a",), pair=0):
    """The same features for all mentions."""

    def features(document):
        n = len(document)
        return MentionFeatures(
            list(types) * n,
            {"w": list(mention) * n},
            {"w": list(backoff) * n},
            {"p": np.full((n, n), pair)},
        )

    return features


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (wrong(types=["x"]), "'simulated-0': feature 'types' must have one entry"),
        (wrong(mention={"w": ["a"]}), "feature 'w' must have one entry"),
        (wrong(pair={"p": np.zeros((1, 1))}), "pair feature 'p' must hold integers"),
    ],
)
def test_bad_features_are_named(data, features, message):
    with pytest.raises(ValueError, match=message):
        AntecedentModel(features=features).fit(data.X[:3], data.y[:3])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (wrong(types=3), "feature 'types' must have one entry"),
        (wrong(mention={"w": 3}), "feature 'w' must have one entry"),
        (every(mention=[["a"]]), "feature 'w' must have one entry"),
        (every(mention=[7]), "feature 'w' must hold strings.* mention 0 has 7"),
        (every(types=[None]), "feature 'types' must hold strings; mention 0 has None"),
        (every(backoff=[7]), "backoff 'w' must hold strings"),
        (wrong(mention=None), "mention of MentionFeatures must map names to values; got None"),
        (wrong(pair={"p": [[1], [1, 2]]}), "pair feature 'p' is ragged"),
        (every(pair=-1), "pair feature 'p' has the category -1"),
        (every(pair=10**14), "pair feature 'p' has the category 100000000000000"),
    ],
)
def test_features_of_the_wrong_kind_are_named(data, features, message):
    with pytest.raises((TypeError, ValueError), match=f"Document 'simulated-0': {message}"):
        AntecedentModel(features=features).fit(data.X[:3], data.y[:3])
