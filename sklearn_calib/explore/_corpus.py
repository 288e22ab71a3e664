"""Sample and count a whole corpus: a stream of documents, many workers, one answer."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pickle import PicklingError
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from sklearn_calib._validation import check_generator, check_integer, check_option
from sklearn_calib.coref import Document, sample_entities
from sklearn_calib.coref._clusters import best_entities
from sklearn_calib.explore._answers import Answer, answer_document
from sklearn_calib.explore._periods import UndatedError, period_of
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._tally import Tally, check_document, check_weight
from sklearn_calib.explore._uncertain import SkippedDocument

__all__ = ["count_corpus"]

# Batches that wait for a worker: enough to keep it busy, few enough to be held in memory.
_AHEAD = 4


@dataclass(frozen=True, eq=False)
class _Task:
    """All that a worker needs, besides the documents."""

    model: Any
    rule: Any
    n_samples: int
    weigh: Callable[[Document], float] | None
    with_best: bool
    period: Any
    seed: int

    def __call__(self, batch: list[tuple[int, Any]]) -> list[_Result]:
        """Return the results of a batch of numbered documents."""
        return [self._result(number, item) for number, item in batch]

    def _result(self, number: int, item: Any) -> _Result:
        id = getattr(item, "id", f"number {number}")
        try:
            document = check_document(item() if callable(item) else item, number)
            id = document.id
            when = period_of(f"Document {id!r}", document.date, self.period, document)
            # The seed depends on the place of a document, and on nothing that may vary.
            rng = np.random.default_rng([self.seed, number])
            samples, best = self._entities(document, rng)
            answer = answer_document(document, samples, self.rule, best)
            weight = 1.0 if self.weigh is None else self.weigh(document)
            weight = check_weight(weight, f"Document {id!r}")
        except Exception as error:
            undated = isinstance(error, UndatedError)
            name = type(error).__name__
            return _Result(number, id, _Failure(name, str(error), traceback.format_exc(), undated))
        return _Result(number, id, None, when, weight, answer)

    def _entities(self, document: Document, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return samples, and the single best entities if they are wanted."""
        if hasattr(self.model, "predict_antecedent_proba"):  # samples and best from one prediction
            [proba] = self.model.predict_antecedent_proba([document])
            best = best_entities(proba) if self.with_best else None
            return sample_entities(proba, self.n_samples, rng), best
        [samples] = self.model.sample([document], self.n_samples, random_state=rng)
        return samples, self.model.predict([document])[0] if self.with_best else None


@dataclass(frozen=True, eq=False)
class _Failure:
    """What went wrong, as text: not every exception can be sent between processes."""

    name: str
    message: str
    traceback: str
    undated: bool


@dataclass(frozen=True, eq=False)
class _Result:
    number: int
    id: str
    failure: _Failure | None
    period: Any = None
    weight: float = 1.0
    answer: Answer | None = None


def count_corpus(
    documents: Iterable[Any],
    model: Any,
    rule: Callable[[Document, tuple[int, ...]], Any],
    *,
    n_samples: int = 100,
    period: Any = "Q",
    best: bool = True,
    keys: Iterable[Any] | None = None,
    sample_weight: Callable[[Document], float] | None = None,
    undated: str = "raise",
    on_error: str = "raise",
    n_jobs: int | None = None,
    client: Any = None,
    batch_size: int = 16,
    verbose: int = 0,
    random_state: Any = None,
) -> CountPosterior:
    """Sample entities and count the documents for which a rule holds, in parallel.

    Documents are read as they are needed and forgotten when they are counted,
    so that a corpus may be larger than memory.

    Parameters
    ----------
    documents : iterable of Document or callable
        The documents, for example from a generator. A function in their place is
        called by the worker and returns the document, so that reading and
        parsing run in parallel, too.
    model : object
        A fitted coreference model with `sample` and, for `best`, `predict`; or with
        `predict_antecedent_proba`, from which both follow.
    rule : callable
        As in `count_documents`. For several processes it must be possible to
        pickle it.
    n_samples : int, default=100
        Samples of each document.
    period : {"D", "W", "M", "Q", "Y"}, callable or None, default="Q"
        As in `count_documents`.
    best : bool, default=True
        Also count the model's single best entities, for contrast.
    keys : list, default=None
        As in `count_documents`.
    sample_weight : callable, default=None
        A function of a document: what it counts.
    undated : {"raise", "skip"}, default="raise"
        As in `count_documents`.
    on_error : {"raise", "skip"}, default="raise"
        What to do when a document cannot be read, sampled or counted. Skipped
        documents are listed in the result with the reason, and there is a
        warning. An error of the stream itself, from which no further document
        can come, is always raised.
    n_jobs : int, default=None
        Number of joblib's workers; -1 for one a core.
    client : dask.distributed.Client, default=None
        A client of a Dask cluster, whose workers then take the place of joblib's.
    batch_size : int, default=16
        Documents that go to a worker at once.
    verbose : int, default=0
        From 1 on, progress is written to the standard error stream.
    random_state : int, RandomState, Generator or None, default=None
        Seed. The result depends on it and on the order of the documents, but
        neither on `n_jobs`, nor on `client`, nor on `batch_size`.

    Returns
    -------
    CountPosterior
        Mean, intervals and more, by period and key.

    See Also
    --------
    count_documents : For samples that are there already.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_event_corpus
    >>> from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon
    >>> corpus = make_event_corpus(60, random_state=0)
    >>> stream = (document for document in corpus.documents)
    >>> posterior = count_corpus(stream, corpus.model, AgentRule(country_lexicon()), random_state=0)
    >>> posterior
    <CountPosterior: 60 documents, 12 periods, 4 keys, 100 samples>
    """
    check_integer(n_samples, "n_samples")
    check_integer(batch_size, "batch_size")
    check_option(on_error, "on_error", ("raise", "skip"))
    if sample_weight is not None and not callable(sample_weight):
        raise TypeError(
            "sample_weight must be a function of a document here, because documents are a stream."
        )
    if not hasattr(model, "predict_antecedent_proba"):
        for method in ("sample", "predict")[: 1 + best]:
            if not callable(getattr(model, method, None)):
                raise TypeError(f"model has no method {method!r}: {type(model).__name__}.")
    if client is not None and n_jobs is not None:
        raise ValueError("n_jobs and client are both set: the client decides where work is done.")
    if hasattr(model, "fit"):
        check_is_fitted(model)
    tally = Tally(period, keys, undated)
    seed = int(check_generator(random_state).integers(2**32))
    task = _Task(model, rule, n_samples, sample_weight, best, period, seed)
    batches = _batches(documents, batch_size)
    results = (
        _on_dask(task, batches, client) if client is not None else _on_joblib(task, batches, n_jobs)
    )
    # Results may come in any order, and the documents must not.
    waiting: dict[int, _Result] = {}
    following = 0
    progress = _Progress(verbose)
    for result in results:
        waiting[result.number] = result
        while following in waiting:
            _add(tally, waiting.pop(following), on_error)
            following += 1
        progress.show(following, len(tally.skipped))
    progress.show(following, len(tally.skipped), last=True)
    return tally.finish()


def _add(tally: Tally, result: _Result, on_error: str) -> None:
    if result.failure is None:
        assert result.answer is not None
        tally.add(result.id, result.period, result.weight, result.answer)
        return
    reason = f"{result.failure.name}: {result.failure.message}"
    if result.failure.undated:
        tally.undated(result.number, result.id, result.failure.message)
    elif on_error == "skip":
        tally.skipped.append(SkippedDocument(result.number, result.id, reason))
    else:
        error = RuntimeError(
            f"Document {result.id!r} (number {result.number}) could not be counted: {reason} Pass "
            "on_error='skip' to leave such documents out."
        )
        error.add_note(f"In the worker:\n{result.failure.traceback}")
        raise error


def _batches(documents: Iterable[Any], size: int) -> Iterator[list[tuple[int, Any]]]:
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise TypeError(f"documents must be an iterable, got {type(documents).__name__}.")
    numbered = iter(enumerate(documents))
    while batch := list(islice(numbered, size)):
        yield batch


def _on_joblib(task: _Task, batches: Iterator[Any], n_jobs: int | None) -> Iterator[_Result]:
    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        for batch in batches:
            yield from task(batch)
        return
    with Parallel(n_jobs=n_jobs) as parallel:
        while some := list(islice(batches, workers * _AHEAD)):
            try:
                found = parallel(delayed(task)(batch) for batch in some)
            except PicklingError as error:
                parts = {"model": task.model, "rule": task.rule, "period": task.period}
                names = ", ".join(f"{name} {type(part).__name__}" for name, part in parts.items())
                raise TypeError(
                    f"Not everything can be pickled for the workers of n_jobs={n_jobs}: {names}, "
                    "and the documents. The error above says what cannot. Leave n_jobs out, or "
                    "change that part."
                ) from error
            for results in found:
                yield from results


def _on_dask(task: _Task, batches: Iterator[Any], client: Any) -> Iterator[_Result]:
    try:
        from distributed import as_completed
    except ImportError:
        raise ImportError(
            "client needs dask.distributed, which is not installed: "
            'pip install "sklearn-calib[dask]".'
        ) from None
    workers = max(1, sum(client.ncores().values()))
    [shared] = client.scatter([task], broadcast=True)

    def submit(batch: Any) -> Any:
        return client.submit(_call, shared, batch, pure=False)

    running = as_completed([submit(batch) for batch in islice(batches, workers * _AHEAD)])
    for future in running:
        yield from future.result()
        following = next(batches, None)
        if following is not None:
            running.add(submit(following))


def _call(task: _Task, batch: list[tuple[int, Any]]) -> list[_Result]:
    return task(batch)


class _Progress:
    """Says now and then how far it is."""

    def __init__(self, verbose: int) -> None:
        self.every = {0: np.inf, 1: 10.0}.get(int(verbose), 1.0)
        self.start = self.said = time.perf_counter()

    def show(self, done: int, skipped: int, *, last: bool = False) -> None:
        now = time.perf_counter()
        if now - self.said < self.every and not (last and self.every < np.inf):
            return
        self.said = now
        rate = done / max(now - self.start, 1e-9)
        note = f", {skipped:,} skipped" if skipped else ""
        print(f"count_corpus: {done:,} documents, {rate:.1f}/s{note}", file=sys.stderr)
