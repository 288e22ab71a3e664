"""Sample and count a whole corpus: a stream of documents, many workers, one answer."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pickle import PicklingError
from typing import TYPE_CHECKING, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from sklearn_calib._validation import Array, check_generator, check_integer, check_option
from sklearn_calib.coref import Document
from sklearn_calib.coref._clusters import best_entities, draw_entities
from sklearn_calib.explore._counting import Collector, Counted, Text, count_one, document_text
from sklearn_calib.explore._periods import Period, UndatedError
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._rule_answers import Answer, EntityRule, check_rule, entity_answer

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["count_corpus"]

# Batches that wait for a worker: enough to keep it busy, few enough to be held in memory.
_AHEAD = 4


class AntecedentProbaModel(Protocol):
    """A coreference model that knows the probability of each antecedent."""

    def predict_antecedent_proba(self, X: list[Document], /) -> Sequence[Array]:
        """Return a lower triangular matrix for each document."""


class SamplingModel(Protocol):
    """A coreference model that draws whole clusterings."""

    def sample(
        self, X: list[Document], n_samples: int, /, *, random_state: np.random.Generator
    ) -> Sequence[ArrayLike]:
        """Return sampled entities for each document."""

    def predict(self, X: list[Document], /) -> Sequence[ArrayLike]:
        """Return the single best entities of each document."""


Source = Document | Callable[[], Document]
Batch = list[tuple[int, Source]]


@dataclass(frozen=True, eq=False)
class _Failure:
    """What went wrong, as text: not every exception can be sent between processes."""

    name: str
    message: str
    traceback: str
    undated: bool


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What became of one document of the stream."""

    number: int
    id: str
    found: Counted | _Failure


@dataclass(frozen=True, eq=False)
class _Task:
    """All that a worker needs, besides the documents."""

    model: AntecedentProbaModel | SamplingModel
    rule: EntityRule
    n_samples: int
    weigh: Callable[[Document], float] | None
    with_best: bool
    period: Period
    seed: int

    def __call__(self, batch: Batch) -> list[_Outcome]:
        """Return what became of a batch of numbered documents."""
        return [self._outcome(number, source) for number, source in batch]

    def _outcome(self, number: int, source: Source) -> _Outcome:
        id = getattr(source, "id", f"number {number}")

        def ask(text: Text[Document]) -> Answer:
            # The seed depends on the place of a document, and on nothing that may vary.
            rng = np.random.default_rng([self.seed, number])
            samples, best = self._entities(text.item, rng)
            return entity_answer(text.item, samples, self.rule, best, name=text.name)

        try:
            text = document_text(source() if callable(source) else source, number)
            id = text.id
            found = count_one(text, ask, period=self.period, weight=self.weigh)
        except NotFittedError:
            raise  # no fault of a document
        except Exception as error:
            undated = isinstance(error, UndatedError)
            name = type(error).__name__
            failure = _Failure(name, str(error), traceback.format_exc(), undated)
            return _Outcome(number, id, failure)
        return _Outcome(number, id, found)

    def _entities(self, document: Document, rng: np.random.Generator) -> tuple[Array, Array | None]:
        """Return samples, and the single best entities if they are wanted.

        What the model says is taken at its word; all that is asked is whether it
        is about the mentions of this document.
        """
        if hasattr(self.model, "predict_antecedent_proba"):  # samples and best from one prediction
            [proba] = self.model.predict_antecedent_proba([document])
            samples = draw_entities(proba, self.n_samples, rng)
            best = best_entities(proba) if self.with_best else None
        else:
            [drawn] = self.model.sample([document], self.n_samples, random_state=rng)
            samples = np.asarray(drawn)
            best = np.asarray(self.model.predict([document])[0]) if self.with_best else None
        n = len(document)
        for name, entities, shape in (
            ("samples", samples, (len(samples), n)),
            ("best", best, (n,)),
        ):
            if entities is not None and entities.shape != shape:
                raise ValueError(
                    f"Document {document.id!r} has {n} mentions, so that the shape of the model's "
                    f"{name} should be {shape}, not {entities.shape}."
                )
        return samples, best


def count_corpus(
    documents: Iterable[Source],
    model: AntecedentProbaModel | SamplingModel,
    rule: EntityRule,
    *,
    n_samples: int = 100,
    period: Period = "Q",
    best: bool = True,
    keys: Iterable[Hashable] | None = None,
    sample_weight: Callable[[Document], float] | None = None,
    undated: str = "raise",
    on_error: str = "raise",
    n_jobs: int | None = None,
    client: Client | None = None,
    batch_size: int = 16,
    verbose: int = 0,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
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
        Number of joblib's workers; -1 for one per core.
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
    reading_plan : Which documents to read, to correct the counts where the model is wrong.
    count_documents : For samples that are there already.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_event_corpus
    >>> from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon
    >>> corpus = make_event_corpus(60, random_state=0)
    >>> stream = (document for document in corpus.X)
    >>> posterior = count_corpus(stream, corpus.model, AgentRule(country_lexicon()), random_state=0)
    >>> posterior
    key     mean     low     high     best
    IRN  11.7200  8.0000  16.0000  12.0000
    IRQ  10.1200  6.0000  14.0000  11.0000
    KWT  10.0900  6.0000  14.0000  11.0000
    USA   5.3400  2.0000   9.0000   4.0000
    60 documents in 12 quarters, 2001-Q1 to 2003-Q4; 100 samples of each.
    All quarters together. The intervals have a level of 95%, given the model.
    """
    check_rule(rule)
    n_samples = check_integer(n_samples, "n_samples")
    batch_size = check_integer(batch_size, "batch_size")
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
    collector = Collector(period, keys, undated)
    seed = int(check_generator(random_state).integers(2**32))
    task = _Task(model, rule, n_samples, sample_weight, best, period, seed)
    batches = _batches(documents, batch_size)
    outcomes = (
        _on_dask(task, batches, client) if client is not None else _on_joblib(task, batches, n_jobs)
    )
    # Outcomes may come in any order, and the documents must not.
    waiting: dict[int, _Outcome] = {}
    following = 0
    progress = _Progress(verbose)
    for outcome in outcomes:
        waiting[outcome.number] = outcome
        while following in waiting:
            _collect(collector, waiting.pop(following), on_error)
            following += 1
        progress.show(following, len(collector.skipped))
    progress.show(following, len(collector.skipped), last=True)
    return collector.posterior()


def _collect(collector: Collector, outcome: _Outcome, on_error: str) -> None:
    """Add what a document adds, or do what is to be done about a failure."""
    number, id, found = outcome.number, outcome.id, outcome.found
    if isinstance(found, Counted):
        collector.add(found)
        return
    reason = f"{found.name}: {found.message}"
    if found.undated:
        collector.leave_out_undated(number, id, found.message)
    elif on_error == "skip":
        collector.leave_out(number, id, reason)
    else:
        error = RuntimeError(
            f"Document {id!r} (number {number}) could not be counted: {reason} Pass "
            "on_error='skip' to leave such documents out."
        )
        error.add_note(f"In the worker:\n{found.traceback}")
        raise error


def _batches(documents: Iterable[Source], size: int) -> Iterator[Batch]:
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise TypeError(f"documents must be an iterable, got {type(documents).__name__}.")
    numbered = iter(enumerate(documents))
    while batch := list(islice(numbered, size)):
        yield batch


def _on_joblib(task: _Task, batches: Iterator[Batch], n_jobs: int | None) -> Iterator[_Outcome]:
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
            for outcomes in found:
                yield from outcomes


def _on_dask(task: _Task, batches: Iterator[Batch], client: Client) -> Iterator[_Outcome]:
    try:
        from distributed import as_completed
    except ImportError:
        raise ImportError(
            "client needs dask.distributed, which is not installed: "
            'pip install "sklearn-calib[dask]".'
        ) from None
    workers = max(1, sum(client.ncores().values()))
    [shared] = client.scatter([task], broadcast=True)

    def submit(batch: Batch) -> Future:
        return client.submit(_call, shared, batch, pure=False)

    running = as_completed([submit(batch) for batch in islice(batches, workers * _AHEAD)])
    for future in running:
        yield from future.result()
        following = next(batches, None)
        if following is not None:
            running.add(submit(following))


def _call(task: _Task, batch: Batch) -> list[_Outcome]:
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
