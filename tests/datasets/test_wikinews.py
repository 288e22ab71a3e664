"""Articles with dates."""

import gzip

import pytest

from sklearn_calib.datasets import (
    load_wikinews,
)

NEWS = "curid\tdate\tdate_source\ttitle\ttext\n736\t2005-01-02\tsource\tA title\tOne. ¶ Two.\n"


def test_wikinews(tmp_path):
    (tmp_path / "wikinews_dated.tsv.gz").write_bytes(gzip.compress(NEWS.encode()))
    news = load_wikinews(data_home=tmp_path)
    assert len(news) == 1
    assert news.X == ["One.\n\nTwo."]
    assert news.date.tolist()[0].isoformat() == "2005-01-02"
    assert (news.title, news.id, news.date_source) == (["A title"], ["736"], ["source"])
    (tmp_path / "wikinews_dated.tsv.gz").write_bytes(gzip.compress(b"1\tsoon\ta\tb\tc\n"))
    with pytest.raises(ValueError, match="line 1: a number, a date"):
        load_wikinews(data_home=tmp_path)


@pytest.mark.parametrize(
    "date",
    ["", "NaT", "now", "today", "2006", "2006-07", "2006-02-30", "2006-W05-1", "20060712",
     "2006-07-12T23", " 2006-07-12", "0000-01-01", "99999-01-01", "\u0662\u0660\u0660\u0666-07-12"],
)  # fmt: skip
def test_what_is_no_day_is_refused(tmp_path, date):
    text = f"{NEWS}737\t{date}\tsource\tA title\tText.\n"
    (tmp_path / "wikinews_dated.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"wikinews_dated\.tsv, line 3: a number, a date"):
        load_wikinews(data_home=tmp_path)
