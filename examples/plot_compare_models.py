"""
Which of two models is better calibrated?
=========================================

Two models that were tried on the same rows share their luck.
:func:`~sklearn_calib.compare_calibration` takes that into account; two separate intervals do not.
"""

# %%
# A boosted model adds one tree after another. With few trees it is too cautious, with too many it
# becomes too sure of itself. A single fit gives the predictions of every stage.

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

X, y = make_classification(
    n_samples=6000, n_features=20, n_informative=6, flip_y=0.1, class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
model = HistGradientBoostingClassifier(max_iter=200, early_stopping=False, random_state=0)
stages = model.fit(X_train, y_train).staged_predict_proba(X_test)
wanted = (20, 40, 80, 150, 200)
predictions = {trees: p[:, 1] for trees, p in enumerate(stages, start=1) if trees in wanted}

# %%
# One at a time
# -------------
# The accuracy hardly changes from stage to stage. The calibration error does.

from sklearn_calib import calibration_error_interval

results = {trees: calibration_error_interval(y_test, q) for trees, q in predictions.items()}
print("trees  accuracy   Brier  calibration error  overconfident by")
for trees, result in results.items():
    q = predictions[trees]
    low, high = result.confidence_interval
    print(
        f"{trees:>5}  {((q > 0.5) == y_test).mean():>8.3f}  {brier_score_loss(y_test, q):.4f}"
        f"  {result.error:.3f} [{low:.3f}, {high:.3f}]  {result.mean_overconfidence:>+13.3f}"
    )

# %%
# In pairs
# --------
# The intervals of 150 and 200 trees overlap. Are the two equally well calibrated, as far as these
# data can tell? No: both were tried on the same rows, and most of the noise is in both of them. The
# comparison is about squared errors, which can be estimated without bias.

from sklearn_calib import compare_calibration

comparison = compare_calibration(y_test, predictions[200], predictions[150])
print(comparison)

# %%
# Had the two errors come from different rows, the difference would be less certain.

apart = sum(
    calibration_error_interval(y_test, predictions[trees], squared=True).standard_error ** 2
    for trees in (150, 200)
)
print(f"standard error, paired      {comparison.standard_error:.5f}")
print(f"standard error, not paired  {apart**0.5:.5f}")

# %%
# Every stage against 80 trees, which have the best Brier score of the five. Where the interval of
# the difference excludes 0, the stage is worse calibrated than 80 trees.

import matplotlib.pyplot as plt

fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained", sharey=True)
for row, trees in enumerate(wanted):
    result = results[trees]
    axes[0].hlines(row, *result.confidence_interval, color="#0072B2", linewidth=2)
    axes[0].plot(result.error, row, "o", color="#0072B2")
    if trees != 80:
        paired = compare_calibration(y_test, predictions[trees], predictions[80])
        axes[1].hlines(row, *paired.confidence_interval, color="#D55E00", linewidth=2)
        axes[1].plot(paired.difference, row, "o", color="#D55E00")
axes[0].set_yticks(range(len(wanted)), [f"{trees} trees" for trees in wanted])
axes[0].set(xlabel="calibration error, 95 % interval", xlim=(-0.002, None), title="one at a time")
axes[0].invert_yaxis()
axes[1].axvline(0, color="black", linestyle="--", linewidth=1)
axes[1].set(xlabel="squared error minus that of 80 trees, 95 % interval", title="in pairs")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
