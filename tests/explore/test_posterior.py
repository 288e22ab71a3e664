"""CountPosterior: intervals that cover the truth, pools, tables; and nothing can be changed."""

import pickle

import numpy as np
import pytest

from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_documents, count_tags, country_lexicon
from tests.explore.pairs import counted, document, linked, samples, two_keys

RULE = AgentRule(country_lexicon())
DOCS = [document("a"), document("b")]
DRAWN = [samples(0.5)] * 2


def test_pool_counts_a_document_once():
    docs = [document(str(i)) for i in range(3)]
    post = count_documents(docs, [samples(0.5)] * 3, two_keys, best=[[0, 0], [0, 1], [0, 0]])
    pooled = post.pool({"either": ["A", "B"]})
    np.testing.assert_allclose(pooled.mean, [[1.5]])
    np.testing.assert_allclose(pooled.best, [[2]])
    with pytest.raises(TypeError, match="not the single str"):
        post.pool({"x": "A"})


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


def test_a_single_key_is_no_list():
    with pytest.raises(TypeError, match=r"keys must be a list of keys, such as \['yes'\]"):
        count_documents(DOCS, DRAWN, linked).select("yes")


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


def simulate(temperature, *, seeds, n_documents=240, n_samples=100):
    """Return posteriors by year whose `best` are the true counts."""
    found = []
    for seed in range(seeds):
        corpus = make_event_corpus(n_documents, temperature=temperature, random_state=seed)
        samples = corpus.model.sample(corpus.X, n_samples, random_state=seed)
        truth = [document.entities for document in corpus.X]
        found.append(count_documents(corpus.X, samples, RULE, period="Y", best=truth))
    return found


def covered(posteriors, method, level=0.95):
    """Return the share of counts whose interval holds the truth."""
    inside = []
    for post in posteriors:
        low, high = post.confidence_interval(level, method=method)
        inside.append(((low <= post.best) & (post.best <= high)).ravel())
    return float(np.concatenate(inside).mean())


def test_intervals_cover_known_events():
    # 8 corpora x 3 years x 4 countries = 96 counts of about 20; the standard error is .02.
    found = simulate(1.0, seeds=8)
    assert 0.92 <= covered(found, "exact") <= 1.0
    assert 0.90 <= covered(found, "normal") <= 1.0
    assert 0.70 <= covered(found, "exact", level=0.8) <= 0.94
    # A model that is sure of the wrong things has intervals that are too narrow.
    assert covered(simulate(0.25, seeds=8), "exact") < 0.88


@pytest.mark.slow
def test_intervals_cover_known_events_closely():
    # 600 counts; the standard error is .009. Counts are whole, so that intervals cover a little
    # more than they promise.
    found = simulate(1.0, seeds=50)
    assert 0.935 <= covered(found, "exact") <= 0.99
    assert 0.925 <= covered(found, "normal") <= 0.975
    assert 0.935 <= covered(found, "quantile") <= 0.99


@pytest.mark.slow
def test_intervals_of_twenty_samples_cover_and_those_of_two_do_not():
    # 600 counts; the standard error is .009.
    assert covered(simulate(1.0, seeds=50, n_samples=20), "exact") >= 0.925
    with pytest.warns(UserWarning, match="too narrow"):
        assert covered(simulate(1.0, seeds=50, n_samples=2), "exact") < 0.85


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


# --- how it shows itself


def test_few_counts_are_shown_by_period():
    post = counted(3, p=0.5)
    lines = repr(post).splitlines()
    assert lines[0].split() == ["period", "key", "mean", "low", "high", "n_documents"]
    assert lines[1].split() == ["2003-Q1", "yes", "1.500", "0", "3", "3"]
    assert lines[2:] == [
        "3 documents; 100 samples of each.",
        "The intervals have a level of 95%, given the model.",
    ]
    assert "<td>2003-Q1</td><td>yes</td><td>1.500</td>" in post._repr_html_()


def test_many_counts_are_shown_as_sums_of_the_most_common_keys():
    docs = [document(str(y), date=f"{y}-05-10") for y in range(2001, 2012)]
    post = count_documents(docs, [samples(0.9)] * 6 + [samples(0.0)] * 5, linked, period="Y")
    whole = post.total()
    low, high = whole.confidence_interval()
    lines = repr(post).splitlines()
    assert lines[0].split() == ["key", "mean", "low", "high"]
    assert lines[1].split() == ["yes", f"{whole.mean[0, 0]:.3f}", f"{low[0, 0]:.0f}", "6"]
    assert high.tolist() == [[6]]
    assert lines[2] == "11 documents in 11 years, 2001 to 2011; 100 samples of each."
    assert lines[3] == "All years together. The intervals have a level of 95%, given the model."
    # In full, it is by period.
    assert len(str(post).splitlines()) == 13
    words = [f"w{i:02d}" for i in range(12)]
    tags = count_tags([words], [[words] * 20])
    assert "The 10 most common of 12 keys." in repr(tags)
    assert "<td>w09</td>" in tags._repr_html_()
    assert "w10" not in repr(tags)


def test_showing_few_samples_does_not_warn():
    few = counted(n_samples=5)
    assert "too narrow" in repr(few)
    assert "yes" in str(few)
    assert "One sample makes no interval." in repr(counted(n_samples=1, p=1.0))
    pytest.importorskip("pandas")
    with pytest.warns(UserWarning, match="too narrow") as seen:
        few.to_frame()
    assert seen[0].filename == __file__


def test_nothing_found_is_said_without_a_table():
    post = counted(p=0.0)
    assert repr(post) == "The rule found nothing in 3 documents."
    assert post._repr_html_() == "<p>The rule found nothing in 3 documents.</p>"
    assert repr(pickle.loads(pickle.dumps(post))) == repr(post)


def test_a_mean_may_lie_outside_an_interval_of_whole_numbers():
    # As the documentation of confidence_interval says.
    post = counted(1, p=0.01)
    low, high = post.confidence_interval()
    assert (low[0, 0], post.mean[0, 0], high[0, 0]) == (0, 0.01, 0)


def test_plot_draws_the_posterior():
    pytest.importorskip("matplotlib")
    display = counted(3).plot(keys=["yes"], legend=False)
    assert list(display.lines_) == ["yes"]
    assert display.ax_.get_legend() is None


def test_longer_periods_are_counted_as_if_from_the_start():
    rng = np.random.default_rng(0)
    days = np.datetime64("2003-11-20") + rng.integers(0, 500, size=60).astype("timedelta64[D]")
    docs = [document(str(i), date=day) for i, day in enumerate(days)]
    drawn = [samples(p) for p in rng.random(60)]
    for short, long in (("D", "W"), ("D", "M"), ("M", "Q"), ("M", "Y"), ("Q", "Y")):
        found = count_documents(docs, drawn, linked, period=short).coarser(long)
        wanted = count_documents(docs, drawn, linked, period=long)
        assert found.period == long
        assert found.period_labels == wanted.period_labels
        np.testing.assert_allclose(found.mean, wanted.mean)
        np.testing.assert_array_equal(found.n_documents, wanted.n_documents)
        for mine, theirs in zip(
            found.confidence_interval(), wanted.confidence_interval(), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)
    assert wanted.coarser("Y") is wanted


@pytest.mark.parametrize(
    ("period", "wanted", "message"),
    [
        ("W", "M", "Counts by week cannot become .* there is no longer period for them"),
        ("Q", "M", r"Counts by quarter cannot .* it should be one of 'Y' \(year\)"),
        ("M", "QY", "cannot become counts by period='QY'"),
        (None, "Y", "Counts by name cannot"),
    ],
)
def test_periods_that_do_not_nest_are_refused(period, wanted, message):
    post = count_documents([document()], [samples(0.5)], linked, period=period)
    with pytest.raises(ValueError, match=message):
        post.coarser(wanted)
