"""Tweets are read in every form, and a wrong line is named."""

import gzip
import zipfile

import numpy as np
import pytest

from sklearn_calib.datasets import (
    load_sentiment140,
)
from tests.limits import within_limits

TWEETS_TSV = (
    "label\tid\tdate\ttext\n1\t7\t2009-06-01T10:26:07\tso\x85glad \n0\t8\t2009-04-06T22:19:45\t?"
)


TWEETS_CSV = (
    '"4","7","Mon Jun 01 10:26:07 PDT 2009","NO_QUERY","me","so\x85glad "\n'
    '"0","8","Mon Apr 06 22:19:45 PDT 2009","NO_QUERY","you","?"\n'
)

pytestmark = pytest.mark.usefixtures("any_checksum")


@pytest.mark.parametrize("kind", ["tsv", "tsv.gz", "sample", "header", "full", "zip"])
def test_sentiment140_in_every_form(tmp_path, kind):
    subset = "full" if kind in ("full", "zip") else "sample"
    header = "target,ids,date,flag,user,text\n"
    name, content = {
        "tsv": ("sentiment140_20k.tsv", TWEETS_TSV.replace("\n", "\r\n").encode()),
        "tsv.gz": ("sentiment140_20k.tsv.gz", gzip.compress(TWEETS_TSV.encode())),
        "sample": ("sentiment140_sample.csv", TWEETS_CSV.encode()),
        "header": ("sentiment140_sample.csv", (header + TWEETS_CSV).encode()),
        "full": ("training.1600000.processed.noemoticon.csv", TWEETS_CSV.encode("latin-1")),
        "zip": ("trainingandtestdata.zip", None),
    }[kind]  # fmt: skip
    if kind == "zip":
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(
                "training.1600000.processed.noemoticon.csv", TWEETS_CSV.encode("latin-1")
            )
    else:
        (tmp_path / name).write_bytes(content)
    tweets = load_sentiment140(subset=subset, data_home=tmp_path, download=False)
    assert tweets.X == ["so\x85glad ", "?"]
    assert tweets.y.tolist() == [1, 0]
    assert tweets.id.tolist() == [7, 8]
    expected = np.array(["2009-06-01T10:26:07", "2009-04-06T22:19:45"], dtype="datetime64[s]")
    np.testing.assert_array_equal(tweets.date, expected)


@pytest.mark.parametrize(
    "line",
    [
        "1\t9\t2009-06-01T10:26:07",
        "2\t9\t2009-06-01T10:26:07\tneutral",
        "1\tnine\t2009-06-01T10:26:07\tx",
        "1\t9\tyesterday\tx",
        "1\t9\tMon Foo 01 10:26:07 PDT 2009\tx",
    ],
)
def test_a_malformed_tweet_is_named(tmp_path, line):
    (tmp_path / "sentiment140_20k.tsv").write_text(f"{TWEETS_TSV}\n{line}\n")
    with pytest.raises(ValueError, match=r"sentiment140_20k.tsv, line 4: a label"):
        load_sentiment140(data_home=tmp_path)


def test_a_malformed_csv_is_named(tmp_path):
    (tmp_path / "sentiment140_sample.csv").write_text(TWEETS_CSV + "4,1,2\n")
    with pytest.raises(ValueError, match=r"line 3: .*found \['4', '1', '2'\]"):
        load_sentiment140(data_home=tmp_path)


def test_without_a_header_no_tweet_is_lost(tmp_path):
    path = tmp_path / "sentiment140_20k.tsv"
    header, first, *_ = TWEETS_TSV.split("\n")
    path.write_text(first + "\n")
    assert len(load_sentiment140(data_home=tmp_path)) == 1
    path.write_text(f"{header}\n{first}\n")
    assert len(load_sentiment140(data_home=tmp_path)) == 1


@pytest.mark.parametrize("number", ["9" * 25, "9" * 5000, "0x1", "9223372036854775808", "\u00b2"])
def test_numbers_that_do_not_fit(tmp_path, number):
    path = tmp_path / "sentiment140_20k.tsv"
    path.write_text(f"1\t{number}\t2009-06-01T10:26:07\tx\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"sentiment140_20k\.tsv, line 1: a label") as caught:
        load_sentiment140(data_home=tmp_path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "text", ['"' * 900_000, '"' + "a,\n" * 300_000, '"0","1","' + "a" * 900_000 + '"\n']
)
def test_quotes_without_an_end(tmp_path, text):
    path = tmp_path / "training.1600000.processed.noemoticon.csv"
    path.write_text(text)
    with (
        within_limits(),
        pytest.raises(ValueError, match=r"noemoticon\.csv, line \d+: field"),
    ):
        load_sentiment140(data_home=tmp_path, subset="full")
