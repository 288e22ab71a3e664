"""CountPosterior: how often something happened in each period, and how sure that is."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy import stats

from sklearn_calib._results import (
    ConfidenceInterval,
    PlottedResult,
    format_table,
    read_only,
    to_frame,
)
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_confidence_level,
    check_integer,
    check_option,
)
from sklearn_calib.explore._difference import CountDifference, drawn_difference, outer_quantiles
from sklearn_calib.explore._documents import SkippedDocument, UncertainDocument
from sklearn_calib.explore._hits import Hits, SampledHits, concatenated
from sklearn_calib.explore._keys import check_keys
from sklearn_calib.explore._periods import (
    PERIODS,
    Period,
    coarsened,
    end_of,
    label_of,
    longer_periods,
    places_of,
)
from sklearn_calib.explore._poisson_binomial import NoUnitError

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from pandas import DataFrame

    from sklearn_calib.coref._parse_texts import Parse
    from sklearn_calib.explore._corrected import CorrectedPosterior
    from sklearn_calib.explore._page_texts import Documents
    from sklearn_calib.explore._reading_plan import ReadingPlan
    from sklearn_calib.explore._rule_answers import EntityRule
    from sklearn_calib.queries import Queries

__all__ = ["CountPosterior"]

_METHODS = ("auto", "exact", "normal", "quantile")

# Intervals from fewer samples cover too little: 76 % with 2 samples, 92 % with 5, for 95 %.
_FEW = 20
# Rows of the table that a notebook shows, and of the table that is printed.
_SHOWN, _PRINTED = 10, 40


class HitNumbers(NamedTuple):
    """Mean, probability and standard deviation of each hit."""

    mean: Array
    probability: Array
    standard_deviation: Array


@dataclass(frozen=True, eq=False, repr=False)
class CountPosterior(PlottedResult):
    """Counts by period and key, with their posterior uncertainty given the model.

    Documents are independent given the model, so that the count of a period is
    a sum of independent variables. Their distributions are those of the
    samples, or follow from probabilities. For documents that count once, the
    sum is Poisson-binomial.

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
    hits : SampledHits or ExactHits
        How often: sample by sample, or as a probability.
    hit_best : ndarray of int of shape (n_hits,) or None
        How often in the single best structure.
    hit_mentions : tuple of tuple of str
        Mentions that show why.
    skipped : tuple of SkippedDocument
        Documents that were left out on request.
    titles : tuple of str
        What each document is called, or its first words; empty where that is
        not known.

    See Also
    --------
    count_documents, count_corpus, count_tags : Make this object.
    counts_from_probabilities : Makes it for any classifier.
    reading_plan : Which documents to read, so that `corrected` can say more.
    CountDisplay : Draws it; `plot` is a short way there.

    Notes
    -----
    All intervals are given the model. What is uncertain here is what the model
    says about the documents. What the model gets wrong with confidence, and
    documents that are missing, are not part of the interval, and such errors do
    not become smaller with more documents.

    As the last line of a notebook cell a posterior shows its counts by period
    where they are few, and otherwise the sums over all periods of the most
    common keys. `print` and `to_frame` show the periods.

    Examples
    --------
    >>> from sklearn_calib.explore import count_tags
    >>> sentences = [["fish", "swim"], ["they", "fish"]]
    >>> samples = [[["N", "V"]] * 20, [["P", "V"]] * 15 + [["P", "N"]] * 5]
    >>> count_tags(sentences, samples)
    period  key   mean  low  high  n_documents
       all    N  1.250    1     2            2
       all    P  1.000    1     1            2
       all    V  1.750    1     2            2
    2 documents; 20 samples of each.
    The intervals have a level of 95%, given the model.
    """

    keys: tuple[Hashable, ...]
    periods: Array
    period: Period
    documents: tuple[str, ...]
    document_period: Array
    document_weight: Array
    hit_document: Array
    hit_key: Array
    hits: Hits
    hit_best: Array | None
    hit_mentions: tuple[tuple[str, ...], ...]
    skipped: tuple[SkippedDocument, ...] = ()
    titles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))
        object.__setattr__(self, "_shows_table", bool(self.keys))

    def __getstate__(self) -> dict[str, Any]:
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**state, "period": None if callable(self.period) else self.period}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    # --- the numbers

    @property
    def n_samples(self) -> int | None:
        """Samples of each document; None where probabilities are known exactly."""
        return self.hits.n_samples

    @property
    def hit_counts(self) -> Array:
        """How often each hit is one, sample by sample, of shape (n_hits, n_samples)."""
        return self._sampled_hits.counts

    @property
    def _sampled_hits(self) -> SampledHits:
        if isinstance(self.hits, SampledHits):
            return self.hits
        raise ValueError(
            "These counts come from exact probabilities, so that there are no samples. Intervals "
            "and differences need none."
        )

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
        return self._table(self._weight * self.hits.mean)

    @cached_property
    def standard_deviation(self) -> Array:
        """Posterior standard deviation of the counts, of shape (n_periods, n_keys)."""
        if self.n_samples == 1:
            return self._unknown
        return read_only(np.sqrt(self._table(np.square(self._weight) * self.hits.variance)))

    @property
    def standard_error(self) -> Array:
        """How far the mean may be off because the samples are few, as a standard error."""
        if self.n_samples is None:
            return np.zeros_like(self.standard_deviation)
        return self.standard_deviation / np.sqrt(self.n_samples)

    @property
    def best(self) -> Array | None:
        """Counts of the single best structure, of shape (n_periods, n_keys), or None."""
        return None if self.hit_best is None else self._table(self._weight * self.hit_best)

    @cached_property
    def samples(self) -> Array:
        """Sampled counts, of shape (n_samples, n_periods, n_keys)."""
        tables = [self._sampled(i).T for i in range(len(self.keys))]
        shape = (self._sampled_hits.n_samples, len(self.periods))
        return read_only(np.stack(tables, axis=-1) if tables else np.zeros((*shape, 0)))

    def _sampled(self, key: int) -> Array:
        """Return the sampled counts of one key, of shape (n_periods, n_samples)."""
        hits = self._sampled_hits
        rows = np.flatnonzero(self.hit_key == key)
        table = np.zeros((len(self.periods), hits.n_samples))
        weighted = self._weight[rows, np.newaxis] * hits.counts[rows]
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
            forbid that. Counts from probabilities have no samples: "auto" then
            rounds the weights to a common unit, a 20,000th of what they add up to
            or less, and keeps the mean.

        Returns
        -------
        ConfidenceInterval
            Arrays `low` and `high` of shape (n_periods, n_keys).

        Raises
        ------
        ValueError
            If there is only one sample of each document. With fewer than 20
            intervals are too narrow, and there is a warning.

        Notes
        -----
        Counts of documents are whole, and so are the ends of "exact" and
        "quantile" intervals; a mean is not. Where nearly all probability is at
        one number, the mean may lie just outside: a single document of
        probability .01 has the mean .01 and the interval [0, 0], which holds the
        count with probability .99.
        """
        self._check_samples()
        return self._interval(confidence_level, method)

    def _check_samples(self) -> None:
        """Refuse an interval from one sample, and warn about few; called by public methods."""
        if self.n_samples == 1:
            raise ValueError(
                "An interval needs at least two samples of each document: one says nothing about "
                "how uncertain a count is. Draw 100."
            )
        if self.n_samples is not None and self.n_samples < _FEW:
            warnings.warn(
                f"Intervals from {self.n_samples} samples of each document are too narrow. Draw at "
                f"least {_FEW}, better 100.",
                UserWarning,
                stacklevel=3,
            )

    def _interval(self, confidence_level: float, method: str) -> ConfidenceInterval:
        level = check_confidence_level(confidence_level)
        check_option(method, "method", _METHODS)
        if method == "normal":
            half = stats.norm.ppf((1.0 + level) / 2.0) * self.standard_deviation
            return ConfidenceInterval(self.mean - half, self.mean + half)
        if method == "quantile":
            return self._quantile_interval(level)
        try:
            return self._exact_interval(level)
        except NoUnitError:
            if method == "exact":
                raise
        if self.n_samples is None:
            return self._exact_interval(level, rounded=True)
        return self._quantile_interval(level)

    def _quantile_interval(self, level: float) -> ConfidenceInterval:
        tables = [self._sampled(i) for i in range(len(self.keys))]
        ends = np.array([outer_quantiles(table, level) for table in tables])
        low, high = np.moveaxis(ends.reshape(-1, 2, len(self.periods)), 0, -1)
        return ConfidenceInterval(low, high)

    def _exact_interval(self, level: float, **rounding: bool) -> ConfidenceInterval:
        shape = (len(self.periods), len(self.keys))
        ends = np.zeros((2, shape[0] * shape[1]))
        for cell, rows in _rows_by_cell(self._cell):
            try:
                total = self.hits.sum(self._weight[rows], rows, **rounding)
            except NoUnitError as error:
                period, key = divmod(cell, shape[1])
                raise NoUnitError(
                    f"method='exact' needs weights that are small multiples of a common unit; "
                    f"those of {self.keys[key]!r} in {self.period_labels[period]} are not: {error} "
                    f"Use method={'auto' if self.n_samples is None else 'quantile'!r} or 'normal'."
                ) from None
            ends[:, cell] = total.interval(level)
        low, high = ends.reshape(2, *shape)
        return ConfidenceInterval(low, high)

    # --- questions

    def probability(self, key: Hashable) -> Array:
        """Return the probability that each document has a key, in the order of `documents`."""
        at = self._key_index(key)
        found = np.zeros(len(self.documents))
        rows = self.hit_key == at
        found[self.hit_document[rows]] = self._hit_numbers.probability[rows]
        return found

    @property
    def _hit_numbers(self) -> HitNumbers:
        """Mean, probability and standard deviation of each hit."""
        return HitNumbers(self.hits.mean, self.hits.probability, self.hits.spread)

    def most_uncertain(
        self, k: int = 10, *, key: Hashable | None = None
    ) -> list[UncertainDocument]:
        """Return the documents that the model is least sure of.

        They are not a random sample: what is found in them says nothing about
        the others. To correct counts, read what `reading_plan` draws.

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
        k = check_integer(k, "k")
        mean, probability, spread = self._hit_numbers
        rows = np.flatnonzero(spread > 0.0)
        if key is not None:
            rows = rows[self.hit_key[rows] == self._key_index(key)]
        labels = self.period_labels
        return [
            UncertainDocument(
                id=self.documents[self.hit_document[i]],
                key=self.keys[self.hit_key[i]],
                period=labels[self.document_period[self.hit_document[i]]],
                probability=float(probability[i]),
                mean=float(mean[i]),
                standard_deviation=float(spread[i]),
                mentions=self.hit_mentions[i],
            )
            for i in rows[np.argsort(-spread[rows], kind="stable")][:k]
        ]

    def difference(
        self,
        key: Hashable,
        other: Hashable | None = None,
        *,
        periods: Hashable | Iterable[Hashable] | None = None,
        other_periods: Hashable | Iterable[Hashable] | None = None,
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
        self._check_samples()
        level = check_confidence_level(confidence_level)
        if other is None and other_periods is None:
            raise ValueError(
                "Pass a second key (other) or second periods (other_periods) to compare."
            )
        first = self._hits(key, periods)
        second = self._hits(
            key if other is None else other, periods if other_periods is None else other_periods
        )
        # What each document adds to the difference.
        involved = np.concatenate([self.hit_document[first], self.hit_document[second]])
        documents, place = np.unique(involved, return_inverse=True)
        weight = self.document_weight[documents]
        mean = float(
            (self._weight[first] * self.hits.mean[first]).sum()
            - (self._weight[second] * self.hits.mean[second]).sum()
        )
        method = "exact"
        try:
            total = self.hits.difference(weight, first, second, place)
        except NoUnitError:
            if isinstance(self.hits, SampledHits):
                sampled = weight @ self.hits.changes(first, second, place)
                return drawn_difference(sampled, level, mean)
            total = self.hits.difference(weight, first, second, place, rounded=True)
            method = "rounded"
        larger, equal = total.sign()
        interval = ConfidenceInterval(*total.interval(level))
        return CountDifference(mean, interval, larger, equal, level, method)

    def _hits(self, key: Hashable, periods: Hashable | Iterable[Hashable] | None) -> Array:
        """Return the rows of the hits of a key in some periods, or in all."""
        rows = np.flatnonzero(self.hit_key == self._key_index(key))
        if periods is None:
            return rows
        places = places_of(periods, self.periods, self.period)
        return rows[np.isin(self.document_period[self.hit_document[rows]], places)]

    def most_common(self, k: int | None = None) -> tuple[Hashable, ...]:
        """Return the k keys with the largest mean over all periods, largest first."""
        order = np.argsort(-self.mean.sum(axis=0), kind="stable")
        return tuple(self.keys[i] for i in order[: None if k is None else check_integer(k, "k")])

    def select(self, keys: Iterable[Hashable]) -> CountPosterior:
        """Return the same with these keys alone, in this order."""
        names = check_keys(keys)
        place = np.full(len(self.keys), -1)
        for at, key in enumerate(names):
            place[self._key_index(key)] = at
        kept = np.flatnonzero(place[self.hit_key] >= 0)
        return replace(
            self,
            keys=names,
            hit_document=self.hit_document[kept],
            hit_key=place[self.hit_key[kept]],
            hits=self.hits.take(kept),
            hit_best=None if self.hit_best is None else self.hit_best[kept],
            hit_mentions=tuple(self.hit_mentions[i] for i in kept),
        )

    def total(self) -> Self:
        """Return the counts of all periods together."""
        whole = np.array(["all"], dtype=object)
        return self._regrouped(None, whole, np.zeros(len(self.periods), dtype=np.int64))

    def coarser(self, period: str) -> Self:
        """Return the counts of longer periods, such as years in place of months.

        Parameters
        ----------
        period : {"W", "M", "Q", "Y"}
            Week, month, quarter or year. Periods of this kind must be made of
            whole periods of the present kind: days make any other, months make
            quarters and years, and weeks make none.

        Returns
        -------
        CountPosterior
            The counts by longer periods. Their intervals are narrower than sums
            of the ends of intervals would be.

        Examples
        --------
        >>> from sklearn_calib.explore import counts_from_probabilities
        >>> p, month = [0.9, 0.5, 0.4], ["2003-01", "2003-04", "2004-01"]
        >>> counts_from_probabilities(p, period=month).coarser("Y").period_labels
        ['2003', '2004']
        """
        if period == self.period:
            return self
        longer = longer_periods(self.period)
        if not isinstance(period, str) or len(period) != 1 or period not in longer:
            kind = PERIODS[self.period] if isinstance(self.period, str) else "name"
            can = ", ".join(f"{letter!r} ({PERIODS[letter]})" for letter in longer)
            raise ValueError(
                f"Counts by {kind} cannot become counts by period={period!r}; "
                + (f"it should be one of {can}." if can else "there is no longer period for them.")
            )
        return self._regrouped(period, *coarsened(self.periods, str(self.period), period))

    def _regrouped(self, period: Period, periods: Array, place: Array) -> Self:
        """Return the counts of other periods, given in which of them each of these lies."""
        return replace(
            self, period=period, periods=periods, document_period=place[self.document_period]
        )

    def corrected(
        self,
        labelled: ReadingPlan | Queries | None = None,
        *,
        method: str = "recalibrated",
        training_frequency: float | Mapping[Hashable, float] | None = None,
        n_draws: int = 1000,
        random_state: RandomState = None,
    ) -> CorrectedPosterior:
        """Correct the counts by what was read, so that they hold when the model is wrong.

        Parameters
        ----------
        labelled : ReadingPlan or Queries, default=None
            An answered `reading_plan` of these counts; or queries about the same
            model on annotated text, such as those of `rule_queries`.
        method : {"recalibrated", "design", "prior_shift"}, default="recalibrated"
            "recalibrated" learns how the model's probabilities map to the truth,
            with its uncertainty, and draws the documents that were not read anew.
            It assumes that documents of equal probability are equally often
            right, within a key. "design" assumes nothing about the model: it adds
            the model's error as estimated from the random sample of a plan. It
            is made for large totals; for few events per period its
            intervals are several times as wide. "prior_shift"
            needs no answers, but the frequency of each key where the model was
            trained. It assumes that nothing but these frequencies has changed,
            and that the model was calibrated there.
        training_frequency : float or mapping of key to float, default=None
            For "prior_shift", the share of training documents that have a key;
            by default that of `labelled` queries of the training data.
        n_draws : int, default=1000
            How many times the counts are drawn.
        random_state : int, RandomState, Generator or None, default=None
            Seed.

        Returns
        -------
        CorrectedPosterior
            A `CountPosterior` whose intervals hold what the model is confident
            and wrong about. Its `summary` says how wrong the model was.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_calib.explore import counts_from_probabilities, reading_plan
        >>> rng = np.random.default_rng(0)
        >>> p = rng.beta(0.3, 1.0, size=1000)
        >>> posterior = counts_from_probabilities(p, period=rng.choice(["2003", "2004"], 1000))
        >>> truth = dict(zip(posterior.documents, rng.random(1000) < p**2))  # it says too much
        >>> plan = reading_plan(posterior, 100, random_state=0)
        >>> answered = plan.answered({name: truth[name] for name in plan.documents})
        >>> better = posterior.corrected(answered, random_state=0)
        >>> low, high = better.total().confidence_interval()
        >>> bool(low[0, 0] <= sum(truth.values()) <= high[0, 0])
        True
        """
        # The one import that goes up: corrected counts are counts.
        from sklearn_calib.explore._corrected import correct

        return correct(
            self,
            labelled,
            method=method,
            training_frequency=training_frequency,
            n_draws=n_draws,
            random_state=random_state,
        )

    def to_html(
        self,
        path: str | PathLike[str],
        *,
        documents: Documents | None = None,
        model: Any = None,
        rule: EntityRule | None = None,
        parse: Parse | None = None,
        plan: ReadingPlan | None = None,
        corrected: CorrectedPosterior | None = None,
        title: str | None = None,
        confidence_level: float = 0.95,
        n_keys: int = 50,
        n_texts: int = 1000,
        force: bool = False,
    ) -> Path:
        """Write a page of HTML to explore the counts, their documents and texts.

        The page is one file. It loads nothing from elsewhere and needs no server.

        Parameters
        ----------
        path : str or path
            Where to write. A page of this package is replaced, once the new one is
            whole; any other file with `force` only.
        documents : iterable or callable, default=None
            The documents that were counted, or a function that returns an iterator
            of them. They are read once, and the texts of those that are listed
            first are kept. By default the page has no texts.
        model : object, default=None
            The coreference model. It colours the mentions of a text by entity,
            and shows the probabilities of links. Without one, annotated entities
            are coloured.
        rule : callable, default=None
            The rule that was counted, to show why a document counts. A rule with a
            method `explain(document, entity)` gives reasons, as `AgentRule` does.
        parse : str, path, spacy.Language or callable, default=None
            What parses raw texts, as in `count_corpus`; only texts that are kept
            are parsed.
        plan : ReadingPlan, default=None
            Documents to read. Their questions can be answered on the page, which
            saves them as the CSV file that `plan.answered` takes.
        corrected : CorrectedPosterior, default=None
            What `corrected` made of these counts, shown beside them. Counts that
            are corrected themselves show both.
        title : str, default=None
            Title of the page.
        confidence_level : float, default=0.95
            Level of the intervals.
        n_keys : int, default=50
            How many keys to show, most common first.
        n_texts : int, default=1000
            How many texts to keep: those of the plan, and the most probable and
            least certain documents of each count. Fewer are kept if they would take
            more than 12 MB.
        force : bool, default=False
            Whether to replace a file that this package did not write.

        Returns
        -------
        pathlib.Path
            Where it was written.

        Notes
        -----
        The page has the counts with their intervals by the periods of these counts
        and by all longer ones, so that years have intervals of their own. Of the
        documents it lists the 60,000 with most to say; others are there as numbers.
        Whatever comes from documents is shown as text, and never taken for HTML.

        Answers can be given for documents of the plan only: others were picked by
        somebody, and would bias the corrected counts.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn_calib.datasets import make_event_corpus
        >>> from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon
        >>> corpus = make_event_corpus(60, random_state=0)
        >>> rule = AgentRule(country_lexicon())
        >>> posterior = count_corpus(corpus.X, corpus.model, rule, random_state=0)
        >>> with TemporaryDirectory() as folder:
        ...     page = posterior.to_html(
        ...         Path(folder) / "attacks.html", documents=corpus.X, model=corpus.model, rule=rule
        ...     )
        ...     page.name, page.stat().st_size > 10_000
        ('attacks.html', True)
        """
        # As above: the page knows of plans and corrections, which are made from counts.
        from sklearn_calib.explore._page import write_page

        return write_page(
            self,
            path,
            documents=documents,
            model=model,
            rule=rule,
            parse=parse,
            plan=plan,
            corrected=corrected,
            title=title,
            confidence_level=confidence_level,
            n_keys=n_keys,
            n_texts=n_texts,
            force=force,
        )

    @cached_property
    def fingerprint(self) -> str:
        """A text by which these counts are known: of their documents, keys and numbers."""
        hashed = sha256(repr((self.documents, self.keys, self.period_labels)).encode())
        for array in (
            self.document_period,
            self.document_weight,
            self.hit_document,
            self.hit_key,
            self.hits.mean,
        ):
            hashed.update(np.ascontiguousarray(array).tobytes())
        return hashed.hexdigest()[:16]

    def middles(self) -> tuple[Array, str]:
        """Return the middle of each period to draw it at, or its name; and what a period is."""
        if not isinstance(self.period, str):
            return np.array(self.period_labels, dtype=object), "Period"
        half = (end_of(self.periods, self.period) - self.periods) // 2
        return self.periods + half, PERIODS[self.period].capitalize()

    def pool(
        self, groups: Mapping[Hashable, Iterable[Hashable]], *, how: str | None = None
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
        if how is not None:
            check_option(how, "how", ("any", "sum"))
        elif self.hits.several:
            raise ValueError(
                "A document may count more than once here: pass how='sum' to add the counts of the "
                "keys, or how='any' to count documents that have one of them."
            )
        if not isinstance(groups, Mapping):
            raise TypeError(
                "groups must map each new key to a list of old ones, such as {'any': ['A', 'B']}; "
                f"got {type(groups).__name__}."
            )
        often = self.hits.mean
        rows, starts, keys = [], [], []
        size = 0
        for at, old in enumerate(groups.values()):
            if isinstance(old, str):
                raise TypeError(f"groups: pass a list of keys, not the single str {old!r}.")
            wanted = [self._key_index(key) for key in old]
            mine = np.flatnonzero(np.isin(self.hit_key, wanted))
            # By document, and the most frequent key first.
            mine = mine[np.lexsort((-often[mine], self.hit_document[mine]))]
            _, start = np.unique(self.hit_document[mine], return_index=True)
            rows.append(mine)
            starts.append(start + size)
            keys.append(np.full(len(start), at))
            size += len(mine)
        row, start = concatenated(rows), concatenated(starts)
        best = None
        if self.hit_best is not None:
            best = SampledHits(self.hit_best[:, np.newaxis]).joined(row, start, how).counts[:, 0]
        return replace(
            self,
            keys=tuple(groups),
            hit_document=self.hit_document[row[start]],
            hit_key=concatenated(keys),
            hits=self.hits.joined(row, start, how),
            hit_best=best,
            hit_mentions=tuple(self.hit_mentions[i] for i in row[start]),
        )

    def _key_index(self, key: Hashable) -> int:
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

    def _by_period(self, interval: ConfidenceInterval) -> dict[str, Any]:
        """Return one row per period and key."""
        n = len(self.keys)
        columns: dict[str, Any] = {
            "period": np.repeat(np.array(self.period_labels, dtype=object), n).tolist(),
            "key": list(self.keys) * len(self.periods),
            "mean": self.mean.ravel(),
            "low": interval.low.ravel(),
            "high": interval.high.ravel(),
        }
        if self.best is not None:
            columns["best"] = self.best.ravel()
        return {**columns, "n_documents": np.repeat(self.n_documents, n)}

    @property
    def _unknown(self) -> Array:
        """What is known about the uncertainty of single samples: nothing."""
        return read_only(np.full((len(self.periods), len(self.keys)), np.nan))

    def _unknown_interval(self) -> ConfidenceInterval:
        """Return the intervals of single samples."""
        return ConfidenceInterval(self._unknown, self._unknown)

    def _plain_interval(self) -> ConfidenceInterval:
        """Return the intervals that are printed; to print something is no reason to warn."""
        return self._unknown_interval() if self.n_samples == 1 else self._interval(0.95, "auto")

    @property
    def _printed(self) -> dict[str, Any]:
        """The table with whole numbers where the ends are whole, as ends of counts mostly are."""
        columns: dict[str, Any] = self._by_period(self._plain_interval())
        for name in columns.keys() & {"low", "high", "best"}:
            values = np.asarray(columns[name])
            if np.array_equal(values, np.floor(values)):
                columns[name] = values.astype(np.int64)
        return columns

    def to_frame(self, confidence_level: float = 0.95, *, method: str = "auto") -> DataFrame:
        """Return a pandas DataFrame with one row per period and key.

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
        if self.n_samples == 1:
            return to_frame(self._by_period(self._unknown_interval()))
        self._check_samples()
        return to_frame(self._by_period(self._interval(confidence_level, method)))

    @cached_property
    def _common(self) -> CountPosterior | None:
        """Sums over all periods of the most common keys, where a table by period is long."""
        if len(self.periods) * len(self.keys) <= _SHOWN:
            return None
        return self.total().select(self.most_common(_SHOWN))

    @cached_property
    def _shown(self) -> Mapping[str, Sequence[Any]]:
        """What a notebook shows: it asks twice, as text and as HTML."""
        if self._common is None:
            return self._printed
        columns = self._common._printed
        return {name: columns[name] for name in columns if name not in ("period", "n_documents")}

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return self._shown

    def _sentence(self) -> str:
        counted = _number(len(self.documents), "document")
        if not self.keys:
            return f"The rule found nothing in {counted}."
        kind = PERIODS[self.period] if isinstance(self.period, str) else "period"
        if len(self.periods) > 1:
            labels = self.period_labels
            counted += f" in {_number(len(labels), kind)}, {labels[0]} to {labels[-1]}"
        notes = []
        if self._common is not None:
            whole = f"All {kind}s together" if len(self.periods) > 1 else ""
            most = ""
            if len(self.keys) > len(self._common.keys):
                most = f"the {len(self._common.keys)} most common of {len(self.keys):,} keys"
            shown = ", ".join(part for part in (whole, most) if part)
            notes.append(f"{shown[0].upper()}{shown[1:]}.")
        return f"{counted}{self._source}.\n{' '.join([*notes, self._about_intervals])}"

    @property
    def _about_intervals(self) -> str:
        """Say what the intervals are, wherever they are shown."""
        if self.n_samples == 1:
            return "One sample makes no interval."
        if self.n_samples is not None and self.n_samples < _FEW:
            return "The 95% intervals are too narrow, because the samples are few."
        return f"The intervals have a level of 95%, {self._rests_on}."

    @property
    def condition(self) -> str:
        """What the intervals rest on: they hold "given the model"."""
        return "given the model"

    @property
    def _rests_on(self) -> str:
        """The same with more words, for a sentence."""
        return self.condition

    @property
    def _source(self) -> str:
        """Say where the numbers come from, after the number of documents."""
        if self.n_samples is None:
            return ", each with its probability"
        return f"; {_number(self.n_samples, 'sample')} of each"

    def __str__(self) -> str:
        if not self.keys:
            return self._sentence()
        table = format_table(self._printed, most=_PRINTED)
        return f"{table}\n{self._about_intervals}"


def _number(n: int, noun: str) -> str:
    """Return a number of things: 1 sample, 1,200 documents."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _rows_by_cell(cell: Array) -> Iterator[tuple[int, Array]]:
    """Yield the cells of the table that have hits, and their hits."""
    if len(cell) == 0:
        return
    order = np.argsort(cell, kind="stable")
    cells, start = np.unique(cell[order], return_index=True)
    yield from zip(cells.tolist(), np.split(order, start[1:]), strict=True)
