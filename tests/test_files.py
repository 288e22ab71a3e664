"""Files that are damaged, or made to fill a memory."""

import gzip
import struct
import zipfile
from contextlib import suppress

import pytest

from sklearn_calib._files import FREE_EXPANSION, FileError, open_text, shortened, zip_texts
from tests.limits import within_limits


def read(path, **options):
    with open_text(path, **options) as lines:
        return list(lines)


def test_a_gzip_file_that_is_cut_off(tmp_path):
    path = tmp_path / "text.gz"
    whole = gzip.compress(b"".join(b"line %d\n" % i for i in range(5000)))
    assert len(whole) > 10_000
    path.write_bytes(whole)
    assert len(read(path)) == 5000
    for end in (1, 5, 12, len(whole) // 2, len(whole) - 4):
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError, match=r"text\.gz"):
            read(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"text\.gz, line [1-4]\d\d\d: .*damaged or cut off"):
        read(path)


def test_the_line_that_is_no_text(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"fine\n" * 30_000 + b"not \xff\n" + b"fine\n" * 10)
    with pytest.raises(FileError, match=r"text, line 30001: not UTF-8 text \(invalid start byte"):
        read(path)


def test_gzip_that_expands_to_too_much(tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(b"\0" * 2**20)
    assert path.stat().st_size < 2**20
    # In one line, which must not be read whole either.
    with (
        within_limits(),
        pytest.raises(ValueError, match=r"bomb\.gz, line 1: .* more than 64 MB.*unpack it first"),
    ):
        read(path)


def test_text_that_packs_well_is_no_bomb(tmp_path):
    path = tmp_path / "well.gz"
    path.write_bytes(gzip.compress(b"the same line again and again\n" * 10**6))
    assert FREE_EXPANSION > 3e7
    with open_text(path) as lines:
        assert sum(1 for _ in lines) == 10**6


def zipped(path, *members, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def changed(path, offset, value, of):
    """Change a field of every header of a kind: of a file, or of the central directory."""
    data = bytearray(path.read_bytes())
    mark = {"local": b"PK\x03\x04", "central": b"PK\x01\x02"}[of]
    at = data.find(mark)
    while at >= 0:
        struct.pack_into("<H", data, at + offset, value)
        at = data.find(mark, at + 4)
    path.write_bytes(data)


def test_zip_oddities(tmp_path):
    path = tmp_path / "text.zip"
    text = b"a line\n" * 1000
    zipped(path, ("text", text), compression=zipfile.ZIP_DEFLATED)
    assert len(read(path, member="text")) == 1000
    whole = path.read_bytes()
    with pytest.raises(ValueError, match="zip file without other"):
        read(path, member="other")
    with pytest.raises(ValueError, match="without a file that is known"):
        read(path)
    # Said to be encrypted.
    changed(path, 6, 1, "local")
    changed(path, 8, 1, "central")
    with pytest.raises(ValueError, match=r"text\.zip, file 'text': it cannot be unpacked"):
        read(path, member="text")
    # Packed in a way that nobody knows.
    path.write_bytes(whole)
    changed(path, 8, 77, "local")
    changed(path, 10, 77, "central")
    with pytest.raises(ValueError, match=r"it cannot be unpacked"):
        read(path, member="text")
    # Cut off, and changed in the middle.
    for data in (whole[:40], whole[:-30], whole[:45] + b"\xff\xff" + whole[47:]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"text\.zip"):
            read(path, member="text")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_anywhere_in_a_zip_file(tmp_path, method):
    path = tmp_path / "text.zip"
    whole = zipped(
        path, ("text", b"a line\n" * 20), ("more", b"x"), compression=method
    ).read_bytes()
    damaged = [whole[1:]]  # all offsets point one place too far
    damaged += [
        whole[:at] + bytes([value]) + whole[at + 1 :]
        for at in range(4, len(whole))
        for value in (0, 0x7F, 0xFF)
    ]
    for data in damaged:
        path.write_bytes(data)
        for found in (lambda: read(path, member="text"), lambda: list(zip_texts(path, bool))):
            with suppress(ValueError):
                found()
                continue
            with pytest.raises(ValueError, match=r"text\.zip"):
                found()


def test_a_long_name_in_the_directory_does_not_make_a_long_message(tmp_path):
    path = zipped(tmp_path / "text.zip", ("\x1b" * 5000, b"x"))
    data = path.read_bytes()
    path.write_bytes(data[:30] + b"y" + data[31:])  # zipfile names both, at length
    with pytest.raises(ValueError, match=r"text\.zip.*damaged") as caught:
        list(zip_texts(path, bool))
    assert len(str(caught.value)) < 1000
    assert str(caught.value).isprintable()


def test_many_files_of_a_zip_file(tmp_path):
    path = zipped(tmp_path / "texts.zip", *((f"{i}.txt", b"a\nb\n") for i in range(3)))
    found = list(zip_texts(path, lambda name: name != "1.txt"))
    assert found == [("0.txt", ["a\n", "b\n"]), ("2.txt", ["a\n", "b\n"])]
    zipped(path, ("a", b"\xff"))
    with pytest.raises(ValueError, match=r"texts\.zip:a, line 1: not UTF-8 text"):
        list(zip_texts(path, bool))
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match=r"texts\.zip cannot be read"):
        list(zip_texts(path, bool))
    zipped(path, *((f"{i}", b"\0" * 2**24) for i in range(5)), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match=r"texts\.zip expands to more than 64 MB"):
        list(zip_texts(path, bool))


def test_a_zip_file_with_thousands_of_files(tmp_path):
    path = zipped(tmp_path / "texts.zip", *((f"{i:05}", b"") for i in range(9000)))
    assert path.stat().st_size < 2**20
    with within_limits():
        assert len(list(zip_texts(path, bool))) == 9000


def test_two_files_of_one_name(tmp_path):
    path = tmp_path / "texts.zip"
    path.write_bytes(
        zipped(path, ("aaa", b"1"), ("bbb", b"2")).read_bytes().replace(b"bbb", b"aaa")
    )
    with pytest.raises(ValueError, match="two files of the same name"):
        list(zip_texts(path, bool))


def test_messages_stay_short():
    assert shortened("a" * 60) == repr("a" * 60)
    assert shortened("a" * 10**6) == repr("a" * 60) + "..."
    assert len(shortened(list(range(10**5)))) == 63
    assert shortened(7) == "7"


def test_millions_of_empty_lines(tmp_path):
    path = tmp_path / "lines.gz"
    path.write_bytes(gzip.compress(b"\n" * 2**25, 1))
    with within_limits(), pytest.raises(ValueError, match="a line counts for 32 bytes at least"):
        read(path)
