"""
Queries that depend on each other
=================================

The tokens of a sentence, the sentences of a document and the visits of a patient are not
independent. An interval that ignores this is too narrow.
"""

# %%
# Here every speaker makes 20 statements. A speaker who is lucky once tends to be lucky again: the
# answers of one speaker depend strongly on each other. Each prediction on its own is too
# low by 0.1.

from sklearn_calib import calibration_error_interval
from sklearn_calib.datasets import make_queries


def speakers(seed):
    """Simulate 200 speakers with 20 statements each."""
    return make_queries(
        4000,
        a=2,
        b=2,
        distortion="shift",
        strength=0.1,
        group_size=20,
        dependence=0.8,
        random_state=seed,
    )


sample = speakers(0)
print(f"{sample.queries}, true calibration error {sample.error:.4f}")

# %%
# One sample, two intervals
# -------------------------
# The queries carry their groups, and every interval uses them. ``groups=False`` ignores them. With
# two arrays instead of queries, pass ``groups=speaker_of_each_row``.

for name, groups in {"with groups": None, "groups ignored": False}.items():
    low, high = calibration_error_interval(sample.queries, groups=groups).confidence_interval
    print(f"{name:<15} [{low:.4f}, {high:.4f}]")

# %%
# Forty samples
# -------------
# The dashed line is the true error. A 95 % interval may miss it in about two samples of forty. The
# intervals that ignore the groups miss it far more often: they take 4,000 statements for 4,000
# pieces of evidence, but there are only 200 speakers.

import matplotlib.pyplot as plt
import numpy as np

samples = [speakers(seed) for seed in range(40)]
truth = samples[0].error
fig, axes = plt.subplots(1, 2, figsize=(9, 5), layout="constrained", sharex=True, sharey=True)
for ax, (name, groups) in zip(
    axes, {"groups ignored": False, "with groups": None}.items(), strict=True
):
    results = [calibration_error_interval(s.queries, groups=groups) for s in samples]
    low, high = np.transpose([result.confidence_interval for result in results])
    holds = (low <= truth) & (truth <= high)
    colours = np.where(holds, "#0072B2", "#D55E00")
    ax.hlines(range(40), low, high, color=colours, linewidth=1.5)
    ax.scatter([result.error for result in results], range(40), color=colours, s=12, zorder=3)
    ax.axvline(truth, color="black", linestyle="--", linewidth=1)
    ax.set_title(f"{name}: {holds.sum()} of 40 hold the truth", fontsize="medium")
    ax.set(xlabel="calibration error", yticks=[])
    ax.spines[["top", "right", "left"]].set_visible(False)
axes[0].set_xlim(left=0)
plt.show()

# %%
# False alarms
# ------------
# The same happens to tests. These samples come from a perfectly calibrated model, so a test at the
# 5 % level should reject it in about two samples of forty.

from sklearn_calib import calibration_test

calibrated = [
    make_queries(2000, group_size=20, dependence=0.8, random_state=seed).queries
    for seed in range(40)
]
for name, groups in {"groups ignored": False, "with groups": None}.items():
    rejected = sum(
        calibration_test(
            queries, statistic="kuiper", groups=groups, n_resamples=199, random_state=0
        ).pvalue
        <= 0.05
        for queries in calibrated
    )
    print(f"{name:<15} {rejected:>2} of 40 rejected")
