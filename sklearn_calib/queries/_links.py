"""From link probabilities to queries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sklearn_calib._validation import Array, check_number, check_sample_weight
from sklearn_calib._validation_documents import check_entities, check_link_proba, check_lists
from sklearn_calib.queries._queries import Queries

__all__ = ["LinkQuestions", "link_queries"]


def link_queries(
    link_proba: Any, entities: Any, *, min_proba: float = 0.0, sample_weight: Any = None
) -> Queries:
    """Ask of every pair of mentions whether the two share an entity.

    Parameters
    ----------
    link_proba : list of array-like of shape (n_mentions, n_mentions)
        For each document the probability of every link, symmetric. The
        diagonal is not used.
    entities : list of array-like of shape (n_mentions,)
        For each document the true entity of each mention.
    min_proba : float, default=0.0
        Leave out links with a lower probability. Most pairs of mentions are
        easy to tell apart, and hide how the others fare.
    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document; all its links have it.

    Returns
    -------
    Queries
        One query a pair; its group is the number of the document. Documents
        with one mention or none ask nothing.

    See Also
    --------
    link_probabilities : Link probabilities from those of antecedents.
    calibration_null : What error to expect of a calibrated model.

    Examples
    --------
    >>> from sklearn_calib import link_queries
    >>> P = [[1.0, 0.8, 0.1], [0.8, 1.0, 0.2], [0.1, 0.2, 1.0]]
    >>> queries = link_queries([P], [["Ada", "Ada", "Bob"]])
    >>> queries.y_prob, queries.y_true
    (array([0.8, 0.1, 0.2]), array([ True, False, False]))
    """
    probas, truths = check_lists(
        "link_proba and entities", link_proba=link_proba, entities=entities
    )
    matrices = [check_link_proba(p, f"link_proba[{i}]") for i, p in enumerate(probas)]
    questions = LinkQuestions(matrices, min_proba=min_proba, sample_weight=sample_weight)
    return questions.answer(truths)


class LinkQuestions:
    """The links of some documents with their probabilities, to be answered by any truth."""

    def __init__(
        self, link_proba: Iterable[Array], *, min_proba: float = 0.0, sample_weight: Any = None
    ) -> None:
        if check_number(min_proba, "min_proba") > 1.0:
            raise ValueError(f"min_proba must lie in [0, 1], got {min_proba!r}.")
        self.kept, parts = [], []
        for proba in link_proba:
            mask = np.tri(len(proba), k=-1, dtype=bool)
            if min_proba > 0.0:
                mask &= proba >= min_proba
            self.kept.append(mask)
            parts.append(proba[mask])
        self.sizes = [len(mask) for mask in self.kept]
        counts = [len(part) for part in parts]
        weight = check_sample_weight(sample_weight, len(parts))
        self.y_prob = np.concatenate([np.empty(0), *parts])
        self.group = np.repeat(np.arange(len(parts)), counts)
        self.weight = None if weight is None else weight[self.group]

    def answer(self, entities: Any) -> Queries:
        """Return the queries with the answers that these entities give."""
        (truths,) = check_lists("entities", entities=entities)
        if len(truths) != len(self.sizes):
            raise ValueError(
                f"entities must have one entry for each of the {len(self.sizes)} documents; it "
                f"has {len(truths)}."
            )
        parts = [np.empty(0, dtype=bool)]
        for i, (truth, n, mask) in enumerate(zip(truths, self.sizes, self.kept, strict=True)):
            codes = check_entities(truth, n, f"entities[{i}]")
            parts.append((codes[:, None] == codes)[mask])
        return Queries._from_checked(
            np.concatenate(parts), self.y_prob, group=self.group, weight=self.weight
        )
