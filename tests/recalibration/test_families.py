"""Which family of models is mended how, and what is refused."""

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_calib import Queries
from sklearn_calib.coref import ScoreRanker
from sklearn_calib.datasets import make_tagged_sequences
from sklearn_calib.recalibration._antecedents import AdjustedRanker
from sklearn_calib.recalibration._chains import ScaledTagger
from sklearn_calib.recalibration._families import recalibrate
from sklearn_calib.recalibration._held_out import HeldOut
from sklearn_calib.recalibration._isotonic import IsotonicModel, IsotonicRanker, IsotonicTagger
from sklearn_calib.sequence import HMMTagger

pytest.importorskip("hmmlearn")

DATA = make_tagged_sequences(120, random_state=0)
X, Y = DATA.X[60:], DATA.y[60:]
TAGGER = HMMTagger().fit(DATA.X[:60], DATA.y[:60])
HELD_OUT = [HeldOut(TAGGER, X, Y, None)]
RNG = np.random.default_rng(0)
SCORES = [RNG.normal(size=(4, 4)) for _ in range(30)]
ENTITIES = [[0, 0, 1, 1]] * 30
RANKED = [HeldOut(ScoreRanker(), SCORES, ENTITIES, None)]


class Scores:
    """The protocol of a linear chain, and nothing more."""

    classes_ = TAGGER.classes_
    log_transitions_ = TAGGER.log_transitions_

    def log_potentials(self, X):
        return TAGGER.log_potentials(X)


class Coins(BaseEstimator):
    """One logit per coin; three times as sure as it should be."""

    def __init__(self, temperature=1.0):
        self.temperature = temperature

    def at_temperature(self, temperature):
        return Coins(self.temperature * temperature)

    def calibration_queries(self, X, y, sample_weight=None):
        proba = 1.0 / (1.0 + np.exp(-np.asarray(X) / self.temperature))
        return Queries(y, proba, sample_weight=sample_weight)


LOGITS = 3.0 * RNG.normal(size=4000)
TOSSED = RNG.random(4000) < 1.0 / (1.0 + np.exp(-LOGITS / 3.0))
COINS = [HeldOut(Coins(), LOGITS, TOSSED, None)]


@pytest.mark.parametrize(
    ("model", "held_out", "method", "kind", "names"),
    [
        (TAGGER, HELD_OUT, "temperature", ScaledTagger, {"temperature_"}),
        (
            TAGGER,
            HELD_OUT,
            "scaling",
            ScaledTagger,
            {"temperature_", "transition_temperature_", "bias_"},
        ),
        (TAGGER, HELD_OUT, "isotonic", IsotonicTagger, set()),
        (ScoreRanker(), RANKED, "temperature", AdjustedRanker, {"temperature_", "new_shift_"}),
        (ScoreRanker(), RANKED, "isotonic", IsotonicRanker, set()),
        (Coins(), COINS, "temperature", Coins, {"temperature_"}),
        (Coins(), COINS, "isotonic", IsotonicModel, set()),
    ],
)
def test_families(model, held_out, method, kind, names):
    mended, numbers = recalibrate(model, held_out, method, {})
    assert type(mended) is kind
    assert set(numbers) == names
    if kind is Coins:
        assert numbers["temperature_"] == pytest.approx(mended.temperature)
        assert mended.temperature == pytest.approx(3.0, rel=0.15)


def test_weights_count_as_repetition():
    weight = RNG.integers(0, 3, size=len(LOGITS)).astype(float)
    weighted = recalibrate(Coins(), [HeldOut(Coins(), LOGITS, TOSSED, weight)], "temperature", {})
    times = weight.astype(int)
    part = HeldOut(Coins(), np.repeat(LOGITS, times), np.repeat(TOSSED, times), None)
    repeated = recalibrate(Coins(), [part], "temperature", {})
    assert weighted.numbers["temperature_"] == pytest.approx(repeated.numbers["temperature_"])


@pytest.mark.parametrize("method", ["temperature", "scaling", "isotonic"])
def test_scores_alone_are_mended_as_the_tagger_is(method):
    own = recalibrate(TAGGER, HELD_OUT, method, {}).model
    other = recalibrate(Scores(), [HeldOut(Scores(), X, Y, None)], method, {}).model
    np.testing.assert_allclose(
        own.predict_proba(X[:5]), other.predict_proba(X[:5]), rtol=0, atol=1e-9
    )


def test_isotonic_pairs_and_spans_need_what_the_fold_knows():
    a, b = TAGGER.classes_[:2].tolist()
    mended = recalibrate(TAGGER, HELD_OUT, "isotonic", {"unit": "pair", "pairs": [(a, b)]}).model
    proba = mended.predict_proba(X, unit="pair", pairs=[(a, b)])
    assert proba.shape[1] == 1
    true = np.concatenate([[p == (a, b) for p in itertools.pairwise(y)] for y in Y])
    # An isotonic map has the right mean where it was fitted.
    assert proba.mean() == pytest.approx(true.mean(), rel=0.05)


def test_a_fold_may_lack_a_tag():
    few = [tags for tags in Y if TAGGER.classes_[-1] not in tags]
    kept = [x for x, tags in zip(X, Y, strict=True) if tags in few]
    assert kept
    poorer = HMMTagger().fit(kept, few)
    assert len(poorer.classes_) < len(TAGGER.classes_)
    for method in ("temperature", "scaling", "isotonic"):
        mended = recalibrate(TAGGER, [*HELD_OUT, HeldOut(poorer, X, Y, None)], method, {}).model
        proba = mended.predict_proba(X[:3])
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "held_out", "method", "options", "error", "message"),
    [
        (TAGGER, HELD_OUT, "scaling", {"unit": "pair"}, ValueError, "Leave query_options out"),
        (ScoreRanker(), RANKED, "scaling", {}, ValueError, "'scaling' is for taggers"),
        (Coins(), COINS, "scaling", {}, ValueError, "'scaling' is for taggers, and Coins is none"),
        (
            LogisticRegression(),
            [],
            "temperature",
            {},
            TypeError,
            "LogisticRegression cannot be recalibrated.*CalibratedClassifierCV",
        ),
        (LogisticRegression(), [], "isotonic", {}, TypeError, "no method calibration_queries"),
        (make_pipeline(TAGGER), [], "isotonic", {}, TypeError, "A pipeline cannot be"),
    ],
)
def test_what_is_refused(model, held_out, method, options, error, message):
    with pytest.raises(error, match=message):
        recalibrate(model, held_out, method, options)
