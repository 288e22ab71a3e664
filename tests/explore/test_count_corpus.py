"""Whole corpora: streams, workers, failures."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_calib.coref import AntecedentModel, Document, parse_texts
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_corpus, count_documents, country_lexicon
from tests.explore.clusters import dask_client
from tests.explore.pairs import linked

ROOT = Path(__file__).parents[2]

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
    one = count_corpus(CORPUS.X, CORPUS.model, RULE, n_samples=10, random_state=0)
    with dask_client(n_workers=2, threads_per_worker=1, processes=False) as client:
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


# American and Iraqi troops, a passive, a text without a verb of attack, and one without a country.
NEWS = [
    ("American troops crossed the river. They attacked the port.", {"date": "2003-02-14"}),
    ("The port was attacked by Iran.", {"id": "b", "date": "2003-03-01"}),
    ("The army of Iraq left. They crossed the river.", {"date": "2003-05-01"}),
    ("They attacked the town.", {"date": "2003-05-02"}),
    ("Iran attacked Iraq. They left the town.", {"date": "2003-11-02"}),
] * 4


class Chain:
    """A model that takes a mention for the one before it, or for a new one."""

    def predict_antecedent_proba(self, X):
        return [np.eye(len(d)) * 0.5 + np.eye(len(d), k=-1) * 0.5 + _first(len(d)) for d in X]


def _first(n):
    first = np.zeros((n, n))
    first[:1, :1] = 0.5
    return first


def same(one, other):
    np.testing.assert_array_equal(one.hit_counts, other.hit_counts)
    np.testing.assert_array_equal(one.hit_document, other.hit_document)
    np.testing.assert_array_equal(one.n_documents, other.n_documents)
    np.testing.assert_array_equal(one.best, other.best)
    assert (one.keys, one.documents) == (other.keys, other.documents)


def test_raw_text_is_parsed_and_counted(pipeline, pipeline_folder):
    options = {"n_samples": 20, "random_state": 0}
    documents = list(parse_texts(NEWS, pipeline))
    plain = count_corpus(documents, Chain(), RULE, **options)
    assert set(plain.keys) == {"IRN", "USA"}
    assert plain.documents[:2] == ("text-0", "b")
    assert 0 < plain.mean.sum() < 12
    for parse in (pipeline, pipeline_folder):
        same(plain, count_corpus(iter(NEWS), Chain(), RULE, parse=parse, **options))
    # Texts, documents and functions may be mixed.
    mixed = [NEWS[0], documents[1], lambda: NEWS[2], lambda: documents[3], *NEWS[4:]]
    same(plain, count_corpus(mixed, Chain(), RULE, parse=pipeline, **options))


@pytest.mark.parametrize("named", [False, True])
def test_raw_text_in_workers(pipeline, pipeline_folder, named):
    parse = pipeline_folder if named else pipeline
    options = {"n_samples": 20, "random_state": 0, "parse": parse}
    one = count_corpus(NEWS, Chain(), RULE, **options)
    same(one, count_corpus(NEWS, Chain(), RULE, n_jobs=2, batch_size=3, **options))


class Loads:
    """A parser that counts how often a process has unpickled it, and has an array of its own."""

    times = 0

    def __init__(self):
        self.scratch = np.zeros(200_000)  # more than joblib would put into a memory map

    def __setstate__(self, state):
        Loads.times += 1
        self.__dict__.update(state)

    def __getstate__(self):
        return dict(self.__dict__)

    def __call__(self, text):
        self.scratch[0] += 1  # as spaCy does; what cannot be written to raises an error
        return Document(
            "d", ["w"], mentions=[(0, 1)], metadata={"times": Loads.times}, date="2001-01-01"
        )


def times(document):
    return document.metadata["times"]


def always(document, entity):
    return "yes"


def test_a_worker_loads_a_parser_once():
    post = count_corpus(
        ["a"] * 40, None, always, parse=Loads(), n_jobs=2, batch_size=1, period=times
    )
    assert post.period_labels == ["1"]


@pytest.mark.parametrize("processes", [False, True])
def test_raw_text_on_a_dask_cluster(pipeline, pipeline_folder, processes):
    one = count_corpus(NEWS, Chain(), RULE, parse=pipeline, n_samples=10, random_state=0)
    with dask_client(n_workers=1, threads_per_worker=2, processes=processes) as client:
        for parse in (pipeline, pipeline_folder):
            many = count_corpus(
                iter(NEWS), Chain(), RULE, parse=parse, n_samples=10, batch_size=3, client=client,
                random_state=0,
            )  # fmt: skip
            same(one, many)


class Watched:
    """A parser that keeps the texts it has seen."""

    def __init__(self, pipeline):
        self.pipeline, self.seen = pipeline, []

    def __call__(self, text):
        self.seen.append(text)
        return self.pipeline(text)


def test_texts_are_left_unparsed_only_where_the_answer_is_the_same(pipeline):
    options = {"n_samples": 20, "random_state": 0, "period": "M"}
    plain, filtered = Watched(pipeline), Watched(pipeline)
    one = count_corpus(NEWS, Chain(), RULE, parse=plain, **options)
    other = count_corpus(NEWS, Chain(), RULE, parse=filtered, prefilter=True, **options)
    same(one, other)
    assert other.n_documents.sum() == len(NEWS) == len(plain.seen)
    assert sorted(set(filtered.seen)) == sorted(NEWS[i][0] for i in (0, 1, 4))
    # Functions of a document may look at the parse.
    for options in ({"period": lambda d: len(d.tokens)}, {"sample_weight": lambda d: len(d)}):
        watched = Watched(pipeline)
        one = count_corpus(NEWS, None, RULE, parse=pipeline, **options)
        other = count_corpus(NEWS, None, RULE, parse=watched, prefilter=True, **options)
        same(one, other)
        np.testing.assert_array_equal(one.document_weight, other.document_weight)
        assert len(watched.seen) == len(NEWS)
    with pytest.raises(TypeError, match=r"a rule with a method may_hold.text., which function"):
        count_corpus(NEWS, None, linked, parse=pipeline, prefilter=True)


def test_raw_texts_that_cannot_be_counted(pipeline):
    def parse(text):
        if "bad" in text:
            raise OSError("the parser has gone")
        return pipeline(text)

    stream = [
        NEWS[0],
        ("bad", {"id": "b", "date": "2003-01-01"}),
        ("Iran left.", {"id": "u"}),
        ("Iran left.", {"id": "m", "date": "May"}),
        ("Iran left.", {"id": "y", "date": "2003"}),
    ]
    for function in (parse, pipeline):
        with pytest.warns(UserWarning, match="of 5 documents were skipped"):
            post = count_corpus(
                stream, Chain(), RULE, parse=function, on_error="skip", undated="skip", n_samples=2
            )
        reasons = {skipped.id: skipped.reason for skipped in post.skipped}
        assert ("b" in reasons) == (function is parse)
        assert "has no date" in reasons["u"]
        assert "date='May' is not a date" in reasons["number 3"]
        assert "is dated 2003" in reasons["y"]
    with pytest.raises(
        RuntimeError, match=r"'b' .number 1. could not be counted: OSError: the pars"
    ):
        count_corpus(stream, Chain(), RULE, parse=parse)
    unparsed = r"^Document number 0 could not .* entry 0 is a tuple. Pass parse= to count raw text"
    with pytest.raises(RuntimeError, match=unparsed):
        count_corpus(stream, Chain(), RULE)


def test_without_a_model_every_mention_is_alone():
    post = count_corpus(CORPUS.X, None, RULE, n_samples=30)
    alone = [np.arange(len(document))[np.newaxis] for document in CORPUS.X]
    plain = count_documents(CORPUS.X, alone, RULE, best=[rows[0] for rows in alone])
    assert post.n_samples == 30
    np.testing.assert_array_equal(post.mean, plain.mean)
    np.testing.assert_array_equal(post.mean, post.best)
    assert (post.standard_error == 0).all()
    low, high = post.confidence_interval()
    np.testing.assert_array_equal(low, high)
    linked_too = count_corpus(CORPUS.X, CORPUS.model, RULE, n_samples=30, random_state=0)
    assert linked_too.mean.sum() > post.mean.sum()


def test_progress_has_an_estimate(capsys, monkeypatch):
    clock = iter(np.arange(0.0, 1e6, 5.0))
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    count_corpus(CORPUS.X, None, RULE, n_samples=2, verbose=1, batch_size=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "count_corpus: 2 of 60 documents, 0.2/s, about 5 min left"
    assert lines[-1].startswith("count_corpus: 60 documents, 0.2/s")
    count_corpus(iter(CORPUS.X[:4]), None, RULE, n_samples=2, verbose=1, total=2000)
    assert "of 2,000 documents, 0.2/s, about 2 h 46 min left" in capsys.readouterr().err
    count_corpus(iter(CORPUS.X[:4]), None, RULE, n_samples=2, verbose=1)
    assert "left" not in capsys.readouterr().err


def test_an_interruption_says_how_far_it_was():
    def stream():
        yield from CORPUS.X[:20]
        raise KeyboardInterrupt

    message = r"^count_corpus was interrupted after 16 documents in 0 s; these counts are lost\. "
    with pytest.raises(KeyboardInterrupt, match=message) as caught:
        count_corpus(stream(), None, RULE)
    assert caught.value.__suppress_context__


class Interrupted(Exception):
    """Whatever may end a run."""


def ends_after(n, error=Interrupted):
    """Yield some documents and fail, as a process might."""
    yield from CORPUS.X[:n]
    raise error


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2, "batch_size": 3}])
@pytest.mark.parametrize("model", [CORPUS.model, None])
def test_a_run_goes_on_where_it_ended(tmp_path, options, model):
    seen = {"n_samples": 20, "random_state": 5, "best": model is None}
    whole = count_corpus(CORPUS.X, model, RULE, **seen)
    for ends in (3, 17, 18, 43):
        with pytest.raises(Interrupted):
            count_corpus(ends_after(ends), model, RULE, checkpoint=tmp_path / "run", batch_size=2,
                         **seen)  # fmt: skip
    resumed = count_corpus(
        iter(CORPUS.X), model, RULE, checkpoint=tmp_path / "run", **options, **seen
    )
    same(whole, resumed)
    assert str(whole) == str(resumed)
    assert [str(u) for u in whole.most_uncertain(5)] == [str(u) for u in resumed.most_uncertain(5)]
    # Nothing is left to do, and more documents may follow.
    same(whole, count_corpus(CORPUS.X, model, RULE, checkpoint=str(tmp_path / "run"), **seen))


class Counting:
    """A model that counts how many documents it is asked about."""

    def __init__(self, model):
        self.model, self.asked = model, 0

    def __getstate__(self):
        return {"model": self.model}

    def predict_antecedent_proba(self, X):
        self.asked += len(X)
        return self.model.predict_antecedent_proba(X)


def test_nothing_is_counted_twice(tmp_path):
    model = Counting(CORPUS.model)
    options = {"checkpoint": tmp_path, "batch_size": 1, "n_samples": 5}
    with pytest.raises(KeyboardInterrupt, match="again with the same checkpoint to go on"):
        count_corpus(ends_after(40, KeyboardInterrupt), model, RULE, **options)
    assert model.asked == 40
    # Without random_state, the seed of the folder is used.
    resumed = count_corpus(CORPUS.X, model, RULE, **options)
    assert model.asked == 60
    same(resumed, count_corpus(CORPUS.X, model, RULE, **options))
    assert model.asked == 60


def test_what_failed_is_tried_again(tmp_path):
    fails = [True]

    def odd():
        if fails:
            raise OSError("the disk is away")
        return CORPUS.X[2]

    stream = [*CORPUS.X[:2], odd, *CORPUS.X[3:]]
    options = {"n_samples": 10, "random_state": 0, "checkpoint": tmp_path, "batch_size": 1}
    with pytest.raises(RuntimeError, match="the disk is away"):
        count_corpus(stream, CORPUS.model, RULE, **options)
    fails.clear()
    resumed = count_corpus(stream, CORPUS.model, RULE, **options)
    same(resumed, count_corpus(CORPUS.X, CORPUS.model, RULE, n_samples=10, random_state=0))


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    begun = {"n_samples": 10, "random_state": 0, "checkpoint": tmp_path}
    count_corpus(CORPUS.X[:8], CORPUS.model, RULE, **begun)
    strict = AgentRule(country_lexicon(), verbs=["seize"])
    for other, name in [
        ({"n_samples": 11}, "n_samples"),
        ({"random_state": 1}, "random_state"),
        ({"rule": strict, "period": "Y"}, "rule, period"),
        ({"model": None}, "model"),
        ({"best": False}, "best"),
        ({"sample_weight": len}, "sample_weight"),
    ]:
        options = {"model": CORPUS.model, "rule": RULE, **begun, **other}
        with pytest.raises(ValueError, match=rf"another run: it was begun with another {name}\. "):
            count_corpus(CORPUS.X[:8], **options)
    edited = CORPUS.X[3].replace(title="Correction")
    for stream, message in [
        (
            CORPUS.X[1:9],
            "number 0 was 'news-00000' when .* now it is 'news-00001'",
        ),
        (
            [*CORPUS.X[:3], edited, *CORPUS.X[4:8]],
            "number 3 was 'news-00003' when .* now it differ",
        ),
        (CORPUS.X[:5], "it has counted number 7, and now there are 5"),
    ]:
        with pytest.raises(ValueError, match=f"is of other documents: {message}"):
            count_corpus(stream, CORPUS.model, RULE, **begun)
    # None of this has changed the folder.
    count_corpus(CORPUS.X, CORPUS.model, RULE, **begun, undated="skip", keys=["USA"], n_jobs=2)


def test_raw_text_with_a_checkpoint(tmp_path, pipeline, pipeline_folder):
    for i, parse in enumerate((pipeline, pipeline_folder)):
        options = {
            "n_samples": 20,
            "random_state": 0,
            "parse": parse,
            "checkpoint": tmp_path / f"{i}",
        }
        with pytest.raises(Interrupted):
            count_corpus(iter_ends(NEWS, 7), Chain(), RULE, batch_size=2, **options)
        resumed = count_corpus(NEWS, Chain(), RULE, **options)
        del options["checkpoint"]
        same(count_corpus(NEWS, Chain(), RULE, **options), resumed)


def iter_ends(items, n):
    yield from items[:n]
    raise Interrupted


# Run in a process of its own, which ends in the middle of a document.
CRASHING = """
import os, sys
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon
corpus = make_event_corpus(60, random_state=1)
def stream():
    for i, document in enumerate(corpus.X):
        if i == 30:
            os.kill(os.getpid(), 9)
        yield document
count_corpus(stream(), corpus.model, AgentRule(country_lexicon()), n_samples=10, random_state=2,
             checkpoint=sys.argv[1], batch_size=4)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_process_that_is_killed(tmp_path):
    done = subprocess.run([sys.executable, "-c", CRASHING, tmp_path], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    model = Counting(CORPUS.model)
    with pytest.raises(ValueError, match="begun with another model"):
        count_corpus(CORPUS.X, model, RULE, n_samples=10, random_state=2, checkpoint=tmp_path)
    resumed = count_corpus(
        CORPUS.X, CORPUS.model, RULE, n_samples=10, random_state=2, checkpoint=tmp_path
    )
    same(resumed, count_corpus(CORPUS.X, CORPUS.model, RULE, n_samples=10, random_state=2))
    lines = (tmp_path / "counted.jsonl").read_bytes().splitlines()
    assert len(lines) == 61


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes")
def test_a_disk_that_is_full(tmp_path):
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000))\n"
    script = limited + CRASHING.replace("if i == 30:", "if False:")
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "what was counted so far is kept: make room, and run it again" in last
    assert str(tmp_path / "counted.jsonl") in last
    assert (tmp_path / "counted.jsonl").stat().st_size == 8000  # the last line is cut off
    options = {"n_samples": 10, "random_state": 2}
    resumed = count_corpus(CORPUS.X, CORPUS.model, RULE, checkpoint=tmp_path, **options)
    same(resumed, count_corpus(CORPUS.X, CORPUS.model, RULE, **options))
