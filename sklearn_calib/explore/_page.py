"""A page of counts to explore: one file of HTML that needs nothing else."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib._html import data_element, html_page, plain_text
from sklearn_calib._output import check_target, write_whole
from sklearn_calib._results import counted, percent
from sklearn_calib._validation import check_confidence_level, check_integer
from sklearn_calib.coref._parse_texts import Parse
from sklearn_calib.explore._corrected import CorrectedPosterior
from sklearn_calib.explore._page_counts import Listed, counts_data, listed, plan_data
from sklearn_calib.explore._page_texts import Documents, TextMaker, kept_texts
from sklearn_calib.explore._periods import PERIODS
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._reading_plan import ReadingPlan
from sklearn_calib.explore._rule_answers import EntityRule, check_rule

__all__ = ["write_page"]


def write_page(
    posterior: CountPosterior,
    path: str | PathLike[str],
    *,
    documents: Documents | None,
    model: Any,
    rule: EntityRule | None,
    parse: Parse | None,
    plan: ReadingPlan | None,
    corrected: CorrectedPosterior | None,
    title: str | None,
    confidence_level: float,
    n_keys: int,
    n_texts: int,
    force: bool,
) -> Path:
    """Write the page; see `CountPosterior.to_html`."""
    target = check_target(path, force)
    level = check_confidence_level(confidence_level)
    n_keys = check_integer(n_keys, "n_keys")
    n_texts = check_integer(n_texts, "n_texts")
    plain, better = _both(posterior, corrected)
    if not plain.keys:
        raise ValueError(
            "Nothing was counted, so that there is nothing to show. Name the keys (keys=) when "
            "counting to have them as series of zeros."
        )
    if rule is not None:
        check_rule(rule)
    if plan is not None:
        _check_plan(plan, plain)
    read = np.empty(0, dtype=np.intp)
    if better is not None and better.evidence.read is not None:
        read = better.evidence.read.place
    found = listed(plain, plan, read, n_keys)
    texts: list[tuple[int, str]] = []
    if documents is not None:
        make = TextMaker(model, rule, parse)
        texts = kept_texts(documents, plain.documents, found.documents, n_texts, make)
    name = _title(plain) if title is None else str(title)
    data = counts_data(plain, better, found, level)
    data["plan"] = None if plan is None else plan_data(plan, found)
    data["texts"] = _text_places(found, [place for place, _ in texts])
    elements = [data_element("data", data)]
    elements += [
        f"<script type='application/json' id='text-{at}'>{text}</script>"
        for at, (_, text) in zip(data["texts"], texts, strict=True)
    ]
    body = _body(name, _sentence(plain, better, level), _notes(plain, found, len(texts)))
    page = html_page(
        name, body, data=elements, styles=["counts.css"], scripts=["chart.js", "counts.js"]
    )
    write_whole(target, page)
    return target


def _both(
    posterior: CountPosterior, corrected: CorrectedPosterior | None
) -> tuple[CountPosterior, CorrectedPosterior | None]:
    """Return the plain and the corrected counts of one page."""
    if isinstance(posterior, CorrectedPosterior):
        if corrected is not None:
            raise ValueError("These counts are corrected themselves: leave corrected out.")
        return posterior.plain, posterior
    if corrected is None:
        return posterior, None
    if not isinstance(corrected, CorrectedPosterior):
        raise TypeError(
            "corrected must be what posterior.corrected(...) returns, got "
            f"{type(corrected).__name__}."
        )
    if corrected.plain is not posterior and corrected.plain.fingerprint != posterior.fingerprint:
        raise ValueError(
            "corrected was made from other counts: correct these with posterior.corrected(...)."
        )
    return posterior, corrected


def _check_plan(plan: ReadingPlan, plain: CountPosterior) -> None:
    if not isinstance(plan, ReadingPlan):
        raise TypeError(f"plan must be what reading_plan returns, got {type(plan).__name__}.")
    if plan.posterior is not plain and plan.posterior.fingerprint != plain.fingerprint:
        raise ValueError(
            "The plan was drawn for other counts, so that its answers could not be used: draw one "
            "for these, or write the page of plan.posterior."
        )


def _text_places(found: Listed, places: list[int]) -> list[int]:
    """Return the places of texts among the documents that are listed."""
    order = {int(place): at for at, place in enumerate(found.documents)}
    return [order[place] for place in places]


def _title(plain: CountPosterior) -> str:
    kind = f" by {PERIODS[plain.period]}" if isinstance(plain.period, str) else ""
    return f"Counts{kind}"


def _sentence(plain: CountPosterior, better: CorrectedPosterior | None, level: float) -> str:
    """Say what was counted, and what the intervals mean."""
    text = counted(len(plain.documents), "document")
    if len(plain.periods) > 1:
        kind = PERIODS[plain.period] if isinstance(plain.period, str) else "period"
        labels = plain.period_labels
        text += f" in {counted(len(labels), kind)}, {labels[0]} to {labels[-1]}"
    text += f"{plain._source}. "
    if plain.n_samples == 1:
        return f"{text}One sample makes no interval."
    text += f"The intervals have a level of {percent(level)}, {plain._rests_on}"
    if better is not None:
        text += f" for plain counts, and {better._rests_on}"
    return f"{text}."


def _notes(plain: CountPosterior, found: Listed, n_texts: int) -> list[str]:
    """Say what a reader of the page should know."""
    notes = []
    if plain.n_samples is not None and 1 < plain.n_samples < 20:
        notes.append("The intervals are too narrow, because the samples are few.")
    if plain.skipped:
        notes.append(f"{counted(len(plain.skipped), 'document')} could not be counted.")
    others = len(plain.keys) - len(found.keys)
    if others:
        notes.append(
            f"The {len(found.keys):,} most common keys are shown; {others:,} others are not."
        )
    if n_texts and n_texts < len(found.documents):
        notes.append(
            f"The texts of {counted(n_texts, 'document')} are here, of "
            f"{len(found.documents):,} that are listed."
        )
    return notes


def _body(title: str, sentence: str, notes: list[str]) -> str:
    said = "".join(f"<p class='note'>{plain_text(note)}</p>\n" for note in notes)
    return (
        f"<header>\n<h1 dir='auto'>{plain_text(title)}</h1>\n"
        f"<p class='lead'>{plain_text(sentence)}</p>\n{said}</header>\n"
        "<noscript><p class='note'>This page draws its pictures with a script that it holds; "
        "allow scripts to see them.</p></noscript>\n"
        "<main id='explorer'></main>"
    )
