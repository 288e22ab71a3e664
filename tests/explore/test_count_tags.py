"""Counts of tags and chunks."""

import itertools

import numpy as np
import pytest

from sklearn_calib.datasets import make_chunked_sequences
from sklearn_calib.explore import count_tags
from sklearn_calib.sequence import CRFTagger


def test_tags_and_chunks():
    sentences = [["a", "b", "c"], ["d", "e"]]
    drawn = [
        [["B-NP", "I-NP", "B-NP"], ["B-NP", "I-NP", "I-NP"]] * 10,
        [["O", "B-VP"], ["I-VP", "O"]] * 10,
    ]
    tags = count_tags(sentences, drawn, best=[["B-NP", "I-NP", "I-NP"], ["O", "O"]])
    assert dict(zip(tags.keys, tags.mean[0], strict=True)) == {
        "B-NP": 1.5,
        "I-NP": 1.5,
        "B-VP": 0.5,
        "I-VP": 0.5,
        "O": 1.0,
    }
    assert tags.best.tolist() == [[1, 0, 2, 0, 2]]
    # An I-VP that continues nothing starts no chunk.
    chunks = count_tags(sentences, drawn, "chunk", dates=["2001-01-05", "2001-03-01"], period="M")
    assert chunks.keys == ("NP", "VP")
    np.testing.assert_allclose(chunks.mean, [[1.5, 0], [0, 0], [0, 0.5]])
    low, high = chunks.confidence_interval()
    assert (low[0, 0], high[0, 0]) == (1, 2)
    assert chunks.most_uncertain(1)[0].mentions == ("a b c",)
    runs = count_tags(sentences, drawn, lambda tokens, tags: tokens[0] if tags[-1] == "O" else None)
    assert runs.keys == ("d",)
    with pytest.raises(ValueError, match="needs tags such as B-NP"):
        count_tags([["a"]], [[["NN"]]], "chunk")
    with pytest.raises(ValueError, match=r"Sentence 0 has 2 tokens.*got \(1, 1\)"):
        count_tags([["a", "b"]], [[["NN"]]])
    with pytest.raises(ValueError, match="rule='word' is not known"):
        count_tags([["a"]], [[["NN"]]], "word")


def test_exact_interval_of_tag_counts_against_enumeration():
    rng = np.random.default_rng(3)
    drawn = [rng.choice(["N", "V"], size=(4, 3)) for _ in range(3)]
    post = count_tags([["w"] * 3] * 3, drawn, keys=["N"])
    counts = [(d == "N").sum(axis=1) for d in drawn]
    sums = np.array([sum(row) for row in itertools.product(*counts)])
    with pytest.warns(UserWarning, match="from 4 samples"):
        low, high = post.confidence_interval(0.8, method="exact")
    assert low[0, 0] == np.quantile(sums, 0.1, method="inverted_cdf")
    assert high[0, 0] == np.quantile(sums, 0.9, method="inverted_cdf")


def test_bad_input_names_the_sentence():
    with pytest.raises(ValueError, match="Sentence 1: date='soon' is not a date"):
        count_tags([["a"], ["b"]], [[["N"]]] * 2, dates=["2001-01-01", "soon"], period="Y")
    with pytest.raises(ValueError, match=r"Sentence 0 has 2 tokens.*best tags have shape \(1,\)"):
        count_tags([["a", "b"]], [[["N", "N"]]], best=[["N"]])
    with pytest.raises(ValueError, match="Sentence 0: its weight is nan"):
        count_tags([["a"]], [[["N"]]], sample_weight=[float("nan")])


def test_sampled_chunks_have_the_mean_that_spans_add_up_to():
    data = make_chunked_sequences(200, random_state=0)
    tagger = CRFTagger(c2=0.5, constraints="BIO").fit(data.X[:100], data.y[:100])
    X = data.X[100:]
    counted = count_tags(X, tagger.sample(X, 400, random_state=0), "chunk")
    spans = [span for own in tagger.predict_spans(X, min_proba=0) for span in own]
    exact = [sum(s.proba for s in spans if s.label == key) for key in counted.keys]
    # Three comparisons: four standard errors are exceeded once in 5,000 runs.
    assert (np.abs(counted.mean[0] - exact) < 4 * counted.standard_error[0]).all()
