"""What every data set has in common: X, y, and how it shows itself."""

import numpy as np
import pytest

from sklearn_calib.coref import Document
from sklearn_calib.datasets import (
    DocumentCorpus,
    NewsCorpus,
    TaggedCorpus,
    TweetCorpus,
    make_coref_documents,
    make_event_corpus,
    make_queries,
    make_tagged_sequences,
)

ABOUT = {"name": "Small", "licence": "CC0", "description": "A test.", "metadata": {}}
DAY = np.array(["2009-06-01"], dtype="datetime64[D]")
TEXT = Document("a", ["Ada", "slept"], mentions=[(0, 1)], entities=["Ada"])


@pytest.mark.parametrize(
    ("made", "line", "columns"),
    [
        (
            TaggedCorpus([["so", "true"], ["yes"]], [["R", "A"], ["I"]], **ABOUT),
            "Small: 2 sentences, 3 tokens, 3 tags",
            {"sentence": [0, 0, 1], "token": ["so", "true", "yes"], "tag": ["R", "A", "I"]},
        ),
        (
            DocumentCorpus([TEXT], [TEXT.entities], **ABOUT),
            "Small: 1 document, 1 mention",
            {"id": ["a"], "tokens": [2], "mentions": [1], "entities": [1]},
        ),
        (
            TweetCorpus(["glad"], np.array([1]), **ABOUT, date=DAY, id=np.array([7])),
            "Small: 1 tweet, 1 of them happy",
            {"id": [7], "y": [1], "text": ["glad"]},
        ),
        (
            NewsCorpus(
                ["One."], None, **ABOUT, date=DAY, date_source=["s"], title=["T"], id=["736"]
            ),
            "Small: 1 article, 2009 to 2009",
            {"id": ["736"], "title": ["T"], "text": ["One."]},
        ),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_corpora_show_themselves(made, line, columns):
    assert len(made) == len(made.X)
    assert repr(made).splitlines()[-1] == line
    assert line in made._repr_html_()
    frame = made.to_frame()
    for name, values in columns.items():
        assert frame[name].tolist() == values


@pytest.mark.parametrize("make", [make_coref_documents, make_event_corpus, make_tagged_sequences])
def test_simulated_data_show_themselves(make):
    data = make(30, random_state=0)
    assert len(data) == len(data.X) == len(data.y) == 30
    assert all(len(sample) == len(truth) for sample, truth in zip(data.X, data.y, strict=True))
    assert "Simulated" in repr(data).splitlines()[-1]
    # The middle of a long table is left out.
    assert len(repr(data).splitlines()) <= 13
    rows = sum(map(len, data.X)) if make is make_tagged_sequences else 30
    assert len(data.to_frame()) == rows


def test_the_entities_of_documents_are_their_truth():
    for data in (make_coref_documents(3, random_state=0), make_event_corpus(3, random_state=0)):
        for document, entities in zip(data.X, data.y, strict=True):
            np.testing.assert_array_equal(document.entities, entities)


def test_what_no_document_has_is_no_column():
    assert "date" in make_event_corpus(3, random_state=0).to_frame()
    assert "date" not in make_coref_documents(3, random_state=0).to_frame()


def test_simulated_queries_show_themselves():
    sample = make_queries(20, distortion="shift", group_size=2, random_state=0)
    assert repr(sample).endswith(f"with a true calibration error of {sample.error:.4f}")
    frame = sample.to_frame()
    assert frame["y_prob"].tolist() == sample.y_prob.tolist()
    assert frame["group"].tolist() == sample.queries.group.tolist()
