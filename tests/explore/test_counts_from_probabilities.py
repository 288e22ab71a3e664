"""Counts from probabilities: exact against enumeration, periods, keys, and what is refused."""

import itertools
import pickle

import numpy as np
import pytest

from sklearn_calib.explore import counts_from_probabilities


def test_a_count_is_exact_against_enumeration():
    p = np.array([0.9, 0.2, 0.5, 0.05, 0.7])
    post = counts_from_probabilities(p, period=None)
    chance = np.zeros(6)
    for outcome in itertools.product([0, 1], repeat=5):
        chance[sum(outcome)] += np.prod(np.where(outcome, p, 1 - p))
    assert post.mean.tolist() == [[pytest.approx(p.sum())]]
    assert post.standard_deviation[0, 0] == pytest.approx(np.sqrt((p * (1 - p)).sum()))
    for level in (0.3, 0.8, 0.95):
        low, high = post.confidence_interval(level)
        cumulative = np.cumsum(chance)
        assert low[0, 0] == np.searchsorted(cumulative, (1 - level) / 2)
        assert high[0, 0] == np.searchsorted(cumulative, (1 + level) / 2)
    assert post.standard_error.tolist() == [[0.0]]
    assert post.n_samples is None


def test_there_are_no_samples_to_pretend():
    post = counts_from_probabilities([0.5, 0.5], period=None)
    for ask in (
        lambda: post.samples,
        lambda: post.hit_counts,
        lambda: post.confidence_interval(method="quantile"),
    ):
        with pytest.raises(ValueError, match="exact probabilities, so that there are no samples"):
            ask()


@pytest.mark.parametrize("exclusive", [False, True])
def test_difference_and_pool_against_enumeration(exclusive):
    proba = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.05, 0.9, 0.05]])
    post = counts_from_probabilities(proba, period=None, keys=list("ABC"), exclusive=exclusive)
    law = {}
    either = {}
    for rows in itertools.product(itertools.product([0, 1], repeat=3), repeat=3):
        chance = 1.0
        for row, p in zip(rows, proba, strict=True):
            if exclusive:
                chance *= p[row.index(1)] if sum(row) == 1 else 0.0
            else:
                chance *= np.prod(np.where(row, p, 1 - p))
        change = sum(a - b for a, b, _ in rows)
        law[change] = law.get(change, 0.0) + chance
        count = sum(a or b for a, b, _ in rows)
        either[count] = either.get(count, 0.0) + chance
    found = post.difference("A", "B")
    assert found.mean == pytest.approx(sum(v * c for v, c in law.items()))
    assert found.probability == pytest.approx(sum(c for v, c in law.items() if v > 0))
    assert found.probability_equal == pytest.approx(law[0])
    assert found.method == "exact"
    same = post.difference("A", "A")
    assert (same.mean, same.probability_equal) == (0.0, pytest.approx(1.0))
    pooled = post.pool({"AB": ["A", "B"]})
    assert pooled.mean[0, 0] == pytest.approx(sum(v * c for v, c in either.items()))
    if exclusive:
        assert post.pool({"all": ["A", "B", "C"]}).mean[0, 0] == pytest.approx(3.0)
        assert post.pool({"AB": ["A", "B"]}, how="sum").mean == pytest.approx(pooled.mean)
    else:
        with pytest.raises(ValueError, match="more than once"):
            post.pool({"AB": ["A", "B"]}, how="sum")


def test_columns_that_add_up_to_one_are_classes():
    proba = np.array([[0.6, 0.4], [0.2, 0.8]])
    assert counts_from_probabilities(proba, period=None, keys=["a", "b"]).hits.exclusive
    assert not counts_from_probabilities(proba / 2, period=None, keys=["a", "b"]).hits.exclusive


def test_rows_by_key_are_the_same_as_columns():
    proba = np.array([[0.6, 0.0, 0.1], [0.2, 0.2, 0.5]])
    period = ["2003-Q1", "2003-Q3"]
    wide = counts_from_probabilities(
        proba, period=period, keys=list("ABC"), document=["x", "y"], sample_weight=[1, 2]
    )
    long = counts_from_probabilities(
        proba.ravel(),
        period=np.repeat(period, 3),
        key=list("ABC") * 2,
        document=np.repeat(["x", "y"], 3),
        sample_weight=np.repeat([1, 2], 3),
    )
    assert wide.documents == long.documents == ("x", "y")
    assert wide.period_labels == long.period_labels == ["2003-Q1", "2003-Q2", "2003-Q3"]
    np.testing.assert_array_equal(wide.mean, long.mean)
    np.testing.assert_array_equal(wide.confidence_interval(), long.confidence_interval())
    np.testing.assert_array_equal(wide.probability("B"), [0.0, 0.2])
    assert long.select(["C", "A"]).mean[0].tolist() == [0.1, 0.6]


@pytest.mark.parametrize(
    ("period", "labels"),
    [
        (["2003-01", "2003-03"], ["2003-01", "2003-02", "2003-03"]),
        (np.array(["2003-01", "2003-03"], dtype="M8[M]"), ["2003-01", "2003-02", "2003-03"]),
        ([2003, 2005], ["2003", "2004", "2005"]),
        (["2003Q4", "2004-Q2"], ["2003-Q4", "2004-Q1", "2004-Q2"]),
        (["2003-W52", "2004-W02"], ["2003-W52", "2004-W01", "2004-W02"]),
        (np.array(["2003-01-31T05", "2003-02-01T07"], dtype="M8[h]"), ["2003-01-31", "2003-02-01"]),
        (["spring", "autumn"], ["autumn", "spring"]),
        ([3, 1], ["1", "3"]),
    ],
)  # fmt: skip
def test_periods_of_the_calendar_have_no_gaps(period, labels):
    post = counts_from_probabilities([0.5, 0.25], period=period)
    assert post.period_labels == labels
    assert post.n_documents.sum() == 2
    at = labels.index(str(post.period_labels[post.document_period[0]]))
    assert post.mean[at, 0] == 0.5


def test_dates_become_periods():
    dates = np.array(["2003-01-31", "2003-05-01"], dtype="datetime64[D]")
    post = counts_from_probabilities([0.5, 0.25], period="Q", dates=dates)
    assert post.mean.ravel().tolist() == [0.5, 0.25]
    assert post.period_labels == ["2003-Q1", "2003-Q2"]
    with pytest.raises(ValueError, match="needs the dates of the rows"):
        counts_from_probabilities([0.5], period="Q")
    with pytest.raises(ValueError, match=r"'month' is not known; .* one period for each row"):
        counts_from_probabilities([0.5], period="month", dates=["2003-01-01"])
    with pytest.raises(ValueError, match="dates are of use where period is a letter"):
        counts_from_probabilities([0.5], period=["a"], dates=dates[:1])


def test_weights_without_a_common_unit_are_rounded():
    rng = np.random.default_rng(0)
    p, weight = rng.random(400), rng.random(400) + 0.5
    post = counts_from_probabilities(p, period=None, sample_weight=weight)
    with pytest.raises(ValueError, match="method='auto'"):
        post.confidence_interval(method="exact")
    drawn = (rng.random((40_000, 400)) < p) @ weight
    found = np.ravel(post.confidence_interval(0.9))
    np.testing.assert_allclose(found, np.quantile(drawn, [0.05, 0.95]), atol=0.3)
    half = counts_from_probabilities(
        p, period=np.repeat(["a", "b"], 200), sample_weight=weight
    ).difference("yes", periods="a", other_periods="b")
    assert half.method == "rounded"
    sign = (rng.random((40_000, 400)) < p) @ (weight * np.repeat([1, -1], 200)) > 0
    assert half.probability == pytest.approx(sign.mean(), abs=0.01)


def test_a_posterior_of_probabilities_survives_a_pickle():
    post = counts_from_probabilities([0.5, 0.25], period=["a", "b"], title=["One", "Two"])
    copy = pickle.loads(pickle.dumps(post))
    assert copy.titles == ("One", "Two")
    assert repr(copy) == repr(post)
    with pytest.raises(ValueError, match="read-only"):
        copy.hits.probability[0] = 1.0
    [first] = post.most_uncertain(1)
    assert (first.id, first.probability) == ("document 0", 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probability": [[0.5, 0.1]]}, "name them with keys="),
        ({"probability": [0.5, 1.5]}, "outside"),
        ({"probability": [0.5], "keys": ["a", "b"]}, "one column, but keys has 2"),
        ({"probability": [[0.5, 0.1]], "keys": ["a"]}, "1 names, but probability has 2 columns"),
        ({"probability": [[0.5, 0.1]], "keys": ["a", "b"], "key": ["a"]}, "key names single rows"),
        ({"probability": [0.5, 0.1], "period": ["a"]}, "period has 1 entries.*2 rows"),
        ({"probability": [0.5, 0.1], "period": ["a", None]}, "period has no value for row 1"),
        ({"probability": [0.5, 0.1], "document": ["a", "a"]}, "two probabilities of 'yes' for"),
        (
            {"probability": [[0.1, 0.2]] * 2, "keys": ["a", "b"], "document": ["x", "x"]},
            "'x' twice",
        ),
        (
            {
                "probability": [0.5, 0.1],
                "document": ["a", "a"],
                "key": ["x", "y"],
                "period": ["1", "2"],
            },
            "'a' have different periods",
        ),
        (
            {
                "probability": [0.5, 0.1],
                "document": ["a", "a"],
                "key": ["x", "y"],
                "sample_weight": [1, 2],
            },
            "'a' have different weights",
        ),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    probability = options.pop("probability")
    options.setdefault("period", None)
    with pytest.raises(ValueError, match=message):
        counts_from_probabilities(probability, **options)


def test_a_matrix_of_many_documents_and_keys_is_fast_enough():
    rng = np.random.default_rng(0)
    proba = rng.beta(0.1, 2, size=(20_000, 5))
    post = counts_from_probabilities(proba, period=None, keys=range(5))
    low, high = post.confidence_interval()
    spread = np.sqrt((proba * (1 - proba)).sum(axis=0))
    np.testing.assert_allclose(low[0], proba.sum(axis=0) - 1.96 * spread, atol=1.0)
    np.testing.assert_allclose(high[0], proba.sum(axis=0) + 1.96 * spread, atol=1.0)
