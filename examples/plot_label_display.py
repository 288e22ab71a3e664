"""
A row for each label, two models
================================

One calibration error for ten classes hides which of them are wrong.
:class:`~sklearn_calib.LabelCalibrationDisplay` draws a row for each label, with several models side
by side.
"""

# %%
# Two classifiers of handwritten digits, each tested on digits that it has not seen.

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.6, random_state=0)

models = {
    "naive Bayes": GaussianNB(var_smoothing=0.05),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
}
for name, model in models.items():
    print(f"{name:<20} accuracy {model.fit(X_train, y_train).score(X_test, y_test):.3f}")

# %%
# The picture
# -----------
# A dict of models gives a colour to each. ``sort="error"`` puts the digit with the largest error of
# the first model at the top. The diamonds at the bottom are means over the most common labels, and
# over all.

import matplotlib.pyplot as plt

from sklearn_calib import LabelCalibrationDisplay

display = LabelCalibrationDisplay.from_estimator(
    models, X_test, y_test, sort="error", averages=(5,), despine=True
)
plt.show()

# %%
# Each interval has its level on its own: of twenty 95 % intervals, about one misses. Intervals that
# overlap do not prove that two errors are equal; :func:`~sklearn_calib.compare_calibration` tests
# that for one label.
#
# The numbers
# -----------
# A display keeps what it draws. ``tables`` has a
# :class:`~sklearn_calib.metrics.LabelCalibration` for each model. A positive ``mean_gap`` says
# that the label gets too much probability.

print(display.tables["naive Bayes"])
