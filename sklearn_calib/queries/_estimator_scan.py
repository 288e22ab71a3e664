"""Queries of a fitted model over more samples than memory holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from sklearn_calib._validation import check_integer
from sklearn_calib.queries._estimator import estimator_queries
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan, scan_queries

__all__ = ["scan_estimator"]


def scan_estimator(
    estimator: Any,
    samples: Callable[[], Iterable[tuple[Any, Any]]],
    *,
    batch_size: int = 1000,
    **query_options: Any,
) -> QueryScan:
    """Ask a fitted model about a stream of samples, a batch at a time.

    Each pass over the scan asks the model again, so that neither the samples
    nor their queries are ever all in memory: a billion tag queries are twenty
    million tokens.

    Parameters
    ----------
    estimator : estimator
        A fitted tagger, coreference model or classifier.
    samples : callable
        A function without arguments that returns a new iterator over pairs
        (x, y) each time: a sentence and its tags, a document and its entities.
    batch_size : int, default=1000
        Samples that the model is asked about at a time.
    **query_options
        What `calibration_queries` of the model takes, such as ``unit="pair"``.

    Returns
    -------
    QueryScan
        The queries; where the model groups them, every sample is a group.

    See Also
    --------
    scan_queries : The same for predictions in files.
    estimator_queries : The same in memory.

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
    if not callable(samples):
        raise TypeError(
            "samples must be a function that returns a new iterator over pairs (x, y), because "
            f"they are read several times; got {type(samples).__name__}."
        )

    def chunks() -> Iterator[Queries]:
        first = 0
        pairs = iter(samples())
        while batch := list(islice(pairs, size)):
            X, y = ([pair[side] for pair in batch] for side in (0, 1))
            queries = estimator_queries(estimator, X, y, **query_options)
            codes = queries._group_codes
            if codes is not None:
                # Sample 3 of one batch and sample 3 of another are two groups.
                queries = queries._grouped(codes + first)
                first += queries.n_groups
            yield queries

    return scan_queries(chunks)
