"""The distribution of the number of spans, against the sum over all tag sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.queries._span_schemes import read_scheme
from sklearn_calib.sequence import _span_counts as module
from sklearn_calib.sequence import sample_sequences, span_probabilities
from sklearn_calib.sequence._span_counts import span_count_distributions
from tests.literal_spans import literal_spans
from tests.sequence.chains import enumerate_chain, sequences

TAGS = {
    "BIO": ["B-X", "B-Y", "I-X", "I-Y", "O"],
    "BIOES": ["B-X", "E-X", "I-X", "O", "S-X"],
    "BILOU": ["B-X", "I-X", "L-X", "O", "U-X"],
    "IO": ["I-X", "I-Y", "O"],
}


def chains(seed, k, lengths, forbid=0.0, scale=1.0):
    rng = np.random.default_rng(seed)
    potentials = scale * rng.normal(size=(sum(lengths), k))
    transitions = scale * rng.normal(size=(k, k))
    transitions[rng.random((k, k)) < forbid] = -np.inf
    return potentials, transitions, np.array(lengths)


@pytest.mark.parametrize("scheme", TAGS)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    forbid=st.sampled_from([0.0, 0.2]),
    scale=st.sampled_from([0.5, 3.0, 300.0]),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
)
def test_equal_to_enumeration(scheme, seed, forbid, scale, lengths):
    classes = TAGS[scheme]
    potentials, transitions, lengths = chains(seed, len(classes), lengths, forbid, scale)
    parts = [enumerate_chain(part, transitions) for part in sequences(potentials, lengths)]
    if any(part is None for part in parts):
        return
    tags = read_scheme(classes, scheme)
    found = span_count_distributions(potentials, transitions, lengths, tags)
    assert found.shape[:2] == (len(lengths), len(tags.types))
    expected = np.zeros((*found.shape[:2], max(found.shape[2], 7)))
    for number, part in enumerate(parts):
        for path, share in zip(*part[3:], strict=True):
            spans = literal_spans([classes[j] for j in path], scheme)
            for kind, name in enumerate(tags.types):
                expected[number, kind, sum(span[2] == name for span in spans)] += share
    padded = np.zeros_like(expected)
    padded[:, :, : found.shape[2]] = found
    np.testing.assert_allclose(padded, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scheme", TAGS)
@pytest.mark.parametrize("pairs", [1, 10**6], ids=["a sentence at a time", "all at once"])
def test_means_are_the_sums_of_span_probabilities(scheme, pairs, monkeypatch):
    monkeypatch.setattr(module, "_PAIRS", pairs)
    classes = TAGS[scheme]
    potentials, transitions, lengths = chains(1, len(classes), [30, 1, 17, 30, 2])
    tags = read_scheme(classes, scheme)
    found = span_count_distributions(potentials, transitions, lengths, tags)
    np.testing.assert_allclose(found.sum(axis=2), 1.0, rtol=0, atol=1e-12)
    mean = found @ np.arange(found.shape[2])
    spans = span_probabilities(potentials, transitions, lengths, classes=classes, min_proba=0.0)
    for number, own in enumerate(spans):
        for kind, name in enumerate(tags.types):
            expected = sum(span.proba for span in own if span.label == name)
            assert abs(mean[number, kind] - expected) < 1e-11


def test_against_samples():
    classes = TAGS["BIO"]
    potentials, transitions, lengths = chains(5, 5, [40])
    draws = sample_sequences(potentials, transitions, lengths, n_samples=4000, random_state=0)
    found = span_count_distributions(potentials, transitions, lengths, read_scheme(classes))[0, 0]
    sampled = np.bincount((draws == 0).sum(axis=1), minlength=len(found)) / 4000
    # Some twenty comparisons: five standard errors are exceeded once in 80,000 runs.
    error = np.sqrt(found * (1.0 - found) / 4000) + 1e-3
    assert (np.abs(sampled - found) < 5.0 * error).all()


def test_types_may_lack_tags():
    # Nothing begins a Y, and no X goes on: a sentence has no Y, and an X for each B-X.
    classes = ["B-X", "I-Y", "O"]
    potentials, transitions, lengths = chains(2, 3, [4])
    found = span_count_distributions(potentials, transitions, lengths, read_scheme(classes))
    assert found[0, 1, 0] == 1.0
    assert found[0, 0] @ np.arange(found.shape[2]) > 0.5


def test_no_types():
    found = span_count_distributions(
        np.zeros((3, 1)), np.zeros((1, 1)), np.array([2, 1]), read_scheme(["O"])
    )
    assert found.shape == (2, 0, 1)
