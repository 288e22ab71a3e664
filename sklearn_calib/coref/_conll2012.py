"""Read documents from the columns of CoNLL-2012 and LitBank."""

from __future__ import annotations

import re
from pathlib import Path

from sklearn_calib.coref._brackets import (
    Brackets,
    Source,
    TextBuilder,
    open_lines,
    report_problems,
    source_name,
)
from sklearn_calib.coref._document import Document

__all__ = ["read_conll2012"]

# Penn Treebank tags by their first letters, longest first.
_UPOS = {
    "NNP": "PROPN",
    "NN": "NOUN",
    "PRP": "PRON",
    "WP": "PRON",
    "EX": "PRON",
    "DT": "DET",
    "PDT": "DET",
    "WDT": "DET",
    "JJ": "ADJ",
    "RB": "ADV",
    "WRB": "ADV",
    "MD": "AUX",
    "VB": "VERB",
    "IN": "ADP",
    "TO": "PART",
    "POS": "PART",
    "RP": "ADP",
    "CC": "CCONJ",
    "CD": "NUM",
    "UH": "INTJ",
    "FW": "X",
    "LS": "X",
    "SYM": "SYM",
}

_BEGIN = re.compile(r"#\s*begin document\b\s*(?:\((?P<name>.*)\))?(?P<rest>.*)")


def _universal(tag: str) -> str:
    for size in (3, 2):
        if tag[:size] in _UPOS:
            return _UPOS[tag[:size]]
    return "X" if tag.isalpha() else "PUNCT"


def read_conll2012(source: Source, *, unbalanced: str = "warn") -> list[Document]:
    r"""Read documents with their mentions from CoNLL-2012 columns.

    OntoNotes (`*_conll`), LitBank and the files of the CoNLL reference scorer
    come in this form: one word per line, and the coreference brackets in the
    last column.

    Parameters
    ----------
    source : path, file or iterable of str
        A file name (plain or ending in .gz), an open text file, or lines.
        A line has two columns or more, between tabs or blanks. The word is in
        the fourth column if there are five or more, else in the last but one.
    unbalanced : {"warn", "raise", "ignore"}, default="warn"
        What to do about brackets that do not match. Such mentions are left
        out.

    Returns
    -------
    list of Document
        One for each `#begin document` (a part is a document of its own) or
        `# newdoc id`.

    See Also
    --------
    read_conllu : The same for CoNLL-U.

    Notes
    -----
    From eleven columns on, the fifth holds Penn Treebank tags, which become
    universal parts of speech, and the tenth the speaker. The format holds no
    dependencies, so `heads` and `relations` are None. A mention that ends in
    another sentence than it starts is reported like an unbalanced one. An empty
    last column stands for a word without brackets.

    Examples
    --------
    >>> from sklearn_calib.coref import read_conll2012
    >>> lines = ["#begin document (demo); part 0", "Ada\t(1)", "met\t_", "the\t(2", "queen\t2)"]
    >>> [doc] = read_conll2012(lines)
    >>> doc.id, doc.mention_text(1)
    ('demo', 'the queen')
    """
    name = Path(source).stem if isinstance(source, (str, Path)) else "document"
    file = source_name(source)
    documents: list[Document] = []
    problems: list[str] = []
    text: _Text | None = None

    def finish() -> None:
        if text is not None:
            text.end_sentence()
            documents.append(text.builder.build(text.brackets, annotated=True))
            problems.extend(text.brackets.problems)

    with open_lines(source) as lines:
        for number, raw in enumerate(lines, start=1):
            line = raw.rstrip("\r\n")
            if _BEGIN.match(line) or line.startswith("# newdoc id"):
                finish()
                text = _Text(_id_of(line))
            elif line.startswith(("#end document", "# ")) and not _is_word(line):
                continue
            elif not line.strip():
                if text is not None:
                    text.end_sentence()
            else:
                text = text or _Text(name)
                text.add(line, f"{file}, line {number}")
    finish()
    report_problems(problems, unbalanced)
    return documents


def _id_of(line: str) -> str:
    match = _BEGIN.match(line)
    if match is None:
        return line.partition("=")[2].strip() or line.lstrip("# ")
    if match["name"] is None:
        return match["rest"].strip(" ;") or "document"
    part = re.match(r"; part 0*(\d*)", match["rest"])
    return f"{match['name']}_{part[1]}" if part and part[1] else match["name"]


def _is_word(line: str) -> bool:
    """Tell whether a line is the word "#" with its brackets, and not a comment."""
    cells = line.split(None, 2)
    if len(cells) != 2 or cells[0] != "#":
        return False
    return cells[1] in ("-", "_", "*") or "(" in cells[1] or ")" in cells[1]


class _Text:
    """One document while it is read."""

    def __init__(self, id: str) -> None:
        self.builder = TextBuilder(id, layers={"upos": []})
        self.brackets = Brackets(id)
        self.start = 0
        self.speaker: str | None = None

    def add(self, line: str, where: str) -> None:
        stripped = line.rstrip()
        cells = stripped.split("\t") if "\t" in stripped else stripped.split()
        if len(cells) == 1 and stripped != line:
            cells.append("_")  # an empty last column
        builder = self.builder
        at = len(builder.tokens)
        tag = "_"
        if len(cells) < 2:
            raise ValueError(
                f"{where}: a line has at least 2 columns, a word and its brackets; this one has "
                f"{len(cells)}: {line[:60]!r}."
            )
        builder.tokens.append(cells[3] if len(cells) >= 5 else cells[-2])
        if len(cells) >= 11:
            if cells[4] not in ("_", "-", "*"):
                tag = _universal(cells[4])
            if cells[9] not in ("_", "-", "*"):
                self.speaker = cells[9]
        builder.layers["upos"].append(tag)
        self.brackets.read(cells[-1], at, at + 1)

    def end_sentence(self) -> None:
        if len(self.builder.tokens) > self.start:
            self.builder.sentence_starts.append(self.start)
            self.builder.speakers.append(self.speaker)
        self.start = len(self.builder.tokens)
        self.speaker = None
        self.brackets.end_sentence()
