"""Turn the numbers of benchmarks/raw_text.py into tables for the documentation."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tables import Maker, Row, paragraphs, table, write_tables

SCRIPT = "benchmarks/raw_text.py"

STAGES = {
    "prefilter": "prefilter (``may_hold``)",
    "parse": "parse (spaCy)",
    "mentions": "mentions (``find_mentions``)",
    "coreference": "coreference, 100 samples",
    "rule": "rule, 100 samples",
}


def stages(found: Row) -> str:
    body = []
    for name, label in STAGES.items():
        row = found["stages"][name]
        body.append(
            [
                label,
                f"{row['documents']:,}",
                f"{1000 * row['seconds'] / row['documents']:.2f}",
                f"{row['documents_per_second']:,.0f}",
            ]
        )
    title = (
        "From raw text, stage by stage: Wikinews 2005–2008, verbs attack, bomb and raid, CPU time "
        "of one process"
    )
    first, parse = found["stages"]["prefilter"], found["stages"]["parse"]
    return paragraphs(
        table(title, ["stage", "documents", "ms a document", "documents a second"], body),
        f"The prefilter leaves {first['kept']:,} of {first['documents']:,} articles to be parsed. "
        f"spaCy reads {parse['words_per_second']:,} words a second; the articles have "
        f"{found['stages']['mentions']['mean_mentions']:.0f} mentions on average.",
    )


def command(found: Row) -> str:
    row = found["command"]
    return (
        f"From the raw text of {row['documents']:,} articles of Wikinews 2005–2008, the first "
        "command took "
        f"{row['cpu_seconds']:,.0f} seconds of CPU time in one process to a page of "
        f"{row['page_megabytes']:.1f} MB: {row['documents_per_second']:,.0f} articles a second, "
        f"and at most {row['peak_megabytes']:,} MB of memory, most of which is taken by spaCy and "
        "the packages that are loaded.\n"
    )


def filters(found: Row) -> str:
    rows = found["filters"]
    body = [
        [name, f"{row['expected']:,.1f}", f"{row['likely']:,}", f"{row['uncertain']:,}"]
        for name, row in rows.items()
        if isinstance(row, dict)
    ]
    title = (
        "What each option does to events (an article and a country that attacks) in the "
        f"{rows['documents']:,} articles of Wikinews 2005–2008 that speak of attacks and of a "
        "country. *Expected* is the sum of the probabilities, *likely* the number of those of at "
        "least one half, *uncertain* of those between 0.05 and 0.95"
    )
    return table(title, ["rule", "expected", "likely", "uncertain"], body)


def readings(found: Row) -> str:
    rows = found["readings"]
    labels = ("attack", "unreal", "figurative", "other")
    body = []
    for name, row in rows.items():
        if name != "read":
            right = row["attack"] / max(1, sum(row.values()))
            body.append([name, *(f"{row[label]:,}" for label in labels), f"{100 * right:.0f}"])
    title = (
        f"The same events, read by hand: {rows['read']} sentences that the widest rule finds for "
        '"attack" with the single best entities. *Attack* happened; *unreal* was denied, '
        "threatened or imagined; *figurative* is in words or in sport; *other* is the deed of "
        "somebody else, by an error of the parse, of coreference or of the lexicon"
    )
    return table(title, ["rule", *labels, "% attacks"], body)


MAKERS: tuple[Maker, ...] = (
    ("raw_text_stages", "raw_text.json", stages, SCRIPT),
    ("raw_text_command", "raw_text.json", command, SCRIPT),
    ("rule_filters", "raw_text.json", filters, SCRIPT),
    ("rule_readings", "raw_text.json", readings, SCRIPT),
)


if __name__ == "__main__":
    write_tables(makers=MAKERS)
