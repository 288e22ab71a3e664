"""Simulated sentences with spans."""

import numpy as np
import pytest

from sklearn_calib.datasets import make_chunked_sequences
from tests.literal_spans import literal_spans


def test_spans_are_as_asked():
    data = make_chunked_sequences(
        3000, n_types=4, mean_length=20, mean_span=3.0, span_share=0.2, random_state=0
    )
    spans = [span for tags in data.y for span in literal_spans(tags, "BIO")]
    inside = sum(stop - start for start, stop, _ in spans)
    # Every tag but O is in a span: no I- tag continues nothing.
    assert inside == sum(tag != "O" for tags in data.y for tag in tags)
    assert {kind for _, _, kind in spans} == {"PER", "LOC", "ORG", "MISC"}
    # Sentences cut spans short, and the types differ.
    assert 2.0 < inside / len(spans) < 3.8
    begun = np.mean([tags[0].startswith("B-") for tags in data.y])
    assert abs(begun - 0.2) < 5 * np.sqrt(0.16 / 3000)


def test_the_chain_is_a_law():
    for mean_span in (1.0, 2.0):
        data = make_chunked_sequences(20, mean_span=mean_span, random_state=0)
        np.testing.assert_allclose(data.transitions.sum(axis=1), 1.0)
        assert data.start.sum() == pytest.approx(1.0)
        assert data.classes.tolist() == sorted(data.classes.tolist())
        lengths = {stop - start for tags in data.y for start, stop, _ in literal_spans(tags, "BIO")}
        assert (lengths == {1}) == (mean_span == 1.0)


def test_the_seed_decides_and_many_types_have_numbers():
    one, two = (make_chunked_sequences(5, n_types=12, random_state=3) for _ in range(2))
    assert one.X == two.X
    assert one.y == two.y
    assert one.classes[[0, 11, 24]].tolist() == ["B-T00", "B-T11", "O"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_types": 0}, "n_types must be at least 1"),
        ({"mean_span": 0.5}, "mean_span must be at least 1"),
        ({"span_share": 0.0}, "span_share must lie between 0 and 1"),
        ({"span_share": 1.0}, "span_share must lie between 0 and 1"),
        ({"mean_length": 0.5}, "mean_length must be at least 1"),
        ({"word_concentration": 0.0}, "word_concentration"),
        ({"n_sequences": 0}, "n_sequences must be at least 1"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        make_chunked_sequences(**options)
