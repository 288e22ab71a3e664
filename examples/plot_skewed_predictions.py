"""
Predictions that crowd at 0 and 1
=================================

Most predictions of a good model are near 0 or 1, and the usual picture squeezes them into two
corners. Bins of equal count, a zoom and a logit axis show what happens there.
"""

# %%
# The predictions are simulated to look like those of a tagger: 60 % are near 0, 35 % near 1 and the
# rest in between. They are overconfident: the true log-odds are 0.6 times the predicted ones.

from sklearn_calib.datasets import make_queries

sample = make_queries(
    20_000, predictions="mixture", distortion="slope", strength=0.6, random_state=0
)
print(sample.queries)
ends = (sample.y_prob < 0.1) | (sample.y_prob > 0.9)
print(f"below 0.1 or above 0.9: {ends.mean():.0%}")
print(f"true calibration error: {sample.error:.4f}")

# %%
# Bins of fixed width
# -------------------
# :meth:`~sklearn_calib.AdaptiveCalibrationDisplay.compare_strategies` draws bins of fixed width
# beside bins of equal count. The marks at the bottom show where the bins lie.

import matplotlib.pyplot as plt

from sklearn_calib import AdaptiveCalibrationDisplay

AdaptiveCalibrationDisplay.compare_strategies(
    sample.queries, n_bins=(10, 50), bin_size=200, despine=True
)
plt.show()

# %%
# Ten bins of fixed width put 95 % of the predictions into the first and the last. The error differs
# much inside these two, and averaging over it loses a quarter of the true error. With 50 bins they
# still hold 81 %, and the curve jumps in the middle, where a bin has a few dozen predictions. Bins
# of equal count go where the predictions are: to the two ends.
#
# A zoom
# ------
# ``zoom`` shows a part of the range. Here it is the lower end, where more than half of the
# predictions are. The grey band is where the points of a calibrated model would fall.

display = AdaptiveCalibrationDisplay.from_predictions(
    sample.queries, zoom=(0, 0.2), consistency=True, despine=True, name="model"
)
display.ax_.legend(loc="lower right", bbox_to_anchor=(1, 0.04), fontsize="small")
plt.show()

# %%
# Predictions of 0.01 come true about six times in a hundred. On the full axes the same points lie
# in one corner, close to the diagonal.
#
# A logit axis
# ------------
# ``scale="logit"`` gives 0.001, 0.01 and 0.1 about the same distance from each other, and does the
# same near 1. A bin without a single yes is drawn at the end of the axis. The histogram below shows
# how many predictions there are; its counts are on a log axis where they are very uneven.

AdaptiveCalibrationDisplay.from_predictions(
    sample.queries,
    scale="logit",
    distribution="histogram",
    consistency=True,
    despine=True,
    name="model",
)
plt.show()

# %%
# The curve is a straight line, up to chance, that is flatter than the diagonal: the predictions are
# too extreme by the same factor in log-odds everywhere. One number, the slope, would repair them.
