"""Pages: nothing that they hold can break out of its element."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_calib._html import data_element, html_page, json_text, plain_text, static_file

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "\"'&quot;",
    "a\x00b",
    "\u202eesrever",
    "\u2028\u2029",
    "\ud800 half",
    "\U0001f600",
    "<img src=x onerror=alert(1)>",
]


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_json_is_the_same_value_and_holds_no_tag(text):
    written = json_text({"x": text})
    assert json.loads(written) == {"x": text}
    assert not re.search("[<>&\x00\ud800-\udfff]", written)
    written.encode()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text(text):
    page = html_page(text, f"<p>{plain_text(text)}</p>", data=[data_element("data", [text])])
    page.encode()

    class Found(HTMLParser):
        tags, held, here = [], "", None

        def handle_starttag(self, tag, attrs):
            self.tags.append(tag)
            self.here = dict(attrs).get("id")

        def handle_data(self, data):
            if self.here == "data":
                self.held += data

        def handle_endtag(self, tag):
            self.here = None

    found = Found()
    found.tags = []
    found.feed(page)
    assert json.loads(found.held) == [text]
    assert found.tags.count("script") == 2
    assert "img" not in found.tags
    assert "\x00" not in page


def test_a_page_is_ours_and_loads_nothing():
    page = html_page("A page", "")
    assert "<meta name='generator' content='sklearn-calib " in page[:1000]
    assert "default-src 'none'" in page
    for name in ("page.css", "page.js", "chart.js", "counts.css", "counts.js"):
        text = static_file(name)
        outside = [url for url in re.findall(r"https?://[^\"'\s)]+", text) if "w3.org" not in url]
        assert not outside
        assert not re.search(r"@import|\bfetch\(|XMLHttpRequest|innerHTML|\beval\(", text)
        assert "</script" not in text.lower()
