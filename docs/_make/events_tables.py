"""Turn the numbers of benchmarks/paper/events.py into tables for the documentation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from paper_tables import limits, three
from tables import Maker, Row, paragraphs, table, write_tables

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


def news(found: Row) -> str:
    body = [
        [
            row["verbs"],
            whole(row["countries"]),
            f"{one(row['documents']['mean'])} {between(row['documents']['interval'])}",
            whole(row["documents"]["best"]),
            f"{one(row['events']['mean'])} {between(row['events']['interval'])}",
            whole(row["events"]["best"]),
            f"{row['uncertain_hits']:,} of {row['hits']:,}",
        ]
        for row in found["news"]["rows"]
    ]
    title = (
        f"The {found['news']['documents']} articles of AMALGUM news, {found['news']['n_samples']} "
        "samples each. *Articles* have an agent of any country; *events* are articles and "
        "countries. Posterior means with 95 % intervals; *uncertain* are events with a probability "
        "between .05 and .95, of all that some sample has"
    )
    header = ["verbs", "countries", "articles", "single best"]
    header += ["events", "single best", "uncertain"]
    return table(title, header, body)


def countries(found: Row) -> str:
    body = []
    for row in found["news"]["rows"]:
        if row["verbs"] == "attack":
            continue
        for entry in row["most_common"]:
            body.append(
                [
                    row["verbs"],
                    entry["country"],
                    f"{one(entry['mean'])} {between(entry['interval'])}",
                    whole(entry["best"]),
                ]
            )
    title = "Articles of AMALGUM news by country, 2004 to 2019, with 95 % intervals"
    return table(title, ["verbs", "country", "expected", "single best"], body)


def rivals(found: Row) -> str:
    years = found["news"]["usa_above_gbr"]
    above = [row["year"] for row in years if row["probability"] > 0.95]
    below = [row for row in years if row["probability"] < 0.05]
    text = (
        f"Did the USA speak in more articles than Great Britain? In {len(above)} of the "
        f"{len(years)} years this has a posterior probability above .95"
    )
    if below:
        names = ", ".join(f"{row['year']} ({row['probability']:.2f})" for row in below)
        text += f", and in {names} one below .05"
    return text + ".\n"


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
            entry["id"].removeprefix("AMALGUM_news_"),
            entry["key"],
            f"{entry['probability']:.2f}",
            "; ".join(entry["mentions"]).replace("*", "\\*").replace("`", "\\`"),
        ]
        for row in found["news"]["rows"]
        if row["verbs"] == "attack-like"
        for entry in row["most_uncertain"]
    ]
    title = "Attack-like verbs: the articles that are nearest to a coin toss"
    return paragraphs(table(title, ["article", "country", "probability", "mentions"], body))


MAKERS: tuple[Maker, ...] = (
    ("paper_events_gum", "paper_events.json", gum, SCRIPT),
    ("paper_events_coverage", "paper_events.json", coverage, SCRIPT),
    ("paper_events_news", "paper_events.json", news, SCRIPT),
    ("paper_events_countries", "paper_events.json", countries, SCRIPT),
    ("paper_events_uncertain", "paper_events.json", uncertain, SCRIPT),
    ("paper_events_rivals", "paper_events.json", rivals, SCRIPT),
    ("paper_events_cost", "paper_events.json", cost, SCRIPT),
)


if __name__ == "__main__":
    write_tables(makers=MAKERS)
