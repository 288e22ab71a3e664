"""
Four shapes of a calibration curve
==================================

The shape of a curve says in which way predictions are wrong. The answers here are simulated, so
that the truth is known.
"""

# %%
# The answer to a prediction q is yes with probability q, or with a probability that differs from q
# in one of three ways: a log-odds that is closer to 0 than predicted, one that is farther from 0,
# or 0.1 more than predicted.

from sklearn_calib.datasets import make_queries

n = 5000
samples = {
    "calibrated": make_queries(n, random_state=0),
    "overconfident": make_queries(n, distortion="slope", strength=0.5, random_state=1),
    "underconfident": make_queries(n, distortion="slope", strength=2.0, random_state=2),
    "too low everywhere": make_queries(n, distortion="shift", strength=0.1, random_state=3),
}

# %%
# ``shade=True`` colours the regions in which predictions are overconfident (too high above one
# half, too low below it) and those in which they are underconfident.

import matplotlib.pyplot as plt

from sklearn_calib import AdaptiveCalibrationDisplay

fig, axes = plt.subplots(2, 2, figsize=(9, 9), layout="constrained")
for ax, (title, sample) in zip(axes.flat, samples.items(), strict=True):
    AdaptiveCalibrationDisplay.from_predictions(
        sample.queries, shade=True, legend=title == "calibrated", despine=True, ax=ax
    )
    ax.set_title(title)
plt.show()

# %%
# An overconfident curve is flatter than the diagonal, an underconfident one is steeper. A curve
# that lies above the diagonal belongs to predictions that are too low: these are overconfident
# below one half and underconfident above it.
#
# :func:`~sklearn_calib.calibration_error_interval` tells the same in two numbers: by how much the
# mean prediction is too high or too low, and by how much the predictions are over- or
# underconfident on average.

from sklearn_calib import calibration_error_interval

for title, sample in samples.items():
    result = calibration_error_interval(sample.queries)
    print(f"{title}:\n{result}\n")

# %%
# The first sample has a p-value of 0.04 although it is calibrated. That happens to about one
# calibrated sample in 25, which is why a single p-value near 0.05 is weak evidence. Its error is
# also the only one with an interval that comes close to zero.
