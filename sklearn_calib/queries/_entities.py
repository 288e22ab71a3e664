"""From probable entities to queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._results import counted
from sklearn_calib._validation import check_sample_weight
from sklearn_calib._validation_documents import check_entities, check_lists
from sklearn_calib.queries._queries import Queries

__all__ = ["EntityQuestions"]


class EntityQuestions:
    """Probable entities of some documents, to be answered by any truth.

    Each question asks whether some mentions, and no others, form an entity.
    `AntecedentModel.calibration_questions` with `unit="entity"` returns this
    object. The model chose the questions, without a look at the truth.

    Parameters
    ----------
    entities : iterable of lists of (mentions, proba)
        For each document the entities that are asked about.
    n_mentions : list of int
        Number of mentions of each document.
    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document.
    names : list of str, default=None
        What messages call the true entities of each document.

    See Also
    --------
    LinkQuestions : The same about pairs of mentions.

    Examples
    --------
    >>> from sklearn_calib.queries import EntityQuestions
    >>> questions = EntityQuestions([[((0, 1), 0.8), ((2,), 0.5)]], [3])
    >>> questions
    <EntityQuestions: 2 entities in 1 document>
    >>> questions.answer([["Ada", "Ada", "Bob"]]).y_true
    array([ True,  True])
    """

    def __init__(
        self,
        entities: Iterable[Sequence[tuple[Sequence[int], float]]],
        n_mentions: Sequence[int],
        *,
        sample_weight: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._n_mentions = list(n_mentions)
        n = len(self._n_mentions)
        asked = [list(of_document) for of_document in entities]
        if len(asked) != n:
            raise ValueError(f"entities are of {len(asked)} documents, but n_mentions has {n}.")
        weight = check_sample_weight(sample_weight, n, of="documents")
        counts = np.array([len(of_document) for of_document in asked], dtype=np.intp)
        flat = [entity for of_document in asked for entity in of_document]
        self._y_prob = np.array([proba for _, proba in flat], dtype=np.float64)
        self._size = np.array([len(mentions) for mentions, _ in flat], dtype=np.intp)
        self._group = np.repeat(np.arange(n), counts)
        # Mentions are numbered through all documents.
        offset = np.concatenate([[0], np.cumsum(self._n_mentions)])[self._group]
        members = np.array([m for mentions, _ in flat for m in mentions], dtype=np.intp)
        self._members = members + np.repeat(offset, self._size)
        # A document without questions leaves a gap in the numbers of the groups.
        self._numbered = bool((counts > 0).all())
        self._weight = None if weight is None else weight[self._group]
        self._names = [f"y[{i}]" for i in range(n)] if names is None else names

    def __repr__(self) -> str:
        entities = counted(len(self._y_prob), "entity", "entities")
        return f"<EntityQuestions: {entities} in {counted(len(self._n_mentions), 'document')}>"

    def answer(self, y: Sequence[ArrayLike]) -> Queries:
        """Return the queries with the answers that some entities give.

        Parameters
        ----------
        y : list of array-like of shape (n_mentions,)
            For each document the entity of each mention.

        Returns
        -------
        Queries
            One query per entity that was asked about; its group is the number
            of the document.
        """
        (truths,) = check_lists("y", y=y)
        if len(truths) != len(self._n_mentions):
            raise ValueError(
                f"y must have one entry for each of the {len(self._n_mentions)} documents; it has "
                f"{len(truths)}."
            )
        parts, total = [np.empty(0, dtype=np.intp)], 0
        for truth, n, name in zip(truths, self._n_mentions, self._names, strict=True):
            codes = check_entities(truth, n, name)
            parts.append(codes + total)
            total += int(codes.max(initial=-1)) + 1
        codes = np.concatenate(parts)
        answers = np.zeros(len(self._y_prob), dtype=bool)
        if len(answers):
            starts = np.concatenate([[0], np.cumsum(self._size)[:-1]])
            of = codes[self._members]
            low, high = np.minimum.reduceat(of, starts), np.maximum.reduceat(of, starts)
            answers = (low == high) & (np.bincount(codes, minlength=total)[low] == self._size)
        return Queries._from_checked(
            answers,
            self._y_prob,
            group=self._group,
            weight=self._weight,
            numbered=self._numbered,
        )
