"""Is the model perfectly calibrated? Tests with the level they promise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from sklearn_calib._results import Result
from sklearn_calib._validation import (
    RandomState,
    check_generator,
    check_integer,
    check_number,
    check_option,
)
from sklearn_calib.metrics._inference._binned_null import resampled_pvalue
from sklearn_calib.metrics._inference._cox import fit_cox
from sklearn_calib.metrics._inference._impossible import ImpossibleAnswers, impossible_answers
from sklearn_calib.metrics._inference._null_statistics import PARTS
from sklearn_calib.metrics._inference._null_tests import null_test
from sklearn_calib.metrics._inference._sample import (
    Sample,
    check_inference_bins,
    make_sample,
    refuse_one_group,
)
from sklearn_calib.metrics._inference._spiegelhalter import spiegelhalter_test
from sklearn_calib.queries._as_queries import Groups, queries_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

__all__ = ["CalibrationTestResult", "calibration_test"]

STATISTICS = ("omnibus", "binned", "kuiper", "cox", "spiegelhalter")
METHODS = ("auto", "resampling", "asymptotic")

# The p-value below which a sentence says that something was found.
_LEVEL = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationTestResult(Result):
    """A test of perfect calibration, or of an error below a tolerance.

    Attributes
    ----------
    statistic : float
        What was compared with its law: the Cauchy combination of the parts
        ("omnibus"), the debiased squared error ("binned"), the range of the
        cumulative differences in units of its standard deviation ("kuiper"),
        the score statistic of slope and intercept ("cox"), Spiegelhalter's z
        ("spiegelhalter"), or the debiased error ("tolerance").
    pvalue : float
        Probability of so large a statistic if every prediction were right; for
        "tolerance", of so small an error if the true one were the tolerance.
    method : {"resampling", "asymptotic"}
        Where the null distribution came from.
    name : str
        Which statistic, or "tolerance".
    components : Mapping
        The p-value of each part of the omnibus test, by name.
    estimates : Mapping
        Numbers that say what was found: "slope" and "intercept", each with the
        ends "_low" and "_high" of its 95% interval ("cox"); "brier" and
        "promised" ("spiegelhalter"); "error" and "upper", the upper end of
        its 95% interval ("tolerance").
    meaning : str
        What the test says, as a sentence.
    impossible : tuple of int
        Answers that no calibrated model could have given, as `yes` (where the
        prediction is 0) and `no` (where it is 1). Any of them makes the p-value 0.

    See Also
    --------
    calibration_test : Makes this object.
    """

    statistic: float
    pvalue: float
    method: str
    name: str
    components: Mapping[str, float] = field(default_factory=dict)
    estimates: Mapping[str, float] = field(default_factory=dict)
    meaning: str = ""
    impossible: ImpossibleAnswers = field(default_factory=ImpossibleAnswers)

    _shows_table = False

    def _columns(self) -> dict[str, list[object]]:
        row: dict[str, object] = {
            "name": self.name,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "method": self.method,
            **{f"pvalue_{name}": value for name, value in self.components.items()},
            **self.estimates,
            "n_impossible": sum(self.impossible),
            "meaning": self.meaning,
        }
        return {name: [value] for name, value in row.items()}

    def _sentence(self) -> str:
        if self.name == "tolerance":
            found = f"error {self.statistic:.4f}, p = {self.pvalue:.3g} for an error at or above it"
        else:
            found = f"statistic {self.statistic:.4g}, p = {self.pvalue:.3g} for perfect calibration"
        text = f"{self.name} {found} ({self.method})\n{self.meaning}"
        if self.impossible:
            text += f"\nimpossible if the predictions were right: {self.impossible.text}"
        return text


def calibration_test(
    y_true: ArrayLike | Queries | QueryScan,
    y_prob: ArrayLike | None = None,
    *,
    statistic: str = "omnibus",
    tolerance: float | None = None,
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
    y_true : array-like of shape (n_samples,), Queries or QueryScan
        True labels, or queries in place of both arrays.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities: of the positive class, or of every class.
    statistic : str, default="omnibus"
        What is looked at.

        - "omnibus" combines Kuiper's statistic, Cox's, sums of residuals over
          stretches of several places and widths ("local"), and over waves of
          several lengths, and so finds errors of any shape.
        - "binned" is the debiased squared error over adaptive bins. Its
          p-value is that of `calibration_error_interval`.
        - "kuiper" is the range of the running sum of `y_true - y_prob` in
          order of prediction. It is strongest where predictions are too high
          or too low over a long stretch.
        - "cox" asks whether log-odds are too high or too extreme: a logistic
          regression of the answers on the log-odds of the predictions has
          intercept 0 and slope 1 where predictions are right.
        - "spiegelhalter" asks whether the Brier score is the one that the
          predictions promise. It finds predictions that are too extreme, or
          not extreme enough, and is blind to many other errors.
    tolerance : float, default=None
        Test another hypothesis: that the calibration error is at least so
        large. A small p-value then says that the model is close enough. It is
        below 0.025 exactly when the 95% interval of
        `calibration_error_interval` ends below the tolerance. Only for
        statistics "omnibus" and "binned".
    bin_size : int or "auto", default="auto"
        Queries per bin, for "binned" and with a tolerance; "auto" makes about
        2 sqrt(N) bins.
    n_bins : int, default=None
        Ask for a number of bins instead of a size.
    method : {"auto", "resampling", "asymptotic"}, default="auto"
        "resampling" draws answers from the predictions themselves, so that
        the level is exact at every size of the sample. "asymptotic" uses the
        law of the statistic in large samples. "auto" resamples where at most
        5,000 answers are expected to go against their prediction. It never
        resamples "binned", whose p-value needs no draws, nor "spiegelhalter"
        with groups.
    n_resamples : int, default=999
        Number of resamples; the p-value is at least 1 / (n_resamples + 1).
    groups : array-like of shape (n_samples,), False or None, default=None
        Which sentence, document or person each query belongs to, as in
        `calibration_error_interval`. With groups, "resampling" flips the sign
        of whole groups of residuals, and draws answers that depend on each
        other as those seen do; the larger p-value counts.
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
        Statistic, p-value, and what they mean.

    See Also
    --------
    calibration_error_interval : How large the error is, not only whether there is one.

    Notes
    -----
    An answer that contradicts a prediction of exactly 0 or 1 gives a p-value
    of 0: no calibrated model could have produced it.

    The p-values of the parts of the omnibus test are combined after Liu and
    Xie [1]_, and the combination is ranked among those of the draws. Cox's
    test is described in [2]_, Spiegelhalter's in [3]_.

    A small p-value says that the model is not perfect, which with enough data
    no model is. Look at the interval, or state a tolerance, before you act.

    References
    ----------
    .. [1] Y. Liu and J. Xie, "Cauchy combination test", Journal of the American
       Statistical Association 115, 2020.
    .. [2] D. R. Cox, "Two further applications of a model for binary
       regression", Biometrika 45, 1958.
    .. [3] D. J. Spiegelhalter, "Probabilistic prediction in patient management
       and clinical trials", Statistics in Medicine 5, 1986.

    Examples
    --------
    >>> from sklearn_calib import calibration_test
    >>> from sklearn_calib.datasets import make_queries
    >>> good = make_queries(2000, random_state=0)
    >>> bad = make_queries(2000, distortion="slope", strength=0.5, random_state=0)
    >>> calibration_test(good.queries, random_state=0).pvalue > 0.05
    True
    >>> calibration_test(bad.queries, random_state=0).pvalue
    0.001
    >>> print(calibration_test(bad.queries, statistic="cox", random_state=0).meaning)
    Log-odds are too extreme by 2.00 [1.81 to 2.21]
    >>> print(calibration_test(good.queries, tolerance=0.1).meaning)
    The error is below 0.1: at most 0.0534 (95% interval)
    """
    check_option(statistic, "statistic", STATISTICS)
    check_option(method, "method", METHODS)
    check_integer(n_resamples, "n_resamples", low=19)
    check_inference_bins(bin_size, n_bins)
    if tolerance is not None:
        _check_tolerance(tolerance, statistic, method)
    queries = queries_or_scan(
        y_true, y_prob, classes=classes, groups=groups, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    if tolerance is not None:
        return _test_tolerance(make_sample(queries, bin_size, n_bins), float(tolerance))
    if statistic == "binned":
        sample = make_sample(queries, bin_size, n_bins)
        return _test_bins(sample, method, n_resamples, random_state)
    if isinstance(queries, Queries):
        refuse_one_group(queries.units)
    rng = check_generator(random_state)
    if statistic == "spiegelhalter":
        z = spiegelhalter_test(queries, method=method, n_resamples=n_resamples, rng=rng)
        return CalibrationTestResult(
            statistic=z.z,
            pvalue=z.pvalue,
            method=z.method,
            name=statistic,
            estimates={"brier": z.brier, "promised": z.promised},
            meaning=z.meaning,
            impossible=z.impossible,
        )
    parts = PARTS if statistic == "omnibus" else (statistic,)
    found = null_test(queries, parts, method=method, n_resamples=n_resamples, rng=rng)
    estimates: dict[str, float] = {}
    if statistic == "cox":
        fit = fit_cox(queries)
        for name, value, (low, high) in (
            ("slope", fit.slope, fit.slope_limits),
            ("intercept", fit.intercept, fit.intercept_limits),
        ):
            estimates |= {name: value, f"{name}_low": low, f"{name}_high": high}
        meaning = fit.meaning
    else:
        seen = [name for name, pvalue in found.parts.items() if pvalue <= _LEVEL]
        # Impossible answers are not seen by a part: they need no statistic.
        parts_count = statistic == "omnibus" and not found.impossible
        meaning = _verdict(found.pvalue, seen if parts_count else [])
    return CalibrationTestResult(
        statistic=found.statistic,
        pvalue=found.pvalue,
        method=found.method,
        name=statistic,
        components=found.parts if statistic == "omnibus" else {},
        estimates=estimates,
        meaning=meaning,
        impossible=found.impossible,
    )


def _check_tolerance(tolerance: float, statistic: str, method: str) -> None:
    """Refuse a tolerance that is no error, or with a test that cannot tell how large one is."""
    check_number(tolerance, "tolerance", positive=True)
    if tolerance >= 1.0:
        raise ValueError(f"tolerance must be below 1, as every error is; got {tolerance!r}.")
    if statistic not in ("omnibus", "binned"):
        raise ValueError(
            f"statistic={statistic!r} does not measure how large the error is. With a tolerance, "
            "leave statistic out."
        )
    if method == "resampling":
        raise ValueError(
            "method='resampling' draws answers of a perfect model, which say nothing about a "
            "tolerance; leave method out."
        )


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _verdict(pvalue: float, seen: list[str]) -> str:
    """Say whether anything speaks against perfect calibration, and which parts see it."""
    if pvalue > _LEVEL:
        return "Nothing speaks against perfect calibration at the 5% level"
    by = f", as seen by {_listed(seen)}" if seen else ""
    return f"The predictions are not perfectly calibrated{by}"


def _test_bins(
    sample: Sample, method: str, n_resamples: int, random_state: RandomState
) -> CalibrationTestResult:
    pvalue = sample.score.pvalue
    impossible = impossible_answers(sample.ordered)
    possible = not (pvalue == 0.0 and math.isinf(sample.score.null_score))
    if method == "resampling" and sample.bins.queries.pool is not None:
        raise TypeError(
            "statistic='binned' with method='resampling' draws all answers of a scan anew. Leave "
            "method out, or pass scan.collect() or scan.sample(100_000)."
        )
    if method == "resampling" and possible:
        pvalue = resampled_pvalue(sample, n_resamples, check_generator(random_state))
    return CalibrationTestResult(
        statistic=sample.moments.square,
        pvalue=pvalue,
        method="resampling" if method == "resampling" else "asymptotic",
        name="binned",
        meaning=_verdict(pvalue, []),
        impossible=impossible,
    )


def _test_tolerance(sample: Sample, tolerance: float) -> CalibrationTestResult:
    error = math.sqrt(max(0.0, sample.moments.square))
    upper = math.sqrt(sample.score.limits(0.95)[1])
    pvalue = sample.score.pvalue_of_at_least(tolerance**2)
    if upper < tolerance:
        meaning = f"The error is below {tolerance:g}: at most {upper:.4f} (95% interval)"
    else:
        meaning = f"The error may be {tolerance:g} or more: up to {upper:.4f} (95% interval)"
    return CalibrationTestResult(
        statistic=error,
        pvalue=pvalue,
        method="asymptotic",
        name="tolerance",
        estimates={"error": error, "upper": upper},
        meaning=meaning,
    )
