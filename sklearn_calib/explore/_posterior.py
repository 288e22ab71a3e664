"""CountPosterior: how often something happened in each period, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from sklearn_calib._results import ConfidenceInterval, format_table, read_only, to_frame
from sklearn_calib._validation import (
    Array,
    check_confidence_level,
    check_integer,
    check_option,
)
from sklearn_calib.explore._difference import CountDifference, difference
from sklearn_calib.explore._intervals import METHODS, check_enough, count_interval
from sklearn_calib.explore._periods import PERIODS, end_of, label_of
from sklearn_calib.explore._pool import choose_keys, pool
from sklearn_calib.explore._uncertain import SkippedDocument, UncertainDocument, most_uncertain

__all__ = ["CountPosterior"]


@dataclass(frozen=True, eq=False, repr=False)
class CountPosterior:
    """Counts by period and key, with their posterior uncertainty.

    Documents are independent given the model, so that the count of a period is
    a sum of independent variables. Their distributions are those of the
    samples. For documents that count once, the sum is Poisson-binomial.

    Attributes
    ----------
    keys : tuple
        What was counted, such as countries.
    periods : ndarray of datetime64 or object
        First day of each period, without gaps; for other periods their names.
    period : str, callable or None
        As given to `count_documents`. A function is not pickled along.
    documents : tuple of str
        The documents that were counted.
    document_period : ndarray of int of shape (n_documents,)
        The place of each document's period.
    document_weight : ndarray of float of shape (n_documents,)
        The weight of each document.
    hit_document, hit_key : ndarray of int of shape (n_hits,)
        Which document has which key in some sample, or in the best structure.
    hit_counts : ndarray of int of shape (n_hits, n_samples)
        How often, sample by sample.
    hit_best : ndarray of int of shape (n_hits,) or None
        How often in the single best structure.
    hit_mentions : tuple of tuple of str
        Mentions that show why.
    n_samples : int
        Samples of each document.
    skipped : tuple of SkippedDocument
        Documents that were left out on request.

    See Also
    --------
    count_documents : Makes this object.
    CountDisplay : Draws it.

    Notes
    -----
    What is uncertain here is what the model says about the documents. What the
    model gets wrong with confidence, and documents that are missing, are not
    part of the interval.
    """

    keys: tuple[Any, ...]
    periods: Array
    period: Any
    documents: tuple[str, ...]
    document_period: Array
    document_weight: Array
    hit_document: Array
    hit_key: Array
    hit_counts: Array
    hit_best: Array | None
    hit_mentions: tuple[tuple[str, ...], ...]
    n_samples: int
    skipped: tuple[SkippedDocument, ...] = ()

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))

    def __getstate__(self) -> dict[str, Any]:
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**state, "period": None if callable(self.period) else self.period}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    # --- the numbers

    @property
    def period_labels(self) -> list[str]:
        """Names of the periods, such as 2003-Q1."""
        return [label_of(value, self.period) for value in self.periods]

    @cached_property
    def n_documents(self) -> Array:
        """Number of documents in each period."""
        return read_only(np.bincount(self.document_period, minlength=len(self.periods)))

    @cached_property
    def _cell(self) -> Array:
        return self.document_period[self.hit_document] * len(self.keys) + self.hit_key

    def _table(self, values: Array) -> Array:
        """Return sums of values of hits, by period and key."""
        shape = (len(self.periods), len(self.keys))
        total = np.bincount(self._cell, values, minlength=shape[0] * shape[1])
        return read_only(total.reshape(shape))

    @cached_property
    def _weight(self) -> Array:
        return self.document_weight[self.hit_document]

    @cached_property
    def mean(self) -> Array:
        """Posterior mean of the counts, of shape (n_periods, n_keys)."""
        return self._table(self._weight * self.hit_counts.mean(axis=1))

    @cached_property
    def standard_deviation(self) -> Array:
        """Posterior standard deviation of the counts, of shape (n_periods, n_keys)."""
        if self.n_samples == 1:
            return read_only(np.full((len(self.periods), len(self.keys)), np.nan))
        variance = self.hit_counts.var(axis=1, ddof=1)
        return read_only(np.sqrt(self._table(np.square(self._weight) * variance)))

    @property
    def standard_error(self) -> Array:
        """How far the mean may be off because the samples are few, as a standard error."""
        return self.standard_deviation / np.sqrt(self.n_samples)

    @property
    def best(self) -> Array | None:
        """Counts of the single best structure, of shape (n_periods, n_keys), or None."""
        return None if self.hit_best is None else self._table(self._weight * self.hit_best)

    @cached_property
    def samples(self) -> Array:
        """Sampled counts, of shape (n_samples, n_periods, n_keys)."""
        tables = [self._sampled(i).T for i in range(len(self.keys))]
        shape = (self.n_samples, len(self.periods))
        return read_only(np.stack(tables, axis=-1) if tables else np.zeros((*shape, 0)))

    def _sampled(self, key: int) -> Array:
        """Return the sampled counts of one key, of shape (n_periods, n_samples)."""
        rows = np.flatnonzero(self.hit_key == key)
        table = np.zeros((len(self.periods), self.n_samples))
        weighted = self._weight[rows, np.newaxis] * self.hit_counts[rows]
        np.add.at(table, self.document_period[self.hit_document[rows]], weighted)
        return table

    def confidence_interval(
        self, confidence_level: float = 0.95, *, method: str = "auto"
    ) -> ConfidenceInterval:
        """Credible interval of each count.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Posterior probability of each interval on its own.
        method : {"auto", "exact", "normal", "quantile"}, default="auto"
            "exact" convolves the distributions of the documents. It needs
            weights that are small multiples of a common unit, such as whole
            numbers. "normal" is the paper's mean ± 1.96 standard deviations,
            which goes below 0 for small counts. "quantile" takes the quantiles
            of the sampled counts. "auto" is "exact", or "quantile" where weights
            forbid that.

        Returns
        -------
        ConfidenceInterval
            Arrays `low` and `high` of shape (n_periods, n_keys).

        Raises
        ------
        ValueError
            If there is only one sample of each document. With fewer than 20
            intervals are too narrow, and there is a warning.
        """
        level = check_confidence_level(confidence_level)
        check_option(method, "method", METHODS)
        check_enough(self.n_samples)
        return count_interval(self, level, method)

    # --- questions

    def probability(self, key: Any) -> Array:
        """Return the probability that each document has a key, in the order of `documents`."""
        at = self._key_index(key)
        found = np.zeros(len(self.documents))
        rows = self.hit_key == at
        found[self.hit_document[rows]] = (self.hit_counts[rows] > 0).mean(axis=1)
        return found

    def most_uncertain(self, k: int = 10, *, key: Any = None) -> list[UncertainDocument]:
        """Return the documents that are worth reading by hand.

        Parameters
        ----------
        k : int, default=10
            How many.
        key : object, default=None
            Only those that are uncertain about this key.

        Returns
        -------
        list of UncertainDocument
            Nearest to a coin toss first: those with the largest posterior
            variance. Documents that are certain are left out.
        """
        return most_uncertain(self, k, key)

    def difference(
        self,
        key: Any,
        other: Any = None,
        *,
        periods: Any = None,
        other_periods: Any = None,
        confidence_level: float = 0.95,
    ) -> CountDifference:
        """Compare two counts, and say whether the first exceeds the second.

        Parameters
        ----------
        key : object
            The first key.
        other : object, default=None
            The second key; the first by default.
        periods : str, date or list of such, default=None
            The periods of the first count, by name ("2003-Q1") or by a day that
            they hold; all by default.
        other_periods : str, date or list of such, default=None
            The periods of the second count; those of the first by default.
        confidence_level : float, default=0.95
            Level of the interval.

        Returns
        -------
        CountDifference
            The difference with its interval, and the probability that it is
            positive. Two keys of one document are not independent: they are
            compared sample by sample.
        """
        check_enough(self.n_samples)
        return difference(self, key, other, periods, other_periods, confidence_level)

    def most_common(self, k: int | None = None) -> tuple[Any, ...]:
        """Return the k keys with the largest mean over all periods, largest first."""
        order = np.argsort(-self.mean.sum(axis=0), kind="stable")
        return tuple(self.keys[i] for i in order[: None if k is None else check_integer(k, "k")])

    def select(self, keys: Iterable[Any]) -> CountPosterior:
        """Return the same with these keys alone, in this order."""
        if isinstance(keys, str):
            raise TypeError(f"keys must be a list of keys, such as [{keys!r}].")
        names = list(keys)
        place = np.full(len(self.keys), -1)
        for at, key in enumerate(names):
            place[self._key_index(key)] = at
        if len(set(names)) < len(names):
            raise ValueError(f"A key is named twice: {names}.")
        return choose_keys(self, tuple(names), place)

    def total(self) -> CountPosterior:
        """Return the counts of all periods together."""
        whole = np.array(["all"], dtype=object)
        place = np.zeros_like(self.document_period)
        return replace(self, period=None, periods=whole, document_period=place)

    def middles(self) -> tuple[Array, str]:
        """Return the middle of each period to draw it at, or its name; and what a period is."""
        if not isinstance(self.period, str):
            return np.array(self.period_labels, dtype=object), "Period"
        half = (end_of(self.periods, self.period) - self.periods) // 2
        return self.periods + half, PERIODS[self.period].capitalize()

    def pool(
        self, groups: Mapping[Any, Iterable[Any]], *, how: str | None = None
    ) -> CountPosterior:
        """Count several keys as one.

        Keys of one document are not independent, so that their intervals must
        not simply be added. Here they are joined within each sample.

        Parameters
        ----------
        groups : mapping of key to iterable of keys
            The new keys, and the old ones that each stands for.
        how : {"any", "sum"}, default=None
            Count a document once if it has any of the keys, or add what it
            has. By default "any"; where a document may count more than once,
            as with `count_tags`, it must be said.

        Returns
        -------
        CountPosterior
            Counts by period and group.
        """
        return pool(self, groups, how)

    def _key_index(self, key: Any) -> int:
        try:
            return self.keys.index(key)
        except ValueError:
            some = ", ".join(map(repr, self.most_common(10)))
            known = f"the most common keys are {some}" if some else "the rule found nothing"
            raise ValueError(
                f"The key {key!r} was not counted; {known}. Name it in keys= when counting to have "
                "it as a series of zeros."
            ) from None

    # --- tables

    def _columns(self, confidence_level: float, method: str) -> dict[str, Any]:
        low = high = np.full(self.mean.shape, np.nan)
        if self.n_samples > 1:
            low, high = self.confidence_interval(confidence_level, method=method)
        n = len(self.keys)
        columns = {
            "period": np.repeat(np.array(self.period_labels, dtype=object), n).tolist(),
            "key": list(self.keys) * len(self.periods),
            "mean": self.mean.ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
        }
        if self.best is not None:
            columns["best"] = self.best.ravel()
        return {**columns, "n_documents": np.repeat(self.n_documents, n)}

    def to_frame(self, confidence_level: float = 0.95, *, method: str = "auto") -> Any:
        """Return a pandas DataFrame with a row for each period and key.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Level of the columns `low` and `high`.
        method : {"auto", "exact", "normal", "quantile"}, default="auto"
            As in `confidence_interval`.

        Returns
        -------
        DataFrame
            Columns period, key, mean, low, high, best (where there is one) and
            n_documents. Periods without documents have rows of zeros. With one
            sample of each document low and high are NaN.
        """
        return to_frame(self._columns(confidence_level, method))

    def __str__(self) -> str:
        if not self.keys:
            return f"The rule found nothing in {len(self.documents):,} documents."
        return format_table(self._columns(0.95, "auto"), most=40)

    def __repr__(self) -> str:
        return (
            f"<CountPosterior: {len(self.documents):,} documents, {len(self.periods):,} periods, "
            f"{len(self.keys):,} keys, {self.n_samples:,} samples>"
        )
