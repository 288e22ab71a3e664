"""Is the model perfectly calibrated? Tests with the level they promise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, special

from sklearn_calib._results import Result
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_generator,
    check_integer,
    check_option,
)
from sklearn_calib.metrics._inference._debiased import debiased_square
from sklearn_calib.metrics._inference._sample import Sample, check_inference_bins, make_sample
from sklearn_calib.queries._as_queries import Groups, as_queries
from sklearn_calib.queries._queries import Queries

__all__ = ["CalibrationTestResult", "calibration_test"]

STATISTICS = ("binned", "kuiper")
METHODS = ("auto", "resampling", "asymptotic")

# Up to so many queries a resampled null is cheap; beyond, the analytic one is accurate.
_RESAMPLE_UP_TO = 20_000

# Answers drawn at a time.
_CHUNK = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationTestResult(Result):
    """A test of perfect calibration.

    Attributes
    ----------
    statistic : float
        The debiased squared error ("binned"), or the range of the cumulative
        differences in units of its standard deviation ("kuiper").
    pvalue : float
        Probability of so large a statistic if every prediction were right.
    method : {"resampling", "asymptotic"}
        Where the null distribution came from.
    name : {"binned", "kuiper"}
        Which statistic.

    See Also
    --------
    calibration_test : Makes this object.
    """

    statistic: float
    pvalue: float
    method: str
    name: str

    _shows_table = False

    def _columns(self) -> dict[str, list[object]]:
        return {
            "name": [self.name],
            "statistic": [self.statistic],
            "pvalue": [self.pvalue],
            "method": [self.method],
        }

    def _sentence(self) -> str:
        return (
            f"{self.name} statistic {self.statistic:.4g}, p = {self.pvalue:.3g} for perfect "
            f"calibration ({self.method})"
        )


def calibration_test(
    y_true: ArrayLike | Queries,
    y_prob: ArrayLike | None = None,
    *,
    statistic: str = "binned",
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    method: str = "auto",
    n_resamples: int = 999,
    groups: Groups = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    random_state: RandomState = None,
) -> CalibrationTestResult:
    """Test the hypothesis that every prediction is right.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Queries
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    statistic : {"binned", "kuiper"}, default="binned"
        "binned" is the debiased squared error over adaptive bins. "kuiper"
        needs no bins: it is the range of the running sum of `y_true - y_prob`
        in order of prediction, and is strongest where predictions are too
        high or too low over a long stretch.
    bin_size : int or "auto", default="auto"
        Queries per bin; "auto" makes about 2 sqrt(N) bins.
    n_bins : int, default=None
        Ask for a number of bins instead of a size.
    method : {"auto", "resampling", "asymptotic"}, default="auto"
        "resampling" draws answers from the predictions themselves, so that
        the level is exact at every size of the sample. "asymptotic" uses the
        moments of the statistic. "auto" resamples up to 20,000 queries where
        there are no groups.
    n_resamples : int, default=999
        Number of resamples; the p-value is at least 1 / (n_resamples + 1).
    groups : array-like of shape (n_samples,), False or None, default=None
        Which sentence, document or person each query belongs to, as in
        `calibration_error_interval`. With groups, "resampling" flips the sign
        of whole groups of residuals, which rejects too often where residuals
        are far from symmetric.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the resamples.

    Returns
    -------
    CalibrationTestResult
        Statistic and p-value.

    See Also
    --------
    calibration_error_interval : How large the error is, not only whether there is one.

    Notes
    -----
    An answer that contradicts a prediction of exactly 0 or 1 gives a p-value
    of 0: no calibrated model could have produced it.

    With groups, "kuiper" is conservative where residuals of a group cancel, as
    those of the classes of one row do.

    A small p-value says that the model is not perfect, which with enough data
    no model is. Look at the interval before you act on it.

    Examples
    --------
    >>> from sklearn_calib import calibration_test
    >>> from sklearn_calib.datasets import make_queries
    >>> good = make_queries(2000, random_state=0)
    >>> bad = make_queries(2000, distortion="slope", strength=0.5, random_state=0)
    >>> calibration_test(good.queries, random_state=0).pvalue > 0.05
    True
    >>> calibration_test(bad.queries, statistic="kuiper", random_state=0).pvalue
    0.001
    """
    check_option(statistic, "statistic", STATISTICS)
    check_option(method, "method", METHODS)
    check_integer(n_resamples, "n_resamples", low=19)
    check_inference_bins(bin_size, n_bins)
    queries = as_queries(
        y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    sample = make_sample(queries, bin_size, n_bins)
    if method == "auto":
        small = len(queries) <= _RESAMPLE_UP_TO and not sample.grouped
        method = "resampling" if small else "asymptotic"
    measure = _Binned(sample) if statistic == "binned" else _Kuiper(sample)
    value = measure.value()
    if sample.score.pvalue == 0.0 and math.isinf(sample.score.null_score):
        return CalibrationTestResult(value, 0.0, method, statistic)
    if method == "asymptotic":
        return CalibrationTestResult(value, measure.pvalue(value), method, statistic)
    rng = check_generator(random_state)
    draw = _flipped if sample.grouped else _redrawn
    # Rounding must not decide between draws that are really equal.
    least = value - 1e-12 * max(1.0, abs(value))
    above = sum(
        int(np.count_nonzero(measure.of_draws(part) >= least))
        for part in draw(sample, n_resamples, rng)
    )
    return CalibrationTestResult(value, (above + 1) / (n_resamples + 1), method, statistic)


def _redrawn(sample: Sample, n: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield weighted residuals of answers drawn from the predictions, one row per draw."""
    q, w = sample.ordered.q, sample.ordered.weights
    step = max(1, _CHUNK // len(q))
    for start in range(0, n, step):
        answers = rng.random((min(step, n - start), len(q))) < q
        yield np.subtract(answers, q) * w


def _flipped(sample: Sample, n: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield weighted residuals with the sign of whole groups flipped, one row per draw."""
    r = sample.ordered.weighted_residuals
    group = np.arange(len(r)) if sample.ordered.unit is None else sample.ordered.unit
    step = max(1, _CHUNK // len(r))
    n_groups = int(group.max()) + 1
    for start in range(0, n, step):
        signs = rng.integers(0, 2, size=(min(step, n - start), n_groups)) * 2.0 - 1.0
        yield signs[:, group] * r


class _Binned:
    """The debiased squared error as a function of weighted residuals in sorted order."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        bins, unit = sample.bins, sample.ordered.unit
        self.own_squares: Callable[[Array], Array] = lambda draws: bins.sum(np.square(draws))
        if unit is not None:
            # Residuals of one group in one bin are added up before they are squared.
            cell, code = np.unique(
                bins.of_queries(np.arange(len(bins))) * (int(unit.max()) + 1) + unit,
                return_inverse=True,
            )
            shape = (len(cell), len(code))
            add = sparse.csr_array((np.ones(len(code)), (code, np.arange(len(code)))), shape)
            first = np.searchsorted(cell // (int(unit.max()) + 1), np.arange(len(bins)))
            self.own_squares = lambda draws: (
                np.add.reduceat(np.square(add @ draws.T), first, axis=0).T
            )

    def value(self) -> float:
        return self.sample.moments.square

    def of_draws(self, draws: Array) -> Array:
        sums = self.sample.bins.sum(draws)
        return debiased_square(sums, self.own_squares(draws), self.sample.form.factor)

    def pvalue(self, value: float) -> float:
        return self.sample.score.pvalue


class _Kuiper:
    """The range of the cumulative differences, in units of its standard deviation."""

    def __init__(self, sample: Sample) -> None:
        ordered = sample.ordered
        self.ends = ordered.runs - 1
        self.r = ordered.weighted_residuals
        variance = float(np.sum(np.square(ordered.weights) * ordered.q * (1.0 - ordered.q)))
        if ordered.unit is not None:
            # Residuals of a group may add up, or cancel as those of the classes of a row do.
            # In the latter case the end of the walk says nothing about its way there.
            together = np.square(np.bincount(ordered.unit, weights=self.r)).sum()
            variance = max(variance, float(together))
        self.sd = math.sqrt(variance)

    def value(self) -> float:
        return float(self.of_draws(self.r[None, :])[0])

    def of_draws(self, draws: Array) -> Array:
        # Equal predictions are one step of the walk, so that row order does not matter.
        walk = np.cumsum(draws, axis=1)[:, self.ends]
        reach = np.maximum(walk.max(axis=1), 0.0) - np.minimum(walk.min(axis=1), 0.0)
        if self.sd == 0.0:
            return np.where(reach > 0.0, np.inf, 0.0)
        return reach / self.sd

    def pvalue(self, value: float) -> float:
        return brownian_range_sf(value)


def brownian_range_sf(x: float) -> float:
    """Return the probability that Brownian motion on [0, 1] has a range above x (Feller 1951)."""
    if x < 0.3:
        return 1.0  # to 16 digits
    # Terms whose normal tail is not zero in float64.
    k = np.arange(1, 2 + math.floor(40.0 / x))
    series = 8.0 * np.sum((-1.0) ** (k - 1) * k * special.ndtr(-k * x))
    return float(np.clip(series, 0.0, 1.0))
