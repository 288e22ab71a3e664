"""Antecedent models in files."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sklearn_calib.coref
from sklearn_calib.coref import (
    AntecedentModel,
    Document,
    _model_file,
    find_mentions,
    load_antecedent_model,
    save_antecedent_model,
    surface_features,
)
from sklearn_calib.datasets import make_coref_documents
from tests.limits import within_limits


@pytest.fixture(scope="module")
def documents():
    return make_coref_documents(25, random_state=0).X


@pytest.fixture(scope="module", params=["surface", ["surface", "extended"]], ids=str)
def model(request, documents):
    return AntecedentModel(features=request.param, max_antecedents=30, min_count=2).fit(documents)


def saved(model, folder, **options):
    path = folder / "model.npz"
    save_antecedent_model(model, path, **options)
    return path


def test_a_model_comes_back(model, documents, tmp_path):
    again = load_antecedent_model(saved(model, tmp_path))
    assert again.get_params() == model.get_params()
    assert again.types_ == model.types_
    assert (again.loss_, again.n_iter_) == (model.loss_, model.n_iter_)
    # Weights are kept in single precision.
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-6, atol=1e-30)
    new = make_coref_documents(5, random_state=1).X
    for one, two in zip(
        again.predict_antecedent_proba(new), model.predict_antecedent_proba(new), strict=True
    ):
        np.testing.assert_allclose(one, two, atol=1e-5)
    assert clone(again).fit(documents).n_iter_ == model.n_iter_
    # The same model makes the same file.
    first = (tmp_path / "model.npz").read_bytes()
    assert saved(again, tmp_path).read_bytes() == first


def test_small_weights_can_be_left_out(model, tmp_path):
    least = float(np.quantile(np.abs(model.coef_), 0.9))
    size = saved(model, tmp_path).stat().st_size
    path = saved(model, tmp_path, min_weight=least)
    assert path.stat().st_size < size
    kept = load_antecedent_model(path).coef_
    large = np.abs(model.coef_) >= least
    np.testing.assert_allclose(kept, np.where(large, model.coef_, 0.0), rtol=1e-6)


def test_parameters_that_changed_after_training_do_not_count(documents, tmp_path):
    model = AntecedentModel(max_antecedents=10).fit(documents)
    model.set_params(max_antecedents=None, features="extended")
    again = load_antecedent_model(saved(model, tmp_path))
    assert (again.max_antecedents, again.features) == (10, "surface")


def test_what_cannot_be_saved_is_refused(documents, tmp_path):
    path = tmp_path / "model.npz"
    with pytest.raises(NotFittedError):
        save_antecedent_model(AntecedentModel(), path)
    with pytest.raises(TypeError, match="model must be an AntecedentModel, got str"):
        save_antecedent_model("english", path)
    own = AntecedentModel(features=["extended", surface_features]).fit(documents[:5])
    with pytest.raises(TypeError, match="functions cannot be saved"):
        save_antecedent_model(own, path)
    assert not path.exists()
    with pytest.raises(ValueError, match="min_weight must be a finite number from 0"):
        save_antecedent_model(AntecedentModel().fit(documents[:5]), path, min_weight=-1)


def test_files_that_are_something_else(tmp_path):
    path = tmp_path / "other.npz"
    with pytest.raises(FileNotFoundError, match=r"no model 'englisch': it should be one of 'eng"):
        load_antecedent_model("englisch")
    with pytest.raises(TypeError, match="source must be a name or a path, got int"):
        load_antecedent_model(3)
    path.write_bytes(b"not a zip file")
    with pytest.raises(ValueError, match=r"other\.npz is not a model .*: it cannot be read"):
        load_antecedent_model(path)
    with path.open("wb") as file:
        np.savez(file, a=np.arange(3))
    with pytest.raises(ValueError, match="it does not hold the arrays of one"):
        load_antecedent_model(path)
    with path.open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(ValueError, match=r"is not a model"):
        load_antecedent_model(path)


class Bomb:
    """Says so when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a file was unpickled",))


def test_nothing_is_unpickled(model, tmp_path):
    path = saved(model, tmp_path)
    with np.load(path) as archive:
        arrays = dict(archive)
    with path.open("wb") as file:
        np.savez(file, **{**arrays, "weights": np.array([Bomb()], dtype=object)})
    with pytest.raises(ValueError, match=r"it cannot be read \(Object arrays"):
        load_antecedent_model(path)


def test_files_that_unpack_to_too_much_are_refused(model, tmp_path, monkeypatch):
    path = saved(model, tmp_path)
    monkeypatch.setattr(_model_file, "_MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"cannot be read \([0-9,]+ bytes when unpacked\)"):
        load_antecedent_model(path)


def changed(path, *, entries=None, **arrays):
    """Write the file again with a part of its header, or an array, replaced."""
    with np.load(path) as archive:
        content = dict(archive)
    text = json.loads(content["header"].tobytes())
    for key, value in (entries or {}).items():
        *way, last = key.split(".")
        place = text
        for step in way:
            place = place[step]
        place[last] = value
    content["header"] = np.frombuffer(json.dumps(text).encode(), dtype=np.uint8)
    content |= {name: change(content[name]) for name, change in arrays.items()}
    with path.open("wb") as file:
        np.savez(file, **content)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": "x"}, "its header is another one's"),
        ({"version": 2}, "was written in version 2 of the format, and this release reads"),
        ({"parameters": {}}, "its parameters are not those"),
        ({"parameters.features": ["os.system"]}, "it has the features .*those known are"),
        ({"parameters.features": []}, "it has the features"),
        ({"parameters.min_count": 1.5}, "must be whole numbers"),
        ({"parameters.max_antecedents": "3"}, "must be whole numbers"),
        ({"types": ["a", "a"]}, "types of mentions"),
        ({"values": {"head": [1]}}, "values of its features"),
        ({"sizes": {"distance": -1}}, "sizes of its pair features"),
        ({"loss": "low"}, "its loss"),
        ({"sizes": {"distance": 10**9}}, "it claims to have"),
    ],
)
def test_headers_are_checked(model, tmp_path, header, message):
    path = saved(model, tmp_path)
    changed(path, entries=header)
    with pytest.raises(ValueError, match=message):
        load_antecedent_model(path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("header", lambda a: a[:-1], "its header is broken"),
        ("typed", lambda a: a.astype(float), "'typed' does not rise"),
        ("typed", lambda a: a * 1000, "'typed' goes up to"),
        ("places", lambda a: np.append(a, a.dtype.type(0)), "'places' does not rise"),
        ("places", lambda a: a * 1000, "'places' goes up to"),
        ("weights", lambda a: a[1:], "do not fit their places"),
        ("weights", lambda a: a.astype(float), "do not fit their places"),
        ("weights", lambda a: np.where(a == a[0], np.float32(np.nan), a), "not finite"),
    ],
)
def test_arrays_are_checked(model, tmp_path, name, change, message):
    path = saved(model, tmp_path)
    changed(path, **{name: change})
    with pytest.raises(ValueError, match=message):
        load_antecedent_model(path)


NEWS = (
    "Israel/Israel/PROPN/2/nsubj attacked/attack/VERB/0/root Lebanon/Lebanon/PROPN/2/obj "
    "././PUNCT/2/punct | Its/its/PRON/2/nmod:poss army/army/NOUN/3/nsubj crossed/cross/VERB/0/root "
    "the/the/DET/5/det border/border/NOUN/3/obj ././PUNCT/3/punct | The/the/DET/2/det "
    "president/president/NOUN/3/nsubj said/say/VERB/0/root that/that/SCONJ/6/mark "
    "he/he/PRON/6/nsubj regretted/regret/VERB/3/ccomp the/the/DET/8/det attack/attack/NOUN/6/obj "
    "on/on/ADP/10/case Lebanon/Lebanon/PROPN/8/nmod ././PUNCT/3/punct"
)


def news():
    """Return a short text of three sentences with its parse and the mentions found in it."""
    layers = {name: [] for name in ("tokens", "lemmas", "upos", "heads", "relations")}
    starts = []
    for sentence in NEWS.split(" | "):
        start = len(layers["tokens"])
        starts.append(start)
        for word in sentence.split():
            form, lemma, upos, head, relation = word.split("/")
            row = (form, lemma, upos, int(head) + start - 1 if head != "0" else -1, relation)
            for values, value in zip(layers.values(), row, strict=True):
                values.append(value)
    doc = Document("news", layers.pop("tokens"), sentence_starts=starts, **layers)
    return doc.replace(mentions=find_mentions(doc))


def test_the_english_model():
    model = load_antecedent_model()
    assert model.features == "extended"
    doc = news()
    texts = [doc.mention_text(i) for i in range(len(doc))]
    assert texts == [
        "Israel", "Lebanon", "Its", "Its army", "the border", "The president", "he",
        "the attack on Lebanon", "Lebanon",
    ]  # fmt: skip
    [links] = model.predict_proba([doc])
    link = {(a, b): links[i, j] for i, a in enumerate(texts) for j, b in enumerate(texts) if i < j}
    assert link["Lebanon", "Lebanon"] > 0.8
    assert link["The president", "he"] > 0.5
    assert link["Israel", "Its"] > 2 * link["Lebanon", "Its"]
    assert link["The president", "he"] > 2 * link["Israel", "he"]
    assert link["Lebanon", "the border"] < 0.1


def test_the_english_model_is_small_and_its_sources_are_named():
    folder = Path(sklearn_calib.coref.__file__).parent / "data"
    assert (folder / "english.npz").stat().st_size < 3_000_000
    notice = (folder / "english_notice.txt").read_text("utf-8")
    documents = re.findall(r"^GUM_(\w+?)_\w+; [^;]+; .+; https?://\S+$", notice, re.MULTILINE)
    licences = dict(re.findall(r"^(\w+): (CC BY\S*.*)$", notice, re.MULTILINE))
    assert len(documents) > 100
    assert set(documents) == set(licences)
    assert not any("NC" in licence for licence in licences.values())


def test_damage_anywhere_is_refused_by_name(model, documents, tmp_path):
    path = saved(model, tmp_path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(len(whole), size=150):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            load_antecedent_model(path).predict(documents[:1])
        except ValueError as error:
            refused += 1
            assert "model.npz is not a model" in str(error)  # noqa: PT017
            assert len(str(error)) < 1000  # noqa: PT017
    assert refused > 75


def test_files_of_others_are_left_alone(model, tmp_path):
    path = tmp_path / "model.npz"
    np.savez(path, mine=np.arange(3))
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is not a model that save_antecedent_model wrote"):
        save_antecedent_model(model, path)
    assert path.read_bytes() == before
    save_antecedent_model(model, path, force=True)
    save_antecedent_model(model, path)  # a model may be replaced by another
    path.write_text("text")
    with pytest.raises(ValueError, match="is not a model that save_antecedent_model wrote"):
        save_antecedent_model(model, path)


def test_a_small_file_of_a_large_model_is_refused(model, tmp_path):
    path = saved(model, tmp_path)
    with np.load(path) as archive:
        arrays = dict(archive)
    with path.open("wb") as file:
        np.savez_compressed(file, **{**arrays, "weights": np.zeros(50_000_000, np.float32)})
    assert path.stat().st_size < 1e6
    with within_limits(), pytest.raises(ValueError, match="bytes when unpacked"):
        load_antecedent_model(path)


def test_a_window_that_holds_all_antecedents(documents):
    model = AntecedentModel(max_antecedents=10**30).fit(documents[:5])
    whole = AntecedentModel().fit(documents[:5])
    np.testing.assert_array_equal(model.coef_, whole.coef_)
