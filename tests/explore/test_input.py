"""What counting refuses, and which document its messages name."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_calib.coref import AntecedentModel
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import (
    AgentRule,
    count_corpus,
    count_documents,
    count_tags,
    country_lexicon,
    rule_queries,
)
from tests.explore.test_counts import document, linked, samples, two_keys

DOCS = [document("a", entities=[0, 0]), document("b", entities=[0, 1])]
DRAWN = [samples(0.5)] * 2


@pytest.mark.parametrize("count", [count_documents, rule_queries])
def test_keys(count):
    with pytest.raises(ValueError, match="'yes' is named twice"):
        count(DOCS, DRAWN, linked, keys=["yes", "no", "yes"])
    with pytest.raises(TypeError, match=r"keys must be a list of keys, such as \['USA'\]"):
        count(DOCS, DRAWN, linked, keys="USA")
    with pytest.raises(TypeError, match=r"\['a'\] cannot be a key"):
        count(DOCS, DRAWN, linked, keys=[["a"]])
    count(DOCS, DRAWN, linked, keys=iter(["yes"]))


@pytest.mark.parametrize(
    ("options", "name"),
    [({"best": [[0, 0], None]}, "best"), ({"sample_weight": [3, None]}, "sample_weight")],
)
def test_gaps_are_refused(options, name):
    with pytest.raises(ValueError, match=f"{name} has None for document 1"):
        count_documents(DOCS, DRAWN, linked, **options)


def test_samples_that_are_not_numbers():
    with pytest.raises(ValueError, match="Document 'a': its samples contain NaN"):
        count_documents(DOCS, [[[0.0, np.nan]]] * 2, linked)


def test_a_period_is_checked_at_once():
    calls = []

    def period(document):
        calls.append(document.id)
        return [document.id]

    with pytest.raises(TypeError, match=r"'a': its period \['a'\] is not hashable"):
        count_documents(DOCS, DRAWN, linked, period=period)
    assert calls == ["a"]


def test_sentences_are_called_sentences():
    with pytest.raises(ValueError, match="samples ended after 1 sentences, but sentences did not"):
        count_tags([["a"], ["b"]], [[["N"]]])
    with pytest.raises(ValueError, match="Sentence 'sentence 1' has 2 samples, but those before"):
        count_tags([["a"], ["b"]], [[["N"]], [["N"], ["N"]]])
    with pytest.raises(ValueError, match="leave such sentences out"):
        count_tags([["a"]], [[["N"]]], dates=[None], period="Y")
    with pytest.raises(ValueError, match="There are no sentences to count"):
        count_tags([], [])


def test_counts_of_tags_are_small():
    post = count_tags([["a"] * 300], [[["N"] * 300, ["N"] * 2 + ["V"] * 298]])
    assert post.hit_counts.dtype == np.uint16
    assert count_tags([["a"]], [[["N"]]]).hit_counts.dtype == np.uint8


def test_pool_against_brute_force():
    rng = np.random.default_rng(0)
    docs = [document(str(i), n=4) for i in range(12)]
    drawn = [rng.integers(3, size=(25, 4)) for _ in docs]
    post = count_documents(
        docs, drawn, lambda d, e: "ABCD"[e[0]] if len(e) > 1 else None, best=[s[0] for s in drawn]
    )
    groups = {"AB": ["A", "B"], "none": [], "C": ["C"]}
    pooled = post.pool(groups)
    assert pooled.keys == ("AB", "none", "C")
    for at, (name, keys) in enumerate(groups.items()):
        for doc in range(12):
            mine = np.isin(post.hit_key, [post.keys.index(key) for key in keys])
            mine &= post.hit_document == doc
            rows = (pooled.hit_key == at) & (pooled.hit_document == doc)
            assert rows.sum() == min(1, mine.sum()), name
            if rows.any():
                [row] = np.flatnonzero(rows)
                expected = (post.hit_counts[mine] > 0).any(axis=0)
                np.testing.assert_array_equal(pooled.hit_counts[row], expected)
                assert pooled.hit_best[row] == (post.hit_best[mine] > 0).any()
                most = np.flatnonzero(mine)[np.argmax(post.hit_counts[mine].sum(axis=1))]
                assert pooled.hit_mentions[row] == post.hit_mentions[most]
    assert post.pool({"none": []}).mean.tolist() == [[0]]


def test_pool_wants_a_mapping():
    with pytest.raises(TypeError, match=r"groups must map each new key.*got list"):
        count_documents(DOCS, DRAWN, two_keys).pool(["A"])


def test_queries_of_a_model_that_knows_are_calibrated_at_the_ends():
    # 2,000 documents, 100 samples: the events that all samples have, or one of them. Shares of
    # samples as they are would promise that the former cannot fail.
    corpus = make_event_corpus(2000, random_state=0)
    drawn = corpus.model.sample(corpus.documents, 100, random_state=0)
    queries = rule_queries(corpus.documents, drawn, AgentRule(country_lexicon()))
    assert 0.0 < queries.y_prob.min() < queries.y_prob.max() < 1.0
    for end in (queries.y_prob.max(), queries.y_prob.min()):
        chosen = queries.y_prob == end
        assert chosen.sum() > 30
        slack = 3 * np.sqrt(end * (1 - end) / chosen.sum())
        assert abs(queries.y_true[chosen].mean() - end) < slack


def test_pooling_occurrences_must_say_how():
    drawn = [[["N", "V"]] * 30]
    counts = count_tags([["fish", "swim"]], drawn)
    assert counts.pool({"NV": ["N", "V"]}, how="sum").mean.tolist() == [[2.0]]
    assert counts.pool({"NV": ["N", "V"]}, how="any").mean.tolist() == [[1.0]]
    twice = count_tags([["fish", "fish", "swim"]], [[["N", "N", "V"]] * 30])
    with pytest.raises(ValueError, match="how='sum'"):
        twice.pool({"NV": ["N", "V"]})
    assert twice.pool({"NV": ["N", "V"]}, how="sum").mean.tolist() == [[3.0]]
    with pytest.raises(ValueError, match="how='all' is not known"):
        twice.pool({"NV": ["N", "V"]}, how="all")


def test_uncertain_counts_are_printed_with_their_spread():
    drawn = [[["N"] * 3 + ["V"] * 3] * 15 + [["N"] * 5 + ["V"]] * 15]
    [found] = count_tags([["a"] * 6], drawn).most_uncertain(1)
    assert "N 4.0 ± 1.0" in str(found) or "V 2.0 ± 1.0" in str(found)


def test_a_single_key_is_no_list():
    with pytest.raises(TypeError, match=r"keys must be a list of keys, such as \['yes'\]"):
        count_documents(DOCS, DRAWN, linked).select("yes")


def test_a_model_that_is_not_fitted_is_no_fault_of_a_document():
    with pytest.raises(NotFittedError):
        count_corpus(make_event_corpus(3, random_state=0).documents, AntecedentModel(), linked)
