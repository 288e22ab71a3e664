"""Counts of documents: against hand-worked cases, and with bad input."""

import numpy as np
import pytest

from sklearn_calib.explore import count_documents
from tests.explore.pairs import document, linked, samples, two_keys


def test_counts_by_hand():
    docs = [document("a"), document("b"), document("c", date="2003-08-01")]
    drawn = [samples(0.3), samples(0.6), samples(1.0)]
    post = count_documents(docs, drawn, linked, best=[[0, 1], [0, 0], [0, 0]])
    assert post.period_labels == ["2003-Q1", "2003-Q2", "2003-Q3"]
    np.testing.assert_allclose(post.mean[:, 0], [0.9, 0.0, 1.0])
    np.testing.assert_allclose(post.best[:, 0], [1, 0, 1])
    variance = (0.3 * 0.7 + 0.6 * 0.4) * 100 / 99
    np.testing.assert_allclose(post.standard_deviation[:, 0], [variance**0.5, 0, 0])
    np.testing.assert_allclose(post.standard_error[:, 0], [(variance / 100) ** 0.5, 0, 0])
    low, high = post.confidence_interval(0.9, method="exact")
    # P(0) = .28, P(1) = .54, P(2) = .18
    assert (low[0, 0], high[0, 0]) == (0, 2)
    low, high = post.confidence_interval(0.4, method="exact")
    assert (low[0, 0], high[0, 0]) == (1, 1)
    assert (low[1, 0], high[1, 0]) == (0, 0)
    assert (low[2, 0], high[2, 0]) == (1, 1)
    low, high = post.confidence_interval(0.95, method="normal")
    assert low[0, 0] == pytest.approx(0.9 - 1.959964 * variance**0.5)
    low, high = post.confidence_interval(0.95, method="quantile")
    assert (low[0, 0], high[0, 0]) == (0, 2)
    assert post.n_documents.tolist() == [2, 0, 1]
    np.testing.assert_allclose(post.probability("yes"), [0.3, 0.6, 1.0])
    frame = post.to_frame()
    assert frame["mean"].tolist() == pytest.approx([0.9, 0, 1])
    assert frame["period"].tolist() == post.period_labels
    assert "2003-Q2" in str(post)
    assert post.samples.shape == (100, 3, 1)
    # 1 + a sum with P(0) = .28, P(1) = .54, P(2) = .18
    assert post.total().confidence_interval(0.4).low.tolist() == [[2]]
    assert post.total().mean.tolist() == [[pytest.approx(1.9)]]
    np.testing.assert_allclose(post.samples.mean(axis=0), post.mean)


def test_weights():
    docs = [document(str(i)) for i in range(3)]
    drawn = [samples(0.5)] * 3
    plain = count_documents(docs, drawn, linked)
    twice = count_documents(docs, drawn, linked, sample_weight=[2.5, 2.5, 2.5])
    np.testing.assert_allclose(twice.mean, 2.5 * plain.mean)
    np.testing.assert_allclose(
        twice.confidence_interval(0.5), 2.5 * np.array(plain.confidence_interval(0.5))
    )
    whole = count_documents(docs, drawn, linked, sample_weight=lambda d: 1 + int(d.id))
    low, high = whole.confidence_interval(0.95, method="exact")
    # sums of 1, 2 and 3 with chance 1/2 each: 0 and 6 have probability 1/8
    assert (low[0, 0], high[0, 0]) == (0, 6)
    assert whole.mean[0, 0] == pytest.approx(3)
    odd = count_documents(docs, drawn, linked, sample_weight=[0.5, 2**0.5, 0.0])
    with pytest.raises(ValueError, match=r"'yes' in 2003-Q1 are not: 1.41421 and 0.5 have no"):
        odd.confidence_interval(method="exact")
    assert odd.confidence_interval().high[0, 0] == pytest.approx(
        0.5 + 2**0.5
    )  # "auto" takes quantiles
    with pytest.raises(ValueError, match="Document '1': its weight is -1"):
        count_documents(docs, drawn, linked, sample_weight=[1, -1, 1])


def test_zero_weight_counts_nothing():
    docs = [document("a"), document("b")]
    post = count_documents(docs, [samples(0.5)] * 2, linked, sample_weight=[0, 1])
    only = count_documents(docs[1:], [samples(0.5)], linked)
    np.testing.assert_allclose(post.confidence_interval(), only.confidence_interval())
    none = count_documents(docs, [samples(0.5)] * 2, linked, sample_weight=[0, 0])
    assert none.confidence_interval().high.tolist() == [[0]]


def test_keys_can_be_named_and_empty_series_are_zero():
    docs = [document()]
    post = count_documents(docs, [samples(0.5)], two_keys, keys=["C", "B"])
    assert post.keys == ("C", "B")
    np.testing.assert_allclose(post.mean, [[0, 0.5]])
    assert post.confidence_interval().high.tolist() == [[0, 1]]
    assert post.select(["B"]).mean.tolist() == [[0.5]]
    assert post.most_common(1) == ("B",)
    nothing = count_documents(docs, [samples(0)], linked)
    assert nothing.keys == ()
    assert nothing.most_uncertain() == []
    with pytest.raises(TypeError, match="keys must be a list"):
        count_documents(docs, [samples(0)], linked, keys="A")


def test_bad_input():
    doc, drawn = document(), samples(0.5)
    with pytest.raises(ValueError, match=r"'d' has 2 mentions.*got \(100, 3\)"):
        count_documents([doc], [np.zeros((100, 3))], linked)
    with pytest.raises(ValueError, match=r"got \(2,\)"):
        count_documents([doc], [[0, 1]], linked)
    with pytest.raises(ValueError, match=r"best entities have shape \(3,\)"):
        count_documents([doc], [drawn], linked, best=[[0, 1, 2]])
    with pytest.raises(ValueError, match="samples ended after 1 documents, but documents did not"):
        count_documents([doc, doc], [drawn], linked)
    with pytest.raises(ValueError, match="documents ended after 1 documents, but samples did not"):
        count_documents([doc], [drawn, drawn], linked)
    with pytest.raises(ValueError, match="'e' has 50 samples, but those before it have 100"):
        count_documents([doc, document("e")], [drawn, samples(0.5, 50)], linked)
    with pytest.raises(ValueError, match="period='H' is not known; it should be one of 'D'"):
        count_documents([doc], [drawn], linked, period="H")
    with pytest.raises(TypeError, match="rule must be callable"):
        count_documents([doc], [drawn], "attack")
    with pytest.raises(TypeError, match="entry 0 is a str"):
        count_documents(["text"], [drawn], linked)
    with pytest.raises(TypeError, match="documents must be a list or another iterable"):
        count_documents(3, [drawn], linked)
    with pytest.raises(ValueError, match="no documents to count"):
        count_documents([], [], linked)
    with pytest.raises(ValueError, match="undated='drop' is not known"):
        count_documents([doc], [drawn], linked, undated="drop")
    far = [document("old", date="0200-01-01"), document("new")]
    with pytest.raises(ValueError, match=r"\('old'\).*Is a date wrong"):
        count_documents(far, [drawn] * 2, linked, period="D")
    post = count_documents([doc], [drawn], linked)
    with pytest.raises(ValueError, match="method='score' is not known"):
        post.confidence_interval(method="score")
    with pytest.raises(ValueError, match="named twice"):
        post.select(["yes", "yes"])
