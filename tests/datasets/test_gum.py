"""GUM is downloaded from one commit, document by document, and held to its content."""

import sys
from dataclasses import replace

import pytest

from sklearn_calib.datasets import _document_corpora, load_gum
from sklearn_calib.datasets._gum import COMMIT, checksum, gum_checksums, gum_source, pruned

# In the manner of the original: comments, enhanced dependencies and remarks of many kinds.
FULL = """\
# newdoc id = GUM_{0}
# global.Entity = GRP-etype-infstat-salience-centering-minspan-link-identity
# meta::dateCreated = 2023-06-27
# meta::genre = court
# meta::salientEntities = 4 (5*), 26 (5*)
# meta::summary1 = (human) Ada is = here.
# meta::title = A case
# newpar
# newpar_block = sp who:::"#Ada" (26 s)
# sent_id = GUM_{0}-1
# s_type = decl
# speaker = Ada
# addressee = All
# text = I'm Ada.
1-2\tI'm\t_\t_\t_\t_\t_\t_\t_\t_
1\tI\tI\tPRON\tPRP\tCase=Nom\t3\tnsubj\t3:nsubj|4:x\tDiscourse=joint:4->3:0:_|Entity=(4-person)|PDTB=NoRel:_
2\t'm\tbe\tAUX\tVBP\t_\t3\tcop\t3:cop\t_
3\tAda\tAda\tPROPN\tNNP\t_\t0\troot\t0:root\tBridge=1<2|Entity=(4-person)|MSeg=A-da|SpaceAfter=No|XML=<w></w>
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_

"""

PRUNED = """\
# newdoc id = GUM_{0}
# global.Entity = GRP-etype-infstat-salience-centering-minspan-link-identity
# meta::dateCreated = 2023-06-27
# meta::genre = court
# meta::title = A case
# sent_id = GUM_{0}-1
# speaker = Ada
# text = I'm Ada.
1-2\tI'm\t_\t_\t_\t_\t_\t_\t_\t_
1\tI\tI\tPRON\tPRP\tCase=Nom\t3\tnsubj\t_\tEntity=(4-person)
2\t'm\tbe\tAUX\tVBP\t_\t3\tcop\t_\t_
3\tAda\tAda\tPROPN\tNNP\t_\t0\troot\t_\tBridge=1<2|Entity=(4-person)|SpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_
"""

NAMES = ["GUM_a", "GUM_b", "GUM_c"]


@pytest.fixture
def corpus(web, monkeypatch):
    """A corpus of three documents on a web server; gives the folder that is served."""
    folder, address = web
    for name in NAMES:
        (folder / f"{name}.conllu").write_text(FULL.format(name[4:]))
    expected = {name: checksum(PRUNED.format(name[4:]).split("\n")) for name in NAMES}
    monkeypatch.setattr(_document_corpora, "gum_checksums", lambda split: expected)
    source = lambda split: replace(gum_source(split), url=f"{address}/")  # noqa: E731
    monkeypatch.setattr(_document_corpora, "gum_source", source)
    return folder


def cached(home, name):
    return home / f"gum-{COMMIT[:7]}" / f"{name}.conllu"


def test_the_original_and_what_is_kept_of_it_have_one_checksum():
    full, kept = (text.format("a").split("\n") for text in (FULL, PRUNED))
    assert list(pruned(full))[:-1] == kept
    assert list(pruned(kept)) == kept
    assert checksum(pruned(full)) == checksum(kept)
    for old, new in [("nsubj", "obj"), ("(4-person)", "(5-person)"), ("I'm Ada", "I'm Eda")]:
        assert checksum(FULL.format("a").replace(old, new).split("\n")) != checksum(kept)


def test_every_document_has_a_checksum():
    names = [list(gum_checksums(split)) for split in ("train", "dev", "test")]
    assert [len(part) for part in names] == [177, 30, 30]
    every = [name for part in names for name in part]
    assert len(set(every)) == len(every)
    assert all(name.startswith("GUM_") and "reddit" not in name for name in every)
    sums = {value for split in ("train", "dev", "test") for value in gum_checksums(split).values()}
    assert len(sums) == len(every)
    assert all(len(value) == 64 and int(value, 16) for value in sums)
    assert gum_checksums("other") == {}


def test_addresses_name_a_commit():
    assert gum_source("dev").url.startswith("https://raw.githubusercontent.com/amir-zeldes/gum/")
    assert COMMIT in gum_source("dev").url


def test_a_download_shows_progress_and_happens_once(corpus, tmp_path, capsys):
    home = tmp_path / "home"
    loaded = load_gum(split="dev", data_home=home)
    assert [document.id for document in loaded.X] == NAMES
    assert loaded.metadata["paths"] == [str(cached(home, name)) for name in NAMES]
    said = capsys.readouterr().err
    assert said.count("Licence: CC BY 4.0") == 1
    assert "3/3" in said
    for path in corpus.iterdir():
        path.unlink()
    again = load_gum(split="dev", data_home=home, download=False)
    assert [document.id for document in again.X] == NAMES
    assert capsys.readouterr().err == ""


def test_only_what_the_checksum_covers_is_handed_out(corpus, tmp_path):
    [document, *_] = load_gum(split="dev", data_home=tmp_path).X
    assert dict(document.metadata) == {
        "dateCreated": "2023-06-27",
        "genre": "court",
        "title": "A case",
    }
    assert document.tokens.tolist() == ["I", "'m", "Ada", "."]
    assert document.speakers.tolist() == ["Ada"]
    assert document.text == "I'm Ada. "[: len(document.text)]


def test_a_download_goes_on_where_it_was_interrupted(corpus, tmp_path):
    text = (corpus / "GUM_b.conllu").read_text()
    (corpus / "GUM_b.conllu").unlink()
    with pytest.raises(OSError, match=r"GUM: .* could not be downloaded to .*404.*GUM_b\.conllu"):
        load_gum(split="dev", data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"gum-72ce5ac lacks GUM_b\.conllu and 1 others"):
        load_gum(split="dev", data_home=tmp_path, download=False)
    (corpus / "GUM_a.conllu").unlink()  # it is not asked for again
    (corpus / "GUM_b.conllu").write_text(text)
    assert len(load_gum(split="dev", data_home=tmp_path)) == 3


@pytest.mark.parametrize("damage", ["", "half", "\0", "# newdoc id = GUM_b\n1\tNo\n"])
def test_a_damaged_document_is_named_and_fetched_again(corpus, tmp_path, damage):
    load_gum(split="dev", data_home=tmp_path)
    path = cached(tmp_path, "GUM_b")
    path.write_text(damage)
    with pytest.raises(ValueError, match=r"GUM_b\.conllu is not the document that was expected"):
        load_gum(split="dev", data_home=tmp_path, download=False)
    assert len(load_gum(split="dev", data_home=tmp_path)) == 3
    assert path.read_text() == FULL.format("b")


def test_what_is_not_text_is_named_too(corpus, tmp_path):
    load_gum(split="dev", data_home=tmp_path)
    cached(tmp_path, "GUM_c").write_bytes(b"# newdoc\n\xff\xfe")
    with pytest.raises(ValueError, match=r"GUM_c\.conllu, line 2: not UTF-8 text"):
        load_gum(split="dev", data_home=tmp_path, download=False)


def test_another_document_than_expected_is_not_kept(corpus, tmp_path):
    (corpus / "GUM_b.conllu").write_text(FULL.format("b").replace("nsubj", "obj"))
    with pytest.raises(OSError, match=r"GUM_b\.conllu sent is not the file that was expected"):
        load_gum(split="dev", data_home=tmp_path)
    assert not cached(tmp_path, "GUM_b").exists()
    assert cached(tmp_path, "GUM_a").exists()


def test_a_planted_file_does_not_shadow_the_documents(corpus, tmp_path):
    (tmp_path / "gum_dev.conllu").write_text(PRUNED.format("own"))
    assert [document.id for document in load_gum(split="dev", data_home=tmp_path).X] == ["GUM_own"]
    (tmp_path / "gum_dev.conllu").unlink()
    load_gum(split="dev", data_home=tmp_path)
    (tmp_path / "gum_dev.conllu").write_text(PRUNED.format("own"))
    assert [document.id for document in load_gum(split="dev", data_home=tmp_path).X] == NAMES


def test_addresses_that_others_could_answer_for(corpus, tmp_path, monkeypatch):
    source = replace(gum_source("dev"), url="http://example.org/")
    monkeypatch.setattr(_document_corpora, "gum_source", lambda split: source)
    with pytest.raises(ValueError, match="does not begin with https://"):
        load_gum(split="dev", data_home=tmp_path)


@pytest.mark.parametrize("name", ["pooch", "tqdm"])
def test_a_missing_package_names_the_extra(corpus, tmp_path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"sklearn-calib\[data\]"):
        load_gum(split="dev", data_home=tmp_path)
