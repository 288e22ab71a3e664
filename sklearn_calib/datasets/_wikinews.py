"""Dated news articles as plain text."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date as Date

import numpy as np

from sklearn_calib._results import Columns, counted
from sklearn_calib._validation import Array
from sklearn_calib.datasets._corpus import Corpus, origin
from sklearn_calib.datasets._fetch import Source, fetch, lines

__all__ = ["NewsCorpus", "load_wikinews"]

WIKINEWS = Source(
    corpus="Wikinews with dates (made from https://dumps.wikimedia.org/enwikinews/)",
    url=None,
    name="wikinews_dated.tsv",
    sha256=None,
    licence="CC BY 2.5",
)

# Between the paragraphs of an article in the file.
PARAGRAPH = " ¶ "


@dataclass(frozen=True, eq=False, repr=False)
class NewsCorpus(Corpus):
    """Articles with dates.

    Attributes
    ----------
    X : list of str
        The texts; an empty line stands between paragraphs.
    y : None
        Nobody labelled the articles.
    name : str
        The corpus.
    licence : str
        Who may use it, and how.
    description : str
        What it is.
    metadata : dict
        The `paths` that were read, and the `urls` they come from.
    date : ndarray of datetime64[D] of shape (n_articles,)
        When each article appeared.
    date_source : list of str
        Where each date comes from.
    title : list of str
        The titles.
    id : list of str
        The number of each page.

    See Also
    --------
    load_wikinews : Makes this object.
    """

    X: list[str]
    y: None
    date: Array
    date_source: list[str]
    title: list[str]
    id: list[str]

    def _sentence(self) -> str:
        years = self.date.astype("datetime64[Y]")
        return f"{self.name}: {counted(len(self), 'article')}, {years.min()} to {years.max()}"

    def _columns(self) -> Columns:
        """Return one row per article."""
        return {"id": self.id, "date": self.date, "title": self.title, "text": self.X}


def load_wikinews(
    *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> NewsCorpus:
    r"""Load articles of Wikinews with their dates, as plain text.

    The dates are inferred from the sources that an article names and from the numbers of pages;
    most are right to within a day or two. Many articles of 2009 and later are missing, so that
    counts of different years cannot be compared without normalisation.

    Parameters
    ----------
    data_home : str or path, default=None
        Folder of the corpora; see the user guide.
    download : bool, default=True
        Has no effect: this collection cannot be downloaded as one file.

    Returns
    -------
    NewsCorpus
        Texts, dates and titles.

    See Also
    --------
    load_amalgum_news : Fewer articles, with parses and entities.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_calib.datasets import load_wikinews
    >>> with TemporaryDirectory() as folder:
    ...     text = "736\t2005-01-02\tsource\tA title\tOne. ¶ Two.\n"
    ...     _ = Path(folder, "wikinews_dated.tsv").write_text(text, encoding="utf-8")
    ...     news = load_wikinews(data_home=folder)
    >>> news
    Wikinews: 1 article, 2005 to 2005
    >>> news.X
    ['One.\n\nTwo.']
    """
    path = fetch(WIKINEWS, data_home=data_home, download=download)
    columns: list[list[str]] = [[] for _ in range(5)]
    for number, line in lines(path):
        cells = line.split("\t")
        if number == 1 and cells[0] == "curid":
            continue
        if not line:
            continue
        try:
            _, date, _, _, _ = cells
            if Date.fromisoformat(date).isoformat() != date:
                raise ValueError  # forms such as 20060712 mean something else to NumPy
        except ValueError:
            raise ValueError(
                f"{path}, line {number}: a number, a date, its source, a title and a text are "
                f"expected, found {line[:80]!r}."
            ) from None
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
    ids, dates, sources, titles, texts = columns
    if not ids:
        raise ValueError(f"{path} has no articles.")
    return NewsCorpus(
        X=[text.replace(PARAGRAPH, "\n\n") for text in texts],
        date=np.array(dates, dtype="datetime64[D]"),
        date_source=sources,
        title=titles,
        id=ids,
        y=None,
        name="Wikinews",
        licence=WIKINEWS.licence,
        description="Articles of the English Wikinews as plain text, with inferred dates.",
        metadata=origin([WIKINEWS], [path]),
    )
