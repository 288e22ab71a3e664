"""The page is whole, needs nothing from elsewhere, and looks as it should in a browser."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from sklearn_calib import bin_size_curve, calibration_bins, calibration_report, classifier_queries
from tests.browser import Browser, needs_chromium
from tests.report.files import SAMPLE, run, write


class Page(HTMLParser):
    """Checks that tags are closed, and collects ids."""

    VOID = ("meta", "br", "img", "link", "use", "path", "rect", "line", "circle")

    def __init__(self):
        super().__init__()
        self.ids, self.open, self.outside = [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        for name in ("src", "href", "xlink:href"):
            value = attributes.get(name) or ""
            if value and not value.startswith("#"):
                self.outside.append(value)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_page_is_whole_and_self_contained(tmp_path, capsys):
    out = tmp_path / "report.html"
    path = write(tmp_path / "a<b>.csv")
    assert run(path, "--pos-label", "yes", "--out", str(out)) == 0
    assert f"wrote {out}" in capsys.readouterr().out
    html = out.read_text()
    page = Page()
    page.feed(html)
    assert not page.open
    assert not page.outside
    assert len(set(page.ids)) == len(page.ids)
    assert {"summary", "curve", "bin-size"} <= set(page.ids)
    assert "a&lt;b&gt;.csv" in html
    assert "<b>.csv" not in html


def test_without_matplotlib_nothing_is_missing(tmp_path, capsys, monkeypatch):
    path, out = write(tmp_path / "p.csv"), tmp_path / "r.html"
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    assert run(path, "--pos-label", "yes", "--out", str(out)) == 0
    assert "<figure id='curve'>" in out.read_text()


def insects(n=600):
    """Return labels and probabilities of three classes, one with a hostile name."""
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([3, 2, 1], size=n)
    y = np.array([rng.choice(["</script><ant>", "bee", "cat"], p=p) for p in proba])
    return y, proba


def data_of(html):
    found = re.search(r"<script type='application/json' id='data'>(.*?)</script>", html, re.DOTALL)
    return json.loads(found[1])


def test_pictures_have_the_numbers_of_the_report():
    y, proba = insects()
    report = calibration_report(y, proba, name="insects", confidence_level=0.9)
    data = data_of(report.to_html())
    names = ["all labels pooled", *map(str, report.labels.most_common().labels)]
    assert [curve["name"] for curve in data["curves"]] == names
    queries = classifier_queries(y, proba, classes=["</script><ant>", "bee", "cat"])
    for curve in data["curves"]:
        mine = queries if curve["name"] == names[0] else queries.where(label=curve["name"])
        bins = calibration_bins(mine)
        low, high = bins.confidence_interval(0.9)
        band = bins.consistency_band(0.9)
        for name, values in {
            "predicted": bins.prob_pred, "true": bins.prob_true, "count": bins.count, "low": low,
            "high": high, "bandLow": band.low, "bandHigh": band.high, "from": bins.low,
            "to": bins.high,
        }.items():  # fmt: skip
            np.testing.assert_array_equal(curve["bins"][name], values)
        counts, _ = np.histogram(mine.y_prob, np.arange(51) / 50)
        assert curve["histogram"] == counts.tolist()
        counts, _ = np.histogram(mine.y_prob, data["oddsEdges"])
        assert curve["oddsHistogram"] == counts.tolist()
        assert curve["n"] == len(mine)
    sizes = bin_size_curve(queries, confidence_level=0.9)
    np.testing.assert_array_equal(data["sizes"]["error"], sizes.error)
    np.testing.assert_array_equal(data["sizes"]["nullHigh"], sizes.null_interval.high)
    assert data["sizes"]["selected"] == sizes.selected


def test_page_by_label():
    y, proba = insects()
    html = calibration_report(y, proba, name="insects").to_html()
    page = Page()
    page.feed(html)
    assert not page.open
    assert not page.outside
    assert len(set(page.ids)) == len(page.ids)
    assert {"summary", "curve", "labels", "bin-size"} <= set(page.ids)
    assert "<bdi>&lt;/script&gt;&lt;ant&gt;</bdi>" in html
    assert ">Calibration of insects</h1>" in html
    # One picture of an error for each label.
    assert html.count("<svg class='plot error'") == 3


def test_labels_that_are_numbers_groups_and_weights():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1, 1], size=200)
    y = np.array([rng.choice(3, p=p) for p in proba])
    report = calibration_report(
        y, proba, groups=np.arange(200) // 4, sample_weight=rng.integers(1, 4, 200), n_bins=5
    )
    data = data_of(report.to_html())
    assert [curve["name"] for curve in data["curves"]][1:] == [
        str(label) for label in report.labels.most_common().labels
    ]
    assert {len(curve["bins"]["count"]) for curve in data["curves"]} == {5}
    np.testing.assert_array_equal(data["curves"][0]["bins"]["true"], report.bins.prob_true)


def test_the_most_common_of_many_labels_have_curves():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(42), size=200)
    y = np.array([rng.choice(42, p=p) for p in proba])
    report = calibration_report(y, proba, classes=np.arange(42), random_state=0)
    html = report.to_html()
    assert len(data_of(html)["curves"]) == 41
    assert "one of the 40 most common, to see its curve" in html
    assert html.count("<td class='label'>") == 42


def test_without_a_name():
    html = calibration_report(SAMPLE.queries).to_html()
    assert "<title>Calibration report</title>" in html


# --- in a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_page_in_a_browser(browser, width, dark, tmp_path):
    out = tmp_path / "report.html"
    run(write(tmp_path / "p.csv"), "--pos-label", "yes", "--out", str(out))
    browser.look(width, dark=dark)
    browser.open(out)
    assert len(browser.texts("#summary tr")) == 20
    assert browser.too_wide() <= 0
    for figure in ("curve", "bin-size"):
        _, _, wide, tall = browser.box(f"#{figure} .picture > svg")
        assert min(wide, tall) > 150
    assert browser.run("document.querySelector('#label') === null")
    light = browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light != dark
    assert browser.complaints() == []


@needs_chromium
def test_bins_and_labels_can_be_looked_at(browser, tmp_path):
    y, proba = insects()
    report = calibration_report(y, proba, name="insects")
    out = report.save(tmp_path / "report.html")
    browser.look(1280)
    browser.open(out)
    # By keyboard, along the bins of all labels.
    browser.press("Tab", "Tab", "Tab", "Home")
    bins = report.bins
    for i in range(3):
        tip = browser.text("#tip")
        assert f"says {100 * bins.prob_pred[i]:.1f} %" in tip
        assert f"came true {100 * bins.prob_true[i]:.1f} %" in tip
        assert f"bin {i + 1} of {len(bins)}, {bins.count[i]:,} queries" in tip
        browser.press("ArrowRight")
    # Log-odds make room at both ends, for the same bins.
    places = "[...document.querySelectorAll('#curve .point')].map(p => p.cx.baseVal.value)"
    before = browser.run(places)
    browser.click("#odds")
    after = browser.run(places)
    assert len(before) == len(after) == len(bins)
    assert (np.diff(after) > 0).all()
    assert after[1] - after[0] > before[1] - before[0]
    assert browser.run("document.activeElement.id") == "odds"
    assert "0.5" in browser.texts("#curve text")
    browser.click("#odds")
    assert browser.run(places) == before
    # By mouse, a label of the table.
    browser.click("#labels tr:nth-child(2) button")
    label = browser.text("#labels tr:nth-child(2) button")
    assert browser.text("#label option:checked") == label
    browser.point("#curve svg", 0.99, 0.3)
    last = calibration_bins(report.queries.where(label=label))
    assert f"came true {100 * last.prob_true[-1]:.1f} %" in browser.text("#tip")
    # The choice, back to all of them.
    browser.run("document.getElementById('label').value = 0")
    browser.run("document.getElementById('label').dispatchEvent(new Event('change'))")
    assert browser.texts("#labels button[aria-pressed=true]") == []
    browser.point("#bin-size .picture > svg", 0.5, 0.5)
    assert "plug-in error if calibrated" in browser.text("#tip")
    assert browser.complaints() == []
