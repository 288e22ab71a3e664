"""Queries of a fitted model over more samples than memory holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from sklearn_calib._validation import check_integer
from sklearn_calib.queries._estimator import estimator_queries
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan, scan_queries

__all__ = ["scan_estimator"]

# A sample and the truth about it: a sentence and its tags, a document and its entities.
Samples = Callable[[], Iterable[tuple[Any, Any]]]

# The first batch is small; the next ones have as many samples as make about so many queries.
_FIRST_BATCH, _QUERIES = 32, 1_000_000


def scan_estimator(
    estimator: Any,
    samples: Samples,
    *,
    batch_size: int = 1000,
    show_progress: bool | None = None,
    **query_options: Any,
) -> QueryScan:
    """Ask a fitted model about a stream of samples, a batch at a time.

    Each pass over the scan asks the model again, so that neither the samples
    nor their queries are ever all in memory: a billion tag queries are twenty
    million tokens.

    Parameters
    ----------
    estimator : estimator
        A fitted tagger, coreference model or classifier, recalibrated or not.
    samples : callable
        A function without arguments that returns a new iterator over pairs
        (x, y) each time: a sentence and its tags, a document and its entities.
    batch_size : int, default=1000
        Samples that the model is asked about at a time, at most; fewer where
        they make more than about a million queries.
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
    scan_queries : The same for predictions in files.
    cross_val_scan : The same with a model for each fold, that was trained without it.
    predict_in_batches : The predictions themselves.
    estimator_queries : The same in memory.

    Notes
    -----
    Queries are those in memory. A label that the model never met is asked about
    for every token or row, with probability 0; so labels are looked through
    once before the first pass.

    Examples
    --------
    >>> from sklearn_calib import adaptive_bin_calibration_error, estimator_queries
    >>> from sklearn_calib.datasets import make_tagged_sequences
    >>> from sklearn_calib.queries import scan_estimator
    >>> from sklearn_calib.sequence import HMMTagger
    >>> data = make_tagged_sequences(60, random_state=0)
    >>> tagger = HMMTagger().fit(data.X, data.y)
    >>> scan = scan_estimator(tagger, lambda: zip(data.X, data.y), batch_size=25)
    >>> bool(len(scan.collect()) == len(estimator_queries(tagger, data.X, data.y)))
    True
    """
    size = check_integer(batch_size, "batch_size")
    check_samples(samples)
    labels: set[Any] | None = None

    def chunks() -> Iterator[Queries]:
        nonlocal labels
        if labels is None:
            labels = labels_of(samples) if asks_about_labels(estimator, query_options) else set()
        return asked_in_batches(
            iter(samples()), lambda X, y, _: ask(estimator, X, y, query_options, labels), size
        )

    return scan_queries(chunks, show_progress=show_progress)


def check_samples(samples: Any) -> None:
    """Refuse samples that could be read only once."""
    if not callable(samples):
        raise TypeError(
            "samples must be a function that returns a new iterator over pairs (x, y), because "
            f"they are read several times; got {type(samples).__name__}."
        )


@contextmanager
def about_samples(first: int, n: int) -> Iterator[None]:
    """Add to what is wrong with a batch which samples of the stream it is about."""
    try:
        yield
    except (TypeError, ValueError) as error:
        error.add_note(
            f"This is about samples {first:,} to {first + n - 1:,} of the stream, counted from 0."
        )
        raise


def asked_in_batches(
    samples: Iterator[tuple[Any, Any]],
    ask_about: Callable[[list[Any], list[Any], int], Queries],
    most: int,
) -> Iterator[Queries]:
    """Yield the queries of samples, a batch at a time; every sample is a group of its own.

    `ask_about` takes samples, their truth, and the number of the first of them.
    """
    size, first, first_group = min(most, _FIRST_BATCH), 0, 0
    while batch := list(islice(samples, size)):
        X, y = ([pair[side] for pair in batch] for side in (0, 1))
        with about_samples(first, len(batch)):
            queries = ask_about(X, y, first)
        first += len(batch)
        # The size depends on nothing but the samples: every pass makes the same batches.
        size = min(max(len(batch) * _QUERIES // max(len(queries), 1), 1), most)
        codes = queries._group_codes
        if codes is not None:
            # Sample 3 of one batch and sample 3 of another are two groups.
            queries = queries._grouped(codes + first_group)
            first_group += int(codes.max(initial=-1)) + 1
        yield queries


def asks_about_labels(estimator: Any, options: dict[str, Any]) -> bool:
    """Tell whether a model is asked about each of its labels, and so about some it never met."""
    return (
        hasattr(estimator, "classes_")
        and options.get("unit", "tag") == "tag"
        and options.get("average", "micro") != "top_label"
    )


def labels_of(samples: Samples) -> set[Any]:
    """Return all labels of samples, in one pass."""
    labels: set[Any] = set()
    for _, y in samples():
        labels.update(_labels(y))
    return labels


def _labels(y: Any) -> Sequence[Any]:
    """Return the labels of one sample: the tags of a sentence, or one class."""
    if isinstance(y, str) or np.ndim(y) == 0:
        return [y.item() if isinstance(y, np.generic) else y]
    return y.tolist() if isinstance(y, np.ndarray) else y


def ask(
    estimator: Any, X: list[Any], y: list[Any], options: dict[str, Any], labels: set[Any]
) -> Queries:
    """Return the queries of a batch, about the same labels as in all others."""
    unmet = labels.difference(np.asarray(estimator.classes_).tolist()) if labels else set()
    if not unmet:
        return estimator_queries(estimator, X, y, **options)
    # Samples with these labels are asked about as well, and then left out: they make the model
    # take notice of labels that this batch may lack.
    names, one = sorted(unmet), y[0]
    if isinstance(one, str) or np.ndim(one) == 0:
        more, truth = [X[0]] * len(names), names
    else:
        more, truth = [[X[0][0]] * len(names)], [names]
    queries = estimator_queries(estimator, [*X, *more], [*y, *truth], **options)
    codes = queries._group_codes
    assert codes is not None  # there are three labels at least
    kept = np.flatnonzero(codes < len(X))
    return queries._take(kept)
