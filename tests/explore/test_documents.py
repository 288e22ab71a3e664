"""Documents to look at: those that are uncertain, and those that were left out."""

import pytest

from sklearn_calib.explore import SkippedDocument, count_documents, count_tags
from tests.explore.pairs import document, linked, samples


def test_most_uncertain():
    docs = [document(str(i)) for i in range(4)]
    post = count_documents(docs, [samples(p) for p in (0.9, 0.45, 0.0, 1.0)], linked)
    found = post.most_uncertain()
    assert [d.id for d in found] == ["1", "0"]
    assert found[0].probability == pytest.approx(0.45)
    assert found[0].mentions == ("w", "w")
    assert "1 (2003-Q1): yes 0.45 [w, w]" in str(found[0])
    assert len(post.most_uncertain(1, key="yes")) == 1
    with pytest.raises(ValueError, match="'no' was not counted"):
        post.most_uncertain(key="no")


def test_uncertain_counts_are_printed_with_their_spread():
    drawn = [[["N"] * 3 + ["V"] * 3] * 15 + [["N"] * 5 + ["V"]] * 15]
    [found] = count_tags([["a"] * 6], drawn).most_uncertain(1)
    assert "N 4.0 ± 1.0" in str(found) or "V 2.0 ± 1.0" in str(found)


def test_documents_read_as_a_line_and_become_a_table():
    skipped = SkippedDocument(3, "d3", "OSError: gone & <lost>")
    assert repr(skipped) == str(skipped) == "d3 was skipped: OSError: gone & <lost>"
    assert skipped._repr_html_() == "<p>d3 was skipped: OSError: gone &amp; &lt;lost&gt;</p>"
    [found] = count_documents([document("1")], [samples(0.45)], linked).most_uncertain()
    assert repr(found) == "1 (2003-Q1): yes 0.45 [w, w]"
    pytest.importorskip("pandas")
    assert skipped.to_frame().to_dict("list") == {
        "number": [3],
        "id": ["d3"],
        "reason": ["OSError: gone & <lost>"],
    }
    frame = found.to_frame()
    assert frame["probability"].tolist() == [0.45]
    assert frame["mentions"].tolist() == [("w", "w")]
