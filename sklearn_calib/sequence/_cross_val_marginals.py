"""Marginals of sentences that the tagger has not been trained on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from sklearn_calib._results import Columns, Result
from sklearn_calib._validation import Array, check_option
from sklearn_calib._validation_sequences import (
    check_partition,
    check_tag_pairs,
    check_tagged_sentences,
    flatten,
)
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._tags import UNITS, TagQuestions
from sklearn_calib.sequence._packing import starts_of
from sklearn_calib.sequence._tagger import Pairs, frequent_pairs

__all__ = ["CrossValMarginals", "cross_val_marginals"]


@dataclass(frozen=True, eq=False, repr=False)
class CrossValMarginals(Result):
    """Marginals from cross-validation, in the order of the sentences.

    Attributes
    ----------
    y_prob : ndarray of shape (n_tokens, n_tags) or (n_tokens - n_sentences, n_pairs)
        As `predict_proba` of a tagger returns them. A tag that a training fold
        lacks has probability 0 in its test fold.
    classes : ndarray of str of shape (n_tags,)
        All tags, sorted.
    unit : str
        "tag" or "pair".
    pairs : list of (str, str) or None
        For pairs: the pair of each column.
    y : list of lists of str
        The true tags.

    See Also
    --------
    cross_val_marginals : Makes this object.
    """

    y_prob: Array
    classes: Array
    unit: str
    pairs: list[tuple[str, str]] | None
    y: list[Sequence[str]]

    _shows_table = False

    def _sentence(self) -> str:
        asked = "tags" if self.pairs is None else "pairs of tags"
        return (
            f"Cross-validated marginals of {self.y_prob.shape[1]:,} {asked}: "
            f"{sum(map(len, self.y)):,} tokens in {len(self.y):,} sentences"
        )

    def _columns(self) -> Columns:
        """Return one row per token or pair: its sentence, the truth, and the marginals."""
        names: list[str]
        if self.pairs is None:
            true, names = flatten(self.y), self.classes.tolist()
        else:
            true = [" ".join(pair) for tags in self.y for pair in pairwise(tags)]
            names = [" ".join(pair) for pair in self.pairs]
        rows = [len(tags) - (self.pairs is not None) for tags in self.y]
        marginals = zip(names, self.y_prob.T, strict=True)
        return {
            "sentence": np.repeat(np.arange(len(rows)), rows),
            "y_true": true,
            **{f"P({name})": column for name, column in marginals},
        }

    def queries(self, *, average: str = "micro", sample_weight: ArrayLike | None = None) -> Queries:
        """Return the queries behind the marginals.

        Parameters
        ----------
        average : {"micro", "macro", "top_label"}, default="micro"
            As in `tag_queries`.
        sample_weight : array-like of shape (n_sentences,), default=None
            Weights of the sentences.

        Returns
        -------
        Queries
            The label of a query is its tag or pair, its group the sentence.
        """
        # Put together from marginals of taggers, for tags that were checked.
        questions = TagQuestions(
            self.y_prob,
            np.array([len(tags) for tags in self.y], dtype=np.intp),
            classes=self.classes,
            pairs=self.pairs,
            average=average,
            sample_weight=sample_weight,
        )
        return questions._answered(self.y)


def cross_val_marginals(
    tagger: Any,
    X: Iterable[Sequence[Any]],
    y: Iterable[Sequence[str]],
    *,
    cv: Any = None,
    unit: str = "tag",
    pairs: Pairs | None = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> CrossValMarginals:
    """Marginals of every sentence, by a tagger trained without it.

    What `cross_val_predict` is for classifiers. That function cannot serve
    taggers, whose `predict_proba` has one row per token and not one per sentence.

    Parameters
    ----------
    tagger : estimator
        `HMMTagger`, `CRFTagger`, or another with their `predict_proba`.
    X : list of sentences
        The tokens of each sentence.
    y : list of lists of str
        Their tags.
    cv : int, cross-validation generator or iterable, default=None
        As in scikit-learn; by default five folds of whole sentences. Each
        sentence must be in exactly one test fold.
    unit : {"tag", "pair"}, default="tag"
        Marginals of single tags, or of the tags of two neighbours.
    pairs : int or list of (str, str), default=None
        For `unit="pair"`: so many of the most frequent pairs of `y`, or the
        pairs named; by default all pairs of `y`.
    groups : array-like of shape (n_sentences,), default=None
        For splitters such as `GroupKFold`: the document of each sentence.
    n_jobs : int, default=None
        Number of folds to run at the same time.
    verbose : int, default=0
        Show progress, as in scikit-learn.

    Returns
    -------
    CrossValMarginals
        The marginals, and a method that makes queries from them.

    See Also
    --------
    tag_queries : Turn marginals into queries.
    sklearn_calib.queries.cross_val_scan : The same for more sentences than memory holds.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_tagged_sequences
    >>> from sklearn_calib.sequence import HMMTagger, cross_val_marginals
    >>> data = make_tagged_sequences(50, random_state=0)
    >>> result = cross_val_marginals(HMMTagger(), data.X, data.y, cv=5)
    >>> result
    Cross-validated marginals of 5 tags: 503 tokens in 50 sentences
    >>> result.y_prob.shape == (sum(len(tags) for tags in data.y), 5)
    True
    >>> result.queries().labels
    array(['A', 'B', 'C', 'D', 'E'], dtype='<U1')
    """
    if callable(X):
        raise TypeError(
            "X must be a list of sentences. For a function that returns a new stream of them each "
            "time, sklearn_calib.queries.cross_val_scan asks about a batch at a time."
        )
    check_option(unit, "unit", UNITS)
    if unit == "tag" and pairs is not None:
        raise ValueError(f"pairs={pairs!r} is set, but unit='tag'; set unit='pair' as well.")
    sentences, tags = check_tagged_sentences(X, y)
    classes = np.unique(flatten(tags))
    chosen = check_tag_pairs(pairs, frequent_pairs(tags), classes) if unit == "pair" else None
    if chosen is not None and not chosen:
        raise ValueError("Every sentence has a single token, so that there are no pairs of tags.")
    columns: list[Any] = classes.tolist() if chosen is None else chosen
    # Splitters see one entry per sentence; the tags of a sentence are no class to stratify by.
    folds = list(check_cv(cv).split(np.zeros((len(sentences), 1)), None, groups))
    check_partition(folds, len(sentences))
    parts = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_fold)(clone(tagger), sentences, tags, train, test, columns, chosen is not None)
        for train, test in folds
    )
    # A sentence has one pair fewer than tokens.
    rows = np.array([len(row) for row in tags], dtype=np.intp) - (chosen is not None)
    starts = starts_of(rows)
    proba = np.empty((rows.sum(), len(columns)))
    for (_, test), part in zip(folds, parts, strict=True):
        where = [np.arange(starts[i], starts[i] + rows[i]) for i in test]
        proba[np.concatenate(where)] = part
    return CrossValMarginals(proba, classes, unit, chosen, tags)


def _fold(
    tagger: Any,
    X: list[Any],
    y: list[Any],
    train: Iterable[int],
    test: Iterable[int],
    columns: list[Any],
    pairs: bool,
) -> Array:
    """Return the marginals of one test fold, with a column for everything that is asked about."""
    tagger.fit([X[i] for i in train], [y[i] for i in train])
    # A search passes on what it found.
    tagger = getattr(tagger, "best_estimator_", tagger)
    held_out = [X[i] for i in test]
    known = {tag: j for j, tag in enumerate(np.asarray(tagger.classes_).tolist())}
    proba = np.zeros((sum(len(y[i]) - pairs for i in test), len(columns)))
    if pairs:
        met = [j for j, pair in enumerate(columns) if known.keys() >= set(pair)]
        if met and len(proba):
            chosen = [columns[j] for j in met]
            proba[:, met] = tagger.predict_proba(held_out, unit="pair", pairs=chosen)
    elif len(held_out):
        met = [j for j, tag in enumerate(columns) if tag in known]
        part = tagger.predict_proba(held_out)
        proba[:, met] = part[:, [known[columns[j]] for j in met]]
    return proba
