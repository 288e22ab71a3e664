"""Figures in the prose of the guide are what the benchmarks measured.

Tables are made from the results when the documentation is built. What follows is written by hand:
what was measured is compared with the results, what stands in the code with the code, and what is
given (a definition, an illustration, a reference) is listed. A number that is none of them fails.
"""

import json
import re
from functools import partial
from importlib import import_module
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


def powers():
    rows = results("power")["powers"]
    tests = ("kuiper", "cox", "waves", "spiegelhalter")
    behind = [max(row[test] for test in tests) - row["omnibus"] for row in rows]
    return (
        max(behind) < 0.2
        and sum(gap < 0 for gap in behind) <= len(rows) // 3
        and "bump" in min(rows, key=lambda row: row["omnibus"])["truth"]
        and all(row["binned"] < row["omnibus"] for row in rows)
    )


def nouns():
    found = results("raw_text")["filters"]
    return found["nouns"]["expected"] > 2 * found["paper"]["expected"]


def naive_bayes():
    """Return whether two in three come true at 90 %, in the README's own example."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {}
    exec(re.search(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)[1], names)
    bins = import_module("sklearn_calib").calibration_bins(names["y_test"], names["y_prob"])
    near = abs(bins.prob_pred - 0.9).argmin()
    return abs(bins.prob_pred[near] - 0.9) < 0.05 and abs(bins.prob_true[near] - 2 / 3) < 0.06


def code(module, name, value):
    """Return whether a constant of the package has a value."""
    return getattr(import_module(f"sklearn_calib.{module}"), name) == value


def written(path, text):
    """Return whether a script has a piece of code."""
    return text in (ROOT / path).read_text(encoding="utf-8")


LAW = "metrics._inference._null_law"
TESTS = "metrics._inference._null_tests"
SCANNED = "metrics._binning._scanned"
CURVES = "benchmarks/curves.py"
FIGURES = [
    # What was measured.
    ("how_many", "the plain count holds the true count in 0 % of simulated corpora", plain_counts),
    ("spans", "the error of a product or a mean is .10 to .30", substitutes_for_spans),
    ("spans", "Over all questions the exact probability is the better answer", exact_spans),
    ("curves", "the monotone band misses them, always so with 3,000 queries", bands),
    ("testing", "The omnibus is seldom the best for a single one, but never far behind", powers),
    ("rules", "Nouns find more than twice as many attacks", nouns),
    ("what_is_calibration", "to which it gives 90 %, only about two in three have", naive_bayes),
    # What was set in a benchmark.
    ("how_many", "log-odds of a rare event are 1.6 times too large",
     partial(written, "benchmarks/counts.py", "expit(logit(p) / 1.6)")),
    ("how_many", "taggers that were trained on 3,000 sentences or fewer",
     partial(written, "benchmarks/counts.py", "train.X[:3000]")),
    ("curves", "the log-odds divided by 1.5", partial(written, CURVES, "logit(q) / 1.5")),
    ("curves", "a *bump* of height 0.12 around 0.5",
     partial(written, CURVES, "q + 0.12 * np.exp(")),
    ("curves", "a *step* of 0.1 at 0.5", partial(written, CURVES, "q + 0.05 * np.sign(q - 0.5)")),
    ("curves", "six *waves* of height 0.09",
     partial(written, CURVES, "0.09 * np.sin(12.0 * np.pi")),
    # What stands in the code.
    ("comparing", "answers against the odds have shown up in 30 groups, or in all",
     partial(code, "metrics._inference._null_groups", "_TELLING_GROUPS", 30)),
    ("comparing", "A bin needs 8 groups at least",
     partial(code, "metrics._binning._balanced", "LEAST_UNITS", 8)),
    ("comparing", "With groups and more than 200,000 rows",
     partial(code, "metrics._compare", "_MOST_IN_GROUPS", 200_000)),
    ("testing", "at most 5,000 answers are expected",
     partial(code, TESTS, "RESAMPLE_UP_TO", 5_000)),
    ("testing", "as 999 draws can make it", partial(code, LAW, "_RESAMPLES", 999)),
    ("testing", "Beyond 20,000 queries the", partial(code, LAW, "DEPENDENT_UP_TO", 20_000)),
    ("testing", "with more than 20,000 queries, they are Wald's",
     partial(code, "metrics._inference._cox", "_PROFILE_UP_TO", 20_000)),
    ("report", "it comes from 999 random draws, so that 0.001 is the smallest",
     partial(code, LAW, "_RESAMPLES", 999)),
    ("scans", "where at most 20,000 answers are open",
     partial(code, LAW, "DEPENDENT_UP_TO", 20_000)),
    ("scans", "with at most 50,000 rows is measured in memory",
     partial(code, SCANNED, "_FEW", 50_000)),
    ("scans", "eight bytes for each of up to 12 million rows at a time",
     partial(code, SCANNED, "_MOST_HELD", 12_000_000)),
    ("scans", "up to 12 million rows at the edges of bins",
     partial(code, SCANNED, "_MOST_HELD", 12_000_000)),
    ("scans", "make up to 4,096 bins",
     partial(code, "metrics._binning._sizes", "MOST_SCANNED", 4096)),
    ("datasets", "A packed file may expand to 64 MB",
     partial(code, "_files", "FREE_EXPANSION", 64 * 2**20)),
    ("datasets", "or to a hundred times its size", partial(code, "_files", "MAX_EXPANSION", 100)),
    ("datasets", "One of less than 1 MB may have five million rows",
     partial(code, "queries._scan_sources", "_MOST_ROWS", 5_000_000)),
    ("datasets", "a line counts for 32 bytes at least", partial(code, "_files", "_LINE_COST", 32)),
]  # fmt: skip

# Numbers that nobody measured: definitions, illustrations, references, sizes of corpora.
GIVEN = {
    "corpus": [
        "mean ± 1.96 standard deviations",
        "fails after 400 documents, and the second call counts the other 200",
        "a single document of probability .01 has the mean .01 and the interval",
    ],
    "curves": [
        "so that 0.001 and 0.01 are about as far apart as 0.1 and 0.5",
        "Intervals that each hold 95 times in 100",
        "features no finer than about 0.6",
        "standard deviation 0.15 around a prediction of 0.5",
        "PNAS 118(8)", "JASA 113(522)", "Statistics 29(6)", "Biometrika 110(3)", "Statistics 42(5)",
    ],
    "datasets": [
        "8,936 and 2,012 sentences, 44 Penn", "12,544, 2,001 and 2,077 sentences, 49 Penn",
        "17 universal tags", "1,000, 327 and 500 tweets, 25 coarse tags",
        "20,000 or 1,600,000 tweets", "177, 30 and 30 documents of 15 genres", "100 novels",
        "808 news articles", "14,085 news articles",
        "CC BY-SA 4.0", "CC BY 4.0", "CC BY 3.0", "CC BY 2.5",
    ],
    "how_many": [
        "If none of 120 such documents has an event, the rate of missed events may still be 2 in",
        "for the 20 most common verbs", "Each over 20 draws of what is read",
    ],
    "raw_text": ["exit code 130", "report 01-12"],
    "reading_a_curve": ["so that 0.001, 0.01 and 0.1 are about equally far apart"],
    "recalibration": ["scikit-learn 1.8 or newer"],
    "report": ["3,000 messages from 300 documents", "in 95 of 100 samples", "0.95 by default"],
    "scans": ["There are 16,384 of them"],
    "taggers": ["With 50 tags there are 2,500 pairs"],
    "testing": [
        "up to 20,000 queries where predictions are spread out", "the first 1, 2, 4, up to 32",
        "The p-value is below 0.025 exactly when",
    ],
    "what_is_calibration": ["rain, 70 %", "it said 70 %", "one says 99 % and the other 70 %"],
    "README": ["the predictions that say 70 %", "Python 3.11 or newer", "pages 1587–1598"],
    "docs": ["the predictions that say 70 %"],
}  # fmt: skip

PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "user_guide").glob("*.rst"))}
PAGES["docs"] = ROOT / "docs" / "index.rst"
PAGES["README"] = ROOT / "README.md"
NUMBER = re.compile(r"(?<![\w.,/^{=-])(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?: ?%)?(?![\w/^])")


def parts(text):
    """Return the prose of a page, and its code: examples, what they print, and directives.

    In the README, examples and the table that was measured are tested elsewhere.
    """
    text = re.sub(r"^```(.*?)^```|^\|.*?\n\n", _indented, text, flags=re.DOTALL | re.MULTILINE)
    prose, code, below = [], [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if below is not None and line.strip() and indent <= below:
            below = None
        if below is None and line.lstrip().startswith((">>> ", ".. code", ".. math")):
            below = indent - line.lstrip().startswith(">>> ")
        if below is not None or line.lstrip().startswith((".. ", ":")):
            code.append(line)
            continue
        prose.append(line)
        if line.endswith("::"):
            below = indent
    return " ".join(" ".join(prose).split()), "\n".join(code)


def _indented(block):
    return ".. code\n" + "".join(f"    {line}\n" for line in block[0].splitlines()) + "\n"


def plain(number):
    """Return a number without what may be written in two ways."""
    text = number.rstrip(" %,").replace(",", "").replace("_", "")
    return float(text) / (100 if "%" in number else 1)


def unexplained(page, text):
    """Return the numbers in the prose of a page that nothing on it, and nobody here, explains."""
    prose, code = parts(text)
    quoted = r"``[^`]*``|:math:`[^`]*`|\]\([^)]*\)"
    code += " ".join(re.findall(quoted, prose))
    known = {plain(number) for number in re.findall(r"(?:\d[\d,_]*(?:\.\d+)?|\.\d+)", code)}
    for phrase in [*GIVEN.get(page, []), *(told for name, told, _ in FIGURES if name == page)]:
        prose = prose.replace(phrase, " x ")
    # Years and places in other texts; levels; the ends of the unit interval.
    usual = r"\[\d+\]_|`[^`]*`_|:[\w:]+:`[^`]*`|\b(1[89]|20)\d\d\b|Algorithms? \d|section \d"
    prose = re.sub(f"{quoted}|{usual}|\\b(9[05]|5) ?%", " x ", prose)
    return [
        prose[max(found.start() - 40, 0) : found.end() + 30]
        for found in NUMBER.finditer(prose)
        if plain(found[0]) not in known
        and ("%" in found[0] or not plain(found[0]).is_integer() or plain(found[0]) > 12)
    ]


@pytest.mark.parametrize(("page", "path"), PAGES.items(), ids=PAGES)
def test_every_number_is_explained(page, path):
    text = path.read_text(encoding="utf-8")
    assert unexplained(page, text) == []
    for phrase in GIVEN.get(page, []):
        assert phrase in parts(text)[0], "no longer on the page"


def test_a_number_that_nobody_explains_is_found():
    page = "It holds in 97 to 99 % of samples, as it did in 2015, and\n\n    >>> 12.5\n    12.5\n"
    assert [found.strip() for found in unexplained("none", page)] == [
        "It holds in 97 to 99 % of samples, as it did",
        "It holds in 97 to 99 % of samples, as it did in  x ,",
    ]
    assert unexplained("none", page.replace("97 to 99 % of", "12.5, or ``97``, of")) == []
    assert unexplained("what_is_calibration", "rain, 70 %") == []


@pytest.mark.parametrize(
    ("page", "sentence", "holds"), FIGURES, ids=[f"{page}: {told}" for page, told, _ in FIGURES]
)
def test_the_sentence_is_there_and_holds(page, sentence, holds):
    text = (ROOT / "docs" / "user_guide" / f"{page}.rst").read_text(encoding="utf-8")
    assert sentence in " ".join(text.split())
    assert holds()
