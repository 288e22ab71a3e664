"""The page is whole, needs nothing from elsewhere, and looks as it should in a browser."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from sklearn_calib import calibration_report
from tests.report.files import SAMPLE, run, write


class Page(HTMLParser):
    """Checks that tags are closed, and collects ids."""

    VOID = ("meta", "br", "img", "link", "use", "path", "rect")

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
    assert html.count("<svg") == 2
    assert "a&lt;b&gt;.csv" in html
    assert "<b>.csv" not in html


def test_without_matplotlib_only_the_page_is_missing(tmp_path, capsys, monkeypatch):
    path = write(tmp_path / "p.csv")
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    assert run(path, "--pos-label", "yes") == 0
    assert run(path, "--pos-label", "yes", "--out", str(tmp_path / "r.html")) == 2
    assert "pip install 'sklearn-calib[plot]'" in capsys.readouterr().err


CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [1200, 400])
def test_page_in_a_browser(width, tmp_path):
    out = tmp_path / "report.html"
    run(write(tmp_path / "p.csv"), "--pos-label", "yes", "--out", str(out))
    # A script that only the test adds says what the browser made of the page.
    probe = """<script>addEventListener("load", () => {
      const box = id => document.getElementById(id).getBoundingClientRect();
      const svg = document.querySelector("#curve svg").getBoundingClientRect();
      document.title = JSON.stringify({
        rows: document.querySelectorAll("#summary tr").length,
        svg: [svg.width, svg.height], wide: document.documentElement.scrollWidth,
        inner: innerWidth, below: box("bin-size").top > box("curve").bottom});
    });</script>"""
    out.write_text(out.read_text().replace("</body>", f"{probe}</body>"))
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900",
         "--virtual-time-budget=5000", "--dump-dom", out.as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    found = json.loads(
        re.search(r"<title>(.*?)</title>", done.stdout).group(1).replace("&quot;", '"')
    )
    assert found["rows"] == 20
    assert min(found["svg"]) > 150
    assert found["wide"] <= found["inner"] + 1
    assert found["below"]


def test_page_by_label():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([3, 2, 1], size=300)
    y = np.array([rng.choice(["<ant>", "bee", "cat"], p=p) for p in proba])
    html = calibration_report(y, proba, name="insects").to_html()
    page = Page()
    page.feed(html)
    assert not page.open
    assert len(set(page.ids)) == len(page.ids)
    assert {"summary", "curve", "labels", "labels-picture", "bin-size"} <= set(page.ids)
    assert html.count("<svg") == 3
    assert "<td>&lt;ant&gt;</td>" in html
    assert "<h1>Calibration of insects</h1>" in html


def test_without_a_name():
    html = calibration_report(SAMPLE.queries).to_html()
    assert "<title>Calibration report</title>" in html
