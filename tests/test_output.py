"""Files that are there whole or not at all, and terminals that are told nothing."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sklearn_calib import _output
from sklearn_calib._output import check_output, check_target, exit_code, whole_file, write_whole
from sklearn_calib.report._command import main
from tests.report.files import run, write

ROOT = Path(__file__).parents[1]


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_whole(path, "first")
    assert path.read_text() == "first"

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_output.os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "second")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links")
def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "page.html", tmp_path / "latest.html"
    write_whole(path, "first")
    plain = tmp_path / "plain"
    plain.write_text("")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, "second")
    assert link.is_symlink()
    assert path.read_text() == "second"
    assert path.stat().st_mode & 0o777 == 0o640


def test_files_of_others_are_left_alone(tmp_path, capsys):
    path, out = write(tmp_path / "p.csv"), tmp_path / "thesis.html"
    out.write_text("<html>years of work")
    arguments = ("--pos-label", "yes", "--out", str(out))
    assert run(path, *arguments) == 2
    assert "is not a page of sklearn-calib. Pass --force" in capsys.readouterr().err
    assert out.read_text() == "<html>years of work"
    assert run(path, *arguments, "--force") == 0
    page = out.read_text()
    assert page.startswith("<!doctype html>")
    # Its own pages may be written again, and so may files that are empty.
    out.write_text(page.replace("curve", "kurve"))
    assert run(path, *arguments) == 0
    assert "kurve" not in out.read_text()
    out.write_text("")
    assert run(path, *arguments) == 0


def test_places_that_are_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        check_output(tmp_path / "none" / "page.html")
    with pytest.raises(ValueError, match="is a folder; name a file"):
        check_output(tmp_path)
    (tmp_path / "in.csv").write_text("a")
    with pytest.raises(ValueError, match="is one of the files that are read"):
        check_output(tmp_path / "in.csv", inputs=[tmp_path / "in.csv"], force=True)


def test_an_interrupt_is_one_line(capsys):
    def command():
        raise KeyboardInterrupt

    assert exit_code(command) == 130
    assert capsys.readouterr() == ("", "interrupted; nothing was written.\n")

    def told():
        raise KeyboardInterrupt("interrupted after\n3 documents")

    assert exit_code(told) == 130
    assert capsys.readouterr() == ("", "interrupted after 3 documents\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no signals of this kind")
def test_an_interrupt_from_the_terminal(tmp_path):
    pipe, out = tmp_path / "slow.csv", tmp_path / "page.html"
    os.mkfifo(pipe)
    options = ["--y-true", "label", "--y-prob", "score", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "sklearn_calib", "report", str(pipe), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    # The pipe opens when the command begins to read; it then waits for more.
    with pipe.open("w") as file:
        file.write("label,score\n1,0.5\n")
        file.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (130, "interrupted; nothing was written.\n")
    assert not out.exists()


def test_terminals_are_not_told_what_to_do(tmp_path, capsys):
    # One label changes the title of the window, another turns the line round.
    names = ["\x1b]0;owned\x07a", "\u202eb", "c\x9b31m"]
    path = tmp_path / "p.csv"
    rows = [(names[i % 3], "0.2", "0.3", "0.5") for i in range(90)]
    write(path, rows, ("label", "p1", "p2", "p3"))
    options = ["--y-true", "label", "--y-prob", "p1", "p2", "p3", "--classes", *names]
    assert main(["report", str(path), *options]) == 0
    out = capsys.readouterr().out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", out)
    assert "\\x1b]0;owned\\x07a" in out
    assert main(["report", str(path), "--y-true", "\x1b[2J", "--y-prob", "p1"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_a_file_that_is_written_piece_by_piece(tmp_path):
    path = tmp_path / "long.txt"
    with whole_file(path) as file:
        file.write(b"first ")
        assert not path.exists()
        file.write(b"second")
    assert path.read_text() == "first second"

    def fail():
        with whole_file(path) as file:
            file.write(b"third")
            raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space left"):
        fail()
    assert path.read_text() == "first second"
    assert list(tmp_path.iterdir()) == [path]


def test_functions_leave_files_of_others_alone(tmp_path):
    path = tmp_path / "other.txt"
    assert check_target(str(path), False) == path
    path.write_text("years of work")
    with pytest.raises(ValueError, match=r"path .*other\.txt is there already, and is not a page"):
        check_target(path, False)
    with pytest.raises(ValueError, match=r"is not a diary\. Pass force=True to replace it"):
        check_target(path, False, lambda _: False, "a diary")
    assert check_target(path, True) == path
    assert check_target(path, False, lambda found: found == path, "a diary") == path
