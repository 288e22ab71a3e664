"""
Three calibration curves
========================

Bins, a smooth curve and an isotonic curve: three estimates of the same thing on one axes, and the
two bands that belong to each.
"""

# %%
# The predictions are simulated, so that the truth can be drawn as well. They are overconfident: the
# true log-odds are 0.6 times the predicted ones.

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    isotonic_calibration_curve,
    smooth_calibration_curve,
)
from sklearn_calib.datasets import make_queries

sample = make_queries(2000, a=0.7, b=0.7, distortion="slope", strength=0.6, random_state=1)
smooth = smooth_calibration_curve(sample.queries)
isotonic = isotonic_calibration_curve(sample.queries, random_state=0)
print(f"bandwidth of the smooth curve: {smooth.bandwidth:.2f} in log-odds")

# %%
# One axes
# --------
# - *Bins* are means of queries with similar predictions.
# - The *smooth* curve is a local logistic regression on the log-odds. Its bandwidth is chosen by
#   leaving one query out at a time.
# - The *isotonic* curve is the best one that never falls. It has steps and needs no setting.

import matplotlib.pyplot as plt
import numpy as np

display = AdaptiveCalibrationDisplay.from_predictions(
    sample.queries, name="bins", despine=True, curve_kwargs={"color": "0.35", "linestyle": ""}
)
ax = display.ax_
ax.plot(isotonic.prob_pred, isotonic.prob_true, color="#D55E00", label="isotonic")
ax.plot(smooth.prob_pred, smooth.prob_true, color="#0072B2", linewidth=2, label="smooth")
order = np.argsort(sample.y_prob)
ax.plot(sample.y_prob[order], sample.probability[order], "k:", label="truth")
ax.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# Two bands
# ---------
# The *confidence interval* lies around the curve: how well is the curve known? The *consistency
# band* lies around the diagonal: where would the curve fall by chance alone, if every prediction
# were right? Both have their level of 95 % at each point on its own;
# :doc:`plot_calibration_band` has a band for the whole curve.

curves = {"smooth": (smooth, "#0072B2"), "isotonic": (isotonic, "#D55E00")}
fig, axes = plt.subplots(2, 2, figsize=(8.6, 8.6), layout="constrained", sharex=True, sharey=True)
for row, (name, (curve, colour)) in zip(axes, curves.items(), strict=True):
    bands = {"confidence interval": curve.confidence_interval}
    bands["consistency band"] = curve.consistency_band
    for ax, (band, (low, high)) in zip(row, bands.items(), strict=True):
        shade = colour if band == "confidence interval" else "0.5"
        ax.fill_between(curve.prob_pred, low, high, color=shade, alpha=0.3, linewidth=0)
        ax.plot(curve.prob_pred, curve.prob_true, color=colour)
        ax.plot([0, 1], [0, 1], "--", color="0.4", linewidth=1)
        ax.set_title(f"{name}, {band}", fontsize="medium")
        ax.set(aspect="equal")
        ax.spines[["top", "right"]].set_visible(False)
fig.supxlabel("predicted probability", fontsize="medium")
fig.supylabel("frequency of yes", fontsize="medium")
plt.show()

# %%
# What the isotonic curve says about the score
# --------------------------------------------
# Replacing the predictions by the isotonic curve recalibrates them. *Miscalibration* is what that
# would win, *discrimination* is what the recalibrated predictions win over a constant, and
# *uncertainty* is the score of that constant.

parts = isotonic.decomposition
print(f"Brier score      {parts.score:.4f}")
print(f"= miscalibration {parts.miscalibration:.4f}")
print(f"- discrimination {parts.discrimination:.4f}")
print(f"+ uncertainty    {parts.uncertainty:.4f}")
