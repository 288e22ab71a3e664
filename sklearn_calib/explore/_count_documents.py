"""Count the documents for which a rule holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from numpy.typing import ArrayLike

from sklearn_calib.coref import Document
from sklearn_calib.explore._counting import (
    Collector,
    about_entities,
    document_text,
    together,
)
from sklearn_calib.explore._periods import Period
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._rule_answers import EntityRule, check_rule

__all__ = ["count_documents"]


def count_documents(
    documents: Iterable[Document],
    samples: Iterable[ArrayLike],
    rule: EntityRule,
    *,
    period: Period = "Q",
    best: Iterable[ArrayLike] | None = None,
    keys: Iterable[Hashable] | None = None,
    sample_weight: Iterable[float] | Callable[[Document], float] | None = None,
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
        in a list, and True is the key "yes". It is called once for each distinct
        entity of a document, however many samples have it. A rule with a method
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
    reading_plan : Which documents to read, to correct the counts where the model is wrong.
    count_corpus : Samples and counts in parallel.
    count_tags : The same for samples of a tagger.
    AgentRule : The rule of the paper.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_event_corpus
    >>> from sklearn_calib.explore import AgentRule, count_documents, country_lexicon
    >>> corpus = make_event_corpus(200, random_state=0)
    >>> samples = corpus.model.sample(corpus.X, 100, random_state=0)
    >>> rule = AgentRule(country_lexicon())
    >>> posterior = count_documents(corpus.X, samples, rule, period="Y")
    >>> posterior
    key   mean  low  high
    IRN  40.00   33    47
    KWT  35.41   28    43
    USA  34.47   28    41
    IRQ  33.04   26    40
    200 documents in 3 years, 2001 to 2003; 100 samples of each.
    All years together. The intervals have a level of 95%, given the model.
    >>> posterior.keys, posterior.period_labels
    (('IRN', 'IRQ', 'KWT', 'USA'), ['2001', '2002', '2003'])
    >>> low, high = posterior.confidence_interval(0.95)
    >>> bool((low <= posterior.mean).all() and (posterior.mean <= high).all())
    True
    """
    check_rule(rule)
    collector = Collector(period, keys, undated)
    weights = None if callable(sample_weight) else sample_weight
    rows = together(documents, samples=samples, best=best, sample_weight=weights)
    for number, (document, drawn, chosen, weight) in enumerate(rows):
        weight = sample_weight if callable(sample_weight) else weight
        ask = about_entities(drawn, rule, chosen)
        collector.count(number, document_text(document, number), ask, weight)
    return collector.posterior()
