"""How large a page of counts is, and how fast it opens: 20,000 documents in Chromium.

    python benchmarks/page.py [--quick]

News articles of 150 words are made from the sentences of the event corpus. The page is
opened several times in a fresh Chromium: the time runs from the request to the moment
when the first pictures stand, and the processor time is that of the page's main thread.
Needs chromium on the path.
"""

import argparse
import json
import platform
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sklearn_calib.coref import Document
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon, reading_plan
from tests.browser import CHROMIUM, Browser

RESULTS = Path(__file__).parent / "results"
SENTENCE = "The weather in the north stayed cold and the markets closed a little lower ."
FILLER = SENTENCE.split()
WORDS = 150


def longer(document):
    """Return a document that goes on as news do, to about 150 words."""
    more = -(-(WORDS - len(document.tokens)) // len(FILLER))
    n = len(document.tokens)
    starts = [n + i * len(FILLER) for i in range(more)]
    heads = [-1 if i % len(FILLER) == 4 else n + i // len(FILLER) * len(FILLER) + 4
             for i in range(more * len(FILLER))]  # fmt: skip
    return Document(
        document.id,
        [*document.tokens, *FILLER * more],
        mentions=document.mentions,
        sentence_starts=[*document.sentence_starts, *starts],
        lemmas=[*document.lemmas, *FILLER * more],
        upos=[*document.upos, *["X"] * (more * len(FILLER))],
        relations=[*document.relations, *["dep"] * (more * len(FILLER))],
        heads=[*document.heads, *heads],
        date=document.date,
        title=f"Troops in the news: {document.id}",
    )


def opened(path, n_times):
    """Return how long it takes to open a page and to list the documents of a count."""
    wall, processor, listing = [], [], []
    for _ in range(n_times):
        with tempfile.TemporaryDirectory() as folder, Browser(Path(folder)) as browser:
            browser.send("Performance.enable", timeDomain="threadTicks")
            browser.open(path)
            ready, panels = browser.run(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>"
                "done([performance.now(), document.querySelectorAll('.panel').length]))))"
            )
            assert panels > 0
            metrics = browser.send("Performance.getMetrics")["metrics"]
            processor.append(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))
            wall.append(ready / 1000)
            start = time.monotonic()
            browser.click(".panel svg", 0.5, 0.5)
            assert browser.run("document.querySelectorAll('ol.documents li').length")
            listing.append(time.monotonic() - start)
    return {
        "seconds_to_open": sorted(wall),
        "processor_seconds_to_open": sorted(processor),
        "seconds_to_list": sorted(listing),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2,000 documents, nothing is saved")
    options = parser.parse_args()
    if CHROMIUM is None:
        raise SystemExit("Chromium is not on the path.")
    n = 2000 if options.quick else 20_000
    corpus = make_event_corpus(n, random_state=0)
    documents = [longer(document) for document in corpus.X]
    rule = AgentRule(country_lexicon())
    counts = count_corpus(documents, corpus.model, rule, period="M", random_state=0)
    plan = reading_plan(counts, 300, random_state=0)
    truth = np.random.default_rng(0)
    answered = plan.answered({name: [] for name in plan.documents if truth.random() < 0.5})
    better = counts.corrected(answered, random_state=0)
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, more in {
            "default": {},
            "5,000 texts": {"n_texts": 5000},
            "as many texts as there is room for": {"n_texts": n},
        }.items():
            path = Path(folder) / "page.html"
            start = time.process_time()
            counts.to_html(
                path, documents=documents, model=corpus.model, rule=rule, plan=plan,
                corrected=better, **more,
            )  # fmt: skip
            seconds = time.process_time() - start
            rows[name] = {
                "megabytes": path.stat().st_size / 1e6,
                "texts": path.read_text().count("id='text-"),
                "seconds_to_write": seconds,
                **opened(path, 1 if options.quick else 7),
            }
            print(name, json.dumps(rows[name]))
    result = {
        "n_documents": n,
        "n_hits": len(counts.hits),
        "words_per_document": WORDS,
        "machine": platform.machine(),
        "pages": rows,
    }
    if not options.quick:
        target = RESULTS / "page.json"
        target.write_text(json.dumps(result, indent=1) + "\n")
        print(f"wrote {target}")


if __name__ == "__main__":
    main()
