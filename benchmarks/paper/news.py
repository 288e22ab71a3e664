"""Section 6 of the paper on free news: attacks by country, plain and corrected by reading.

Two corpora of Wikinews: AMALGUM's 808 articles of 2004 to 2019, which others parsed by
machine, and the articles of 2005 to 2008 as raw text, which a spaCy pipeline of ours
parsed (`train_parser.py`, then `raw_text.py`; --parsed names the folder of its CoNLL-U
files). The coreference model is the one that ships with the package. As in the
appendix of the paper, only articles that name a country are kept.

The paper's questions: counts by quarter from 100 samples, and from 10; documents against
entities (footnote 11); m +- 1.96 s against exact intervals; two rivals; twenty countries
by month. Then what the paper could not do: articles drawn by `reading_plan` were read,
and the counts are corrected by the answers in benchmarks/paper/read_amalgum.csv and
read_wikinews.csv. An answer is yes if one of the verbs reports, as a fact, a physical
attack by somebody who is described as being of the country.

    python benchmarks/paper/news.py --data-home FOLDER --parsed FOLDER

takes a few minutes, and leaves paper_news.json in benchmarks/results/ and pictures in
docs/_static/. --plan N writes the plans of N articles, with what to read, instead.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import main
from events import VERBS
from joblib import Memory

from sklearn_calib import CountDisplay
from sklearn_calib.coref import Document, load_antecedent_model, read_conllu, sample_entities
from sklearn_calib.coref._clusters import best_entities
from sklearn_calib.datasets import load_amalgum_news, load_wikinews
from sklearn_calib.explore import (
    AgentRule,
    CountPosterior,
    Lexicon,
    count_documents,
    country_lexicon,
    reading_plan,
)

HERE = Path(__file__).parent
KINDS = ("attack", "attack-like")
N_SAMPLES = 100
FEW = 10
PLAN_SEED = 0
YEARS = (2005, 2008)
# Other forms of the rule, none of which can find an event where the paper's finds none at all.
VARIANTS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "more than one country may be named": {"exclusive": False},
    "modifiers nmod and amod alone": {"modifiers": ("nmod", "nmod:poss", "amod")},
    "without what did not or may not have happened": {
        "exclude": ("negated", "modal", "conditional")
    },
    "a target of another country": {"target": True},
}
WORD = re.compile(r"\w[\w.'’-]*\w|\w|[^\w\s]")  # noqa: RUF001
RIVALS = {"amalgum": ("USA", "ISR"), "wikinews": ("USA", "IRQ")}


# --- the corpora


def documents_of(name: str, loader: dict[str, Any], parsed: str | None) -> Iterator[Document]:
    """Yield the documents of a corpus."""
    if name == "amalgum":
        yield from load_amalgum_news(**loader).X
    else:
        for path in sorted(p for p in Path(str(parsed)).iterdir() if ".conllu" in p.name):
            yield from read_conllu(path)


def has_verb(document: Document, kind: str) -> bool:
    verbs = set(VERBS[kind])
    return any(
        lemma.casefold() in verbs and tag == "VERB"
        for lemma, tag in zip(document.lemmas, document.upos, strict=True)
    )


def filtered(name: str, loader: dict[str, Any], parsed: str | None) -> dict[str, Any]:
    """Return the documents that name a country and have one of the verbs, and what was left out.

    Of Wikinews only texts in which the rule may hold were parsed; the others are counted
    as they were written.
    """
    lexicon = country_lexicon()
    numbers = {"articles": 0, "naming": 0}
    words: Counter[str] = Counter()
    framed = []
    for document in documents_of(name, loader, parsed):
        numbers["articles"] += 1
        if lexicon.match(document.tokens):
            numbers["naming"] += 1
            words.update(document.tokens)
            if has_verb(document, "attack-like"):
                framed.append(document.replace(entities=None))
    if name == "wikinews":
        news = load_wikinews(**loader)
        years = news.date.astype("datetime64[Y]").astype(int) + 1970
        texts = [news.X[i] for i in np.flatnonzero((years >= YEARS[0]) & (years <= YEARS[1]))]
        named = sum(bool(lexicon.match(WORD.findall(text))) for text in texts)
        numbers = {"articles": len(texts), "naming": named}
    return {**numbers, "framed": framed, "words": words}


# --- light stemming, as in the appendix


def stemmed_words(words: Counter[str], lexicon: Lexicon) -> dict[str, Any]:
    """Count the words that name a country only without their last or last two letters."""
    extra: Counter[str] = Counter()
    for word, count in words.items():
        if len(word) < 4 or not word.isalpha() or lexicon.match([word]):
            continue
        if any(lexicon.match([word[:-cut]]) for cut in (1, 2)):
            extra[word] += count
    total = sum(count for word, count in words.items() if lexicon.match([word]))
    return {
        "matched": total,
        "extra": sum(extra.values()),
        "words": [[word, count] for word, count in extra.most_common(12)],
    }


# --- counts


def sampled(
    name: str, documents: list[Document], rule: AgentRule, seed: int
) -> tuple[list[Any], list[Any]]:
    """Return samples and the best entities of each document of a corpus.

    A document for which no reading could make an event is not sampled.
    """
    model = load_antecedent_model()
    samples, best = [], []
    for number, document in enumerate(documents):
        bound = rule.bind(document)
        if bound is None or not bound.countries:
            samples.append(np.zeros((N_SAMPLES, len(document)), dtype=np.int16))
            best.append(np.zeros(len(document), dtype=np.int16))
            continue
        rng = np.random.default_rng([seed, number])
        proba = model.predict_antecedent_proba([document])[0]
        samples.append(sample_entities(proba, N_SAMPLES, rng).astype(np.int16))
        best.append(best_entities(proba))
    return samples, best


def entity_counts(documents: list[Document], samples: list[Any], rule: AgentRule) -> dict[str, Any]:
    """Return the number of entities of each country that act, sample by sample."""
    totals: dict[str, Any] = {}
    for document, drawn in zip(documents, samples, strict=True):
        bound = rule.bind(document)
        if bound is None or not bound.countries:
            continue
        for s, entities in enumerate(drawn):
            members: dict[int, list[int]] = {}
            for mention in bound.mentions:
                members.setdefault(int(entities[mention]), []).append(mention)
            for entity in members.values():
                for key in bound(entity):
                    totals.setdefault(key, np.zeros(len(drawn)))[s] += 1
    return totals


def by_class(post: CountPosterior, name: str) -> CountPosterior:
    """Return the counts of one list of verbs, by country, most common first."""
    chosen = post.select([key for key in post.most_common() if key[1] == name])
    return chosen.pool({key[0]: [key] for key in chosen.keys})


def interval(post: CountPosterior, key: str, method: str = "auto") -> list[float]:
    low, high = post.select([key]).total().confidence_interval(0.95, method=method)
    return [float(low[0, 0]), float(high[0, 0])]


def describe(post: CountPosterior, few: CountPosterior, entities: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of one list of verbs with the paper's checks."""
    shared = [key for key in post.keys if key in few.keys]
    many = post.select(shared)
    less = few.select(shared)
    cells = many.mean >= 0.2
    scale = many.standard_deviation[cells]
    apart = np.abs(many.mean - less.mean)[cells]
    exact = many.confidence_interval(0.95, method="exact")
    normal = many.confidence_interval(0.95, method="normal")
    with warnings.catch_warnings():  # that ten samples are few is the question here
        warnings.simplefilter("ignore", UserWarning)
        few_normal = less.confidence_interval(0.95, method="normal")
    spread = (normal.high - normal.low)[cells] > 0
    keys = list(post.keys[:10])
    documents = np.array([post.select([key]).mean.sum() for key in post.keys])
    totals = np.array([entities[key].mean() if key in entities else 0.0 for key in post.keys])
    return {
        "keys": len(post.keys),
        "documents": float(post.mean.sum()),
        "best": float(post.best.sum()),
        "top": [
            {
                "key": key,
                "mean": float(post.select([key]).mean.sum()),
                "exact": interval(post, key, "exact"),
                "normal": interval(post, key, "normal"),
                "best": float(post.select([key]).best.sum()),
                "entities": float(entities[key].mean()) if key in entities else 0.0,
                "entities_interval": np.quantile(entities[key], [0.025, 0.975])
                if key in entities
                else [0, 0],
            }
            for key in keys
        ],
        "few_samples": {
            "cells": int(cells.sum()),
            "largest_gap": float(apart.max()),
            "mean_gap_in_sd": float(np.mean(apart / np.maximum(scale, 1e-9))),
            "correlation": float(np.corrcoef(many.mean[cells], less.mean[cells])[0, 1]),
            "uncertain": int(spread.sum()),
            "zero_width": int((spread & ((few_normal.high - few_normal.low)[cells] == 0)).sum()),
        },
        "normal": {
            "cells": int(cells.sum()),
            "below_zero": float((normal.low[cells] < 0).mean()),
            "width": float((normal.high - normal.low)[cells].mean()),
            "exact_width": float((exact.high - exact.low)[cells].mean()),
        },
        "entities": {
            "total": float(totals.sum()),
            "ratio": float(totals.sum() / documents.sum()),
            "correlation": float(np.corrcoef(documents, totals)[0, 1]),
        },
    }


def rivals(post: CountPosterior, one: str, other: str) -> dict[str, Any]:
    """Return in how many periods single best counts of two countries differ, and how surely."""
    assert post.best is not None
    best = post.best[:, post.keys.index(one)] - post.best[:, post.keys.index(other)]
    total = post.difference(one, other)
    unclear = sum(
        found.confidence_interval[0] <= 0 <= found.confidence_interval[1]
        for label, gap in zip(post.period_labels, best, strict=True)
        if gap
        for found in [post.difference(one, other, periods=label)]
    )
    return {
        "one": one,
        "other": other,
        "mean": total.mean,
        "interval": total.confidence_interval,
        "probability": total.probability,
        "periods": len(best),
        "best_differs": int(np.count_nonzero(best)),
        "unclear": unclear,
    }


# --- reading


def excerpt(document: Document, verbs: set[str]) -> list[str]:
    """Return the sentences with one of the verbs."""
    sentence = document.sentence_index
    wanted: set[int] = set()
    for token, lemma in enumerate(document.lemmas):
        if lemma.casefold() in verbs and document.upos[token] == "VERB":
            wanted.add(int(sentence[token]))
    lines = []
    for number in sorted(wanted):
        tokens = [t for t, s in zip(document.tokens, sentence, strict=True) if s == number]
        lines.append(" ".join(tokens))
    return lines


def answers(path: Path) -> dict[str, list[str]]:
    """Return the countries that were found in each article that was read."""
    with path.open(encoding="utf-8") as file:
        return {row["document"]: row["countries"].split() for row in csv.DictReader(file)}


def scored(post: CountPosterior, found: dict[str, list[str]]) -> dict[str, Any]:
    """Return how many of the likely events are true, and how many true ones are not likely."""
    place = {document: i for i, document in enumerate(post.documents)}
    of: dict[int, dict[str, float]] = {}
    for d, k, p in zip(post.hit_document, post.hit_key, post.hits.mean, strict=True):
        of.setdefault(int(d), {})[post.keys[k]] = float(p)
    claimed = right = missed = 0
    expected = 0.0
    for document, keys in found.items():
        mine = of.get(place[document], {})
        expected += sum(mine.values())
        claimed += sum(p >= 0.5 for p in mine.values())
        right += sum(p >= 0.5 and key in keys for key, p in mine.items())
        missed += sum(mine.get(key, 0.0) < 0.5 for key in keys)
    return {"expected": expected, "claimed": claimed, "right": right, "missed": missed}


def variants(
    name: str, documents: list[Document], samples: list[Any], lexicon: Lexicon
) -> list[dict[str, Any]]:
    """Return what other forms of the rule find, and how much of it is true."""
    path = HERE / f"read_{name}.csv"
    found = answers(path) if path.exists() else {}
    rows = []
    for label, options in VARIANTS.items():
        rule = AgentRule(lexicon, VERBS["attack-like"], **options)
        post = count_documents(documents, samples, rule, period=None)
        rows.append({"rule": label, "events": float(post.mean.sum()), **scored(post, found)})
    return rows


def corrected(name: str, post: CountPosterior, seed: int) -> dict[str, Any] | None:
    """Return the counts with and without what was read."""
    path = HERE / f"read_{name}.csv"
    if not path.exists():
        return None
    found = answers(path)
    plan = reading_plan(post, len(found), random_state=PLAN_SEED)
    known = set(post.keys)
    kept = {doc: [key for key in keys if key in known] for doc, keys in found.items()}
    plan = plan.answered(kept)
    mended = post.corrected(plan, random_state=seed)
    rows = []
    for key in post.keys[:10]:
        one = mended.select([key])
        total = one.total()
        low, high = total.confidence_interval(0.95)
        rows.append(
            {
                "key": key,
                "plain": float(post.select([key]).mean.sum()),
                "plain_interval": interval(post, key),
                "corrected": float(one.mean.sum()),
                "corrected_interval": [float(low[0, 0]), float(high[0, 0])],
            }
        )
    return {
        "read": len(found),
        "frame": len(post.documents),
        "with_event": sum(bool(keys) for keys in found.values()),
        "events": sum(map(len, found.values())),
        **scored(post, found),
        "rows": rows,
        "posterior": mended,
    }


# --- the run


def run(options: Any) -> dict[str, Any]:
    lexicon = country_lexicon()
    found: dict[str, Any] = {"n_samples": N_SAMPLES, "few": FEW, "corpora": {}}
    pictures: dict[str, Any] = {}
    memory = Memory(options.cache, verbose=0)
    names = ["amalgum"] if options.parsed is None else ["amalgum", "wikinews"]
    for name in names:
        kept = memory.cache(filtered)(name, options.loader, options.parsed)
        framed = kept["framed"]
        rule = AgentRule(lexicon, {kind: VERBS[kind] for kind in KINDS}, returns="pair")
        keep = memory.cache(sampled, ignore=["documents", "rule"])
        samples, best = keep(name, framed, rule, options.seed)
        few = [drawn[:FEW] for drawn in samples]
        quarters = count_documents(framed, samples, rule, period="Q", best=best)
        fewer = count_documents(framed, few, rule, period="Q", best=best)
        months = count_documents(framed, samples, rule, period="M", best=best)
        entry: dict[str, Any] = {
            "articles": kept["articles"],
            "naming_a_country": kept["naming"],
            "with_a_verb": len(framed),
            "stemming": stemmed_words(kept["words"], lexicon),
            "kinds": {},
        }
        for kind in KINDS:
            single = AgentRule(lexicon, {kind: VERBS[kind]})
            entities = entity_counts(framed, samples, single)
            entry["kinds"][kind] = describe(
                by_class(quarters, kind), by_class(fewer, kind), entities
            )
        attacks = by_class(quarters, "attack-like")
        entry["variants"] = variants(name, framed, samples, lexicon)
        entry["rivals"] = rivals(attacks, *RIVALS[name])
        entry["uncertain"] = [
            {"id": d.id, "key": str(d.key), "probability": d.probability,
             "mentions": list(d.mentions[:4])}
            for d in attacks.most_uncertain(5)
        ]  # fmt: skip
        if options.plan:
            write_plan(name, attacks, framed, options)
        reading = corrected(name, attacks, options.seed)
        mended = None
        if reading is not None:
            mended = reading.pop("posterior")
            entry["reading"] = reading
        found["corpora"][name] = entry
        pictures[name] = {
            "quarters": attacks, "months": by_class(months, "attack-like"), "corrected": mended,
        }  # fmt: skip
        print(name, {k: v for k, v in entry.items() if k != "kinds"}, flush=True)
    return {**found, "pictures": pictures}


def write_plan(name: str, post: CountPosterior, documents: list[Document], options: Any) -> None:
    """Write the articles to be read, with their sentences, to a text file."""
    plan = reading_plan(post, options.plan, random_state=PLAN_SEED)
    by_id = {document.id: document for document in documents}
    verbs = set(VERBS["attack-like"])
    lines = []
    for number, id in enumerate(plan.documents):
        document = by_id[id]
        lines.append(f"[{number}] {id} | {document.date} | {document.title}")
        lines += [f"   - {line}" for line in excerpt(document, verbs)]
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"plan_{name}.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(path)


def draw(found: dict[str, Any]) -> dict[str, Any]:
    """Draw the larger corpus; AMALGUM has too few attacks for a series."""
    if "wikinews" not in found["pictures"]:
        return {}
    parts = found["pictures"]["wikinews"]
    attacks, months = parts["quarters"], parts["months"]
    shown = CountDisplay.from_posterior(attacks, keys=attacks.keys[:2], despine=True)
    panels = CountDisplay.from_posterior(months, keys=months.keys[:20], panels=True, n_columns=4)
    displays = {"news_wikinews": shown, "news_wikinews_panels": panels}
    if parts["corrected"] is not None:
        displays["news_wikinews_corrected"] = CountDisplay.from_posterior(
            parts["corrected"], keys=attacks.keys[:1], plain=attacks, despine=True
        )
    for name, display in displays.items():
        if name != "news_wikinews_panels":
            display.ax_.set_ylabel("Articles in which the country\nattacks [95% interval]")
    return {name: display.figure_ for name, display in displays.items()}


if __name__ == "__main__":
    main(
        __doc__, "news", run, draw,
        parsed={"default": None, "help": "folder of Wikinews as CoNLL-U"},
        cache={"default": None, "help": "folder in which filtered documents are kept"},
        plan={"type": int, "default": 0, "help": "write the plan of so many articles"},
    )  # fmt: skip
