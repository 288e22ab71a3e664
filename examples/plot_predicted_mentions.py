"""
Mentions that a program found
=============================

In raw text nobody has marked the mentions. A program finds them: it misses some, and marks phrases
that are none. Here is what that does to a coreference model, and how to train and score honestly.
"""

# %%
# A finder with faults
# --------------------
# The documents are simulated, and so is the finder: it misses three mentions of ten, and takes some
# verbs for mentions. With real text, :func:`~sklearn_calib.coref.find_mentions` takes this place.

import numpy as np

from sklearn_calib.datasets import make_coref_documents

rng = np.random.default_rng(0)


def find(document):
    """Return the document with the mentions that the program finds, and without entities."""
    kept = document.mentions[rng.random(len(document)) < 0.7].tolist()
    verbs = np.flatnonzero((document.upos == "VERB") & (rng.random(len(document.tokens)) < 0.2))
    spans = sorted([*map(tuple, kept), *((i, i + 1, i) for i in verbs.tolist())])
    return document.replace(mentions=spans, entities=None)


gold = make_coref_documents(400, random_state=0).X
predicted = [find(document) for document in gold]
print(gold[0])
print(predicted[0])

# %%
# Which is which
# --------------
# :func:`~sklearn_calib.coref.align_mentions` finds the true mention of each predicted one, and
# :func:`~sklearn_calib.coref.transfer_entities` gives predicted mentions the true entities. A
# mention without a true one is an entity of its own.

from sklearn_calib.coref import align_mentions, transfer_entities

print(align_mentions(gold[0], predicted[0]))
aligned = [transfer_entities(g, p) for g, p in zip(gold, predicted, strict=True)]
print(aligned[0].entities)

# %%
# Two models
# ----------
# One learns from true mentions, the other from those that the program found. Both meet predicted
# mentions of new documents.

from sklearn_calib.coref import AntecedentModel

train, test = slice(0, 300), slice(300, 400)
models = {
    "trained on true mentions": AntecedentModel().fit(gold[train]),
    "trained on predicted mentions": AntecedentModel().fit(aligned[train]),
}

# %%
# Scores compare by span. The mentions that were missed cost recall whatever the model does, and the
# same mentions in another order, or others of the same number, are never taken for each other.

from sklearn_calib.coref import coreference_scores

for name, model in models.items():
    found = model.predict(predicted[test])
    guesses = [d.replace(entities=e) for d, e in zip(predicted[test], found, strict=True)]
    scores = coreference_scores(gold[test], guesses)
    print(f"{name}: CoNLL {scores.conll:.3f}, LEA {scores.lea.f1:.3f}")

# %%
# Calibration
# -----------
# The model that has only seen true mentions expects the antecedent of a pronoun to be among the
# mentions. Where the program missed it, the model links the pronoun to something else: its links
# look more probable than they are. The other model has learnt that antecedents may be missing.

import matplotlib.pyplot as plt

from sklearn_calib import AdaptiveCalibrationDisplay, calibration_null

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    truth = [document.entities for document in aligned[test]]
    null = calibration_null(model, aligned[test], truth, n_bins=20, random_state=0)
    print(f"{name}: {null}")
    queries = model.calibration_queries(aligned[test], truth)
    AdaptiveCalibrationDisplay.from_predictions(queries, n_bins=20, ax=ax, name="links")
    ax.set_title(name)
plt.show()
