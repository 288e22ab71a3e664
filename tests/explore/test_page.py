"""The page of counts, as it is written and as it works in a real browser."""

import re

import numpy as np
import pytest

from sklearn_calib.coref import Document, link_probabilities
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import (
    AgentRule,
    count_corpus,
    count_documents,
    count_tags,
    country_lexicon,
    counts_from_probabilities,
    reading_plan,
)
from tests.browser import Browser, needs_chromium
from tests.explore.pairs import counted, document, samples
from tests.test_html import HOSTILE

CORPUS = make_event_corpus(150, random_state=0)
RULE = AgentRule(country_lexicon())
COUNTS = count_corpus(CORPUS.X, CORPUS.model, RULE, period="M", random_state=0)
PLAN = reading_plan(COUNTS, 25, random_state=0)
BETTER = COUNTS.corrected(
    PLAN.answered({name: ["USA"] for name in PLAN.documents[:12]}), random_state=0
)


# --- what is written


def test_files_of_others_are_left_alone(tmp_path):
    path = tmp_path / "page.html"
    assert COUNTS.to_html(path) == path
    first = path.read_text()
    assert COUNTS.to_html(str(path), title="Again") == path
    assert path.read_text() != first
    path.write_text("<html>years of work")
    with pytest.raises(
        ValueError, match=r"is not a page of sklearn-calib\. Pass force=True to replace it"
    ):
        COUNTS.to_html(path)
    assert path.read_text() == "<html>years of work"
    COUNTS.to_html(path, force=True)
    assert path.read_text() == first
    with pytest.raises(ValueError, match="there is no folder"):
        COUNTS.to_html(tmp_path / "none" / "page.html")


def test_what_does_not_belong_together_is_refused(tmp_path):
    path = tmp_path / "page.html"
    other = counted(30)
    with pytest.raises(ValueError, match="The plan was drawn for other counts"):
        COUNTS.to_html(path, plan=reading_plan(other, 3, random_state=0))
    with pytest.raises(TypeError, match="plan must be what reading_plan returns, got list"):
        COUNTS.to_html(path, plan=["a"])
    with pytest.raises(ValueError, match="corrected was made from other counts"):
        COUNTS.total().to_html(path, corrected=BETTER)
    with pytest.raises(TypeError, match=r"corrected must be what posterior\.corrected"):
        COUNTS.to_html(path, corrected=COUNTS)
    with pytest.raises(ValueError, match="corrected themselves: leave corrected out"):
        BETTER.to_html(path, corrected=BETTER)
    with pytest.raises(TypeError, match="rule must be callable"):
        COUNTS.to_html(path, rule="attack")
    nothing = count_documents([document()], [samples(0.5)], lambda document, entity: None)
    with pytest.raises(ValueError, match="there is nothing to show"):
        nothing.to_html(path)
    assert not path.exists()


def test_few_samples_warn_nobody_and_are_said(tmp_path):
    path = counted(3, n_samples=5).to_html(tmp_path / "page.html")
    assert "too narrow, because the samples are few" in path.read_text()
    path = counted(3, p=1.0, n_samples=1).to_html(tmp_path / "page.html")
    assert "One sample makes no interval" in path.read_text()


# --- in a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return COUNTS.to_html(
        tmp_path_factory.mktemp("page") / "attacks.html",
        documents=CORPUS.X,
        model=CORPUS.model,
        rule=RULE,
        plan=PLAN,
        corrected=BETTER,
        title="Attacks & raids",
    )


def number(text):
    return float(text.replace(",", ""))


def shown_numbers(tip):
    """Return mean, low and high of a tip."""
    found = re.search(r"expected ([\d.,]+), 95% interval ([\d.,]+) to ([\d.,]+)\n", tip)
    return [number(part) for part in found.groups()]


@needs_chromium
def test_series_show_the_numbers_of_the_counts(browser, page):
    browser.look(1280)
    browser.open(page)
    assert browser.text("h1") == "Attacks & raids"
    keys = list(COUNTS.most_common())
    assert [text.split(" ")[0][:3] for text in browser.texts(".panel h3")] == keys
    steps = [("0", COUNTS, BETTER), ("2", COUNTS.coarser("Y"), BETTER.coarser("Y")),
             ("3", COUNTS.total(), BETTER.total())]  # fmt: skip
    for value, plain, corrected in steps:
        browser.click(f"input[name=grain][value='{value}']")
        for mode, counts in (("plain", plain), ("corrected", corrected)):
            browser.click(f"input[name=counts][value={mode}]")
            low, high = counts.confidence_interval()
            for k in (0, len(keys) - 1):
                place = COUNTS.keys.index(keys[k])
                for period in {0, len(counts.periods) // 2, len(counts.periods) - 1}:
                    width = browser.box(f".panel[data-key='{k}'] svg")[2]
                    left = browser.run(
                        f"document.querySelector('.panel[data-key=\"{k}\"] .axis').x1.baseVal.value"
                    )
                    right = width - 8
                    x = left + (period + 0.5) * (right - left) / len(counts.periods)
                    browser.point(f".panel[data-key='{k}'] svg", x / width)
                    tip = browser.text("#tip")
                    assert tip.startswith(f"{keys[k]}, ")
                    wanted = [a[period, place] for a in (counts.mean, low, high)]
                    np.testing.assert_allclose(shown_numbers(tip), wanted, atol=0.051)
    assert browser.complaints() == []


@needs_chromium
def test_counts_as_shares_of_all_documents(browser, page):
    browser.look(1280)
    browser.open(page)
    browser.click("input[name=grain][value='2']")
    browser.click("#share")
    assert "share of documents per year" in browser.texts(".panel svg text")
    assert any(text.endswith(" %") for text in browser.texts(".panel svg text"))
    # Bars are as high as the share says.
    key, years = BETTER.plain.most_common()[0], BETTER.coarser("Y")
    at = years.keys.index(key)
    share = years.mean[:, at] / years.n_documents
    lines = browser.run(
        "[...document.querySelectorAll('.panel[data-key=\"0\"] line.mean')]"
        ".map(line => line.y1.baseVal.value)"
    )
    low, high = browser.run(
        "(l => [l[0], l[l.length - 1]])([...document.querySelectorAll("
        '\'.panel[data-key="0"] .grid, .panel[data-key="0"] svg > .axis:nth-of-type(1)\')]'
        ".map(line => line.y1.baseVal.value))"
    )
    heights = (max(low, high) - np.array(lines)) / (max(low, high) - min(low, high))
    np.testing.assert_allclose(heights / heights[0], share / share[0], rtol=1e-6)
    browser.point(".panel svg", 0.5)
    assert f"a share of {100 * share[1]:.1f} %" in browser.text("#tip")
    browser.click("#share")
    assert "documents per year" in browser.texts(".panel svg text")
    assert browser.complaints() == []


@needs_chromium
def test_by_mouse_from_a_count_to_a_mention(browser, page):
    browser.look(1280)
    browser.open(page)
    browser.click("input[name=counts][value=plain]")
    browser.click("input[name=grain][value='2']")
    browser.click(".panel svg", 0.5)
    key, years = COUNTS.most_common()[0], COUNTS.coarser("Y")
    assert browser.text("#list h2").startswith(f"{key}, 2002: ")
    # Documents by probability, and by uncertainty.
    p = COUNTS.probability(key)[years.document_period == 1]
    names = np.array(COUNTS.documents)[years.document_period == 1]
    listed = browser.texts("#list ol .sub")
    probable = names[np.argsort(-p, kind="stable")][: (p > 0).sum()]
    shown = [float(re.match(r"[<>]?([\d.]+)", t)[1]) for t in browser.texts("#list .measure")]
    assert len(listed) == min(50, len(probable))
    np.testing.assert_allclose(shown, np.sort(p)[::-1][: len(shown)], atol=0.011)
    browser.click("input[name=sort][value=sd]")
    first = browser.text("#list ol .sub")
    unsure = [found.id for found in years.most_uncertain(500, key=key) if found.period == "2002"]
    spread = p * (1 - p)
    assert first.split(" ")[0] in set(names[spread >= spread.max() - 1e-9])
    assert first.split(" ")[0] in unsure[:5]
    # The text, its mentions and why it counts.
    browser.click("#list ol button")
    shown = next(d for d in CORPUS.X if d.id == first.split(" ")[0])
    assert browser.text("#document .text").split() == (
        " ".join(shown.tokens).replace(" .", ".").split()
    )
    assert len(browser.texts("#document .m")) == len(shown)
    assert "is the subject of 'attacked'" in browser.text("#says")
    assert browser.run("document.querySelectorAll('#document .m.linked').length") == 0
    [proba] = CORPUS.model.predict_antecedent_proba([shown])
    links = link_probabilities(proba)[0]
    browser.point("#document .m")
    assert browser.text("#links").startswith(f"“{shown.mention_text(0)}”")
    others = [j for j in np.argsort(-links, kind="stable") if j != 0 and links[j] >= 0.05]
    said = [re.search(r"“(.*)” ([<>]?)([\d.]+)", text) for text in browser.texts("#links li")]
    assert [found[1] for found in said] == [shown.mention_text(j) for j in others]
    for found, j in zip(said, others, strict=True):
        assert float(found[3]) == pytest.approx(links[j], abs=0.0056)
    assert len(browser.texts("#document .m.linked")) == len(others)
    assert browser.complaints() == []


@needs_chromium
def test_by_keyboard_alone(browser, page):
    browser.look(1280)
    browser.open(page)
    for _ in range(40):
        browser.press("Tab")
        if browser.run("document.activeElement.tagName") == "svg":
            break
    browser.press("Home", "ArrowRight", "ArrowRight")
    assert ", 2001-03\n" in browser.text("#tip")
    assert "2001-03, expected" in browser.text("[role=status]")
    browser.press("Escape")
    assert browser.run("document.getElementById('tip').hidden")
    browser.press("ArrowRight", "Enter")
    assert ", 2001-04: " in browser.text("#list h2")
    assert browser.run("document.activeElement.closest('#list') !== null")
    for _ in range(10):
        browser.press("Tab")
        if browser.run("document.activeElement.matches('ol.documents button')"):
            break
    browser.press("Enter")
    title = browser.text("#document h2")
    assert title
    assert browser.run("document.activeElement.textContent") == title
    for _ in range(12):
        browser.press("Tab")
        if browser.run("document.activeElement.matches('.text')"):
            break
    assert browser.run("document.querySelectorAll('.m.on').length") == 1
    before = browser.text("#links")
    browser.press("ArrowRight")
    assert browser.text("#links") != before
    browser.press("Escape")
    assert browser.run("document.activeElement.matches('ol.documents button')")
    browser.press("Escape")
    assert browser.run("document.activeElement.tagName") == "svg"


@needs_chromium
def test_answers_go_back_into_the_plan(browser, page):
    browser.look(1280)
    browser.open(page)
    browser.run("localStorage.clear()")
    browser.open(page)
    wanted = {}
    for i, answer in enumerate(["yes", "no", "yes"]):
        browser.click("#next" if i == 0 else ".questions > button")
        assert f"number {i + 1} of 25" in browser.text(".questions h3")
        # What the model says is not shown first.
        assert not browser.run("document.getElementById('says').open")
        key = browser.text(".questions legend")
        if key == "Any key?":
            browser.click(".questions input[value=no]")
            wanted[PLAN.documents[i]] = {}
            continue
        browser.click(f".questions input[value={answer}]")
        wanted[PLAN.documents[i]] = {key: 1} if answer == "yes" else {}
    # A key that the model did not see.
    other = browser.run("document.getElementById('other-key').value")
    browser.click(".questions .where button")
    wanted[PLAN.documents[2]][other] = 1
    assert "3 of 25 documents answered" in browser.text("#plan")
    # They are still there when the page is opened again.
    browser.run("removeEventListener('beforeunload', () => {})")
    browser.click("#save")
    path = browser.downloaded()
    answered = PLAN.answered(path)
    assert {name: dict(found) for name, found in answered.answers.items()} == wanted
    assert answered.posterior.corrected(answered, random_state=0).mean.shape == COUNTS.mean.shape
    assert path.name == "answers.csv"
    path.unlink()
    browser.open(page)
    assert "3 of 25 documents answered" in browser.text("#plan")
    # An answer is taken back.
    browser.click("#plan summary")
    browser.click("#plan ol button")
    browser.click(".questions fieldset button")
    assert "2 of 25 documents answered" in browser.text("#plan")
    browser.click("#save")
    path = browser.downloaded()
    assert len(PLAN.answered(path).answers) == 2
    path.unlink()
    browser.run("localStorage.clear()")


@needs_chromium
def test_documents_outside_the_plan_cannot_be_answered(browser, page):
    browser.look(1280)
    browser.open(page)
    ids = browser.run("JSON.parse(document.getElementById('data').textContent).documents.id")
    outside, name = next((i, name) for i, name in enumerate(ids) if name not in PLAN.documents)
    period = COUNTS.period_labels[COUNTS.document_period[COUNTS.documents.index(name)]]
    place = COUNTS.period_labels.index(period)
    browser.press("Tab")
    for k in range(4):
        browser.run(f"document.querySelector('.panel[data-key=\"{k}\"] svg').focus()")
        browser.press("Home", *["ArrowRight"] * place, "Enter")
        if browser.run(f"document.querySelector('[data-document=\"{outside}\"]') !== null"):
            break
    browser.click(f"[data-document='{outside}']")
    assert "not in the reading plan" in browser.text("#document")
    assert "would bias the corrected counts" in browser.text("#document")
    assert browser.run("document.querySelector('.questions') === null")


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1280])
def test_widths_and_colours(browser, page, width, dark):
    browser.look(width, dark=dark)
    browser.open(page)
    assert browser.too_wide() <= 0
    for value in "0123":
        browser.click(f"input[name=grain][value='{value}']")
        assert browser.too_wide() <= 0
    browser.click("#series summary")
    browser.click("#plan summary")
    browser.click(".panel svg", 0.5)
    browser.click("#list ol button")
    assert browser.too_wide() <= 0
    # What is written stands out from what it is written on.
    pairs = browser.run(
        """[['body', 'body'], ['.lead', 'body'], ['#document .m.e', '#document .m.e'],
            ['#list .sub', 'body'], ['button.main', 'button.main']].map(([a, b]) =>
            [getComputedStyle(document.querySelector(a)).color,
             getComputedStyle(document.querySelector(b)).backgroundColor])"""
    )
    for ink, paper in pairs:
        bright = [luminance(color) for color in (ink, paper)]
        assert (max(bright) + 0.05) / (min(bright) + 0.05) >= 4.5, (ink, paper)
    paper = luminance(pairs[0][1])
    assert paper < 0.1 if dark else paper > 0.9
    # Every period can be touched: the plot is as wide as the screen allows.
    left, _, wide, _ = browser.box(".panel svg")
    assert left >= 0
    assert wide >= min(width - 40, 300)


def luminance(color):
    """Return the relative luminance of a CSS colour (WCAG 2)."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    red, green, blue = (
        (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4) for p in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@needs_chromium
def test_hostile_corpora(browser, tmp_path):
    names = [*HOSTILE[:7], *HOSTILE[8:], "=cmd|' /C calc'!A0", "line\r\nbreak", 'quo"te, comma']
    documents = [
        Document(name, [name or "x", "w"], mentions=[(0, 1), (1, 2)], date="2003-02-14", title=name)
        for name in names
    ]

    def rule(document, entity):
        return document.id if len(entity) > 1 else None

    counts = count_documents(documents, [samples(0.5)] * len(names), rule, period="Q")
    plan = reading_plan(counts, len(names), random_state=0)
    page = counts.to_html(
        tmp_path / "page.html", documents=documents, rule=rule, plan=plan, title=HOSTILE[0]
    )
    browser.look(1280)
    browser.run("localStorage.clear()")
    browser.open(page)
    assert browser.text("h1") == HOSTILE[0]
    assert browser.run("document.title") == HOSTILE[0]
    browser.click("fieldset.keys button")
    assert len(browser.texts(".panel")) == len(names)
    assert browser.run("document.images.length") == 0
    wanted = {}
    for i, name in enumerate(plan.documents):
        browser.click("#next")
        assert browser.text("#document h2") == name
        browser.click(f".questions input[value={'yes' if i % 2 else 'no'}]")
        wanted[name] = {name: 1} if i % 2 else {}
        assert browser.text("#document .text").startswith(name)
    browser.click("#save")
    path = browser.downloaded()
    answered = plan.answered(path)
    assert {name: dict(found) for name, found in answered.answers.items()} == wanted
    assert browser.complaints() == []
    path.unlink()
    browser.run("localStorage.clear()")


@needs_chromium
def test_keys_of_several_parts(browser, tmp_path):
    rule = AgentRule(country_lexicon(), verbs=["attack", "warn"], returns="pair")
    counts = count_corpus(CORPUS.X[:60], CORPUS.model, rule, period="Y", random_state=0)
    plan = reading_plan(counts, 5, random_state=0)
    page = counts.to_html(
        tmp_path / "page.html", documents=CORPUS.X, model=CORPUS.model, rule=rule, plan=plan
    )
    browser.look(400)
    browser.run("localStorage.clear()")
    browser.open(page)
    actor, verb = counts.most_common()[0]
    assert browser.text(".panel h3 bdi") == f"{actor} · {verb}"
    browser.click("#next")
    assert " · " in browser.text(".questions legend")
    browser.click(".questions input[value=yes]")
    browser.click("#save")
    path = browser.downloaded()
    [found] = plan.answered(path).answers.values()
    [key] = found
    assert key in counts.keys
    assert browser.too_wide() <= 0
    path.unlink()
    browser.run("localStorage.clear()")


@needs_chromium
def test_counts_of_other_kinds(browser, tmp_path):
    rng = np.random.default_rng(0)
    browser.look(1280)
    # Of a classifier, by name, without texts.
    counts = counts_from_probabilities(
        rng.random(90), period=rng.choice(["fiction", "news", "a very long name of a genre"], 90)
    )
    browser.open(counts.to_html(tmp_path / "a.html"))
    browser.click(".panel svg", 0.5)
    browser.click("#list ol button")
    assert "written without texts" in browser.text("#document")
    assert "reading_plan(posterior, 100)" in browser.text("#plan")
    # Of tags, where a document counts more than once, with numbers as answers.
    sentences = [["they", "fish"] * 3] * 8
    drawn = [[["N", "V"] * 3] * 10 + [["V", "V"] * 3] * 10] * 8
    tags = count_tags(sentences, drawn)
    plan = reading_plan(tags, 4, random_state=0)
    browser.open(tags.to_html(tmp_path / "b.html", plan=plan))
    browser.run("localStorage.clear()")
    assert browser.text(".plot text:nth-of-type(4)") is not None
    browser.click(".panel svg", 0.5)
    assert "±" in browser.text("#list .measure")
    browser.click("#next")
    browser.click(".questions input[type=number]")
    browser.send("Input.insertText", text="4")
    browser.press("Tab")
    browser.click("#save")
    path = browser.downloaded()
    [found] = plan.answered(path).answers.values()
    assert list(found.values()) == [4]
    path.unlink()
    # Many keys and days: a filter for the keys, and lines in place of bars.
    days = np.datetime64("2001-01-01") + np.arange(800).astype("timedelta64[D]")
    many = counts_from_probabilities(
        rng.random((800, 20)),
        period=[str(day) for day in days],
        keys=[f"key {i}" for i in range(20)],
    )
    browser.open(many.to_html(tmp_path / "c.html"))
    assert browser.run("document.querySelectorAll('.panel path.interval').length") == 6
    browser.click("input[type=search]")
    browser.send("Input.insertText", text="key 19")
    assert (
        browser.run("document.querySelectorAll('.keys label[data-key]:not([hidden])').length") == 1
    )
    assert browser.complaints() == []
    browser.run("localStorage.clear()")
