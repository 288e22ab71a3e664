"""Checkpoints on the disk: damage, strangers, and what they can keep."""

import binascii
import json
from datetime import date, datetime
from enum import Enum
from threading import Barrier, Thread

import numpy as np
import pytest

from sklearn_calib.explore._checkpoint import Checkpoint
from sklearn_calib.explore._counting import Counted
from sklearn_calib.explore._rule_answers import Answer
from tests.limits import within_limits

PARTS = {"model": "a", "n_samples": 11}


def counted(key="USA", period=7, n_samples=11):
    rng = np.random.default_rng(0)
    counts = {key: rng.integers(2, size=n_samples).astype(np.uint8)}
    answer = Answer(counts, {key: 1}, {key: ("the \ud800 troops", "they")}, n_samples)
    return Counted("doc", "Document 'doc'", period, 0.1, answer, "A \n title")


def write(folder, *found):
    with Checkpoint(folder, PARTS, 3) as log:
        for number, each in enumerate(found):
            log.look_up(number, f"text {number}")
            log.add(number, each)
    return folder / "counted.jsonl"


def read(folder):
    with Checkpoint(folder, PARTS, 3) as log:
        return dict(log.known)


def test_everything_comes_back(tmp_path):
    keys = ["USA", 3, 2.5, float("inf"), True, None, b"x", ("a", (1, "b")), date(2001, 2, 3),
            datetime(2001, 2, 3, 4), np.datetime64("2001-02", "M"), "\x1b[31m\ud800"]  # fmt: skip
    path = write(tmp_path, *(counted(key, key) for key in keys), object())
    found = read(tmp_path)
    assert list(found) == list(range(len(keys)))  # failures are not kept
    for (_, each), key in zip(found.values(), keys, strict=True):
        before = counted(key, key)
        assert (each.id, each.name, each.title, each.weight) == (
            before.id, before.name, before.title, before.weight)  # fmt: skip
        assert each.period == key
        assert type(each.period) is type(key)
        np.testing.assert_array_equal(each.answer.counts[key], before.answer.counts[key])
        assert each.answer.counts[key].dtype == np.uint8
        assert each.answer.best == {key: 1}
        assert each.answer.mentions == before.answer.mentions
    assert path.read_bytes().isascii()


def test_numbers_of_numpy_are_numbers(tmp_path):
    write(tmp_path, counted(np.str_("a"), np.int64(3)))
    [(_, each)] = read(tmp_path).values()
    assert list(each.answer.counts) == ["a"]
    assert each.period == 3


def test_keys_that_cannot_be_kept(tmp_path):
    kind = Enum("Country", "USA")
    with pytest.raises(TypeError, match=r"cannot keep the key <Country\.USA: 1>, a Country"):
        write(tmp_path, counted(kind.USA))


def test_a_line_that_was_cut_off_is_ignored(tmp_path):
    path = write(tmp_path, counted(), counted())
    data = path.read_bytes()
    for end in range(len(data) - 1, data.index(b"\n"), -7):
        path.write_bytes(data[:end])
        found = read(tmp_path)
        assert set(found) <= {0, 1}
        assert (1 in found) == (end >= len(data) - 1)
        write(tmp_path, *[] if 0 in found else [counted()])
    assert 0 in read(tmp_path)


def test_damage_in_the_middle_costs_one_document(tmp_path):
    path = write(tmp_path, counted(), counted(), counted())
    data = bytearray(path.read_bytes())
    data[data.index(b"\n") + 40] ^= 1
    path.write_bytes(data)
    assert set(read(tmp_path)) == {1, 2}


def sealed(text):
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    return b"%08x %s\n" % (binascii.crc32(text), text)


@pytest.mark.parametrize(
    "text",
    [
        b"\n", b"hello\n", sealed({}), sealed([]), sealed({"format": "else"}), b"\xff" * 50,
        sealed({"format": "sklearn-calib checkpoint 1", "seed": "x"}), b"[" * 900_000,
    ],
)  # fmt: skip
def test_files_that_are_no_checkpoint(tmp_path, text):
    (tmp_path / "counted.jsonl").write_bytes(text)
    with pytest.raises(ValueError, match=r"counted\.jsonl, line 1: this is not a checkpoint"):
        read(tmp_path)


GOOD = {"number": 0, "document": "d", "id": "d", "name": "D", "title": "", "period": 1, "weight": 1,
        "n_samples": 11, "counts": [["USA", "e0e0"]], "best": None, "mentions": []}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"number": "x"}, {"number": None}, {"number": 1e400}, {"counts": 3}, {"counts": [["USA"]]},
        {"number": -1}, {"number": 10**400}, {"number": True}, {"number": "1"},
        {"counts": [["USA", "e0"]]}, {"counts": [["USA", "xxxx"]]}, {"counts": [[[], "e0e0"]]},
        {"n_samples": 10**15}, {"n_samples": -1}, {"best": [1]}, {"best": [["USA", 2**70]]},
        {"n_samples": 12}, {"n_samples": 12, "counts": []}, {"weight": -1}, {"weight": 1e400},
        {"period": {}},
        {"period": {"a": 1}},
        {"period": {"date": "x"}}, {"period": {"datetime64": ["x", "y"]}}, {"weight": "heavy"},
        {"mentions": [["USA", 3]]}, {"period": {"tuple": 3}}, {"period": {"datetime64": [{}, "D"]}},
    ],
)  # fmt: skip
def test_lines_that_nobody_wrote(tmp_path, change):
    path = write(tmp_path)
    head = path.read_bytes()
    path.write_bytes(head + sealed(GOOD))
    assert list(read(tmp_path)) == [0]
    path.write_bytes(head + sealed(GOOD) + sealed({**GOOD, **change}))
    with pytest.raises(ValueError, match=r"counted\.jsonl, line 3: this is not a line of a chec"):
        read(tmp_path)


@pytest.mark.parametrize("period", [10**7, -(10**25), 1.0, True, "2003", None, {"tuple": []}])
def test_periods_that_are_not_of_the_calendar(tmp_path, period):
    path = write(tmp_path)
    head = path.read_bytes()
    path.write_bytes(head + sealed({**GOOD, "period": -9_999_999}))
    with Checkpoint(tmp_path, PARTS, 3, calendar=True) as log:
        assert list(log.known) == [0]
    path.write_bytes(head + sealed({**GOOD, "period": period}))
    assert list(read(tmp_path)) == [0]
    with pytest.raises(ValueError, match=r"counted\.jsonl, line 2: .*its period is not of the cal"):
        Checkpoint(tmp_path, PARTS, 3, calendar=True)


@pytest.mark.parametrize("seed", [-1, 2**64, True, None])
def test_a_seed_that_is_none(tmp_path, seed):
    path = write(tmp_path)
    head = json.loads(path.read_bytes()[9:])
    path.write_bytes(sealed({**head, "seed": seed}))
    with pytest.raises(ValueError, match=r"counted\.jsonl, line 1: this is not a checkpoint"):
        Checkpoint(tmp_path, PARTS, None)


def test_a_line_that_is_nested_deeply(tmp_path):
    path = write(tmp_path)
    deep = b'{"number":0,"period":' + b'{"tuple":[' * 80_000 + b"]}" * 80_000 + b"}"
    path.write_bytes(path.read_bytes() + sealed(deep))
    with within_limits():
        assert read(tmp_path) == {}


def test_other_things_in_its_place(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ValueError, match="is a file; name a folder"):
        Checkpoint(file, PARTS, 3)
    folder = tmp_path / "new" / "folder"
    with Checkpoint(folder, PARTS, 3):
        pytest.importorskip("fcntl")
        with pytest.raises(ValueError, match="is in use by another run"):
            Checkpoint(folder, PARTS, 3)
    with Checkpoint(folder, PARTS, None) as log:
        assert log.seed == 3


def test_a_file_that_was_only_just_made_is_begun(tmp_path):
    (tmp_path / "counted.jsonl").touch()
    write(tmp_path, counted())
    assert len(read(tmp_path)) == 1


def test_of_runs_that_begin_at_once_one_gets_the_folder(tmp_path):
    pytest.importorskip("fcntl")
    n_runs, found = 8, []
    start, end = Barrier(n_runs), Barrier(n_runs)

    def begin(seed):
        start.wait()
        try:
            with Checkpoint(tmp_path, PARTS, seed) as log:
                found.append(log.seed)
                end.wait()
        except ValueError as error:
            found.append(str(error))
            end.wait()

    threads = [Thread(target=begin, args=(seed,)) for seed in range(n_runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [seed] = [each for each in found if isinstance(each, int)]
    assert sum("is in use by another run" in str(each) for each in found) == n_runs - 1
    with Checkpoint(tmp_path, PARTS, None) as log:
        assert log.seed == seed
