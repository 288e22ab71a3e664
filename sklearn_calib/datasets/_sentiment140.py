"""Tweets whose emoticons say how their author felt."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from sklearn_calib._files import open_text, shortened
from sklearn_calib._results import Columns, counted
from sklearn_calib._validation import Array, check_option
from sklearn_calib.datasets._corpus import Corpus, origin
from sklearn_calib.datasets._fetch import Source, fetch, lines

__all__ = ["TweetCorpus", "load_sentiment140"]

_LICENCE = "none stated; the text of tweets is subject to Twitter's terms. Do not pass it on"

# A sample that was checked against its checksum, and everything.
_SOURCES = {
    "sample": Source(
        corpus="Sentiment140 sample",
        url="https://raw.githubusercontent.com/sampage10/TwitterSentimentAnalysis/7978239e1d4985c56405e6e2d37c100b19271835/sentiment140_sample.csv",
        name="sentiment140_sample.csv",
        sha256="6c5eeac8fff8feeca55dd7057aa2f6bf8e45f0cf26de46576375cbd776800f2a",
        licence=_LICENCE,
        other_names=("sentiment140_20k.tsv",),
    ),
    "full": Source(
        corpus="Sentiment140",
        url="https://cs.stanford.edu/people/alecmgo/trainingandtestdata.zip",
        name="trainingandtestdata.zip",
        sha256="004a3772c8a7ff9bbfeb875880f47f0679d93fc63e5cf9cff72d54a8a6162e57",
        licence=_LICENCE,
        other_names=("training.1600000.processed.noemoticon.csv",),
    ),
}

# Named for themselves, because the names that strptime knows depend on the locale.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, eq=False, repr=False)
class TweetCorpus(Corpus):
    """Tweets, whether they are happy, and when they were sent.

    Attributes
    ----------
    X : list of str
        The texts.
    y : ndarray of int of shape (n_tweets,)
        1 for a happy tweet, 0 for a sad one.
    name : str
        The corpus.
    licence : str
        Who may use it, and how.
    description : str
        What it is, with a reference.
    metadata : dict
        The `paths` that were read, and the `urls` they come from.
    date : ndarray of datetime64[s] of shape (n_tweets,)
        When each tweet was sent, in Pacific time as in the source.
    id : ndarray of int of shape (n_tweets,)
        Number of each tweet.

    See Also
    --------
    load_sentiment140 : Makes this object.
    """

    X: list[str]
    y: Array
    date: Array
    id: Array

    def _sentence(self) -> str:
        return f"{self.name}: {counted(len(self), 'tweet')}, {int(self.y.sum()):,} of them happy"

    def _columns(self) -> Columns:
        """Return one row per tweet."""
        return {"id": self.id, "date": self.date, "y": self.y, "text": self.X}


def _tsv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield label, number, date and text from the trimmed form, with or without a header."""
    for number, line in lines(path):
        row = line.split("\t")
        if line and not (number == 1 and not row[0].isdigit()):
            yield number, row


def _csv_rows(path: Path, member: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the same from the original: polarity, number, date, query, user, text."""
    with open_text(path, member=member, encoding=encoding) as text:
        reader = csv.reader(text)
        try:
            for row in reader:
                if reader.line_num == 1 and row and not row[0].isdigit():
                    continue  # a header
                if len(row) == 6:
                    polarity, number, date, _, _, content = row
                    row = [{"0": "0", "4": "1"}.get(polarity, polarity), number, date, content]
                if row:
                    yield reader.line_num, row
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}.") from error


def _moment(text: str) -> datetime:
    """Read 2009-04-06T22:19:45, or Mon Apr 06 22:19:45 PDT 2009, without its zone."""
    if "T" in text[:11] and "-" in text:
        return datetime.fromisoformat(text)
    _, month, day, time, _, year = text.split()
    hour, minute, second = map(int, time.split(":"))
    return datetime(int(year), _MONTHS.index(month) + 1, int(day), hour, minute, second)


def load_sentiment140(
    *,
    subset: str = "sample",
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> TweetCorpus:
    r"""Load tweets of 2009, labelled by the emoticons that were then cut out.

    Nothing is removed: the sample has one tweet twice, and a few texts several
    times.

    Parameters
    ----------
    subset : {"sample", "full"}, default="sample"
        A random sample of 20,000 tweets, or all 1,600,000 (80 MB to download).
    data_home : str or path, default=None
        Folder of the corpora; see the user guide.
    download : bool, default=True
        Whether to download the tweets if the folder does not have them.

    Returns
    -------
    TweetCorpus
        Texts, labels and dates. The names of the authors are left out.

    See Also
    --------
    load_ark_tweets : Tweets with parts of speech.

    References
    ----------
    .. [1] Go, Bhayani and Huang, "Twitter sentiment classification using distant supervision",
       Stanford University, 2009.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_calib.datasets import load_sentiment140
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "sentiment140_20k.tsv")
    ...     _ = file.write_text("label\tid\tdate\ttext\n1\t7\t2009-06-01T10:26:07\tso glad\n")
    ...     tweets = load_sentiment140(data_home=folder)
    >>> tweets
    Sentiment140 sample: 1 tweet, 1 of them happy
    >>> tweets.X, tweets.date
    (['so glad'], array(['2009-06-01T10:26:07'], dtype='datetime64[s]'))
    """
    check_option(subset, "subset", tuple(_SOURCES))
    source = _SOURCES[subset]
    path = fetch(source, data_home=data_home, download=download)
    if ".tsv" in path.suffixes:
        rows = _tsv_rows(path)
    else:
        # The original is in Latin-1; the sample was made from it and is in UTF-8.
        encoding = "latin-1" if subset == "full" else "utf-8-sig"
        rows = _csv_rows(path, "training.1600000.processed.noemoticon.csv", encoding)
    texts, labels, dates, numbers = [], [], [], []
    for line, row in rows:
        try:
            label, number, date, text = row
            labels.append(("0", "1").index(label))
            numbers.append(np.int64(int(number)))
            dates.append(_moment(date))
        except (OverflowError, ValueError):
            raise ValueError(
                f"{path}, line {line}: a label, a number, a date and a text are expected, found "
                f"{shortened(row, 200)}."
            ) from None
        texts.append(text)
    if not texts:
        raise ValueError(f"{path} has no tweets.")
    return TweetCorpus(
        X=texts,
        y=np.array(labels),
        date=np.array(dates, dtype="datetime64[s]"),
        id=np.array(numbers, dtype=np.int64),
        name=source.corpus,
        licence=source.licence,
        description="Tweets of April to June 2009, labelled by their emoticons, which were then "
        "removed (Go, Bhayani and Huang, 2009).",
        metadata=origin([source], [path]),
    )
