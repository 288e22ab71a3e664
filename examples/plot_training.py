"""
Train for it, choose for it, or mend it?
========================================

A tagger's probabilities can be improved in three places: in training, by an objective that looks
at them; in the search for its settings, by a score that looks at them; or afterwards, by
recalibration. Here the three meet on sentences from a known model.
"""

# %%
# Four objectives, three penalties
# --------------------------------
# ``CRFTagger(solver="lattice")`` trains on likelihood; on the marginals of the true tags; on
# likelihood with a penalty on the calibration error of the training sentences; or with a margin.
# The smallest penalty on weights lets a tagger learn its sentences by heart, the largest lets it
# learn little.

from sklearn_calib.datasets import make_tagged_sequences
from sklearn_calib.sequence import CRFTagger

data = make_tagged_sequences(900, n_tags=6, n_words=400, random_state=0)
train = data.X[:200], data.y[:200]
held_out = data.X[200:400], data.y[200:400]
X_test, y_test = data.X[400:], data.y[400:]

objectives = {
    "likelihood": {"objective": "likelihood"},
    "marginal": {"objective": "marginal"},
    "calibrated": {"objective": "calibrated", "calibration_strength": 3.0},
    "softmax-margin": {"objective": "softmax_margin"},
}
penalties = (0.003, 0.1, 1.0)
taggers = {
    (name, c2): CRFTagger(solver="lattice", c2=c2, tol=1e-4, **options).fit(*train)
    for name, options in objectives.items()
    for c2 in penalties
}

# %%
# Raw, and mended by one number
# -----------------------------
# A temperature is fitted on 200 other sentences. The taggers are frozen, so that nothing is trained
# again.

from sklearn.frozen import FrozenEstimator

from sklearn_calib import (
    CalibratedStructureCV,
    calibration_error_interval,
    estimator_queries,
)

mended = {
    key: CalibratedStructureCV(FrozenEstimator(tagger)).fit(*held_out)
    for key, tagger in taggers.items()
}


def error(tagger):
    return calibration_error_interval(estimator_queries(tagger, X_test, y_test))


errors = {key: (error(tagger), error(mended[key])) for key, tagger in taggers.items()}
print("objective        c2   accuracy  raw                    recalibrated")
for (name, c2), pair in errors.items():
    accuracy = taggers[name, c2].score(X_test, y_test)
    cells = ["{:.3f} [{:.3f}, {:.3f}]".format(r.error, *r.confidence_interval) for r in pair]
    print(f"{name:<14} {c2:<6}  {accuracy:.3f}   {cells[0]}   {cells[1]}")

# %%
# Hollow dots are taggers as trained, full ones after recalibration. Three things can be seen.
# Training on the calibration error of the *training* sentences does nothing for a tagger that has
# learned them by heart, because there it is calibrated already; with a large penalty it lowers the
# error and loses accuracy. The choice of the penalty matters more than that of the objective. And
# whatever the training was, one temperature brings nearly all taggers near to zero, and leaves the
# accuracy as it was.

import matplotlib.pyplot as plt

_, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for colour, name in zip(("C0", "C1", "C2", "C3"), objectives, strict=True):
    for c2, marker in zip(penalties, ("^", "o", "s"), strict=True):
        accuracy = taggers[name, c2].score(X_test, y_test)
        before, after = (result.error for result in errors[name, c2])
        label = name if c2 == penalties[0] else None
        ax.plot([accuracy] * 2, [before, after], color=colour, linewidth=0.8)
        ax.plot(accuracy, before, marker, color=colour, fillstyle="none")
        ax.plot(accuracy, after, marker, color=colour, label=label)
ax.set(xlabel="accuracy", ylabel="calibration error")
ax.legend(title="c2: triangle .003, circle .1, square 1")
plt.show()

# %%
# Choosing
# --------
# A search that looks at accuracy alone does not see the probabilities, and one that looks at
# calibration alone may choose a useless tagger. :func:`~sklearn_calib.best_calibrated` takes the
# most accurate setting among those that are calibrated as well as the best, within the noise of the
# folds.

from sklearn.model_selection import GridSearchCV

from sklearn_calib import best_calibrated

scoring = {
    "accuracy": lambda tagger, X, y: tagger.score(X, y),
    "calibration": "neg_adaptive_bin_calibration_error",
}
search = GridSearchCV(
    CRFTagger(solver="lattice", tol=1e-4),
    {"c2": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0]},
    scoring=scoring,
    refit=best_calibrated("accuracy", calibration="calibration"),
).fit(*train)
print(search.best_params_, error(search))
