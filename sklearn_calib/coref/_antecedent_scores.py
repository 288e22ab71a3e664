"""From anyone's scores of antecedents to probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_array_like

__all__ = ["antecedent_proba_from_scores"]


def antecedent_proba_from_scores(scores: ArrayLike) -> Array:
    """Turn the scores of a mention-ranking system into antecedent probabilities.

    Neural coreference systems score each pair of a mention and an earlier one,
    and give a new entity a score of its own, often 0. These scores, or logits,
    are all it takes for exact links, entities and samples.

    Parameters
    ----------
    scores : array-like of shape (n_mentions, n_mentions) or \
(n_mentions, n_mentions + 1)
        Row i holds the score of each earlier mention as the antecedent of
        mention i. The score of a new entity is on the diagonal, or in one
        column more, the last. Scores of later mentions are not used. Minus
        infinity rules an antecedent out.

    Returns
    -------
    ndarray of shape (n_mentions, n_mentions)
        Lower triangular; rows sum to 1, with the probability of a new entity on
        the diagonal.

    See Also
    --------
    link_probabilities : Probabilities of links from these.
    entity_probability : Probability of a whole entity.
    sample_entities : Draw clusterings.

    Examples
    --------
    >>> from sklearn_calib.coref import antecedent_proba_from_scores
    >>> scores = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [-1.0, 3.0, 0.0]]
    >>> antecedent_proba_from_scores(scores).round(2)
    array([[1.  , 0.  , 0.  ],
           [0.88, 0.12, 0.  ],
           [0.02, 0.94, 0.05]])
    """
    given = check_array_like(scores, "scores")
    n = len(given) if given.ndim else 0
    if given.ndim != 2 or given.shape[1] not in (n, n + 1):
        raise ValueError(
            "scores must have a row for each mention, and a column for each mention or one more "
            f"for a new entity; got shape {given.shape}."
        )
    if given.dtype.kind not in "fiub":
        raise TypeError(f"scores must hold numbers, got dtype {given.dtype}.")
    values = np.array(given, dtype=np.float64)
    own = np.arange(n)
    if values.shape[1] == n + 1:
        values[own, own] = values[:, n]
        values = values[:, :n]
    used = np.tri(n, dtype=bool)
    bad = used & (np.isnan(values) | (values == np.inf))
    if bad.any():
        i, j = np.argwhere(bad)[0].tolist()
        raise ValueError(f"scores, mention {i}: the score of antecedent {j} is {values[i, j]}.")
    values[~used] = -np.inf
    top = values.max(axis=1, keepdims=True, initial=-np.inf)
    if n and not np.isfinite(top).all():
        i = int(np.argmin(np.isfinite(top)))
        raise ValueError(
            f"scores, mention {i}: every antecedent and a new entity are ruled out, so that "
            "nothing has a probability."
        )
    odds = np.exp(values - top)
    return odds / odds.sum(axis=1, keepdims=True)
