"""
Many classes
============

A classifier of ten digits answers ten yes/no questions about each picture. This example pools
them, averages over them and looks at them one at a time.
"""

# %%
# Every prediction is made by a random forest that has not seen the picture.

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

X, y = load_digits(return_X_y=True)
proba = cross_val_predict(RandomForestClassifier(random_state=0), X, y, method="predict_proba")
print(proba.shape)

# %%
# From classes to queries
# -----------------------
# A *query* is one yes/no question with a predicted probability and an answer: "is this picture a
# 3?". Every picture asks ten of them.

import numpy as np

from sklearn_calib import classifier_queries

classes = np.unique(y)
queries = classifier_queries(y, proba, classes=classes)
print(queries)

# %%
# Three averages
# --------------
# ``"micro"`` pools all 17,970 queries. Nine in ten of them have the answer no, and most of these
# are easy, which keeps the number small. ``"macro"`` is the mean of the ten errors of the classes.
# ``"top_label"`` asks one question a picture: is the predicted digit right?

from sklearn_calib import adaptive_bin_calibration_error

for average in ("micro", "macro", "top_label"):
    error = adaptive_bin_calibration_error(y, proba, average=average)
    print(f"{average:<10} {error:.4f}")

# %%
# The forest is too cautious. When it names a digit with a probability of 60 %, it is nearly always
# right. Pooled over all classes the curve has the shape of an S: small probabilities are too large,
# and large ones too small.

import matplotlib.pyplot as plt

from sklearn_calib import AdaptiveCalibrationDisplay

top = classifier_queries(y, proba, classes=classes, average="top_label")
fig, ax = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
for name, these in {"micro": queries, "top label": top}.items():
    AdaptiveCalibrationDisplay.from_predictions(these, bin_size=150, name=name, ax=ax, despine=True)
ax.legend(loc="lower right", bbox_to_anchor=(1, 0.06), fontsize="small")
plt.show()

# %%
# The ten queries of one picture depend on each other, because their probabilities sum to one. They
# form a group, and the interval of the pooled error, in the legend, takes whole groups as
# independent. The bars of the bins do not.
#
# One label at a time
# -------------------
# :func:`~sklearn_calib.label_calibration` gives one row per label. A positive ``mean_gap`` says
# that the label gets too much probability on average.

from sklearn_calib import label_calibration

table = label_calibration(y, proba, classes=classes)
print(table)

# %%
# The table as a picture: the digits in order of their error, with 95 % intervals, and their mean at
# the bottom. :ref:`sphx_glr_auto_examples_plot_label_display.py` compares two models in this way.

from sklearn_calib import LabelCalibrationDisplay

LabelCalibrationDisplay(table).plot(sort="error", averages=(), despine=True)
plt.show()

# %%
# Queries can be filtered by label, and every function takes them in place of two arrays. Only one
# query in ten asks about an 8 that is one, so small bins are needed to see the upper half of the
# curve.

order = np.argsort(table.error)
fig, ax = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
for label in table.labels[order[[-1, 0]]]:
    AdaptiveCalibrationDisplay.from_predictions(
        queries.where(label=label), bin_size=30, name=f"digit {label}", ax=ax, despine=True
    )
ax.legend(loc="lower right", bbox_to_anchor=(1, 0.06), fontsize="small")
plt.show()
