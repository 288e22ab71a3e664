"""
Is the sample large enough?
===========================

A calibration error from a few hundred predictions is rough.
:func:`~sklearn_calib.sample_size_curve` measures it on growing parts of the data, and
:class:`~sklearn_calib.BinSizeDisplay` draws how it settles.
"""

# %%
# The truth is known here, because the answers are simulated: one model is overconfident, the other
# is calibrated.

from sklearn_calib.datasets import make_queries

samples = {
    "overconfident": make_queries(50_000, distortion="slope", strength=0.7, random_state=0),
    "calibrated": make_queries(50_000, random_state=1),
}
for name, sample in samples.items():
    print(f"{name:<14} true calibration error {sample.error:.4f}")

# %%
# The curve
# ---------
# The queries are taken in random order. Each size uses the first so many of them, so that a larger
# sample contains the smaller ones.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_calib import BinSizeDisplay

sizes = np.append(200 * 2 ** np.arange(8), 50_000)
fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
for ax, (name, sample) in zip(axes, samples.items(), strict=True):
    display = BinSizeDisplay.from_predictions(
        sample.queries,
        against="sample_size",
        sample_sizes=sizes,
        truth=sample.error,
        random_state=0,
        despine=True,
        ax=ax,
    )
    ax.set_title(name)
axes[0].set_ylim(top=0.16)
axes[1].set_ylabel("")
plt.show()

# %%
# The bars are 95 % intervals of the debiased error. The plug-in error counts chance as error: in
# small samples it is far too large, for the calibrated model too. The shaded band shows how large
# it would be if every prediction were right.
#
# On the left, up to 3,200 queries do not show the error: the interval starts at zero. Then it
# leaves zero and closes in on the truth. On the right it never leaves zero; more queries only lower
# its upper end.
#
# The numbers
# -----------
# The same as a table, for the calibrated model. Its interval narrows slowly: 16 times the sample
# makes it a bit more than a third as wide.

print(display.curve)
