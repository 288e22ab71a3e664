"""P-values of many questions at once."""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array

ADJUSTMENTS = ("holm", "benjamini-hochberg", None)


def adjust_pvalues(pvalues: Array, method: str | None) -> Array:
    """Return p-values adjusted for their number; those that are NaN ask nothing.

    "holm" keeps the chance of any false alarm below the level (Holm 1979), and
    "benjamini-hochberg" the expected share of false ones among the alarms
    (Benjamini and Hochberg 1995).
    """
    adjusted = np.array(pvalues, dtype=float)
    asked = np.flatnonzero(~np.isnan(adjusted))
    if method is None or len(asked) == 0:
        return adjusted
    order = asked[np.argsort(adjusted[asked], kind="stable")]
    ranked, n = adjusted[order], len(order)
    if method == "holm":
        steps = np.maximum.accumulate(ranked * np.arange(n, 0, -1))
    else:
        steps = np.minimum.accumulate((ranked * n / np.arange(1, n + 1))[::-1])[::-1]
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
