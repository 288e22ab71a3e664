"""Scores of predicted entities against true ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from sklearn_calib._results import Columns, Result
from sklearn_calib._validation import Array
from sklearn_calib._validation_documents import check_entities, check_lists

__all__ = ["CoreferenceScores", "PrecisionRecall", "coreference_scores"]


class PrecisionRecall(NamedTuple):
    """Precision and recall, with their harmonic mean as `f1`.

    Examples
    --------
    >>> from sklearn_calib.coref import PrecisionRecall
    >>> PrecisionRecall(0.5, 1.0).f1
    0.6666666666666666
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 if both are 0."""
        total = self.precision + self.recall
        return 2.0 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class CoreferenceScores(Result):
    """How well predicted entities match the true ones.

    Attributes
    ----------
    pairwise : PrecisionRecall
        Over pairs of mentions that share an entity.
    muc : PrecisionRecall
        Over the links that hold each entity together (Vilain et al., 1995).
    b_cubed : PrecisionRecall
        Over mentions: the share of each one's entity that is right (Bagga and
        Baldwin, 1998).
    ceaf_e : PrecisionRecall
        Over entities, matched one to one (Luo, 2005, with his similarity
        phi 4).

    See Also
    --------
    coreference_scores : Makes this object.
    """

    pairwise: PrecisionRecall
    muc: PrecisionRecall
    b_cubed: PrecisionRecall
    ceaf_e: PrecisionRecall

    @property
    def conll(self) -> float:
        """Mean F1 of MUC, B³ and CEAF-e, the score of the CoNLL shared tasks."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3.0

    def _sentence(self) -> str:
        return f"CoNLL: {self.conll:.4f}"

    def _columns(self) -> Columns:
        """Return one row per score."""
        names = ("pairwise", "muc", "b_cubed", "ceaf_e")
        scores: list[PrecisionRecall] = [getattr(self, name) for name in names]
        return {
            "score": names,
            "precision": [s.precision for s in scores],
            "recall": [s.recall for s in scores],
            "f1": [s.f1 for s in scores],
        }


def coreference_scores(
    entities_true: Sequence[ArrayLike], entities_pred: Sequence[ArrayLike]
) -> CoreferenceScores:
    """Score predicted entities against true ones, over the same mentions.

    Parameters
    ----------
    entities_true : list of array-like of shape (n_mentions,)
        For each document the true entity of each mention.
    entities_pred : list of array-like of shape (n_mentions,)
        For each document the predicted entity of each mention.

    Returns
    -------
    CoreferenceScores
        Precision and recall of pairs, MUC, B³ and CEAF-e, added up over
        documents. A score that divides zero by zero is 1 if nothing was
        there to find and nothing was found, and 0 otherwise.

    See Also
    --------
    AntecedentModel : Predicts entities.

    Notes
    -----
    Entities of one mention count in B³ and CEAF-e, in the truth as in the
    prediction. The scorer of the CoNLL shared tasks does the same, but its
    data hold no such entities.

    Examples
    --------
    >>> from sklearn_calib.coref import coreference_scores
    >>> scores = coreference_scores([[0, 0, 0, 1]], [[0, 0, 1, 1]])
    >>> scores
       score  precision  recall      f1
    pairwise     0.5000  0.3333  0.4000
         muc     0.5000  0.5000  0.5000
     b_cubed     0.7500  0.6667  0.7059
      ceaf_e     0.7333  0.7333  0.7333
    CoNLL: 0.6464
    >>> scores.pairwise.precision, round(scores.pairwise.recall, 3)
    (0.5, 0.333)
    >>> round(scores.conll, 3)
    0.646
    """
    truths, guesses = check_lists(
        "entities_true and entities_pred", entities_true=entities_true, entities_pred=entities_pred
    )
    true = [check_entities(truth, None, f"entities_true[{d}]") for d, truth in enumerate(truths)]
    pred = [
        check_entities(guess, len(true[d]), f"entities_pred[{d}]")
        for d, guess in enumerate(guesses)
    ]
    return scored(zip(true, pred, strict=True))


def scored(documents: Iterable[tuple[Array, Array]]) -> CoreferenceScores:
    """Return the scores of true and predicted entities, given as numbers."""
    total = np.zeros((4, 4))
    for true, pred in documents:
        if len(true):
            total += _sums(true, pred)
    return CoreferenceScores(*(_ratio(*row) for row in total))


def _ratio(right_p: float, of_p: float, right_r: float, of_r: float) -> PrecisionRecall:
    if of_p == 0.0 and of_r == 0.0:
        return PrecisionRecall(1.0, 1.0)
    precision = right_p / of_p if of_p else 0.0
    recall = right_r / of_r if of_r else 0.0
    return PrecisionRecall(float(precision), float(recall))


def _sums(true: Array, pred: Array) -> Array:
    """Return numerators and denominators of precision and recall, one row per score."""
    n = len(true)
    size_t, size_p = np.bincount(true), np.bincount(pred)
    both, count = np.unique(true * len(size_p) + pred, return_counts=True)
    t, p = both // len(size_p), both % len(size_p)
    pairs = (count * (count - 1) / 2).sum()
    # MUC: an entity of size s that is split into k parts has s - k of its s - 1 links.
    parts = float(n - len(both))
    similarity = _matched(t, p, 2.0 * count / (size_t[t] + size_p[p]))
    return np.array(
        [
            [pairs, (size_p * (size_p - 1) / 2).sum(), pairs, (size_t * (size_t - 1) / 2).sum()],
            [parts, n - len(size_p), parts, n - len(size_t)],
            [(count**2 / size_p[p]).sum(), n, (count**2 / size_t[t]).sum(), n],
            [similarity, len(size_p), similarity, len(size_t)],
        ],
        dtype=float,
    )


def _matched(t: Array, p: Array, similarity: Array) -> float:
    """Return the greatest total similarity of a one-to-one match of entities.

    Entities that share no mention, even through others, cannot compete, so
    that each connected part is matched on its own.
    """
    n_t, n_p = int(t.max()) + 1, int(p.max()) + 1
    graph = sparse.coo_array((np.ones(len(t)), (t, n_t + p)), shape=(n_t + n_p, n_t + n_p))
    count, part = connected_components(graph, directed=False)
    edges = part[t]
    alone = np.bincount(edges, minlength=count) == 1
    total = float(similarity[alone[edges]].sum())
    order = np.argsort(edges, kind="stable")
    bounds = np.searchsorted(edges[order], np.arange(count + 1))
    for k in np.flatnonzero(~alone):
        rows = order[bounds[k] : bounds[k + 1]]
        left, i = np.unique(t[rows], return_inverse=True)
        right, j = np.unique(p[rows], return_inverse=True)
        table = np.zeros((len(left), len(right)))
        table[i, j] = similarity[rows]
        total += float(table[linear_sum_assignment(table, maximize=True)].sum())
    return total
