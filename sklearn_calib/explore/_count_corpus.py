"""Sample and count a whole corpus: a stream of documents, many workers, one answer."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from sklearn_calib._validation import Array, check_generator, check_integer, check_option
from sklearn_calib.coref import Document
from sklearn_calib.coref._clusters import best_entities, draw_entities
from sklearn_calib.coref._parse_texts import Parse, Parser, as_parser
from sklearn_calib.coref._raw_text import RawText, Record, as_raw_text, is_raw_text
from sklearn_calib.explore._checkpoint import Checkpoint
from sklearn_calib.explore._counting import Collector, Counted, Text, count_one, document_text
from sklearn_calib.explore._fingerprint import fingerprint
from sklearn_calib.explore._periods import Period, UndatedError, period_of
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._rule_answers import Answer, EntityRule, check_rule, entity_answer
from sklearn_calib.explore._workers import on_dask, on_joblib

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["count_corpus"]

# Seconds within which documents that workers send at once are taken for one.
_BURST = 0.5


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


Item = Document | Record
Source = Item | Callable[[], Item]
Batch = list[tuple[int, Source]]


@dataclass(frozen=True, eq=False)
class _Failure:
    """What went wrong, as text: not every exception can be sent between processes."""

    name: str
    message: str
    traceback: str
    undated: bool

    @classmethod
    def of(cls, error: Exception) -> _Failure:
        lines = "".join(traceback.format_exception(error))
        return cls(type(error).__name__, str(error), lines, isinstance(error, UndatedError))


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What became of one document of the stream."""

    number: int
    id: str
    found: Counted | _Failure


@dataclass(frozen=True, eq=False)
class _Task:
    """All that a worker needs, besides the documents."""

    model: AntecedentProbaModel | SamplingModel | None
    rule: EntityRule
    n_samples: int
    weigh: Callable[[Document], float] | None
    with_best: bool
    period: Period
    seed: int
    parser: Parser | None
    prefilter: bool

    def __call__(self, batch: Batch) -> list[_Outcome]:
        """Return what became of a batch of numbered documents."""
        found: dict[int, _Outcome] = {}
        documents: dict[int, Document | Exception] = {}
        texts: dict[int, RawText] = {}
        for number, source in batch:
            try:
                item = source() if callable(source) else source
                if self.parser is None or not is_raw_text(item):
                    documents[number] = document_text(item, number).item
                    continue
                text = as_raw_text(item, number)
            except Exception as error:
                id = getattr(source, "id", f"number {number}")
                found[number] = _Outcome(number, id, _Failure.of(error))
                continue
            try:
                counted = self._without_parsing(text)
            except Exception as error:
                found[number] = _Outcome(number, text.id, _Failure.of(error))
                continue
            if counted is None:
                texts[number] = text
            else:
                found[number] = _Outcome(number, text.id, counted)
        if texts and self.parser is not None:
            documents.update(zip(texts, self.parser(list(texts.values())), strict=True))
        for number, document in documents.items():
            if isinstance(document, Exception):
                found[number] = _Outcome(number, texts[number].id, _Failure.of(document))
            else:
                found[number] = self._outcome(number, document)
        return [found[number] for number, _ in batch]

    def lost(self, one: tuple[int, Source]) -> _Outcome:
        """Return what became of a document that ended its worker twice."""
        number, source = one
        id = f"number {number}"
        if isinstance(source, Document):
            id = source.id
        elif self.parser is not None and is_raw_text(source):
            id = as_raw_text(source, number).id
        reason = (
            "the process that worked on it ended, twice. It may have run out of memory, or "
            "crashed in compiled code."
        )
        return _Outcome(number, id, _Failure("LostWorker", reason, "It has not come back.", False))

    def parts(self) -> dict[str, object]:
        """Return what the answer depends on, besides the documents and numbers."""
        return {
            "model": self.model,
            "rule": self.rule,
            "period": self.period,
            "sample_weight": self.weigh,
            "parse": self.parser,
        }

    def _without_parsing(self, text: RawText) -> Counted | None:
        """Return what a text adds if that is known before it is parsed, or None.

        A text without a date, and one in which the rule cannot find anything, are
        not worth a parse. A function of a document might look at the parse.
        """
        dated = text.date is not None or (self.parser is not None and self.parser.keeps_dates)
        if callable(self.period) or not dated:
            return None
        when = period_of(None, text.date, self.period, name=text.name)
        if not self.prefilter or self.weigh is not None:
            return None
        if self.rule.may_hold(text.text):  # type: ignore[attr-defined]  # checked at the door
            return None
        nothing = Answer({}, {} if self.with_best else None, {}, self.n_samples)
        return Counted(text.id, text.name, when, 1.0, nothing, text.title or "")

    def _outcome(self, number: int, document: Document) -> _Outcome:
        def ask(text: Text[Document]) -> Answer:
            if self.model is None:
                return self._alone(text)
            # The seed depends on the place of a document, and on nothing that may vary.
            rng = np.random.default_rng([self.seed, number])
            samples, best = self._entities(self.model, text.item, rng)
            return entity_answer(text.item, samples, self.rule, best, name=text.name)

        try:
            text = document_text(document, number)
            counted = count_one(text, ask, period=self.period, weight=self.weigh)
        except NotFittedError:
            raise  # no fault of a document
        except Exception as error:
            return _Outcome(number, document.id, _Failure.of(error))
        return _Outcome(number, document.id, counted)

    def _alone(self, text: Text[Document]) -> Answer:
        """Return the answer without coreference: every sample is the same."""
        alone = np.arange(len(text.item))
        best = alone if self.with_best else None
        found = entity_answer(text.item, alone[np.newaxis], self.rule, best, name=text.name)
        counts = {key: np.repeat(counts, self.n_samples) for key, counts in found.counts.items()}
        return replace(found, counts=counts, n_samples=self.n_samples)

    def _entities(
        self,
        model: AntecedentProbaModel | SamplingModel,
        document: Document,
        rng: np.random.Generator,
    ) -> tuple[Array, Array | None]:
        """Return samples, and the single best entities if they are wanted.

        What the model says is taken at its word; all that is asked is whether it
        is about the mentions of this document.
        """
        if hasattr(model, "predict_antecedent_proba"):  # samples and best from one prediction
            [proba] = model.predict_antecedent_proba([document])
            samples = draw_entities(proba, self.n_samples, rng)
            best = best_entities(proba) if self.with_best else None
        else:
            [drawn] = model.sample([document], self.n_samples, random_state=rng)
            samples = np.asarray(drawn)
            best = np.asarray(model.predict([document])[0]) if self.with_best else None
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
    model: AntecedentProbaModel | SamplingModel | None,
    rule: EntityRule,
    *,
    parse: Parse | None = None,
    prefilter: bool = False,
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
    total: int | None = None,
    verbose: int = 0,
    checkpoint: str | PathLike[str] | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> CountPosterior:
    """Sample entities and count the documents for which a rule holds, in parallel.

    Documents are read as they are needed and forgotten when they are counted,
    so that a corpus may be larger than memory.

    Parameters
    ----------
    documents : iterable of Document, str, (str, mapping) or callable
        The documents, for example from a generator; or with `parse` raw texts,
        alone or with a mapping of what is known of them, as `read_jsonl` yields
        them and `parse_texts` describes them. A function in their place is called
        by the worker and returns the document or the text, so that reading runs
        in parallel, too.
    model : object or None
        A fitted coreference model with `sample` and, for `best`, `predict`; or with
        `predict_antecedent_proba`, from which both follow. None counts without
        coreference, for contrast: every mention is an entity of its own, and
        nothing is uncertain.
    rule : callable
        As in `count_documents`. For several processes it must be possible to
        pickle it.
    parse : str, path, spacy.Language or callable, default=None
        What parses raw texts, as in `parse_texts`. Each worker loads a pipeline
        once, and passes whole batches through it.
    prefilter : bool, default=False
        Whether to leave raw texts unparsed for which `rule.may_hold(text)` is
        False. They count as documents in which nothing was found, so that the
        result is the same; see `AgentRule.may_hold` for what is taken for
        granted. If `period` or `sample_weight` is a function of a document, every
        text is parsed nevertheless, because the function might look at the parse.
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
        warning. So is a document whose worker process ends, when it is tried for
        the second time. An error of the stream itself, from which no further
        document can come, is always raised.
    n_jobs : int, default=None
        Number of joblib's workers; -1 for one per core.
    client : dask.distributed.Client, default=None
        A client of a Dask cluster, whose workers then take the place of joblib's.
    batch_size : int, default=16
        Documents that go to a worker at once.
    total : int, default=None
        How many documents there are, if `documents` itself does not know, for
        the estimate of the time left.
    verbose : int, default=0
        From 1 on, progress is written to the standard error stream: every ten
        seconds, and from 2 on every second.
    checkpoint : str or path, default=None
        A folder in which each document's counts are kept as soon as they are known.
        If the run ends early, for whatever reason, the same call goes on where it
        ended, and the result is that of a run without interruption. The documents
        must come in the same order, and model, rule and options be the same; other
        ones are refused. `keys`, `undated`, `on_error` and how the work is done may
        differ. Documents that failed are tried again.
    random_state : int, RandomState, Generator or None, default=None
        Seed. None with a checkpoint goes on with the seed of the checkpoint. The
        result depends on it and on the order of the documents, but neither on
        `n_jobs`, nor on `client`, nor on `batch_size`.

    Returns
    -------
    CountPosterior
        Mean, intervals and more, by period and key.

    Raises
    ------
    KeyboardInterrupt
        If it is interrupted, with a message that says how far it was.

    See Also
    --------
    reading_plan : Which documents to read, to correct the counts where the model is wrong.
    count_documents : For samples that are there already.
    sklearn_calib.coref.read_jsonl, sklearn_calib.coref.read_text_folder : Read raw texts.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_event_corpus
    >>> from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon
    >>> corpus = make_event_corpus(60, random_state=0)
    >>> stream = (document for document in corpus.X)
    >>> posterior = count_corpus(stream, corpus.model, AgentRule(country_lexicon()), random_state=0)
    >>> posterior
    key   mean  low  high  best
    IRN  11.72    8    16    12
    IRQ  10.12    6    14    11
    KWT  10.09    6    14    11
    USA   5.34    2     9     4
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
    if model is not None and not hasattr(model, "predict_antecedent_proba"):
        for method in ("sample", "predict")[: 1 + best]:
            if not callable(getattr(model, method, None)):
                raise TypeError(f"model has no method {method!r}: {type(model).__name__}.")
    if client is not None and n_jobs is not None:
        raise ValueError("n_jobs and client are both set: the client decides where work is done.")
    if prefilter and not callable(getattr(rule, "may_hold", None)):
        raise TypeError(
            f"prefilter needs a rule with a method may_hold(text), which {type(rule).__name__} "
            "does not have."
        )
    if total is None and isinstance(documents, Sized):
        total = len(documents)
    parser = None if parse is None else as_parser(parse)
    collector = Collector(period, keys, undated)
    seed = int(check_generator(random_state).integers(2**32))
    task = _Task(model, rule, n_samples, sample_weight, best, period, seed, parser, bool(prefilter))
    # Outcomes may come in any order, and the documents must not.
    waiting: dict[int, _Outcome] = {}
    following = 0
    progress = _Progress(verbose, total, checkpoint is not None)
    log = None
    if checkpoint is not None:
        given = None if random_state is None else seed
        log = Checkpoint(checkpoint, _run(task), given, calendar=isinstance(period, str))
        task = replace(task, seed=log.seed)

    def uncounted() -> Iterator[tuple[int, Source]]:
        for number, source in enumerate(_checked_stream(documents)):
            counted = None if log is None else log.look_up(number, source)
            if counted is None:
                yield number, source
            else:
                waiting[number] = _Outcome(number, counted.id, counted)

    def collect() -> None:
        nonlocal following
        while following in waiting:
            _collect(collector, waiting.pop(following), on_error)
            following += 1
        progress.show(following, len(collector.skipped))

    batches = _batches(uncounted(), batch_size)
    outcomes = (
        on_joblib(task, batches, n_jobs) if client is None else on_dask(task, batches, client)
    )
    try:
        with log or nullcontext(), closing(outcomes):  # workers stop when a document stops the run
            for outcome in outcomes:
                if log is not None:
                    log.add(outcome.number, outcome.found)
                waiting[outcome.number] = outcome
                collect()
            collect()
            if log is not None:
                log.check_end(following)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(progress.interrupted(following)) from None
    progress.show(following, len(collector.skipped), last=True)
    return collector.posterior()


def _run(task: _Task) -> dict[str, Any]:
    """Return what a run is known by: the options that its answer depends on."""
    found: dict[str, Any] = {}
    for name, part in task.parts().items():
        try:
            found[name] = fingerprint(part.identity() if isinstance(part, Parser) else part)
        except TypeError as error:
            raise TypeError(
                f"checkpoint must recognise {name} when the run goes on, and cannot: {error}"
            ) from error
    options = {"n_samples": task.n_samples, "best": task.with_best, "prefilter": task.prefilter}
    return {**found, **options}


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
        named = f"Document {id!r} (number {number})"
        if id == f"number {number}":  # it has no name of its own
            named = f"Document {id}"
        error = RuntimeError(
            f"{named} could not be counted: {reason} Pass "
            "on_error='skip' to leave such documents out."
        )
        error.add_note(f"In the worker:\n{found.traceback}")
        raise error


def _checked_stream(documents: Iterable[Source]) -> Iterable[Source]:
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise TypeError(f"documents must be an iterable, got {type(documents).__name__}.")
    return documents


def _batches(numbered: Iterator[tuple[int, Source]], size: int) -> Iterator[Batch]:
    while batch := list(islice(numbered, size)):
        yield batch


class _Progress:
    """Says now and then how far it is, and how long it will take."""

    def __init__(self, verbose: int, total: int | None, kept: bool) -> None:
        self.every = {0: np.inf, 1: 10.0}.get(int(verbose), 1.0)
        self.total = total
        self.kept = kept
        self.start = self.said = time.perf_counter()
        self.first: float | None = None
        self.mark = (0.0, 0)

    def show(self, done: int, skipped: int, *, last: bool = False) -> None:
        now = time.perf_counter()
        # The estimate begins with the first documents: workers take a while to load a pipeline.
        self.first = now if self.first is None else self.first
        if now - self.first < _BURST:
            self.mark = (now, done)
        if now - self.said < self.every and not (last and self.every < np.inf):
            return
        self.said = now
        rate = done / max(now - self.start, 1e-9)
        note = f", {skipped:,} skipped" if skipped else ""
        since, before = self.mark
        if self.total is not None and before < done < self.total:
            left = (self.total - done) * (now - since) / (done - before)
            note += f", about {_duration(left)} left"
        print(f"count_corpus: {self._documents(done)}, {rate:.1f}/s{note}", file=sys.stderr)

    def interrupted(self, done: int) -> str:
        """Return what to say when somebody has pressed Ctrl-C."""
        spent = _duration(time.perf_counter() - self.start)
        fate = (
            "run it again with the same checkpoint to go on."
            if self.kept
            else "these counts are lost. A checkpoint would keep them."
        )
        return f"count_corpus was interrupted after {self._documents(done)} in {spent}; {fate}"

    def _documents(self, done: int) -> str:
        of = f" of {self.total:,}" if self.total is not None and done < self.total else ""
        return f"{done:,}{of} documents"


def _duration(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
