"""Exact counts of spans."""

import numpy as np
import pytest

from sklearn_calib import CalibratedStructureCV
from sklearn_calib.datasets import make_chunked_sequences, make_tagged_sequences
from sklearn_calib.explore import count_spans, count_tags
from sklearn_calib.sequence import CRFTagger, HMMTagger

pytest.importorskip("sklearn_crfsuite")

DATA = make_chunked_sequences(200, random_state=0)
X, Y, X_TEST = DATA.X[:100], DATA.y[:100], DATA.X[100:]
# Without constraints, some I- tags continue nothing.
TAGGER = CRFTagger(c2=3.0).fit(X, Y)


def test_totals_are_convolved():
    counts = count_spans(TAGGER, X_TEST[:3])
    for kind, label in enumerate(counts.types):
        a, b, c = counts.sentence_distribution[:, kind]
        expected = np.convolve(np.convolve(a, b), c)
        found = counts.distribution(label)
        np.testing.assert_allclose(found, expected[: len(found)], rtol=0, atol=1e-15)
        values = np.arange(len(expected))
        assert counts.mean[kind] == pytest.approx(expected @ values)
        variance = expected @ values**2 - (expected @ values) ** 2
        assert counts.standard_deviation[kind] == pytest.approx(np.sqrt(variance))
    low, high = counts.confidence_interval(0.9)
    total = counts.distribution("LOC")
    at = counts.types.index("LOC")
    assert total[low[at] : high[at] + 1].sum() >= 0.9
    assert total[: low[at]].sum() <= 0.05
    assert total[high[at] + 1 :].sum() <= 0.05


@pytest.mark.parametrize("tagger", [TAGGER, HMMTagger()], ids=["CRF", "HMM"])
def test_samples_agree_where_tags_continue_nothing(tagger):
    tagger = tagger if tagger is TAGGER else tagger.fit(X, Y)
    exact = count_spans(tagger, X_TEST)
    sampled = count_tags(X_TEST, tagger.sample(X_TEST, 400, random_state=0), "chunk")
    assert sampled.keys == exact.types
    # Three comparisons: four standard errors are exceeded once in 5,000 runs.
    assert (np.abs(sampled.mean[0] - exact.mean) < 4 * sampled.standard_error[0]).all()
    assert exact.standard_deviation == pytest.approx(sampled.standard_deviation[0], rel=0.15)
    spans = tagger.predict_spans(X_TEST, min_proba=0.0)
    for kind, label in enumerate(exact.types):
        total = sum(span.proba for own in spans for span in own if span.label == label)
        assert exact.mean[kind] == pytest.approx(total, abs=1e-9)


def test_recalibrated_taggers_and_tables():
    mended = CalibratedStructureCV(CRFTagger(c2=3.0)).fit(X, Y)
    counts = count_spans(mended, X_TEST)
    frame = counts.to_frame()
    assert list(frame.columns) == ["label", "mean", "low", "high"]
    assert ((frame.low <= frame["mean"]) & (frame["mean"] <= frame.high)).all()
    assert "100 sentences" in repr(counts)


def test_the_true_posterior_holds_the_truth():
    counts = count_spans(DATA.true_tagger(), DATA.X)
    tags = [tag for row in DATA.y for tag in row]
    true = np.array([tags.count(f"B-{label}") for label in counts.types])
    low, high = counts.confidence_interval(0.999)
    assert (low <= true).all()
    assert (true <= high).all()
    # And it says something.
    assert (high - low < 0.5 * true).all()


def test_bad_input():
    with pytest.raises(ValueError, match="label='GPE' is not a type of span"):
        count_spans(TAGGER, X_TEST[:2]).distribution("GPE")
    tagged = make_tagged_sequences(20, random_state=0)
    with pytest.raises(ValueError, match="follow no scheme of spans"):
        count_spans(HMMTagger().fit(tagged.X, tagged.y), tagged.X)
    with pytest.raises(ValueError, match="scheme='IOB' is not known"):
        count_spans(TAGGER, X_TEST[:2], scheme="IOB")
    with pytest.raises(ValueError, match="confidence_level"):
        count_spans(TAGGER, X_TEST[:2]).confidence_interval(95)
