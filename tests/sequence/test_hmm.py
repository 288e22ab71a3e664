"""The hidden Markov model against counts by hand, and against hmmlearn."""

import numpy as np
import pytest

from sklearn_calib.datasets import make_tagged_sequences
from sklearn_calib.sequence import HMMTagger, forward_backward
from tests.sequence.chains import enumerate_chain
from tests.sequence.text import sentences

hmm, vhmm = pytest.importorskip("hmmlearn.hmm"), pytest.importorskip("hmmlearn.vhmm")

X, y = sentences()


def concatenated(tagger, sentences):
    symbols = tagger._symbols(sentences, tagger.vocabulary_)
    return symbols.reshape(-1, 1), [len(sentence) for sentence in sentences]


def test_counts_by_hand():
    tagger = HMMTagger(
        transition_pseudocount=0.5, emission_pseudocount=2.0, unknown="dirichlet"
    ).fit([["a", "b"], ["a"]], [["X", "Y"], ["X"]])
    np.testing.assert_allclose(tagger.hmm_.startprob_, [2.5 / 3, 0.5 / 3])
    np.testing.assert_allclose(tagger.hmm_.transmat_, [[0.25, 0.75], [0.5, 0.5]])
    # Words a and b, and the unknown word.
    np.testing.assert_allclose(
        tagger.hmm_.emissionprob_, [[4 / 8, 2 / 8, 2 / 8], [2 / 7, 3 / 7, 2 / 7]]
    )
    assert tagger.vocabulary_ == {"a": 0, "b": 1}


def test_the_estimate_is_the_mode_of_hmmlearns_prior():
    # hmmlearn's M-step for known states is prior - 1 + counts, normalised.
    tagger = HMMTagger(transition_pseudocount=0.7).fit(X, y)
    model = hmm.CategoricalHMM(len(tagger.classes_), transmat_prior=1.7, params="t")
    model.n_features, model.startprob_ = tagger.hmm_.n_features, tagger.hmm_.startprob_
    model.transmat_, model.emissionprob_ = tagger.hmm_.transmat_, tagger.hmm_.emissionprob_
    stats = model._initialize_sufficient_statistics()
    for tags in y:
        codes = tagger._codes(tags)
        np.add.at(stats["trans"], (codes[:-1], codes[1:]), 1)
    stats["nobs"] = len(y)
    model._do_mstep(stats)
    np.testing.assert_allclose(model.transmat_, tagger.hmm_.transmat_, rtol=1e-12)


@pytest.mark.parametrize("unknown", ["signature", "hapax", "uniform", "dirichlet"])
def test_marginals_equal_hmmlearns(unknown):
    tagger = HMMTagger(unknown=unknown, emission_pseudocount=0.1).fit(X[:10], y[:10])
    np.testing.assert_allclose(tagger.hmm_.emissionprob_.sum(axis=1), 1.0)
    expected = tagger.hmm_.predict_proba(*concatenated(tagger, X))
    np.testing.assert_allclose(tagger.predict_proba(X), expected, rtol=0, atol=1e-10)
    log_prob, path = tagger.hmm_.decode(*concatenated(tagger, X))
    assert [t for row in tagger.predict(X) for t in row] == tagger.classes_[path].tolist()
    assert np.isfinite(log_prob)


def test_pair_marginals_equal_enumeration():
    tagger = HMMTagger().fit([["a", "b", "b"], ["b", "a"]], [["X", "Y", "X"], ["Y", "X"]])
    sentence = ["b", "new", "a", "b"]
    with np.errstate(divide="ignore"):
        expected = enumerate_chain(tagger._potentials([sentence]), np.log(tagger.hmm_.transmat_))
    pairs = [("X", "Y"), ("Y", "Y")]
    got = tagger.predict_proba([sentence], unit="pair", pairs=pairs)
    np.testing.assert_allclose(got, expected[1][:, [0, 1], [1, 1]], rtol=0, atol=1e-12)


def test_an_unknown_word_without_evidence_leaves_the_choice_to_the_context():
    tagger = HMMTagger(unknown="uniform").fit(X, y)
    alone = tagger.predict_proba([["zzz"]])[0]
    np.testing.assert_allclose(alone, tagger.hmm_.startprob_, rtol=1e-12)


def test_signatures_use_the_ending():
    stems = ["slow", "quick", "soft", "loud", "warm", "cold", "dark", "bright"]
    words = [[stem + "ly"] for stem in stems] + [[stem + "ness"] for stem in stems]
    tags = [["B"]] * len(stems) + [["N"]] * len(stems)
    tagger = HMMTagger(unknown="signature").fit(words, tags)
    assert tagger.predict([["newly"], ["newness"]]) == [["B"], ["N"]]
    # Without the endings, all of these words are alike.
    alike = HMMTagger(unknown="hapax").fit(words, tags)
    np.testing.assert_allclose(alike.predict_proba([["newly"]]), [[0.5, 0.5]])


def test_zero_pseudocounts():
    tagger = HMMTagger(transition_pseudocount=0, emission_pseudocount=0, unknown="uniform")
    tagger.fit([["a", "b"]], [["X", "Y"]])
    np.testing.assert_array_equal(tagger.predict_proba([["a", "b"]]), np.eye(2))
    # Y was never followed by anything: every tag may follow.
    np.testing.assert_array_equal(tagger.hmm_.transmat_[1], [0.5, 0.5])
    with pytest.raises(ValueError, match="Sentence 1 is impossible under the model: at token 1"):
        tagger.predict([["a", "b"], ["a", "a"]])


def test_wrapping_a_gaussian_model():
    rng = np.random.default_rng(0)
    model = hmm.GaussianHMM(2, random_state=0)
    data = np.concatenate([rng.normal(0, 1, (50, 2)), rng.normal(5, 1, (50, 2))])
    model.fit(data, [50, 50])
    tagger = HMMTagger.from_hmmlearn(model, classes=["z", "a"])
    assert tagger.classes_.tolist() == ["a", "z"]
    parts = [data[:30], data[30:75]]
    expected = model.predict_proba(data[:75], [30, 45])[:, ::-1]
    np.testing.assert_allclose(tagger.predict_proba(parts), expected, rtol=0, atol=1e-10)
    path = model.predict(data[:75], [30, 45])
    assert [t for row in tagger.predict(parts) for t in row] == [["z", "a"][s] for s in path]


def test_observations_that_do_not_fit():
    model = hmm.GaussianHMM(2)
    model.n_features = 3
    model.startprob_, model.transmat_ = np.array([0.5, 0.5]), np.full((2, 2), 0.5)
    model.means_, model.covars_ = np.zeros((2, 3)), np.ones((2, 3))
    tagger = HMMTagger.from_hmmlearn(model, ["a", "b"])
    with pytest.raises(ValueError, match="Sentence 1 has 2 features per token; 3 are needed"):
        tagger.predict([np.zeros((4, 3)), np.zeros((4, 2))])
    with pytest.raises(ValueError, match="Sentence 0 must hold finite numbers"):
        tagger.predict([np.full((4, 3), np.nan)])
    data = make_tagged_sequences(3, n_words=10, random_state=0)
    plain = HMMTagger.from_hmmlearn(data.true_tagger().hmm_, data.classes)
    for symbol in (-1, 10):
        with pytest.raises(ValueError, match="Sentence 1 has a symbol outside 0 to 9"):
            plain.predict([[1], [2, symbol]])
    with pytest.raises(ValueError, match="for words pass vocabulary"):
        plain.predict([["w1"]])
    with pytest.raises(ValueError, match="sequence of integer symbols"):
        plain.predict([[0.5]])
    assert plain.predict_proba([[3]]).shape == (1, 5)


def test_wrapping_a_categorical_model():
    data = make_tagged_sequences(20, random_state=0)
    tagger = data.true_tagger()
    symbols = [[data.vocabulary.index(w) for w in s] for s in data.X]
    plain = HMMTagger.from_hmmlearn(tagger.hmm_, data.classes)
    np.testing.assert_allclose(
        tagger.predict_proba(data.X), plain.predict_proba(symbols), rtol=0, atol=1e-12
    )
    with pytest.raises(ValueError, match=r"Sentence 1 has the word 'zzz', which is not"):
        tagger.predict([["w001"], ["zzz"]])
    joint = dict(zip(tagger.pairs_, range(1000), strict=False))
    assert len(joint) == 25


def test_wrapping_refuses_what_does_not_fit():
    model = hmm.CategoricalHMM(2)
    with pytest.raises(ValueError, match="2 hidden states, but classes names 3"):
        HMMTagger.from_hmmlearn(model, list("abc"))
    with pytest.raises(ValueError, match="fit it first"):
        HMMTagger.from_hmmlearn(model, list("ab"))
    model.transmat_, model.emissionprob_ = np.full((2, 2), 0.5), np.full((2, 3), 1 / 3)
    with pytest.raises(ValueError, match="names a word twice"):
        HMMTagger.from_hmmlearn(model, list("ab"), vocabulary=["a", "a", "b"])
    for vocabulary, message in [
        ({"a": 3}, "symbols from 0 to 2"),
        ({"a": 1.5}, "must be an integer"),
        ({1: 1}, "words must be strings"),
        ([], "vocabulary is empty"),
        ("abc", "must be a list of words"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            HMMTagger.from_hmmlearn(model, list("ab"), vocabulary=vocabulary)
    with pytest.raises(TypeError, match="tags must be strings"):
        HMMTagger.from_hmmlearn(model, [0, 1])
    with pytest.raises(TypeError, match="A model of hmmlearn is needed, got dict"):
        HMMTagger.from_hmmlearn({}, ["a", "b"])
    gaussian = hmm.GaussianHMM(2)
    gaussian.transmat_ = np.full((2, 2), 0.5)
    with pytest.raises(ValueError, match="GaussianHMM is none"):
        HMMTagger.from_hmmlearn(gaussian, list("ab"), vocabulary=["x"])


def test_wrapping_a_variational_model():
    model = vhmm.VariationalCategoricalHMM(2, n_features=4, random_state=0, n_iter=5)
    symbols = np.random.default_rng(0).integers(0, 4, size=(60, 1))
    model.fit(symbols, [30, 30])
    tagger = HMMTagger.from_hmmlearn(model, ["a", "b"], vocabulary=list("wxyz"))
    words = [["wxyz"[i] for i in part[:, 0]] for part in (symbols[:30], symbols[30:])]
    potentials = np.log(model.emissionprob_[:, symbols[:, 0]].T)
    for start in (0, 30):
        potentials[start] += np.log(model.startprob_)
    expected = forward_backward(potentials, np.log(model.transmat_), [30, 30]).proba
    np.testing.assert_allclose(tagger.predict_proba(words), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"unknown": "guess"}, ValueError, "unknown='guess' is not known"),
        (
            {"emission_pseudocount": -1.0},
            ValueError,
            "emission_pseudocount must be a finite",
        ),
        (
            {"transition_pseudocount": "1"},
            TypeError,
            "transition_pseudocount must be a finite",
        ),
    ],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        HMMTagger(**options).fit(X, y)


def test_tokens_must_be_strings():
    with pytest.raises(TypeError, match=r"X\[1\]\[0\] is 3 \(int\): tokens must be strings"):
        HMMTagger().fit([["a"], [3]], [["X"], ["X"]])
