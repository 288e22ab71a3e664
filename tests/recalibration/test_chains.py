"""Scaled taggers: what is chosen, and that they stay one distribution."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator

from sklearn_calib import CalibratedStructureCV, adaptive_bin_calibration_error
from sklearn_calib.datasets import make_chunked_sequences, make_tagged_sequences
from sklearn_calib.recalibration._chains import ChainNumbers, ScaledTagger, fit_chain
from sklearn_calib.recalibration._held_out import HeldOut
from sklearn_calib.sequence import CRFTagger, HMMTagger, forward_backward, span_probabilities
from tests.sequence.text import sentences


@pytest.fixture(scope="module")
def data():
    return make_tagged_sequences(500, random_state=0)


def brier(model, X, y):
    queries = model.calibration_queries(X, y)
    return np.mean((queries.y_prob - queries.y_true) ** 2)


@pytest.mark.parametrize("method", ["temperature", "scaling"])
@pytest.mark.parametrize("tagger", [HMMTagger(emission_pseudocount=5.0), CRFTagger()])
def test_calibration_is_mended(data, tagger, method):
    X, y, X_test, y_test = data.X[:200], data.y[:200], data.X[200:], data.y[200:]
    mended = CalibratedStructureCV(tagger, method=method).fit(X, y)
    errors = [
        adaptive_bin_calibration_error(model.calibration_queries(X_test, y_test))
        for model in (mended.estimator_, mended)
    ]
    assert errors[1] < 0.5 * errors[0]
    assert brier(mended, X_test, y_test) < brier(mended.estimator_, X_test, y_test)
    assert mended.score(X_test, y_test) > mended.estimator_.score(X_test, y_test) - 0.01


def test_a_known_distortion_is_undone(data):
    true = HMMTagger().fit(data.X[:400], data.y[:400])
    k = len(true.classes_)
    drawn = [draw[0].tolist() for draw in true.sample(data.X, 1, random_state=0)]
    bias = np.linspace(-1.0, 1.0, k)
    wrong = ScaledTagger(true, ChainNumbers(0.5, 2.0, bias))
    found = fit_chain([HeldOut(wrong, data.X, drawn, None)], wrong.classes_, biases=True)
    # Scores were divided by .5 before the bias was added.
    assert found.temperature == pytest.approx(2.0, rel=0.15)
    assert found.transition_temperature == pytest.approx(0.5, rel=0.15)
    undone = found.bias + bias / found.temperature
    assert np.abs(undone - undone.mean()).max() < 0.25
    calm = ScaledTagger(true, ChainNumbers(0.4, 0.4, np.zeros(k)))
    one = fit_chain([HeldOut(calm, data.X, drawn, None)], calm.classes_, biases=False)
    assert one.temperature == one.transition_temperature == pytest.approx(2.5, rel=0.1)
    assert not one.bias.any()


@pytest.mark.parametrize("method", ["temperature", "scaling"])
def test_tags_pairs_and_samples_stay_one_distribution(data, method):
    X = data.X[:80]
    mended = CalibratedStructureCV(CRFTagger(), method=method).fit(X, data.y[:80])
    classes = mended.classes_.tolist()
    k = len(classes)
    every = [(a, b) for a in classes for b in classes]
    tags = mended.predict_proba(X)
    np.testing.assert_allclose(tags.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    pairs = mended.predict_proba(X, unit="pair", pairs=every).reshape(-1, k, k)
    first = np.concatenate([np.arange(len(s)) == 0 for s in X])
    last = np.roll(first, -1)
    np.testing.assert_allclose(pairs.sum(axis=1), tags[~first], rtol=0, atol=1e-12)
    np.testing.assert_allclose(pairs.sum(axis=2), tags[~last], rtol=0, atol=1e-12)
    draws = np.concatenate(mended.sample(X[:5], 4000, random_state=0), axis=1)
    share = np.mean(draws[:, :, None] == mended.classes_, axis=0)
    assert np.abs(share - tags[: len(share)]).max() < 0.05
    taggings = [draw[0].tolist() for draw in mended.sample(X[:5], 1, random_state=0)]
    assert (mended.log_likelihood(X[:5], taggings) < 0.0).all()
    # Not those of the model as it was.
    assert np.abs(tags - mended.estimator_.predict_proba(X)).max() > 0.01


def test_numbers_are_what_is_done_to_the_scores(data):
    X = data.X[:60]
    mended = CalibratedStructureCV(HMMTagger(), method="scaling").fit(X, data.y[:60])
    raw = mended.estimator_
    found = forward_backward(
        raw._potentials(X) / mended.temperature_ + mended.bias_,
        raw._log_transitions / mended.transition_temperature_,
        [len(sentence) for sentence in X],
    )
    np.testing.assert_allclose(mended.predict_proba(X), found.proba, rtol=0, atol=1e-12)


def test_wrapped_models_are_mended_with_data_they_have_not_seen(data):
    X, y = data.X, data.y
    hmm, crf = HMMTagger().fit(X[:100], y[:100]), CRFTagger().fit(X[:100], y[:100])
    vocabulary = {word: i for word, i in hmm.vocabulary_.items()}
    wrapped = [
        HMMTagger.from_hmmlearn(hmm.hmm_, hmm.classes_, vocabulary),
        CRFTagger.from_crfsuite(crf.model_, features="word"),
    ]
    known = [i for i in range(100, 500) if set(X[i]) <= set(vocabulary)]
    half = len(known) // 2
    X_fit, y_fit = [X[i] for i in known[:half]], [y[i] for i in known[:half]]
    X_test, y_test = [X[i] for i in known[half:]], [y[i] for i in known[half:]]
    for tagger, method in zip(wrapped, ["scaling", "temperature"], strict=True):
        mended = CalibratedStructureCV(FrozenEstimator(tagger), method=method).fit(X_fit, y_fit)
        assert mended.estimator_.estimator is tagger
        assert brier(mended, X_test, y_test) < brier(tagger, X_test, y_test)


def test_tags_that_a_fold_lacks():
    X, y = sentences()
    X, y = [*X, ["42", "!"]], [*y, ["ONLY", "HERE"]]
    for method in ("temperature", "scaling", "isotonic"):
        mended = CalibratedStructureCV(HMMTagger(), method=method, cv=3).fit(X, y)
        assert {"ONLY", "HERE"} < set(mended.classes_)
        np.testing.assert_allclose(mended.predict_proba(X).sum(axis=1), 1.0)


class Chain(BaseEstimator):
    """Somebody else's linear chain, which only has its scores."""

    def __init__(self, tagger):
        self.tagger = tagger

    def fit(self, X, y):
        self.tagger.fit(X, y)
        self.classes_ = self.tagger.classes_
        return self

    def log_potentials(self, X):
        return self.tagger._potentials(list(X))

    @property
    def log_transitions_(self):
        return self.tagger._log_transitions


@pytest.mark.parametrize("method", ["temperature", "scaling", "isotonic"])
def test_a_chain_of_another_family(data, method):
    X, y = data.X[:100], data.y[:100]
    foreign = CalibratedStructureCV(Chain(CRFTagger()), method=method).fit(X, y)
    own = CalibratedStructureCV(CRFTagger(), method=method).fit(X, y)
    expected = own.predict_proba(data.X[100:120])
    np.testing.assert_allclose(foreign.predict_proba(data.X[100:120]), expected, atol=1e-10)


def test_weights_are_copies(data):
    X, y = data.X[:60], data.y[:60]
    tagger = FrozenEstimator(CRFTagger().fit(X[:30], y[:30]))
    weight = np.ones(30)
    weight[:10] = 2.0
    mended = CalibratedStructureCV(tagger, method="scaling")
    with pytest.warns(UserWarning, match="FrozenEstimator takes no sample_weight"):
        mended.fit(X[30:], y[30:], sample_weight=weight)
    copied = CalibratedStructureCV(tagger, method="scaling")
    copied.fit(X[30:40] + X[30:], y[30:40] + y[30:])
    np.testing.assert_allclose(mended.bias_, copied.bias_, atol=1e-3)
    assert mended.temperature_ == pytest.approx(copied.temperature_, rel=1e-3)


def test_spans_and_best_taggings_are_mended_too():
    data = make_chunked_sequences(400, random_state=0)
    X, y, X_test, y_test = data.X[:200], data.y[:200], data.X[200:], data.y[200:]
    mended = CalibratedStructureCV(CRFTagger()).fit(X, y)
    errors = [
        adaptive_bin_calibration_error(model.calibration_queries(X_test, y_test, unit="span"))
        for model in (mended.estimator_, mended)
    ]
    assert errors[1] < errors[0]
    scores = mended.log_potentials(X_test[:1]), mended.log_transitions_
    np.testing.assert_allclose(
        forward_backward(*scores).proba, mended.predict_proba(X_test[:1]), atol=1e-12
    )
    found = span_probabilities(*scores, classes=mended.classes_)[0]
    assert mended.predict_spans(X_test[:1])[0] == found
    [(best, probability), _] = mended.predict_k_best(X_test[:1], 2)[0]
    assert [best] == mended.predict(X_test[:1])
    expected = np.exp(mended.log_likelihood(X_test[:1], [best])[0])
    assert probability == pytest.approx(expected, rel=1e-10)
    isotonic = CalibratedStructureCV(
        CRFTagger(), method="isotonic", query_options={"unit": "span"}
    ).fit(X, y)
    queries = isotonic.calibration_queries(X_test, y_test, unit="span")
    assert adaptive_bin_calibration_error(queries) < errors[0]
    assert len(isotonic.predict_spans(X_test).proba) == len(queries)
    assert not hasattr(isotonic, "predict_k_best")
    questions = isotonic.calibration_questions(X_test, unit="span")
    assert 0.0 <= questions.missed_share(y_test) < 0.5
