"""The page that repeats the paper: its numbers come from files, never from memory."""

import json
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
THEIRS = ROOT / "benchmarks" / "paper" / "theirs.json"
PAGES = sorted([DOCS / "paper.rst", *DOCS.glob("paper_*.inc")])
PLACE = re.compile(r"section|Figure|Algorithm|appendix|footnote")

pytestmark = pytest.mark.skipif(not THEIRS.exists(), reason="only in a clone of the repository")


@pytest.fixture(scope="module")
def theirs():
    return runpy.run_path(str(DOCS / "_make" / "theirs.py"))


def test_each_number_of_theirs_says_where_it_was_read():
    for text in json.loads(THEIRS.read_text(encoding="utf-8")).values():
        assert text["source"]
        for name, (value, place) in text["numbers"].items():
            assert isinstance(value, (int, float, list)), name
            assert PLACE.search(place), name


def test_the_page_quotes_only_what_is_in_the_file(theirs):
    named = set()
    for page in PAGES:
        named |= set(re.findall(r"\|theirs-(\w+)\|", page.read_text(encoding="utf-8")))
    assert named
    assert named <= set(theirs["NUMBERS"])


def test_tables_quote_only_what_is_in_the_file(theirs):
    for path in (DOCS / "_make").glob("*_tables.py"):
        text = path.read_text(encoding="utf-8")
        used = set(re.findall(r"""\b(?:quoted|value)\(["'](\w+)["']\)""", text))
        assert used <= set(theirs["NUMBERS"]), path.name


def test_prose_of_the_page_has_no_measured_number():
    # Numbers of theirs are substitutions, ours are in tables: what is typed can go stale.
    # Section and figure numbers, settings in ``code``, bin sizes and thresholds are no results.
    allowed = (
        r":alt:(.|\n)*?\n\n", r"``[^`]*``", r"\|[^|]*\|", r":\w+:`[^`]*`",
        r"(?i:sections?|figures?) [\d.]+( (to|and) [\d.]+)*", r"\b(19|20)\d\d\b",
        r"Sentiment140", r"k = \.1", r"probability \.5", r"\b\d{1,3},000\b", r"500 tweets",
        r"100 iterations", r"200 and\s", r"\b\d{1,2}\b(?!\.\d)",
    )  # fmt: skip
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for pattern in allowed:
            text = re.sub(pattern, " ", text)
        left = re.findall(r".{0,30}(?:\d*\.\d+|\d{3,}).{0,20}", text)
        assert not left, f"{page.name}: {left}"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("tagging_train", "11,772"),
        ("sentiment_error_nb", ".105"),
        ("tagging_accuracy", "88.7 %"),
        ("coreference_links", "4.3 million"),
        ("events_years", "1987 to 2007"),
        ("tweets_ratio", "4 : 2 : 1"),
    ],
)
def test_numbers_are_written_as_the_texts_write_them(theirs, number, text):
    assert theirs["quoted"](number) == text


def test_every_claim_has_a_verdict():
    module = runpy.run_path(str(DOCS / "_make" / "claims_tables.py"))
    claims = module["claims"]()
    assert len(claims) > 10
    for claim, quoted, place, ours, verdict, script in claims:
        assert all((claim, quoted, place, ours))
        assert verdict in {module["YES"], module["PART"], module["NO"]}
        assert (ROOT / "benchmarks" / "paper" / script).exists(), script


def test_a_verdict_follows_the_numbers():
    module = runpy.run_path(str(DOCS / "_make" / "claims_tables.py"))
    found = json.loads(
        (ROOT / "benchmarks" / "results" / "paper_thesis.json").read_text(encoding="utf-8")
    )
    before = module["thesis"](found)[0]
    found["laws"][0]["doubling"]["rises"] = 1
    after = module["thesis"](found)[0]
    assert (before[4], after[4]) == (module["YES"], module["NO"])


@pytest.mark.parametrize(
    "path", sorted(THEIRS.parent.glob("read_*.csv")), ids=lambda path: path.stem
)
def test_answers_are_articles_and_country_codes(path):
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    assert header == "document,countries"
    documents = [row.split(",")[0] for row in rows]
    assert len(set(documents)) == len(documents) >= 100
    assert all(re.fullmatch(r"[^,]+,([A-Z]{3}( [A-Z]{3})*)?", row) for row in rows)
