"""Counts of a model that is wrong, the truth, and plans whose answers are the truth."""

import numpy as np
from scipy.special import expit, logit

from sklearn_calib.explore import counts_from_probabilities, reading_plan


def wrong_counts(seed=0, n=1500, shift=-1.0, weight=None):
    """Return counts of a model whose log-odds are too high, and the truth."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.3, 1.2, size=n)
    truth = rng.random(n) < expit(logit(np.clip(p, 1e-6, 1 - 1e-6)) + shift)
    period = rng.choice(["2001", "2002", "2003"], n)
    return counts_from_probabilities(p, period=period, sample_weight=weight), truth


def read(posterior, truth, n=150, seed=0):
    """Return a plan whose answers are the truth, an array by document or by document and key."""
    plan = reading_plan(posterior, n, random_state=seed)
    place = {name: i for i, name in enumerate(posterior.documents)}
    if truth.ndim == 1:
        return plan.answered({name: int(truth[place[name]]) for name in plan.documents})
    return plan.answered(
        {
            name: dict(zip(posterior.keys, truth[place[name]].tolist(), strict=True))
            for name in plan.documents
        }
    )


def by_period(posterior, values):
    return np.bincount(posterior.document_period, values, minlength=len(posterior.periods))
