"""The errors of a calibrated model: drawn from the model itself."""

import numpy as np
import pytest

from sklearn_calib import Queries, adaptive_bin_calibration_error, calibration_null, link_queries
from sklearn_calib.coref import AntecedentModel, link_probabilities, sample_entities
from sklearn_calib.datasets import make_coref_documents
from sklearn_calib.sequence import HMMTagger


class TrueModel:
    """Knows the truth about simulated documents; X holds antecedent probabilities."""

    def sample(self, X, n_samples, random_state):
        return [sample_entities(proba, n_samples, random_state) for proba in X]

    def calibration_queries(self, X, y, **options):
        return link_queries([link_probabilities(proba) for proba in X], y, **options)


def test_pvalues_of_the_true_model_are_uniform():
    pvalues = []
    for seed in range(60):
        data = make_coref_documents(10, n_sentences=4, random_state=seed)
        null = calibration_null(
            TrueModel(),
            data.antecedent_proba,
            data.y,
            n_simulations=39,
            n_bins=10,
            random_state=seed,
        )
        pvalues.append(null.pvalue)
    # Of 60 uniform p-values, 6 are expected at or below .1 (sd 2.3), and their mean is .51 (.04).
    assert np.sum(np.array(pvalues) <= 0.1) <= 13
    assert 0.38 < np.mean(pvalues) < 0.64


def test_links_of_a_document_depend_on_each_other():
    data = make_coref_documents(15, random_state=0)
    null = calibration_null(TrueModel(), data.antecedent_proba, n_bins=10, random_state=0)
    q = TrueModel().calibration_queries(data.antecedent_proba, data.y).y_prob
    rng = np.random.default_rng(0)
    independent = [
        adaptive_bin_calibration_error(rng.random(len(q)) < q, q, n_bins=10) for _ in range(50)
    ]
    assert null.mean > 1.2 * np.mean(independent)
    assert null.error is None
    assert null.pvalue is None
    assert null.n_queries == len(q)
    assert null.interval.low < null.mean < null.interval.high
    assert "calibrated model would show" in str(null)


@pytest.mark.parametrize("options", [{}, {"n_bins": 7}, {"bin_size": 50}, {"debias": True}])
def test_errors_equal_those_of_the_metric(options):
    data = make_coref_documents(12, random_state=0)
    model = AntecedentModel().fit(data.X, data.y)
    null = calibration_null(model, data.X, data.y, n_simulations=3, random_state=5, **options)
    queries = model.calibration_queries(data.X, data.y)
    assert null.error == pytest.approx(adaptive_bin_calibration_error(queries, **options))
    rng = np.random.default_rng(5)
    samples = model.sample(data.X, 3, random_state=rng)
    again = calibration_null(
        model, data.X, n_simulations=3, random_state=np.random.default_rng(5), **options
    )
    expected = [
        adaptive_bin_calibration_error(
            model.calibration_queries(data.X, [s[k] for s in samples]), **options
        )
        for k in range(3)
    ]
    np.testing.assert_allclose(again.errors, expected)


def test_options_reach_the_queries():
    data = make_coref_documents(12, random_state=0)
    model = AntecedentModel().fit(data.X, data.y)
    every = calibration_null(model, data.X, n_simulations=2, random_state=0)
    likely = calibration_null(model, data.X, n_simulations=2, min_proba=0.2, random_state=0)
    assert likely.n_queries < every.n_queries
    weight = np.r_[0.0, np.ones(11)]
    weighted = calibration_null(
        model, data.X, data.y, n_simulations=2, sample_weight=weight, random_state=0
    )
    alone = model.calibration_queries(data.X[1:], data.y[1:])
    assert weighted.error == pytest.approx(adaptive_bin_calibration_error(alone))
    message = (
        "min_prob=0.2 does not apply to AntecedentModel: .* are unit, min_proba, sample_weight"
        r"\. Did you mean min_proba\?"
    )
    with pytest.raises(TypeError, match=message):
        calibration_null(model, data.X, min_prob=0.2)
    with pytest.raises(TypeError, match=r"n_simulation=2 .* Did you mean n_simulations\?"):
        calibration_null(model, data.X, n_simulation=2)


def test_taggers_have_a_null():
    pytest.importorskip("hmmlearn")
    rng = np.random.default_rng(0)
    tags = [["D", "N", "V"][: rng.integers(2, 4)] for _ in range(60)]
    words = [[f"{tag}{rng.integers(3)}" if rng.random() < 0.7 else "w" for tag in s] for s in tags]
    tagger = HMMTagger().fit(words, tags)
    null = calibration_null(tagger, words, tags, n_simulations=20, n_bins=4, random_state=0)
    queries = tagger.calibration_queries(words, tags)
    assert null.error == pytest.approx(adaptive_bin_calibration_error(queries, n_bins=4))
    assert null.errors.shape == (20,)
    pairs = calibration_null(
        tagger, words, n_simulations=2, n_bins=4, unit="pair", pairs=2, random_state=0
    )
    assert pairs.n_queries < null.n_queries
    with pytest.raises(ValueError, match="average='macro' has no null"):
        calibration_null(tagger, words, average="macro")


def test_bad_input():
    with pytest.raises(TypeError, match="object has no method sample"):
        calibration_null(object(), [])
    data = make_coref_documents(2, random_state=0)
    with pytest.raises(ValueError, match="n_simulations"):
        calibration_null(TrueModel(), data.antecedent_proba, n_simulations=0)
    with pytest.raises(ValueError, match="no queries about X"):
        calibration_null(TrueModel(), [np.eye(1)])


class Changing(TrueModel):
    """Asks other questions for other truths."""

    def calibration_queries(self, X, y, **options):
        queries = super().calibration_queries(X, y)
        extra = np.full(len(np.unique(y[0])), 0.5)
        return Queries.concat([queries, Queries(extra > 0, extra, group=extra)])


def test_questions_may_depend_on_the_truth():
    data = make_coref_documents(2, random_state=0)
    null = calibration_null(Changing(), data.antecedent_proba, data.y, n_bins=3)
    queries = Changing().calibration_queries(data.antecedent_proba, data.y)
    assert null.error == pytest.approx(adaptive_bin_calibration_error(queries, n_bins=3))
