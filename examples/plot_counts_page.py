"""
A page of counts to explore
===========================

Pictures answer the question that was asked. A page lets the reader ask: which country, which
period, which articles, and why does the model think so? ``to_html`` writes one file without a
server, in which a person can also answer what the model is unsure of.
"""

# sphinx_gallery_thumbnail_path = '_static/counts_page.png'

# %%
# Count
# -----
# Simulated news, in which "they" attack. The model takes them for Americans too often.

from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon, reading_plan

corpus = make_event_corpus(900, favour={"USA": 1.0}, random_state=0)
rule = AgentRule(country_lexicon(), verbs=["attack"])
posterior = count_corpus(corpus.X, corpus.model, rule, period="M", random_state=0)
print(posterior.total())

# %%
# Write the page
# --------------
# With a reading plan, its documents come first, and can be answered on the page.

from pathlib import Path
from tempfile import mkdtemp

folder = Path(mkdtemp())
plan = reading_plan(posterior, 160, random_state=0)
page = posterior.to_html(
    folder / "attacks.html",
    documents=corpus.X,
    model=corpus.model,
    rule=rule,
    plan=plan,
    title="Who attacked, in simulated news",
)
print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB")

# %%
# `Open a page like it <../counts.html>`_: choose a period, then a document, then point at a
# mention.
#
# Read, and correct
# -----------------
# The page saves its answers as a CSV file. Here the simulated truth answers in place of a reader,
# in a file of the same form.

import csv

import numpy as np


def truth(document):
    """Return the keys that the document really has."""
    entities = [np.flatnonzero(document.entities == name) for name in set(document.entities)]
    return {key for entity in entities for key in rule(document, entity)}


documents = {document.id: document for document in corpus.X}
with (folder / "answers.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["document", "key", "answer"])
    for name in plan.documents:
        right = truth(documents[name])
        for key in posterior.keys:
            writer.writerow([name, key, "yes" if key in right else "no"])

better = posterior.corrected(plan.answered(folder / "answers.csv"), random_state=0)
print(better.summary())

# %%
# The corrected counts go on the page, too, beside the plain ones.

better.to_html(
    folder / "attacks.html", documents=corpus.X, model=corpus.model, rule=rule, plan=plan
)

# %%
# Longer periods have intervals of their own, on the page and in Python. Ends of intervals must not
# be added: the sum of twelve months is surer than that.

years = better.coarser("Y")
low, high = years.select(["USA"]).confidence_interval()
months = better.select(["USA"]).confidence_interval()
print("2001:", low[0, 0], "to", high[0, 0])
print("sum of the ends of its months:", months.low[:12].sum(), "to", months.high[:12].sum())
