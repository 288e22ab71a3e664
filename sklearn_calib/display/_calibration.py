"""The calibration curve with its uncertainty."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Self

from sklearn_calib._validation import check_option
from sklearn_calib.display._calibration_plot import CalibrationPlot
from sklearn_calib.display._histogram import PredictionCounts
from sklearn_calib.display._matplotlib import pyplot
from sklearn_calib.display._models import ModelDisplay
from sklearn_calib.metrics import (
    TooFewError,
    calibration_bins,
    calibration_error_interval,
    isotonic_calibration_curve,
    smooth_calibration_curve,
)
from sklearn_calib.queries._as_queries import as_queries
from sklearn_calib.queries._queries import Queries

__all__ = ["AdaptiveCalibrationDisplay"]

CURVES: dict[str, Any] = {
    "smooth": smooth_calibration_curve,
    "isotonic": isotonic_calibration_curve,
}


class AdaptiveCalibrationDisplay(CalibrationPlot, ModelDisplay):
    """Calibration curve from adaptive bins, with intervals.

    It is recommended to use `from_estimator`, `from_predictions` or
    `from_cv_results`. All numbers are stored as attributes; `plot` only draws
    them.

    Parameters
    ----------
    bins : CalibrationBins
        The points of the curve.
    result : CalibrationErrorResult, default=None
        The calibration error and its interval, shown in the legend.
    name : str, default=None
        Name of the model, shown in the legend.
    confidence_level : float, default=0.95
        Level of the intervals and bands.
    curve : CalibrationCurve, default=None
        A curve without bins, drawn in addition.
    folds : sequence of CalibrationBins, default=()
        The curves of the folds of a cross-validation, drawn thin.
    counts : PredictionCounts, default=None
        How many predictions lie where, for the histogram.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.
    line_ : matplotlib Line2D
        The curve.
    interval_ : matplotlib artist or None
        The confidence intervals of the bins.
    consistency_ : matplotlib artist or None
        The consistency band.
    marks_ : matplotlib artist or None
        The marks that show where the bins lie.
    histogram_ : matplotlib Axes or None
        The histogram of the predictions.
    reference_ : matplotlib Line2D or None
        The diagonal.
    curve_ : matplotlib Line2D or None
        The curve without bins.
    folds_ : list of matplotlib Line2D
        The curves of the folds.

    See Also
    --------
    calibration_bins : The numbers of the curve.

    Examples
    --------
    >>> from sklearn_calib import AdaptiveCalibrationDisplay
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(2000, distortion="slope", random_state=0)
    >>> display = AdaptiveCalibrationDisplay.from_predictions(
    ...     sample.y_true, sample.y_prob, name="simulated"
    ... )
    >>> display.ax_.get_xlabel()
    'Mean predicted probability'
    """

    @classmethod
    def from_queries(
        cls,
        queries: Queries,
        *,
        bin_size: Any = "auto",
        n_bins: int | None = None,
        strategy: str = "adaptive",
        confidence_level: float = 0.95,
        curve: str | None = None,
        folds: Sequence[Queries] = (),
        name: str | None = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of queries.

        Parameters
        ----------
        queries : Queries
            What to draw.
        bin_size : int or "auto", default="auto"
            As in `calibration_bins`.
        n_bins : int, default=None
            As in `calibration_bins`.
        strategy : {"adaptive", "uniform"}, default="adaptive"
            As in `calibration_bins`.
        confidence_level : float, default=0.95
            Level of all intervals and bands.
        curve : {"smooth", "isotonic", None}, default=None
            Draw a curve without bins as well.
        folds : sequence of Queries, default=()
            Parts of the queries to draw thin, e.g. the folds of a
            cross-validation.
        name : str, default=None
            Name in the legend.
        ax : matplotlib Axes, default=None
            Where to draw.
        **plot_options
            Further keywords of `plot`.

        Returns
        -------
        AdaptiveCalibrationDisplay
            The drawn display.
        """
        pyplot()
        check_option(curve, "curve", (*CURVES, None))
        options: dict[str, Any] = {"bin_size": bin_size, "n_bins": n_bins, "strategy": strategy}
        bins = calibration_bins(queries, **options)
        # A handful of queries has a curve, but no interval for its error.
        result = None
        with contextlib.suppress(TooFewError):
            result = calibration_error_interval(queries, confidence_level=confidence_level)
        line = None
        if curve is not None:
            extra = {"random_state": 0} if curve == "isotonic" else {}
            line = CURVES[curve](queries, confidence_level=confidence_level, **extra)
        display = cls(
            bins,
            result=result,
            name=name,
            confidence_level=confidence_level,
            curve=line,
            folds=[calibration_bins(fold, **options) for fold in folds],
            counts=PredictionCounts.of(queries),
        )
        return display.plot(ax=ax, **plot_options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any = None,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of given predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_queries,) or Queries
            Binary labels, or queries in place of both arrays.
        y_prob : array-like of shape (n_queries,)
            Predicted probabilities.
        sample_weight : array-like of shape (n_queries,), default=None
            Non-negative weights.
        pos_label : object, default=None
            The label whose probability `y_prob` gives.
        **options
            Keywords of `from_queries` and `plot`.

        Returns
        -------
        AdaptiveCalibrationDisplay
            The drawn display.
        """
        queries = as_queries(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
        return cls.from_queries(queries, **options)

    @classmethod
    def _from_folds(cls, folds: list[Queries], **options: Any) -> Self:
        return cls.from_queries(Queries.concat(folds), folds=folds, **options)

    @classmethod
    def compare_strategies(
        cls,
        y_true: Any,
        y_prob: Any = None,
        *,
        bin_size: Any = "auto",
        n_bins: Sequence[int] = (10, 50),
        sample_weight: Any = None,
        pos_label: Any = None,
        **plot_options: Any,
    ) -> list[Self]:
        """Draw adaptive bins beside bins of fixed width, to show what fixed width hides.

        Parameters
        ----------
        y_true : array-like of shape (n_queries,) or Queries
            Binary labels, or queries in place of both arrays.
        y_prob : array-like of shape (n_queries,)
            Predicted probabilities.
        bin_size : int or "auto", default="auto"
            Of the adaptive bins.
        n_bins : sequence of int, default=(10, 50)
            Numbers of bins of fixed width, a picture each.
        sample_weight : array-like of shape (n_queries,), default=None
            Non-negative weights.
        pos_label : object, default=None
            The label whose probability `y_prob` gives.
        **plot_options
            Keywords of `plot`.

        Returns
        -------
        list of AdaptiveCalibrationDisplay
            The displays from left to right; the adaptive one is the last.
        """
        queries = as_queries(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
        count = len(n_bins) + 1
        _, axes = pyplot().subplots(
            1, count, figsize=(4.2 * count, 4.8), layout="constrained", squeeze=False
        )
        counts = PredictionCounts.of(queries)
        displays = []
        for ax, number in zip(axes[0], [*n_bins, None], strict=True):
            uniform = number is not None
            bins = calibration_bins(
                queries,
                bin_size="auto" if uniform else bin_size,
                n_bins=number,
                strategy="uniform" if uniform else "adaptive",
            )
            display = cls(bins, counts=counts).plot(ax=ax, **{"legend": False, **plot_options})
            title = "equal counts" if number is None else f"width {1 / number:g}"
            ax.set_title(f"{len(bins)} bins of {title}\ncalibration error {bins.error():.3f}")
            displays.append(display)
        return displays
