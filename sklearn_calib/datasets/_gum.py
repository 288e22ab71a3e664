"""GUM as it is published: a file for each document, held to one commit and to its content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path

from sklearn_calib._files import FileError
from sklearn_calib.coref import Document, read_conllu
from sklearn_calib.datasets._fetch import Source, lines

__all__ = ["checksum", "gum_checksums", "gum_source", "pruned", "read_gum_document"]

# Version 11.1 of the corpus.
COMMIT = "72ce5ac14978a324c2fd18d49484e65292cbe316"

# What is kept of a file, and so what its checksum is of: the layers that people made by hand, and
# where a text comes from. Summaries and discourse relations would be more than half of it.
_METADATA = {"author", "dateCollected", "dateCreated", "dateModified"}
_METADATA |= {"genre", "sourceURL", "speakerCount", "title"}
_COMMENTS = {"newdoc id", "global.Entity", "sent_id", "speaker", "text"}
_COMMENTS |= {f"meta::{name}" for name in _METADATA}
_REMARKS = {"Bridge", "Entity", "SpaceAfter", "SplitAnte"}


def gum_source(split: str) -> Source:
    """Return where the documents of a split come from, and the names of a user's own files."""
    return Source(
        corpus="GUM",
        url=f"https://raw.githubusercontent.com/amir-zeldes/gum/{COMMIT}/dep/",
        name=f"gum-{COMMIT[:7]}",
        sha256=None,
        licence="CC BY 4.0 (annotations); texts under Creative Commons licences that differ by "
        "genre, some of them for non-commercial use only",
        other_names=(f"gum_{split}.conllu", f"en_gum-ud-{split}.conllu"),
    )


def gum_checksums(split: str) -> dict[str, str]:
    """Return the SHA-256 of each document of a split, by its name."""
    table = files("sklearn_calib.datasets").joinpath("data/gum.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines())
    return {name: sha256 for part, name, sha256 in rows if part == split}


def pruned(text: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file of GUM without what this package does not use.

    A file that has been pruned stays as it is, so that both have the same checksum.
    """
    for line in text:
        if line.startswith("#"):
            if line[1:].partition("=")[0].strip() in _COMMENTS:
                yield line
            continue
        cells = line.split("\t")
        if len(cells) == 10:
            remarks = [item for item in cells[9].split("|") if item.partition("=")[0] in _REMARKS]
            cells[8:] = ["_", "|".join(remarks) or "_"]
        yield "\t".join(cells)


def checksum(text: Iterable[str]) -> str:
    """Return the SHA-256 of lines, whatever their ends and however many blank ones follow."""
    return hashlib.sha256("\n".join(text).rstrip("\n").encode()).hexdigest()


def read_gum_document(path: Path, sha256: str) -> list[Document]:
    """Read the one document of a file, if the file has the checksum."""
    kept = list(pruned(line for _, line in lines(path)))
    if (found := checksum(kept)) != sha256:
        raise FileError(
            f"{path} is not the document that was expected: the sha256 of what is used of it is "
            f"{found}, not {sha256}. Remove it, so that it can be downloaded again."
        )
    return read_conllu(kept)
