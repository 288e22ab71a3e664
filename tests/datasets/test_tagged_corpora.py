"""Loaders of tagged sentences read the trimmed files and the originals."""

import gzip
import hashlib
import io
import pickle
import zipfile
from dataclasses import FrozenInstanceError, replace

import pytest

from sklearn_calib.datasets import (
    _sentiment140,
    _tagged_corpora,
    load_ark_tweets,
    load_conll2000,
    load_sentiment140,
    load_ud_ewt,
)

pytestmark = pytest.mark.usefixtures("any_checksum")

CONLL = "It PRP B-NP\nrained VBD B-VP\n. . O\n\nOh UH B-INTJ\n\n"


EWT_TSV = "# sent_id = a-1\nIt\tPRP\tPRON\nrained\tVBD\tVERB\n\n# sent_id = a-2\n#\tNN\tSYM\n"


EWT_CONLLU = """\
# newdoc id = a
# sent_id = a-1
# text = It rained
1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2-3\trained\t_\t_\t_\t_\t_\t_\t_\t_
2\trained\train\tVERB\tVBD\t_\t0\troot\t_\t_
2.1\tagain\tagain\tADV\tRB\t_\t_\t_\t_\t_

# sent_id = a-2
# text = #
1\t#\t#\tSYM\tNN\t_\t0\troot\t_\t_

"""


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/") + ".txt", content)
    return stream.getvalue()


def forms(text):
    """The same text in every dress: gzipped, with CRLF, with no newline at the end."""
    yield "", text.encode()
    yield ".gz", gzip.compress(text.encode())
    yield "", text.replace("\n", "\r\n").encode()
    yield "", text.rstrip("\n").encode()
    yield "", b"\xef\xbb\xbf" + text.encode()


@pytest.mark.parametrize("form", range(5))
def test_conll2000_in_every_form(tmp_path, form):
    for text in (CONLL, CONLL.replace(" ", "\t")):
        end, content = list(forms(text))[form]
        (tmp_path / f"conll2000_train.tsv{end}").write_bytes(content)
        corpus = load_conll2000(data_home=tmp_path, download=False)
        assert corpus.X == [["It", "rained", "."], ["Oh"]]
        assert corpus.y == [["PRP", "VBD", "."], ["UH"]]
    chunks = load_conll2000(tags="chunk", data_home=tmp_path, download=False)
    assert chunks.y == [["B-NP", "B-VP", "O"], ["B-INTJ"]]


@pytest.mark.parametrize("form", range(5))
def test_ud_ewt_in_every_form(tmp_path, form):
    for name, text in (("en_ewt-ud-dev.conllu", EWT_CONLLU), ("ud_ewt_dev.tsv", EWT_TSV)):
        end, content = list(forms(text))[form]
        (tmp_path / f"{name}{end}").write_bytes(content)
        corpus = load_ud_ewt(split="dev", data_home=tmp_path, download=False)
        assert corpus.metadata["paths"] == [str(tmp_path / f"{name}{end}")]
        assert corpus.X == [["It", "rained"], ["#"]]
        assert corpus.y == [["PRP", "VBD"], ["NN"]]
        assert corpus.metadata["sent_id"] == ["a-1", "a-2"]
        corpus = load_ud_ewt(split="dev", tags="upos", data_home=tmp_path, download=False)
        assert corpus.y == [["PRON", "VERB"], ["SYM"]]
        (tmp_path / f"{name}{end}").unlink()


def test_ark_tweets_are_cut_into_their_splits(tmp_path):
    tweets = "".join(f"{i}\tN\n\n" for i in range(1827))
    (tmp_path / "oct27.conll").write_text(tweets)
    parts = [
        load_ark_tweets(split=split, data_home=tmp_path, download=False)
        for split in ("train", "dev", "test")
    ]
    assert [len(part) for part in parts] == [1000, 327, 500]
    assert [token for part in parts for (token,) in part.X] == [str(i) for i in range(1827)]
    (tmp_path / "oct27.conll").write_text("one\tN\n")
    with pytest.raises(ValueError, match="has 1 tweets, and all 1827 are expected"):
        load_ark_tweets(data_home=tmp_path)
    (tmp_path / "oct27.conll").unlink()
    (tmp_path / "ark_twpos_test.tsv").write_text("#\t,\n# hash\tN\n")
    assert load_ark_tweets(split="test", data_home=tmp_path).X == [["#", "# hash"]]


@pytest.mark.parametrize(
    ("line", "found"),
    [("It PRP", "['It', 'PRP']"), ("It PRP B-NP x", "'x'"), ("It\t\tB-NP", "['It', '', 'B-NP']")],
)
def test_a_malformed_line_is_named(tmp_path, line, found):
    (tmp_path / "conll2000_train.tsv").write_text(f"{CONLL}{line}\n{CONLL}")
    with pytest.raises(ValueError, match=r"conll2000_train.tsv, line 7: 3 columns") as caught:
        load_conll2000(data_home=tmp_path)
    assert found in str(caught.value)


def test_an_empty_file_and_unknown_options(tmp_path):
    (tmp_path / "conll2000_train.tsv").write_text("\n\n")
    with pytest.raises(ValueError, match="has no sentences"):
        load_conll2000(data_home=tmp_path)
    (tmp_path / "sentiment140_20k.tsv").write_text("label\tid\tdate\ttext\n")
    with pytest.raises(ValueError, match="has no tweets"):
        load_sentiment140(data_home=tmp_path)
    with pytest.raises(ValueError, match="split='dev' is not known"):
        load_conll2000(split="dev", data_home=tmp_path)
    with pytest.raises(ValueError, match="tags='ner' is not known"):
        load_ud_ewt(tags="ner", data_home=tmp_path)
    with pytest.raises(ValueError, match="subset='tiny' is not known"):
        load_sentiment140(subset="tiny", data_home=tmp_path)


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "conll2000_train.tsv.gz").write_bytes(gzip.compress(CONLL.encode())[:-9])
    with pytest.raises(ValueError, match=r"conll2000_train.tsv.gz, line \d+: .* damaged"):
        load_conll2000(data_home=tmp_path)


def test_the_variable_names_the_folder(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"cache.sklearn_calib \(there is no such folder\)"):
        load_conll2000(download=False)
    (tmp_path / "conll2000_train.tsv").write_text(CONLL)
    monkeypatch.setenv("SKLEARN_CALIB_DATA", str(tmp_path))
    corpus = load_conll2000(download=False)
    assert repr(corpus) == "CoNLL-2000 train: 2 sentences, 4 tokens, 4 tags"
    assert pickle.loads(pickle.dumps(corpus)).X == corpus.X
    with pytest.raises(FrozenInstanceError):
        corpus.X = []


def test_download_of_conll2000(web, tmp_path, monkeypatch, capsys):
    folder, address = web
    content = zipped(conll2000__train=CONLL, conll2000__test="So RB O\n")
    (folder / "conll2000.zip").write_bytes(content)
    made = _tagged_corpora._conll2000_source

    def source(split):
        return replace(
            made(split),
            url=f"{address}/conll2000.zip",
            sha256=hashlib.sha256(content).hexdigest(),
        )

    monkeypatch.setattr(_tagged_corpora, "_conll2000_source", source)
    assert len(load_conll2000(data_home=tmp_path)) == 2
    assert "Licence: none stated" in capsys.readouterr().err
    corpus = load_conll2000(split="test", data_home=tmp_path, download=False)
    assert corpus.X == [["So"]]
    assert corpus.licence.startswith("none stated")


def test_no_address_of_a_branch_that_moves():
    sources = [
        *map(_tagged_corpora._conll2000_source, ("train", "test")),
        *map(_tagged_corpora._ark_source, _tagged_corpora._ARK_PARTS),
        *map(_tagged_corpora._ewt_source, _tagged_corpora._EWT_SHA256),
        *_sentiment140._SOURCES.values(),
    ]
    for source in sources:
        assert len(source.sha256) == 64
        assert "/master/" not in source.url
        assert source.url.endswith(source.name)
