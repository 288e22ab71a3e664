"""Find the files of a corpus in a folder, or download them once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sklearn_calib._files import open_text

VARIABLE = "SKLEARN_CALIB_DATA"


@dataclass(frozen=True, eq=False)
class Source:
    """One file of a corpus: what it is called, where it comes from and who may use it.

    Attributes
    ----------
    corpus : str
        Name of the corpus, for messages.
    url : str or None
        Address of the file; None where it cannot be downloaded.
    name : str
        Name of the file as it is downloaded.
    sha256 : str or None
        Checksum of the download.
    licence : str
        Who may use it, and how.
    other_names : tuple of str
        Names under which the same data may lie in the folder in another form.
        They are looked for first. Every name is also looked for with `.gz`.
    """

    corpus: str
    url: str | None
    name: str
    sha256: str | None
    licence: str
    other_names: tuple[str, ...] = ()


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the corpora: the argument, else the variable, else a cache."""
    home = data_home or os.environ.get(VARIABLE)
    if home:
        return Path(home).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "sklearn_calib"


def fetch(
    source: Source, *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> Path:
    """Return the path of a file, which is downloaded if it is missing and this is allowed.

    A file that lies in the folder is taken as it is. A download is checked
    before it gets its name, so that half a file is never found later.
    """
    folder = data_folder(data_home)
    wanted = []
    for name in (*source.other_names, source.name):
        wanted += [name] if name.endswith(".zip") else [name, f"{name}.gz"]
    for name in wanted:
        if (folder / name).is_file():
            return folder / name
    if not download or source.url is None:
        raise FileNotFoundError(_missing(source, folder, wanted, download))
    return _download(source, folder)


def _missing(source: Source, folder: Path, wanted: list[str], download: bool) -> str:
    names = f"{', '.join(wanted[:-1])} or {wanted[-1]}"
    state = "" if folder.is_dir() else " (there is no such folder)"
    where = f"It comes from {source.url}" if source.url else "It has no address to download it from"
    if source.url and not download:
        where += " and download=True fetches it"
    return (
        f"{source.corpus}: no file {names} in {folder}{state}. {where}. Another folder can be "
        f"named by data_home or by the environment variable {VARIABLE}."
    )


def _download(source: Source, folder: Path) -> Path:
    try:
        import pooch
        import tqdm  # noqa: F401  (pooch draws its progress bar with it)
    except ImportError:
        raise ImportError(
            f"{source.corpus}: {source.name} is not in {folder}, and downloading it needs pooch "
            'and tqdm, which are not installed: pip install "sklearn-calib[data]". Or put the '
            f"file there by hand; it comes from {source.url}."
        ) from None
    print(
        f"Downloading {source.corpus} from {source.url} to {folder}\nLicence: {source.licence}",
        file=sys.stderr,
    )
    level = pooch.get_logger().level
    pooch.get_logger().setLevel("ERROR")  # it would say the same again
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = pooch.retrieve(
            source.url, source.sha256, fname=source.name, path=folder, progressbar=True
        )
    except ValueError as error:  # what pooch raises for a wrong checksum
        raise OSError(
            f"{source.corpus}: what {source.url} sent is not the file that was expected, by its "
            f"sha256 {source.sha256}. It was not kept. Try again, or fetch the file by hand, look "
            f"at it, and put it in {folder} as {source.name}. ({error})"
        ) from error
    except OSError as error:  # no folder, no network, no such address
        raise OSError(
            f"{source.corpus}: {source.url} could not be downloaded to {folder}: {error}. Try "
            f"again, or fetch the file by hand and put it there as {source.name}."
        ) from error
    finally:
        pooch.get_logger().setLevel(level)
    return Path(path)


def lines(
    path: Path, *, member: str | None = None, encoding: str = "utf-8-sig"
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file, with their numbers from 1 and without their ends."""
    with open_text(path, member=member, encoding=encoding) as text:
        for number, line in enumerate(text, start=1):
            yield number, line.rstrip("\r\n")
