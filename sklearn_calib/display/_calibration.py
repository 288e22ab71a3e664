"""The calibration curve, or reliability diagram, with its uncertainty."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from sklearn_calib._results import ConfidenceInterval, counted, percent
from sklearn_calib._validation import check_option
from sklearn_calib.display._axes import (
    despine_axes,
    draw_band,
    free_colours,
    line_options,
    new_axes,
    plain_text,
    pyplot,
    remember,
)
from sklearn_calib.display._histogram import PredictionCounts, histogram_axes, name_counts
from sklearn_calib.display._keywords import known_keywords
from sklearn_calib.display._probability_axes import (
    CurveDrawing,
    Points,
    draw_diagonal,
    open_axes,
    shade_confidence,
)
from sklearn_calib.display._query_display import QueryDisplay
from sklearn_calib.metrics._band import CalibrationBand, calibration_band
from sklearn_calib.metrics._bins import INTERVALS, CalibrationBins, calibration_bins
from sklearn_calib.metrics._curves import CalibrationCurve
from sklearn_calib.metrics._gaussian_process import gaussian_process_calibration_curve
from sklearn_calib.metrics._inference._moments import TooFewError
from sklearn_calib.metrics._interval import CalibrationErrorResult, calibration_error_interval
from sklearn_calib.metrics._isotonic import isotonic_calibration_curve
from sklearn_calib.metrics._smooth import smooth_calibration_curve
from sklearn_calib.queries._as_queries import as_queries
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from pandas import DataFrame

__all__ = ["AdaptiveCalibrationDisplay"]

CURVES: dict[str, Callable[..., CalibrationCurve]] = {
    "smooth": smooth_calibration_curve,
    "isotonic": isotonic_calibration_curve,
    "gaussian_process": gaussian_process_calibration_curve,
}

# What bands are called here, and the method that makes each.
BANDS = {"simultaneous": "auto", "monotone": "monotone", "smooth": "smooth"}


class AdaptiveCalibrationDisplay(QueryDisplay):
    """Reliability diagram: the calibration curve from adaptive bins, with intervals.

    Each point is a bin of queries: how often the answer was yes, against the
    mean prediction. It is recommended to use `from_estimator`,
    `from_predictions` or `from_cv_results`. All numbers are stored as
    attributes; `plot` only draws them.

    Parameters
    ----------
    bins : CalibrationBins, default=None
        The points of the curve; without them, `curve` is drawn in their place.
    result : CalibrationErrorResult, default=None
        The calibration error and its interval, shown in the legend.
    name : str, default=None
        Name of the model, shown in the legend.
    confidence_level : float, default=0.95
        Level of the intervals and bands of bins; a curve has a level of its
        own.
    curve : CalibrationCurve, default=None
        A curve without bins, drawn in addition.
    folds : sequence of CalibrationBins, default=()
        The curves of the folds of a cross-validation, drawn thin.
    counts : PredictionCounts, default=None
        How many predictions lie where, for the histogram.
    band : CalibrationBand, default=None
        A band that holds the whole curve, shaded; its estimate is drawn where
        there are neither bins nor a curve.

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
    band_ : matplotlib artist or None
        The band for the whole curve.
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
    LabelCalibrationDisplay : One row per label, in place of one curve for all.

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

    figure_: Figure | SubFigure
    ax_: Axes
    line_: Line2D
    reference_: Line2D | None
    consistency_: Collection | None
    interval_: Collection | None
    band_: Collection | None
    curve_: Line2D | None
    folds_: list[Line2D]
    marks_: Collection | None
    histogram_: Axes | None

    def __init__(
        self,
        bins: CalibrationBins | None = None,
        *,
        result: CalibrationErrorResult | None = None,
        name: str | None = None,
        confidence_level: float = 0.95,
        curve: CalibrationCurve | None = None,
        folds: Sequence[CalibrationBins] = (),
        counts: PredictionCounts | None = None,
        band: CalibrationBand | None = None,
    ) -> None:
        found = [points for points in (bins, curve, band) if points is not None]
        if not found:
            raise ValueError("There is nothing to draw: pass bins, a curve or a band.")
        self.bins = bins
        self.result = result
        self.name = name
        self.confidence_level = confidence_level
        self.curve = curve
        self.folds = folds
        self.counts = counts
        self.band = band
        # What the line goes through.
        self._points: Points = found[0]

    def to_frame(self) -> DataFrame:
        """Return the points of the curve as a pandas DataFrame, one row per bin."""
        return self._points.to_frame()

    def _summary(self) -> str:
        points, result = self._points, self.result
        parts = [] if self.name is None else [str(self.name)]
        if isinstance(points, CalibrationBins):
            bins = counted(len(points), f"{points.strategy} bin")
            parts.append(f"{bins} of {counted(points.count.sum(), 'query', 'queries')}")
        else:
            parts.append(f"{self._curve_name} at {len(points.prob_pred)} points")
        if result is not None:
            parts.append(f"{_error_name(result)} {_error_text(result)}")
        return ", ".join(parts)

    @known_keywords()
    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        interval: str | None = "auto",
        interval_method: str = "wilson",
        consistency: bool = False,
        distribution: str | None = "marks",
        scale: str = "linear",
        zoom: tuple[float, float] | None = None,
        shade: bool = False,
        ref_line: bool = True,
        legend: bool = True,
        despine: bool = False,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            Name in the legend; by default the stored one.
        interval : {"auto", "bar", "band", None}, default="auto"
            How to show the confidence intervals of single points; "auto" draws
            a bar for each bin, and a band around a curve without bins. The band
            for the whole curve is drawn in any case, if there is one.
        interval_method : {"wilson", "normal", "clopper-pearson"}, default="wilson"
            How to compute those of bins.
        consistency : bool, default=False
            Shade where the points would fall if every prediction were right.
        distribution : {"marks", "histogram", None}, default="marks"
            How to show where the predictions are: marks of the bins on the
            axis (they hold about the same number of queries each, so that
            dense marks mean many predictions), or a histogram below, of all
            predictions, with log counts where they are very uneven.
        scale : {"linear", "logit"}, default="linear"
            A logit axis pulls predictions near 0 and 1 apart.
        zoom : tuple of float, default=None
            Show only this range of predictions and frequencies; by default all
            of it, or what the axes were zoomed to before.
        shade : bool, default=False
            Shade the regions of over- and underconfidence.
        ref_line : bool, default=True
            Draw the diagonal of perfect calibration.
        legend : bool, default=True
            Draw a legend.
        despine : bool, default=False
            Remove the top and right spines.
        curve_kwargs : dict, default=None
            Keywords for the curve's `Axes.plot`.

        Returns
        -------
        AdaptiveCalibrationDisplay
            The object itself, with the artists as attributes.
        """
        check_option(interval, "interval", ("auto", "bar", "band", None))
        check_option(distribution, "distribution", ("marks", "histogram", None))
        check_option(scale, "scale", ("linear", "logit"))
        check_option(interval_method, "interval_method", INTERVALS)
        if distribution == "histogram" and self.counts is None:
            raise ValueError(
                "distribution='histogram' needs counts, which this display was made without: "
                "make it with from_predictions, from_estimator or from_cv_results."
            )
        height = 6.5 if distribution == "histogram" else 5.4
        self.figure_, self.ax_ = new_axes(ax, figsize=(5.4, height))
        ax, points = self.ax_, self._points
        drawing, others = open_axes(ax, scale, zoom, points)
        x, y = drawing.x(points.prob_pred), drawing.y(points.prob_true)

        self.reference_ = None
        if ref_line and not any(other.reference for other in others):
            self.reference_ = draw_diagonal(ax)
            drawing.reference = True
        if shade and not any(other.shaded for other in others):
            shade_confidence(ax, scale)
            drawing.shaded = True
        self.consistency_ = None
        if consistency:
            low, high = map(drawing.y, self._consistency_band())
            self.consistency_ = draw_band(
                ax, x, low, high, color="0.5", alpha=0.25, zorder=0,
                label=f"{percent(self._level)} consistency band",
            )  # fmt: skip
        (colour,) = free_colours(other.colour for other in others)
        style: dict[str, Any] = {"color": colour, "linewidth": 1.5, "label": self._label(name)}
        if isinstance(points, CalibrationBins) or len(x) == 1:
            style |= {"marker": "o", "markersize": 4}
        (self.line_,) = ax.plot(x, y, **(style | line_options(curve_kwargs)))
        drawing.colour = self.line_.get_color()
        remember(self.line_, drawing)
        self._draw_uncertainty(drawing, interval, interval_method)
        self._draw_band(drawing)
        self._draw_curve(drawing)
        drawn = [
            self.line_, *self.folds_, self.interval_, self.band_, self.consistency_, self.curve_
        ]  # fmt: skip
        drawing.artists = [artist for artist in drawn if artist is not None]
        self._draw_distribution(distribution, drawing, others)
        if legend:
            self._draw_legend([*others, drawing])
        if despine:
            despine_axes(ax)
            if self.histogram_ is not None:
                despine_axes(self.histogram_)
        return self

    @property
    def _level(self) -> float:
        points = self._points
        if isinstance(points, CalibrationBins):
            return self.confidence_level
        return points.confidence_level

    @property
    def _curve_name(self) -> str:
        """What the line is, where it is not one of bins."""
        points = self._points
        if isinstance(points, CalibrationBand):
            return "isotonic curve" if points.method == "monotone" else "smooth curve"
        return f"{points.name} curve" if isinstance(points, CalibrationCurve) else "model"

    def _label(self, name: str | None) -> str:
        """Return the line's entry in the legend."""
        name = self.name if name is None else name
        parts = [] if name is None else [plain_text(name)]
        if self.result is not None:
            parts.append(_error_text(self.result))
        return ": ".join(parts) if parts else self._curve_name

    def _confidence_interval(self, method: str) -> ConfidenceInterval:
        points = self._points
        if isinstance(points, CalibrationCurve):
            return points.confidence_interval
        if isinstance(points, CalibrationBand):
            raise ValueError(_ONLY_BAND.format("interval"))
        return points.confidence_interval(self.confidence_level, method)

    def _consistency_band(self) -> ConfidenceInterval:
        points = self._points
        if isinstance(points, CalibrationCurve):
            return points.consistency_band
        if isinstance(points, CalibrationBand):
            raise ValueError(_ONLY_BAND.format("consistency"))
        return points.consistency_band(self.confidence_level)

    def _draw_uncertainty(self, drawing: CurveDrawing, interval: str | None, method: str) -> None:
        """Draw the folds, and the confidence intervals as bars or as a band."""
        ax, colour = self.ax_, drawing.colour
        self.folds_ = [
            ax.plot(
                drawing.x(fold.prob_pred), drawing.y(fold.prob_true), color=colour, alpha=0.35,
                linewidth=0.8, zorder=1,
            )[0]
            for fold in self.folds
        ]  # fmt: skip
        self.interval_ = None
        if interval is None:
            return
        if interval == "auto":
            if isinstance(self._points, CalibrationBand):
                return
            interval = "bar" if isinstance(self._points, CalibrationBins) else "band"
        x = drawing.x(self._points.prob_pred)
        low, high = map(drawing.y, self._confidence_interval(method))
        if interval == "bar":
            self.interval_ = ax.vlines(x, low, high, color=colour, linewidth=1, alpha=0.8)
        else:
            self.interval_ = draw_band(ax, x, low, high, color=colour, alpha=0.2)

    def _draw_band(self, drawing: CurveDrawing) -> None:
        """Shade the band for the whole curve."""
        band, self.band_ = self.band, None
        if band is None:
            return
        x, low, high = band._outline()
        self.band_ = draw_band(
            self.ax_, drawing.x(x), drawing.y(low), drawing.y(high), joined=x[0] < x[-1],
            color=drawing.colour, alpha=0.15, zorder=0.5,
            label=f"{percent(band.confidence_level)} simultaneous band ({band.method})",
        )  # fmt: skip

    def _draw_curve(self, drawing: CurveDrawing) -> None:
        """Draw the curve without bins beside that of the bins."""
        curve, self.curve_ = self.curve, None
        if curve is not None and curve is not self._points:
            (self.curve_,) = self.ax_.plot(
                drawing.x(curve.prob_pred), drawing.y(curve.prob_true), color=drawing.colour,
                linestyle=":", linewidth=2, label=f"{curve.name} curve",
                marker="_" if len(curve.prob_pred) == 1 else None, markersize=14,
            )  # fmt: skip

    def _draw_distribution(
        self, distribution: str | None, drawing: CurveDrawing, others: list[CurveDrawing]
    ) -> None:
        """Show where the predictions are."""
        self.marks_ = self.histogram_ = None
        if distribution == "marks":
            # Marks of several curves stand in rows of their own.
            bottom = 0.02 * sum(other.marks is not None for other in others)
            self.marks_ = drawing.marks = self.ax_.vlines(
                drawing.x(self._points.prob_pred), bottom, bottom + 0.015, color=drawing.colour,
                linewidth=1, transform=self.ax_.get_xaxis_transform(),
            )  # fmt: skip
        elif distribution == "histogram" and self.counts is not None:
            below = [other.below for other in others if other.below is not None]
            self.histogram_ = below[0] if below else histogram_axes(self.ax_)
            drawing.add_bars(self.histogram_, self.counts)
            shown = [drawn.counts for drawn in (*others, drawing) if drawn.counts is not None]
            name_counts(self.histogram_, shown)

    def _draw_legend(self, drawings: list[CurveDrawing]) -> None:
        title = None
        if self.result is not None:
            level = percent(self.result.confidence_level)
            title = f"{_error_name(self.result).capitalize()} [{level} interval]"
        # The best place avoids shades, which are everywhere.
        shaded = any(drawing.shaded for drawing in drawings)
        self.ax_.legend(
            loc="upper left" if shaded else "best", fontsize="small", title=title,
            title_fontsize="small",
        )  # fmt: skip

    @classmethod
    @known_keywords("plot")
    def from_queries(
        cls,
        queries: Queries | QueryScan,
        *,
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        strategy: str = "adaptive",
        confidence_level: float = 0.95,
        curve: str | None = None,
        band: str | None = None,
        folds: Sequence[Queries] = (),
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of queries.

        Parameters
        ----------
        queries : Queries or QueryScan
            What to draw.
        bin_size : int or "auto", default="auto"
            As in `calibration_bins`.
        n_bins : int, default=None
            As in `calibration_bins`.
        strategy : {"adaptive", "balanced", "uniform"}, default="adaptive"
            As in `calibration_bins`.
        confidence_level : float, default=0.95
            Level of all intervals and bands.
        curve : {"smooth", "isotonic", "gaussian_process", None}, default=None
            Draw a curve without bins as well.
        band : {"simultaneous", "monotone", "smooth", None}, default=None
            Shade a band that holds the whole curve, as `calibration_band` makes
            it; "simultaneous" leaves the method to it.
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
        check_option(band, "band", (*BANDS, None))
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
        whole = None
        if band is not None:
            whole = calibration_band(queries, confidence_level=confidence_level, method=BANDS[band])
        display = cls(
            bins,
            result=result,
            name=name,
            confidence_level=confidence_level,
            curve=line,
            folds=[calibration_bins(fold, **options) for fold in folds],
            counts=PredictionCounts.of(queries),
            band=whole,
        )
        return display.plot(ax=ax, **plot_options)

    @classmethod
    def _from_folds(cls, folds: list[Queries], **options: Any) -> Self:
        return cls.from_queries(Queries.concat(folds), folds=folds, **options)

    @classmethod
    @known_keywords("plot")
    def compare_strategies(
        cls,
        y_true: ArrayLike | Queries,
        y_prob: ArrayLike | None = None,
        *,
        bin_size: int | str = "auto",
        n_bins: Sequence[int] = (10, 50),
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        **plot_options: Any,
    ) -> list[Self]:
        """Draw adaptive bins beside bins of fixed width, to show what fixed width hides.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or Queries
            True labels, or queries in place of both arrays.
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Predicted probabilities: of the positive class, or of every class.
        bin_size : int or "auto", default="auto"
            Of the adaptive bins.
        n_bins : sequence of int, default=(10, 50)
            Numbers of bins of fixed width, with one picture for each.
        classes : array-like of shape (n_classes,), default=None
            The class of each column of a 2-D `y_prob`; by default the sorted
            labels of `y_true`.
        sample_weight : array-like of shape (n_samples,), default=None
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
        if "ax" in plot_options:
            raise ValueError("The pictures have a figure of their own: leave ax out.")
        queries = as_queries(
            y_true, y_prob, classes=classes, sample_weight=sample_weight, pos_label=pos_label
        )
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


_ONLY_BAND = "{}: a band for the whole curve has none; draw it with bins or with a curve."


def _error_name(result: CalibrationErrorResult) -> str:
    return "squared calibration error" if result.squared else "calibration error"


def _error_text(result: CalibrationErrorResult) -> str:
    low, high = result.confidence_interval
    # Squares of small numbers need more digits.
    digits = 5 if result.squared else 3
    return f"{result.error:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
