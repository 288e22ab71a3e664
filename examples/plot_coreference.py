"""
Who is "she"? A posterior over clusterings
==========================================

A coreference system says which mentions of a text belong together. Most systems give one answer. An
antecedent model gives a probability to every answer, and such probabilities can be checked.
"""

# %%
# Documents and a model
# ---------------------
# These documents are simulated: first the words, then the entities, from a model that we know.

from sklearn_calib.coref import AntecedentModel, Document
from sklearn_calib.datasets import make_coref_documents

data = make_coref_documents(400, random_state=0)
train, test = slice(0, 300), slice(300, 400)
print(" ".join(data.X[0].tokens[:18]))
print(data.X[0])

model = AntecedentModel().fit(data.X[train], data.y[train])

# %%
# One short text
# --------------
# Every mention chooses an earlier mention as its antecedent, or starts a new entity. The model
# gives a probability to each choice.

tagged = (
    "Ada/PROPN met/VERB the/DET doctor/NOUN ./PUNCT she/PRON thanked/VERB Eve/PROPN ./PUNCT "
    "the/DET doctor/NOUN called/VERB she/PRON ./PUNCT Ada/PROPN saw/VERB they/PRON ./PUNCT"
)
words, upos = zip(*(token.split("/") for token in tagged.split()), strict=True)
story = Document(
    "story",
    words,
    upos=upos,
    mentions=[(0, 1), (2, 4), (5, 6), (7, 8), (9, 11), (12, 13), (14, 15), (16, 17)],
    sentence_starts=[0, 5, 9, 14],
)
names = [story.mention_text(i) for i in range(len(story))]

[antecedents] = model.predict_antecedent_proba([story])
[links] = model.predict_proba([story])
[best] = model.predict([story])
samples = model.sample([story], 1000, random_state=0)[0]

# %%
# The best guess is one clustering. Samples show how much else is possible: these are the three most
# frequent clusterings of a thousand.

import numpy as np


def written(entities):
    """Write a clustering down: the mentions of each entity, with the numbers of repeated words."""
    groups = [np.flatnonzero(entities == e) for e in np.unique(entities)]
    return " | ".join(" ".join(f"{names[i]}({i})" for i in g) for g in groups if len(g) > 1)


print("best guess:", written(best))
found, counts = np.unique(samples, axis=0, return_counts=True)
for k in np.argsort(-counts)[:3]:
    print(f"{counts[k] / 10:4.1f} %    ", written(found[k]))

# %%
# Left: the probabilities of antecedents; the diagonal is a new entity. Right: what follows from
# them for every pair of mentions, exactly. The second "she" may be the first one, and then it is
# whoever the first one is.

import matplotlib.pyplot as plt

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained", sharey=True)
for ax, table, title in zip(axes, (antecedents, links), ("antecedents", "links"), strict=True):
    shown = np.ma.masked_where(np.triu(np.ones_like(table, dtype=bool), 1), table)
    image = ax.imshow(shown, cmap="Blues", vmin=0, vmax=1)
    for i in range(len(story)):
        for j in range(i + 1):
            dark = table[i, j] > 0.6
            ax.text(
                j, i, f"{table[i, j]:.2f}".lstrip("0") if table[i, j] < 1 else "1",
                ha="center", va="center", fontsize=8, color="white" if dark else "black",
            )  # fmt: skip
    ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    ax.set_yticks(range(len(names)), names)
    ax.set_title(title)
    ax.spines[:].set_visible(False)
fig.colorbar(image, ax=axes, shrink=0.8, label="probability")
plt.show()

# %%
# Can the probabilities be trusted?
# ---------------------------------
# Every pair of mentions of the test documents is a yes/no question. One wrong choice makes many
# links wrong at once, so that the links of a document depend on each other. ``calibration_null``
# draws the truth from the model itself and says what error a calibrated model would show here.

from sklearn_calib import calibration_null

null = calibration_null(model, data.X[test], data.y[test], n_bins=15, random_state=0)
print(null)

# %%
# The same for a model that was trained with margin costs. They make links more probable than they
# are, and the error leaves the range of a calibrated model.

costly = AntecedentModel(cost="durrett-klein").fit(data.X[train], data.y[train])
null_costly = calibration_null(costly, data.X[test], data.y[test], n_bins=15, random_state=0)
print(null_costly)

fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.2), layout="constrained", sharex=True, sharey=True)
for ax, result, title in zip(axes, (null, null_costly), ("no costs", "margin costs"), strict=True):
    ax.hist(result.errors, bins=np.linspace(0, 0.1, 41), color="#56B4E9", label="if calibrated")
    ax.axvline(result.error, color="#D55E00", linewidth=2, label="this model")
    ax.set(title=title, xlabel="calibration error of links")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("simulations")
axes[0].legend(frameon=False)
plt.show()
