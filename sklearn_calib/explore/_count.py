"""Count the documents for which a rule holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sklearn_calib.coref import Document
from sklearn_calib.explore._answers import answer_document, check_keys
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._tally import Tally, check_document, check_weight, together
from sklearn_calib.queries import Queries

__all__ = ["count_documents", "rule_queries"]


def count_documents(
    documents: Iterable[Document],
    samples: Iterable[Any],
    rule: Callable[[Document, tuple[int, ...]], Any],
    *,
    period: Any = "Q",
    best: Iterable[Any] | None = None,
    keys: Iterable[Any] | None = None,
    sample_weight: Any = None,
    undated: str = "raise",
) -> CountPosterior:
    """Count the documents for which a rule holds, by period, with posterior uncertainty.

    A document counts for a key if the rule returns the key for one of its
    entities. What the entities are is uncertain, and samples of them say how
    uncertain the counts are.

    Parameters
    ----------
    documents : iterable of Document
        The documents, with dates. They are read once, so that a generator will
        do.
    samples : iterable of array-like of shape (n_samples, n_mentions)
        For each document the sampled entity of each mention, as a coreference
        model's `sample` returns them.
    rule : callable
        `rule(document, entity)` gets a document and the indices of the mentions
        of one entity, as a tuple. It returns a key, or a list or set of keys. A
        str, a number or a tuple is one key; None and False are no key, alone or
        in a list, and True is the key "yes". It is called once for each distinct entity of a
        document, however many samples have it. A rule with a method
        `bind(document)` is bound to each document first, as `AgentRule.bind`
        describes.
    period : {"D", "W", "M", "Q", "Y"}, callable or None, default="Q"
        Day, week (from Monday), month, quarter or year. From the first period to
        the last there are no gaps: periods without documents count 0. A function
        of a document may return any other period, such as its genre; None puts
        all documents into one.
    best : iterable of array-like of shape (n_mentions,), default=None
        For each document the single best entities, as a model's `predict`
        returns them, to be counted for contrast.
    keys : list, default=None
        The keys to count, in this order; all that the rule returns by default.
    sample_weight : iterable of float or callable, default=None
        What each document counts, for example one over the share of a period's
        documents that the corpus has; or a function of a document.
    undated : {"raise", "skip"}, default="raise"
        What to do about documents without a date, or with one that is too coarse
        for the period. Skipped documents are listed in the result, and there is
        a warning.

    Returns
    -------
    CountPosterior
        Mean, intervals and more, by period and key.

    See Also
    --------
    count_corpus : Samples and counts in parallel.
    count_tags : The same for samples of a tagger.
    AgentRule : The rule of the paper.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_event_corpus
    >>> from sklearn_calib.explore import AgentRule, count_documents, country_lexicon
    >>> corpus = make_event_corpus(200, random_state=0)
    >>> samples = corpus.model.sample(corpus.documents, 100, random_state=0)
    >>> rule = AgentRule(country_lexicon())
    >>> posterior = count_documents(corpus.documents, samples, rule, period="Y")
    >>> posterior
    <CountPosterior: 200 documents, 3 periods, 4 keys, 100 samples>
    >>> posterior.keys, posterior.period_labels
    (('IRN', 'IRQ', 'KWT', 'USA'), ['2001', '2002', '2003'])
    >>> low, high = posterior.confidence_interval(0.95)
    >>> bool((low <= posterior.mean).all() and (posterior.mean <= high).all())
    True
    """
    tally = Tally(period, keys, undated)
    weigh = sample_weight if callable(sample_weight) else None
    weights = None if weigh else sample_weight
    rows = together(documents, samples=samples, best=best, sample_weight=weights)
    for number, (document, drawn, chosen, weight) in enumerate(rows):
        check_document(document, number)
        when = tally.date(number, document.id, document.date, document)
        if when is None:
            continue
        weight = weigh(document) if weigh else 1.0 if weight is None else weight
        weight = check_weight(weight, f"Document {document.id!r}")
        tally.add(document.id, when, weight, answer_document(document, drawn, rule, chosen))
    return tally.finish()


def rule_queries(
    documents: Iterable[Document],
    samples: Iterable[Any],
    rule: Callable[[Document, tuple[int, ...]], Any],
    *,
    keys: Iterable[Any] | None = None,
) -> Queries:
    """Ask whether a rule's probabilities are right, on documents with known entities.

    A query is "does the rule find this key in this document?". Its probability
    comes from the samples in which it does, and the answer is what it finds for
    the document's own `entities`.

    Parameters
    ----------
    documents : iterable of Document
        Documents with entities.
    samples : iterable of array-like of shape (n_samples, n_mentions)
        As in `count_documents`.
    rule : callable
        As in `count_documents`.
    keys : list, default=None
        Ask about each of these keys in every document. By default a document is
        asked about the keys that were found in some sample of it.

    Returns
    -------
    Queries
        The label is the key as text, and the group is the document.

    See Also
    --------
    count_documents : Counts the same answers by period.

    Notes
    -----
    The default leaves out keys that no sample has, right or wrong. A choice of
    queries must not look at the answers: with those keys that are true but were
    never sampled, and without those that are false, a calibrated model would seem
    to miss things.

    A key in k of n samples has the probability (k + 1/2) / (n + 1). The plain
    share k / n would take 100 of 100 samples for certainty, and a test would
    reject a model that is right too often. The choice of keys that some sample
    has favours those that were sampled by luck, too. Both matter less with more
    samples: draw 1,000 where they are cheap.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_event_corpus
    >>> from sklearn_calib.explore import AgentRule, country_lexicon, rule_queries
    >>> corpus = make_event_corpus(200, random_state=0)
    >>> samples = corpus.model.sample(corpus.documents, 100, random_state=0)
    >>> queries = rule_queries(corpus.documents, samples, AgentRule(country_lexicon()))
    >>> bool(abs(queries.y_prob.mean() - queries.y_true.mean()) < 0.05)
    True
    """
    wanted = check_keys(keys)
    rows: list[tuple[bool, float, str, str]] = []
    for number, (document, drawn) in enumerate(together(documents, samples=samples)):
        check_document(document, number)
        if document.entities is None:
            raise ValueError(
                f"Document {document.id!r} has no entities, so that the right answer is not known."
            )
        answer = answer_document(document, drawn, rule, document.entities)
        assert answer.best is not None
        for key in sorted(answer.counts, key=str) if wanted is None else wanted:
            often = int(answer.counts[key].sum()) if key in answer.counts else 0
            prob = (often + 0.5) / (answer.n_samples + 1.0)
            rows.append((key in answer.best, prob, str(key), document.id))
    if not rows:
        raise ValueError("The rule found nothing in these documents, so that there are no queries.")
    y_true, y_prob, label, group = zip(*rows, strict=True)
    return Queries(y_true, y_prob, label=label, group=group)
