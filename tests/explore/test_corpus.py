"""Whole corpora: streams, workers, failures; and intervals that cover the truth."""

import os
import warnings

import numpy as np
import pytest

from sklearn_calib.coref import Document
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import (
    AgentRule,
    count_corpus,
    count_documents,
    country_lexicon,
    rule_queries,
)

CORPUS = make_event_corpus(60, random_state=1)
RULE = AgentRule(country_lexicon())


def by_genre(document):
    return document.genre


def test_equals_counting_of_samples():
    found = count_corpus(CORPUS.documents, CORPUS.model, RULE, n_samples=20, random_state=3)
    assert found.n_samples == 20
    best = CORPUS.model.predict(CORPUS.documents)
    samples = CORPUS.model.sample(CORPUS.documents, 20, random_state=0)
    plain = count_documents(CORPUS.documents, samples, RULE, best=best)
    np.testing.assert_array_equal(found.best, plain.best)
    np.testing.assert_array_equal(found.periods, plain.periods)
    # The same law, with other seeds.
    slack = 5 * np.hypot(found.standard_error, plain.standard_error) + 1e-9
    assert (np.abs(found.mean - plain.mean) <= slack).all()


@pytest.mark.parametrize("options", [{"batch_size": 7}, {"n_jobs": 2, "batch_size": 9}])
def test_result_does_not_depend_on_workers(options):
    one = count_corpus(iter(CORPUS.documents), CORPUS.model, RULE, n_samples=10, random_state=0)
    many = count_corpus(
        iter(CORPUS.documents), CORPUS.model, RULE, n_samples=10, random_state=0, **options
    )
    np.testing.assert_array_equal(one.hit_counts, many.hit_counts)
    assert one.documents == many.documents
    other = count_corpus(CORPUS.documents, CORPUS.model, RULE, n_samples=10, random_state=1)
    assert (one.hit_counts.shape != other.hit_counts.shape) or (
        one.hit_counts != other.hit_counts
    ).any()


def test_dask_cluster():
    distributed = pytest.importorskip("distributed")
    one = count_corpus(CORPUS.documents, CORPUS.model, RULE, n_samples=10, random_state=0)
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        many = count_corpus(
            iter(CORPUS.documents), CORPUS.model, RULE, n_samples=10, batch_size=4, client=client,
            random_state=0,
        )  # fmt: skip
        with pytest.raises(RuntimeError, match=r"'bad' .number 0. could not be counted"):
            count_corpus([Document("bad", ["w"], date="2001-01-01", mentions=[(0, 1)])],
                         CORPUS.model, RULE, client=client)  # fmt: skip
    np.testing.assert_array_equal(one.hit_counts, many.hit_counts)
    assert one.documents == many.documents


def test_failures_are_reported_and_skipped_only_on_request():
    def broken():
        raise OSError("file ends in the middle")

    unknown = CORPUS.documents[3].replace(id="unknown")  # the model does not know it
    undated = CORPUS.documents[4].replace(date=None)
    stream = [CORPUS.documents[0], broken, unknown, lambda: CORPUS.documents[1], "text", undated]
    with pytest.raises(RuntimeError, match=r"number 1.*OSError: file ends.*on_error='skip'"):
        count_corpus(stream, CORPUS.model, RULE)
    with pytest.raises(ValueError, match="has no date"):
        count_corpus([undated], CORPUS.model, RULE, on_error="skip")
    with pytest.warns(UserWarning, match="4 of 6 documents were skipped"):
        post = count_corpus(stream, CORPUS.model, RULE, on_error="skip", undated="skip")
    assert post.documents == ("news-00000", "news-00001")
    assert [(s.number, s.id) for s in post.skipped] == [
        (1, "number 1"),
        (2, "unknown"),
        (4, "number 4"),
        (5, "news-00004"),
    ]
    assert post.skipped[0].reason == "OSError: file ends in the middle"


class OddError(Exception):
    """An exception that cannot be unpickled."""

    def __init__(self, line, column):
        super().__init__(f"line {line}, column {column}")


def odd():
    raise OddError(3, 5)


def test_any_exception_comes_back_from_a_worker():
    stream = [*CORPUS.documents[:3], odd]
    options = {"n_jobs": 2, "batch_size": 2, "n_samples": 3}
    with pytest.warns(UserWarning, match="1 of 4 documents were skipped"):
        post = count_corpus(stream, CORPUS.model, RULE, on_error="skip", **options)
    assert post.skipped[0].reason == "OddError: line 3, column 5"
    with pytest.raises(RuntimeError, match="OddError: line 3, column 5 Pass on_error") as caught:
        count_corpus(stream, CORPUS.model, RULE, **options)
    assert "in odd" in caught.value.__notes__[0]


def test_a_rule_that_cannot_be_sent_is_named():
    class Locked(AgentRule):
        def __getstate__(self):
            raise TypeError("cannot pickle a lock")

    rule = Locked(country_lexicon())
    with pytest.raises(TypeError, match=r"Not everything can be pickled.*rule Locked"):
        count_corpus(CORPUS.documents, CORPUS.model, rule, n_jobs=2, n_samples=2)


def test_an_error_of_the_stream_itself_is_raised():
    def stream():
        yield CORPUS.documents[0]
        raise OSError("disk is gone")

    with pytest.raises(OSError, match="disk is gone"):
        count_corpus(stream(), CORPUS.model, RULE, on_error="skip")


def test_a_stream_is_not_read_ahead_without_bound():
    read = []

    def stream():
        for i, document in enumerate(CORPUS.documents):
            read.append(i)
            yield document

    class Watch:
        def sample(self, X, n_samples, random_state=None):
            assert len(read) - int(X[0].id[-5:]) <= 5
            return CORPUS.model.sample(X, n_samples, random_state)

    count_corpus(stream(), Watch(), RULE, best=False, n_samples=2, batch_size=5)
    assert len(read) == 60


def test_options(capsys):
    post = count_corpus(
        CORPUS.documents[:5], CORPUS.model, RULE, n_samples=3, best=False, period=by_genre,
        keys=["USA"], sample_weight=lambda d: 2.0, verbose=2,
    )  # fmt: skip
    assert post.best is None
    assert post.period_labels == ["simulated news"]
    assert post.keys == ("USA",)
    assert post.document_weight.tolist() == [2.0] * 5
    assert "count_corpus: 5 documents" in capsys.readouterr().err
    with pytest.raises(TypeError, match="model has no method 'sample'"):
        count_corpus(CORPUS.documents, object(), RULE)
    with pytest.raises(TypeError, match="function of a document here"):
        count_corpus(CORPUS.documents, CORPUS.model, RULE, sample_weight=[1.0])
    with pytest.raises(ValueError, match="n_jobs and client are both set"):
        count_corpus(CORPUS.documents, CORPUS.model, RULE, n_jobs=2, client=object())
    with pytest.raises(TypeError, match="documents must be an iterable"):
        count_corpus(3, CORPUS.model, RULE)


# --- the intervals


def simulate(temperature, *, seeds, n_documents=240, n_samples=100):
    """Return posteriors by year whose `best` are the true counts."""
    found = []
    for seed in range(seeds):
        corpus = make_event_corpus(n_documents, temperature=temperature, random_state=seed)
        samples = corpus.model.sample(corpus.documents, n_samples, random_state=seed)
        truth = [document.entities for document in corpus.documents]
        found.append(count_documents(corpus.documents, samples, RULE, period="Y", best=truth))
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


def test_rule_of_a_model_that_knows_is_calibrated():
    corpus = make_event_corpus(500, random_state=5)
    samples = corpus.model.sample(corpus.documents, 200, random_state=5)
    queries = rule_queries(corpus.documents, samples, RULE)
    gap = queries.y_prob - queries.y_true
    assert abs(gap.mean()) < 3 * gap.std() / np.sqrt(len(gap))


def test_data_file_ships_with_the_package():
    import sklearn_calib

    folder = os.path.join(os.path.dirname(sklearn_calib.__file__), "explore", "data")
    with open(os.path.join(folder, "countries.tsv"), encoding="utf-8") as lines:
        assert "BSD-3-Clause" in lines.read()
