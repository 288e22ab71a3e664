"""Lines of files, streams and lists alike."""

import gzip
import io

import pytest

from sklearn_calib.coref._brackets import open_lines, report_problems


def test_every_source_gives_the_same_lines(tmp_path):
    lines = ["one", "zwei: ä"]
    text = "\n".join(lines) + "\n"
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    plain.write_text(text, encoding="utf-8")
    packed.write_bytes(gzip.compress(text.encode()))
    sources = (plain, str(plain), packed, io.StringIO(text), io.BytesIO(text.encode()), lines)
    for source in sources:
        with open_lines(source) as found:
            assert [line.rstrip("\n") for line in found] == lines


def test_problems_are_reported_together():
    report_problems([], "raise")
    report_problems(["first"], "ignore")
    with pytest.warns(UserWarning, match="2 mentions could not be read: first; second"):
        report_problems(["first", "second"], "warn")
    with pytest.raises(ValueError, match=r"1 mentions could not be read: first.*unbalanced=.warn"):
        report_problems(["first"], "raise")
