"""
The marginals of two taggers
============================

A hidden Markov model and a conditional random field tag the same sentences. Both can say how sure
they are of each tag. Which of them is right about that?
"""

# %%
# Sentences with a known truth
# ----------------------------
# :func:`~sklearn_calib.datasets.make_tagged_sequences` draws sentences from a random hidden
# Markov model.

from sklearn_calib.datasets import make_tagged_sequences
from sklearn_calib.sequence import CRFTagger, HMMTagger

data = make_tagged_sequences(
    2000, n_tags=6, n_words=800, word_concentration=0.3, mean_length=12, random_state=1
)
X_train, y_train = data.X[:600], data.y[:600]
X_test, y_test = data.X[600:], data.y[600:]

taggers = {
    "HMM": HMMTagger(emission_pseudocount=0.3),
    "CRF, c2 = 0.01": CRFTagger(c2=0.01),
    "CRF, c2 = 1": CRFTagger(c2=1.0),
}
for name, tagger in taggers.items():
    accuracy = tagger.fit(X_train, y_train).score(X_test, y_test)
    print(f"{name:<16} accuracy {accuracy:.3f}")

# %%
# Curves
# ------
# Each point is a bin of queries: is this token tagged A, B, ...? The tags of one token sum to one,
# and tokens of one sentence depend on each other; the intervals allow for both, because every query
# knows its sentence.

import matplotlib.pyplot as plt

from sklearn_calib import AdaptiveCalibrationDisplay

_, axes = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained")
for ax, options in zip(axes, ({"unit": "tag"}, {"unit": "pair", "pairs": 20}), strict=True):
    for name, tagger in taggers.items():
        AdaptiveCalibrationDisplay.from_estimator(
            tagger, X_test, y_test, query_options=options, name=name, ax=ax
        )
axes[0].set_title("Is this token A?")
axes[1].set_title("Are these two tokens A B?")
plt.show()

# %%
# The penalty ``c2`` decides how sure the CRF is of itself. With little of it, the CRF is
# overconfident: where it says 90 %, it is right less often. With too much, it is timid. The HMM is
# of the family that made the data, and its curve follows the diagonal. For pairs, the twenty most
# frequent ones are asked about.
#
# The true model
# --------------
# Its marginals are calibrated, whatever the data. No test should find fault with them.

from sklearn_calib import calibration_test

for name, tagger in {"true model": data.true_tagger(), **taggers}.items():
    queries = tagger.calibration_queries(X_test, y_test)
    print(f"{name:<16} p = {calibration_test(queries, groups=queries.group).pvalue:.2g}")
