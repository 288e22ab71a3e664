"""Differences of counts: keys of one document, periods, weights."""

import numpy as np
import pytest

from sklearn_calib.explore import count_documents
from tests.explore.pairs import document, linked, samples, two_keys


def test_difference_knows_that_keys_of_a_document_depend():
    docs = [document(str(i)) for i in range(10)]
    post = count_documents(docs, [samples(0.5)] * 10, two_keys)
    result = post.difference("A", "B")
    assert result.mean == 0
    assert tuple(result.confidence_interval) == (0, 0)
    assert result.probability_equal == pytest.approx(1)
    assert result.probability == 0


def test_difference_of_periods():
    docs = [document("a", date="2001-05-01"), document("b", date="2002-05-01")]
    post = count_documents(docs, [samples(0.8), samples(0.3)], linked, period="Y")
    result = post.difference("yes", periods="2001", other_periods="2002")
    assert result.mean == pytest.approx(0.5)
    assert result.probability == pytest.approx(0.8 * 0.7)
    assert result.probability_equal == pytest.approx(0.8 * 0.3 + 0.2 * 0.7)
    assert tuple(result.confidence_interval) == (-1, 1)
    assert "larger with probability 0.560" in str(result)
    with pytest.raises(ValueError, match="Pass a second key"):
        post.difference("yes")
    with pytest.raises(ValueError, match="no period '1999'; the periods are '2001' to '2002'"):
        post.difference("yes", periods="1999", other_periods="2001")


def test_differences_and_intervals_agree_about_weights():
    docs = [document("a", date="2001-05-01"), document("b", date="2002-05-01")]
    for weights, method in [([1, 2.5], "exact"), ([1, np.pi], "quantile")]:
        post = count_documents(
            docs, [samples(0.8), samples(0.3)], linked, period="Y", sample_weight=weights
        )
        result = post.difference("yes", periods="2001", other_periods="2002")
        assert result.method == method
        assert result.mean == pytest.approx(0.8 - 0.3 * weights[1])
        if method == "exact":
            assert tuple(result.confidence_interval) == (-2.5, 1)


def test_a_difference_reads_as_a_line_and_becomes_a_table():
    result = count_documents([document()], [samples(0.5)], two_keys).difference("A", "B")
    line = "difference 0 [0, 0] (95%), larger with probability 0.000, equal 1.000"
    assert repr(result) == str(result) == line
    assert result._repr_html_() == f"<p>{line}</p>"
    pytest.importorskip("pandas")
    assert result.to_frame()[["mean", "low", "high"]].to_numpy().tolist() == [[0, 0, 0]]
