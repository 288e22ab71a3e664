"""
Intervals that cover
====================

A 95 % interval should hold the truth in 95 % of all samples. Simulated queries, whose true
calibration error is known, show which interval does.
"""

# %%
# There are two models. One is perfectly calibrated, so its true error is 0. The other is
# overconfident: the true log-odds are 0.7 times the predicted ones. From each, fifty samples of
# 2,000 queries are drawn, and each sample gives two intervals: the default one, and that of
# Algorithm 2 of Nguyen and O'Connor (2015), which is ``method="sampling"``.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_calib import calibration_error_interval
from sklearn_calib.datasets import make_queries

models = {
    "perfectly calibrated": {"distortion": "identity"},
    "overconfident": {"distortion": "slope", "strength": 0.7},
}
methods = {
    "Algorithm 2": {"method": "sampling", "bin_size": 100, "n_resamples": 1000},
    "default interval": {},
}


def intervals(samples, options):
    """Return errors, lower and upper limits, and whether the truth lies between them."""
    results = [calibration_error_interval(s.queries, random_state=0, **options) for s in samples]
    low, high = np.transpose([result.confidence_interval for result in results])
    truth = samples[0].error
    return np.array([r.error for r in results]), low, high, (low <= truth) & (truth <= high)


# %%
# A forest of intervals
# ---------------------
# Every row is a sample, and the rows are in order of the estimate (the point). The dashed line is
# the truth. Orange intervals miss it.

rng = np.random.default_rng(0)
fig, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained", sharex="row", sharey=True)
for row, (model, law) in zip(axes, models.items(), strict=True):
    samples = [make_queries(2000, random_state=rng, **law) for _ in range(50)]
    for ax, (method, options) in zip(row, methods.items(), strict=True):
        error, low, high, holds = intervals(samples, options)
        order = np.argsort(error)
        colours = np.where(holds, "#0072B2", "#D55E00")[order]
        ax.hlines(range(50), low[order], high[order], color=colours, linewidth=1.5)
        ax.scatter(error[order], range(50), color=colours, s=9, zorder=3)
        ax.axvline(samples[0].error, color="black", linestyle="--", linewidth=1)
        ax.set_title(f"{method}, {model}: {holds.sum()} of 50 hold the truth", fontsize="medium")
        ax.set(xlabel="calibration error", yticks=[])
        ax.spines[["top", "right", "left"]].set_visible(False)
    row[0].set_xlim(left=-0.004)
plt.show()

# %%
# Algorithm 2 starts from the plain error, which counts chance as error, and then adds chance a
# second time. So its intervals lie too high. For the calibrated model none of them reaches the
# truth, and some do not even hold their own estimate.
#
# The default interval is made from the debiased error. It starts at 0 where the sample does not
# show an error.
#
# More data do not help
# ---------------------
# The larger the sample, the narrower both intervals become. One of them closes in on the truth.

print("95 % intervals that hold the truth, of 100")
print(f"{'queries':>8}  {'model':<21}{'Algorithm 2':>12}{'default':>9}")
for n in (500, 2000, 8000):
    for model, law in models.items():
        samples = [make_queries(n, random_state=rng, **law) for _ in range(100)]
        held = [intervals(samples, options)[3].sum() for options in methods.values()]
        print(f"{n:>8,}  {model:<21}{held[0]:>12}{held[1]:>9}")

# %%
# A hundred samples tell 95 from 90, but not from 93. The page on benchmarks has a larger simulation
# with many more laws.
