"""Counts that were corrected by what was read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
from scipy import special, stats

from sklearn_calib._results import (
    ConfidenceInterval,
    Result,
    counted,
    format_table,
    pvalue_text,
    read_only,
)
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_confidence_level,
    check_generator,
    check_integer,
    check_option,
)
from sklearn_calib.explore._count_map import draw_count_maps
from sklearn_calib.explore._design_estimate import design_estimate
from sklearn_calib.explore._difference import CountDifference, drawn_difference, outer_quantiles
from sklearn_calib.explore._expected_width import ExpectedWidth, scaled_width
from sklearn_calib.explore._keys import check_keys
from sklearn_calib.explore._periods import Period, places_of
from sklearn_calib.explore._posterior import CountPosterior, HitNumbers
from sklearn_calib.explore._prior_shift import prior_shift
from sklearn_calib.explore._probability_map import ProbabilityMaps, draw_maps
from sklearn_calib.explore._read_documents import ReadDocuments
from sklearn_calib.explore._reading_plan import ReadingPlan, document_sizes
from sklearn_calib.explore._redraw import redrawn
from sklearn_calib.metrics import calibration_test
from sklearn_calib.queries import Queries

__all__ = ["CorrectedPosterior", "CorrectionSummary"]

METHODS = ("recalibrated", "design", "prior_shift")
# Fewer queries are not tested.
_FEWEST = 8
# A plain interval is said to be off if it holds the count less often than this share of its level.
_HELD = 0.5
# Counts of weighted documents are drawn separately for each weight, up to this many numbers.
_MOST_NUMBERS = 200_000_000


@dataclass(frozen=True, eq=False)
class Evidence:
    """What counts were corrected by, and how; enough to do it again.

    Attributes
    ----------
    method : {"recalibrated", "design", "prior_shift"}
        How.
    read : ReadDocuments or None
        The documents that were read.
    queries : Queries or None
        Queries of annotated text.
    training_frequency : ndarray of shape (n_keys,) or None
        Frequencies where the model was trained.
    n_draws, seed : int
        Number of draws, and their seed.
    """

    method: str
    read: ReadDocuments | None
    queries: Queries | None
    training_frequency: Array | None
    n_draws: int
    seed: int


@dataclass(frozen=True, eq=False)
class Correction:
    """The corrected numbers.

    Attributes
    ----------
    draws : ndarray of shape (n_draws, n_periods, n_keys)
        Counts, drawn together: periods and keys share what is unsure about the
        model.
    mean : ndarray of shape (n_periods, n_keys)
        Their means.
    hit_probability, hit_deviation : ndarray of shape (n_hits,)
        Corrected probability that a document has a key, and the standard
        deviation of its count; 0 or 1 and no deviation where it was read.
    missed_probability : ndarray of shape (n_keys,)
        Probability of a key that the model gives no probability.
    map_variance, own_variance : ndarray of shape (n_keys,) or None
        Parts of the variance of totals, as in `ExpectedWidth`.
    """

    draws: Array
    mean: Array
    hit_probability: Array
    hit_deviation: Array
    missed_probability: Array
    map_variance: Array | None = None
    own_variance: Array | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))

    def __reduce__(self) -> tuple[Any, ...]:
        return Correction, tuple(getattr(self, f.name) for f in fields(self))


@dataclass(frozen=True, eq=False, repr=False)
class CorrectedPosterior(CountPosterior):
    """Counts by period and key that were corrected by what was read.

    It is a `CountPosterior`, and all that one can ask of counts given the model
    can be asked here. Documents are no longer independent, because what is
    unsure about the model is unsure for all of them; so counts were drawn
    together, and intervals are quantiles of the draws.

    Attributes
    ----------
    plain : CountPosterior
        The same counts given the model.
    evidence : Evidence
        What they were corrected by.
    correction : Correction
        The corrected numbers.

    See Also
    --------
    CountPosterior.corrected : Makes this object.
    CountPosterior : Has the other attributes and methods.

    Notes
    -----
    Where keys of one document depend on each other in the model's samples, or
    exclude each other, they still do in the draws, unless there would be more than
    a thousand million of these.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib.explore import counts_from_probabilities, reading_plan
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 1.0, size=1000)
    >>> posterior = counts_from_probabilities(p, period=None)
    >>> truth = dict(zip(posterior.documents, rng.random(1000) < p**2))  # it says too much
    >>> plan = reading_plan(posterior, 200, random_state=0)
    >>> answered = plan.answered({name: truth[name] for name in plan.documents})
    >>> better = posterior.corrected(answered, random_state=0)
    >>> bool(better.mean[0, 0] < posterior.mean[0, 0])
    True
    >>> print(better.summary())  # doctest: +ELLIPSIS
    key     plain  plain_low  plain_high  corrected ...
    Totals over all periods, given the model (plain) and corrected by 200 read documents.
    The model is miscalibrated ...
    """

    # Fields of the parent have defaults at the end, so that these need them, too.
    plain: CountPosterior = None  # type: ignore[assignment]
    evidence: Evidence = None  # type: ignore[assignment]
    correction: Correction = None  # type: ignore[assignment]

    # --- the numbers

    @property
    def n_samples(self) -> int:
        """Number of draws of the counts."""
        return len(self.correction.draws)

    @property
    def mean(self) -> Array:
        """Posterior mean of the counts, of shape (n_periods, n_keys)."""
        return self.correction.mean

    @cached_property
    def standard_deviation(self) -> Array:
        """Posterior standard deviation of the counts, of shape (n_periods, n_keys)."""
        return read_only(self.correction.draws.std(axis=0))

    @property
    def samples(self) -> Array:
        """Drawn counts, of shape (n_draws, n_periods, n_keys)."""
        return self.correction.draws

    def _check_samples(self) -> None:
        """Draws are always enough."""

    def _interval(self, confidence_level: float, method: str) -> ConfidenceInterval:
        level = check_confidence_level(confidence_level)
        check_option(method, "method", ("auto", "normal", "quantile"))
        if method == "normal":
            half = stats.norm.ppf((1.0 + level) / 2.0) * self.standard_deviation
            return ConfidenceInterval(self.mean - half, self.mean + half)
        return ConfidenceInterval(*outer_quantiles(np.moveaxis(self.samples, 0, -1), level))

    # --- questions

    @property
    def _hit_numbers(self) -> HitNumbers:
        found = self.correction
        mean = self.hits.mean if self.hits.several else found.hit_probability
        return HitNumbers(mean, found.hit_probability, found.hit_deviation)

    def probability(self, key: Hashable) -> Array:
        """Return the probability that each document has a key, in the order of `documents`."""
        at = self._key_index(key)
        rows = np.flatnonzero(self.hit_key == at)
        found = np.full(len(self.documents), self.correction.missed_probability[at])
        found[self.hit_document[rows]] = self.correction.hit_probability[rows]
        if self.evidence.read is not None:
            read = self.evidence.read
            found[read.place] = read.counts[:, at] > 0
        return found

    def difference(
        self,
        key: Hashable,
        other: Hashable | None = None,
        *,
        periods: Hashable | Iterable[Hashable] | None = None,
        other_periods: Hashable | Iterable[Hashable] | None = None,
        confidence_level: float = 0.95,
    ) -> CountDifference:
        """Compare two counts, as `CountPosterior.difference` does.

        Parameters
        ----------
        key : object
            The first key.
        other : object, default=None
            The second key; the first by default.
        periods : str, date or list of such, default=None
            The periods of the first count; all by default.
        other_periods : str, date or list of such, default=None
            The periods of the second count; those of the first by default.
        confidence_level : float, default=0.95
            Level of the interval.

        Returns
        -------
        CountDifference
            The difference, from counts that were drawn together.
        """
        level = check_confidence_level(confidence_level)
        if other is None and other_periods is None:
            raise ValueError(
                "Pass a second key (other) or second periods (other_periods) to compare."
            )
        sides = [
            (key, periods),
            (key if other is None else other, periods if other_periods is None else other_periods),
        ]
        change = np.zeros(self.mean.shape)
        for sign, (name, when) in zip((1.0, -1.0), sides, strict=True):
            rows = slice(None) if when is None else places_of(when, self.periods, self.period)
            change[rows, self._key_index(name)] += sign
        drawn = np.tensordot(self.samples, change, axes=2)
        return drawn_difference(drawn, level, float((self.mean * change).sum()))

    # --- the same counts, arranged in another way

    def select(self, keys: Iterable[Hashable]) -> CorrectedPosterior:
        """Return the same with these keys alone, in this order."""
        names = check_keys(keys)
        at = [self._key_index(key) for key in names]
        kept = np.isin(self.hit_key, at)
        found, evidence = self.correction, self.evidence
        return _framed(
            self.plain.select(names),
            replace(
                evidence,
                read=None if evidence.read is None else evidence.read.select(at),
                training_frequency=_taken(evidence.training_frequency, at),
            ),
            replace(
                found,
                draws=found.draws[:, :, at],
                mean=found.mean[:, at],
                hit_probability=found.hit_probability[kept],
                hit_deviation=found.hit_deviation[kept],
                missed_probability=found.missed_probability[at],
                map_variance=_taken(found.map_variance, at),
                own_variance=_taken(found.own_variance, at),
            ),
        )

    def _regrouped(self, period: Period, periods: Array, place: Array) -> Self:
        plain = self.plain._regrouped(period, periods, place)
        if self.evidence.method == "design":
            # What limits the counts of small periods does not limit their sum.
            return cast(Self, _corrected(plain, self.evidence))
        found = self.correction
        draws = np.zeros((len(found.draws), len(periods), len(self.keys)))
        mean = np.zeros(draws.shape[1:])
        np.add.at(mean, place, found.mean)
        for old, new in enumerate(place):
            draws[:, new] += found.draws[:, old]
        better = _framed(plain, self.evidence, replace(found, draws=draws, mean=mean))
        return cast(Self, better)

    def pool(
        self, groups: Mapping[Hashable, Iterable[Hashable]], *, how: str | None = None
    ) -> CorrectedPosterior:
        """Count several keys as one, as `CountPosterior.pool` does, and correct that.

        Parameters
        ----------
        groups : mapping of key to iterable of keys
            The new keys, and the old ones that each stands for.
        how : {"any", "sum"}, default=None
            As in `CountPosterior.pool`.

        Returns
        -------
        CorrectedPosterior
            Counts by period and group, corrected by the same documents.
        """
        pooled = self.plain.pool(groups, how=how)
        evidence = self.evidence
        if evidence.read is None:
            raise ValueError(
                f"Counts that were corrected by {self._by} cannot be pooled, because it is not "
                "known how the keys of a document go together. Pool the counts first, and correct "
                "them by queries about the pooled keys."
            )
        read = evidence.read.pooled(groups, self.keys, how)
        return _corrected(pooled, replace(evidence, read=read))

    # --- how wrong was the model?

    def summary(self, confidence_level: float = 0.95) -> CorrectionSummary:
        """Say how wrong the model was, what was changed, and what more reading would bring.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        CorrectionSummary
            Sentences when it is printed; a row for each key as a table.
        """
        level = check_confidence_level(confidence_level)
        plain, better = self.plain.total(), self.total()
        before = plain._unknown_interval()
        if plain.n_samples != 1:
            before = plain._interval(level, "auto")
        after = better._interval(level, "auto")
        inside = (better.samples >= before.low) & (better.samples <= before.high)
        pvalue, suspect = self._tested()
        missed = None
        if self.evidence.read is not None:
            seen = np.zeros((len(self.documents), len(self.keys)), dtype=bool)
            seen[self.hit_document, self.hit_key] = True
            read = self.evidence.read
            missed = int(((read.counts > 0) & ~seen[read.place]).sum())
        return CorrectionSummary(
            by=self._by,
            keys=self.keys,
            plain_mean=plain.mean[0],
            plain_interval=ConfidenceInterval(before.low[0], before.high[0]),
            mean=better.mean[0],
            confidence_interval=ConfidenceInterval(after.low[0], after.high[0]),
            plain_holds=inside.mean(axis=0)[0],
            confidence_level=level,
            pvalue=pvalue,
            suspect=suspect,
            n_missed=missed,
            expected_width=self._width_of_more(level),
        )

    def _tested(self) -> tuple[float | None, Hashable | None]:
        """Test whether the model is calibrated: all keys together, and each of them.

        Errors of different keys may cancel each other. The p-value allows for
        the number of tests; beside it is the key that is most suspect, where
        one is more suspect than all of them together.
        """
        queries = self._queries()
        if queries is None or len(queries) < _FEWEST:
            return None, None
        seed = self.evidence.seed
        whole = float(calibration_test(queries, random_state=seed).pvalue)
        if len(self.keys) == 1 or queries.label is None:
            return whole, None
        single = {}
        for key in self.keys:
            if (queries.label == str(key)).sum() >= _FEWEST:
                mine = queries.where(label=str(key))
                single[key] = float(calibration_test(mine, random_state=seed).pvalue)
        if not single:
            return whole, None
        worst = min(single, key=lambda key: single[key])
        least = len(single) * single[worst]
        return min(1.0, 2.0 * min(whole, least)), worst if least <= whole else None

    def _queries(self) -> Queries | None:
        """Return what was asked as queries: those of the documents that were read, or as given."""
        read = self.evidence.read
        if read is None or self.hits.several:
            return self.evidence.queries
        place = np.full(len(self.documents), -1)
        place[read.place] = np.arange(len(read))
        rows = np.flatnonzero(place[self.hit_document] >= 0)
        if not len(rows):
            return None
        at = place[self.hit_document[rows]]
        answer = read.counts[at, self.hit_key[rows]] > 0
        label = [str(self.keys[k]) for k in self.hit_key[rows]]
        return Queries(answer, self.hits.smoothed[rows], label=label, group=at)

    def _width_of_more(self, level: float) -> ExpectedWidth | None:
        """Return expected widths when more is read."""
        read, found = self.evidence.read, self.correction
        if read is None or found.map_variance is None or found.own_variance is None:
            return None
        n = len(read)
        more = [n, *(n + k for k in (50, 100, 200, 500) if n + k < len(self.documents))]
        return scaled_width(
            self.plain,
            document_sizes(self.plain),
            more,
            level,
            map_variance=found.map_variance,
            own_variance=found.own_variance,
            n_read=n,
        )

    # --- how it shows itself

    @property
    def _by(self) -> str:
        if self.evidence.read is not None:
            return counted(len(self.evidence.read), "read document")
        if self.evidence.method == "prior_shift":
            return "an estimate of prior shift"
        queries = self.evidence.queries
        return counted(0 if queries is None else len(queries), "labelled query", "labelled queries")

    @property
    def condition(self) -> str:
        """What the intervals rest on: they are "corrected"."""
        return "corrected"

    @property
    def _rests_on(self) -> str:
        return f"corrected by {self._by}"

    @property
    def _source(self) -> str:
        return {"design": ", estimated by design"}.get(self.evidence.method, "")


@dataclass(frozen=True, eq=False, repr=False)
class CorrectionSummary(Result):
    """How wrong a model was, and what reading changed.

    Attributes
    ----------
    by : str
        What counts were corrected by.
    keys : tuple
        What was counted.
    plain_mean, mean : ndarray of shape (n_keys,)
        Totals over all periods, given the model and corrected.
    plain_interval, confidence_interval : ConfidenceInterval
        Their intervals.
    plain_holds : ndarray of shape (n_keys,)
        Probability that the plain interval holds the count.
    confidence_level : float
        Level of the intervals.
    pvalue : float or None
        Of a test whether the model is calibrated on what was read: all keys
        together and each of them, allowing for the number of tests.
    suspect : object or None
        The key for which the model is most clearly wrong, where it is one.
    n_missed : int or None
        Keys that were read in documents in which the model saw no trace of them.
    expected_width : ExpectedWidth or None
        Widths of the intervals when more is read; its first row is for now.

    See Also
    --------
    CorrectedPosterior.summary : Makes this object.

    Notes
    -----
    Which documents were drawn depends on what the model says about them, and not
    on what they say. So the test, which asks whether documents of a given
    probability are right as often as that, needs no weights.

    Examples
    --------
    >>> from sklearn_calib.explore import counts_from_probabilities, reading_plan
    >>> posterior = counts_from_probabilities([0.9, 0.8, 0.3, 0.1] * 50, period=None)
    >>> plan = reading_plan(posterior, 100, random_state=0)
    >>> nothing = plan.answered(dict.fromkeys(plan.documents, "no"))
    >>> summary = posterior.corrected(nothing, random_state=0).summary()
    >>> summary.pvalue < 0.05, bool(summary.plain_holds[0] < 0.05)
    (True, True)
    """

    by: str
    keys: tuple[Hashable, ...]
    plain_mean: Array
    plain_interval: ConfidenceInterval
    mean: Array
    confidence_interval: ConfidenceInterval
    plain_holds: Array
    confidence_level: float
    pvalue: float | None
    suspect: Hashable | None
    n_missed: int | None
    expected_width: ExpectedWidth | None

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {
            "key": list(self.keys),
            "plain": self.plain_mean,
            "plain_low": self.plain_interval.low,
            "plain_high": self.plain_interval.high,
            "corrected": self.mean,
            "low": self.confidence_interval.low,
            "high": self.confidence_interval.high,
            "plain_holds": self.plain_holds,
        }

    def _sentence(self) -> str:
        lines = [f"Totals over all periods, given the model (plain) and corrected by {self.by}."]
        if self.pvalue is None:
            lines.append("Too little is known to test whether the model is calibrated.")
        elif self.pvalue < 0.05:
            whom = "" if self.suspect is None else f", most clearly for {self.suspect}"
            lines.append(f"The model is miscalibrated ({pvalue_text(self.pvalue)}){whom}.")
        else:
            lines.append(
                f"No sign that the model is miscalibrated ({pvalue_text(self.pvalue)}), as far as "
                "these documents can show."
            )
        worst = int(np.argmin(self.plain_holds))
        if self.plain_holds[worst] < _HELD * self.confidence_level:
            low, high = (end[worst] for end in self.plain_interval)
            off = self.plain_mean[worst] - self.mean[worst]
            lines.append(
                f"The plain interval of {self.keys[worst]}, [{low:.4g}, {high:.4g}], holds the "
                f"count with probability {self.plain_holds[worst]:.2f}; its mean is {abs(off):.4g} "
                f"too {'high' if off > 0 else 'low'}."
            )
        if self.n_missed:
            found = counted(self.n_missed, "key was", "keys were")
            lines.append(f"{found} found where the model saw no trace of them.")
        if self.expected_width is not None and len(self.expected_width.n_documents) > 1:
            widest = int(np.argmax(self.expected_width.width[0]))
            widths = [f"{width:.3g}" for width in self.expected_width.width[:, widest]]
            more = self.expected_width.n_documents - self.expected_width.n_documents[0]
            then = [f"{w} with {n} more" for n, w in zip(more[1:], widths[1:], strict=True)]
            lines.append(
                f"The interval of {self.keys[widest]} is about {widths[0]} wide. Expected when "
                f"more are read: {', '.join(then)}."
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{format_table(self._columns(), 20)}\n{self._sentence()}"


def _taken(values: Array | None, at: Sequence[int]) -> Array | None:
    return None if values is None else values[list(at)]


def _framed(
    plain: CountPosterior, evidence: Evidence, correction: Correction
) -> CorrectedPosterior:
    frame = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return CorrectedPosterior(**frame, plain=plain, evidence=evidence, correction=correction)


# --- the corrections


def correct(
    posterior: CountPosterior,
    labelled: ReadingPlan | Queries | None,
    *,
    method: str,
    training_frequency: float | Mapping[Hashable, float] | None,
    n_draws: int,
    random_state: RandomState,
) -> CorrectedPosterior:
    """Correct counts; see `CountPosterior.corrected`."""
    check_option(method, "method", METHODS)
    n_draws = check_integer(n_draws, "n_draws", 100)
    if isinstance(posterior, CorrectedPosterior):
        raise ValueError(
            "These counts are corrected already. Correct the plain counts (the attribute plain) by "
            "all that was read: plan.extended(n_more) adds documents to a plan and keeps answers."
        )
    if not posterior.keys:
        raise ValueError("Nothing was counted, so that there is nothing to correct.")
    if training_frequency is not None and method != "prior_shift":
        raise ValueError(f"training_frequency is of use for method='prior_shift', not {method!r}.")
    seed = int(check_generator(random_state).integers(2**32))
    read, queries, frequency = None, None, None
    if method == "prior_shift":
        frequency = _training_frequencies(posterior, labelled, training_frequency)
    elif isinstance(labelled, ReadingPlan):
        read = labelled.answers_for(posterior)
    elif isinstance(labelled, Queries):
        queries = _checked_queries(posterior, labelled, method)
    else:
        raise TypeError(
            "labelled must be an answered reading plan (reading_plan(...).answered(...)) or "
            f"Queries, got {'nothing' if labelled is None else type(labelled).__name__}."
        )
    return _corrected(posterior, Evidence(method, read, queries, frequency, n_draws, seed))


def _checked_queries(posterior: CountPosterior, queries: Queries, method: str) -> Queries:
    if method == "design":
        raise ValueError(
            "method='design' needs a random sample of the documents that were counted: pass an "
            "answered reading plan. Queries of other text can recalibrate."
        )
    if posterior.hits.several:
        raise ValueError(
            "A document may count more than once here, and queries are yes or no. Pass a reading "
            "plan whose answers are numbers."
        )
    if queries.sample_weight is not None:
        raise ValueError("Weighted queries cannot correct counts; leave sample_weight out.")
    return queries


def _training_frequencies(
    posterior: CountPosterior,
    labelled: ReadingPlan | Queries | None,
    given: float | Mapping[Hashable, float] | None,
) -> Array:
    """Return how frequent each key was in training."""
    if posterior.hits.several:
        raise ValueError("method='prior_shift' is for documents that count once.")
    keys = posterior.keys
    if given is None and isinstance(labelled, Queries):
        if len(keys) > 1 and labelled.label is None:
            raise ValueError("The queries have no labels that say which key they are about.")
        found = []
        for key in keys:
            mine = labelled if len(keys) == 1 else labelled.where(label=str(key))
            found.append(float(np.mean(mine.y_true)))
    elif labelled is not None or given is None:
        raise ValueError(
            "method='prior_shift' learns nothing from answers: pass training_frequency, the share "
            "of training documents that have the key; or queries of the training data."
        )
    elif isinstance(given, Mapping):
        lacking = [key for key in keys if key not in given]
        if lacking:
            raise ValueError(f"training_frequency has no entry for {lacking[0]!r}.")
        found = [float(given[key]) for key in keys]
    else:
        found = [float(given)] * len(keys)
    frequency = np.array(found)
    if not ((frequency > 0.0) & (frequency < 1.0)).all():
        raise ValueError(f"Training frequencies lie between 0 and 1; got {found}.")
    return frequency


def _corrected(posterior: CountPosterior, evidence: Evidence) -> CorrectedPosterior:
    """Correct counts by evidence that has been checked."""
    rng = np.random.default_rng(evidence.seed)
    read = evidence.read
    if evidence.method == "design":
        assert read is not None
        correction = _by_design(posterior, read, evidence.n_draws, rng)
    elif read is not None and (posterior.hits.several or read.counts.max(initial=0) > 1):
        correction = _by_count_map(posterior, read, evidence.n_draws, rng)
    else:
        correction = _by_map(posterior, evidence, rng)
    return _framed(posterior, evidence, correction)


def _frequency(posterior: CountPosterior) -> Array:
    """Return the mean count of a document, by key."""
    whole = np.bincount(posterior.hit_key, posterior.hits.mean, minlength=len(posterior.keys))
    return whole / len(posterior.documents)


def _read_table(posterior: CountPosterior, read: ReadDocuments, values: Array) -> Array:
    """Return values of hits for the documents that were read, of shape (n_read, n_keys)."""
    place = np.full(len(posterior.documents), -1)
    place[read.place] = np.arange(len(read))
    rows = np.flatnonzero(place[posterior.hit_document] >= 0)
    table = np.zeros((len(read), len(posterior.keys)))
    table[place[posterior.hit_document[rows]], posterior.hit_key[rows]] = values[rows]
    return table


def _known(posterior: CountPosterior, read: ReadDocuments | None) -> tuple[Array, Array]:
    """Return which documents were not read, and the counts of those that were."""
    unread = np.ones(len(posterior.documents), dtype=bool)
    known = np.zeros((len(posterior.periods), len(posterior.keys)))
    if read is not None:
        unread[read.place] = False
        weight = posterior.document_weight[read.place, np.newaxis]
        np.add.at(known, posterior.document_period[read.place], weight * read.counts)
    return unread, known


def _by_map(posterior: CountPosterior, evidence: Evidence, rng: np.random.Generator) -> Correction:
    """Correct yes/no counts by a map of probabilities, drawn from its posterior."""
    read = evidence.read
    if evidence.training_frequency is not None:
        chance = _shifted(posterior, evidence.training_frequency, evidence.n_draws, rng)
    else:
        maps = _maps(posterior, evidence, rng)

        def chance(probability: Array, key: int) -> Array:
            return maps.chance(probability, np.full(len(probability), key))

    unread, known = _known(posterior, read)
    found = redrawn(posterior, unread, chance, evidence.n_draws, rng)
    probability = found.hit_chance.copy()
    deviation = np.sqrt(probability * (1.0 - probability))
    if read is not None:
        done = ~unread[posterior.hit_document]
        place = np.zeros(len(unread), dtype=np.int64)
        place[read.place] = np.arange(len(read))
        rows = place[posterior.hit_document[done]], posterior.hit_key[done]
        probability[done] = read.counts[rows] > 0
        deviation[done] = 0.0
    return Correction(
        draws=found.draws + known,
        mean=found.mean + known,
        hit_probability=probability,
        hit_deviation=deviation,
        missed_probability=found.missed_chance,
        map_variance=found.map_variance,
        own_variance=found.own_variance,
    )


def _maps(
    posterior: CountPosterior, evidence: Evidence, rng: np.random.Generator
) -> ProbabilityMaps:
    """Draw maps of probabilities from what was read, or from queries."""
    n_keys = len(posterior.keys)
    frequency = _frequency(posterior)
    if evidence.read is not None:
        read = evidence.read
        p = _read_table(posterior, read, posterior.hits.smoothed).ravel()
        answer = (read.counts > 0).ravel()
        key = np.tile(np.arange(n_keys), len(read))
    else:
        queries = evidence.queries
        assert queries is not None
        p, answer = queries.y_prob, queries.y_true
        key = np.zeros(len(p), dtype=np.int64)
        if queries.label is not None or n_keys > 1:
            # Queries about other keys, or about none in particular, say what keys share.
            names = {str(name): i for i, name in enumerate(posterior.keys)}
            label = [""] * len(p) if queries.label is None else [str(v) for v in queries.label]
            key = np.array([names.setdefault(name, len(names)) for name in label])
            more = [float(p[key == k].mean()) for k in range(n_keys, len(names))]
            frequency = np.concatenate([frequency, more])
    return draw_maps(
        p,
        answer,
        key=key,
        n_keys=len(frequency),
        frequency=frequency,
        n_draws=evidence.n_draws,
        rng=rng,
    )


def _shifted(
    posterior: CountPosterior, training: Array, n_draws: int, rng: np.random.Generator
) -> Any:
    """Return chances under other frequencies, drawn from their posterior."""
    n = len(posterior.documents)
    shifts = []
    for key, frequency in enumerate(training.tolist()):
        p = posterior.hits.smoothed[posterior.hit_key == key]
        # Equal probabilities share a term, and so do those that are nearly equal.
        odds = np.rint(special.logit(np.clip(p, 1e-9, 1.0 - 1e-9)) / 0.02) * 0.02
        levels, number = np.unique(np.append(special.expit(odds), 0.0), return_counts=True)
        number[0] += n - len(p) - 1
        shift = prior_shift(levels, frequency, weight=number)
        shifts.append((shift, shift.draw(n_draws, rng=rng)))

    def chance(probability: Array, key: int) -> Array:
        shift, frequency = shifts[key]
        return shift.adjusted(probability, frequency[:, np.newaxis])

    return chance


def _by_count_map(
    posterior: CountPosterior, read: ReadDocuments, n_draws: int, rng: np.random.Generator
) -> Correction:
    """Correct counts of documents that may count more than once."""
    n_keys = len(posterior.keys)
    hits = posterior.hits
    variance = np.square(hits.spread)
    maps = draw_count_maps(
        _read_table(posterior, read, hits.mean).ravel(),
        _read_table(posterior, read, variance).ravel(),
        read.counts.ravel(),
        key=np.tile(np.arange(n_keys), len(read)),
        n_keys=n_keys,
        frequency=_frequency(posterior),
        n_draws=n_draws,
        rng=rng,
    )
    unread, known = _known(posterior, read)
    weights, weight_of = np.unique(posterior.document_weight, return_inverse=True)
    shape = (len(posterior.periods), n_keys, len(weights))
    n_cells = int(np.prod(shape))
    if n_cells * n_draws > _MOST_NUMBERS:
        raise ValueError(
            f"The documents have {len(weights):,} different weights, which is too many to correct "
            "counts by numbers. Round them."
        )
    rows = np.flatnonzero(unread[posterior.hit_document])
    document = posterior.hit_document[rows]
    key = posterior.hit_key[rows]
    cell = (posterior.document_period[document] * n_keys + key) * len(weights)
    cell += weight_of[document]
    # Documents without a hit, of each cell and weight.
    at = np.flatnonzero(unread)
    there = np.bincount(
        posterior.document_period[at] * len(weights) + weight_of[at],
        minlength=shape[0] * len(weights),
    ).reshape(shape[0], 1, -1)
    none = (there - np.bincount(cell, minlength=n_cells).reshape(shape)).ravel()
    every = np.arange(n_cells)
    drawn = maps.draw(
        np.concatenate([hits.mean[rows], np.zeros(n_cells)]),
        np.concatenate([variance[rows], np.zeros(n_cells)]),
        np.concatenate([cell, every]),
        n_cells,
        key=np.concatenate([key, every // len(weights) % n_keys]),
        weight=np.concatenate([np.ones(len(rows)), none]),
        rng=rng,
    )
    draws = drawn.reshape(n_draws, *shape) @ weights + known
    probability, deviation = hits.probability.copy(), hits.spread.copy()
    done = ~unread[posterior.hit_document]
    deviation[done] = 0.0
    own = np.bincount(
        key, np.square(posterior.document_weight[document]) * variance[rows], minlength=n_keys
    )
    whole = draws.sum(axis=1).var(axis=0)
    return Correction(
        draws=draws,
        mean=draws.mean(axis=0),
        hit_probability=probability,
        hit_deviation=deviation,
        missed_probability=np.zeros(n_keys),
        map_variance=np.maximum(whole - own, 0.0),
        own_variance=np.minimum(own, whole),
    )


def _by_design(
    posterior: CountPosterior, read: ReadDocuments, n_draws: int, rng: np.random.Generator
) -> Correction:
    """Estimate counts by the design of the sample, and draw around the estimates.

    Errors of one document are shared by all its cells. The law of each count is
    Student's, cut off at what is possible.
    """
    n_keys = len(posterior.keys)
    shape = (len(posterior.periods), n_keys)
    n_cells = shape[0] * n_keys
    weight = posterior.document_weight[read.place, np.newaxis]
    answer = (weight * read.counts).ravel()
    prediction = (weight * _read_table(posterior, read, posterior.hits.mean)).ravel()
    period = posterior.document_period[read.place, np.newaxis]
    cell = (period * n_keys + np.arange(n_keys)).ravel()
    document = np.repeat(np.arange(len(read)), n_keys)
    whole = np.bincount(posterior.document_period, posterior.document_weight, minlength=shape[0])
    size = np.full(n_cells, np.inf) if posterior.hits.several else np.repeat(whole, n_keys)
    found = design_estimate(
        answer,
        prediction,
        cell,
        document=document,
        inclusion=read.inclusion,
        prediction_total=posterior.mean.ravel(),
        cell_size=size,
        rng=rng,
    )
    error = np.zeros((len(read), n_cells))
    error[document, cell] = answer - found.tuning * prediction
    error *= np.sqrt(1.0 - read.inclusion[:, np.newaxis]) / read.inclusion[:, np.newaxis]
    length = np.sqrt(np.square(error).sum(axis=0))
    spread = np.maximum(found.spread, 1e-300)
    shared = np.minimum(length / spread, 1.0)
    direction = error / np.maximum(length, 1e-300)
    z = shared * (rng.standard_normal((n_draws, len(read))) @ direction)
    z += np.sqrt(1.0 - np.square(shared)) * rng.standard_normal((n_draws, n_cells))
    student = stats.t.ppf(stats.norm.cdf(z), found.degrees_of_freedom)
    least = np.bincount(cell, answer, minlength=n_cells)
    most = size - np.bincount(cell, np.repeat(weight, n_keys), minlength=n_cells) + least
    draws = np.clip(found.unbiased + student * found.spread, least, np.maximum(most, least))
    empty = np.bincount(cell, minlength=n_cells) == 0
    if empty.any():
        # Nothing was read there: all that is possible remains so.
        top = np.where(np.isfinite(most), most, found.estimate)
        draws[:, empty] = (rng.random((n_draws, n_cells)) * top)[:, empty]
    unread = _known(posterior, read)[0]
    deviation = np.where(unread[posterior.hit_document], posterior.hits.spread, 0.0)
    return Correction(
        draws=draws.reshape(n_draws, *shape),
        mean=found.estimate.reshape(shape),
        hit_probability=posterior.hits.probability,
        hit_deviation=deviation,
        missed_probability=np.zeros(n_keys),
    )
