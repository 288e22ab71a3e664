"""Whole corpora: streams, workers, failures."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_calib.coref import AntecedentModel, Document
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_corpus, count_documents, country_lexicon
from tests.explore.pairs import linked

CORPUS = make_event_corpus(60, random_state=1)
RULE = AgentRule(country_lexicon())


def by_genre(document):
    return document.genre


def test_equals_counting_of_samples():
    found = count_corpus(CORPUS.X, CORPUS.model, RULE, n_samples=20, random_state=3)
    assert found.n_samples == 20
    best = CORPUS.model.predict(CORPUS.X)
    samples = CORPUS.model.sample(CORPUS.X, 20, random_state=0)
    plain = count_documents(CORPUS.X, samples, RULE, best=best)
    np.testing.assert_array_equal(found.best, plain.best)
    np.testing.assert_array_equal(found.periods, plain.periods)
    # The same law, with other seeds.
    slack = 5 * np.hypot(found.standard_error, plain.standard_error) + 1e-9
    assert (np.abs(found.mean - plain.mean) <= slack).all()


@pytest.mark.parametrize("options", [{"batch_size": 7}, {"n_jobs": 2, "batch_size": 9}])
def test_result_does_not_depend_on_workers(options):
    one = count_corpus(iter(CORPUS.X), CORPUS.model, RULE, n_samples=10, random_state=0)
    many = count_corpus(iter(CORPUS.X), CORPUS.model, RULE, n_samples=10, random_state=0, **options)
    np.testing.assert_array_equal(one.hit_counts, many.hit_counts)
    assert one.documents == many.documents
    other = count_corpus(CORPUS.X, CORPUS.model, RULE, n_samples=10, random_state=1)
    assert (one.hit_counts.shape != other.hit_counts.shape) or (
        one.hit_counts != other.hit_counts
    ).any()


def test_dask_cluster():
    distributed = pytest.importorskip("distributed")
    one = count_corpus(CORPUS.X, CORPUS.model, RULE, n_samples=10, random_state=0)
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        many = count_corpus(
            iter(CORPUS.X), CORPUS.model, RULE, n_samples=10, batch_size=4, client=client,
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

    unknown = CORPUS.X[3].replace(id="unknown")  # the model does not know it
    undated = CORPUS.X[4].replace(date=None)
    stream = [CORPUS.X[0], broken, unknown, lambda: CORPUS.X[1], "text", undated]
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
    stream = [*CORPUS.X[:3], odd]
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
        count_corpus(CORPUS.X, CORPUS.model, rule, n_jobs=2, n_samples=2)


def test_an_error_of_the_stream_itself_is_raised():
    def stream():
        yield CORPUS.X[0]
        raise OSError("disk is gone")

    with pytest.raises(OSError, match="disk is gone"):
        count_corpus(stream(), CORPUS.model, RULE, on_error="skip")


def test_a_stream_is_not_read_ahead_without_bound():
    read = []

    def stream():
        for i, document in enumerate(CORPUS.X):
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
        CORPUS.X[:5], CORPUS.model, RULE, n_samples=3, best=False, period=by_genre,
        keys=["USA"], sample_weight=lambda d: 2.0, verbose=2,
    )  # fmt: skip
    assert post.best is None
    assert post.period_labels == ["simulated news"]
    assert post.keys == ("USA",)
    assert post.document_weight.tolist() == [2.0] * 5
    assert "count_corpus: 5 documents" in capsys.readouterr().err
    with pytest.raises(TypeError, match="model has no method 'sample'"):
        count_corpus(CORPUS.X, object(), RULE)
    with pytest.raises(TypeError, match="function of a document here"):
        count_corpus(CORPUS.X, CORPUS.model, RULE, sample_weight=[1.0])
    with pytest.raises(ValueError, match="n_jobs and client are both set"):
        count_corpus(CORPUS.X, CORPUS.model, RULE, n_jobs=2, client=object())
    with pytest.raises(TypeError, match="documents must be an iterable"):
        count_corpus(3, CORPUS.model, RULE)


def test_a_model_that_is_not_fitted_is_no_fault_of_a_document():
    with pytest.raises(NotFittedError):
        count_corpus(make_event_corpus(3, random_state=0).X, AntecedentModel(), linked)


class Stubborn:
    """A model that answers with whatever it was given."""

    def __init__(self, samples, best=None):
        self.samples, self.best = samples, best

    def sample(self, X, n_samples, random_state=None):
        return [self.samples]

    def predict(self, X):
        return [self.best]


def test_a_model_that_speaks_of_other_mentions_is_named():
    document = CORPUS.X[0]
    n = len(document)
    right = np.zeros((2, n), dtype=int)
    with pytest.raises(RuntimeError, match=rf"shape of the model's samples should be \(2, {n}\)"):
        count_corpus([document], Stubborn(right[:, 1:]), RULE, best=False)
    with pytest.raises(RuntimeError, match=rf"shape of the model's best should be \({n},\)"):
        count_corpus([document], Stubborn(right, right), RULE)
    assert count_corpus([document], Stubborn(right, right[0]), RULE, keys=["USA"]).n_samples == 2


def test_a_rule_is_checked_before_any_document_is_read():
    with pytest.raises(TypeError, match="rule must be callable as rule"):
        count_corpus(iter([]), CORPUS.model, "attack")


def test_a_model_that_is_not_fitted_stops_workers_too():
    with pytest.raises(NotFittedError):
        count_corpus(CORPUS.X[:4], AntecedentModel(), linked, n_jobs=2, on_error="skip")
