"""Read raw texts with their dates: JSON lines, and a folder of text files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn_calib._files import check_files, listed, open_text, shortened, unpacked
from sklearn_calib._validation import check_option
from sklearn_calib.coref._document import as_date

__all__ = ["read_jsonl", "read_text_folder"]

_SUFFIXES = (".txt", ".txt.gz")
# 2006-07-12, 2006_07_12, 20060712 or 2006/07/12; without the day; and a year, which stands alone.
_DATES = (
    re.compile(r"(?<!\d)((?:1[5-9]|20)\d\d)([-_./]?)(\d\d)\2(\d\d)(?!\d)"),
    re.compile(r"(?<!\d)((?:1[5-9]|20)\d\d)([-_./])(\d\d)(?!\d)"),
    re.compile(r"(?<!\d)((?:1[5-9]|20)\d\d)(?!\d)"),
)


def read_jsonl(
    path: str | PathLike[str],
    *,
    text: str = "text",
    date: str | None = None,
    id: str | None = None,
    title: str | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read texts from a file of JSON lines, one object on each line.

    Parameters
    ----------
    path : path-like
        The file, in UTF-8, plain or ending in .gz. It is read line by line, as
        texts are needed. Empty lines are passed over.
    text : str, default="text"
        Name of the field that holds the text.
    date, id, title : str, default=None
        Names of the fields that hold the date (as in `Document`), the name and
        the title of a text. A field that is named must be on every line, but
        its value may be null. By default the fields "date", "id" and "title" are
        taken where they are there. A text without `id` is named by file and line.

    Returns
    -------
    iterator of (str, dict)
        Each text with its `id`, `date` and `title`, and all the other fields as
        they are.

    See Also
    --------
    read_text_folder : The same for a folder of text files.
    parse_texts : Makes documents of texts.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from sklearn_calib.coref import read_jsonl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "news.jsonl")
    ...     line = {"body": "Iraq attacked.", "date": "2006-07-12", "source": "AP"}
    ...     _ = path.write_text(json.dumps(line))
    ...     for text, metadata in read_jsonl(path, text="body"):
    ...         print(text, metadata["id"], metadata["date"], metadata["source"])
    Iraq attacked. news-1 2006-07-12 AP
    """
    path = Path(path)
    if not path.is_file():  # now, and not when the first text is asked for
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    return _json_lines(path, text, {"date": date, "id": id, "title": title})


def _json_lines(
    path: Path, text: str, fields: dict[str, str | None]
) -> Iterator[tuple[str, dict[str, Any]]]:
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where}: this is not JSON: {error}.") from None
        if not isinstance(record, dict):
            raise ValueError(
                f"{where}: a JSON object such as {{{text!r}: ...}} is expected, got "
                f"{line.strip()[:60]!r}."
            )
        found = {key: record.get(name or key) for key, name in fields.items()}
        for name in (text, *filter(None, fields.values())):
            if name not in record:
                raise ValueError(
                    f"{where}: there is no field {name!r}; the fields are {listed(record)}."
                )
        if not isinstance(record[text], str):
            raise ValueError(
                f"{where}: the field {text!r} must hold the text, got {record[text]!r:.60}."
            )
        if _HALF.search(line) and (half := _half_of_a_character(record)) is not None:
            raise ValueError(
                f"{where}: {shortened(half)} holds half of a character (a lone surrogate), which "
                "no file can hold as text."
            )
        found["date"] = as_date(found["date"], where)
        if found["id"] is None:
            found["id"] = f"{stem}-{number}"
        found["id"] = str(found["id"])
        taken = {text, *(name or key for key, name in fields.items())}
        rest = {name: value for name, value in record.items() if name not in taken}
        yield record[text], {**rest, **found}


# How JSON writes one half; two of them together may be a whole character.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _half_of_a_character(value: Any) -> str | None:
    """Return a text within a value of JSON that cannot be written, or None."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and value.encode("utf-8", "replace").decode() != value:
            return value
    return None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines; what cannot be read is an error that says where."""
    with open_text(path) as file:
        yield from enumerate(file, start=1)


def read_text_folder(
    path: str | PathLike[str],
    *,
    date: str | Callable[[Path], Any] | None = "name",
    encoding: str = "utf-8",
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the text files of a folder and of the folders in it.

    Parameters
    ----------
    path : path-like
        The folder. Files that end in .txt or .txt.gz are read, in the order of
        their names, as texts are needed.
    date : "name", callable or None, default="name"
        Where dates come from: "name" takes the first date in the name of the
        file or, if there is none, in those of its folders: a day (2006-07-12,
        2006_07_12 or 20060712; folders may be 2006/07/12), else a month (2006-07),
        else a year from 1500 to 2099. A function gets the path of a file within the folder, and
        returns its date or None. None is for texts without dates.
    encoding : str, default="utf-8"
        How the files are encoded.

    Returns
    -------
    iterator of (str, dict)
        The text of each file with its `id`, which is the path within the folder
        without its ending, and its `date`, which is None where there is none.

    See Also
    --------
    read_jsonl : The same for JSON lines.
    parse_texts : Makes documents of texts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn_calib.coref import read_text_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "20060712-raid.txt").write_text("Iraq attacked.")
    ...     for text, metadata in read_text_folder(folder):
    ...         print(text, metadata["id"], metadata["date"])
    Iraq attacked. 20060712-raid 2006-07-12
    """
    if not callable(date) and date is not None:
        check_option(date, "date", ("name",))
    path = Path(path)
    if not path.is_dir():
        raise NotADirectoryError(f"There is no folder {str(path)!r}.")
    files = sorted(
        file for file in path.rglob("*") if file.name.endswith(_SUFFIXES) and not file.is_dir()
    )
    if not files:
        raise ValueError(f"The folder {str(path)!r} has no files that end in .txt or .txt.gz.")
    check_files(files)
    return _files(path, files, date, encoding)


def _files(
    path: Path, files: list[Path], date: str | Callable[[Path], Any] | None, encoding: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in files:
        within = file.relative_to(path)
        found = date(within) if callable(date) else _date_in(within) if date else None
        with file.open("rb") as raw, unpacked(raw, file) as stream:
            data = stream.read()
        if encoding == "utf-8":
            # Before it is decoded, which can take four times as much memory.
            data = data.replace(b"\r\n", b"\n")
        try:
            text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
        except UnicodeDecodeError as error:
            number = data.count(b"\n", 0, error.start) + 1
            raise ValueError(
                f"{file}, line {number}: this is not {encoding}: {error}. Pass the encoding of the "
                "files."
            ) from error
        if encoding != "utf-8":
            text = text.replace("\r\n", "\n")
        id = within.as_posix().removesuffix(".gz").removesuffix(".txt")
        # Names of files may hold bytes that are no text, and could not be written anywhere.
        id = id.encode("utf-8", "backslashreplace").decode("utf-8")
        yield text, {"id": id, "date": as_date(found, str(file))}


def _date_in(path: Path) -> str | None:
    """Return the most precise date that the name of a file has, or those of its folders."""
    for text in (path.name, path.as_posix()):
        for pattern in _DATES:
            for match in pattern.finditer(text):
                numbers = [part for part in match.groups() if part.isdigit()]
                try:
                    return str(as_date("-".join(numbers), ""))
                except ValueError:
                    continue  # a number that is no date
    return None
