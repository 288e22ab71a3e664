"""Counting: against brute force, against hand-worked cases, and with bad input."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.coref import Document
from sklearn_calib.explore import count_documents, count_tags, rule_queries
from sklearn_calib.explore._answers import distinct_entities
from sklearn_calib.explore._periods import end_of, label_of, period_of, span
from sklearn_calib.explore._sums import Distribution, empirical, sum_of


def document(id="d", n=2, date="2003-02-14", **options):
    return Document(id, ["w"] * n, mentions=[(i, i + 1) for i in range(n)], date=date, **options)


def linked(document, entity):
    """Holds for an entity with more than one mention."""
    return len(entity) > 1


def samples(p, n_samples=100):
    """Return samples of a document of two mentions that are linked with probability p."""
    rows = np.tile([0, 1], (n_samples, 1))
    rows[: round(p * n_samples), 1] = 0
    return rows


# --- distributions


def brute_force(probabilities):
    pmf = np.zeros(len(probabilities) + 1)
    for outcome in itertools.product([0, 1], repeat=len(probabilities)):
        chance = np.prod([p if y else 1 - p for p, y in zip(probabilities, outcome, strict=True)])
        pmf[sum(outcome)] += chance
    return pmf


@pytest.mark.parametrize("n", range(8))  # both parities
def test_poisson_binomial_is_exact(n):
    p = np.random.default_rng(n).random(n)
    parts = [Distribution(0, np.array([1 - q, q])) for q in p]
    np.testing.assert_allclose(sum_of(parts).probability, brute_force(p), atol=1e-14)


def test_sum_of_general_integers():
    rng = np.random.default_rng(0)
    draws = [rng.integers(-2, 3, size=5) for _ in range(4)]
    total = sum_of([empirical(values) for values in draws])
    sums = np.array([sum(row) for row in itertools.product(*draws)])
    for value in range(-10, 11):
        at = value - total.low
        found = total.probability[at] if 0 <= at < len(total.probability) else 0.0
        assert found == pytest.approx((sums == value).mean(), abs=1e-12)
    assert total.above(0) == pytest.approx((sums > 0).mean())
    assert total.quantile(0.5) == np.quantile(sums, 0.5, method="inverted_cdf")


# --- entities and rules


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_distinct_entities_against_brute_force(seed, n, n_samples):
    drawn = np.random.default_rng(seed).integers(-2, 3, size=(n_samples, n))
    row, entities, which = distinct_entities(drawn)
    found = sorted((int(r), tuple(entities[w].tolist())) for r, w in zip(row, which, strict=True))
    expected = sorted(
        (r, tuple(np.flatnonzero(drawn[r] == id).tolist()))
        for r in range(n_samples)
        for id in set(drawn[r].tolist())
    )
    assert found == expected
    assert len({tuple(entity.tolist()) for entity in entities}) == len(entities)


def test_rule_runs_once_for_each_distinct_entity():
    calls = []

    def rule(document, entity):
        calls.append(entity)
        return linked(document, entity)

    doc = document(n=3)
    drawn = [[0, 0, 2], [0, 0, 2], [5, 5, 1], [0, 1, 2], [0, 1, 1]]
    posterior = count_documents([doc], [drawn], rule, best=[[0, 1, 1]])
    assert sorted(calls) == [(0,), (0, 1), (1,), (1, 2), (2,)]
    assert posterior.keys == ("yes",)
    assert posterior.mean.tolist() == [[0.8]]
    assert posterior.best.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("returned", "keys"),
    [
        (None, ()),
        (False, ()),
        (True, ("yes",)),
        (np.True_, ("yes",)),
        ("a", ("a",)),
        (("a", "b"), (("a", "b"),)),
        (["a", "b", "a"], ("a", "b")),
        ({"b"}, ("b",)),
        ((k for k in "ab"), ("a", "b")),
        (3, (3,)),
        ([None, "a", False, np.False_], ("a",)),
        ([True], ("yes",)),
        (np.array(True), ("yes",)),
    ],
)
def test_what_a_rule_may_return(returned, keys):
    [doc] = [document(n=1)]
    assert count_documents([doc], [[[0]]], lambda d, e: returned).keys == keys


def test_unhashable_key():
    with pytest.raises(TypeError, match=r"Document 'd': the rule returned the key \[1\]"):
        count_documents([document()], [samples(0.5)], lambda d, e: [[1]])


# --- counts


def test_counts_by_hand():
    docs = [document("a"), document("b"), document("c", date="2003-08-01")]
    drawn = [samples(0.3), samples(0.6), samples(1.0)]
    post = count_documents(docs, drawn, linked, best=[[0, 1], [0, 0], [0, 0]])
    assert post.period_labels == ["2003-Q1", "2003-Q2", "2003-Q3"]
    np.testing.assert_allclose(post.mean[:, 0], [0.9, 0.0, 1.0])
    np.testing.assert_allclose(post.best[:, 0], [1, 0, 1])
    variance = (0.3 * 0.7 + 0.6 * 0.4) * 100 / 99
    np.testing.assert_allclose(post.standard_deviation[:, 0], [variance**0.5, 0, 0])
    np.testing.assert_allclose(post.standard_error[:, 0], [(variance / 100) ** 0.5, 0, 0])
    low, high = post.confidence_interval(0.9, method="exact")
    # P(0) = .28, P(1) = .54, P(2) = .18
    assert (low[0, 0], high[0, 0]) == (0, 2)
    low, high = post.confidence_interval(0.4, method="exact")
    assert (low[0, 0], high[0, 0]) == (1, 1)
    assert (low[1, 0], high[1, 0]) == (0, 0)
    assert (low[2, 0], high[2, 0]) == (1, 1)
    low, high = post.confidence_interval(0.95, method="normal")
    assert low[0, 0] == pytest.approx(0.9 - 1.959964 * variance**0.5)
    low, high = post.confidence_interval(0.95, method="quantile")
    assert (low[0, 0], high[0, 0]) == (0, 2)
    assert post.n_documents.tolist() == [2, 0, 1]
    np.testing.assert_allclose(post.probability("yes"), [0.3, 0.6, 1.0])
    frame = post.to_frame()
    assert frame["mean"].tolist() == pytest.approx([0.9, 0, 1])
    assert frame["period"].tolist() == post.period_labels
    assert "2003-Q2" in str(post)
    assert post.samples.shape == (100, 3, 1)
    # 1 + a sum with P(0) = .28, P(1) = .54, P(2) = .18
    assert post.total().confidence_interval(0.4).low.tolist() == [[2]]
    assert post.total().mean.tolist() == [[pytest.approx(1.9)]]
    np.testing.assert_allclose(post.samples.mean(axis=0), post.mean)


def test_generators_are_read_once_and_results_are_the_same():
    docs = [document(str(i)) for i in range(5)]
    drawn = [samples(i / 5) for i in range(5)]
    a = count_documents(docs, drawn, linked)
    b = count_documents((d for d in docs), (s for s in drawn), linked)
    np.testing.assert_array_equal(a.mean, b.mean)


def test_weights():
    docs = [document(str(i)) for i in range(3)]
    drawn = [samples(0.5)] * 3
    plain = count_documents(docs, drawn, linked)
    twice = count_documents(docs, drawn, linked, sample_weight=[2.5, 2.5, 2.5])
    np.testing.assert_allclose(twice.mean, 2.5 * plain.mean)
    np.testing.assert_allclose(
        twice.confidence_interval(0.5), 2.5 * np.array(plain.confidence_interval(0.5))
    )
    whole = count_documents(docs, drawn, linked, sample_weight=lambda d: 1 + int(d.id))
    low, high = whole.confidence_interval(0.95, method="exact")
    # sums of 1, 2 and 3 with chance 1/2 each: 0 and 6 have probability 1/8
    assert (low[0, 0], high[0, 0]) == (0, 6)
    assert whole.mean[0, 0] == pytest.approx(3)
    odd = count_documents(docs, drawn, linked, sample_weight=[0.5, 2**0.5, 0.0])
    with pytest.raises(ValueError, match=r"'yes' in 2003-Q1 are not: 1.41421 and 0.5 have no"):
        odd.confidence_interval(method="exact")
    assert odd.confidence_interval().high[0, 0] == pytest.approx(
        0.5 + 2**0.5
    )  # "auto" takes quantiles
    with pytest.raises(ValueError, match="Document '1': its weight is -1"):
        count_documents(docs, drawn, linked, sample_weight=[1, -1, 1])


def test_zero_weight_counts_nothing():
    docs = [document("a"), document("b")]
    post = count_documents(docs, [samples(0.5)] * 2, linked, sample_weight=[0, 1])
    only = count_documents(docs[1:], [samples(0.5)], linked)
    np.testing.assert_allclose(post.confidence_interval(), only.confidence_interval())
    none = count_documents(docs, [samples(0.5)] * 2, linked, sample_weight=[0, 0])
    assert none.confidence_interval().high.tolist() == [[0]]


def two_keys(document, entity):
    return {"A", "B"} if len(entity) > 1 else ()


def test_difference_knows_that_keys_of_a_document_depend():
    docs = [document(str(i)) for i in range(10)]
    post = count_documents(docs, [samples(0.5)] * 10, two_keys)
    result = post.difference("A", "B")
    assert result.mean == 0
    assert tuple(result.confidence_interval) == (0, 0)
    assert result.probability_equal == pytest.approx(1)
    assert result.probability == 0


def test_difference_of_periods():
    docs = [document("a", date="2001-05-01"), document("b", date="2002-05-01")]
    post = count_documents(docs, [samples(0.8), samples(0.3)], linked, period="Y")
    result = post.difference("yes", periods="2001", other_periods="2002")
    assert result.mean == pytest.approx(0.5)
    assert result.probability == pytest.approx(0.8 * 0.7)
    assert result.probability_equal == pytest.approx(0.8 * 0.3 + 0.2 * 0.7)
    assert tuple(result.confidence_interval) == (-1, 1)
    assert "larger with probability 0.560" in str(result)
    with pytest.raises(ValueError, match="Pass a second key"):
        post.difference("yes")
    with pytest.raises(ValueError, match="no period '1999'; the periods are '2001' to '2002'"):
        post.difference("yes", periods="1999", other_periods="2001")


def test_periods_of_a_difference_by_date():
    docs = [document(str(m), date=f"2003-{m:02d}-10") for m in range(1, 13)]
    post = count_documents(docs, [samples(1.0)] * 12, linked, period="Q")
    for chosen, count in [
        ("2003-Q2", 3),
        ("2003-05-20", 3),
        ("2003", 12),
        (["2003-Q1", "2003-11"], 6),
    ]:
        assert post.difference("yes", periods=chosen, other_periods="2003-Q1").mean == count - 3


def test_most_uncertain():
    docs = [document(str(i)) for i in range(4)]
    post = count_documents(docs, [samples(p) for p in (0.9, 0.45, 0.0, 1.0)], linked)
    found = post.most_uncertain()
    assert [d.id for d in found] == ["1", "0"]
    assert found[0].probability == pytest.approx(0.45)
    assert found[0].mentions == ("w", "w")
    assert "1 (2003-Q1): yes 0.45 [w, w]" in str(found[0])
    assert len(post.most_uncertain(1, key="yes")) == 1
    with pytest.raises(ValueError, match="'no' was not counted"):
        post.most_uncertain(key="no")


def test_pool_counts_a_document_once():
    docs = [document(str(i)) for i in range(3)]
    post = count_documents(docs, [samples(0.5)] * 3, two_keys, best=[[0, 0], [0, 1], [0, 0]])
    pooled = post.pool({"either": ["A", "B"]})
    np.testing.assert_allclose(pooled.mean, [[1.5]])
    np.testing.assert_allclose(pooled.best, [[2]])
    with pytest.raises(TypeError, match="not the single str"):
        post.pool({"x": "A"})


def test_keys_can_be_named_and_empty_series_are_zero():
    docs = [document()]
    post = count_documents(docs, [samples(0.5)], two_keys, keys=["C", "B"])
    assert post.keys == ("C", "B")
    np.testing.assert_allclose(post.mean, [[0, 0.5]])
    assert post.confidence_interval().high.tolist() == [[0, 1]]
    assert post.select(["B"]).mean.tolist() == [[0.5]]
    assert post.most_common(1) == ("B",)
    nothing = count_documents(docs, [samples(0)], linked)
    assert nothing.keys == ()
    assert nothing.most_uncertain() == []
    with pytest.raises(TypeError, match="keys must be a list"):
        count_documents(docs, [samples(0)], linked, keys="A")


def test_rule_queries():
    docs = [document("a", entities=[0, 0]), document("b", entities=[0, 1])]
    queries = rule_queries(docs, [samples(0.3), samples(0.0)], linked)
    assert queries.y_prob.tolist() == [30.5 / 101]
    assert queries.y_true.tolist() == [True]
    every = rule_queries(docs, [samples(0.3), samples(0.0)], linked, keys=["yes"])
    assert every.y_true.tolist() == [True, False]
    assert every.y_prob.tolist() == [30.5 / 101, 0.5 / 101]
    # What is asked does not depend on the answer.
    missed = [docs[0].replace(id="c"), docs[0]]
    assert len(rule_queries(missed, [samples(0.0), samples(0.3)], linked)) == 1
    with pytest.raises(ValueError, match="'d' has no entities"):
        rule_queries([document()], [samples(0.3)], linked)
    with pytest.raises(ValueError, match="no queries"):
        rule_queries(docs[1:], [samples(0.0)], linked)


# --- tags


def test_tags_and_chunks():
    sentences = [["a", "b", "c"], ["d", "e"]]
    drawn = [
        [["B-NP", "I-NP", "B-NP"], ["B-NP", "I-NP", "I-NP"]] * 10,
        [["O", "I-VP"], ["O", "O"]] * 10,
    ]
    tags = count_tags(sentences, drawn, best=[["B-NP", "I-NP", "I-NP"], ["O", "O"]])
    assert dict(zip(tags.keys, tags.mean[0], strict=True)) == {
        "B-NP": 1.5,
        "I-NP": 1.5,
        "I-VP": 0.5,
        "O": 1.5,
    }
    assert tags.best.tolist() == [[1, 2, 0, 2]]
    chunks = count_tags(sentences, drawn, "chunk", dates=["2001-01-05", "2001-03-01"], period="M")
    assert chunks.keys == ("NP", "VP")
    np.testing.assert_allclose(chunks.mean, [[1.5, 0], [0, 0], [0, 0.5]])
    low, high = chunks.confidence_interval()
    assert (low[0, 0], high[0, 0]) == (1, 2)
    assert chunks.most_uncertain(1)[0].mentions == ("a b c",)
    runs = count_tags(sentences, drawn, lambda tokens, tags: tokens[0] if tags[-1] == "O" else None)
    assert runs.keys == ("d",)
    with pytest.raises(ValueError, match="needs tags such as B-NP"):
        count_tags([["a"]], [[["NN"]]], "chunk")
    with pytest.raises(ValueError, match=r"Sentence 0 has 2 tokens.*got \(1, 1\)"):
        count_tags([["a", "b"]], [[["NN"]]])
    with pytest.raises(ValueError, match="rule='word' is not known"):
        count_tags([["a"]], [[["NN"]]], "word")


def test_exact_interval_of_tag_counts_against_enumeration():
    rng = np.random.default_rng(3)
    drawn = [rng.choice(["N", "V"], size=(4, 3)) for _ in range(3)]
    post = count_tags([["w"] * 3] * 3, drawn, keys=["N"])
    counts = [(d == "N").sum(axis=1) for d in drawn]
    sums = np.array([sum(row) for row in itertools.product(*counts)])
    with pytest.warns(UserWarning, match="from 4 samples"):
        low, high = post.confidence_interval(0.8, method="exact")
    assert low[0, 0] == np.quantile(sums, 0.1, method="inverted_cdf")
    assert high[0, 0] == np.quantile(sums, 0.9, method="inverted_cdf")


# --- periods


@pytest.mark.parametrize(
    ("period", "label", "start", "end"),
    [
        ("D", "2004-12-31", "2004-12-31", "2005-01-01"),
        ("W", "2004-W53", "2004-12-27", "2005-01-03"),
        ("M", "2004-12", "2004-12-01", "2005-01-01"),
        ("Q", "2004-Q4", "2004-10-01", "2005-01-01"),
        ("Y", "2004", "2004-01-01", "2005-01-01"),
    ],
)
def test_calendar(period, label, start, end):
    code = period_of("", np.datetime64("2004-12-31"), period, None)
    [first], [place] = span([code], period, ["d"])
    assert (str(first), place) == (start, 0)
    assert label_of(first, period) == label
    assert str(end_of(np.array([first]), period)[0]) == end


@given(st.dates(), st.sampled_from("DWMQY"))
def test_a_day_lies_in_its_period(day, period):
    date = np.datetime64(day)
    [first], _ = span([period_of("", date, period, None)], period, ["d"])
    assert first <= date < end_of(np.array([first]), period)[0]
    if period == "W":
        assert label_of(first, "W").split("-W")[1] == f"{day.isocalendar().week:02d}"
        assert first.item().isoweekday() == 1


def test_other_periods():
    docs = [document("a", genre="news"), document("b", genre="fiction")]
    post = count_documents(docs, [samples(1.0)] * 2, linked, period=lambda d: d.genre)
    assert post.period_labels == ["fiction", "news"]
    whole = count_documents([document(date=None)], [samples(1.0)], linked, period=None)
    assert whole.period_labels == ["all"]
    result = post.difference("yes", periods="news", other_periods="fiction")
    assert result.probability_equal == pytest.approx(1)


def test_undated_documents():
    docs = [document("a"), document("b", date=None), document("c", date="2003")]
    drawn = [samples(0.5)] * 3
    with pytest.raises(ValueError, match=r"'b' has no date.*undated='skip'"):
        count_documents(docs, drawn, linked)
    with pytest.raises(ValueError, match="'c' is dated 2003, so that its quarter is not known"):
        count_documents([docs[0], docs[2]], drawn[:2], linked)
    with pytest.warns(UserWarning, match="2 of 3 documents were skipped, the first of them"):
        post = count_documents(docs, drawn, linked, undated="skip")
    assert [s.id for s in post.skipped] == ["b", "c"]
    assert post.documents == ("a",)
    assert count_documents(docs[2:], drawn[:1], linked, period="Y").period_labels == ["2003"]
    with pytest.raises(ValueError, match="function returned None"):
        count_documents(docs, drawn, linked, period=lambda d: None)


# --- bad input


def test_bad_input():
    doc, drawn = document(), samples(0.5)
    with pytest.raises(ValueError, match=r"'d' has 2 mentions.*got \(100, 3\)"):
        count_documents([doc], [np.zeros((100, 3))], linked)
    with pytest.raises(ValueError, match=r"got \(2,\)"):
        count_documents([doc], [[0, 1]], linked)
    with pytest.raises(ValueError, match=r"best entities have shape \(3,\)"):
        count_documents([doc], [drawn], linked, best=[[0, 1, 2]])
    with pytest.raises(ValueError, match="samples ended after 1 documents, but documents did not"):
        count_documents([doc, doc], [drawn], linked)
    with pytest.raises(ValueError, match="documents ended after 1 documents, but samples did not"):
        count_documents([doc], [drawn, drawn], linked)
    with pytest.raises(ValueError, match="'e' has 50 samples, but those before it have 100"):
        count_documents([doc, document("e")], [drawn, samples(0.5, 50)], linked)
    with pytest.raises(ValueError, match="period='H' is not known; it should be one of 'D'"):
        count_documents([doc], [drawn], linked, period="H")
    with pytest.raises(TypeError, match="rule must be callable"):
        count_documents([doc], [drawn], "attack")
    with pytest.raises(TypeError, match="entry 0 is a str"):
        count_documents(["text"], [drawn], linked)
    with pytest.raises(TypeError, match="documents must be a list or another iterable"):
        count_documents(3, [drawn], linked)
    with pytest.raises(ValueError, match="no documents to count"):
        count_documents([], [], linked)
    with pytest.raises(ValueError, match="undated='drop' is not known"):
        count_documents([doc], [drawn], linked, undated="drop")
    far = [document("old", date="0200-01-01"), document("new")]
    with pytest.raises(ValueError, match=r"\('old'\).*Is a date wrong"):
        count_documents(far, [drawn] * 2, linked, period="D")
    post = count_documents([doc], [drawn], linked)
    with pytest.raises(ValueError, match="method='score' is not known"):
        post.confidence_interval(method="score")
    with pytest.raises(ValueError, match="named twice"):
        post.select(["yes", "yes"])


def test_documents_without_mentions_count_zero():
    docs = [Document("empty", ["w"], date="2003-01-01"), document()]
    post = count_documents(docs, [np.empty((100, 0), int), samples(0.5)], linked)
    np.testing.assert_allclose(post.mean, [[0.5]])
    assert post.n_documents.tolist() == [2]
