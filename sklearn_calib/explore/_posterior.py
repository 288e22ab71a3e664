"""CountPosterior: how often something happened in each period, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from sklearn_calib._results import ConfidenceInterval, format_table, to_frame
from sklearn_calib._validation import (
    Array,
    check_confidence_level,
    check_integer,
    check_option,
)
from sklearn_calib.explore._difference import CountDifference, difference
from sklearn_calib.explore._periods import PERIODS, end_of, label_of
from sklearn_calib.explore._pool import choose_keys, pool
from sklearn_calib.explore._sums import Distribution, empirical, sum_of
from sklearn_calib.explore._uncertain import SkippedDocument, UncertainDocument, most_uncertain

__all__ = ["CountPosterior"]

METHODS = ("auto", "exact", "normal", "quantile")


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
        As given to `count_documents`.
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

    # --- the numbers

    @property
    def period_labels(self) -> list[str]:
        """Names of the periods, such as 2003-Q1."""
        return [label_of(value, self.period) for value in self.periods]

    @cached_property
    def n_documents(self) -> Array:
        """Number of documents in each period."""
        return np.bincount(self.document_period, minlength=len(self.periods))

    @cached_property
    def _cell(self) -> Array:
        return self.document_period[self.hit_document] * len(self.keys) + self.hit_key

    def _table(self, values: Array) -> Array:
        """Return sums of values of hits, by period and key."""
        shape = (len(self.periods), len(self.keys))
        total = np.bincount(self._cell, values, minlength=shape[0] * shape[1])
        return np.reshape(total, shape)

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
            return np.full((len(self.periods), len(self.keys)), np.nan)
        variance = self.hit_counts.var(axis=1, ddof=1)
        return np.sqrt(self._table(np.square(self._weight) * variance))

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
        return np.array(
            [self._table(self._weight * self.hit_counts[:, s]) for s in range(self.n_samples)]
        )

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
            weights that are equal within each period, or whole numbers. "normal"
            is the paper's mean ± 1.96 standard deviations, which goes below 0
            for small counts. "quantile" takes the quantiles of the sampled
            counts. "auto" is "exact", or "quantile" where weights forbid that.

        Returns
        -------
        ConfidenceInterval
            Arrays `low` and `high` of shape (n_periods, n_keys).
        """
        level = check_confidence_level(confidence_level)
        check_option(method, "method", METHODS)
        if method == "normal":
            if self.n_samples == 1:
                raise ValueError("method='normal' needs at least two samples of each document.")
            half = stats.norm.ppf((1.0 + level) / 2.0) * self.standard_deviation
            return ConfidenceInterval(self.mean - half, self.mean + half)
        if method == "auto":
            method = "exact" if all(unit is not None for unit in self._units) else "quantile"
        if method == "quantile":
            tail = (1.0 - level) / 2.0
            # Nearest of the sampled counts outwards, so that counts stay counts.
            low = np.quantile(self.samples, tail, axis=0, method="lower")
            high = np.quantile(self.samples, 1.0 - tail, axis=0, method="higher")
            return ConfidenceInterval(low, high)
        ends = np.zeros((2, len(self.periods) * len(self.keys)))
        for cell, rows in self._rows_by_cell():
            unit, total = self._distribution(cell, rows)
            ends[:, cell] = unit * np.array(total.interval(level))
        low, high = ends.reshape(2, len(self.periods), len(self.keys))
        return ConfidenceInterval(low, high)

    @cached_property
    def _units(self) -> list[float | None]:
        """Return the weight that counts of a period are multiples of, or None."""
        units: list[float | None] = [1.0] * len(self.periods)
        if len(self.document_weight) and np.ptp(self.document_weight) > 0.0:
            for i in range(len(units)):
                weight = np.unique(self.document_weight[self.document_period == i])
                weight = weight[weight > 0.0]
                if len(weight) == 1:
                    units[i] = float(weight[0])
                elif not (weight == np.round(weight)).all():
                    units[i] = None
        elif self.document_weight.any():
            units = [float(self.document_weight[0])] * len(units)
        return units

    def _rows_by_cell(self) -> Iterable[tuple[int, Array]]:
        """Yield the cells of the table that have hits, and their hits."""
        if len(self._cell) == 0:
            return
        order = np.argsort(self._cell, kind="stable")
        cells, start = np.unique(self._cell[order], return_index=True)
        yield from zip(cells.tolist(), np.split(order, start[1:]), strict=True)

    def _distribution(self, cell: int, rows: Array) -> tuple[float, Distribution]:
        """Return the exact distribution of one count, in multiples of a unit."""
        at = cell // len(self.keys)
        unit = self._units[at]
        if unit is None:
            raise ValueError(
                "method='exact' needs weights that are equal within a period, or whole numbers; "
                f"those of {self.period_labels[at]} are not. Use method='quantile' or 'normal'."
            )
        times = self._weight[rows] / unit
        counts = self.hit_counts[rows].astype(np.int64) * times[:, np.newaxis].astype(np.int64)
        return unit, sum_of([empirical(row) for row in counts])

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
        return difference(self, key, other, periods, other_periods, confidence_level)

    def most_common(self, k: int | None = None) -> tuple[Any, ...]:
        """Return the k keys with the largest mean over all periods, largest first."""
        order = np.argsort(-self.mean.sum(axis=0), kind="stable")
        return tuple(self.keys[i] for i in order[: None if k is None else check_integer(k, "k")])

    def select(self, keys: Iterable[Any]) -> CountPosterior:
        """Return the same with these keys alone, in this order."""
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

    def pool(self, groups: Mapping[Any, Iterable[Any]]) -> CountPosterior:
        """Count documents that have any of several keys.

        Keys of one document are not independent, so that their counts must not
        simply be added. Here a document counts once for each group.

        Parameters
        ----------
        groups : mapping of key to iterable of keys
            The new keys, and the old ones that each stands for.

        Returns
        -------
        CountPosterior
            Counts by period and group.
        """
        return pool(self, groups)

    def _key_index(self, key: Any) -> int:
        try:
            return self.keys.index(key)
        except ValueError:
            some = ", ".join(map(repr, self.most_common(10)))
            raise ValueError(
                f"The key {key!r} was not counted; the most common keys are {some}. Name it in "
                "keys= when counting to have it as a series of zeros."
            ) from None

    # --- tables

    def _columns(self, confidence_level: float, method: str) -> dict[str, Any]:
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
            n_documents. Periods without documents have rows of zeros.
        """
        return to_frame(self._columns(confidence_level, method))

    def __str__(self) -> str:
        return format_table(self._columns(0.95, "auto"), most=40)

    def __repr__(self) -> str:
        return (
            f"<CountPosterior: {len(self.documents):,} documents, {len(self.periods):,} periods, "
            f"{len(self.keys):,} keys, {self.n_samples:,} samples>"
        )
