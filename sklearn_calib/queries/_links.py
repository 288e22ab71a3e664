"""From link probabilities to queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_number, check_sample_weight
from sklearn_calib._validation_documents import check_entities, check_link_proba, check_lists
from sklearn_calib.queries._queries import Queries

__all__ = ["LinkQuestions", "link_queries"]


def link_queries(
    link_proba: Sequence[ArrayLike],
    entities: Sequence[ArrayLike],
    *,
    min_proba: float = 0.0,
    sample_weight: ArrayLike | None = None,
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
        One query per pair; its group is the number of the document. Documents
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
    names = [f"entities[{i}]" for i in range(len(truths))]
    questions = LinkQuestions(
        matrices, min_proba=min_proba, sample_weight=sample_weight, names=names
    )
    return questions._answered(truths)


class LinkQuestions:
    """The links of some documents with their probabilities, to be answered by any truth.

    `AntecedentModel.calibration_questions` returns this object: the model has
    predicted once, and any number of truths can answer.

    Parameters
    ----------
    link_proba : iterable of ndarray of shape (n_mentions, n_mentions)
        For each document the probability of every link, symmetric. They are
        taken as they are; `link_queries` checks those of other systems.
    min_proba : float, default=0.0
        Leave out links with a lower probability.
    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document.
    names : list of str, default=None
        What messages call the entities of each document.

    See Also
    --------
    link_queries : Questions and answers in one step, for any link probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib.queries import LinkQuestions
    >>> questions = LinkQuestions([np.array([[1.0, 0.8], [0.8, 1.0]])])
    >>> questions
    <LinkQuestions: 1 links in 1 documents>
    >>> questions.answer([["Ada", "Ada"]]).y_true
    array([ True])
    """

    def __init__(
        self,
        link_proba: Iterable[Array],
        *,
        min_proba: float = 0.0,
        sample_weight: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if check_number(min_proba, "min_proba") > 1.0:
            raise ValueError(f"min_proba must lie in [0, 1], got {min_proba!r}.")
        self._kept: list[Array] = []
        parts = [np.empty(0)]
        for proba in link_proba:
            mask = np.tri(len(proba), k=-1, dtype=bool)
            if min_proba > 0.0:
                mask &= proba >= min_proba
            self._kept.append(mask)
            parts.append(proba[mask])
        n = len(self._kept)
        weight = check_sample_weight(sample_weight, n, of="documents")
        self._y_prob = np.concatenate(parts)
        counts = np.array([len(part) for part in parts[1:]], dtype=np.intp)
        self._group = np.repeat(np.arange(n), counts)
        # A document without links leaves a gap in the numbers of the groups.
        self._numbered = bool((counts > 0).all())
        self._weight = None if weight is None else weight[self._group]
        self._names = [f"y[{i}]" for i in range(n)] if names is None else names

    def __repr__(self) -> str:
        return f"<LinkQuestions: {len(self._y_prob):,} links in {len(self._kept):,} documents>"

    def answer(self, y: Sequence[ArrayLike]) -> Queries:
        """Return the queries with the answers that some entities give.

        Parameters
        ----------
        y : list of array-like of shape (n_mentions,)
            For each document the entity of each mention.

        Returns
        -------
        Queries
            One query per link; its group is the number of the document.
        """
        (truths,) = check_lists("y", y=y)
        if len(truths) != len(self._kept):
            raise ValueError(
                f"y must have one entry for each of the {len(self._kept)} documents; it has "
                f"{len(truths)}."
            )
        return self._answered(truths)

    def _answered(self, truths: Sequence[ArrayLike]) -> Queries:
        parts = [np.empty(0, dtype=bool)]
        for truth, mask, name in zip(truths, self._kept, self._names, strict=True):
            codes = check_entities(truth, len(mask), name)
            parts.append((codes[:, None] == codes)[mask])
        return Queries._from_checked(
            np.concatenate(parts),
            self._y_prob,
            group=self._group,
            weight=self._weight,
            numbered=self._numbered,
        )
