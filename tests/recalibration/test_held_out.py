"""Models of folds, and the samples that they have not seen."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_calib.coref import ScoreRanker
from sklearn_calib.recalibration._held_out import held_out_models, model_inside
from sklearn_calib.sequence import HMMTagger


class Recorder(BaseEstimator):
    """Remembers what it was trained on."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.weight_ = list(X), list(y), sample_weight
        return self


X = [[f"w{i}"] for i in range(10)]
Y = [["A" if i % 2 else "B"] for i in range(10)]


def hold_out(estimator, X=X, y=Y, **options):
    given = {"cv": None, "groups": None, "weight": None, "fit_options": {}, "n_jobs": None}
    return held_out_models(estimator, X, y, **{**given, **options})


@pytest.mark.parametrize("cv", [None, 2, 3])
def test_each_sample_is_held_out_once_from_the_model_that_is_asked(cv):
    parts = hold_out(Recorder(), cv=cv)
    assert len(parts) == (cv or 5)
    assert [x for part in parts for x in part.X] == X
    for part in parts:
        seen = [x[0] for x in part.model.X_]
        assert not {x[0] for x in part.X} & set(seen)
        assert sorted([*seen, *(x[0] for x in part.X)]) == sorted(x[0] for x in X)
        # Tags stay with their sentences.
        assert [Y[X.index(x)] for x in part.X] == part.y
        assert [Y[X.index(x)] for x in part.model.X_] == part.model.y_


def test_weights_are_cut_for_training_and_for_recalibration():
    weight = np.arange(10.0)
    parts = hold_out(Recorder(), cv=2, weight=weight, fit_options={"sample_weight": weight})
    assert parts[0].weight.tolist() == [0, 1, 2, 3, 4]
    assert parts[0].model.weight_.tolist() == [5, 6, 7, 8, 9]
    assert hold_out(Recorder(), cv=2)[0].weight is None


def test_folds_of_ones_own():
    weight = np.arange(10.0)
    for fold in ((range(6), range(6, 10)), (list(range(6)), [6, 7, 8, 9])):
        (part,) = hold_out(
            Recorder(), cv=[fold], weight=weight, fit_options={"sample_weight": weight}
        )
        assert X[6:] == part.X
        assert X[:6] == part.model.X_
        assert part.weight.tolist() == [6.0, 7.0, 8.0, 9.0]


def test_groups_stay_together():
    groups = np.repeat([0, 1], 5)
    parts = hold_out(Recorder(), cv=GroupKFold(2), groups=groups)
    held = [{X.index(x) // 5 for x in part.X} for part in parts]
    assert sorted(map(sorted, held)) == [[0], [1]]


def test_every_so_many_th_document_with_mentions():
    documents = [np.zeros((n, n)) for n in (2, 0, 3, 4, 0, 5, 6)]
    entities = [[0] * len(document) for document in documents]
    parts = hold_out(ScoreRanker(), documents, entities)
    assert [[len(x) for x in part.X] for part in parts] == [[2, 4, 6], [3, 5]]
    three = hold_out(ScoreRanker(), documents, entities, cv=3)
    assert [[len(x) for x in part.X] for part in three] == [[2, 5], [3, 6], [4]]
    with pytest.raises(ValueError, match="cv=6 needs as many documents with mentions"):
        hold_out(ScoreRanker(), documents, entities, cv=6)
    with pytest.raises(ValueError, match="cv"):
        hold_out(ScoreRanker(), documents, entities, cv=1)


def test_a_frozen_model_has_seen_nothing():
    model = Recorder().fit(X[:2], Y[:2])
    (part,) = hold_out(FrozenEstimator(model), weight=np.ones(10))
    assert part.model is model
    assert part.X is X
    assert len(part.weight) == 10
    assert len(model.X_) == 2


def test_the_model_inside():
    tagger = HMMTagger()
    assert model_inside(tagger) is tagger
    assert model_inside(FrozenEstimator(FrozenEstimator(tagger))) is tagger
    search = GridSearchCV(tagger, {"emission_pseudocount": [0.1, 1.0]}, cv=2)
    assert model_inside(search) is search
    fitted = search.fit(X, Y)
    assert model_inside(fitted) is fitted.best_estimator_
    assert model_inside(FrozenEstimator(fitted)) is fitted.best_estimator_
    for part in hold_out(search, cv=2):
        assert isinstance(part.model, HMMTagger)
