"""Write the pages that the guide shows: ``python docs/_make/pages.py``.

The build calls this, and ships the pages as they are. With ``--pictures`` it also photographs
them with Chromium into docs/_static/, where the pictures are kept with the sources.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from sklearn_calib import calibration_report
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon, reading_plan

DOCS = Path(__file__).resolve().parents[1]
PAGES = DOCS / "_pages"


def keys_of(document, rule):
    """Return what is true of a simulated document."""
    entities = [np.flatnonzero(document.entities == name) for name in set(document.entities)]
    return sorted({key for entity in entities for key in rule(document, entity)})


def write_counts_page(path: Path) -> Path:
    """Write simulated news, a wrong model, and most of a plan answered by the truth."""
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


def write_report_page(path: Path) -> Path:
    """Write the report on a random forest, which reads digits and is not sure enough of itself."""
    X, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(100, random_state=0)
    proba = cross_val_predict(forest, X, y, cv=5, method="predict_proba")
    return calibration_report(y, proba, name="a forest on digits", random_state=0).save(path)


def look_at_counts(browser) -> None:
    """Choose a count, a document and a mention."""
    browser.click("input[name=grain][value='1']")
    browser.click(".panel svg", 0.62)
    browser.click("#list ol li:nth-child(3) button")
    browser.run("scrollTo(0, 0)")
    browser.point("#document .m.e")


def look_at_report(browser) -> None:
    """Choose a label and a bin."""
    browser.click("#labels tbody tr:nth-child(3) button")
    browser.run("scrollTo(0, 0)")
    browser.point("#curve .picture > svg", 0.7, 0.5)


# What writes a page, what to look at in it, and as many pixels of it as a picture should show.
MAKERS = {
    "counts": (write_counts_page, look_at_counts, 1900),
    "report": (write_report_page, look_at_report, 1560),
}


def photograph(name: str, look, height: int) -> None:
    """Photograph a page into docs/_static/."""
    sys.path.insert(0, str(DOCS.parent))
    from PIL import Image

    from tests.browser import Browser

    target = DOCS / "_static" / f"{name}_page.png"
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder), height=height) as browser:
        browser.open(PAGES / f"{name}.html")
        look(browser)
        browser.picture(target, height=height, scale=0.8)
    # A picture of few colours needs no more than a palette.
    Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)
    print(f"docs/{target.relative_to(DOCS)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", action="store_true")
    # The build passes arguments of its own.
    options, _ = parser.parse_known_args()
    PAGES.mkdir(exist_ok=True)
    for name, (write, look, height) in MAKERS.items():
        write(PAGES / f"{name}.html")
        if options.pictures:
            photograph(name, look, height)
