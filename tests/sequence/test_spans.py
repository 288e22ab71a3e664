"""Exact probabilities of spans, against the sum over all tag sequences."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.sequence import (
    SentenceSpans,
    Span,
    forward_backward,
    sample_sequences,
    span_probabilities,
)
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
    return potentials, transitions, list(lengths)


def by_enumeration(potentials, transitions, classes, scheme):
    """Return the probability of each span, or None if the sentence is impossible."""
    found = enumerate_chain(potentials, transitions)
    if found is None:
        return None
    proba = {}
    for path, share in zip(*found[3:], strict=True):
        for span in literal_spans([classes[j] for j in path], scheme):
            proba[span] = proba.get(span, 0.0) + share
    return proba


def as_dict(spans):
    return {span[:3]: span.proba for span in spans}


def assert_same(spans, expected, min_proba=0.0):
    found = as_dict(spans)
    assert len(found) == len(spans)
    for span in {*found, *expected}:
        assert abs(found.get(span, 0.0) - expected.get(span, 0.0)) < max(min_proba, 1e-12)
    for span, proba in expected.items():
        if proba >= min_proba + 1e-12:
            assert abs(found[span] - proba) < 1e-12


@pytest.mark.parametrize("scheme", TAGS)
@pytest.mark.parametrize("named", [True, False], ids=["named", "auto"])
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    forbid=st.sampled_from([0.0, 0.2]),
    scale=st.sampled_from([0.5, 3.0, 300.0]),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
)
def test_all_spans_equal_enumeration(scheme, named, seed, forbid, scale, lengths):
    classes = TAGS[scheme]
    potentials, transitions, lengths = chains(seed, len(classes), lengths, forbid, scale)
    parts = sequences(potentials, lengths)
    expected = [by_enumeration(part, transitions, classes, scheme) for part in parts]
    if None in expected:
        return
    spans = span_probabilities(
        potentials,
        transitions,
        lengths,
        classes=classes,
        min_proba=0.0,
        scheme=scheme if named else "auto",
    )
    assert len(spans) == len(lengths)
    for own, probabilities in zip(spans, expected, strict=True):
        assert_same(own, probabilities)


@pytest.mark.parametrize("scheme", TAGS)
@pytest.mark.parametrize("min_proba", [0.01, 0.1, 0.5, 1.0])
def test_every_span_above_the_threshold_is_found(scheme, min_proba):
    classes = TAGS[scheme]
    for seed in range(10):
        potentials, transitions, lengths = chains(seed, len(classes), [5, 1, 3], scale=1.5)
        spans = span_probabilities(
            potentials, transitions, lengths, classes=classes, min_proba=min_proba
        )
        for own, part in zip(spans, sequences(potentials, lengths), strict=True):
            expected = by_enumeration(part, transitions, classes, scheme)
            found = as_dict(own)
            assert all(proba >= min_proba for proba in found.values())
            wanted = {span for span, proba in expected.items() if proba >= min_proba}
            assert set(found) == wanted
            assert_same(own, expected, min_proba)


def test_most_probable_first_and_plain_types():
    potentials, transitions, lengths = chains(3, 5, [6, 4])
    for own in span_probabilities(potentials, transitions, lengths, classes=TAGS["BIO"]):
        probabilities = [span.proba for span in own]
        assert probabilities == sorted(probabilities, reverse=True)
        span = own[0]
        assert isinstance(span, Span)
        assert [type(value) for value in span] == [int, int, str, float]


def test_types_may_lack_tags():
    # X has no I, Y has no B: a span of X has one token, and there is none of Y.
    classes = ["B-X", "I-Y", "O"]
    potentials, transitions, _ = chains(1, 3, [4])
    (own,) = span_probabilities(potentials, transitions, classes=classes, min_proba=0.0)
    assert_same(own, by_enumeration(potentials, transitions, classes, "BIO"))
    assert {(span.stop - span.start, span.label) for span in own} == {(1, "X")}
    marginal = forward_backward(potentials, transitions).proba[:, 0]
    assert {span.start: span.proba for span in own} == pytest.approx(dict(enumerate(marginal)))


def test_tags_without_a_type():
    classes = ["B", "I", "O"]
    potentials, transitions, _ = chains(2, 3, [4])
    (own,) = span_probabilities(potentials, transitions, classes=classes, min_proba=0.0)
    assert_same(own, by_enumeration(potentials, transitions, classes, "BIO"))
    assert {span.label for span in own} == {""}


def test_well_formed_spans_that_cover_a_token_add_up():
    classes = TAGS["BIO"]
    potentials, transitions, lengths = chains(4, 5, [30, 1, 17])
    transitions[np.ix_([1, 3, 4], [2])] = -np.inf
    transitions[np.ix_([0, 2, 4], [3])] = -np.inf
    starts = [0, 30, 31]
    potentials[np.ix_(starts, [2, 3])] = -np.inf
    outside = forward_backward(potentials, transitions, lengths).proba[:, 4]
    covered = np.zeros(len(potentials))
    spans = span_probabilities(potentials, transitions, lengths, classes=classes, min_proba=0.0)
    for start, own in zip(starts, spans, strict=True):
        for span in own:
            covered[start + span.start : start + span.stop] += span.proba
    np.testing.assert_allclose(covered, 1.0 - outside, rtol=0, atol=1e-12)


def test_long_sentences_against_samples():
    classes = TAGS["BIO"]
    potentials, transitions, lengths = chains(5, 5, [40, 25])
    draws = sample_sequences(potentials, transitions, lengths, n_samples=4000, random_state=0)
    spans = span_probabilities(potentials, transitions, lengths, classes=classes, min_proba=0.05)
    for own, part in zip(spans, np.split(draws, [40], axis=1), strict=True):
        count = {}
        for path in part:
            for span in literal_spans([classes[j] for j in path], "BIO"):
                count[span] = count.get(span, 0) + 1
        assert len(own) > 20
        # Some hundred comparisons: five standard errors are exceeded once in 10,000 runs.
        for span in own:
            error = np.sqrt(span.proba * (1.0 - span.proba) / len(part))
            assert abs(count.get(span[:3], 0) / len(part) - span.proba) < 5.0 * error
        # And none that is clearly above the threshold is missing.
        found = as_dict(own)
        assert all(span in found for span, n in count.items() if n / len(part) > 0.05 + 0.02)


def test_a_sentence_that_is_all_outside():
    potentials = np.full((3, 3), -np.inf)
    potentials[:, 2] = 0.0
    spans = span_probabilities(
        potentials, np.zeros((3, 3)), classes=["B-X", "I-X", "O"], min_proba=0.0
    )
    assert spans == [[]]
    assert span_probabilities([[0.0], [0.0]], [[0.0]], [1, 1], classes=["O"]) == [[], []]


def test_the_scores_are_not_changed():
    potentials, transitions, lengths = chains(6, 5, [4, 3])
    before = potentials.copy()
    span_probabilities(potentials, transitions, lengths, classes=TAGS["BIO"])
    np.testing.assert_array_equal(potentials, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"log_potentials": [[np.nan, 0.0, 0.0]]}, "log_potentials contains nan at row 0"),
        ({"log_potentials": [[0.0, np.inf, 0.0]]}, "log_potentials contains inf at row 0"),
        ({"log_transitions": np.full((3, 3), np.nan)}, "log_transitions contains nan"),
        ({"log_potentials": np.empty((0, 3)), "lengths": []}, "must be a non-empty matrix"),
        ({"lengths": [1, 0]}, r"lengths\[1\] is 0: every sequence needs at least one token"),
        ({"classes": ["B-X", "O"]}, "classes names 2 tags, but log_transitions has 3"),
        ({"classes": ["DT", "NN", "O"]}, r"\['DT', 'NN', 'O'\] follow no scheme"),
        ({"scheme": "IOB"}, "scheme='IOB' is not known"),
        ({"min_proba": 1.5}, r"min_proba must lie in \[0, 1\]"),
        ({"min_proba": -0.1}, "min_proba"),
        ({"min_proba": np.nan}, "min_proba"),
        ({"log_potentials": [[-np.inf] * 3]}, "Sentence 0 is impossible"),
    ],
)
def test_bad_input(change, message):
    given = {
        "log_potentials": [[0.0, 0.0, 0.0]],
        "log_transitions": np.zeros((3, 3)),
        "lengths": [1],
        "classes": ["B-X", "I-X", "O"],
        **change,
    }
    with pytest.raises(ValueError, match=message):
        span_probabilities(**given)


def test_spans_are_read_like_a_list_of_lists():
    potentials, transitions, lengths = chains(7, 5, [6, 1, 4])
    spans = span_probabilities(potentials, transitions, lengths, classes=TAGS["BIO"])
    lists = list(spans)
    assert isinstance(spans, SentenceSpans)
    assert len(spans) == len(lists) == 3
    assert spans == lists
    assert spans != lists[:2]
    assert spans != "spans"
    assert [spans[0], spans[1], spans[-1]] == lists
    assert spans[1:] == lists[1:]
    assert spans[::-1] == lists[::-1]
    assert pickle.loads(pickle.dumps(spans)) == spans
    with pytest.raises(IndexError):
        spans[3]
    with pytest.raises(TypeError, match="unhashable"):
        hash(spans)


def test_all_spans_as_one_table():
    potentials, transitions, lengths = chains(7, 5, [6, 1, 4])
    spans = span_probabilities(potentials, transitions, lengths, classes=TAGS["BIO"])
    frame = spans.to_frame()
    rows = [(i, *span) for i, own in enumerate(spans) for span in own]
    assert list(frame.itertuples(index=False, name=None)) == rows
    assert repr(spans).endswith(f"{len(rows)} spans in 3 sentences")
    # Equal probabilities stay in the order in which spans are found: by length, then by place.
    equal = span_probabilities(np.zeros((2, 3)), np.zeros((3, 3)), classes=["B-X", "I-X", "O"])
    assert [span[:2] for span in equal[0]] == [(1, 2), (0, 1), (0, 2)]
