"""Write the page of counts that the guide shows: ``python docs/_make/counts_page.py``.

The build calls this, and ships the page as it is. With ``--picture`` it also photographs the
page with Chromium into docs/_static/counts_page.png, which is kept with the sources.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon, reading_plan

DOCS = Path(__file__).resolve().parents[1]
PAGE = DOCS / "_pages" / "counts.html"
# As much of it as a picture in the guide should show.
HEIGHT = 1900
PICTURE = DOCS / "_static" / "counts_page.png"


def keys_of(document, rule):
    """Return what is true of a simulated document."""
    entities = [np.flatnonzero(document.entities == name) for name in set(document.entities)]
    return sorted({key for entity in entities for key in rule(document, entity)})


def write_counts_page(path: Path = PAGE) -> Path:
    """Write the page: simulated news, a wrong model, and half of a plan answered by the truth."""
    path.parent.mkdir(exist_ok=True)
    corpus = make_event_corpus(900, favour={"USA": 1.0}, random_state=0)
    rule = AgentRule(country_lexicon(), verbs=["attack"])
    posterior = count_corpus(corpus.X, corpus.model, rule, period="M", random_state=0)
    plan = reading_plan(posterior, 160, random_state=0)
    truth = {document.id: keys_of(document, rule) for document in corpus.X}
    plan = plan.answered({name: truth[name] for name in plan.documents[:120]})
    return posterior.to_html(
        path,
        documents=corpus.X,
        model=corpus.model,
        rule=rule,
        plan=plan,
        corrected=posterior.corrected(plan, random_state=0),
        title="Who attacked, in simulated news",
    )


def photograph(page: Path, target: Path = PICTURE) -> None:
    """Photograph the page with a count, a document and a mention chosen."""
    sys.path.insert(0, str(DOCS.parent))
    from PIL import Image

    from tests.browser import Browser

    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder), height=1000) as browser:
        browser.open(page)
        browser.click("input[name=grain][value='1']")
        browser.click(".panel svg", 0.62)
        browser.click("#list ol li:nth-child(3) button")
        browser.look(1280, HEIGHT)
        browser.run("scrollTo(0, 0)")
        browser.point("#document .m.e")
        browser.picture(target, height=HEIGHT, scale=0.8)
    # A picture of few colours needs no more than a palette.
    Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)
    print(f"docs/{target.relative_to(DOCS)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", action="store_true")
    # The build passes arguments of its own.
    options, _ = parser.parse_known_args()
    page = write_counts_page()
    if options.picture:
        photograph(page)
