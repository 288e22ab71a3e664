"""Workers that are lost, and documents that end them."""

import os
import sys
import time
from functools import partial

import numpy as np
import pytest

from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, _workers, count_corpus, country_lexicon
from sklearn_calib.explore._workers import _Packed
from tests.explore.clusters import dask_client

CORPUS = make_event_corpus(40, random_state=1)
RULE = AgentRule(country_lexicon())
OPTIONS = {"n_samples": 5, "random_state": 0, "batch_size": 3}


def ends_its_process():
    os._exit(1)


class EndsOnce:
    """A document whose first reader is lost, whoever it is."""

    def __init__(self, folder, document):
        self.folder, self.document = folder, document

    def __call__(self):
        path = self.folder / self.document.id
        if not path.exists():
            path.touch()
            os._exit(1)
        return self.document


class SlowModel:
    """A model that takes its time."""

    def __init__(self, model):
        self.model = model

    def predict_antecedent_proba(self, X):
        time.sleep(0.05)
        return self.model.predict_antecedent_proba(X)


@pytest.fixture(scope="module")
def whole():
    return count_corpus(CORPUS.X, CORPUS.model, RULE, **OPTIONS)


def same(one, other):
    np.testing.assert_array_equal(one.hit_counts, other.hit_counts)
    assert one.documents == other.documents


def check_a_deadly_document(whole, **workers):
    """Check that a document that ends its worker is named, or skipped on request."""
    stream = [*CORPUS.X[:10], ends_its_process, *CORPUS.X[11:]]
    with pytest.warns(UserWarning, match="1 of 40 documents were skipped"):
        post = count_corpus(stream, CORPUS.model, RULE, on_error="skip", **workers, **OPTIONS)
    [skipped] = post.skipped
    assert (skipped.number, skipped.id) == (10, "number 10")
    assert skipped.reason.startswith("LostWorker: the process that worked on it ended, twice.")
    # The other documents have the seeds that they always have.
    assert post.documents == whole.documents[:10] + whole.documents[11:]
    np.testing.assert_array_equal(whole.hit_counts[whole.hit_document != 10], post.hit_counts)


def test_a_document_that_ends_joblibs_workers(whole):
    check_a_deadly_document(whole, n_jobs=2)
    stream = [CORPUS.X[0], ends_its_process]
    with pytest.raises(RuntimeError, match=r"number 1 could not be counted: LostWorker: the proc"):
        count_corpus(stream, CORPUS.model, RULE, n_jobs=2, **OPTIONS)


def test_a_worker_of_joblib_that_is_lost_once(whole, tmp_path):
    stream = [*CORPUS.X[:5], *(EndsOnce(tmp_path, d) for d in CORPUS.X[5:7]), *CORPUS.X[7:]]
    same(whole, count_corpus(stream, CORPUS.model, RULE, n_jobs=2, **OPTIONS))
    assert len(list(tmp_path.iterdir())) == 2


class UnpacksNowhere:
    """A rule that ends whatever process it is sent to."""

    def __call__(self, document, entity):
        return None

    def __reduce__(self):
        return os._exit, (3,)


def test_workers_that_cannot_begin():
    with pytest.raises(RuntimeError, match="The workers ended 3 times before they began"):
        count_corpus(CORPUS.X[:6], CORPUS.model, UnpacksNowhere(), n_jobs=2, **OPTIONS)


def test_a_document_that_ends_the_workers_of_a_cluster(whole):
    config = {"distributed.scheduler.allowed-failures": 0}
    with dask_client(n_workers=2, threads_per_worker=1, config=config) as client:
        check_a_deadly_document(whole, client=client)


def packed_the_second_time(folder, name, data):
    if not (folder / "first").exists():
        (folder / "first").touch()
        os._exit(1)
    return _Packed(name, data)


def test_a_worker_is_lost_with_the_task_itself(whole, tmp_path, monkeypatch):
    # The batches that waited for the task are not to blame.
    monkeypatch.setattr(_workers, "_Packed", partial(packed_the_second_time, tmp_path))
    config = {"distributed.scheduler.allowed-failures": 0}
    with dask_client(n_workers=2, threads_per_worker=1, config=config) as client:
        same(whole, count_corpus(CORPUS.X, CORPUS.model, RULE, client=client, **OPTIONS))
    assert (tmp_path / "first").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_only_worker_of_a_cluster_is_killed(whole):
    killed = []

    def stream(client):
        for i, document in enumerate(CORPUS.X):
            if i == 35:
                [pid, *_] = client.run(os.getpid).values()
                os.kill(pid, 9)
                killed.append(pid)
            yield document

    with dask_client(n_workers=1, threads_per_worker=1) as client:
        model = SlowModel(CORPUS.model)
        same(whole, count_corpus(stream(client), model, RULE, client=client, **OPTIONS))
        assert killed
        assert killed[0] not in client.run(os.getpid).values()
