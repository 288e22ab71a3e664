"""Figures in the prose of the guide are what the benchmarks measured.

Tables are made from the results when the documentation is built. These sentences are written by
hand, and a new run of a benchmark may make them wrong.
"""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").exists(), reason="benchmarks are not installed with the package"
)


def results(name):
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def plain_counts():
    return {
        row["total_coverage"]
        for row in results("counts")["simulation"]
        if (row["law"], row["shape"], row["method"]) == ("rare", "overconfident", "plain")
    } == {0.0}


def substitutes_for_spans():
    errors = [
        asked["error"]
        for row in results("spans")["rows"]
        for name, asked in row["asked"]["all"].items()
        if name.startswith(("product", "mean"))
    ]
    return round(min(errors), 1) >= 0.1 and round(max(errors), 1) <= 0.3


def exact_spans():
    return all(
        asked["brier_over_exact"][0] > 0 and asked["error"] > row["asked"]["all"]["exact"]["error"]
        for row in results("spans")["rows"]
        for name, asked in row["asked"]["all"].items()
        if name != "exact"
    )


def bands():
    held = {
        (row["law"], row["truth"], row["curve"], row["n"]): row.get("simultaneous")
        for row in results("curves")
    }
    step = [held["uniform", "step up", "smooth band", n] for n in (300, 3000)]
    return step[1] < step[0] < 0.95 and held["uniform", "waves", "monotone band", 3000] == 0.0


FIGURES = [
    ("how_many", "the plain count holds the true count in 0 % of simulated corpora", plain_counts),
    ("spans", "the error of a product or a mean is .10 to .30", substitutes_for_spans),
    ("spans", "Over all questions the exact probability is the better answer", exact_spans),
    ("curves", "the monotone band misses them, always so with 3,000 queries", bands),
]


@pytest.mark.parametrize(
    ("page", "sentence", "holds"), FIGURES, ids=[holds.__name__ for *_, holds in FIGURES]
)
def test_the_sentence_is_there_and_holds(page, sentence, holds):
    text = (ROOT / "docs" / "user_guide" / f"{page}.rst").read_text(encoding="utf-8")
    assert sentence in " ".join(text.split())
    assert holds()
