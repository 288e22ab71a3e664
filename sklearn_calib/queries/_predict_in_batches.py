"""Predictions for a stream of samples, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from sklearn_calib._validation import check_generator, check_integer
from sklearn_calib.queries._estimator_scan import about_samples

__all__ = ["predict_in_batches"]


def predict_in_batches(
    estimator: Any,
    X: Iterable[Any],
    *,
    method: str = "predict_proba",
    batch_size: int = 1000,
    **options: Any,
) -> Iterator[Any]:
    """Predict for a stream of samples, and yield what is predicted for each.

    A method of a model takes all samples at once, and returns what it predicts
    for all of them. Where neither fits into memory, this reads samples as they
    are asked for, and holds a batch at a time.

    Parameters
    ----------
    estimator : estimator
        A fitted tagger, coreference model or classifier, recalibrated or not.
    X : iterable
        Sentences, documents or rows: a generator will do.
    method : str, default="predict_proba"
        Which method of the model to call: another is "predict", and taggers
        have "predict_spans", "predict_k_best", "log_potentials" and "sample".
    batch_size : int, default=1000
        Samples that the model is asked about at a time.
    **options
        What the method takes, such as ``unit="pair"``.

    Returns
    -------
    iterator
        For each sample, in order, its part of what the method returns. The
        flat probabilities of a tagger come as an array for each sentence, with
        a row per token or pair; a coreference model's as a matrix for each
        document.

    See Also
    --------
    scan_estimator : The calibration of these predictions.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_tagged_sequences
    >>> from sklearn_calib.queries import predict_in_batches
    >>> from sklearn_calib.sequence import HMMTagger
    >>> data = make_tagged_sequences(60, random_state=0)
    >>> tagger = HMMTagger().fit(data.X, data.y)
    >>> stream = (sentence for sentence in data.X)  # never in memory as a whole
    >>> found = predict_in_batches(tagger, stream, batch_size=25)
    >>> next(found).shape == (len(data.X[0]), len(tagger.classes_))
    True
    """
    size = check_integer(batch_size, "batch_size")
    if not isinstance(X, Iterable) or isinstance(X, (str, bytes)):
        raise TypeError(f"X must be an iterable over samples, got {type(X).__name__}.")
    if not callable(getattr(estimator, method, None)):
        raise TypeError(f"{type(estimator).__name__} has no method {method!r}.")
    if "random_state" in options:
        # One generator for all batches, or every batch would be drawn alike.
        options["random_state"] = check_generator(options["random_state"])
    # What is wrong with the arguments is said now, and not when the first result is asked for.
    return _predictions(estimator, iter(X), method, size, options)


def _predictions(
    estimator: Any, samples: Iterator[Any], method: str, size: int, options: dict[str, Any]
) -> Iterator[Any]:
    first = 0
    while batch := list(islice(samples, size)):
        with about_samples(first, len(batch)):
            found = getattr(estimator, method)(batch, **options)
        first += len(batch)
        if isinstance(found, np.ndarray) and not is_classifier(estimator):
            # One row per token or pair of neighbours, sentences end to end.
            less = int(options.get("unit", "tag") == "pair")
            ends = np.cumsum([len(sentence) - less for sentence in batch])
            found = np.split(found, ends[:-1])
        yield from found
