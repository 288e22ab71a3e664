"""A coreference model whose scores were made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import ArrayLike

from sklearn_calib._validation import Array
from sklearn_calib._validation_documents import check_lists
from sklearn_calib.coref._antecedent_scores import antecedent_proba_from_scores
from sklearn_calib.coref._ranker import MentionRanker

__all__ = ["ScoreRanker"]


class ScoreRanker(MentionRanker):
    """Coreference from the scores of another system.

    X holds one matrix of scores per document, as `antecedent_proba_from_scores`
    takes them. So a neural system has everything that `AntecedentModel` has:
    exact links and entities, samples, queries for scorers and displays, and
    recalibration.

    See Also
    --------
    antecedent_proba_from_scores : From scores to probabilities.
    CalibratedStructureCV : Mends its links.

    Examples
    --------
    >>> from sklearn_calib.coref import ScoreRanker
    >>> scores = [[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [-1.0, 3.0, 0.0]]]
    >>> ranker = ScoreRanker()
    >>> ranker.predict_proba(scores)[0].round(2)
    array([[1.  , 0.88, 0.84],
           [0.88, 1.  , 0.95],
           [0.84, 0.95, 1.  ]])
    >>> ranker.predict_entities(scores, min_proba=0.5)[0][0].mentions
    (0, 1, 2)
    >>> ranker.calibration_queries(scores, [["Ada", "Ada", "Bob"]]).y_true
    array([ True, False, False])
    """

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Sequence[ArrayLike], y: Sequence[ArrayLike] | None = None) -> ScoreRanker:
        """Do nothing: the scores have been made.

        Parameters
        ----------
        X : list of array-like of shape (n_mentions, n_mentions) or (n_mentions, n_mentions + 1)
            For each document its scores.
        y : list of array-like of shape (n_mentions,), default=None
            Not used.

        Returns
        -------
        ScoreRanker
            The model itself.
        """
        return self

    def _check(self, X: Sequence[Any]) -> list[Any]:
        """Return the antecedent probabilities of each document."""
        (matrices,) = check_lists("X", X=X)
        found = []
        for i, scores in enumerate(matrices):
            try:
                found.append(antecedent_proba_from_scores(scores))
            except (TypeError, ValueError) as error:
                raise type(error)(f"X[{i}]: {error}") from None
        return found

    def _antecedents(self, documents: list[Any]) -> Iterator[Array]:
        return iter(documents)
