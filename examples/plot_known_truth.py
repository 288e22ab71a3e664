"""
What the estimators see when the truth is known
===============================================

With real data nobody knows the true calibration error. :func:`~sklearn_calib.datasets.make_queries`
simulates predictions for which it is known, so the estimators themselves can be checked.
"""

# %%
# A prediction q is drawn, and the answer is yes with probability t(q). Here t multiplies the
# log-odds by 0.7, which makes the predictions overconfident.

from sklearn_calib import AdaptiveCalibrationDisplay
from sklearn_calib.datasets import make_queries

sample = make_queries(5000, distortion="slope", strength=0.7, random_state=0)
print(f"{sample.queries}, true calibration error {sample.error:.4f}")

# %%
# The estimated curve, and the true one behind it.

import matplotlib.pyplot as plt
import numpy as np

display = AdaptiveCalibrationDisplay.from_predictions(sample.queries, name="estimate", despine=True)
order = np.argsort(sample.y_prob)
display.ax_.plot(
    sample.y_prob[order], sample.probability[order], color="black", linewidth=1, label="truth"
)
display.ax_.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# A calibrated model does not measure zero
# ----------------------------------------
# Chance alone moves the frequency of a bin away from its mean prediction, and a squared gap cannot
# be negative. So the plain error of a perfectly calibrated model is above zero, and the more so the
# smaller the bins are. ``debias=True`` takes away what chance adds.

from sklearn_calib import adaptive_bin_calibration_error

samples = [make_queries(5000, random_state=seed) for seed in range(50)]
print("true error: 0\nbin_size   plain  debiased")
for bin_size in (10, 50, 200, 1000, "auto"):
    plain, debiased = (
        np.mean(
            [
                adaptive_bin_calibration_error(s.queries, bin_size=bin_size, debias=debias)
                for s in samples
            ]
        )
        for debias in (False, True)
    )
    print(f"{bin_size:>8}  {plain:.4f}    {debiased:.4f}")

# %%
# The debiased squared error is right on average; its root is not zero because negative squares
# count as zero.

# %%
# :ref:`sphx_glr_auto_examples_plot_intervals_that_cover.py` does the same for intervals.
