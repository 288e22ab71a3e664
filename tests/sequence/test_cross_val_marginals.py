"""Marginals of sentences that a tagger was not trained on."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
)

from sklearn_calib.sequence import HMMTagger, cross_val_marginals
from tests.sequence.text import sentences

X, y = sentences()


def test_cross_validated_marginals(tagger):
    folds = KFold(4, shuffle=True, random_state=0)
    result = cross_val_marginals(tagger, X, y, cv=folds)
    assert result.classes.tolist() == sorted({t for row in y for t in row})
    starts = np.cumsum([0] + [len(s) for s in X])
    for train, test in folds.split(X):
        own = clone(tagger).fit([X[i] for i in train], [y[i] for i in train])
        columns = np.searchsorted(result.classes, own.classes_)
        for i in test:
            got = result.y_prob[starts[i] : starts[i + 1]]
            np.testing.assert_allclose(got[:, columns], own.predict_proba([X[i]]), atol=1e-12)
            assert np.delete(got, columns, axis=1).sum() == 0
    queries = result.queries()
    assert len(queries) == result.y_prob.size
    pairs = cross_val_marginals(tagger, X, y, cv=folds, unit="pair", pairs=7, n_jobs=2)
    assert pairs.y_prob.shape == (len(result.y_prob) - len(X), 7)
    assert len(pairs.queries()) == pairs.y_prob.size


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([([1, 2, 3], [4, 5])], "Sentence 0 is in 0 test folds"),
        ([], "Sentence 0 is in 0 test folds"),
        ([(range(16), range(16))], "Sentence 0 is in the training and in the test"),
        ([([1, 2], [-1])], "outside 0 to 15"),
        ([(np.arange(16) < 8, np.arange(16) >= 8)], "two integer arrays"),
    ],
)
def test_folds_must_split_all_sentences(tagger, folds, message):
    with pytest.raises(ValueError, match=message):
        cross_val_marginals(tagger, X, y, cv=folds)


def test_marginals_of_a_search_and_of_a_frozen_tagger(fitted):
    name = "emission_pseudocount" if isinstance(fitted, HMMTagger) else "c2"
    search = GridSearchCV(clone(fitted), {name: [0.1, 1.0]}, cv=2)
    result = cross_val_marginals(search, X, y, cv=2, unit="pair", pairs=4)
    assert result.y_prob.shape[1] == 4
    assert result.y_prob.max() > 0
    frozen = cross_val_marginals(FrozenEstimator(fitted), X, y, cv=2)
    columns = np.searchsorted(frozen.classes, fitted.classes_)
    # To the last bits only, which depend on the sentences that are worked on together.
    np.testing.assert_allclose(frozen.y_prob[:, columns], fitted.predict_proba(X), rtol=1e-12)


class Backwards(HMMTagger):
    """A tagger of somebody else, whose columns are in another order, with one too many."""

    def fit(self, X, y):
        super().fit(X, y)
        self.columns_ = [*self.classes_[::-1].tolist(), "extra"]
        return self

    def predict_proba(self, X, *, unit="tag", pairs=None):
        proba = super().predict_proba(X, unit=unit, pairs=pairs)
        self.classes_ = np.array(self.columns_)
        return np.hstack([proba[:, ::-1], np.zeros((len(proba), 1))])

    @property
    def classes_(self):
        return self._classes if not hasattr(self, "columns_") else np.array(self.columns_)

    @classes_.setter
    def classes_(self, values):
        self._classes = values


def test_columns_go_by_name():
    one = cross_val_marginals(HMMTagger(), X, y, cv=2)
    two = cross_val_marginals(Backwards(), X, y, cv=2)
    np.testing.assert_array_equal(one.y_prob, two.y_prob)


def test_pairs_need_neighbours(tagger):
    with pytest.raises(ValueError, match="Every sentence has a single token"):
        cross_val_marginals(tagger, [["a"]] * 4, [["X"]] * 4, cv=2, unit="pair")
    with pytest.raises(ValueError, match="set unit='pair' as well"):
        cross_val_marginals(tagger, X, y, cv=2, pairs=3)


def test_marginals_become_a_table():
    result = cross_val_marginals(HMMTagger(), X, y, cv=2)
    assert repr(result) == "Cross-validated marginals of 10 tags: 95 tokens in 16 sentences"
    frame = result.to_frame()
    assert frame["y_true"].tolist() == [tag for tags in y for tag in tags]
    assert frame["P(N)"].tolist() == result.y_prob[:, result.classes.tolist().index("N")].tolist()
    pairs = cross_val_marginals(HMMTagger(), X, y, cv=2, unit="pair", pairs=[("D", "N")]).to_frame()
    assert len(pairs) == len(frame) - len(X)
    assert pairs["y_true"][0] == "D A"
    assert "P(D N)" in pairs


def test_a_function_belongs_elsewhere():
    with pytest.raises(TypeError, match="cross_val_scan"):
        cross_val_marginals(HMMTagger(), lambda: iter(()), [])
