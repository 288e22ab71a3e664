"""Queries about a stream of samples, by models that were trained without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import check_cv

from sklearn_calib._validation import Array, RandomState, check_generator, check_integer
from sklearn_calib._validation_sequences import check_partition
from sklearn_calib.queries._estimator_scan import (
    Samples,
    ask,
    asked_in_batches,
    asks_about_labels,
    check_samples,
    labels_of,
)
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan, scan_queries

__all__ = ["cross_val_scan"]


def cross_val_scan(
    estimator: Any,
    samples: Samples,
    *,
    cv: Any = None,
    train_size: int | None = None,
    groups: ArrayLike | None = None,
    batch_size: int = 1000,
    random_state: RandomState = None,
    show_progress: bool | None = None,
    **query_options: Any,
) -> QueryScan:
    """Ask about every sample of a stream the model that was trained without it.

    What `cross_val_marginals` is in memory, for corpora that do not fit there,
    and for coreference models and classifiers as well. A model is trained for
    each fold, when this is called. Each pass over the scan then reads the
    samples in batches, and asks about each of them the model of its fold.

    Parameters
    ----------
    estimator : estimator
        A tagger, coreference model or classifier; it is cloned for each fold.
    samples : callable
        A function without arguments that returns a new iterator over pairs
        (x, y) each time: a sentence and its tags, a document and its entities.
    cv : int, cross-validation generator or iterable, default=None
        As in scikit-learn; by default five folds of whole samples. Each
        sample must be in exactly one test fold.
    train_size : int, default=None
        Train on so many samples of each training fold at most, drawn at random.
        By default on all of them, which must then fit into memory, as for any
        call of `fit`.
    groups : array-like of shape (n_samples,), default=None
        For splitters such as `GroupKFold`: the document of each sentence.
    batch_size : int, default=1000
        As in `scan_estimator`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draw of training samples.
    show_progress : bool, default=None
        As in `scan_queries`.
    **query_options
        What `calibration_queries` of the model takes, such as ``unit="pair"``.

    Returns
    -------
    QueryScan
        The queries; where the model groups them, every sample is a group.

    See Also
    --------
    scan_estimator : The same for a model that is fitted already.
    sklearn_calib.sequence.cross_val_marginals : Marginals of a tagger, in memory.

    Notes
    -----
    The samples are read once to be counted, and once for training. Besides
    training, memory holds a number for each sample.

    Examples
    --------
    >>> from sklearn_calib import adaptive_bin_calibration_error
    >>> from sklearn_calib.datasets import make_tagged_sequences
    >>> from sklearn_calib.queries import cross_val_scan
    >>> from sklearn_calib.sequence import HMMTagger, cross_val_marginals
    >>> data = make_tagged_sequences(60, random_state=0)
    >>> scan = cross_val_scan(HMMTagger(), lambda: zip(data.X, data.y), cv=3)
    >>> in_memory = cross_val_marginals(HMMTagger(), data.X, data.y, cv=3).queries()
    >>> round(adaptive_bin_calibration_error(scan) - adaptive_bin_calibration_error(in_memory), 9)
    0.0
    """
    size = check_integer(batch_size, "batch_size")
    check_samples(samples)
    n = sum(1 for _ in samples())
    if n == 0:
        raise ValueError("samples() yields no samples: at least one for each fold is needed.")
    folds = list(check_cv(cv).split(np.zeros((n, 1)), None, groups))
    check_partition(folds, n)
    if train_size is not None:
        most, rng = check_integer(train_size, "train_size"), check_generator(random_state)
        folds = [(_drawn(train, most, rng), test) for train, test in folds]
    fold_of = np.empty(n, dtype=np.int32)
    for number, (_, test) in enumerate(folds):
        fold_of[test] = number
    models = _trained(estimator, samples, [train for train, _ in folds])
    about_labels = asks_about_labels(models[0], query_options)
    labels: set[Any] = labels_of(samples) if about_labels else set()

    def ask_fold_by_fold(X: list[Any], y: list[Any], first: int) -> Queries:
        fold = fold_of[first : first + len(X)]
        if len(fold) < len(X):
            raise ValueError(
                f"samples() yields more than the {n:,} samples that it did before: it must return "
                "a new iterator over the same samples each time."
            )
        parts = []
        for number in np.unique(fold):
            rows = np.flatnonzero(fold == number)
            own_X, own_y = ([values[i] for i in rows] for values in (X, y))
            parts.append(ask(models[number], own_X, own_y, query_options, labels))
        return Queries.concat(parts)

    def chunks() -> Iterator[Queries]:
        return asked_in_batches(iter(samples()), ask_fold_by_fold, size)

    return scan_queries(chunks, show_progress=show_progress)


def _drawn(train: Array, most: int, rng: np.random.Generator) -> Array:
    if len(train) <= most:
        return train
    return np.sort(rng.choice(train, most, replace=False))


def _trained(estimator: Any, samples: Samples, trains: list[Array]) -> list[Any]:
    """Return a model for each fold; folds share the samples that are held meanwhile."""
    wanted = set(np.unique(np.concatenate(trains)).tolist())
    held = {i: sample for i, sample in enumerate(samples()) if i in wanted}
    models = []
    for train in trains:
        X, y = ([held[i][side] for i in train.tolist()] for side in (0, 1))
        models.append(clone(estimator).fit(X, y))
    return models
