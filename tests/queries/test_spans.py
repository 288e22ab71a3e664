"""Spans with probabilities become queries."""

import numpy as np
import pytest

from sklearn_calib.queries import SpanQuestions, span_queries
from sklearn_calib.queries._span_schemes import SCHEMES

Y = [["B-X", "I-X", "O", "B-Y"], ["O"], ["B-X", "B-X", "I-X"]]
SPANS = [
    [(0, 2, "X", 0.9), (0, 1, "X", 0.05), (3, 4, "X", 0.4)],
    [],
    [(1, 3, "X", 0.7), (0, 1, "Y", 0.2)],
]


def test_hand_worked():
    queries = span_queries(Y, SPANS)
    np.testing.assert_array_equal(queries.y_prob, [0.9, 0.05, 0.4, 0.7, 0.2])
    np.testing.assert_array_equal(queries.y_true, [True, False, False, True, False])
    assert queries.label.tolist() == ["X", "X", "X", "X", "Y"]
    assert queries.group.tolist() == [0, 0, 0, 2, 2]
    assert queries.n_groups == 2
    weighted = span_queries(Y, SPANS, sample_weight=[1.0, 2.0, 3.0])
    assert weighted.sample_weight.tolist() == [1.0, 1.0, 1.0, 3.0, 3.0]


def test_no_spans_at_all():
    assert len(span_queries([["O", "O"]], [[]])) == 0


@pytest.mark.parametrize(
    ("spans", "error", "message"),
    [
        ([[], []], ValueError, "spans has 2 sentences, but y has 3"),
        ([[(0, 2, "X")], [], []], TypeError, "a tuple such as"),
        ([[(0, 5, "X", 0.5)], [], []], ValueError, "Sentence 0 has 4 tokens, but the span"),
        ([[(2, 2, "X", 0.5)], [], []], ValueError, "Sentence 0 has 4 tokens"),
        ([[(-1, 2, "X", 0.5)], [], []], ValueError, "Sentence 0 has 4 tokens"),
        ([[(0.0, 2.0, "X", 0.5)], [], []], TypeError, "must be integers"),
        ([[(0, 2, "X", 1.5)], [], []], ValueError, "1.5"),
        ([[(0, 2, "X", float("nan"))], [], []], ValueError, "NaN|nan"),
    ],
)
def test_bad_spans(spans, error, message):
    with pytest.raises(error, match=message):
        span_queries(Y, spans)


def test_tags_without_a_scheme():
    with pytest.raises(ValueError, match=r"The tags \['DT', 'NN'\] follow no scheme"):
        span_queries([["DT", "NN"]], [[]])


def questions(sample_weight=None):
    return SpanQuestions(
        np.array([0, 0, 2]),
        np.array([0, 3, 1]),
        np.array([2, 4, 3]),
        np.array([0, 0, 0]),
        np.array([0.9, 0.4, 0.7]),
        np.array([4, 1, 3]),
        types=["X"],
        scheme=SCHEMES["BIO"],
        sample_weight=sample_weight,
    )


def test_missed_share_counts_types_that_are_unknown():
    # Of four true spans, (3, 4, Y) has a type of its own and (0, 1, X) is not asked about.
    assert questions().missed_share(Y) == 0.5
    assert questions([1.0, 1.0, 0.0]).missed_share(Y) == 0.5
    assert questions([0.0, 1.0, 1.0]).missed_share(Y) == 0.5
    assert questions([3.0, 1.0, 1.0]).missed_share([Y[0], ["O"], ["O"] * 3]) == 0.5
    assert np.isnan(questions().missed_share([["O"] * 4, ["O"], ["O"] * 3]))
    # An unknown type is no answer to a question about a known one.
    assert questions().answer(Y).y_true.tolist() == [True, False, True]


def test_any_tags_answer():
    asked = questions()
    assert repr(asked) == "<SpanQuestions: 3 spans in 3 sentences>"
    assert asked.answer([["O"] * 4, ["O"], ["O"] * 3]).y_true.sum() == 0
    assert asked.answer([["O", "O", "O", "B-X"], ["O"], ["O"] * 3]).y_true.tolist() == [
        False,
        True,
        False,
    ]
    with pytest.raises(ValueError, match="Sentence 0 has 4 tokens, but 1 tags"):
        asked.answer([["O"], ["O"], ["O"]])
    with pytest.raises(ValueError, match="which scheme='BIO' lacks"):
        asked.answer([["E-X"] * 4, ["O"], ["O"] * 3])
