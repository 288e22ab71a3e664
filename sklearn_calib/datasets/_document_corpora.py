"""Corpora of documents with mentions and entities: GUM, LitBank and AMALGUM."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path, PurePosixPath

from sklearn_calib._validation import check_option
from sklearn_calib.coref import Document, read_conll2012, read_conllu
from sklearn_calib.datasets._fetch import Source, fetch, open_text

__all__ = ["load_amalgum_news", "load_gum", "load_litbank"]

SPLITS = ("train", "dev", "test")


def _gum_source(split: str) -> Source:
    name = f"en_gum-ud-{split}.conllu"
    return Source(
        corpus=f"GUM {split}",
        url=f"https://raw.githubusercontent.com/UniversalDependencies/UD_English-GUM/r2.16/{name}",
        name=name,
        sha256=None,
        licence="CC BY 4.0 (annotations); texts under Creative Commons licences that differ by "
        "genre, some of them for non-commercial use only",
        other_names=(f"gum_{split}.conllu",),
    )


LITBANK = Source(
    corpus="LitBank",
    url="https://github.com/dbamman/litbank/archive/3e50db0ffc033d7ccbb94f4d88f6b99210328ed8.zip",
    name="litbank.zip",
    sha256=None,
    licence="CC BY 4.0",
    other_names=("litbank_coref.tsv",),
)

AMALGUM = Source(
    corpus="AMALGUM news (made from https://github.com/gucorpling/amalgum)",
    url=None,
    name="amalgum_news.conllu",
    sha256=None,
    licence="CC BY 4.0 (annotations), CC BY 2.5 (texts of Wikinews)",
)


def _read_conllu(path: Path) -> list[Document]:
    with open_text(path) as lines:
        return _not_empty(read_conllu(lines), path)


def _not_empty(documents: list[Document], path: Path) -> list[Document]:
    if not documents:
        raise ValueError(f"{path} has no documents.")
    return documents


def load_gum(
    *,
    split: str = "train",
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> list[Document]:
    r"""Load GUM, a corpus of 15 genres with parses, mentions and entities.

    Entities of a single mention are annotated as well. The documents of Reddit
    are not part of it.

    Parameters
    ----------
    split : {"train", "dev", "test", "all"}, default="train"
        177, 30 or 30 documents in version 11, or all of them.
    data_home : str or path, default=None
        Folder of the corpora; see the user guide.
    download : bool, default=True
        Whether to download the corpus if the folder does not have it.

    Returns
    -------
    list of Document
        The documents, with dates, genres and speakers.

    See Also
    --------
    load_litbank : Novels with mentions and entities.

    References
    ----------
    .. [1] Amir Zeldes, "The GUM corpus: creating multilayer resources in the classroom",
       Language Resources and Evaluation 51 (2017).

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_calib.datasets import load_gum
    >>> with TemporaryDirectory() as folder:
    ...     text = "# newdoc id = a\n1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\tEntity=(1-person)\n"
    ...     text += "2\tslept\tsleep\tVERB\t_\t_\t0\troot\t_\t_\n"
    ...     _ = Path(folder, "gum_test.conllu").write_text(text)
    ...     documents = load_gum(split="test", data_home=folder)
    >>> documents
    [<Document 'a': 2 tokens, 1 sentence, 1 mention, 1 entity>]
    """
    check_option(split, "split", (*SPLITS, "all"))
    chosen = SPLITS if split == "all" else (split,)
    paths = [fetch(_gum_source(s), data_home=data_home, download=download) for s in chosen]
    return [document for path in paths for document in _read_conllu(path)]


def load_litbank(
    *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> list[Document]:
    r"""Load LitBank: openings of 100 novels with mentions and entities, without parses.

    Parameters
    ----------
    data_home : str or path, default=None
        Folder of the corpora; see the user guide.
    download : bool, default=True
        Whether to download the corpus if the folder does not have it.

    Returns
    -------
    list of Document
        100 documents of about 2,000 words, sorted by name.

    See Also
    --------
    load_gum : A corpus of many genres, with parses.

    References
    ----------
    .. [1] David Bamman, Olivia Lewke and Anya Mansoor, "An annotated dataset of coreference in
       English literature", LREC 2020.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_calib.datasets import load_litbank
    >>> with TemporaryDirectory() as folder:
    ...     text = "# newdoc id = emma\nEmma\t(1)\nslept\t_\n"
    ...     _ = Path(folder, "litbank_coref.tsv").write_text(text)
    ...     documents = load_litbank(data_home=folder)
    >>> documents
    [<Document 'emma': 2 tokens, 1 sentence, 1 mention, 1 entity>]
    """
    path = fetch(LITBANK, data_home=data_home, download=download)
    if path.suffix != ".zip":
        with open_text(path) as lines:
            documents = read_conll2012(lines)
        return sorted(_not_empty(documents, path), key=lambda document: document.id)
    with zipfile.ZipFile(path) as archive:
        members = sorted(
            name for name in archive.namelist() if PurePosixPath(name).match("coref/conll/*.conll")
        )
    documents = []
    for member in members:
        with open_text(path, member=member) as lines:
            documents += [
                document.replace(id=document.id.removesuffix("_brat"))
                for document in read_conll2012(lines)
            ]
    return sorted(_not_empty(documents, path), key=lambda document: document.id)


def load_amalgum_news(
    *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> list[Document]:
    r"""Load the Wikinews articles of AMALGUM, with dates, parses and entities by machine.

    Nothing here was annotated by hand. A few brackets of mentions do not match; these mentions
    are left out, without a warning.

    Parameters
    ----------
    data_home : str or path, default=None
        Folder of the corpora; see the user guide.
    download : bool, default=True
        Has no effect: this collection cannot be downloaded as one file.

    Returns
    -------
    list of Document
        808 articles of 2004 to 2019.

    See Also
    --------
    load_wikinews : More articles, as plain text.

    References
    ----------
    .. [1] Luke Gessler et al., "AMALGUM - a free, balanced, multilayer English web corpus",
       LREC 2020.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_calib.datasets import load_amalgum_news
    >>> with TemporaryDirectory() as folder:
    ...     text = "# newdoc id = a\n# meta::dateCreated = 2012-05-20\n"
    ...     text += "1\tHello\thello\tINTJ\t_\t_\t0\troot\t_\t_\n"
    ...     _ = Path(folder, "amalgum_news.conllu").write_text(text)
    ...     [document] = load_amalgum_news(data_home=folder)
    >>> str(document.date)
    '2012-05-20'
    """
    path = fetch(AMALGUM, data_home=data_home, download=download)
    with open_text(path) as lines:
        return _not_empty(read_conllu(lines, unbalanced="ignore"), path)
