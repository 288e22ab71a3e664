"""Count tags and chunks in sampled tag sequences."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import date as Date
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import check_option
from sklearn_calib.coref._document import as_date
from sklearn_calib.explore._counting import Collector, Text, first_words, together
from sklearn_calib.explore._periods import Period
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._rule_answers import (
    Answer,
    TagRule,
    check_best,
    check_samples,
    tag_answer,
)
from sklearn_calib.queries._span_schemes import SCHEMES, read_spans

__all__ = ["count_tags"]


def count_tags(
    sentences: Iterable[Sequence[Any]],
    samples: Iterable[ArrayLike],
    rule: str | TagRule = "tag",
    *,
    dates: Iterable[Date | np.datetime64 | str | None] | None = None,
    period: Period = None,
    best: Iterable[ArrayLike] | None = None,
    keys: Iterable[Hashable] | None = None,
    sample_weight: Iterable[float] | Callable[[Sequence[Any]], float] | None = None,
    undated: str = "raise",
) -> CountPosterior:
    """Count tags or chunks in sampled tag sequences, with posterior uncertainty.

    Every occurrence counts, and sentences are independent.

    Parameters
    ----------
    sentences : iterable of sequences
        The tokens of each sentence.
    samples : iterable of array-like of shape (n_samples, n_tokens)
        For each sentence its sampled tags, as a tagger's `sample` returns them.
    rule : {"tag", "chunk"} or callable, default="tag"
        "tag" counts tokens by tag. "chunk" counts chunks by kind, from tags
        such as B-NP and I-NP; as for `predict_spans`, an I- tag that continues
        nothing starts no chunk. A function of the tokens and the tags of a
        sentence returns keys as in `count_documents`; a key that is returned
        twice counts twice.
    dates : iterable of date, default=None
        The date of each sentence; needed where `period` is one of the calendar.
    period : {"D", "W", "M", "Q", "Y"}, callable or None, default=None
        As in `count_documents`; one period for all by default.
    best : iterable of sequences, default=None
        For each sentence its single best tags.
    keys : list, default=None
        The keys to count; all by default.
    sample_weight : iterable of float or callable, default=None
        As in `count_documents`.
    undated : {"raise", "skip"}, default="raise"
        As in `count_documents`.

    Returns
    -------
    CountPosterior
        Mean, intervals and more, by period and key.

    See Also
    --------
    reading_plan : Which sentences to read, to correct the counts where the tagger is wrong.
    count_documents : The same for samples of entities.
    count_spans : Exact counts of chunks, without samples.

    Examples
    --------
    >>> from sklearn_calib.explore import count_tags
    >>> sentences = [["fish", "swim"], ["they", "fish"]]
    >>> samples = [[["N", "V"], ["N", "V"]], [["P", "V"], ["P", "N"]]]
    >>> posterior = count_tags(sentences, samples)
    >>> posterior.keys, posterior.mean
    (('N', 'P', 'V'), array([[1.5, 1. , 1.5]]))
    """
    if not callable(rule):
        rule = {"tag": _tags, "chunk": _chunks}[check_option(rule, "rule", ("tag", "chunk"))]
    collector = Collector(period, keys, undated, "sentence")
    weights = None if callable(sample_weight) else sample_weight
    rows = together(
        sentences, kind="sentence", samples=samples, dates=dates, best=best, sample_weight=weights
    )
    for number, (tokens, drawn, date, chosen, weight) in enumerate(rows):
        name = f"Sentence {number}"
        weight = sample_weight if callable(sample_weight) else weight
        text = Text(name.lower(), name, as_date(date, name), tokens, first_words(tokens))
        collector.count(number, text, _about_tags(drawn, rule, chosen), weight)
    return collector.posterior()


def _about_tags(
    samples: ArrayLike, rule: TagRule, best: ArrayLike | None
) -> Callable[[Text[Sequence[Any]]], Answer]:
    """Return the question what a rule finds in a user's sampled tags of a sentence."""

    def ask(text: Text[Sequence[Any]]) -> Answer:
        n = len(text.item)
        drawn = check_samples(samples, n, name=text.name, unit="token")
        chosen = None
        if best is not None:
            chosen = check_best(best, n, name=text.name, unit="token", what="tags")
        return tag_answer(text.item, drawn, rule, chosen, name=text.name)

    return ask


def _tags(tokens: Sequence[Any], tags: list[Any]) -> list[Any]:
    return tags


def _chunks(tokens: Sequence[Any], tags: list[Any]) -> list[str]:
    """Return the kind of each chunk."""
    for tag in tags:
        prefix, _, kind = str(tag).partition("-")
        if prefix not in ("B", "I", "O") or (prefix == "O") != (kind == ""):
            raise ValueError(f"rule='chunk' needs tags such as B-NP, I-NP and O; got {tag!r}.")
    return read_spans([[str(tag) for tag in tags]], SCHEMES["BIO"]).kind
