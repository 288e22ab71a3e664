"""Files are found, downloaded once, checked, and never half there."""

import gzip
import hashlib
import http.server
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from sklearn_calib._files import open_text
from sklearn_calib.datasets._fetch import Source, data_folder, fetch, lines

TEXT = b"one\ntwo\n"
SOURCE = Source(
    corpus="Two words",
    url="http://127.0.0.1:9/words.txt",
    name="words.txt",
    sha256=hashlib.sha256(TEXT).hexdigest(),
    licence="CC0",
    other_names=("words.tsv",),
)


def test_the_folder_is_the_argument_then_the_variable_then_the_cache(tmp_path, monkeypatch):
    assert data_folder() == tmp_path / "cache" / "sklearn_calib"
    monkeypatch.setenv("SKLEARN_CALIB_DATA", str(tmp_path / "variable"))
    assert data_folder() == tmp_path / "variable"
    assert data_folder(tmp_path) == tmp_path
    assert data_folder("~/x") == Path.home() / "x"


@pytest.mark.parametrize("name", ["words.tsv", "words.tsv.gz"])
def test_a_file_of_another_form_is_taken_as_it_is(tmp_path, name):
    (tmp_path / name).write_bytes(b"mine")
    assert fetch(SOURCE, data_home=tmp_path, download=False) == tmp_path / name


@pytest.mark.parametrize("name", ["words.txt", "words.txt.gz"])
def test_a_file_under_its_own_name_is_checked_before_every_use(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(TEXT) if name.endswith(".gz") else TEXT)
    assert fetch(SOURCE, data_home=tmp_path, download=False) == path
    for content in (b"mine", gzip.compress(b"mine"), gzip.compress(TEXT)[:-5]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{name} is not the file that was expected, by its"):
            fetch(SOURCE, data_home=tmp_path, download=False)
    # Where nobody has said what it should be, it is the user's own.
    assert fetch(replace(SOURCE, sha256=None), data_home=tmp_path, download=False) == path


def test_a_planted_file_does_not_shadow_a_verified_one(tmp_path):
    (tmp_path / "words.txt").write_bytes(TEXT)
    (tmp_path / "words.tsv").write_bytes(b"planted")
    assert fetch(SOURCE, data_home=tmp_path, download=False).name == "words.txt"


def test_a_damaged_download_is_fetched_again(web, tmp_path):
    folder, address = web
    (folder / "words.txt").write_bytes(TEXT)
    source = replace(SOURCE, url=f"{address}/words.txt")
    home = tmp_path / "home"
    home.mkdir()
    (home / "words.txt").write_bytes(b"half of it")
    assert fetch(source, data_home=home).read_bytes() == TEXT


def test_the_first_download_is_held_to_where_no_checksum_is_known(web, tmp_path):
    folder, address = web
    (folder / "words.txt").write_bytes(TEXT)
    source = replace(SOURCE, url=f"{address}/words.txt", sha256=None)
    home = tmp_path / "home"
    path = fetch(source, data_home=home)
    assert (home / "words.txt.sha256").read_text() == f"{SOURCE.sha256}  words.txt\n"
    assert fetch(source, data_home=home, download=False) == path
    path.write_bytes(b"changed")
    with pytest.raises(ValueError, match=r"words\.txt is not the file that was expected"):
        fetch(source, data_home=home, download=False)


@pytest.mark.parametrize("url", ["http://example.org/words.txt", "ftp://example.org/words.txt"])
def test_addresses_that_others_could_answer_for(tmp_path, url):
    with pytest.raises(ValueError, match="does not begin with https://"):
        fetch(replace(SOURCE, url=url), data_home=tmp_path)


class SendsOn(http.server.BaseHTTPRequestHandler):
    """Answers every question with another address."""

    to = ""

    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", self.to)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("to", ["http://example.invalid/words.txt", "ftp://127.0.0.2/words.txt"])
@pytest.mark.parametrize("checksum", [SOURCE.sha256, None])
def test_an_answer_does_not_lead_away_from_https(tmp_path, monkeypatch, to, checksum):
    pytest.importorskip("pooch")
    pytest.importorskip("tqdm")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(SendsOn, "to", to)
    with http.server.HTTPServer(("127.0.0.1", 0), SendsOn) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/words.txt"
        try:
            with pytest.raises(OSError, match=f"sends on to '{to}', which is not https"):
                fetch(replace(SOURCE, url=url, sha256=checksum), data_home=tmp_path / "home")
        finally:
            server.shutdown()
            thread.join()
    assert list((tmp_path / "home").iterdir()) == []


def test_the_trimmed_form_comes_first(tmp_path):
    for name in ("words.txt", "words.tsv.gz"):
        (tmp_path / name).write_bytes(b"mine")
    assert fetch(SOURCE, data_home=tmp_path).name == "words.tsv.gz"


def test_a_missing_file_says_where_what_and_whence(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        fetch(SOURCE, data_home=tmp_path / "nowhere", download=False)
    message = str(caught.value)
    for part in (
        "Two words", "words.tsv, words.tsv.gz, words.txt or words.txt.gz",
        str(tmp_path / "nowhere"), "no such folder", SOURCE.url, "download=True",
        "SKLEARN_CALIB_DATA",
    ):  # fmt: skip
        assert part in message


def test_a_file_without_an_address_is_never_downloaded(tmp_path):
    with pytest.raises(FileNotFoundError, match="no address"):
        fetch(replace(SOURCE, url=None), data_home=tmp_path, download=True)


def test_download_states_the_licence_and_happens_once(web, tmp_path, capsys):
    folder, address = web
    (folder / "words.txt").write_bytes(TEXT)
    source = replace(SOURCE, url=f"{address}/words.txt")
    path = fetch(source, data_home=tmp_path / "new" / "home")
    assert path.read_bytes() == TEXT
    said = capsys.readouterr().err
    assert "Licence: CC0" in said
    assert "100%" in said  # the progress bar
    (folder / "words.txt").unlink()
    assert fetch(source, data_home=tmp_path / "new" / "home") == path
    assert capsys.readouterr().err == ""


def test_a_wrong_checksum_leaves_nothing_behind(web, tmp_path):
    folder, address = web
    (folder / "words.txt").write_bytes(b"three\n")
    home = tmp_path / "home"
    with pytest.raises(OSError, match="not the file that was expected"):
        fetch(replace(SOURCE, url=f"{address}/words.txt"), data_home=home)
    assert list(home.iterdir()) == []


def test_an_address_that_is_gone(web, tmp_path):
    _, address = web
    with pytest.raises(OSError, match=r"could not be downloaded to .*404"):
        fetch(replace(SOURCE, url=f"{address}/words.txt"), data_home=tmp_path)


def test_a_folder_that_cannot_be_made(web, tmp_path):
    (tmp_path / "home").write_text("a file, not a folder")
    with pytest.raises(OSError, match="could not be downloaded"):
        fetch(SOURCE, data_home=tmp_path / "home" / "below")


@pytest.mark.parametrize("name", ["pooch", "tqdm"])
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"sklearn-calib\[data\]"):
        fetch(SOURCE, data_home=tmp_path)


def packed(path, content, kind):
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("inside.txt", content)
    else:
        path.write_bytes(gzip.compress(content) if kind == "gz" else content)
    return path


@pytest.mark.parametrize("kind", ["plain", "gz", "zip"])
def test_lines_of_every_kind_of_file(tmp_path, kind):
    content = "\ufeffa\r\n\u2028b\x85c\rd\n\nend".encode()
    path = packed(tmp_path / "file", content, kind)
    found = list(lines(path, member="inside.txt"))
    assert found == [(1, "a"), (2, "\u2028b\x85c\rd"), (3, ""), (4, "end")]


def test_damaged_files(tmp_path):
    whole = gzip.compress(b"a line\n" * 1000)
    for content in (whole[:-12], whole[:20] + b"\0\0\0" + whole[23:], b"PK, or so it seems"):
        (tmp_path / "file.gz").write_bytes(content)
        with pytest.raises(ValueError, match=r"file.gz(, line \d+)?: .*damaged|not a gzip file"):
            list(lines(tmp_path / "file.gz"))
    packed(tmp_path / "file.zip", TEXT, "zip")
    with pytest.raises(ValueError, match=r"without other.txt"):
        list(lines(tmp_path / "file.zip", member="other.txt"))
    (tmp_path / "latin").write_bytes("é".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin, line 1: not UTF-8 text"):
        list(lines(tmp_path / "latin"))
    assert list(lines(tmp_path / "latin", encoding="latin-1")) == [(1, "é")]


def test_errors_of_the_reader_pass_through(tmp_path):
    path = packed(tmp_path / "file", TEXT, "plain")
    with pytest.raises(KeyError, match="mine"), open_text(path):
        raise KeyError("mine")
