"""
Where is the model wrong?
=========================

A band that holds the whole calibration curve allows sentences about any part of it. Intervals at
single points do not: who looks at a whole picture finds a point that strays.
"""

# %%
# Point by point is not enough
# ----------------------------
# A calibrated model has the diagonal as its true curve. Here are 40 samples of 1,000 queries from
# such a model. How often does the diagonal leave the 95 % intervals of the smooth curve somewhere,
# and how often does it leave the band?

import numpy as np

from sklearn_calib import calibration_band, smooth_calibration_curve
from sklearn_calib.datasets import make_queries


def leaves(q, low, high):
    return bool(np.any((q < low) | (q > high)))


left = {"intervals at single points": 0, "smooth band": 0, "monotone band": 0}
for seed in range(40):
    queries = make_queries(1000, a=1, b=1, random_state=seed).queries
    curve = smooth_calibration_curve(queries)
    left["intervals at single points"] += leaves(curve.prob_pred, *curve.confidence_interval)
    for method in ("smooth", "monotone"):
        band = calibration_band(queries, method=method)
        left[f"{method} band"] += leaves(band.q, band.low, band.high)
for name, count in left.items():
    print(f"the diagonal leaves the {name} in {count} of 40 samples")

# %%
# What the band allows to say
# ---------------------------
# The predictions of this model are too extreme: the true log-odds are half of the predicted ones.
# The band is drawn behind the bins. Wherever the diagonal runs outside it, the model is wrong, and
# all of these sentences hold at once.

import matplotlib.pyplot as plt

from sklearn_calib import AdaptiveCalibrationDisplay

sample = make_queries(5000, a=1, b=1, distortion="slope", strength=0.5, random_state=1)
fig, axes = plt.subplots(1, 2, figsize=(10.5, 5.2), layout="constrained")
for ax, method in zip(axes, ("monotone", "smooth"), strict=True):
    display = AdaptiveCalibrationDisplay.from_predictions(
        sample.queries, band=method, interval=None, despine=True, ax=ax
    )
    order = np.argsort(sample.y_prob)
    ax.plot(sample.y_prob[order], sample.probability[order], "k:", label="truth")
    ax.legend(loc="upper left", fontsize="small")
    print(f"{method}:")
    for sentence in display.band.sentences:
        print(f"  {sentence}")
plt.show()

# %%
# What each band promises
# -----------------------
# No band can hold every curve. The *monotone* band holds all curves that never fall, and makes no
# other assumption. The *smooth* band holds curves without fine detail, whether they fall or not,
# and is narrower when there are many queries. ``method="auto"``, the default, is the monotone band,
# unless no curve that never falls can explain the answers. Then the monotone band says so:

rng = np.random.default_rng(0)
q = rng.random(5000)
answers = rng.random(5000) < 0.5 + 0.3 * np.sin(2 * np.pi * q)
print(calibration_band(answers, q, method="monotone").sentences[0])
band = calibration_band(answers, q)
print(f"auto takes the {band.method} band:")
for sentence in band.sentences:
    print(f"  {sentence}")
band.plot(despine=True)
plt.show()
