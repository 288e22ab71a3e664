"""Queries about a rule: is it right as often as its probabilities say?"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from numpy.typing import ArrayLike

from sklearn_calib.coref import Document
from sklearn_calib.explore._counting import about_entities, count_one, document_text, together
from sklearn_calib.explore._keys import check_keys
from sklearn_calib.explore._rule_answers import EntityRule, check_rule
from sklearn_calib.queries import Queries

__all__ = ["rule_queries"]


def rule_queries(
    documents: Iterable[Document],
    samples: Iterable[ArrayLike],
    rule: EntityRule,
    *,
    keys: Iterable[Hashable] | None = None,
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
    >>> samples = corpus.model.sample(corpus.X, 100, random_state=0)
    >>> queries = rule_queries(corpus.X, samples, AgentRule(country_lexicon()))
    >>> bool(abs(queries.y_prob.mean() - queries.y_true.mean()) < 0.05)
    True
    """
    check_rule(rule)
    wanted = None if keys is None else check_keys(keys)
    rows: list[tuple[bool, float, str, str]] = []
    for number, (document, drawn) in enumerate(together(documents, samples=samples)):
        text = document_text(document, number)
        if document.entities is None:
            raise ValueError(f"{text.name} has no entities, so that the right answer is not known.")
        answer = count_one(text, about_entities(drawn, rule, document.entities)).answer
        truth = answer.best or {}
        for key in sorted(answer.counts, key=str) if wanted is None else wanted:
            often = int(answer.counts[key].sum()) if key in answer.counts else 0
            prob = (often + 0.5) / (answer.n_samples + 1.0)
            rows.append((key in truth, prob, str(key), document.id))
    if not rows:
        raise ValueError("The rule found nothing in these documents, so that there are no queries.")
    y_true, y_prob, label, group = zip(*rows, strict=True)
    return Queries(y_true, y_prob, label=label, group=group)
