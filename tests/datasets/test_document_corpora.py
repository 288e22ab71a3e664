"""Loaders of documents read the trimmed files and the originals."""

import gzip
import zipfile

import pytest

from sklearn_calib.coref import Document
from sklearn_calib.datasets import (
    _document_corpora,
    load_amalgum_news,
    load_gum,
    load_litbank,
    load_wikinews,
)
from sklearn_calib.datasets._document_corpora import content_sha256
from tests.limits import within_limits

GUM = """\
# newdoc id = GUM_{0}
# global.Entity = GRP-etype-infstat
# meta::dateCreated = 2017-08-24
# meta::genre = news
# sent_id = GUM_{0}-1
1\tAda\tAda\tPROPN\tNNP\t_\t2\tnsubj\t2:nsubj\tEntity=(1-person-new)
2\tslept\tsleep\tVERB\tVBD\t_\t0\troot\t0:root\t_

"""


TSV = "# newdoc id = 2_b\nEmma\t(1)\nslept\t_\n\n# newdoc id = 1_a\nShe\t(0)\n"


ROW = "1_a_brat\t0\t{}\t{}\t_\t_\t_\t_\t_\t_\t_\t_\t{}\n"


CONLL = (
    "#begin document (1_a_brat); part 0\n"
    + ROW.format(0, "Lord", "(0")
    + ROW.format(1, "Chancellor", "0)")
    + "\n#end document\n"
)


@pytest.mark.parametrize("name", ["gum_{}.conllu", "en_gum-ud-{}.conllu"])
@pytest.mark.parametrize("packed", [False, True])
def test_gum(tmp_path, name, packed):
    for split in ("train", "dev", "test"):
        text = GUM.format(split).encode()
        path = tmp_path / (name.format(split) + (".gz" if packed else ""))
        path.write_bytes(gzip.compress(text) if packed else text)
    corpus = load_gum(split="dev", data_home=tmp_path, download=False)
    [document] = corpus.X
    assert [entities.tolist() for entities in corpus.y] == [[0]]
    assert corpus.metadata["paths"] == [str(path.with_name(path.name.replace("test", "dev")))]
    assert document.id == "GUM_dev"
    assert document.genre == "news"
    assert str(document.date) == "2017-08-24"
    assert document.entities.tolist() == [0]
    every = load_gum(split="all", data_home=tmp_path, download=False)
    assert [d.id for d in every.X] == ["GUM_train", "GUM_dev", "GUM_test"]
    with pytest.raises(ValueError, match="split='tests' is not known"):
        load_gum(split="tests", data_home=tmp_path)


def test_litbank_in_both_forms(tmp_path, monkeypatch):
    (tmp_path / "litbank_coref.tsv").write_text(TSV)
    one, two = load_litbank(data_home=tmp_path, download=False).X
    assert (one.id, two.id) == ("1_a", "2_b")
    (tmp_path / "litbank_coref.tsv").unlink()
    with zipfile.ZipFile(tmp_path / "litbank.zip", "w") as archive:
        archive.writestr("litbank-3e50db0/coref/conll/1_a_brat.conll", CONLL)
        archive.writestr("litbank-3e50db0/coref/tsv/1_a_brat.ann", "something else")
    with pytest.raises(ValueError, match=r"litbank\.zip does not have the documents of LitBank"):
        load_litbank(data_home=tmp_path, download=False)
    whole = Document("1_a", ["Lord", "Chancellor"], mentions=[(0, 2)], entities=[0])
    monkeypatch.setattr(_document_corpora, "LITBANK_SHA256", content_sha256([whole]))
    [document] = load_litbank(data_home=tmp_path, download=False).X
    assert document.id == "1_a"
    assert document.mention_text(0) == "Lord Chancellor"


def test_amalgum_leaves_out_what_does_not_match(tmp_path):
    text = GUM.format("x").replace("Entity=(1-person-new)", "Entity=(person-1)person-2)")
    (tmp_path / "amalgum_news.conllu").write_text(text)
    [document] = load_amalgum_news(data_home=tmp_path).X
    assert len(document) == 1


@pytest.mark.parametrize("load", [load_gum, load_litbank, load_amalgum_news, load_wikinews])
def test_missing_files_are_named(tmp_path, load):
    with pytest.raises(FileNotFoundError, match="SKLEARN_CALIB_DATA"):
        load(data_home=tmp_path, download=False)


@pytest.mark.parametrize(
    ("load", "name"), [(load_gum, "gum_train.conllu"), (load_litbank, "litbank_coref.tsv")]
)
def test_empty_files_are_named(tmp_path, load, name):
    (tmp_path / name).write_text("\n")
    with pytest.raises(ValueError, match="has no documents"):
        load(data_home=tmp_path, download=False)


def litbank_zip(folder, *members):
    with zipfile.ZipFile(folder / "litbank.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members:
            archive.writestr(f"litbank-3e50db0/coref/conll/{name}.conll", text)


def test_archives_whose_files_have_hostile_names(tmp_path):
    for name in ("\x1b[31m\n", "a" * 60_000):
        litbank_zip(tmp_path, (name, b"\xff"))
        with pytest.raises(ValueError, match=r"litbank\.zip:.*, line 1: not UTF-8 text") as caught:
            load_litbank(data_home=tmp_path, download=False)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1000


def test_a_document_of_an_archive_that_cannot_be_read_is_named(tmp_path):
    litbank_zip(tmp_path, ("1_a", CONLL), ("2_b", "one\n"))
    with pytest.raises(
        ValueError, match=r"litbank\.zip, file '.*2_b\.conll': .*line 1: a line has"
    ):
        load_litbank(data_home=tmp_path, download=False)


@pytest.mark.parametrize("text", [b"\n" * 60_000_000, b"a\t_\n" * 15_000_000])
def test_archives_of_millions_of_lines(tmp_path, text):
    litbank_zip(tmp_path, ("1_a", text))
    assert (tmp_path / "litbank.zip").stat().st_size < 1e6
    with within_limits(), pytest.raises(ValueError, match=r"litbank\.zip.* expands to more than"):
        load_litbank(data_home=tmp_path, download=False)


@pytest.mark.parametrize(
    "date", ["0000-01-01", "2012-02-30", "\u0662\u0660\u0661\u0662-05-20", "none"]
)
def test_dates_that_are_none_stay_in_the_metadata(tmp_path, date):
    text = GUM.format("x").replace("2017-08-24", date)
    (tmp_path / "amalgum_news.conllu").write_text(text, encoding="utf-8")
    [document] = load_amalgum_news(data_home=tmp_path).X
    assert document.date is None
    assert document.metadata["dateCreated"] == date


@pytest.mark.parametrize(
    "lines",
    [
        ["# newdoc id = a"] * 60_000,
        ["# newdoc id = a", *["# speaker = b"] * 60_000],
        ["# newdoc id = a", *(f"# meta::k{i} = 1" for i in range(50_000))],
        ["# newdoc id = a", "# text = x", "1-999999999\tabc" + "\t_" * 8, "1\ta" + "\t_" * 8],
        ["# newdoc id = a", "# text = x", "5-1\tabc" + "\t_" * 8, "1\ta" + "\t_" * 8],
        ["# newdoc id = a", *(f"{i}\ta\ta\tX\tX\t_\t{i - 1}\tx\t_\t_" for i in range(1, 38_000))],
        ["# newdoc id = a", *(f"{i}\ta\ta\tX\tX\t_\t{i + 1}\tx\t_\t_" for i in range(1, 38_000)),
         "38000\ta\ta\tX\tX\t_\t0\troot\t_\t_"],
    ],
    ids=["documents", "speakers", "metadata", "wide", "backwards", "chain", "chain back"],
)  # fmt: skip
def test_documents_that_were_made_to_be_slow(tmp_path, lines):
    text = "\n".join(lines) + "\n"
    assert len(text) < 1_200_000
    (tmp_path / "gum_train.conllu").write_text(text)
    with within_limits():
        load_gum(data_home=tmp_path, download=False)
