"""How many spans are there? The exact distribution, without samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sklearn_calib._results import Columns, ConfidenceInterval, Result, counted
from sklearn_calib._validation import Array, check_confidence_level
from sklearn_calib._validation_sequences import check_lattice, check_sentences, check_tag_names
from sklearn_calib.explore._poisson_binomial import Distribution, sum_of
from sklearn_calib.queries._span_schemes import read_scheme
from sklearn_calib.sequence._span_counts import span_count_distributions

__all__ = ["SpanCounts", "count_spans"]


@dataclass(frozen=True, eq=False, repr=False)
class SpanCounts(Result):
    """How many spans of each type some sentences have, with exact probabilities.

    Attributes
    ----------
    types : tuple of str
        The types of spans, such as "PER".
    sentence_distribution : ndarray of shape (n_sentences, n_types, n_counts)
        Probability that a sentence has exactly so many spans of a type: 0, 1, 2
        and so on.

    See Also
    --------
    count_spans : Makes this object.
    """

    types: tuple[str, ...]
    sentence_distribution: Array

    @cached_property
    def sentence_mean(self) -> Array:
        """Expected number of spans, of shape (n_sentences, n_types)."""
        return self.sentence_distribution @ np.arange(self.sentence_distribution.shape[2])

    @property
    def mean(self) -> Array:
        """Expected number of spans of each type in all sentences."""
        return self.sentence_mean.sum(axis=0)

    @property
    def standard_deviation(self) -> Array:
        """Standard deviation of the number of spans of each type in all sentences."""
        squares = np.square(np.arange(self.sentence_distribution.shape[2]))
        variance = self.sentence_distribution @ squares - np.square(self.sentence_mean)
        return np.sqrt(np.maximum(variance, 0.0).sum(axis=0))

    @cached_property
    def _totals(self) -> list[Distribution]:
        return [
            sum_of([Distribution(0, own) for own in self.sentence_distribution[:, kind]])
            for kind in range(len(self.types))
        ]

    def distribution(self, label: str) -> Array:
        """Return the probability of each number of spans of a type in all sentences.

        Parameters
        ----------
        label : str
            The type.

        Returns
        -------
        ndarray of shape (n_counts,)
            Probabilities of 0, 1, 2 and so on. The sentences are independent, so
            that their distributions are convolved; what is left out at either
            end has a probability below 1e-30.
        """
        if label not in self.types:
            raise ValueError(f"label={label!r} is not a type of span: {list(self.types)} are.")
        total = self._totals[self.types.index(label)]
        return np.concatenate([np.zeros(total.low), total.probability])

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Return equal-tailed intervals of the number of spans of each type.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Posterior probability of each interval on its own.

        Returns
        -------
        ConfidenceInterval
            Arrays `low` and `high` of shape (n_types,).
        """
        level = check_confidence_level(confidence_level)
        ends = np.array([total.interval(level) for total in self._totals]).reshape(-1, 2)
        return ConfidenceInterval(ends[:, 0], ends[:, 1])

    def _columns(self) -> Columns:
        low, high = self.confidence_interval()
        return {"label": list(self.types), "mean": self.mean, "low": low, "high": high}

    def _sentence(self) -> str:
        n = counted(len(self.sentence_distribution), "sentence")
        return f"{n}; the intervals have a level of 95%."


def count_spans(tagger: Any, X: Iterable[Sequence[Any]], *, scheme: str = "auto") -> SpanCounts:
    """Count spans, such as entities or chunks, with exact posterior probabilities.

    What `count_tags` with `rule="chunk"` estimates from samples, this function
    computes: the spans of a sentence exclude each other, and all of that is in
    the distribution of their number.

    Parameters
    ----------
    tagger : fitted tagger
        A linear chain: one of `sklearn_calib.sequence`, recalibrated or not, or
        another model with `classes_`, `log_potentials(X)` and
        `log_transitions_`.
    X : list of sentences
        As the tagger takes them.
    scheme : {"auto", "BIO", "BIOES", "BILOU", "IO"}, default="auto"
        How tags spell spans, as in `sklearn_calib.sequence.span_probabilities`.

    Returns
    -------
    SpanCounts
        Distribution, mean and interval for each type of span.

    See Also
    --------
    count_tags : Counts by period, from samples.
    sklearn_calib.sequence.span_probabilities : The probability of each span.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_chunked_sequences
    >>> from sklearn_calib.explore import count_spans
    >>> data = make_chunked_sequences(100, random_state=0)
    >>> count_spans(data.true_tagger(), data.X)
    label    mean  low  high
      LOC   75.06   68    82
      ORG  154.12  145   164
      PER   56.91   48    66
    100 sentences; the intervals have a level of 95%.
    """
    sentences = check_sentences(X)
    lengths = [len(sentence) for sentence in sentences]
    names = check_tag_names(tagger.classes_)
    tags = read_scheme(names.tolist(), scheme)
    potentials, transitions, length = check_lattice(
        tagger.log_potentials(sentences), tagger.log_transitions_, lengths
    )
    proba = span_count_distributions(potentials, transitions, length, tags)
    return SpanCounts(tuple(tags.types), proba)
