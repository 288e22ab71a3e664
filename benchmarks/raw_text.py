"""From raw text to the page, in one command: what it takes, stage by stage, and what the rule sees.

Wikinews 2005-2008 (dated articles, plain text) and a spaCy pipeline that train_parser.py made:

    python benchmarks/raw_text.py --data-home FOLDER --parser parser/model-best --work FOLDER

It writes the articles as JSON lines to the work folder, parses those in which an attack-like
verb and a country are found (wikinews.conllu.gz), runs the command `sklearn-calib count` on the raw
text as a user would, measures each stage on a sample of articles, and counts with each option of
the rule. Times are CPU seconds of one process.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib.coref import (
    Document,
    find_mentions,
    load_antecedent_model,
    parse_texts,
    read_jsonl,
    write_conllu,
)
from sklearn_calib.coref._clusters import draw_entities
from sklearn_calib.coref._conllu import each_conllu
from sklearn_calib.datasets import load_wikinews
from sklearn_calib.explore import AgentRule, RuleMatch, count_corpus, country_lexicon
from sklearn_calib.explore._rule_answers import entity_answer

RESULTS = Path(__file__).parent / "results" / "raw_text.json"
READINGS = Path(__file__).parent / "rule_readings.tsv"
YEARS = (2005, 2008)
# Those of the paper's experiment on events that were counted here before.
ATTACK_LIKE = (
    "ambush assault attack bomb bombard fire invade kill raid shell shoot strike".split()  # noqa: SIM905
)
N_SAMPLES = 100


def cpu(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of this process that a function took, and its result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def write_articles(data_home: Path, path: Path) -> int:
    """Write the articles of the years as JSON lines, in order of their dates."""
    corpus = load_wikinews(data_home=data_home, download=False)
    years = corpus.date.astype("datetime64[Y]").astype(int) + 1970
    places = np.flatnonzero((years >= YEARS[0]) & (years <= YEARS[1]))
    places = places[np.argsort(corpus.date[places], kind="stable")]
    with path.open("w", encoding="utf-8") as file:
        for i in places:
            row = {
                "id": f"wikinews-{corpus.id[i]}",
                "date": str(corpus.date[i]),
                "title": corpus.title[i],
                "text": corpus.X[i],
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return len(places)


def parse(articles: Path, parser: Path, parsed: Path) -> dict[str, Any]:
    """Parse the articles in which an attack-like verb and a country may be found."""
    rule = AgentRule(country_lexicon(), ATTACK_LIKE, nouns=["attack"])
    chosen = [(text, known) for text, known in read_jsonl(articles) if rule.may_hold(text)]

    def shown() -> Iterator[Document]:
        start = time.perf_counter()
        for n, document in enumerate(parse_texts(chosen, parser), start=1):
            if n % 500 == 0:
                print(f"parsed {n} in {time.perf_counter() - start:.0f} s", flush=True)
            yield document

    # Under another name until it is whole.
    partial = parsed.with_name(f"partial-{parsed.name}")
    seconds, _ = cpu(lambda: write_conllu(shown(), partial))
    partial.rename(parsed)
    return {"documents": len(chosen), "seconds": round(seconds, 1)}


def one_command(articles: Path, parser: Path, work: Path) -> dict[str, Any]:
    """Run the command as a user would, and return what it took."""
    page = work / "attacks.html"
    command = [
        sys.executable, "-m", "sklearn_calib", "count", str(articles), "--spacy", str(parser),
        "--verbs", "attack,bomb,raid", "--period", "M", "--out", str(page),
        "--csv", str(work / "attacks.csv"), "--force",
    ]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    n = sum(1 for _ in read_jsonl(articles))
    return {
        "documents": n,
        "cpu_seconds": round(seconds, 1),
        "wall_seconds": round(wall, 1),
        "documents_per_second": round(n / seconds, 1),
        "peak_megabytes": round(after.ru_maxrss / 1024),
        "page_megabytes": round(page.stat().st_size / 1e6, 2),
    }


def stages(articles: Path, parser: Path, n_texts: int, seed: int) -> dict[str, Any]:
    """Measure each stage on its own, on a random sample of the articles that reach it."""
    import spacy

    rule = AgentRule(country_lexicon(), ["attack", "bomb", "raid"])
    texts = list(read_jsonl(articles))
    seconds, holds = cpu(lambda: [rule.may_hold(text) for text, _ in texts])
    found: dict[str, Any] = {
        "prefilter": {"documents": len(texts), "seconds": seconds, "kept": int(sum(holds))}
    }
    kept = [text for text, hold in zip(texts, holds, strict=True) if hold]
    rng = np.random.default_rng(seed)
    chosen = [kept[i] for i in rng.permutation(len(kept))[:n_texts]]
    nlp = spacy.load(parser, exclude=["ner"])
    list(nlp.pipe([text for text, _ in chosen[:8]]))  # what is loaded on first use
    parse_seconds, docs = cpu(lambda: list(nlp.pipe([text for text, _ in chosen], batch_size=16)))
    words = sum(len(doc) for doc in docs)
    documents = list(parse_texts(chosen, nlp))
    mention_seconds, _ = cpu(lambda: [find_mentions(document) for document in documents])
    model = load_antecedent_model("english")
    model.predict_antecedent_proba(documents[:1])

    def sample() -> list[Any]:
        draws = np.random.default_rng(seed)
        return [
            draw_entities(model.predict_antecedent_proba([document])[0], N_SAMPLES, draws)
            for document in documents
        ]

    sample_seconds, samples = cpu(sample)
    rule_seconds, _ = cpu(
        lambda: [
            entity_answer(document, drawn, rule, None, name=document.id)
            for document, drawn in zip(documents, samples, strict=True)
        ]
    )
    times = {
        "parse": parse_seconds,
        "mentions": mention_seconds,
        "coreference": sample_seconds,
        "rule": rule_seconds,
    }
    for name, taken in times.items():
        found[name] = {"documents": len(chosen), "seconds": taken}
    for row in found.values():
        row["documents_per_second"] = round(row["documents"] / row["seconds"], 1)
        row["seconds"] = round(row["seconds"], 3)
    found["parse"]["words_per_second"] = round(words / parse_seconds)
    found["mentions"]["mean_mentions"] = round(float(np.mean([len(d) for d in documents])), 1)
    return found


class Variants:
    """Several rules at once: the keys of each with the name of the rule before them."""

    def __init__(self, rules: dict[Any, AgentRule]) -> None:
        self.rules = rules

    def bind(self, document: Document) -> Any:
        bound = {name: rule.bind(document) for name, rule in self.rules.items()}
        bound = {name: each for name, each in bound.items() if each is not None}
        if not bound:
            return None

        def ask(entity: tuple[int, ...]) -> list[tuple[Any, ...]]:
            return [(name, key) for name, each in bound.items() for key in each(entity)]

        ask.mentions = sorted({i for each in bound.values() for i in each.mentions})  # type: ignore[attr-defined]
        return ask


def variants(nouns: list[str]) -> dict[str, dict[str, Any]]:
    """Return the options of the rules that are compared."""
    every = ["negated", "modal", "conditional"]
    return {
        "paper": {},
        "without negated": {"exclude": ["negated"]},
        "without modal": {"exclude": ["modal"]},
        "without conditional": {"exclude": ["conditional"]},
        "without all three": {"exclude": every},
        "target": {"target": True},
        "target, without all three": {"target": True, "exclude": every},
        "conjuncts": {"conjuncts": True},
        "control": {"control": True},
        "control, without all three": {"control": True, "exclude": every},
        "nouns": {"nouns": nouns},
        "nouns, without all three": {"nouns": nouns, "exclude": every},
        "everything": {"nouns": nouns, "control": True, "conjuncts": True, "exclude": every},
        "everything, target": {
            "nouns": nouns, "control": True, "conjuncts": True, "exclude": every, "target": True,
        },
    }  # fmt: skip


def filters(parsed: Path, seed: int) -> dict[str, Any]:
    """Count attacks with each option of the rule, on the same samples."""
    rules = {
        name: AgentRule(country_lexicon(), **options)
        for name, options in variants(["attack"]).items()
    }
    every = Variants(rules)
    documents = [
        document
        for document in each_conllu(parsed, [])
        if rules["everything"].may_hold(document.text or "")
    ]
    # Where no rule can hold there is nothing to sample.
    some = [document for document in documents if every.bind(document) is not None]
    posterior = count_corpus(
        some, load_antecedent_model("english"), every, n_samples=N_SAMPLES, period=None,
        random_state=seed, verbose=1,
    )  # fmt: skip
    found: dict[str, Any] = {"documents": len(documents), "n_samples": N_SAMPLES}
    for name in rules:
        keys = [k for k, key in enumerate(posterior.keys) if key[0] == name]
        mine = posterior.hits.mean[np.isin(posterior.hit_key, keys)]
        found[name] = {
            "expected": round(float(mine.sum()), 1),
            "likely": int((mine >= 0.5).sum()),
            "uncertain": int(((mine > 0.05) & (mine < 0.95)).sum()),
        }
    return found


def digest(match: RuleMatch) -> str:
    """Return what a sentence is known by, without its text."""
    return sha256(str(match).encode()).hexdigest()[:12]


def readings(parsed: Path) -> dict[str, Any]:
    """Say which of the deeds that were read by hand each option keeps.

    rule_readings.tsv has what the widest rule finds for "attack" with the model's single best
    entities, and what a reader made of the sentence: an attack that happened ("attack"), one that
    was denied, threatened or imagined ("unreal"), one in words or in sport ("figurative"), or a
    deed of somebody else ("other").
    """
    with READINGS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    wanted = {row["id"] for row in rows}
    rules = {
        name: AgentRule(country_lexicon(), **options)
        for name, options in variants(["attack"]).items()
    }
    model = load_antecedent_model("english")
    kept: dict[str, set[tuple[str, str, str]]] = {name: set() for name in rules}
    for document in each_conllu(parsed, []):
        if document.id not in wanted:
            continue
        [entities] = model.predict([document])
        several = [np.flatnonzero(entities == entity).tolist() for entity in np.unique(entities)]
        for name, rule in rules.items():
            bound = rule.bind(document)
            if bound is None:
                continue
            for members in several:
                if bound(members):
                    for match in rule.explain(document, members):
                        kept[name].add((document.id, str(match.key), digest(match)))
    labels = ("attack", "unreal", "figurative", "other")
    found: dict[str, Any] = {"read": len(rows)}
    for name in rules:
        mine = [row for row in rows if (row["id"], row["key"], row["digest"]) in kept[name]]
        found[name] = {label: sum(row["label"] == label for row in mine) for label in labels}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--parser", type=Path, required=True, help="folder of a spaCy pipeline")
    parser.add_argument("--work", type=Path, required=True, help="where texts and pages are kept")
    parser.add_argument(
        "--only",
        choices=("parse", "command", "stages", "filters", "readings"),
        help="a part of it",
    )
    parser.add_argument("--n-texts", type=int, default=400, help="sample for the stages")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    articles = options.work / "wikinews.jsonl"
    parsed = options.work / "wikinews.conllu.gz"
    found = json.loads(options.out.read_text()) if options.out.exists() else {}
    found["machine"] = f"{platform.machine()}, Python {platform.python_version()}"
    if not articles.exists():
        write_articles(options.data_home, articles)
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "parse": lambda: parse(articles, options.parser, parsed),
        "stages": lambda: stages(articles, options.parser, options.n_texts, 0),
        "command": lambda: one_command(articles, options.parser, options.work),
        "filters": lambda: filters(parsed, 0),
        "readings": lambda: readings(parsed),
    }
    for name, part in parts.items():
        if options.only in (None, name):
            found[name] = part()
            print(json.dumps({name: found[name]}, indent=1), flush=True)
            options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
