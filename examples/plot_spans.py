"""
How sure is it of this entity?
==============================

A tagger of names marks tokens with B-PER, I-PER and so on, but its users look at whole names. How
likely is it that exactly these tokens are a person? The answer is the summed probability of all tag
sequences that say so, and it is not a product of the probabilities of tags.
"""

# %%
# Sentences with names
# --------------------
# :func:`~sklearn_calib.datasets.make_chunked_sequences` draws sentences with spans of three types,
# from a hidden Markov model over BIO tags. The conditional random field is held to well-formed
# taggings: an I-PER comes after B-PER or I-PER and nowhere else.

from sklearn_calib.datasets import make_chunked_sequences
from sklearn_calib.sequence import CRFTagger

data = make_chunked_sequences(3000, n_words=600, word_concentration=0.3, random_state=0)
X_train, y_train = data.X[:1000], data.y[:1000]
X_test, y_test = data.X[1000:], data.y[1000:]
tagger = CRFTagger(c2=0.1, constraints="BIO").fit(X_train, y_train)

spans = tagger.predict_spans(X_test)
for span in spans[0][:6]:
    words = " ".join(X_test[0][span.start : span.stop])
    print(f"{span.proba:.2f}  {span.label:<4} {words}")

# %%
# Some of these overlap: the tagger is not sure where a name ends, and says so. The most probable
# taggings of the same sentence show it as well.

for tags, proba in tagger.predict_k_best(X_test[:1], 3)[0]:
    print(f"{proba:.2f}  {' '.join(tags)}")

# %%
# A picture of one sentence
# -------------------------
# Each bar is a span, as dark as it is probable.

import matplotlib.pyplot as plt

colours = {"PER": "tab:blue", "LOC": "tab:green", "ORG": "tab:orange"}
number = max(range(40), key=lambda i: sum(0.1 < span.proba < 0.9 for span in spans[i]))
shown = sorted(spans[number], key=lambda span: (span.start, span.stop))
shown = [span for span in shown if span.proba > 0.1]
_, ax = plt.subplots(figsize=(9.5, 0.6 + 0.3 * len(shown)), layout="constrained")
for row, span in enumerate(shown):
    width = span.stop - span.start
    ax.barh(row, width, left=span.start, color=colours[span.label], alpha=span.proba, height=0.8)
    ax.text(span.stop + 0.08, row, f"{span.label} {span.proba:.2f}", va="center", fontsize=8)
ax.set_xticks([i + 0.5 for i in range(len(X_test[number]))], X_test[number], rotation=45)
ax.set(xlim=(0, len(X_test[number]) + 1.5), yticks=[], title="Where are the names?")
ax.invert_yaxis()
plt.show()

# %%
# Exact, product or mean?
# -----------------------
# Many systems show the mean or the product of tag probabilities as the confidence of an entity.
# Here all three answer the same questions, which were chosen without a look at the truth: is this
# span, to which the tagger gives at least one per cent, a name of this type?

import numpy as np

from sklearn_calib import AdaptiveCalibrationDisplay, calibration_error_interval
from sklearn_calib.queries import span_queries

marginals = tagger.predict_proba(X_test)
column = {tag: j for j, tag in enumerate(tagger.classes_)}
starts = np.cumsum([0, *map(len, X_test)])


def from_tags(combine):
    """Return the same spans with another probability."""
    changed = []
    for start, own in zip(starts[:-1], spans, strict=True):
        rows = [marginals[start + span.start : start + span.stop] for span in own]
        tags = [[f"B-{s.label}"] + [f"I-{s.label}"] * (s.stop - s.start - 1) for s in own]
        values = [
            combine([row[column[tag]] for row, tag in zip(rows[i], tags[i], strict=True)])
            for i in range(len(own))
        ]
        changed.append([span._replace(proba=p) for span, p in zip(own, values, strict=True)])
    return changed


answers = {"exact": spans, "product": from_tags(np.prod), "mean": from_tags(np.mean)}
_, ax = plt.subplots(figsize=(5, 5), layout="constrained")
for name, own in answers.items():
    queries = span_queries(y_test, own)
    AdaptiveCalibrationDisplay.from_predictions(queries, name=name, ax=ax)
    low, high = calibration_error_interval(queries).confidence_interval
    brier = np.mean((queries.y_prob - queries.y_true) ** 2)
    print(f"{name:<8} Brier score {brier:.3f}, calibration error {low:.3f} to {high:.3f}")
plt.show()

# %%
# The mean says too much, because one doubtful tag spoils a whole name; the product takes the tags
# of a name to be independent, forgets that it has to end, and is wrong as well. What was not asked:

questions = tagger.calibration_questions(X_test, unit="span")
print(f"{100 * questions.missed_share(y_test):.1f} % of the true names are below one per cent.")

# %%
# By type
# -------
# The label of a query is the type of its span, so that everything that is drawn by label is drawn
# by type.

from sklearn_calib import LabelCalibrationDisplay

LabelCalibrationDisplay.from_estimator(tagger, X_test, y_test, query_options={"unit": "span"})
plt.show()
