"""A web server on this machine, and folders for corpora."""

import functools
import http.server
import threading

import pytest

from sklearn_calib.datasets import _fetch


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def web(tmp_path, monkeypatch):
    """Serve a folder; gives the folder and its address."""
    pytest.importorskip("pooch")
    pytest.importorskip("tqdm")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "web"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def any_checksum(monkeypatch):
    """Take small files of the tests for the originals."""
    monkeypatch.setattr(_fetch, "_has_checksum", lambda path, sha256: True)


@pytest.fixture(autouse=True)
def no_folder_of_the_user(tmp_path, monkeypatch):
    """Keep tests away from what the user has downloaded."""
    monkeypatch.delenv("SKLEARN_CALIB_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
