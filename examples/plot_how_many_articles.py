"""
How many articles, really?
==========================

A model counts the articles in which American troops attack. Its intervals are
given the model, and this model is wrong on purpose: it sees Americans too
often, and it overlooks every tenth attack. A reading of 150 articles of 1,500
shows how wrong it is, and corrects the counts.
"""

# %%
# A model that is wrong
# ---------------------
# The news are simulated, so that the truth is known. ``favour`` and ``missed`` make the model
# wrong.

import numpy as np

from sklearn_calib import CountDisplay
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import (
    AgentRule,
    count_corpus,
    count_documents,
    country_lexicon,
    counts_from_probabilities,
    reading_plan,
)

corpus = make_event_corpus(1500, favour={"USA": 1.5}, missed=0.1, random_state=0)
rule = AgentRule(country_lexicon(), verbs=["attack"])
posterior = count_corpus(corpus.X, corpus.model, rule, period="Q", random_state=0)
truth = count_documents(corpus.X, [[entities] for entities in corpus.y], rule, period="Q")
print(posterior.total())
print(truth.total().mean)

# %%
# What to read
# ------------
# A plan draws documents with known probabilities: some because the model is unsure of them, some
# from everything. ``plan.to_csv("to_read.csv")`` writes the list. How much reading is worth while?

plan = reading_plan(posterior, 150, random_state=0)
print(plan)
print(plan.expected_width())

# %%
# What was found
# --------------
# Here the truth answers. A person would fill in the list, and ``plan.answered("read.csv")`` would
# read it.

found = {key: dict(zip(truth.documents, truth.probability(key), strict=True)) for key in truth.keys}
answered = plan.answered(
    {name: [key for key in truth.keys if found[key][name]] for name in plan.documents}
)
better = posterior.corrected(answered, random_state=0)
print(better.summary())

# %%
# The counts of Americans, given the model and corrected, with the truth as dots. The corrected
# interval is wider, because it allows for what is not known about the model.

display = CountDisplay.from_posterior(better, keys=["USA"], plain=True, best=False)
usa = truth.select(["USA"])
display.ax_.plot(display.x, usa.mean[:, 0], "k.", label="truth")
display.ax_.set_ylim(bottom=0)
display.ax_.legend(fontsize="small")

# %%
# All four countries in panels.

display = better.plot(panels=True, n_columns=2, plain=True, best=False)
for ax, key in zip(display.axes_, display.keys, strict=True):
    ax.plot(display.x, truth.select([key]).mean[:, 0], "k.", markersize=4)
    ax.set_ylim(bottom=0)

# %%
# How many intervals hold the truth?

for name, counts in (("given the model", posterior), ("corrected", better)):
    low, high = counts.select(truth.keys).confidence_interval()
    print(f"{name}: {np.mean((low <= truth.mean) & (truth.mean <= high)):.0%} by quarter")

# %%
# Any classifier
# --------------
# Nothing of this needs coreference: any probabilities of documents will do.

rng = np.random.default_rng(0)
months = rng.choice(np.arange("2001-01", "2002-01", dtype="datetime64[M]"), 2000)
probability = rng.beta(0.2, 1.5, size=2000)
counts = counts_from_probabilities(probability, period=months)
event = rng.random(2000) < probability**1.5  # the classifier says too much
plan = reading_plan(counts, 200, random_state=0)
answers = {name: event[counts.documents.index(name)] for name in plan.documents}
corrected = counts.corrected(plan.answered(answers), random_state=0)
display = corrected.plot(plain=True)
true = np.bincount(counts.document_period, event)
display.ax_.plot(display.x, true, "k.", label="truth")
display.ax_.set_ylim(bottom=0)
display.ax_.legend(fontsize="small")
