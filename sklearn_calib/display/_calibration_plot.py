"""How a calibration curve is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from sklearn_calib._results import percent
from sklearn_calib._validation import check_option
from sklearn_calib.display._histogram import PredictionCounts, histogram_axes, name_counts
from sklearn_calib.display._matplotlib import (
    despine_axes,
    draw_band,
    free_colours,
    line_options,
    new_axes,
    plain_text,
    remember,
)
from sklearn_calib.display._probability_axes import draw_diagonal, open_axes, shade_confidence
from sklearn_calib.metrics import CalibrationBins, CalibrationCurve, CalibrationErrorResult
from sklearn_calib.metrics._bins import INTERVALS


class CalibrationPlot:
    """The numbers of a calibration curve, and how to draw them."""

    def __init__(
        self,
        bins: CalibrationBins,
        *,
        result: CalibrationErrorResult | None = None,
        name: str | None = None,
        confidence_level: float = 0.95,
        curve: CalibrationCurve | None = None,
        folds: Sequence[CalibrationBins] = (),
        counts: PredictionCounts | None = None,
    ) -> None:
        self.bins = bins
        self.result = result
        self.name = name
        self.confidence_level = confidence_level
        self.curve = curve
        self.folds = folds
        self.counts = counts

    def _label(self, name: str | None) -> str:
        parts = [] if name is None else [plain_text(name)]
        if self.result is not None:
            low, high = self.result.confidence_interval
            parts.append(f"{self.result.error:.3f} [{low:.3f}, {high:.3f}]")
        return ": ".join(parts) or "model"

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        interval: str | None = "bar",
        interval_method: str = "wilson",
        consistency: bool = False,
        distribution: str | None = "marks",
        scale: str = "linear",
        zoom: tuple[float, float] | None = None,
        shade: bool = False,
        ref_line: bool = True,
        legend: bool = True,
        despine: bool = False,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            Name in the legend; by default the stored one.
        interval : {"bar", "band", None}, default="bar"
            How to show each bin's confidence interval.
        interval_method : {"wilson", "normal", "clopper-pearson"}, default="wilson"
            How to compute it.
        consistency : bool, default=False
            Shade where the bins would fall if every prediction were right.
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
        check_option(interval, "interval", ("bar", "band", None))
        check_option(distribution, "distribution", ("marks", "histogram", None))
        check_option(scale, "scale", ("linear", "logit"))
        check_option(interval_method, "interval_method", INTERVALS)
        tall = distribution == "histogram"
        if tall and self.counts is None:
            raise ValueError(
                "distribution='histogram' needs counts, which this display was made without: "
                "make it with from_predictions, from_estimator or from_cv_results."
            )
        self.figure_, self.ax_ = new_axes(ax, figsize=(5.4, 6.5 if tall else 5.4))
        ax = self.ax_
        level, bins = self.confidence_level, self.bins
        drawing, others = open_axes(ax, scale, zoom, bins)
        x, y = drawing.x(bins.prob_pred), drawing.y(bins.prob_true)
        (colour,) = free_colours(other.colour for other in others)
        style: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 4}
        style |= {"linewidth": 1.5, "label": self._label(self.name if name is None else name)}
        style |= line_options(curve_kwargs)

        self.reference_ = None
        if ref_line and not any(other.reference for other in others):
            self.reference_ = draw_diagonal(ax)
            drawing.reference = True
        if shade and not any(other.shaded for other in others):
            shade_confidence(ax, scale)
            drawing.shaded = True
        self.consistency_ = None
        if consistency:
            low, high = map(drawing.y, bins.consistency_band(level))
            self.consistency_ = draw_band(
                ax, x, low, high, color="0.5", alpha=0.25, zorder=0,
                label=f"{percent(level)} consistency band",
            )  # fmt: skip
        (self.line_,) = ax.plot(x, y, **style)
        colour = drawing.colour = self.line_.get_color()
        remember(self.line_, drawing)
        self.folds_ = [
            ax.plot(
                drawing.x(fold.prob_pred), drawing.y(fold.prob_true), color=colour, alpha=0.35,
                linewidth=0.8, zorder=1,
            )[0]
            for fold in self.folds
        ]  # fmt: skip
        self.interval_ = None
        if interval is not None:
            low, high = map(drawing.y, bins.confidence_interval(level, interval_method))
            if interval == "bar":
                self.interval_ = ax.vlines(x, low, high, color=colour, linewidth=1, alpha=0.8)
            else:
                self.interval_ = draw_band(ax, x, low, high, color=colour, alpha=0.2)
        self.curve_ = None
        if self.curve is not None:
            (self.curve_,) = ax.plot(
                drawing.x(self.curve.prob_pred), drawing.y(self.curve.prob_true), color=colour,
                linestyle=":", linewidth=2, label=f"{self.curve.method} curve",
                marker="_" if len(self.curve.prob_pred) == 1 else None, markersize=14,
            )  # fmt: skip
        drawn = [self.line_, *self.folds_, self.interval_, self.consistency_, self.curve_]
        drawing.artists = [artist for artist in drawn if artist is not None]
        self.marks_ = self.histogram_ = None
        if distribution == "marks":
            # Marks of several curves stand in rows of their own.
            bottom = 0.02 * sum(other.marks is not None for other in others)
            self.marks_ = drawing.marks = ax.vlines(
                x, bottom, bottom + 0.015, color=colour, linewidth=1,
                transform=ax.get_xaxis_transform(),
            )  # fmt: skip
        elif self.counts is not None and tall:
            below = [other.below for other in others if other.below is not None]
            self.histogram_ = below[0] if below else histogram_axes(ax)
            drawing.add_bars(self.histogram_, self.counts)
            shown = [drawn.counts for drawn in (*others, drawing) if drawn.counts is not None]
            name_counts(self.histogram_, shown)
        if legend:
            title = None
            if self.result is not None:
                title = f"Calibration error [{percent(self.result.confidence_level)} interval]"
            # The best place avoids shades, which are everywhere.
            shaded = any(drawn.shaded for drawn in (*others, drawing))
            place = "upper left" if shaded else "best"
            ax.legend(loc=place, fontsize="small", title=title, title_fontsize="small")
        if despine:
            despine_axes(ax)
            if self.histogram_ is not None:
                despine_axes(self.histogram_)
        return self
