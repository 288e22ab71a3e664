"""A band that holds the whole calibration curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sklearn_calib._results import ConfidenceInterval, PlottedResult, percent
from sklearn_calib._validation import Array, check_confidence_level, check_option
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._inference._local_fit import smooth_fit
from sklearn_calib.metrics._inference._scan import monotone_limits
from sklearn_calib.metrics._smooth import check_bandwidth
from sklearn_calib.queries._as_queries import Groups, queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["BandRegion", "CalibrationBand", "calibration_band"]

METHODS = ("auto", "monotone", "smooth")

# Share of the error probability of the smooth band that is spent on noise; the rest allows
# for the bias that is left and for the choice of the bandwidth.
_NOISE_SHARE = 0.6

# Draws behind the critical value of the smooth band; each is read in both directions.
_DRAWS = 2000

# Stretches shorter than this are left out of the sentences where there are longer ones.
_SLIVER = 0.01

# Predictions closer to 0 or 1 than this are called 0 or 1.
_NEAREST = 1e-6

# Points between two points of the band at which the diagonal is compared with it.
_STEPS = 8


class BandRegion(NamedTuple):
    """A stretch of predictions where the diagonal lies outside the band.

    Attributes
    ----------
    start, stop : float
        From and to which prediction.
    too_high : bool
        Whether the predictions are too high there, or too low.
    """

    start: float
    stop: float
    too_high: bool

    @property
    def overconfident(self) -> bool:
        """Whether the predictions are too extreme: too far from one half."""
        return self.too_high == (self.start + self.stop >= 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationBand(PlottedResult):
    """A band that holds the whole calibration curve.

    Attributes
    ----------
    q : ndarray of shape (n_points,)
        Predictions, in increasing order.
    low, high : ndarray of shape (n_points,)
        Limits of the curve at each of them. Between them a smooth band is
        linear, and a monotone one has steps: `at` gives it anywhere.
    estimate : ndarray of shape (n_points,)
        The curve that the band lies around: smooth or isotonic.
    method : {"monotone", "smooth"}
        Which band; it says for which curves the level is promised.
    confidence_level : float
        Probability that the band holds the curve at all points at once.
    bandwidth : float or None
        Of the smooth curve, in units of log-odds.

    See Also
    --------
    calibration_band : Makes this object.
    """

    _shows_table = False

    q: Array
    low: Array
    high: Array
    estimate: Array
    method: str
    confidence_level: float
    bandwidth: float | None = None

    def at(self, y_prob: ArrayLike) -> ConfidenceInterval:
        """Limits of the curve at any predictions.

        Parameters
        ----------
        y_prob : array-like of shape (n_points,)
            Predictions. Beyond those of the data, a monotone band is known on
            one side only, and a smooth one keeps its last limits.

        Returns
        -------
        ConfidenceInterval
            Arrays `low` and `high`.
        """
        at = np.asarray(y_prob, dtype=float)
        if self.method == "smooth":
            low, high = (np.interp(at, self.q, limit) for limit in (self.low, self.high))
            return ConfidenceInterval(low, high)
        left = np.searchsorted(self.q, at, side="right") - 1
        right = np.searchsorted(self.q, at, side="left")
        last = len(self.q) - 1
        return ConfidenceInterval(
            np.where(left >= 0, self.low[np.maximum(left, 0)], 0.0),
            np.where(right <= last, self.high[np.minimum(right, last)], 1.0),
        )

    @property
    def prob_pred(self) -> Array:
        """The predictions `q`, by the name that they have in bins and curves."""
        return self.q

    @property
    def prob_true(self) -> Array:
        """The `estimate`, by the name that it has in bins and curves."""
        return self.estimate

    @property
    def crosses(self) -> bool:
        """Whether the limits contradict each other: no curve that never falls fits the answers."""
        return bool((self.low > self.high).any())

    @property
    def regions(self) -> list[BandRegion]:
        """Stretches of predictions where the diagonal lies outside the band, cut at one half."""
        parts = [
            np.linspace(a, b, _STEPS, endpoint=False)
            for a, b in zip(self.q[:-1], self.q[1:], strict=True)
        ]
        grid = np.unique(np.concatenate((*parts, self.q[-1:])))
        low, high = self.at(grid)
        side = (grid > high).astype(int) - (grid < low).astype(int)
        # Twice the number from one half on, where the same side means another word.
        side *= np.where(grid >= 0.5, 2, 1)
        edges = np.flatnonzero(np.diff(side)) + 1
        return [
            BandRegion(float(grid[a]), float(grid[b - 1]), bool(side[a] > 0))
            for a, b in zip(np.append(0, edges), np.append(edges, len(grid)), strict=True)
            if side[a]
        ]

    @property
    def sentences(self) -> list[str]:
        """What the band allows to say, all of it at once at the confidence level."""
        if self.crosses:
            return [
                "No curve that never falls fits the answers: somewhere the frequency of yes "
                "falls as predictions rise."
            ]
        regions = self.regions
        long = [region for region in regions if region.stop - region.start >= _SLIVER]
        return [_say(region) for region in long or regions] or [
            "The diagonal lies within the band: calibration is not refuted."
        ]

    def _outline(self) -> tuple[Array, Array, Array]:
        """Return the corners of the band: where straight lines between them draw it."""
        if self.method == "smooth":
            return self.q, self.low, self.high
        # A lower limit steps at its prediction, an upper one right behind it.
        before = np.append(self.low[:1], self.low[:-1])
        behind = np.append(self.high[1:], self.high[-1:])
        x = np.repeat(self.q, 2)
        return x, np.stack((before, self.low), 1).ravel(), np.stack((self.high, behind), 1).ravel()

    def _columns(self) -> dict[str, Array]:
        return {"q": self.q, "estimate": self.estimate, "low": self.low, "high": self.high}

    def _sentence(self) -> str:
        level = percent(self.confidence_level)
        return "\n".join([*self.sentences, f"(all at once, {level} {self.method} band)"])


def _say(region: BandRegion) -> str:
    # Ends are rounded inwards: nothing is said about predictions beyond them.
    start = _round(region.start, math.ceil, -1e-9)
    stop = _round(region.stop, math.floor, 1e-9)
    if start < stop:
        where = f"Between {_short(start)} and {_short(stop)}"
    else:
        where = f"Near {_short((region.start + region.stop) / 2.0)}"
    kind = "overconfident" if region.overconfident else "underconfident"
    side = "high" if region.too_high else "low"
    return f"{where} the model is {kind}: its predictions are too {side}."


def _digits(q: float) -> int:
    """Return how many digits a prediction needs: two, and more close to 0 and 1."""
    distance = min(q, 1.0 - q)
    if distance >= 0.01:
        return 2
    return 1 - math.floor(math.log10(max(distance, _NEAREST)))


def _round(q: float, whole: Callable[[float], int], hair: float) -> float:
    """Round to the digits that are shown; a hair of floating point does not cost one."""
    scale = 10 ** _digits(q)
    return whole(q * scale + hair) / scale


def _short(q: float) -> str:
    if min(q, 1.0 - q) < _NEAREST:
        return f"{q:.0f}"
    return f"{q:.{_digits(q)}f}"


def calibration_band(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    method: str = "auto",
    bandwidth: float | str = "auto",
    groups: Groups = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> CalibrationBand:
    """Band that holds the whole calibration curve with the stated probability.

    Intervals for single points may each be right 95 times in 100, and the curve
    still leave them somewhere almost always. This band holds the curve at all
    predictions at once, so that one may point at any stretch of it: "between
    0.30 and 0.60 the model is overconfident".

    No band of useful width can promise that for every curve. Each method says
    for which curves it does.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    confidence_level : float, default=0.95
        Probability that the whole curve is held.
    method : {"auto", "monotone", "smooth"}, default="auto"
        "monotone" promises its level for every curve that never falls, whatever
        its shape and however few queries there are (Dimitriadis et al. 2023)
        [1]_. "smooth" is for curves whose log-odds differ from those of the
        prediction by features no finer than about 0.6, such as 0.15 around a
        prediction of one half; they may fall (Chernozhukov et al. 2014) [2]_. It
        is narrower where there are many queries. "auto" is the monotone band; only
        where no curve that never falls fits the answers, it is the smooth
        one. So it keeps the promise of the monotone band.
    bandwidth : float or "auto", default="auto"
        Of the smooth curve, as in `smooth_calibration_curve`.
    groups : array-like of shape (n_samples,), False or None, default=None
        Queries of one group may depend on each other, as in
        `calibration_error_interval`. They then count for less, approximately.
    classes : array-like of shape (n_classes,), default=None
        The class of each column of a 2-D `y_prob`; by default the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. Whole ones stand for copies; others count by
        effective numbers of queries, approximately.
    pos_label : object, default=None
        The label whose probability `y_prob` gives.

    Returns
    -------
    CalibrationBand
        The limits, and what they allow to say.

    See Also
    --------
    smooth_calibration_curve : A curve with an interval at each point.
    calibration_test : A single answer about the whole curve.
    AdaptiveCalibrationDisplay : Draws the band with ``band="simultaneous"``.

    References
    ----------
    .. [1] T. Dimitriadis, L. Duembgen, A. Henzi, M. Puke and J. Ziegel, "Honest
       calibration assessment for binary outcome predictions", Biometrika
       110(3), 2023.
    .. [2] V. Chernozhukov, D. Chetverikov and K. Kato, "Anti-concentration and
       honest, adaptive confidence bands", Annals of Statistics 42(5), 2014.

    Examples
    --------
    >>> from sklearn_calib import calibration_band
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(20_000, distortion="slope", strength=0.5, random_state=0)
    >>> band = calibration_band(sample.queries)
    >>> for sentence in band.sentences:
    ...     print(sentence)
    Between 0.0021 and 0.31 the model is overconfident: its predictions are too low.
    Between 0.66 and 0.9988 the model is overconfident: its predictions are too high.
    """
    level = check_confidence_level(confidence_level)
    check_option(method, "method", METHODS)
    chosen = check_bandwidth(bandwidth)
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    ordered = sort_or_scan(queries, summed=True)
    if method != "smooth":
        q, low, high, fit = monotone_limits(ordered, level)
        band = CalibrationBand(q, low, high, fit, "monotone", level)
        if method == "monotone" or not band.crosses:
            return band
    return _smooth_band(ordered, level, chosen)


def _smooth_band(queries: SortedQueries, level: float, bandwidth: float | None) -> CalibrationBand:
    """Return the corrected fit plus and minus a multiple of its standard error.

    The multiple is the quantile of the largest deviation of the fit's own normal process.
    """
    fit = smooth_fit(queries, bandwidth)
    critical = _largest_deviation(fit.corrected.root, 1.0 - _NOISE_SHARE * (1.0 - level))
    low, high = fit.limits(critical)
    return CalibrationBand(
        fit.bins.q, low, high, fit.curve.p, "smooth", level, bandwidth=fit.bandwidth
    )


def _largest_deviation(root: Array, level: float) -> float:
    """Return the quantile of the largest absolute value of a standardised normal process.

    Rows of `root` times independent normals make the process. It is simulated from
    a fixed seed, with each draw read from both ends, so that the band is the same
    every time and whichever class is called positive.
    """
    sd = np.sqrt(np.square(root).sum(axis=1))
    rows = root[sd > 0.0] / sd[sd > 0.0, None]
    if len(rows) == 0:
        return float(special.ndtri(0.5 + level / 2.0))
    value, vector = np.linalg.eigh(rows @ rows.T)
    symmetric = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T
    normal = np.random.default_rng(0).standard_normal((len(rows), _DRAWS))
    most = [np.abs(symmetric @ z).max(axis=0) for z in (normal, normal[::-1])]
    return float(np.quantile(np.concatenate(most), level))
