"""What holds for every tagger: scikit-learn's manners, queries, bad input."""

import pickle
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    cross_val_score,
    cross_validate,
    learning_curve,
)

from sklearn_calib import (
    AdaptiveBinCalibrationError,
    AdaptiveCalibrationDisplay,
    LabelCalibrationDisplay,
    _validation_sequences,
    adaptive_bin_calibration_error,
    calibration_error_interval,
    calibration_null,
    calibration_test,
    estimator_queries,
    label_calibration,
)
from sklearn_calib.datasets import make_chunked_sequences, make_tagged_sequences
from sklearn_calib.queries import span_queries
from sklearn_calib.sequence import (
    HMMTagger,
    _tagger,
    forward_backward,
    k_best_sequences,
    sample_sequences,
    span_probabilities,
    viterbi,
)
from tests.sequence.text import sentences

X, y = sentences()
CHUNKED = make_chunked_sequences(120, n_words=60, random_state=0)


NAME = "neg_adaptive_bin_calibration_error"


def test_shapes_and_sums(fitted):
    n = sum(map(len, X))
    proba = fitted.predict_proba(X)
    assert proba.shape == (n, len(fitted.classes_))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert proba.max() <= 1.0
    assert list(fitted.classes_) == sorted({t for row in y[:12] for t in row})
    np.testing.assert_array_equal(np.exp(fitted.predict_log_proba(X[:1])).shape, proba[:8].shape)
    pairs = fitted.predict_proba(X, unit="pair", pairs=5)
    assert pairs.shape == (n - len(X), 5)
    assert fitted.predict_proba(X, unit="pair").shape[1] == len(fitted.pairs_)


def test_pairs_are_most_frequent_first(fitted):
    count = {}
    for tags in y[:12]:
        for pair in pairwise(tags):
            count[pair] = count.get(pair, 0) + 1
    assert [count[pair] for pair in fitted.pairs_] == sorted(count.values(), reverse=True)
    assert set(fitted.pairs_) == set(count)


def test_all_pairs_sum_to_tags(fitted):
    k = len(fitted.classes_)
    every = [(a, b) for a in fitted.classes_ for b in fitted.classes_]
    pairs = fitted.predict_proba(X, unit="pair", pairs=every).reshape(-1, k, k)
    tags = fitted.predict_proba(X)
    starts = np.cumsum([0] + [len(s) for s in X[:-1]])
    later = np.setdiff1d(np.arange(len(tags)), starts)
    np.testing.assert_allclose(pairs.sum(axis=1), tags[later], rtol=0, atol=1e-12)


def test_decoding_by_marginals(fitted):
    flat = [tag for row in fitted.predict(X, method="marginal") for tag in row]
    expected = fitted.classes_[fitted.predict_proba(X).argmax(axis=1)]
    assert flat == expected.tolist()
    with pytest.raises(ValueError, match="method='beam' is not known"):
        fitted.predict(X, method="beam")


def test_score_is_accuracy(fitted):
    predicted = [t for row in fitted.predict(X) for t in row]
    true = [t for row in y for t in row]
    assert fitted.score(X, y) == pytest.approx(np.mean(np.array(predicted) == np.array(true)))
    weight = np.arange(len(X), dtype=float)
    repeated = [s for s, w in zip(X, weight, strict=True) for _ in range(int(w))]
    tags = [s for s, w in zip(y, weight, strict=True) for _ in range(int(w))]
    assert fitted.score(X, y, sample_weight=weight) == pytest.approx(fitted.score(repeated, tags))


def test_samples_agree_with_marginals(fitted):
    draws = fitted.sample(X[:2], n_samples=4000, random_state=0)
    assert [part.shape for part in draws] == [(4000, len(s)) for s in X[:2]]
    found = np.concatenate(
        [np.stack([(part == c).mean(axis=0) for c in fitted.classes_], axis=1) for part in draws]
    )
    # Five standard errors of 4,000 draws.
    np.testing.assert_allclose(found, fitted.predict_proba(X[:2]), rtol=0, atol=5 * 0.5 / 63)


def test_log_likelihood_of_sequences(fitted):
    proba = fitted.predict_proba([["The"]])[0]
    for tag, p in zip(fitted.classes_, proba, strict=True):
        assert fitted.log_likelihood([["The"]], [[tag]]) == pytest.approx(np.log(p))
    assert fitted.log_likelihood([["The"]], [["unseen"]])[0] == -np.inf
    # A most probable sequence is at least as probable as the true one.
    best = fitted.log_likelihood(X, fitted.predict(X))
    true = [[t if t in fitted.classes_ else "N" for t in row] for row in y]
    assert (best >= fitted.log_likelihood(X, true) - 1e-9).all()
    assert (best <= 1e-12).all()


def test_clone_set_params_and_pickle(fitted):
    assert not is_classifier(fitted)
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_parameters_set_after_fitting_change_nothing(fitted):
    before = fitted.predict_proba(X)
    changed = {"unknown": "uniform"} if isinstance(fitted, HMMTagger) else {"features": "word"}
    fitted.set_params(**changed)
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


@pytest.mark.parametrize("ending", ["", "_macro", "_top_label", "_tag_pair"])
def test_scorer_strings(tagger, ending):
    scores = cross_val_score(tagger, X, y, scoring=NAME + ending, cv=3, error_score="raise")
    assert scores.shape == (3,)
    assert ((scores <= 0) & (scores >= -1)).all()


def test_grid_search_in_two_processes(tagger):
    name = "emission_pseudocount" if isinstance(tagger, HMMTagger) else "c2"
    search = GridSearchCV(
        tagger, {name: [0.01, 1.0]}, scoring=NAME, cv=2, n_jobs=2, error_score="raise"
    ).fit(X, y)
    assert search.best_params_[name] in (0.01, 1.0)
    assert len(search.predict(X)) == len(X)
    assert AdaptiveBinCalibrationError()(search, X, y) <= 0


def test_other_model_selection(tagger):
    name = "emission_pseudocount" if isinstance(tagger, HMMTagger) else "c2"
    halving = HalvingGridSearchCV(
        tagger, {name: [0.1, 1.0]}, cv=2, min_resources=4, random_state=0, scoring=NAME
    ).fit(X, y)
    assert halving.best_params_
    _, _, test = learning_curve(tagger, X, y, cv=2, train_sizes=[0.5, 1.0], scoring=NAME)
    assert np.isfinite(test).all()
    groups = np.arange(len(X)) // 4
    scores = cross_val_score(tagger, X, y, cv=GroupKFold(2), groups=groups, scoring=NAME)
    assert np.isfinite(scores).all()
    both = cross_validate(tagger, X, y, cv=2, scoring={"a": NAME, "b": f"{NAME}_tag_pair"})
    assert np.isfinite(both["test_a"]).all()
    assert np.isfinite(both["test_b"]).all()


def test_a_tag_missing_from_training(fitted):
    # "C" occurs in the last sentences only.
    assert "C" not in fitted.classes_
    queries = fitted.calibration_queries(X[12:], y[12:])
    unseen = queries.where(label="C")
    assert unseen.y_true.sum() == 2
    assert (unseen.y_prob == 0).all()
    assert -AdaptiveBinCalibrationError()(fitted, X[12:], y[12:]) == pytest.approx(
        adaptive_bin_calibration_error(queries)
    )


def test_queries_are_the_marginals(fitted):
    queries = fitted.calibration_queries(X[:12], y[:12])
    proba = fitted.predict_proba(X[:12])
    np.testing.assert_array_equal(queries.y_prob, proba.ravel())
    flat = np.array([t for row in y[:12] for t in row])
    np.testing.assert_array_equal(
        queries.y_true.reshape(proba.shape), flat[:, None] == fitted.classes_
    )
    sentence = np.repeat(np.arange(12), [len(s) for s in X[:12]])
    np.testing.assert_array_equal(queries.group, np.repeat(sentence, proba.shape[1]))


def test_pair_queries(fitted):
    queries = fitted.calibration_queries(X[:12], y[:12], unit="pair", pairs=3)
    assert queries.labels.tolist() == fitted.pairs_[:3]
    true = [pair for row in y[:12] for pair in pairwise(row)]
    for pair in fitted.pairs_[:3]:
        part = queries.where(label=pair)
        assert part.y_true.tolist() == [found == pair for found in true]
    table = label_calibration(queries)
    assert table.labels.tolist() == fitted.pairs_[:3]
    assert np.isfinite(table.most_common(2).mean_error)


def test_weights_of_sentences(fitted):
    weight = np.arange(len(X), dtype=float)
    repeated = [i for i in range(len(X)) for _ in range(i)]
    one = fitted.calibration_queries(X, y, sample_weight=weight)
    two = fitted.calibration_queries([X[i] for i in repeated], [y[i] for i in repeated])
    # A sentence among others may have marginals with other last bits, which split or tie its
    # copies: so queries are compared, and an error that has no bins to cut.
    copies = one.sample_weight.astype(int)
    for answer in (False, True):
        asked = one.y_true == answer
        expected = np.repeat(one.y_prob[asked], copies[asked])
        found = two.y_prob[two.y_true == answer]
        np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=1e-12)
    assert adaptive_bin_calibration_error(one, n_bins=1) == pytest.approx(
        adaptive_bin_calibration_error(two, n_bins=1), rel=1e-12
    )


def test_displays_of_a_tagger(fitted):
    display = AdaptiveCalibrationDisplay.from_estimator(fitted, X, y)
    assert display.line_ is not None
    pairs = AdaptiveCalibrationDisplay.from_estimator(
        fitted, X, y, query_options={"unit": "pair", "pairs": 10}
    )
    assert pairs.line_ is not None
    labels = LabelCalibrationDisplay.from_estimator(fitted, X, y)
    assert labels.ax_ is not None


@pytest.mark.parametrize(
    ("tokens", "tags", "message"),
    [
        ([["a"], ["b", "c"]], [["X"], ["Y"]], "Sentence 1 has 2 tokens, but 1 tags"),
        ([["a"], []], [["X"], []], r"X\[1\] is an empty sentence"),
        ([], [], "X is empty: at least one sentence"),
        ([["a"]], [["X"], ["Y"]], "X has 1 sentences, but y has 2"),
        ([["a"]], [[1]], r"y\[0\]\[0\] is 1 \(int\): tags must be strings"),
        (["ab"], [["X", "Y"]], r"X\[0\] is 'ab': every sentence must be a list of tokens"),
        ([["a"]], ["X"], r"y\[0\] is 'X': every sentence must be a list of tags"),
        ([{"a", "b"}], [["X", "Y"]], r"X\[0\] is .*every sentence must be a list"),
        ([{"a": 1}], [["X"]], r"X\[0\] is .*every sentence must be a list"),
        ([["a"]], [["X\0"]], "a tag must not hold a zero byte"),
        (pd.DataFrame({"a": ["b"]}), [["X"]], "X is a table"),
        ("ab", [["X"]], "X must be a list of sentences"),
        (None, [["X"]], "X must be a list of sentences"),
    ],
)
def test_bad_sentences(tagger, tokens, tags, message):
    with pytest.raises((ValueError, TypeError), match=message):
        tagger.fit(tokens, tags)


def test_other_kinds_of_sequences(fitted):
    expected = fitted.predict_proba(X)
    series = pd.Series(X, index=range(100, 100 + len(X)))
    objects = np.empty(len(X), dtype=object)
    objects[:] = X
    columns = [pd.Series(s, index=range(5, 5 + len(s))) for s in X]
    kinds = [series, objects, columns, [tuple(s) for s in X], [np.array(s) for s in X], iter(X)]
    for same in kinds:
        np.testing.assert_array_equal(fitted.predict_proba(same), expected)
    again = clone(fitted).fit(columns[:12], series.index.map(lambda i: y[i - 100])[:12])
    np.testing.assert_array_equal(again.predict_proba(X), expected)


def test_weights_of_scores_are_checked(fitted):
    for weight in ([1.0], np.zeros(len(X)), -np.ones(len(X))):
        with pytest.raises(ValueError, match="sample_weight"):
            fitted.score(X, y, sample_weight=weight)


def test_bad_questions(fitted):
    with pytest.raises(ValueError, match=r"Sentence 3 has 5 tokens, but 8 tags"):
        fitted.calibration_queries([*X[:3], X[3][:5]], [*y[:3], y[0]])
    with pytest.raises(ValueError, match="unit='word' is not known"):
        fitted.predict_proba(X, unit="word")
    with pytest.raises(ValueError, match="set unit='pair' as well"):
        fitted.predict_proba(X, pairs=3)
    with pytest.raises(ValueError, match="'XX' is not one of the tags"):
        fitted.predict_proba(X, unit="pair", pairs=[("D", "XX")])
    with pytest.raises(ValueError, match="pairs must be at least 1"):
        fitted.predict_proba(X, unit="pair", pairs=0)
    with pytest.raises(ValueError, match="names a pair twice"):
        fitted.predict_proba(X, unit="pair", pairs=[("D", "N"), ("D", "N")])
    with pytest.raises(ValueError, match="single token"):
        fitted.calibration_queries([["The"]], [["D"]], unit="pair")


def test_single_tokens_have_no_pairs(tagger):
    tagger.fit([["a"], ["b"]], [["X"], ["Y"]])
    assert tagger.pairs_ == []
    with pytest.raises(ValueError, match="The tagger knows no pair of tags"):
        tagger.predict_proba([["a"]], unit="pair")
    assert tagger.predict_proba([["a"]], unit="pair", pairs=[("X", "Y")]).shape == (0, 1)


def test_data_from_the_model_are_calibrated():
    data = make_tagged_sequences(1500, n_tags=4, n_words=60, word_concentration=0.5, random_state=3)
    truth = data.true_tagger()
    for options in ({}, {"unit": "pair"}):
        queries = truth.calibration_queries(data.X, data.y, **options)
        for statistic in ("omnibus", "binned"):
            test = calibration_test(
                queries, groups=queries.group, statistic=statistic, random_state=0
            )
            assert test.pvalue > 0.01
        assert adaptive_bin_calibration_error(queries, debias=True) < 0.01
        assert calibration_error_interval(queries).confidence_interval.low == 0
    # Another model of the same family, half as sure, is found out.
    wrong = HMMTagger(emission_pseudocount=50.0, unknown="uniform").fit(data.X, data.y)
    queries = wrong.calibration_queries(data.X, data.y)
    test = calibration_test(queries, groups=queries.group, statistic="binned")
    assert test.pvalue < 1e-6
    assert adaptive_bin_calibration_error(queries, debias=True) > 0.03


def test_fitting_approaches_the_true_model():
    data = make_tagged_sequences(6000, n_tags=3, n_words=20, random_state=0)
    fitted = HMMTagger(unknown="uniform").fit(data.X, data.y)
    np.testing.assert_allclose(fitted.hmm_.transmat_, data.transitions, rtol=0, atol=0.02)
    np.testing.assert_allclose(fitted.hmm_.startprob_, data.start, rtol=0, atol=0.03)


@pytest.mark.parametrize(
    "ask",
    [
        lambda tagger: tagger.predict(X),
        lambda tagger: tagger.predict_proba(X),
        lambda tagger: tagger.predict_proba(X, unit="pair", pairs=2),
        lambda tagger: tagger.predict_log_proba(X),
        lambda tagger: tagger.log_likelihood(X, y),
        lambda tagger: tagger.sample(X, 2),
        lambda tagger: tagger.score(X, y),
        lambda tagger: tagger.calibration_questions(X),
        lambda tagger: tagger.calibration_queries(X, y),
        lambda tagger: tagger.calibration_queries(X, y, unit="pair"),
    ],
)
def test_a_tagger_that_is_not_fitted_says_so(tagger, ask):
    with pytest.raises(NotFittedError):
        ask(tagger)


@pytest.mark.parametrize("options", [{}, {"unit": "pair"}, {"average": "top_label"}])
def test_one_prediction_serves_any_truth(fitted, options, monkeypatch):
    questions = fitted.calibration_questions(X, **options)
    expected = [fitted.calibration_queries(X, truth, **options) for truth in (y, fitted.predict(X))]
    predicted = fitted.predict(X)
    monkeypatch.setattr(type(fitted), "_potentials", None)  # from here on it cannot predict
    for truth, queries in zip((y, predicted), expected, strict=True):
        answered = questions.answer(truth)
        np.testing.assert_array_equal(answered.y_true, queries.y_true)
        np.testing.assert_array_equal(answered.y_prob, queries.y_prob)
        np.testing.assert_array_equal(answered.group, queries.group)
        assert list(answered.labels) == list(queries.labels)
    with pytest.raises(ValueError, match="X has 16 sentences, but y has 2"):
        questions.answer(y[:2])


def test_sentences_and_tags_are_checked_once(fitted, monkeypatch):
    seen = []
    check = _validation_sequences.check_sentences

    def counting(values, name="X", thing="tokens"):
        seen.append(thing)
        return check(values, name, thing)

    for module in (_validation_sequences, _tagger):
        monkeypatch.setattr(module, "check_sentences", counting)
    for check_range in ("check_probabilities", "check_y_prob"):
        monkeypatch.setattr(f"sklearn_calib.queries._tags.{check_range}", None)
    fitted.calibration_queries(X, y, unit="pair", pairs=3)
    assert seen == ["tokens", "tags"]


@pytest.fixture
def chunker(tagger):
    """A tagger that has seen sentences with spans."""
    return tagger.fit(CHUNKED.X[:80], CHUNKED.y[:80])


def lengths_of(rows):
    return [len(row) for row in rows]


def test_scores_are_all_that_the_posterior_needs(chunker):
    potentials, transitions = chunker.log_potentials(CHUNKED.X), chunker.log_transitions_
    n = lengths_of(CHUNKED.X)
    proba = forward_backward(potentials, transitions, n).proba
    np.testing.assert_allclose(chunker.predict_proba(CHUNKED.X), proba, rtol=0, atol=1e-15)
    assert viterbi(potentials, transitions, n).tolist() == [
        chunker.classes_.tolist().index(tag) for row in chunker.predict(CHUNKED.X) for tag in row
    ]
    drawn = sample_sequences(potentials, transitions, n, n_samples=2, random_state=0)
    expected = np.concatenate(chunker.sample(CHUNKED.X, 2, random_state=0), axis=1)
    assert (chunker.classes_[drawn] == expected).all()
    spans = span_probabilities(potentials, transitions, n, classes=chunker.classes_)
    assert spans == chunker.predict_spans(CHUNKED.X)
    best = k_best_sequences(potentials, transitions, n, k=2)
    assert [p for own in best for _, p in own] == [
        p for own in chunker.predict_k_best(CHUNKED.X, 2) for _, p in own
    ]


def test_scores_are_given_away_as_copies(chunker):
    before = chunker.predict_proba(CHUNKED.X)
    chunker.log_transitions_[:] = 0.0
    chunker.log_potentials(CHUNKED.X)[:] = 0.0
    np.testing.assert_array_equal(chunker.predict_proba(CHUNKED.X), before)


def test_spans_survive_a_pickle(chunker):
    again = pickle.loads(pickle.dumps(chunker))
    assert again.predict_spans(CHUNKED.X) == chunker.predict_spans(CHUNKED.X)


def test_spans_need_a_fitted_tagger(tagger):
    with pytest.raises(NotFittedError):
        tagger.predict_spans(CHUNKED.X)
    with pytest.raises(NotFittedError):
        tagger.log_potentials(CHUNKED.X)
    with pytest.raises(NotFittedError):
        tagger.predict_k_best(CHUNKED.X, 2)
    with pytest.raises(NotFittedError):
        _ = tagger.log_transitions_
    assert not hasattr(tagger, "log_transitions_")


def test_k_best_are_taggings_with_their_likelihood(chunker):
    best = chunker.predict_k_best(CHUNKED.X[:20], 3)
    assert [own[0][0] for own in best] == chunker.predict(CHUNKED.X[:20])
    for rank in range(3):
        ranked = [i for i, own in enumerate(best) if len(own) > rank]
        log_proba = chunker.log_likelihood(
            [CHUNKED.X[i] for i in ranked], [best[i][rank][0] for i in ranked]
        )
        np.testing.assert_allclose(
            np.exp(log_proba), [best[i][rank][1] for i in ranked], rtol=1e-9, atol=0
        )
    with pytest.raises(ValueError, match="k must be at least 1"):
        chunker.predict_k_best(CHUNKED.X, 0)


def test_queries_are_the_spans(chunker):
    for options in ({}, {"min_proba": 0.2}, {"min_proba": 0.0, "scheme": "BIO"}):
        queries = chunker.calibration_queries(CHUNKED.X, CHUNKED.y, unit="span", **options)
        spans = chunker.predict_spans(CHUNKED.X, **options)
        expected = span_queries(CHUNKED.y, spans)
        for name in ("y_prob", "y_true", "label", "group"):
            np.testing.assert_array_equal(getattr(queries, name), getattr(expected, name))
        assert queries.labels.tolist() == ["LOC", "ORG", "PER"]


def test_the_truth_does_not_choose_the_questions(chunker):
    asked = chunker.calibration_questions(CHUNKED.X, unit="span")
    one, two = asked.answer(CHUNKED.y), asked.answer([["O"] * len(row) for row in CHUNKED.y])
    np.testing.assert_array_equal(one.y_prob, two.y_prob)
    assert not two.y_true.any()
    assert one.y_true.any()
    missed = [
        chunker.calibration_questions(CHUNKED.X, unit="span", min_proba=p).missed_share(CHUNKED.y)
        for p in (0.0, 0.01, 0.3, 1.0)
    ]
    assert missed == sorted(missed)
    assert missed[0] < 0.02
    assert missed[-1] == 1.0


def test_types_that_the_tagger_never_met(chunker):
    other = [[tag.replace("PER", "DOG") for tag in row] for row in CHUNKED.y]
    queries = chunker.calibration_queries(CHUNKED.X, other, unit="span")
    assert "DOG" not in queries.labels
    assert not queries.where(label="PER").y_true.any()
    asked = chunker.calibration_questions(CHUNKED.X, unit="span", min_proba=0.0)
    share = sum(tag == "B-PER" for row in CHUNKED.y for tag in row)
    share /= sum(tag.startswith("B-") for row in CHUNKED.y for tag in row)
    assert asked.missed_share(other) == pytest.approx(share, abs=0.02)
    assert asked.missed_share(other) >= share


def test_every_statistic_takes_spans(chunker):
    queries = estimator_queries(
        chunker, CHUNKED.X[80:], CHUNKED.y[80:], unit="span", min_proba=0.05
    )
    assert 0.0 <= adaptive_bin_calibration_error(queries) <= 1.0
    assert calibration_error_interval(queries).confidence_interval.low >= 0.0
    assert 0.0 <= calibration_test(queries).pvalue <= 1.0
    assert label_calibration(queries).labels.tolist() == ["LOC", "ORG", "PER"]
    null = calibration_null(
        chunker, CHUNKED.X[80:], CHUNKED.y[80:], unit="span", n_simulations=20, random_state=0
    )
    assert len(null.errors) == 20


def test_weights_of_sentences_with_spans(chunker):
    weight = np.arange(40.0)
    repeated = [80 + i for i in range(40) for _ in range(i)]
    one = chunker.calibration_queries(
        CHUNKED.X[80:], CHUNKED.y[80:], unit="span", sample_weight=weight
    )
    two = chunker.calibration_queries(
        [CHUNKED.X[i] for i in repeated], [CHUNKED.y[i] for i in repeated], unit="span"
    )
    assert adaptive_bin_calibration_error(one, bin_size=50) == pytest.approx(
        adaptive_bin_calibration_error(two, bin_size=50)
    )


def test_the_scorer_string(tagger, chunker):
    scores = cross_val_score(
        tagger, CHUNKED.X, CHUNKED.y, scoring=f"{NAME}_span", cv=3, error_score="raise"
    )
    assert ((scores <= 0) & (scores >= -1)).all()
    queries = chunker.calibration_queries(CHUNKED.X, CHUNKED.y, unit="span", min_proba=0.1)
    scorer = AdaptiveBinCalibrationError(query_options={"unit": "span", "min_proba": 0.1})
    assert -scorer(chunker, CHUNKED.X, CHUNKED.y) == adaptive_bin_calibration_error(queries)
    macro = AdaptiveBinCalibrationError(average="macro", query_options={"unit": "span"})
    assert macro(chunker, CHUNKED.X, CHUNKED.y) <= 0


def test_displays_of_spans(chunker):
    options = {"query_options": {"unit": "span"}}
    curve = AdaptiveCalibrationDisplay.from_estimator(chunker, CHUNKED.X, CHUNKED.y, **options)
    assert curve.line_ is not None
    labels = LabelCalibrationDisplay.from_estimator(chunker, CHUNKED.X, CHUNKED.y, **options)
    names = {text.get_text().split()[0] for text in labels.ax_.get_yticklabels()}
    assert names >= {"LOC", "ORG", "PER"}
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "tag", "min_proba": 0.1}, "min_proba=0.1 is set, but unit='tag'"),
        ({"unit": "pair", "scheme": "BIO"}, "scheme='BIO' is set, but unit='pair'"),
        ({"unit": "span", "pairs": 3}, "pairs=3 is set, but unit='span'"),
        ({"unit": "span", "pos_label": "PER"}, "pos_label does not apply to unit='span'"),
        ({"unit": "span", "average": "top_label"}, "average='top_label' does not apply"),
        ({"unit": "span", "average": "mean"}, "average='mean' is not known"),
        ({"unit": "span", "min_proba": 2.0}, "min_proba must lie in"),
        ({"unit": "span", "scheme": "IOB"}, "scheme='IOB' is not known"),
        ({"unit": "span", "scheme": "IO"}, "scheme='IO' has tags such as I-PER and O, but"),
        ({"unit": "spans"}, "unit='spans' is not known"),
    ],
)
def test_options_that_do_not_fit(chunker, options, message):
    with pytest.raises(ValueError, match=message):
        chunker.calibration_queries(CHUNKED.X, CHUNKED.y, **options)


def test_there_is_no_table_of_spans(chunker):
    with pytest.raises(ValueError, match="predict_spans returns the spans"):
        chunker.predict_proba(CHUNKED.X, unit="span")


def test_tags_that_follow_no_scheme(tagger):
    tokens, tags = sentences()
    tagger.fit(tokens, tags)
    with pytest.raises(ValueError, match="follow no scheme of spans"):
        tagger.predict_spans(tokens)
    with pytest.raises(ValueError, match="follow no scheme of spans"):
        tagger.calibration_queries(tokens, tags, unit="span")


def test_training_without_a_span(tagger):
    outside = [["O"] * len(row) for row in CHUNKED.y[:10]]
    tagger.fit(CHUNKED.X[:10], outside)
    assert tagger.predict_spans(CHUNKED.X[:10], min_proba=0.0) == [[] for _ in range(10)]
    asked = tagger.calibration_questions(CHUNKED.X[:10], unit="span")
    assert len(asked.answer(CHUNKED.y[:10])) == 0
    assert asked.missed_share(CHUNKED.y[:10]) == 1.0
    with pytest.raises(ValueError, match="makes no queries about X"):
        AdaptiveBinCalibrationError(query_options={"unit": "span"})(
            tagger, CHUNKED.X[:10], CHUNKED.y[:10]
        )


def test_the_true_model_is_calibrated():
    data = make_chunked_sequences(1500, random_state=1)
    tagger = data.true_tagger()
    asked = tagger.calibration_questions(data.X, unit="span")
    result = calibration_error_interval(asked.answer(data.y))
    assert result.confidence_interval.low == 0.0
    # What is left out below one in a hundred is little.
    assert asked.missed_share(data.y) < 0.03
