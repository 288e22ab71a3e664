"""Find the files of a corpus in a folder, or download them once."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from sklearn_calib._files import FileError, open_text, shortened, unpacked

VARIABLE = "SKLEARN_CALIB_DATA"

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Source:
    """One file of a corpus: what it is called, where it comes from and who may use it.

    Attributes
    ----------
    corpus : str
        Name of the corpus, for messages.
    url : str or None
        Address of the file; None where it cannot be downloaded. Of a corpus in
        many files, what their addresses begin with.
    name : str
        Name of the file as it is downloaded, or of the folder of many files.
    sha256 : str or None
        Checksum of the download. Where it is None, the checksum of the first
        download is written beside it, and holds from then on.
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

    A download is checked before it gets its name, so that half a file is never
    found later, and again whenever it is used. What has the right checksum comes
    before everything else in the folder. Files of another form, under the other
    names, are the user's own and are taken as they are.
    """
    folder = data_folder(data_home)
    _check_address(source)
    own = [name for name in _with_packed(source.name) if (folder / name).is_file()]
    expected = {name: source.sha256 or _noted(folder / name) for name in own}
    for name in own:
        if expected[name] is not None and _has_checksum(folder / name, expected[name]):
            return folder / name
    if (other := file_of_another_form(source, folder)) is not None:
        return other
    wrong = [name for name in own if expected[name] is not None]
    if len(wrong) < len(own):
        return folder / next(name for name in own if expected[name] is None)
    if wrong and not download:
        raise FileError(
            f"{source.corpus}: {folder / wrong[0]} is not the file that was expected, by its "
            f"sha256 {expected[wrong[0]]}. Remove it, so that it can be downloaded again."
        )
    if not download or source.url is None:
        wanted = [*_other_names(source), *_with_packed(source.name)]
        raise FileNotFoundError(_missing(source, folder, wanted, download))
    if source.sha256 is None:
        for name in wrong:  # without a checksum, pooch would keep it
            (folder / name).unlink()
    path = _download(source, folder)
    if source.sha256 is None:
        _note_of(path).write_text(f"{_checksum(path)}  {path.name}\n", encoding="utf-8")
    return path


def file_of_another_form(
    source: Source, data_home: str | os.PathLike[str] | None = None
) -> Path | None:
    """Return the user's own file of a corpus, under one of its other names."""
    paths = (data_folder(data_home) / name for name in _other_names(source))
    return next((path for path in paths if path.is_file()), None)


def read_parts(
    source: Source,
    names: Sequence[str],
    read: Callable[[Path], T],
    *,
    data_home: str | os.PathLike[str] | None = None,
) -> dict[str, T]:
    """Read those files of a corpus in many that are there and are what they should be.

    Of others, `read` raises a ValueError.
    """
    folder = data_folder(data_home) / source.name
    found: dict[str, T] = {}
    for name in names:
        try:
            found[name] = read(folder / name)
        except (OSError, ValueError):
            continue
    return found


def fetch_parts(
    source: Source,
    names: Sequence[str],
    read: Callable[[Path], T],
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> dict[str, T]:
    """Download and read files of a corpus in many; those that `read_parts` has not found.

    Each is checked by `read` and stays if it is right, so that whatever ends
    this, the next time goes on from there.
    """
    _check_address(source)
    folder = data_folder(data_home) / source.name
    if not download:
        for name in names:
            if (folder / name).exists():
                read(folder / name)  # says what is wrong with it
        if folder.is_dir():
            raise FileNotFoundError(
                f"{source.corpus}: {folder} lacks {names[0]}"
                + f" and {len(names) - 1} others" * (len(names) > 1)
                + f". They come from {source.url}, and download=True fetches them."
            )
        wanted = [*_other_names(source), f"{source.name}{os.sep}{names[0]}"]
        raise FileNotFoundError(_missing(source, folder.parent, wanted, download))
    found: dict[str, T] = {}
    with _pooch(source, folder, f"{names[0]} and others") as pooch:
        import tqdm

        folder.mkdir(parents=True, exist_ok=True)
        for name in tqdm.tqdm(names, desc=source.corpus, unit="file"):
            address, path = f"{source.url}{name}", folder / name
            if path.exists():
                path.unlink()  # it is damaged, and pooch would keep it
            pooch.retrieve(address, None, fname=name, path=folder, downloader=_downloader(pooch))
            try:
                found[name] = read(path)
            except ValueError as error:
                path.unlink()
                raise OSError(
                    f"what {address} sent is not the file that was expected, and was not kept: "
                    f"{error}"
                ) from error
    return found


def _check_address(source: Source) -> None:
    if source.url is not None and not _is_safe(source.url):
        raise ValueError(f"{source.corpus}: {source.url} does not begin with https://.")


def _other_names(source: Source) -> list[str]:
    return [packed for name in source.other_names for packed in _with_packed(name)]


def _with_packed(name: str) -> list[str]:
    return [name] if name.endswith(".zip") else [name, f"{name}.gz"]


def _is_safe(url: str) -> bool:
    """Tell whether nobody on the way can change what an address sends; this machine is no way."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in ("127.0.0.1", "localhost")


def _downloader(pooch: Any, *, progressbar: bool = False) -> Any:
    """Return what downloads a file, and follows no answer to an address that is not safe."""
    return pooch.HTTPDownloader(progressbar=progressbar, hooks={"response": _check_answer})


def _check_answer(response: Any, *_: object, **__: object) -> None:
    if response.is_redirect:
        address = urljoin(response.url, response.headers["location"])
        if not _is_safe(address):
            response.close()
            raise OSError(f"it sends on to {shortened(address, 200)}, which is not https")


def _note_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _noted(path: Path) -> str | None:
    """Return the checksum that was written down when a file was downloaded."""
    note = _note_of(path)
    if not note.is_file():
        return None
    return note.read_text(encoding="utf-8", errors="replace")[:64]


def _has_checksum(path: Path, sha256: str | None) -> bool:
    try:
        return _checksum(path) == sha256
    except ValueError:  # damaged
        return False


def _checksum(path: Path) -> str:
    """Return the SHA-256 of a file, or of what is in it if it was gzipped afterwards."""
    digest = hashlib.sha256()
    with path.open("rb") as raw, unpacked(raw, path) as stream:
        while part := stream.read(2**20):
            digest.update(part)
    return digest.hexdigest()


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
    with _pooch(source, folder, source.name) as pooch:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            path = pooch.retrieve(
                source.url,
                source.sha256,
                fname=source.name,
                path=folder,
                downloader=_downloader(pooch, progressbar=True),
            )
        except ValueError as error:  # what pooch raises for a wrong checksum
            raise OSError(
                f"what {source.url} sent is not the file that was expected, by its sha256 "
                f"{source.sha256}. It was not kept. ({error})"
            ) from error
    return Path(path)


@contextmanager
def _pooch(source: Source, folder: Path, name: str) -> Iterator[Any]:
    """Give what downloads; say whence and under which licence, and what to do if it fails."""
    try:
        import pooch
        import tqdm  # noqa: F401  (it draws the progress bar)
    except ImportError:
        raise ImportError(
            f"{source.corpus}: {name} is not in {folder}, and downloading it needs pooch "
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
        yield pooch
    except OSError as error:  # no folder, no network, no such address, or not what it should be
        answer = getattr(error, "response", None)
        if answer is not None:
            answer.close()  # pooch leaves the connection open where the answer is an error
        raise OSError(
            f"{source.corpus}: {source.url} could not be downloaded to {folder}: {error}. Try "
            f"again, or fetch it by hand, look at it, and put it there as {name}."
        ) from error
    finally:
        pooch.get_logger().setLevel(level)


def lines(
    path: Path, *, member: str | None = None, encoding: str = "utf-8-sig"
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file, with their numbers from 1 and without their ends."""
    with open_text(path, member=member, encoding=encoding) as text:
        for number, line in enumerate(text, start=1):
            yield number, line.rstrip("\r\n")
