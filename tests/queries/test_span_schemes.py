"""Schemes of spans: recognised, named, refused; and spans read off tags."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_calib.queries._span_schemes import SCHEMES, read_scheme, read_spans
from tests.literal_spans import literal_spans

TAGS = {
    "BIO": ["B-X", "I-X", "B-Y", "I-Y", "O"],
    "BIOES": ["B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y", "O"],
    "BILOU": ["B-X", "I-X", "L-X", "U-X", "B-Y", "I-Y", "L-Y", "U-Y", "O"],
    "IO": ["I-X", "I-Y", "O"],
}


@pytest.mark.parametrize("scheme", TAGS)
@given(data=st.data())
def test_spans_are_read_as_the_words_say(scheme, data):
    sentence = st.lists(st.sampled_from(TAGS[scheme]), min_size=1, max_size=8)
    y = data.draw(st.lists(sentence, min_size=1, max_size=5))
    found = read_spans(y, SCHEMES[scheme])
    columns = found.sentence.tolist(), found.start.tolist(), found.stop.tolist(), found.kind
    expected = [(i, *span) for i, tags in enumerate(y) for span in literal_spans(tags, scheme)]
    assert list(zip(*columns, strict=True)) == expected


def test_an_inside_tag_that_continues_nothing_is_in_no_span():
    y = [["I-X", "I-X", "O", "I-X"], ["B-Y", "I-X", "I-Y"], ["O", "O"]]
    found = read_spans(y, SCHEMES["BIO"])
    assert (found.sentence.tolist(), found.start.tolist(), found.stop.tolist()) == ([1], [0], [1])
    assert found.kind == ["Y"]


@pytest.mark.parametrize(
    ("classes", "scheme"),
    [
        (["B-X", "I-X", "O"], "BIO"),
        (["B-X", "O"], "BIO"),
        (["B-X"], "BIO"),
        (["O"], "BIO"),
        (["B", "I", "O"], "BIO"),
        (["B-X", "E-X", "O"], "BIOES"),
        (["S-X", "O"], "BIOES"),
        (["B-X", "I-X", "E-X", "S-X"], "BIOES"),
        (["U-X", "O"], "BILOU"),
        (["B-X", "L-X", "I-X", "U-X", "O"], "BILOU"),
        (["I-X", "O"], "IO"),
        (["I-X-Y", "I-X"], "IO"),
    ],
)
def test_the_scheme_is_recognised(classes, scheme):
    assert read_scheme(classes).scheme.name == scheme


def test_each_tag_has_its_place():
    tags = read_scheme(["O", "S-b", "B-a", "E-a", "I-a", "B-b"])
    assert tags.types == ["a", "b"]
    assert tags.first.tolist() == [2, 5]
    assert tags.inside.tolist() == [4, -1]
    assert tags.last.tolist() == [3, -1]
    assert tags.single.tolist() == [-1, 1]
    assert read_scheme(["B-A-B", "I-A-B", "O"]).types == ["A-B"]
    assert read_scheme(["B", "I", "O"]).types == [""]
    assert read_scheme(["O"]).types == []


@pytest.mark.parametrize(
    "classes",
    [
        ["DT", "NN"],
        ["B-X", "I-X", "E-X", "L-X"],
        ["I-X", "E-X", "O"],
        ["B-X", "O-X"],
        ["B-X", "I-X", "O", "X"],
        ["B-", "O"],
        [""],
        ["X-B", "X-I"],
    ],
)
def test_tags_without_a_scheme_are_listed(classes):
    with pytest.raises(ValueError, match="follow no scheme of spans: BIO has") as error:
        read_scheme(classes)
    assert str(classes) in str(error.value)


def test_many_tags_are_not_all_listed():
    with pytest.raises(ValueError, match=r"'T19'\] and 30 more follow no scheme"):
        read_scheme([f"T{i}" for i in range(50)])


def test_a_named_scheme_must_fit():
    with pytest.raises(ValueError, match=r"scheme='BIO' has tags such as B-PER, I-PER and O, but"):
        read_scheme(["B-X", "E-X", "O"], "BIO")
    with pytest.raises(ValueError, match=r"scheme='IO' has tags such as I-PER and O, but"):
        read_scheme(["B-X", "I-X", "O"], "IO")
    with pytest.raises(ValueError, match="scheme='IOB' is not known"):
        read_scheme(["B-X"], "IOB")
    # No longer span in training: the tags alone would not tell.
    assert read_scheme(["B-X", "I-X", "O"], "BIOES").scheme.name == "BIOES"


def test_true_tags_must_follow_the_scheme():
    with pytest.raises(ValueError, match=r"tags \['E-X', 'odd'\], which scheme='BIO' lacks"):
        read_spans([["B-X", "E-X", "odd"]], SCHEMES["BIO"])


@pytest.mark.parametrize("scheme", TAGS)
def test_what_is_allowed_is_what_leaves_no_loose_tag(scheme):
    classes = TAGS[scheme]
    start, end, step = read_scheme(classes, scheme).allowed(len(classes))
    outside = classes.index("O")
    single = scheme[4] if len(scheme) == 5 else None

    def well_formed(tags):
        """Tell whether every tag but O is in a span."""
        covered = {t for i, j, _ in literal_spans(tags, scheme) for t in range(i, j)}
        return all(t in covered or tag == "O" for t, tag in enumerate(tags))

    def allowed(codes):
        return start[codes[0]] and end[codes[-1]] and step[codes[:-1], codes[1:]].all()

    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(3000):
        codes = rng.integers(len(classes), size=rng.integers(1, 5))
        tags = [classes[c] for c in codes]
        assert allowed(codes) == well_formed(tags), tags
        seen.add(bool(allowed(codes)))
    assert seen == ({True} if scheme == "IO" else {True, False})
    assert start[outside]
    assert single is None or end[classes.index(f"{single}-X")]
