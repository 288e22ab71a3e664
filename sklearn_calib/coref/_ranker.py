"""What every mention ranker shares: from antecedents to links, entities, samples and queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklearn_calib._validation import Array, check_generator, check_integer
from sklearn_calib._version import VersionedEstimator
from sklearn_calib.coref._clusters import best_entities, draw_entities, links
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._entities import Entity, check_min_proba, likely_entities
from sklearn_calib.coref._model_input import (
    check_documents,
    own_entities,
    true_entities,
    truth_names,
)
from sklearn_calib.coref._scores import scored
from sklearn_calib.queries._entities import EntityQuestions
from sklearn_calib.queries._links import LinkQuestions
from sklearn_calib.queries._queries import Queries

__all__ = ["UNITS", "MentionRanker"]

UNITS = ("link", "entity")

# Entities below this are not asked about: there are too many of them.
_MIN_ENTITY_PROBA = 0.01


class MentionRanker(VersionedEstimator, ABC):
    """A model in which each mention chooses its antecedent, independently of the others.

    X holds one entry per document, so that cross-validation moves whole
    documents.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        tags.target_tags.required = False
        return tags

    @abstractmethod
    def _antecedents(self, documents: list[Document]) -> Iterator[Array]:
        """Yield the antecedent probabilities of one checked document after the other."""

    def _check(self, X: Sequence[Document]) -> list[Document]:
        """Return the documents: the door of every method but `fit`."""
        check_is_fitted(self)
        return check_documents(X)

    def _link_proba(self, documents: list[Document]) -> Iterator[Array]:
        """Yield the link probabilities of one checked document after the other."""
        return map(links, self._antecedents(documents))

    def predict_antecedent_proba(self, X: Sequence[Document]) -> list[Array]:
        """Probability of each antecedent of each mention.

        Parameters
        ----------
        X : list of Document
            The documents.

        Returns
        -------
        list of ndarray of shape (n_mentions, n_mentions)
            For each document a lower triangular matrix whose rows sum to 1.
            Row i holds the probabilities of the mentions before i, and on the
            diagonal that of a new entity.
        """
        return list(self._antecedents(self._check(X)))

    def predict_proba(self, X: Sequence[Document]) -> list[Array]:
        """Probability of each link: that two mentions share an entity, exactly.

        Parameters
        ----------
        X : list of Document
            The documents.

        Returns
        -------
        list of ndarray of shape (n_mentions, n_mentions)
            For each document a symmetric matrix with ones on the diagonal.
        """
        return list(self._link_proba(self._check(X)))

    def predict(self, X: Sequence[Document]) -> list[Array]:
        """Entities that follow from the most probable antecedent of each mention.

        Parameters
        ----------
        X : list of Document
            The documents.

        Returns
        -------
        list of ndarray of int of shape (n_mentions,)
            For each document the entity of each mention: the index of the
            entity's first mention.
        """
        return [best_entities(proba) for proba in self._antecedents(self._check(X))]

    def predict_entities(
        self, X: Sequence[Document], *, min_proba: float = 0.01
    ) -> list[list[Entity]]:
        """All probable entities of each document, with exact probabilities.

        An entity is a set of mentions, and its probability that of exactly
        these mentions forming it. Alternatives overlap: the probabilities of
        all entities that hold a mention sum to 1.

        Parameters
        ----------
        X : list of Document
            The documents.
        min_proba : float, default=0.01
            Every entity of at least this probability is found. From 0.5 on, no
            two of them overlap.

        Returns
        -------
        list of lists of Entity
            For each document its entities `(mentions, proba)`, most probable
            first, single mentions among them.
        """
        documents = self._check(X)
        least = check_min_proba(min_proba)
        return [likely_entities(proba, least) for proba in self._antecedents(documents)]

    def sample(
        self, X: Sequence[Document], n_samples: int = 1, *, random_state: Any = None
    ) -> list[Array]:
        """Draw clusterings from the model.

        Parameters
        ----------
        X : list of Document
            The documents.
        n_samples : int, default=1
            How many clusterings to draw of each document.
        random_state : int, RandomState, Generator or None, default=None
            Seed.

        Returns
        -------
        list of ndarray of int of shape (n_samples, n_mentions)
            For each document the entity of each mention in each sample: the
            index of the entity's first mention.
        """
        documents = self._check(X)
        n_samples = check_integer(n_samples, "n_samples")
        rng = check_generator(random_state)
        return [draw_entities(proba, n_samples, rng) for proba in self._antecedents(documents)]

    def score(self, X: Sequence[Document], y: Sequence[ArrayLike] | None = None) -> float:
        """CoNLL score of the predicted entities: the mean F1 of MUC, B³ and CEAF-e.

        Parameters
        ----------
        X : list of Document
            The documents.
        y : list of array-like of shape (n_mentions,), default=None
            The true entities; by default those of the documents.

        Returns
        -------
        float
            Between 0 and 1; higher is better.
        """
        documents = self._check(X)
        true = true_entities(documents, y)
        predicted = [best_entities(proba) for proba in self._antecedents(documents)]
        return scored(
            (truth, guess, np.arange(len(truth)))
            for truth, guess in zip(true, predicted, strict=True)
        ).conll

    def calibration_questions(
        self,
        X: Sequence[Document],
        *,
        unit: str = "link",
        min_proba: float | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> LinkQuestions | EntityQuestions:
        """Predict once, and return the questions, to be answered by any truth.

        Parameters
        ----------
        X : list of Document
            The documents.
        unit : {"link", "entity"}, default="link"
            Ask of every pair of mentions whether the two share an entity, or
            of every probable set of mentions whether exactly these form one.
        min_proba : float, default=None
            Leave out links or entities with a lower probability; by default 0
            for links and 0.01 for entities.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document.

        Returns
        -------
        LinkQuestions or EntityQuestions
            Its method `answer` takes the entities of each document and
            returns Queries.
        """
        return self._questions(self._check(X), unit, min_proba, sample_weight)

    def _questions(
        self,
        documents: list[Document],
        unit: str,
        min_proba: float | None,
        sample_weight: ArrayLike | None,
    ) -> LinkQuestions | EntityQuestions:
        if unit not in UNITS:
            raise TypeError(
                f"unit={unit!r} does not apply to {type(self).__name__}: a coreference model is "
                f"asked about one of {', '.join(map(repr, UNITS))}."
            )
        if unit == "entity":
            least = check_min_proba(_MIN_ENTITY_PROBA if min_proba is None else min_proba)
            return EntityQuestions(
                (likely_entities(proba, least) for proba in self._antecedents(documents)),
                [len(document) for document in documents],
                sample_weight=sample_weight,
                names=truth_names(documents),
            )
        return LinkQuestions(
            self._link_proba(documents),
            min_proba=0.0 if min_proba is None else min_proba,
            sample_weight=sample_weight,
            names=truth_names(documents),
        )

    def calibration_queries(
        self,
        X: Sequence[Document],
        y: Sequence[ArrayLike] | None,
        *,
        unit: str = "link",
        min_proba: float | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Queries:
        """Ask about links, or about whole entities.

        Parameters
        ----------
        X : list of Document
            The documents.
        y : list of array-like of shape (n_mentions,)
            The true entities; None for those of the documents.
        unit : {"link", "entity"}, default="link"
            Ask of every pair of mentions whether the two share an entity, or
            of every probable set of mentions whether exactly these form one.
        min_proba : float, default=None
            Leave out links or entities with a lower probability; by default 0
            for links and 0.01 for entities.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document.

        Returns
        -------
        Queries
            One query per link or entity; its group is the number of the
            document.
        """
        documents = self._check(X)
        truth = own_entities(documents) if y is None else y
        return self._questions(documents, unit, min_proba, sample_weight).answer(truth)
