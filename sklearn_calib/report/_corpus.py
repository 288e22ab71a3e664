"""A corpus as the command line names it: a file of parsed or raw texts, or a folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn_calib._files import FileError, open_text
from sklearn_calib.coref import Document, find_mentions, read_jsonl, read_text_folder
from sklearn_calib.coref._conllu import each_conllu
from sklearn_calib.coref._raw_text import Record

__all__ = ["Corpus"]

_JSON = (".jsonl", ".ndjson", ".json")
_TEXT = (".txt", ".txt.gz")


@dataclass(frozen=True, eq=False)
class Corpus:
    """A source of documents or texts that can be read again and again.

    Attributes
    ----------
    path : Path
        A CoNLL-U file, a file of JSON lines, either of them also as .gz, or a
        folder of text files.
    fields : mapping of str to str
        Names of fields of JSON lines, as `read_jsonl` takes them.
    """

    path: Path
    fields: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.path.exists():
            raise FileError(f"there is no file or folder {self.path}.")
        if self.kind is None:
            raise FileError(
                f"{self.path} is of no kind that is known: name a CoNLL-U file (.conllu), a file "
                f"of JSON lines ({', '.join(_JSON)}), either of them also as .gz, or a folder of "
                "text files."
            )
        if self.fields and self.kind != "json":
            given = " and ".join(f"--{name}-field" for name in self.fields)
            raise FileError(f"{given} is for JSON lines, and {self.path} is none.")

    @property
    def kind(self) -> str | None:
        """What it is: "parsed", "json", "folder" or, if it is none of them, None."""
        if self.path.is_dir():
            return "folder"
        suffix = Path(self.path.name.removesuffix(".gz")).suffix.lower()
        if suffix == ".conllu":
            return "parsed"
        return "json" if suffix in _JSON else None

    @property
    def is_parsed(self) -> bool:
        """Whether it has documents, and no raw texts."""
        return self.kind == "parsed"

    def count(self) -> int:
        """Return how many texts there are, without parsing any of them."""
        if self.kind == "folder":
            return sum(file.name.endswith(_TEXT) for file in self.path.rglob("*"))
        with open_text(self.path) as lines:
            if self.kind == "json":
                return sum(bool(line.strip()) for line in lines)
            return max(1, sum(line.startswith("# newdoc") for line in lines))

    def __iter__(self) -> Iterator[Document | Record]:
        if self.kind == "folder":
            yield from read_text_folder(self.path)
        elif self.kind == "json":
            options: dict[str, Any] = self.fields
            yield from read_jsonl(self.path, **options)
        else:
            for document in each_conllu(self.path, []):
                # A parse without mentions is as good as any.
                yield document if len(document) else _with_mentions(document)


def _with_mentions(document: Document) -> Document:
    return document.replace(mentions=find_mentions(document))
