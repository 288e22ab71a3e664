"""
Mending a miscalibrated tagger
==============================

A hidden Markov model takes the words of a sentence for independent of each other, and its
pseudocounts blur what it has learned. So it is not sure enough where it could be.
:class:`~sklearn_calib.CalibratedStructureCV` mends it with its own training sentences.
"""

# %%
# A tagger that is wrong about itself
# -----------------------------------
# :func:`~sklearn_calib.datasets.make_tagged_sequences` draws sentences from a known model. The
# tagger learns from 300 of them, with large pseudocounts.

from sklearn_calib.datasets import make_tagged_sequences
from sklearn_calib.sequence import HMMTagger

data = make_tagged_sequences(
    2300, n_tags=6, n_words=800, word_concentration=0.3, mean_length=12, random_state=1
)
X_train, y_train = data.X[:300], data.y[:300]
X_test, y_test = data.X[300:], data.y[300:]
tagger = HMMTagger(transition_pseudocount=5.0, emission_pseudocount=2.0)

# %%
# Three ways to mend it
# ---------------------
# Each is fitted on the training sentences alone, by cross-validation within them. Then the tagger
# is trained on all of them; ``estimator_`` is the tagger as it was.

from sklearn_calib import CalibratedStructureCV, calibration_error_interval

taggers = {}
for method in ("temperature", "scaling", "isotonic"):
    taggers[method] = CalibratedStructureCV(tagger, method=method).fit(X_train, y_train)
taggers = {"raw": taggers["scaling"].estimator_, **taggers}

queries = {name: model.calibration_queries(X_test, y_test) for name, model in taggers.items()}
for name, model in taggers.items():
    result = calibration_error_interval(queries[name])
    low, high = result.confidence_interval
    print(
        f"{name:<12} error {result.error:.3f} [{low:.3f}, {high:.3f}]  "
        f"accuracy {model.score(X_test, y_test):.3f}"
    )

# %%
# One temperature helps most. It cannot change the best tagging, and so the accuracy stays. Separate
# temperatures and biases can.

import matplotlib.pyplot as plt

from sklearn_calib import AdaptiveCalibrationDisplay

_, ax = plt.subplots(figsize=(5.2, 5.2), layout="constrained")
for name, found in queries.items():
    AdaptiveCalibrationDisplay.from_predictions(found, name=name, ax=ax)
ax.set_title("Is this token A?")
plt.show()

# %%
# Is the change more than noise?
# ------------------------------
# Both taggers answered the same questions, so they can be compared directly.

from sklearn_calib import compare_calibration

for name in ("temperature", "scaling", "isotonic"):
    print(f"{name}: {compare_calibration(queries['raw'], queries[name])}")

# %%
# Still one distribution
# ----------------------
# A temperature mends whole taggings, and with them everything that is asked of the tagger. Pairs of
# neighbours were never looked at, and are calibrated as well.

from sklearn_calib import adaptive_bin_calibration_error

options = {"unit": "pair", "pairs": 20}
for name in ("raw", "temperature", "scaling"):
    pairs = taggers[name].calibration_queries(X_test, y_test, **options)
    print(f"{name:<12} error of pairs {adaptive_bin_calibration_error(pairs):.4f}")

# %%
# Isotonic regression mends answers one by one. It says nothing about pairs, and its samples are
# those of the tagger as it was: ``sample`` warns of that.

import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    taggers["isotonic"].sample(X_test[:1], 2, random_state=0)
print(caught[0].message)
