"""
The first five minutes
======================

Two classifiers of about the same accuracy. Which of them can be believed when it says 90 %?
"""

# %%
# The data have 40 features, of which 30 only mix the other ten. Naive Bayes takes each of them for
# new evidence, so it should be too sure of itself.

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(
    n_samples=20_000,
    n_features=40,
    n_informative=10,
    n_redundant=30,
    flip_y=0,
    class_sep=0.8,
    random_state=4,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

naive_bayes = GaussianNB().fit(X_train, y_train)
logistic = LogisticRegression(max_iter=1000).fit(X_train, y_train)
for model in (naive_bayes, logistic):
    print(f"{type(model).__name__:<20} accuracy {model.score(X_test, y_test):.3f}")

# %%
# The calibration error
# ---------------------
# :func:`~sklearn_calib.calibration_error_interval` sorts the predictions, cuts them into bins and
# compares each bin's mean prediction with how often it came true. The error is the root mean
# square of these gaps. It comes with a 95 % interval, and with a p-value for the hypothesis that
# every prediction is right.

from sklearn_calib import calibration_error_interval

for model in (naive_bayes, logistic):
    result = calibration_error_interval(y_test, model.predict_proba(X_test)[:, 1])
    print(f"{type(model).__name__}:\n{result}\n")

# %%
# The probabilities of naive Bayes miss by about 15 points, and they are too extreme. Those of the
# logistic regression cannot be told from perfect ones: the interval starts at zero.

# %%
# The curve
# ---------
# A point is a bin. Its bar is a 95 % confidence interval for the frequency behind it. The marks at
# the bottom show where the bins lie: each holds about as many predictions as the next.

import matplotlib.pyplot as plt

from sklearn_calib import AdaptiveCalibrationDisplay

fig, ax = plt.subplots(figsize=(6, 6), layout="constrained")
AdaptiveCalibrationDisplay.from_estimator(
    naive_bayes, X_test, y_test, name="naive Bayes", despine=True, ax=ax
)
AdaptiveCalibrationDisplay.from_estimator(
    logistic, X_test, y_test, name="logistic regression", despine=True, ax=ax
)
plt.show()

# %%
# One model against the consistency band
# --------------------------------------
# The *consistency band* shows where the bins would fall if every prediction were right. It answers
# another question than the bars: not how well a frequency is known, but whether its distance from
# the diagonal needs an explanation.

AdaptiveCalibrationDisplay.from_estimator(
    logistic,
    X_test,
    y_test,
    name="logistic regression",
    interval=None,
    consistency=True,
    despine=True,
)
plt.show()
