"""One document after the other: streams, gaps, dates, and what messages call things."""

import numpy as np
import pytest

from sklearn_calib.explore import count_documents, count_tags
from tests.explore.pairs import document, linked, samples

DOCS = [document("a"), document("b")]
DRAWN = [samples(0.5)] * 2


def test_generators_are_read_once_and_results_are_the_same():
    docs = [document(str(i)) for i in range(5)]
    drawn = [samples(i / 5) for i in range(5)]
    a = count_documents(docs, drawn, linked)
    b = count_documents((d for d in docs), (s for s in drawn), linked)
    np.testing.assert_array_equal(a.mean, b.mean)


def test_undated_documents():
    docs = [document("a"), document("b", date=None), document("c", date="2003")]
    drawn = [samples(0.5)] * 3
    with pytest.raises(ValueError, match=r"'b' has no date.*undated='skip'"):
        count_documents(docs, drawn, linked)
    with pytest.raises(ValueError, match="'c' is dated 2003, so that its quarter is not known"):
        count_documents([docs[0], docs[2]], drawn[:2], linked)
    with pytest.warns(UserWarning, match="2 of 3 documents were skipped, the first of them"):
        post = count_documents(docs, drawn, linked, undated="skip")
    assert [s.id for s in post.skipped] == ["b", "c"]
    assert post.documents == ("a",)
    assert count_documents(docs[2:], drawn[:1], linked, period="Y").period_labels == ["2003"]
    with pytest.raises(ValueError, match="function returned None"):
        count_documents(docs, drawn, linked, period=lambda d: None)


@pytest.mark.parametrize(
    ("options", "name"),
    [({"best": [[0, 0], None]}, "best"), ({"sample_weight": [3, None]}, "sample_weight")],
)
def test_gaps_are_refused(options, name):
    with pytest.raises(ValueError, match=f"{name} has None for document 1"):
        count_documents(DOCS, DRAWN, linked, **options)


def test_sentences_are_called_sentences():
    with pytest.raises(ValueError, match="samples ended after 1 sentences, but sentences did not"):
        count_tags([["a"], ["b"]], [[["N"]]])
    with pytest.raises(ValueError, match="Sentence 1 has 2 samples, but those before"):
        count_tags([["a"], ["b"]], [[["N"]], [["N"], ["N"]]])
    with pytest.raises(ValueError, match="leave such sentences out"):
        count_tags([["a"]], [[["N"]]], dates=[None], period="Y")
    with pytest.raises(ValueError, match="There are no sentences to count"):
        count_tags([], [])
