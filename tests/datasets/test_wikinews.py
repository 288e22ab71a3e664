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
