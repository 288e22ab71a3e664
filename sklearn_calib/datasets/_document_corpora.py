"""Corpora of documents with mentions and entities: GUM, LitBank and AMALGUM."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sklearn_calib._files import FileError, shortened, zip_texts
from sklearn_calib._validation import Array, check_option
from sklearn_calib.coref import Document, read_conll2012, read_conllu
from sklearn_calib.datasets._corpus import Corpus, DocumentTable, entities_of, origin
from sklearn_calib.datasets._fetch import (
    Source,
    data_folder,
    fetch,
    fetch_parts,
    file_of_another_form,
    read_parts,
)
from sklearn_calib.datasets._gum import gum_checksums, gum_source, read_gum_document

__all__ = ["DocumentCorpus", "load_amalgum_news", "load_gum", "load_litbank"]

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, eq=False, repr=False)
class DocumentCorpus(DocumentTable, Corpus):
    """Documents and their entities, as coreference models take them.

    Attributes
    ----------
    X : list of Document
        The documents.
    y : list of ndarray of int of shape (n_mentions,)
        The entity of each mention of each document.
    name : str
        Corpus and split.
    licence : str
        Who may use the corpus, and how.
    description : str
        What it is, with a reference.
    metadata : dict
        The `paths` that were read, and the `urls` they come from.

    See Also
    --------
    load_gum : Documents of many genres, annotated by hand.
    load_litbank : Openings of novels, annotated by hand.
    load_amalgum_news : News with dates, annotated by machine.
    """

    X: list[Document]
    y: list[Array]

    def _sentence(self) -> str:
        return f"{self.name}: {self._counts()}"


# Of the documents, since an archive of GitHub may be packed in another way tomorrow.
LITBANK_SHA256 = "c1eb73d99470b5fbf70c9bd8d8784f6f0d35993b7444f4c619b90c6a589de5db"

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


def _corpus(
    documents: list[Document],
    sources: list[Source],
    paths: list[Path],
    *,
    name: str,
    description: str,
) -> DocumentCorpus:
    return DocumentCorpus(
        X=documents,
        y=entities_of(documents),
        name=name,
        licence=sources[0].licence,
        description=description,
        metadata=origin(sources, paths),
    )


def _not_empty(documents: list[Document], path: Path) -> list[Document]:
    if not documents:
        raise ValueError(f"{path} has no documents.")
    return documents


def load_gum(
    *,
    split: str = "train",
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> DocumentCorpus:
    r"""Load GUM, a corpus of 15 genres with parses, mentions and entities.

    Entities of a single mention are annotated as well. The documents of Reddit
    are not part of it. A download is of version 11.1, one file for each document,
    and goes on where it was interrupted.

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
    DocumentCorpus
        The documents, with dates, genres and speakers, and their entities.

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
    ...     corpus = load_gum(split="test", data_home=folder)
    >>> corpus
    id  tokens  sentences  mentions  entities
     a       2          1         1         1
    GUM test: 1 document, 1 mention
    >>> corpus.X, corpus.y
    ([<Document 'a': 2 tokens, 1 sentence, 1 mention, 1 entity>], [array([0])])
    """
    check_option(split, "split", (*SPLITS, "all"))
    chosen = SPLITS if split == "all" else (split,)
    documents: list[Document] = []
    paths: list[Path] = []
    for part in chosen:
        found, files = _gum(part, data_home, download)
        documents += found
        paths += files
    return _corpus(
        documents,
        [gum_source(split)],
        paths,
        name=f"GUM {split}",
        description="The Georgetown University Multilayer corpus: texts of 15 genres, parsed and "
        "annotated by hand (Zeldes, 2017).",
    )


def _gum(
    split: str, data_home: str | os.PathLike[str] | None, download: bool
) -> tuple[list[Document], list[Path]]:
    """Return the documents of a split, and their files."""
    source = gum_source(split)
    expected = {f"{name}.conllu": sha256 for name, sha256 in gum_checksums(split).items()}

    def read(path: Path) -> list[Document]:
        return read_gum_document(path, expected[path.name])

    parts = read_parts(source, list(expected), read, data_home=data_home)
    missing = [name for name in expected if name not in parts]
    if missing:
        if (own := file_of_another_form(source, data_home)) is not None:
            return _not_empty(read_conllu(own), own), [own]
        parts |= fetch_parts(source, missing, read, data_home=data_home, download=download)
    folder = data_folder(data_home) / source.name
    documents = [document for name in expected for document in parts[name]]
    return documents, [folder / name for name in expected]


def load_litbank(
    *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> DocumentCorpus:
    r"""Load LitBank: openings of 100 novels with mentions and entities, without parses.

    Parameters
    ----------
    data_home : str or path, default=None
        Folder of the corpora; see the user guide.
    download : bool, default=True
        Whether to download the corpus if the folder does not have it.

    Returns
    -------
    DocumentCorpus
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
    ...     corpus = load_litbank(data_home=folder)
    >>> corpus.X
    [<Document 'emma': 2 tokens, 1 sentence, 1 mention, 1 entity>]
    """
    path = fetch(LITBANK, data_home=data_home, download=download)
    if path.suffix == ".zip":
        documents = []
        for name, text in zip_texts(
            path, lambda name: PurePosixPath(name).match("coref/conll/*.conll")
        ):
            try:
                documents += _litbank(text)
            except ValueError as error:
                raise FileError(f"{path}, file {shortened(name)}: {error}") from None
    else:
        documents = _litbank(path)
    documents = sorted(_not_empty(documents, path), key=lambda document: document.id)
    if path.suffix == ".zip" and (found := content_sha256(documents)) != LITBANK_SHA256:
        raise FileError(
            f"{path} does not have the documents of LitBank that were expected: their sha256 is "
            f"{found}, not {LITBANK_SHA256}. Remove it, so that it can be downloaded again."
        )
    return _corpus(
        documents,
        [LITBANK],
        [path],
        name=LITBANK.corpus,
        description="Openings of 100 works of English fiction, annotated by hand (Bamman, Lewke "
        "and Mansoor, 2020).",
    )


def content_sha256(documents: list[Document]) -> str:
    """Return the SHA-256 of the words, sentences and mentions of documents, however packed."""
    digest = hashlib.sha256()
    for document in documents:
        entities = [] if document.entities is None else document.entities.tolist()
        parts = [document.id, document.tokens.tolist(), document.sentence_starts.tolist()]
        parts += [document.mentions[:, :2].tolist(), entities]
        digest.update(json.dumps(parts).encode())
    return digest.hexdigest()


def _litbank(source: Path | list[str]) -> list[Document]:
    return [
        document.replace(id=document.id.removesuffix("_brat"))
        for document in read_conll2012(source)
    ]


def load_amalgum_news(
    *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> DocumentCorpus:
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
    DocumentCorpus
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
    ...     corpus = load_amalgum_news(data_home=folder)
    >>> str(corpus.X[0].date)
    '2012-05-20'
    """
    path = fetch(AMALGUM, data_home=data_home, download=download)
    documents = _not_empty(read_conllu(path, unbalanced="ignore"), path)
    return _corpus(
        documents,
        [AMALGUM],
        [path],
        name="AMALGUM news",
        description="Articles of Wikinews, annotated by machine (Gessler et al., 2020).",
    )
