"""Counts that were corrected by what was read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self, cast

import numpy as np
from scipy import stats

from sklearn_calib._results import ConfidenceInterval, counted, read_only
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_confidence_level,
    check_generator,
    check_integer,
    check_option,
)
from sklearn_calib.explore._correction import Correction, Evidence, correction_by
from sklearn_calib.explore._correction_summary import CorrectionSummary
from sklearn_calib.explore._difference import CountDifference, drawn_difference, outer_quantiles
from sklearn_calib.explore._expected_width import ExpectedWidth, scaled_width
from sklearn_calib.explore._keys import check_keys, some_keys
from sklearn_calib.explore._periods import Period, places_of
from sklearn_calib.explore._posterior import CountPosterior, HitNumbers
from sklearn_calib.explore._reading_plan import ReadingPlan, document_sizes
from sklearn_calib.metrics import calibration_test
from sklearn_calib.queries import Queries

__all__ = ["CorrectedPosterior"]

METHODS = ("recalibrated", "design", "prior_shift")
# Fewer queries are not tested.
_FEWEST = 8


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


def _taken(values: Array | None, at: Sequence[int]) -> Array | None:
    return None if values is None else values[list(at)]


def _framed(
    plain: CountPosterior, evidence: Evidence, correction: Correction
) -> CorrectedPosterior:
    frame = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return CorrectedPosterior(**frame, plain=plain, evidence=evidence, correction=correction)


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
    if queries.label is not None:
        labels = {str(label) for label in queries.label}
        if labels.isdisjoint(map(str, posterior.keys)):
            raise ValueError(
                f"None of the queries is about a key that was counted: their labels are "
                f"{some_keys(sorted(labels), 5)}, and the keys {some_keys(posterior.keys, 5)}. "
                "Name the keys as the labels are; or leave the labels out, and the queries say "
                "what all keys share."
            )
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
    return _framed(posterior, evidence, correction_by(evidence, posterior))
