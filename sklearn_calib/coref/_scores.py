"""Scores of predicted entities against true ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from sklearn_calib._results import Columns, Result
from sklearn_calib._validation import Array, check_option
from sklearn_calib._validation_documents import check_entities, check_lists
from sklearn_calib.coref._align_mentions import MATCHES, comparable, matched_places, span_array
from sklearn_calib.coref._document import Document

__all__ = ["BlancScore", "CoreferenceScores", "PrecisionRecall", "coreference_scores"]


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


class BlancScore(NamedTuple):
    """Precision, recall and F1 of BLANC, each a mean over two kinds of links.

    The mean of two harmonic means is not the harmonic mean of two means, so
    that `f1` does not follow from the other two.

    Attributes
    ----------
    precision, recall, f1 : float
        Means over links between mentions of one entity and links between
        mentions of two. If the truth has links of one kind only, that kind
        alone counts.

    See Also
    --------
    coreference_scores : Makes this object.

    Examples
    --------
    >>> from sklearn_calib.coref import coreference_scores
    >>> scores = coreference_scores([[0, 0, 1]], [[0, 0, 1]], same_mentions=True)
    >>> scores.blanc
    BlancScore(precision=1.0, recall=1.0, f1=1.0)
    """

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, eq=False, repr=False)
class CoreferenceScores(Result):
    """How well predicted entities match the true ones.

    Attributes
    ----------
    mentions : PrecisionRecall
        Over mentions: whether they were found at all.
    pairwise : PrecisionRecall
        Over pairs of mentions that share an entity.
    muc : PrecisionRecall
        Over the links that hold each entity together (Vilain et al., 1995).
    b_cubed : PrecisionRecall
        Over mentions: the share of each one's entity that is right (Bagga and
        Baldwin, 1998).
    ceaf_m : PrecisionRecall
        Over mentions, with entities matched one to one (Luo, 2005, with his
        similarity phi 3).
    ceaf_e : PrecisionRecall
        Over entities, matched one to one (Luo, 2005, with his similarity
        phi 4).
    blanc : BlancScore
        Over pairs, those that share an entity and those that do not (Recasens
        and Hovy, 2011; Luo et al., 2014, for mentions that differ).
    lea : PrecisionRecall
        Over entities, weighted by size: the share of their links that is right
        (Moosavi and Strube, 2016).

    See Also
    --------
    coreference_scores : Makes this object.
    """

    mentions: PrecisionRecall
    pairwise: PrecisionRecall
    muc: PrecisionRecall
    b_cubed: PrecisionRecall
    ceaf_m: PrecisionRecall
    ceaf_e: PrecisionRecall
    blanc: BlancScore
    lea: PrecisionRecall

    @property
    def conll(self) -> float:
        """Mean F1 of MUC, B³ and CEAF-e, the score of the CoNLL shared tasks."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3.0

    def _sentence(self) -> str:
        return f"CoNLL: {self.conll:.4f}"

    def _columns(self) -> Columns:
        """Return one row per score."""
        names = (*_SUMMED[:-1], "blanc", _SUMMED[-1])
        scores: list[PrecisionRecall | BlancScore] = [getattr(self, name) for name in names]
        return {
            "score": names,
            "precision": [s.precision for s in scores],
            "recall": [s.recall for s in scores],
            "f1": [s.f1 for s in scores],
        }


# Scores that are a ratio of sums over documents, in the order of `_sums`.
_SUMMED = ("mentions", "pairwise", "muc", "b_cubed", "ceaf_m", "ceaf_e", "lea")

# What one side says about one document: a document, its spans with entities, or entities alone.
Side = Document | tuple[ArrayLike, ArrayLike] | ArrayLike


def coreference_scores(
    gold: Sequence[Side],
    predicted: Sequence[Side],
    *,
    match: str = "span",
    singletons: bool = True,
    same_mentions: bool = False,
) -> CoreferenceScores:
    """Score predicted entities against true ones, mention by mention.

    The mentions of the two sides may differ: they are compared by where they
    are in the text.

    Parameters
    ----------
    gold : list of Document, of tuple (spans, entities), or of array-like
        For each document the true entities: a document that holds them; or
        start and end (exclusive) of each mention with the entity of each; or
        the entities alone, which needs `same_mentions=True`.
    predicted : list of the same
        For each document the predicted entities.
    match : {"span", "head"}, default="span"
        When a predicted mention is a true one: if it starts and ends where
        that one does, or also if it has the same head (`align_mentions`).
    singletons : bool, default=True
        Whether entities of one mention count. OntoNotes marks none, so that
        its scores are those of `singletons=False`.
    same_mentions : bool, default=False
        Say that both sides have the same mentions in the same order. Then
        entities may come without spans. Spans that are given are compared,
        and refused if they differ.

    Returns
    -------
    CoreferenceScores
        Precision and recall of mentions, pairs, MUC, B³, CEAF-m, CEAF-e,
        BLANC and LEA, added up over documents. What divides zero by zero is
        0, as in the reference scorer.

    See Also
    --------
    align_mentions : The match of mentions.
    AntecedentModel : Predicts entities.

    Notes
    -----
    The numbers are those of the reference scorer of the CoNLL shared tasks
    [1]_, whose published test cases are among the tests. As there, a span that
    one side gives twice counts once, with the entity that it is given first;
    mentions that are not in the truth, or not in the prediction, stay in their
    entities. With `same_mentions=True` every entry is a mention of its own.

    References
    ----------
    .. [1] Sameer Pradhan, Xiaoqiang Luo, Marta Recasens, Eduard Hovy, Vincent
       Ng and Michael Strube, "Scoring coreference partitions of predicted
       mentions: a reference implementation", ACL 2014.
    .. [2] Xiaoqiang Luo, Sameer Pradhan, Marta Recasens and Eduard Hovy, "An
       extension of BLANC to system mentions", ACL 2014.
    .. [3] Nafise Sadat Moosavi and Michael Strube, "Which coreference
       evaluation metric do you trust? A proposal for a link-based entity aware
       metric", ACL 2016.

    Examples
    --------
    >>> from sklearn_calib.coref import coreference_scores
    >>> gold = [([(0, 1), (2, 4), (5, 6)], ["Ada", "Eve", "Ada"])]
    >>> predicted = [([(0, 1), (3, 4), (5, 6)], [1, 2, 1])]
    >>> scores = coreference_scores(gold, predicted)
    >>> scores
       score  precision  recall      f1
    mentions     0.6667  0.6667  0.6667
    pairwise     1.0000  1.0000  1.0000
         muc     1.0000  1.0000  1.0000
     b_cubed     0.6667  0.6667  0.6667
      ceaf_m     0.6667  0.6667  0.6667
      ceaf_e     0.5000  0.5000  0.5000
       blanc     0.5000  0.5000  0.5000
         lea     0.6667  0.6667  0.6667
    CoNLL: 0.7222

    Entities without spans are of the same mentions only if that is said:

    >>> scores = coreference_scores([[0, 0, 0, 1]], [[0, 0, 1, 1]], same_mentions=True)
    >>> scores.pairwise.precision, round(scores.pairwise.recall, 3)
    (0.5, 0.333)
    >>> round(scores.conll, 3)
    0.646
    """
    check_option(match, "match", MATCHES)
    check_option(singletons, "singletons", (True, False))
    check_option(same_mentions, "same_mentions", (True, False))
    truths, guesses = check_lists("gold and predicted", gold=gold, predicted=predicted)
    compare = _same if same_mentions else _aligned
    return scored(
        (
            compare(truth, guess, f"gold[{d}]", f"predicted[{d}]", match)
            for d, (truth, guess) in enumerate(zip(truths, guesses, strict=True))
        ),
        singletons=singletons,
    )


# The entities of both sides as numbers, and the true mention of each predicted one or -1.
Compared = tuple[Array, Array, Array]


def _same(truth: Any, guess: Any, truth_name: str, guess_name: str, match: str) -> Compared:
    """Return two sides that have the same mentions, in the same order."""
    spans, true = _side(truth, truth_name)
    others, pred = _side(guess, guess_name, len(true))
    if spans is not None and others is not None and (spans[:, :2] != others[:, :2]).any():
        i = int(np.argmax((spans[:, :2] != others[:, :2]).any(axis=1)))
        raise ValueError(
            f"{truth_name} and {guess_name} do not have the same mentions: number {i} covers "
            f"words {spans[i, 0]} to {spans[i, 1]} in one and {others[i, 0]} to {others[i, 1]} "
            "in the other. Leave same_mentions=True out to compare them by span."
        )
    return true, pred, np.arange(len(true))


def _aligned(truth: Any, guess: Any, truth_name: str, guess_name: str, match: str) -> Compared:
    """Return two sides whose mentions may differ, with repeated spans left out."""
    if isinstance(truth, Document) and isinstance(guess, Document) and truth.id != guess.id:
        raise ValueError(
            f"{truth_name} is the document {truth.id!r}, but {guess_name} is {guess.id!r}. Put "
            "the documents of both sides into the same order."
        )
    sides = []
    for side, name in ((truth, truth_name), (guess, guess_name)):
        spans, entities = _side(side, name)
        if spans is None:
            raise ValueError(
                f"{name} has entities without spans, so that its mentions cannot be told from "
                "others. Pass documents, or pairs (spans, entities); if both sides have the same "
                "mentions in the same order, say same_mentions=True."
            )
        sides.append((spans, entities))
    (spans, true), (others, pred) = sides
    if isinstance(truth, Document) and isinstance(guess, Document):
        spans, others = comparable(truth, guess)
    first, other_first = _first_of_each(spans), _first_of_each(others)
    found = matched_places(spans[first], others[other_first], match)
    return true[first], pred[other_first], found


def _side(side: Any, name: str, n: int | None = None) -> tuple[Array | None, Array]:
    """Return the spans of one side, None if it has none, and its entities as numbers."""
    if isinstance(side, Document):
        if side.entities is None and len(side):
            raise ValueError(f"{name}, document {side.id!r}, has no entities.")
        return side.mentions, check_entities(
            () if side.entities is None else side.entities, len(side) if n is None else n, name
        )
    if isinstance(side, tuple) and len(side) == 2 and np.ndim(side[1]) == 1:
        spans = span_array(side[0], f"{name}[0]")
        entities = check_entities(side[1], len(spans), f"{name}[1]")
        return spans, check_entities(entities, len(spans) if n is None else n, name)
    return None, check_entities(side, n, name)


def _first_of_each(spans: Array) -> Array:
    """Return where each distinct span stands first, in order."""
    return np.sort(np.unique(spans[:, :2], axis=0, return_index=True)[1])


def scored(documents: Iterable[Compared], *, singletons: bool = True) -> CoreferenceScores:
    """Return the scores of true and predicted entities, given as numbers."""
    total = np.zeros((len(_SUMMED), 4))
    links = np.zeros((2, 3))
    for compared in documents:
        sums, of_links = _sums(*(compared if singletons else _without_singletons(*compared)))
        total += sums
        links += of_links
    found = {name: _ratio(*row) for name, row in zip(_SUMMED, total, strict=True)}
    return CoreferenceScores(**found, blanc=_blanc(links))


def _ratio(right_p: float, of_p: float, right_r: float, of_r: float) -> PrecisionRecall:
    precision = right_p / of_p if of_p else 0.0
    recall = right_r / of_r if of_r else 0.0
    return PrecisionRecall(float(precision), float(recall))


def _blanc(links: Array) -> BlancScore:
    """Return BLANC from right, predicted and true links within and between entities."""
    kinds = [_ratio(right, of_p, right, of_r) for right, of_p, of_r in links]
    # A kind that the truth does not have says nothing, unless it has neither.
    kept = [kind for kind, (_, _, of_r) in zip(kinds, links, strict=True) if of_r] or kinds
    return BlancScore(
        *(float(np.mean([getattr(k, name) for k in kept])) for name in BlancScore._fields)
    )


def _without_singletons(true: Array, pred: Array, found: Array) -> Compared:
    """Return both sides without entities of one mention."""
    keep_t, keep_p = (np.bincount(ids)[ids] > 1 if len(ids) else ids > 0 for ids in (true, pred))
    number = np.append(np.where(keep_t, np.cumsum(keep_t) - 1, -1), -1)
    return true[keep_t], pred[keep_p], number[found[keep_p]]


def _pairs(counts: Array) -> float:
    """Return how many pairs there are in groups of these sizes."""
    return float((counts * (counts - 1.0) / 2.0).sum())


def _sums(true: Array, pred: Array, found: Array) -> tuple[Array, Array]:
    """Return numerators and denominators: one row per score, and those of BLANC.

    A row of scores holds them for precision and then for recall. BLANC has a row
    for links within entities and one for links between them: right, predicted and
    true ones.
    """
    true, pred = (np.unique(ids, return_inverse=True)[1] for ids in (true, pred))
    n_t, n_p = len(true), len(pred)
    size_t, size_p = np.bincount(true), np.bincount(pred)
    shared = np.flatnonzero(found >= 0)
    n = len(shared)
    base = max(len(size_p), 1)
    both, count = np.unique(true[found[shared]] * base + pred[shared], return_counts=True)
    t, p = both // base, both % base
    in_t, in_p = np.bincount(t, count), np.bincount(p, count)
    pairs = _pairs(count)
    # MUC: an entity of size s that falls into k parts has s - k of its s - 1 links. A mention
    # that the other side lacks is a part of its own.
    kept = float(n - len(both))
    of_mentions = _matched(t, p, count.astype(float))
    of_entities = _matched(t, p, 2.0 * count / (size_t[t] + size_p[p]))
    # LEA: the one link of a single mention is that to itself.
    alone = (size_t[t] == 1) & (size_p[p] == 1)
    links = count * (count - 1.0) / 2.0
    lea_p, lea_t = (
        float((size[of] * links / np.maximum(size[of] * (size[of] - 1.0) / 2.0, 1.0)).sum())
        + np.count_nonzero(alone)
        for size, of in ((size_p, p), (size_t, t))
    )
    scores = np.array(
        [
            [n, n_p, n, n_t],
            [pairs, _pairs(size_p), pairs, _pairs(size_t)],
            [kept, n_p - len(size_p), kept, n_t - len(size_t)],
            [(count**2 / size_p[p]).sum(), n_p, (count**2 / size_t[t]).sum(), n_t],
            [of_mentions, n_p, of_mentions, n_t],
            [of_entities, len(size_p), of_entities, len(size_t)],
            [lea_p, n_p, lea_t, n_t],
        ],
        dtype=float,
    )
    # Pairs of shared mentions that neither side puts into one entity.
    apart = n * (n - 1) / 2 - _pairs(in_t) - _pairs(in_p) + pairs
    within = _pairs(size_p), _pairs(size_t)
    every = n_p * (n_p - 1) / 2, n_t * (n_t - 1) / 2
    return scores, np.array([[pairs, *within], [apart, every[0] - within[0], every[1] - within[1]]])


def _matched(t: Array, p: Array, similarity: Array) -> float:
    """Return the greatest total similarity of a one-to-one match of entities.

    Entities that share no mention, even through others, cannot compete, so
    that each connected part is matched on its own.
    """
    if len(t) == 0:
        return 0.0
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
