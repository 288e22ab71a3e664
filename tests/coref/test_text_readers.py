"""Raw texts from JSON lines and from folders."""

import gzip
import json
import os
import sys

import pytest

from sklearn_calib.coref import read_jsonl, read_text_folder


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


LINES = [
    {"text": "Iraq attacked.\nTwice.", "date": "2006-07-12T10:00:00", "id": 5, "source": "AP"},
    {"text": "é", "title": "T", "date": "2006-07"},
]


@pytest.mark.parametrize("name", ["news.jsonl", "news.jsonl.gz"])
def test_json_lines(tmp_path, name):
    body = "\n\n".join(json.dumps(line, ensure_ascii=False) for line in LINES)
    path = write(tmp_path / name, body.encode("utf-8-sig"))
    [(one, first), (two, second)] = read_jsonl(path)
    assert (one, two) == ("Iraq attacked.\nTwice.", "é")
    assert (first["id"], str(first["date"]), first["title"]) == ("5", "2006-07-12", None)
    assert first["source"] == "AP"
    assert (second["id"], str(second["date"]), second["title"]) == ("news-3", "2006-07", "T")
    assert "text" not in first


def test_json_lines_with_named_fields(tmp_path):
    line = {"body": "a", "day": "2006-07-12", "key": "k", "headline": "H", "text": "other"}
    path = write(tmp_path / "a.jsonl", json.dumps(line) + "\n")
    names = {"text": "body", "date": "day", "id": "key", "title": "headline"}
    [(text, found)] = read_jsonl(str(path), **names)
    assert (text, found["id"], str(found["date"]), found["title"]) == ("a", "k", "2006-07-12", "H")
    assert found["text"] == "other"
    with pytest.raises(ValueError, match=r"a\.jsonl, line 1: there is no field 'when'; the fields"):
        list(read_jsonl(path, date="when"))
    [(_, found)] = read_jsonl(write(path, '{"text": "a", "when": null}'), date="when")
    assert found["date"] is None


def test_json_lines_are_read_as_they_are_needed(tmp_path):
    path = write(tmp_path / "a.jsonl", json.dumps(LINES[0]) + "\n{oops\n")
    texts = read_jsonl(path)
    assert next(texts)[0] == LINES[0]["text"]
    with pytest.raises(ValueError, match=r"a\.jsonl, line 2: this is not JSON: Expecting"):
        next(texts)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", r"line 2: a JSON object such as .*, got '\[1\]'"),
        ('{"body": "a"}', "line 2: there is no field 'text'; the fields are 'body'"),
        ('{"text": null}', "line 2: the field 'text' must hold the text, got None"),
        ('{"text": "a", "date": "12 May"}', "line 2: date='12 May' is not a date"),
        ('{"text": "a", "date": 2006}', "line 2: date=2006 is not a date"),
        (b'{"text": "\xff"}', "line 2: not UTF-8 text"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, message):
    line = line if isinstance(line, bytes) else line.encode()
    path = write(tmp_path / "a.jsonl", b'{"text": "a"}\n' + line)
    with pytest.raises(ValueError, match=message):
        list(read_jsonl(path))


def test_files_that_are_damaged_or_not_there(tmp_path):
    path = write(tmp_path / "a.jsonl.gz", json.dumps(LINES[0]) * 100)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"a\.jsonl\.gz, line 1: .* the file is damaged"):
        list(read_jsonl(path))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_jsonl(tmp_path / "b.jsonl")
    with pytest.raises(NotADirectoryError, match="There is no folder"):
        read_text_folder(tmp_path / "b")
    with pytest.raises(ValueError, match=r"has no files that end in \.txt"):
        read_text_folder(tmp_path)
    write(tmp_path / "b.txt.gz", "a" * 1000)
    (tmp_path / "b.txt.gz").write_bytes((tmp_path / "b.txt.gz").read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"b\.txt\.gz cannot be read; it is damaged"):
        list(read_text_folder(tmp_path))


@pytest.mark.parametrize(
    ("name", "date"),
    [
        ("2006-07-12-raid.txt", "2006-07-12"),
        ("raid_20060712_ap.txt.gz", "2006-07-12"),
        ("2006_07_12.txt", "2006-07-12"),
        ("2006/07/12.txt", "2006-07-12"),
        ("2006/07/raid-3.txt", "2006-07"),
        ("2006-07/12.txt", "2006-07"),
        ("2006/raid.txt", "2006"),
        ("20069912-1998.txt", "1998"),
        ("story-1234567.txt", "None"),
        ("story-0815.txt", "None"),
    ],
)
def test_dates_in_names(tmp_path, name, date):
    write(tmp_path / name, "a\r\nb")
    [(text, found)] = read_text_folder(tmp_path)
    assert (text, str(found["date"])) == ("a\nb", date)
    assert found["id"] == name.removesuffix(".gz").removesuffix(".txt")


def test_folders(tmp_path):
    write(tmp_path / "b" / "2.txt", "ä".encode("utf-8-sig"))
    write(tmp_path / "a.txt", "1")
    write(tmp_path / "c.csv", "no")
    found = list(read_text_folder(tmp_path, date=lambda path: f"200{len(path.parts)}"))
    assert [(text, known["id"], str(known["date"])) for text, known in found] == [
        ("1", "a", "2001"),
        ("ä", "b/2", "2002"),
    ]
    assert [known["date"] for _, known in read_text_folder(tmp_path, date=None)] == [None, None]
    write(tmp_path / "a.txt", "ok\nä".encode("latin-1"))
    with pytest.raises(ValueError, match=r"a\.txt, line 2: this is not utf-8: .*Pass the encoding"):
        list(read_text_folder(tmp_path))
    assert next(read_text_folder(tmp_path, encoding="latin-1"))[0] == "ok\nä"
    with pytest.raises(ValueError, match=r"a\.txt: date='May' is not a date"):
        list(read_text_folder(tmp_path, date=lambda path: "May", encoding="latin-1"))
    with pytest.raises(ValueError, match="date='stem' is not known"):
        read_text_folder(tmp_path, date="stem")


def test_a_message_lists_only_some_of_many_fields(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text(json.dumps({"x" * 3000 + str(i): i for i in range(30)}))
    with pytest.raises(ValueError, match=r"the fields are 'x{60}'\.\.\., ") as caught:
        list(read_jsonl(path))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "record",
    [r'{"text": "\ud800 x"}', r'{"text": "a", "id": "\uDC00"}', r'{"text": "a", "\udfff": [1]}',
     r'{"text": "a", "x": {"y": ["z", "\ude00\ud83d"]}}'],
)  # fmt: skip
def test_half_of_a_character_is_refused_before_a_long_run_ends_with_it(tmp_path, record):
    path = write(tmp_path / "news.jsonl", '{"text": "\\ud83d\\ude00"}\n' + record)
    found = read_jsonl(path)
    assert next(found)[0] == "\U0001f600"
    with pytest.raises(ValueError, match=r"news\.jsonl, line 2: .*half of a character") as caught:
        next(found)
    assert str(caught.value).isprintable()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes of this kind")
@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
def test_folders_with_what_is_no_file(tmp_path, kind):
    path = tmp_path / "b.txt"
    write(tmp_path / "a.txt", "one")
    (tmp_path / "folder.txt").mkdir()
    write(tmp_path / "folder.txt" / "c.txt", "two")
    assert [text for text, _ in read_text_folder(tmp_path)] == ["one", "two"]
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"b\.txt' is no file: it is a pipe, a device or a link"):
        read_text_folder(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_names_that_are_no_text(tmp_path):
    with open(os.fsencode(tmp_path) + b"/\xff.txt", "w") as file:
        file.write("one")
    [(_, known)] = read_text_folder(tmp_path)
    assert known["id"] == "\\udcff"
