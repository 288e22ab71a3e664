"""The conditional random field against CRFsuite itself."""

import gc
import os
import pickle
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sklearn_calib.datasets import make_chunked_sequences
from sklearn_calib.sequence import CRFTagger
from sklearn_calib.sequence._token_features import FEATURES
from tests.literal_spans import literal_spans
from tests.sequence.chains import enumerate_chain
from tests.sequence.text import sentences

sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")

X, y = sentences()


def ready(item):
    """Return the same features for every token."""
    return [[item] * len(sentence) for sentence in X]


def crfsuite_marginals(crf, features, classes):
    return np.array(
        [[token[c] for c in classes] for row in crf.predict_marginals(features) for token in row]
    )


@pytest.mark.parametrize("features", ["word", "rich"])
@pytest.mark.parametrize("options", [{}, {"c1": 0.3, "c2": 0.01}, {"all_possible_transitions": 1}])
def test_marginals_equal_crfsuites(features, options):
    tagger = CRFTagger(features=features, **options).fit(X[:12], y[:12])
    crf = tagger.crf_
    made = FEATURES[features].attributes(X)
    expected = crfsuite_marginals(crf, made, tagger.classes_)
    np.testing.assert_allclose(tagger.predict_proba(X), expected, rtol=0, atol=1e-12)
    assert [list(row) for row in crf.predict(made)] == tagger.predict(X)


def test_pair_marginals_equal_enumeration():
    tagger = CRFTagger(c2=0.1).fit(
        [["a", "b", "b"], ["b", "a"], ["a"]], [["X", "Y", "X"], ["Y", "X"], ["Z"]]
    )
    sentence = ["b", "new", "a", "b"]
    expected = enumerate_chain(tagger._potentials([sentence]), tagger._log_transitions)
    got = tagger.predict_proba([sentence], unit="pair", pairs=[("X", "Y"), ("Z", "Z")])
    np.testing.assert_allclose(got, expected[1][:, [0, 2], [1, 2]], rtol=0, atol=1e-12)


def dict_features(tokens):
    return [
        {
            "word": token,
            "upper": token[0].isupper(),
            "length": len(token) / 7,
            "parts": {"first": token[0], "letters": set(token[-2:]), "n": 2},
            "list": [token[:2], token[:1]],
        }
        for token in tokens
    ]


@pytest.mark.parametrize("make", [dict_features, lambda tokens: [[t, t[:1], t] for t in tokens]])
def test_every_kind_of_ready_features(make):
    made = [make(tokens) for tokens in X]
    tagger = CRFTagger(features=None, c2=0.1).fit(made[:12], y[:12])
    expected = crfsuite_marginals(tagger.crf_, made, tagger.classes_)
    np.testing.assert_allclose(tagger.predict_proba(made), expected, rtol=0, atol=1e-12)
    by_callable = CRFTagger(features=make, c2=0.1).fit(X[:12], y[:12])
    np.testing.assert_array_equal(by_callable.predict_proba(X), tagger.predict_proba(made))
    direct = sklearn_crfsuite.CRF(c2=0.1).fit(made[:12], y[:12])
    expected = crfsuite_marginals(direct, made, tagger.classes_)
    np.testing.assert_allclose(tagger.predict_proba(made), expected, rtol=0, atol=1e-9)


def test_strange_words():
    strange = [["a\0b", "a\0c", "naïve", "日本", "tab\there", "x:y", "new\nline", " "]]
    tags = [list("ABABABAB")]
    for features in ("word", "rich"):
        tagger = CRFTagger(features=features, c2=0.01).fit(strange, tags)
        made = FEATURES[features].attributes(strange)
        expected = crfsuite_marginals(tagger.crf_, made, tagger.classes_)
        np.testing.assert_allclose(tagger.predict_proba(strange), expected, rtol=0, atol=1e-12)


def test_large_feature_values():
    # CRFsuite itself gives NaN here, because it exponentiates raw scores.
    made = [[{"a": 1.0}, {"b": 1.0}]] * 5
    tagger = CRFTagger(features=None, c2=0.001).fit(made, [["X", "Y"]] * 5)
    proba = tagger.predict_proba([[{"a": 5000.0}, {"b": 5000.0}]])
    np.testing.assert_allclose(proba, np.eye(2), rtol=0, atol=1e-12)


def test_wrapping_a_fitted_crf_and_a_file(tmp_path):
    made = FEATURES["rich"].attributes(X)
    crf = sklearn_crfsuite.CRF(c2=0.1).fit(made, y)
    expected = None
    path = tmp_path / "my.crfsuite"
    path.write_bytes(Path(crf.modelfile.name).read_bytes())
    for source in (crf, path, str(path)):
        tagger = CRFTagger.from_crfsuite(source)
        expected = crfsuite_marginals(crf, made, tagger.classes_)
        np.testing.assert_allclose(tagger.predict_proba(made), expected, rtol=0, atol=1e-12)
        assert tagger.predict_proba(made, unit="pair", pairs=3).shape[1] == 3
    named = CRFTagger.from_crfsuite(path, features="rich")
    np.testing.assert_allclose(named.predict_proba(X), expected, rtol=0, atol=1e-12)
    trained = CRFTagger(features="rich", c2=0.1).fit(X, y)
    assert set(named.pairs_) == set(trained.pairs_)


def test_wrapping_refuses_other_things(tmp_path):
    with pytest.raises(ValueError, match="neither a model file nor a fitted CRF"):
        CRFTagger.from_crfsuite(sklearn_crfsuite.CRF())
    with pytest.raises(FileNotFoundError):
        CRFTagger.from_crfsuite(tmp_path / "absent")


def open_files():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def test_no_file_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.collect()
    before = open_files()
    tagger = CRFTagger(features="rich").fit(X, y)
    again = pickle.loads(pickle.dumps(tagger))
    np.testing.assert_array_equal(again.predict_proba(X), tagger.predict_proba(X))
    assert again.crf_.predict_single(FEATURES["rich"].attributes(X)[0])
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    assert open_files() == before


def test_a_pickle_holds_the_model_once():
    tagger = CRFTagger(features="rich").fit(X, y)
    tagger.predict(X)
    assert len(pickle.dumps(tagger)) < len(tagger.model_) + 20_000


def test_progress_on_request(capsys):
    CRFTagger(max_iterations=2).fit(X, y)
    assert capsys.readouterr().out == ""
    CRFTagger(max_iterations=2, verbose=True).fit(X, y)
    assert "Iter 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({"features": "all"}, X, "features='all' is not known; it should be one of"),
        ({"features": ["w"]}, X, r"features=\['w'\] is not known"),
        ({"features": None}, X, "The features of token 0 of sentence 0 are 'The'.*features='word'"),
        ({"features": lambda tokens: tokens}, X, "token 0 of sentence 0 are 'The'"),
        ({"features": lambda tokens: None}, X, "features returned None for sentence 0"),
        ({"features": lambda tokens: []}, X, "features returned 0 items for the 8 tokens of sent"),
        ({"features": None}, ready({1: 2.0}), "token 0 of sentence 0 .*the key 1 is not a string"),
        ({"features": None}, ready({"a": np.nan}), "'a' has the value nan"),
        ({"features": None}, ready({"a": None}), "'a' has the value None"),
        ({"features": None}, ready({"a": b"x"}), "'a' has the value b'x'"),
        ({"features": None}, ready({"a": [1]}), "1 is not a string"),
        ({"features": None}, ready([b"x"]), "b'x' is not a string"),
        ({"features": "word"}, ready({"a": 1}), r"X\[0\]\[0\] is .* tokens must"),
        ({"c2": -1}, X, "c2 must be a finite number from 0"),
        ({"max_iterations": "x"}, X, "max_iterations must be an integer"),
        ({"max_iterations": -1}, X, "max_iterations must be at least 1"),
    ],
)
def test_wrong_features(options, data, message):
    with pytest.raises((ValueError, TypeError), match=message):
        CRFTagger(**options).fit(data, y)


def test_any_number_is_a_penalty():
    one = CRFTagger(c2=Fraction(1, 10)).fit(X, y)
    two = CRFTagger(c2=0.1).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_wrapping_takes_over_the_options():
    crf = sklearn_crfsuite.CRF(c1=0.3, c2=0.01, max_iterations=7)
    crf.fit(FEATURES["word"].attributes(X), y)
    tagger = CRFTagger.from_crfsuite(crf, features="word")
    wanted = {"c1": 0.3, "c2": 0.01, "max_iterations": 7, "features": "word"}
    assert {name: tagger.get_params()[name] for name in wanted} == wanted
    same = CRFTagger.from_crfsuite(Path(crf.modelfile.name).read_bytes(), features="word")
    np.testing.assert_array_equal(same.predict_proba(X), tagger.predict_proba(X))


def test_features_that_the_model_never_met():
    crf = sklearn_crfsuite.CRF().fit([[{"w": token} for token in s] for s in X], y)
    tagger = CRFTagger.from_crfsuite(crf)
    with pytest.warns(UserWarning, match=r"knows none of the features in X.*such as \['w:The'"):
        tagger.predict([[{"word": token} for token in s] for s in X])


def test_not_fitted():
    assert not hasattr(CRFTagger(), "crf_")


SPELLINGS = {
    "BIO": ("B", "I", "I", "B"),
    "BIOES": ("B", "I", "E", "S"),
    "BILOU": ("B", "I", "L", "U"),
    "IO": ("I", "I", "I", "I"),
}


def respelled(tags, scheme):
    """Return BIO tags in another scheme."""
    first, inside, last, single = SPELLINGS[scheme]
    made = list(tags) if scheme != "IO" else [tag.replace("B-", "I-") for tag in tags]
    for start, stop, kind in literal_spans(tags, "BIO"):
        prefixes = [first, *[inside] * (stop - start - 2), last] if stop - start > 1 else [single]
        made[start:stop] = [f"{prefix}-{kind}" for prefix in prefixes]
    return made


def loose_tags(taggings, scheme):
    """Return how many tags are in no span, although they are not O."""
    return sum(
        sum(tag != "O" for tag in tags) - sum(j - i for i, j, _ in literal_spans(tags, scheme))
        for tags in taggings
    )


@pytest.mark.parametrize("scheme", SPELLINGS)
def test_constraints_leave_no_loose_tag(scheme):
    data = make_chunked_sequences(150, n_words=40, random_state=0)
    y = [respelled(tags, scheme) for tags in data.y]
    free = CRFTagger(c2=3.0).fit(data.X[:60], y[:60])
    held = CRFTagger(c2=3.0, constraints=scheme).fit(data.X[:60], y[:60])
    X = data.X[60:]

    def drawn(tagger):
        return [tags.tolist() for own in tagger.sample(X, 20, random_state=0) for tags in own]

    if scheme != "IO":
        assert loose_tags(free.predict(X), scheme) + loose_tags(drawn(free), scheme) > 0
    assert loose_tags(held.predict(X), scheme) == 0
    assert loose_tags(drawn(held), scheme) == 0
    best = [tags for own in held.predict_k_best(X[:9], 5) for tags, _ in own]
    assert loose_tags(best, scheme) == 0
    proba = held.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    # All that is not outside is in a span.
    outside = proba[:, held.classes_.tolist().index("O")]
    covered = np.zeros(len(outside))
    starts = np.cumsum([0, *map(len, X)])
    spans = held.predict_spans(X, min_proba=0.0, scheme=scheme)
    for start, own in zip(starts[:-1], spans, strict=True):
        for span in own:
            covered[start + span.start : start + span.stop] += span.proba
    np.testing.assert_allclose(covered, 1.0 - outside, rtol=0, atol=1e-11)
    assert np.isfinite(held.log_likelihood(X, y[60:])).all()


@pytest.mark.parametrize("scheme", ["BIO", "BIOES"])
def test_constraints_condition_on_well_formed_taggings(scheme):
    data = make_chunked_sequences(60, n_types=1, n_words=30, mean_length=4, random_state=1)
    y = [respelled(tags, scheme) for tags in data.y]
    X = [tokens[:5] for tokens in data.X]
    free = CRFTagger(c2=3.0).fit(data.X, y)
    held = CRFTagger(c2=3.0, constraints=scheme).fit(data.X, y)
    for tokens in X[:15]:
        *_, paths, share = enumerate_chain(free.log_potentials([tokens]), free.log_transitions_)
        tags = [free.classes_[list(path)].tolist() for path in paths]
        share = share * [loose_tags([own], scheme) == 0 for own in tags]
        share /= share.sum()
        expected = np.zeros((len(tokens), len(free.classes_)))
        for path, weight in zip(paths, share, strict=True):
            expected[np.arange(len(tokens)), path] += weight
        np.testing.assert_allclose(held.predict_proba([tokens]), expected, rtol=0, atol=1e-12)
        assert held.predict([tokens])[0] == tags[int(share.argmax())]


def test_constraints_of_a_wrapped_model():
    data = make_chunked_sequences(100, n_words=40, random_state=0)
    free = CRFTagger(c2=3.0).fit(data.X, data.y)
    held = CRFTagger(c2=3.0, constraints="BIO").fit(data.X, data.y)
    wrapped = CRFTagger.from_crfsuite(free.model_, features="word", constraints="BIO")
    np.testing.assert_array_equal(wrapped.predict_proba(data.X), held.predict_proba(data.X))
    again = pickle.loads(pickle.dumps(held))
    np.testing.assert_array_equal(again.predict_proba(data.X), held.predict_proba(data.X))
    # As with every parameter: what is set after fitting waits for the next fit.
    held.set_params(constraints=None)
    np.testing.assert_array_equal(again.predict_proba(data.X), held.predict_proba(data.X))


def test_constraints_that_do_not_fit():
    with pytest.raises(ValueError, match="constraints='IOB' is not known"):
        CRFTagger(constraints="IOB").fit(X, y)
    with pytest.raises(ValueError, match="constraints='BIO' has tags such as"):
        CRFTagger(constraints="BIO").fit(X, y)
    tokens, tags = [["a", "b"], ["b"], ["a", "b"]], [["B-X", "I-X"], ["I-X"], ["O", "I-X"]]
    with pytest.warns(UserWarning, match="2 of 3 training sentences .* sentence 1 with 'I-X' at"):
        tagger = CRFTagger(constraints="BIO").fit(tokens, tags)
    np.testing.assert_array_equal(np.isfinite(tagger.log_likelihood(tokens, tags)), [1, 0, 0])


def test_features_whose_scores_leave_the_range_of_a_float():
    X = [[{"a": 1.0}, {"b": 1.0}], [{"b": 1.0}]]
    tagger = CRFTagger(features=None, c2=0.1).fit(X, [["A", "B"], ["B"]])
    with pytest.raises(ValueError, match="The matrix of scores contains"):
        tagger.predict_proba([[{"a": 1e308}]])
