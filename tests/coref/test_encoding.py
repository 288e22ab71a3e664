"""Features as numbers, whatever their sizes and types."""

import numpy as np
import pytest

from sklearn_calib.coref import AntecedentModel, MentionFeatures
from sklearn_calib.datasets import make_coref_documents


@pytest.fixture(scope="module")
def documents():
    return make_coref_documents(8, n_sentences=5, random_state=0).X


def noisy(n_features, n_categories, step):
    """Pair features with few categories, numbered from 0 in steps."""

    def features(document):
        rng = np.random.default_rng(len(document.tokens))
        n = len(document)
        pair = {
            f"p{k}": step * rng.integers(0, n_categories, size=(n, n)) for k in range(n_features)
        }
        return MentionFeatures(["x"] * n, pair=pair)

    return features


@pytest.mark.parametrize(("n_features", "step"), [(8, 150), (6, 1500), (11, 40), (30, 3)])
def test_combinations_beyond_64_bits(documents, n_features, step):
    # The numbers of categories do not matter, only which of them are equal.
    options = {"max_iter": 500, "tol": 1e-10}
    near = AntecedentModel(features=noisy(n_features, 3, 1), **options).fit(documents)
    far = AntecedentModel(features=noisy(n_features, 3, step), **options).fit(documents)
    for a, b in zip(near.predict_proba(documents), far.predict_proba(documents), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)


@pytest.mark.parametrize(
    ("dtype", "largest"),
    [("uint8", 255), ("int8", 127), ("uint64", 300), ("int16", 300), ("bool", 1)],
)
def test_pair_features_of_any_integer_type(documents, dtype, largest):
    def features(dtype):
        def of(document):
            n = len(document)
            same = (np.arange(n)[:, None] + np.arange(n)) % 3 == 0
            return MentionFeatures(["x"] * n, pair={"p": (same * largest).astype(dtype)})

        return of

    found = AntecedentModel(features=features(dtype)).fit(documents)
    expected = AntecedentModel(features=features(np.intp)).fit(documents)
    assert np.array_equal(found.coef_, expected.coef_)
