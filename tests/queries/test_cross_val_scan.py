"""A stream of samples, asked about by models that were trained without them."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from sklearn_calib import adaptive_bin_calibration_error, classifier_queries
from sklearn_calib.coref import AntecedentModel
from sklearn_calib.datasets import make_coref_documents, make_tagged_sequences
from sklearn_calib.queries import Queries, cross_val_scan
from sklearn_calib.sequence import HMMTagger, cross_val_marginals


@pytest.fixture(scope="module")
def data():
    return make_tagged_sequences(90, random_state=0)


def in_order(queries):
    """Return queries as rows that do not depend on their order."""
    columns = (queries.label, queries.y_true, queries.y_prob.round(10))
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("options", [{}, {"unit": "pair", "pairs": [("A", "B"), ("B", "C")]}])
@pytest.mark.parametrize("cv", [None, 3, KFold(4, shuffle=True, random_state=0)])
def test_queries_are_those_of_marginals_in_memory(data, cv, options):
    scan = cross_val_scan(
        HMMTagger(), lambda: zip(data.X, data.y, strict=True), cv=cv, batch_size=13, **options
    )
    expected = cross_val_marginals(HMMTagger(), data.X, data.y, cv=cv, **options).queries()
    found = scan.collect()
    assert in_order(found) == in_order(expected)
    assert found.n_groups == expected.n_groups
    assert adaptive_bin_calibration_error(scan) == pytest.approx(
        adaptive_bin_calibration_error(expected), abs=1e-12
    )


def test_a_tag_that_a_fold_lacks_has_probability_zero(data):
    y = [list(tags) for tags in data.y]
    y[5][0] = "once"
    scan = cross_val_scan(HMMTagger(), lambda: zip(data.X, y, strict=True), cv=3, batch_size=8)
    expected = cross_val_marginals(HMMTagger(), data.X, y, cv=3).queries()
    assert in_order(scan.collect()) == in_order(expected)


def test_groups_stay_together(data):
    groups = np.arange(len(data.X)) // 10
    scan = cross_val_scan(
        HMMTagger(), lambda: zip(data.X, data.y, strict=True), cv=GroupKFold(3), groups=groups
    )
    expected = cross_val_marginals(
        HMMTagger(), data.X, data.y, cv=GroupKFold(3), groups=groups
    ).queries()
    assert in_order(scan.collect()) == in_order(expected)


def test_training_on_some_samples(data):
    seen = []

    class Counted(HMMTagger):
        def fit(self, X, y):
            seen.append(len(X))
            return super().fit(X, y)

    def scan(seed):
        return cross_val_scan(
            Counted(),
            lambda: zip(data.X, data.y, strict=True),
            cv=3,
            train_size=20,
            random_state=seed,
        )

    one, same, other = (scan(seed).collect().y_prob for seed in (0, 0, 1))
    assert seen == [20] * 9
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_classifier():
    X, y = make_classification(200, n_classes=3, n_informative=5, random_state=0)
    model, folds = LogisticRegression(max_iter=1000), KFold(4)
    scan = cross_val_scan(model, lambda: zip(X, y, strict=True), cv=folds, batch_size=30)
    proba = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    expected = classifier_queries(y, proba, classes=[0, 1, 2])
    assert in_order(scan.collect()) == in_order(expected)


def test_coreference():
    data = make_coref_documents(12, random_state=0)
    scan = cross_val_scan(
        AntecedentModel(tol=0.1), lambda: zip(data.X, data.y, strict=True), cv=KFold(3)
    )
    parts = []
    for train, test in KFold(3).split(data.X):
        model = AntecedentModel(tol=0.1).fit([data.X[i] for i in train], [data.y[i] for i in train])
        parts.append(
            model.calibration_queries([data.X[i] for i in test], [data.y[i] for i in test])
        )
    found, expected = scan.collect(), Queries.concat(parts)
    np.testing.assert_allclose(np.sort(found.y_prob), np.sort(expected.y_prob), rtol=1e-9)
    assert found.n_groups == expected.n_groups


def test_what_cannot_be_done(data):
    with pytest.raises(TypeError, match="read several times"):
        cross_val_scan(HMMTagger(), zip(data.X, data.y, strict=True))
    with pytest.raises(ValueError, match="yields no samples"):
        cross_val_scan(HMMTagger(), lambda: iter(()))
    with pytest.raises(ValueError, match="exactly one"):
        cross_val_scan(HMMTagger(), lambda: zip(data.X, data.y, strict=True), cv=[([0, 1], [2, 3])])
    calls = []

    def growing():
        calls.append(1)
        return zip(data.X[: 20 + len(calls)], data.y, strict=False)

    with pytest.raises(ValueError, match="the same samples each time"):
        cross_val_scan(HMMTagger(), growing, cv=2).collect()
