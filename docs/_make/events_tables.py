"""Turn the numbers of benchmarks/paper/events.py and news.py into tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from paper_tables import limits, three
from tables import Maker, Row, table, write_tables

SCRIPT = "benchmarks/paper/events.py"


def whole(value: float) -> str:
    return f"{value:,.0f}"


def one(value: float) -> str:
    return f"{value:,.1f}"


def minutes(hours: float) -> str:
    return f"{60 * hours:.0f} minutes"


def between(pair: Any) -> str:
    return f"[{whole(pair[0])}, {whole(pair[1])}]"


def gum(found: Row) -> str:
    body = []
    for row in found["gum"]["rows"]:
        error = "too few" if "debiased" not in row else three(row["debiased"])
        body.append(
            [
                row["verbs"],
                whole(row["true"]),
                f"{one(row['expected'])} {between(row['total_interval'])}",
                whole(row["best"]),
                whole(row["best_right"]),
                whole(row["queries"]),
                error if error == "too few" else f"{error} {limits(row['interval'])}",
            ]
        )
    title = (
        f"Events in the {found['gum']['documents']} documents of GUM, in five folds. An event is a "
        "country that is the agent of a verb of the list in a document. *Expected* is the "
        "posterior mean with its 95 % interval; *queries* are documents and countries that some "
        f"of the {found['n_samples']:,} samples has; the *error* is the debiased calibration error "
        "of their probabilities with its 95 % interval"
    )
    header = ["verbs", "true", "expected", "single best", "of these true", "queries", "error"]
    return table(title, header, body)


def coverage(found: Row) -> str:
    body = []
    for row in found["gum"]["rows"]:
        for kind, name in (("by_genre", "genre and country"), ("by_country", "country")):
            if kind in row:
                part = row[kind]
                body.append(
                    [
                        f"{row['verbs']}, by {name}",
                        whole(part["cells"]),
                        whole(part["true"]),
                        *(f"{100 * part[m]:.0f}" for m in ("exact", "normal", "quantile")),
                        f"{100 * part['normal_below_zero']:.0f}",
                        f"{100 * part['best_is_right']:.0f}",
                    ]
                )
    title = (
        "Do 95 % intervals hold the true count of GUM? Counts that are at least .2 in expectation. "
        "Shares in per cent. *Below 0* are normal intervals whose lower end is "
        "negative, and *best* says how often the single best count is the true one"
    )
    header = ["counts", "number", "true events", "exact", "normal", "quantile", "below 0", "best"]
    return table(title, header, body)


def bounds(pair: Any) -> str:
    return f"[{one(pair[0])}, {one(pair[1])}]"


NAMES = {"amalgum": "AMALGUM", "wikinews": "Wikinews 2005 to 2008"}


def news_corpora(found: Row) -> str:
    body = []
    for name, entry in found["corpora"].items():
        stemming = entry["stemming"]
        body.append(
            [
                NAMES[name],
                whole(entry["articles"]),
                whole(entry["naming_a_country"]),
                whole(entry["with_a_verb"]),
                f"{stemming['extra']:,} beside {stemming['matched']:,}",
                ", ".join(f"{word} ({count})" for word, count in stemming["words"][:6]),
            ]
        )
    title = (
        "The corpora and the appendix's filter: articles, those that name a country, and those "
        "of them with an attack-like verb, which are the ones to be counted. *Stemming*: words "
        "that name a country only if one or two letters are cut off, as in the appendix, beside "
        "those that are in the lexicon; and the commonest of them"
    )
    header = ["corpus", "articles", "naming a country", "with a verb", "stemming", "commonest"]
    return table(title, header, body)


def news_counts(found: Row) -> str:
    body = []
    for name, entry in found["corpora"].items():
        for row in entry["kinds"]["attack-like"]["top"][:8]:
            body.append(
                [
                    NAMES[name],
                    row["key"],
                    one(row["mean"]),
                    between(row["exact"]),
                    bounds(row["normal"]),
                    whole(row["best"]),
                    f"{one(row['entities'])} {between(row['entities_interval'])}",
                ]
            )
    title = (
        f"Articles in which a country attacks, from {found['n_samples']} samples: posterior mean, "
        "exact 95 % interval, the paper's m ± 1.96 s, and the single best analysis. The last "
        "column counts entities in place of articles (footnote 11)"
    )
    header = ["corpus", "country", "articles", "exact", "normal", "single best", "entities"]
    return table(title, header, body)


def news_checks(found: Row) -> str:
    body = []
    for name, entry in found["corpora"].items():
        for kind, part in entry["kinds"].items():
            few, normal, entities = part["few_samples"], part["normal"], part["entities"]
            body.append(
                [
                    f"{NAMES[name]}, {kind}",
                    one(part["documents"]),
                    whole(few["cells"]),
                    f"{few['correlation']:.3f}",
                    f"{few['largest_gap']:.1f}",
                    f"{few['zero_width']} of {few['uncertain']}",
                    f"{100 * normal['below_zero']:.0f} %",
                    f"{entities['correlation']:.3f}",
                    f"{entities['ratio']:.2f}",
                ]
            )
    title = (
        "Three checks on counts by quarter and country that are at least .2 in expectation. "
        f"*{found['few']} samples* beside {found['n_samples']}: correlation of the means, largest "
        "gap, and intervals that lose their width. *Normal* intervals that reach below zero. "
        "*Entities* beside articles: correlation over countries, and their ratio"
    )
    header = ["corpus and verbs", "events", "counts", "10 samples: correlation", "largest gap"]
    header += ["no width", "below zero", "entities: correlation", "ratio"]
    return table(title, header, body)


def news_rivals(found: Row) -> str:
    body = []
    for name, entry in found["corpora"].items():
        row = entry["rivals"]
        body.append(
            [
                NAMES[name],
                f"{row['one']} and {row['other']}",
                f"{one(row['mean'])} {between(row['interval'])}",
                f"{row['best_differs']} of {row['periods']}",
                f"{row['unclear']}",
            ]
        )
    title = (
        "Two countries: by how many articles the first exceeds the second over all years, with a "
        "95 % interval; in how many quarters their single best counts differ; and in how many of "
        "these the 95 % interval of the difference has both signs"
    )
    return table(title, ["corpus", "countries", "difference", "best differ", "unclear"], body)


def news_reading(found: Row) -> str:
    body = []
    for name, entry in found["corpora"].items():
        if "reading" in entry:
            row = entry["reading"]
            body.append(
                [
                    NAMES[name],
                    f"{row['read']} of {row['frame']:,}",
                    f"{row['events']} in {row['with_event']}",
                    one(row["expected"]),
                    f"{row['right']} of {row['claimed']}",
                    f"{row['missed']}",
                ]
            )
    title = (
        "Articles that were read: how many of those that could be counted, what was found (a "
        "country and an article are one event), how many events the model expected in these "
        "articles, how many of its likely ones (.5 or more) are true, and how many true ones it "
        "gave less than .5"
    )
    header = ["corpus", "read", "true events", "expected", "true of the likely", "missed"]
    return table(title, header, body)


def news_variants(found: Row) -> str:
    body = [
        [
            NAMES[name],
            row["rule"],
            one(row["events"]),
            f"{row['right']} of {row['claimed']}",
            f"{row['missed']}",
        ]
        for name, entry in found["corpora"].items()
        for row in entry["variants"]
    ]
    title = (
        "Other forms of the rule: expected number of events, and in the articles that were read, "
        "how many of the likely events (.5 or more) are true, and how many true ones are missed"
    )
    return table(title, ["corpus", "rule", "events", "true of the likely", "missed"], body)


def news_corrected(found: Row) -> str:
    body = []
    for name, entry in found["corpora"].items():
        for row in entry.get("reading", {}).get("rows", [])[:8]:
            body.append(
                [
                    NAMES[name],
                    row["key"],
                    f"{one(row['plain'])} {between(row['plain_interval'])}",
                    f"{one(row['corrected'])} {between(row['corrected_interval'])}",
                ]
            )
    title = (
        "Articles in which a country attacks, as the model has it and corrected by reading, with "
        "95 % intervals"
    )
    return table(title, ["corpus", "country", "plain", "corrected"], body)


def cost(found: Row) -> str:
    speed = found["news"]["speed"]
    body = [
        ["articles per second of one core", one(speed["documents_a_second"])],
        ["of this for names and verbs, per cent", f"{100 * speed['binding_share']:.0f}"],
        ["193,403 articles, one core", minutes(speed["hours_of_one_core"])],
        ["193,403 articles, two cores", minutes(speed["hours_of_two_cores"])],
        ["193,403 articles, ten workers of one core", minutes(speed["hours_of_ten_workers"])],
    ]
    title = (
        f"Time to sample {found['news']['n_samples']} readings of an article of "
        f"{whole(found['news']['mentions'])} mentions and count them. Measured on the articles of "
        "AMALGUM in CPU time of one core of a machine with two; the last three lines are that "
        "number multiplied"
    )
    return table(title, ["what", "measured"], body)


def uncertain(found: Row) -> str:
    body = [
        [
            NAMES[name],
            entry["id"].removeprefix("AMALGUM_news_"),
            entry["key"],
            f"{entry['probability']:.2f}",
            "; ".join(entry["mentions"]).replace("*", "\\*").replace("`", "\\`"),
        ]
        for name, part in found["corpora"].items()
        for entry in part["uncertain"]
    ]
    title = "The articles that are nearest to a coin toss"
    return table(title, ["corpus", "article", "country", "probability", "mentions"], body)


NEWS = ("paper_news.json", "benchmarks/paper/news.py")

MAKERS: tuple[Maker, ...] = (
    ("paper_events_gum", "paper_events.json", gum, SCRIPT),
    ("paper_events_coverage", "paper_events.json", coverage, SCRIPT),
    ("paper_events_cost", "paper_events.json", cost, SCRIPT),
    ("paper_events_uncertain", NEWS[0], uncertain, NEWS[1]),
    *(
        (f"paper_{make.__name__}", NEWS[0], make, NEWS[1])
        for make in (
            news_corpora,
            news_counts,
            news_checks,
            news_rivals,
            news_reading,
            news_variants,
            news_corrected,
        )
    ),
)


if __name__ == "__main__":
    write_tables(makers=MAKERS)
