"""Count tags and chunks in sampled tag sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sklearn_calib._validation import check_option
from sklearn_calib.coref import Document
from sklearn_calib.explore._answers import answer_tags
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._tally import Tally, check_weight, together

__all__ = ["count_tags"]


def count_tags(
    sentences: Iterable[Any],
    samples: Iterable[Any],
    rule: str | Callable[[Any, list[Any]], Any] = "tag",
    *,
    dates: Iterable[Any] | None = None,
    period: Any = None,
    best: Iterable[Any] | None = None,
    keys: Iterable[Any] | None = None,
    sample_weight: Any = None,
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
        such as B-NP and I-NP. A function of the tokens and the tags of a
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
    count_documents : The same for samples of entities.

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
    tally = Tally(period, keys, undated, "sentence")
    weigh = sample_weight if callable(sample_weight) else None
    weights = None if weigh else sample_weight
    lists = {"samples": samples, "dates": dates, "best": best, "sample_weight": weights}
    rows = together(sentences, kind="sentence", **lists)
    for number, (tokens, drawn, date, chosen, weight) in enumerate(rows):
        id = f"sentence {number}"
        when = tally.date(number, id, Document(id, (), date=date).date, tokens)
        if when is None:
            continue
        weight = weigh(tokens) if weigh else 1.0 if weight is None else weight
        weight = check_weight(weight, id)
        tally.add(id, when, weight, answer_tags(f"Sentence {number}", tokens, drawn, rule, chosen))
    return tally.finish()


def _tags(tokens: Any, tags: list[Any]) -> list[Any]:
    return tags


def _chunks(tokens: Any, tags: list[Any]) -> list[Any]:
    """Return the kind of each chunk."""
    found, before = [], None
    for tag in tags:
        prefix, _, kind = str(tag).partition("-")
        if prefix not in ("B", "I", "O") or (prefix == "O") != (kind == ""):
            raise ValueError(f"rule='chunk' needs tags such as B-NP, I-NP and O; got {tag!r}.")
        if prefix == "B" or (prefix == "I" and kind != before):
            found.append(kind)
        before = kind or None
    return found
