"""Corpora of tagged sentences: CoNLL-2000, ARK tweets and UD English EWT."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn_calib._files import shortened
from sklearn_calib._validation import check_option
from sklearn_calib.datasets._corpus import Corpus, TokenTable, origin
from sklearn_calib.datasets._fetch import Source, fetch, lines

__all__ = ["TaggedCorpus", "load_ark_tweets", "load_conll2000", "load_ud_ewt"]

Rows = list[list[str]]


@dataclass(frozen=True, eq=False, repr=False)
class TaggedCorpus(TokenTable, Corpus):
    """Sentences and their tags, as taggers take them.

    Attributes
    ----------
    X : list of list of str
        The tokens of each sentence.
    y : list of list of str
        The tags of each sentence, one for each token.
    name : str
        Corpus and split.
    licence : str
        Who may use the corpus, and how.
    description : str
        What it is, with a reference.
    metadata : dict
        The `paths` that were read, the `urls` they come from, and what else
        the corpus knows of its sentences.

    See Also
    --------
    load_conll2000 : News, tagged by hand with Penn Treebank tags.
    load_ark_tweets : Tweets, tagged by hand with 25 coarse tags.
    load_ud_ewt : Web text, tagged by hand with Penn Treebank or universal tags.
    """

    X: list[list[str]]
    y: list[list[str]]

    def _sentence(self) -> str:
        return f"{self.name}: {self._counts()}"


def read_rows(
    path: Path,
    *,
    member: str | None = None,
    parse: Callable[[str], list[str] | None],
    widths: tuple[int, ...],
    on_comment: Callable[[str], None] | None = None,
) -> list[Rows]:
    """Return the rows of each sentence; an empty line ends a sentence.

    `parse` cuts a line into columns, or returns None to pass over it.
    """
    sentences: list[Rows] = []
    rows: Rows = []
    for number, line in lines(path, member=member):
        if not line.strip():
            if rows:
                sentences.append(rows)
            rows = []
        elif on_comment is not None and line.startswith("# "):
            on_comment(line)
        elif (row := parse(line)) is not None:
            if len(row) not in widths or not all(row):
                expected = " or ".join(map(str, widths))
                raise ValueError(
                    f"{path}, line {number}: {expected} columns with something in each are "
                    f"expected, found {shortened(row, 200)}."
                )
            rows.append(row)
    if rows:
        sentences.append(rows)
    if not sentences:
        raise ValueError(f"{path} has no sentences.")
    return sentences


def _columns(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else line.split(" ")


def _corpus(
    source: Source, sentences: list[Rows], column: int, *, split: str, path: Path,
    description: str, token: int = 0, **metadata: Any,
) -> TaggedCorpus:  # fmt: skip
    return TaggedCorpus(
        X=[[row[token] for row in rows] for rows in sentences],
        y=[[row[column] for row in rows] for rows in sentences],
        name=f"{source.corpus} {split}",
        licence=source.licence,
        description=description,
        metadata={**origin([source], [path]), **metadata},
    )


# --- CoNLL-2000


def _conll2000_source(split: str) -> Source:
    return Source(
        corpus="CoNLL-2000",
        url="https://raw.githubusercontent.com/nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora/conll2000.zip",
        name="conll2000.zip",
        sha256="01e65164f268366e7caa0db92332a1955d081908c87016e2c7640c3c5279b7cd",
        licence="none stated; Wall Street Journal text of the Linguistic Data Consortium. For "
        "research; do not pass it on",
        other_names=(f"conll2000_{split}.tsv",),
    )


def load_conll2000(
    *,
    split: str = "train",
    tags: str = "pos",
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> TaggedCorpus:
    r"""Load the CoNLL-2000 corpus: Wall Street Journal text with Penn Treebank tags.

    Parameters
    ----------
    split : {"train", "test"}, default="train"
        8,936 or 2,012 sentences.
    tags : {"pos", "chunk"}, default="pos"
        44 parts of speech, or phrase chunks.
    data_home : str or path, default=None
        Folder of the corpora; see the user guide.
    download : bool, default=True
        Whether to download the corpus if the folder does not have it.

    Returns
    -------
    TaggedCorpus
        Sentences and tags.

    See Also
    --------
    load_ud_ewt : A corpus with the same tags and an open licence.

    References
    ----------
    .. [1] Tjong Kim Sang and Buchholz, "Introduction to the CoNLL-2000 shared task: chunking",
       CoNLL 2000.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_calib.datasets import load_conll2000
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "conll2000_test.tsv")
    ...     _ = file.write_text("It\tPRP\tB-NP\nrained\tVBD\tB-VP\n")
    ...     corpus = load_conll2000(split="test", data_home=folder)
    >>> corpus.X, corpus.y
    ([['It', 'rained']], [['PRP', 'VBD']])
    """
    check_option(split, "split", ("train", "test"))
    check_option(tags, "tags", ("pos", "chunk"))
    source = _conll2000_source(split)
    path = fetch(source, data_home=data_home, download=download)
    rows = read_rows(path, member=f"conll2000/{split}.txt", parse=_columns, widths=(3,))
    return _corpus(
        source,
        rows,
        1 if tags == "pos" else 2,
        split=split,
        path=path,
        description="Sections 15-18 (train) and 20 (test) of the Wall Street Journal part of the "
        "Penn Treebank, from the CoNLL-2000 shared task (Tjong Kim Sang and Buchholz, 2000), with "
        "part-of-speech tags and chunks.",
    )


# --- ARK tweets

# The file has the splits one after the other.
_ARK_PARTS = {"train": (0, 1000), "dev": (1000, 1327), "test": (1327, 1827)}


def _ark_source(split: str) -> Source:
    return Source(
        corpus="ARK tweets",
        url="https://raw.githubusercontent.com/brendano/ark-tweet-nlp/72755ccd1b29ba8e1dbbb49efe57ba9723c0013b/data/twpos-data-v0.3/oct27.conll",
        name="oct27.conll",
        sha256="83805322c1c473a23e9aabfb0416756e7f04696721517043b1445f17b2bcd9dc",
        licence="CC BY 3.0",
        other_names=(f"ark_twpos_{split}.tsv",),
    )


def load_ark_tweets(
    *,
    split: str = "train",
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> TaggedCorpus:
    r"""Load the ARK corpus of tweets, tagged by hand with 25 coarse parts of speech.

    Parameters
    ----------
    split : {"train", "dev", "test"}, default="train"
        1,000, 327 or 500 tweets.
    data_home : str or path, default=None
        Folder of the corpora; see the user guide.
    download : bool, default=True
        Whether to download the corpus if the folder does not have it.

    Returns
    -------
    TaggedCorpus
        Tweets and tags.

    See Also
    --------
    load_conll2000 : Edited text, with finer tags.

    References
    ----------
    .. [1] Gimpel et al., "Part-of-speech tagging for Twitter: annotation, features, and
       experiments", ACL 2011.
    .. [2] Owoputi and O'Connor, "Part-of-speech tagging for Twitter: word clusters and other
       advances", CMU-ML-12-107, 2012. It describes version 0.3, which is loaded here.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_calib.datasets import load_ark_tweets
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ark_twpos_dev.tsv").write_text("so\tR\ntrue\tA\n:)\tE\n")
    ...     corpus = load_ark_tweets(split="dev", data_home=folder)
    >>> corpus
    ARK tweets dev: 1 sentence, 3 tokens, 3 tags
    """
    check_option(split, "split", tuple(_ARK_PARTS))
    source = _ark_source(split)
    path = fetch(source, data_home=data_home, download=download)
    rows = read_rows(path, parse=_columns, widths=(2,))
    if path.name.startswith(source.name):
        if len(rows) != 1827:
            raise ValueError(f"{path} has {len(rows)} tweets, and all 1827 are expected.")
        rows = rows[slice(*_ARK_PARTS[split])]
    return _corpus(
        source,
        rows,
        1,
        split=split,
        path=path,
        description="Tweets of 27 October 2010, tagged by hand (Gimpel et al., 2011), version 0.3 "
        "(Owoputi and O'Connor, 2012).",
    )


# --- UD English EWT

_EWT_SHA256 = {
    "train": "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
    "dev": "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
    "test": "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
}


def _ewt_source(split: str) -> Source:
    name = f"en_ewt-ud-{split}.conllu"
    return Source(
        corpus="UD English EWT",
        url=f"https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb/{name}",
        name=name,
        sha256=_EWT_SHA256[split],
        licence="CC BY-SA 4.0 (annotations); the texts belong to their authors",
        other_names=(f"ud_ewt_{split}.tsv",),
    )


def _word(line: str) -> list[str] | None:
    """Return form, xpos and upos; ranges of tokens and empty nodes of CoNLL-U are no words."""
    columns = line.split("\t")
    if len(columns) != 10:
        return columns
    number, form, _, upos, xpos = columns[:5]
    return [form, xpos, upos] if number.isdecimal() else None


def load_ud_ewt(
    *,
    split: str = "train",
    tags: str = "xpos",
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> TaggedCorpus:
    r"""Load the English Web Treebank of Universal Dependencies.

    Parameters
    ----------
    split : {"train", "dev", "test"}, default="train"
        12,544, 2,001 or 2,077 sentences.
    tags : {"xpos", "upos"}, default="xpos"
        49 Penn Treebank tags, or 17 universal tags.
    data_home : str or path, default=None
        Folder of the corpora; see the user guide.
    download : bool, default=True
        Whether to download the corpus if the folder does not have it.

    Returns
    -------
    TaggedCorpus
        Sentences and tags. `metadata["sent_id"]` has the names of the sentences.

    See Also
    --------
    load_conll2000 : News text with the same kind of tags.

    References
    ----------
    .. [1] Silveira et al., "A gold standard dependency corpus for English", LREC 2014.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_calib.datasets import load_ud_ewt
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "ud_ewt_dev.tsv")
    ...     _ = file.write_text("# sent_id = 1\nIt\tPRP\tPRON\nrained\tVBD\tVERB\n")
    ...     corpus = load_ud_ewt(split="dev", tags="upos", data_home=folder)
    >>> corpus.y
    [['PRON', 'VERB']]
    >>> corpus.licence
    'CC BY-SA 4.0 (annotations); the texts belong to their authors'
    """
    check_option(split, "split", tuple(_EWT_SHA256))
    check_option(tags, "tags", ("xpos", "upos"))
    source = _ewt_source(split)
    path = fetch(source, data_home=data_home, download=download)
    names: list[str] = []

    def note(comment: str) -> None:
        if comment.startswith("# sent_id = "):
            names.append(comment.removeprefix("# sent_id = "))

    rows = read_rows(path, parse=_word, widths=(3,), on_comment=note)
    return _corpus(
        source,
        rows,
        1 if tags == "xpos" else 2,
        split=split,
        path=path,
        description="Weblogs, newsgroups, email, reviews and answers, the English Web Treebank of "
        "Universal Dependencies (Silveira et al., 2014).",
        sent_id=names,
    )
