"""Intervals and differences of counts: few samples, weights, periods; and frozen results."""

import datetime
import pickle

import numpy as np
import pytest

from sklearn_calib.explore import count_documents
from sklearn_calib.explore._sums import Distribution, sum_of
from tests.explore.test_counts import document, linked, samples


def counted(n=3, p=0.5, n_samples=100, **options):
    docs = [document(str(i)) for i in range(n)]
    return count_documents(docs, [samples(p, n_samples)] * n, linked, **options)


# --- few samples


def test_one_sample_has_no_interval():
    post = counted(n_samples=1, p=1.0)
    for method in ("auto", "exact", "normal", "quantile"):
        with pytest.raises(ValueError, match="at least two samples"):
            post.confidence_interval(method=method)
    with pytest.raises(ValueError, match="at least two samples"):
        post.difference("yes", "yes")
    assert post.mean.tolist() == [[3]]
    assert "nan" in str(post)
    assert np.isnan(post.to_frame()["low"]).all()


def test_few_samples_warn():
    post = counted(n_samples=19)
    with pytest.warns(UserWarning, match="from 19 samples of each document are too narrow") as seen:
        post.confidence_interval()
    assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match="too narrow"):
        post.difference("yes", "yes")
    counted(n_samples=20).confidence_interval()


# --- weights


def test_large_whole_weights_do_not_hang():
    post = counted(sample_weight=[1, 1e7, 2e7])
    with pytest.raises(ValueError, match=r"'yes' in 2003-Q1 are not.*method='quantile'"):
        post.confidence_interval(method="exact")
    assert post.confidence_interval().high[0, 0] == pytest.approx(3e7 + 1)
    # What matters is the ratio.
    same = counted(sample_weight=[1e7, 1e7, 2e7]).confidence_interval(method="exact")
    np.testing.assert_allclose(
        same, 1e7 * np.array(counted(sample_weight=[1, 1, 2]).confidence_interval())
    )


@pytest.mark.parametrize("unit", [1.0, 0.5, 0.1, 1 / 3, np.pi])
def test_weights_with_a_common_unit_are_exact(unit):
    whole = counted(sample_weight=[4, 6, 0], p=0.3)
    scaled = counted(sample_weight=[4 * unit, 6 * unit, 0], p=0.3)
    for level in (0.3, 0.6, 0.95):
        np.testing.assert_allclose(
            scaled.confidence_interval(level, method="exact"),
            unit * np.array(whole.confidence_interval(level, method="exact")),
        )
    halves = counted(sample_weight=[0.5, 1.5, 1.0])
    # sums of 1, 3 and 2 halves: 0 to 6 with chances 1, 1, 1, 2, 1, 1, 1 of 8
    low, high = halves.confidence_interval(0.6, method="exact")
    assert (low[0, 0], high[0, 0]) == (0.5, 2.5)


def test_many_documents_of_two_weights_are_exact():
    n = 6_000
    post = counted(n, sample_weight=[1.0, 1.25] * (n // 2))
    found = np.array(post.confidence_interval(method="exact")).ravel()
    # Close to normal: a mean of 3,375, and the exact standard deviation of independent documents.
    spread = np.sqrt(n / 2 * 0.25 * (1 + 1.25**2))
    np.testing.assert_allclose(found, [3375 - 1.96 * spread, 3375 + 1.96 * spread], atol=0.5)


def test_differences_and_intervals_agree_about_weights():
    docs = [document("a", date="2001-05-01"), document("b", date="2002-05-01")]
    for weights, method in [([1, 2.5], "exact"), ([1, np.pi], "quantile")]:
        post = count_documents(
            docs, [samples(0.8), samples(0.3)], linked, period="Y", sample_weight=weights
        )
        result = post.difference("yes", periods="2001", other_periods="2002")
        assert result.method == method
        assert result.mean == pytest.approx(0.8 - 0.3 * weights[1])
        if method == "exact":
            assert tuple(result.confidence_interval) == (-2.5, 1)


def test_many_terms_are_summed_fast_and_exactly():
    total = sum_of([Distribution(0, np.array([0.5, 0.5]))] * 20_000)
    assert len(total.probability) < 3_000
    assert total.probability.sum() == pytest.approx(1)
    assert total.quantile(0.5) == 10_000


def test_quantiles_of_several_keys_and_periods():
    docs = [document(str(m), date=f"200{m}-01-01") for m in range(3)]
    rng = np.random.default_rng(0)
    drawn = [rng.integers(2, size=(60, 2)) for _ in docs]
    post = count_documents(
        docs, drawn, lambda d, e: ["A", e[0]] if len(e) > 1 else "B", keys=["A", "B", 0], period="Y"
    )
    low, high = post.confidence_interval(0.5, method="quantile")
    np.testing.assert_array_equal(low, np.quantile(post.samples, 0.25, axis=0, method="lower"))
    np.testing.assert_array_equal(high, np.quantile(post.samples, 0.75, axis=0, method="higher"))
    np.testing.assert_allclose(post.samples.mean(axis=0), post.mean)
    nothing = counted(p=0.0)
    assert nothing.samples.shape == (100, 1, 0)
    assert nothing.confidence_interval(method="quantile").low.shape == (1, 0)


# --- frozen


def test_arrays_cannot_be_changed():
    post = counted(sample_weight=[1, 2, 3])
    copy = pickle.loads(pickle.dumps(post))
    for result in (post, copy, post.pool({"x": ["yes"]}), post.select(["yes"]), post.total()):
        for name in (
            "mean",
            "standard_deviation",
            "samples",
            "n_documents",
            "hit_counts",
            "periods",
        ):
            with pytest.raises(ValueError, match="read-only"):
                getattr(result, name)[...] = 0


def test_a_posterior_with_a_function_of_periods_can_be_pickled():
    post = counted(period=lambda d: d.id)
    copy = pickle.loads(pickle.dumps(post))
    assert copy.period_labels == post.period_labels == ["0", "1", "2"]
    np.testing.assert_array_equal(copy.mean, post.mean)


def test_nothing_found():
    post = counted(p=0.0)
    assert str(post) == "The rule found nothing in 3 documents."
    with pytest.raises(ValueError, match="not counted; the rule found nothing"):
        post.probability("yes")


# --- periods of a difference


def test_periods_may_be_dates_of_any_kind():
    pd = pytest.importorskip("pandas")
    docs = [document(str(y), date=f"{y}-05-10") for y in (2003, 2004)]
    post = count_documents(docs, [samples(0.8), samples(0.3)], linked, period="Q")
    for first in (
        datetime.datetime(2003, 5, 10, 12, 30),
        datetime.date(2003, 5, 10),
        pd.Timestamp("2003-05-10 12:30"),
        np.datetime64("2003-05-10T12"),
        2003,
        np.int64(2003),
        {"2003-Q2"},
        range(2003, 2004),
    ):
        result = post.difference("yes", periods=first, other_periods="2004")
        assert result.mean == pytest.approx(0.5)
    with pytest.raises(ValueError, match="list of periods is empty"):
        post.difference("yes", periods=[], other_periods="2004")
    with pytest.raises(ValueError, match="no period '1999'"):
        post.difference("yes", periods=1999, other_periods="2004")
