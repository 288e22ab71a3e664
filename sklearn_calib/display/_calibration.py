"""The calibration curve with its uncertainty."""

from __future__ import annotations

from typing import Any

from sklearn_calib._validation import check_option
from sklearn_calib.display._matplotlib import despine_axes, new_axes, next_colour, pyplot
from sklearn_calib.metrics import (
    AdaptiveBinCalibrationError,
    CalibrationBins,
    CalibrationErrorResult,
    calibration_bins,
    calibration_error_interval,
)
from sklearn_calib.queries import Queries, as_queries

__all__ = ["AdaptiveCalibrationDisplay"]


class AdaptiveCalibrationDisplay:
    """Calibration curve from adaptive bins, with intervals.

    It is recommended to use `from_estimator` or `from_predictions`. All
    numbers are stored as attributes; `plot` only draws them.

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
    reference_ : matplotlib Line2D or None
        The diagonal.

    See Also
    --------
    calibration_bins : The numbers of the curve.

    Examples
    --------
    >>> from sklearn_calib import AdaptiveCalibrationDisplay, make_queries
    >>> sample = make_queries(2000, distortion="slope", random_state=0)
    >>> display = AdaptiveCalibrationDisplay.from_predictions(
    ...     sample.y_true, sample.y_prob, name="simulated"
    ... )
    >>> display.ax_.get_xlabel()
    'Mean predicted probability'
    """

    def __init__(
        self,
        bins: CalibrationBins,
        *,
        result: CalibrationErrorResult | None = None,
        name: str | None = None,
        confidence_level: float = 0.95,
    ) -> None:
        self.bins = bins
        self.result = result
        self.name = name
        self.confidence_level = confidence_level

    def _label(self, name: str | None) -> str:
        parts = [] if name is None else [name]
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
        marks: bool = True,
        ref_line: bool = True,
        legend: bool = True,
        despine: bool = False,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> AdaptiveCalibrationDisplay:
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
        marks : bool, default=True
            Mark the bins on the axis; they hold about the same number of
            queries each, so that dense marks mean many predictions.
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
        self.figure_, self.ax_ = new_axes(ax, figsize=(5.2, 5.2))
        ax = self.ax_
        level, bins = self.confidence_level, self.bins
        x, y = bins.prob_pred, bins.prob_true
        colour = next_colour(ax)
        style = {"color": colour, "marker": "o", "markersize": 4, "linewidth": 1.5}
        style |= {"label": self._label(self.name if name is None else name)}
        style |= curve_kwargs or {}

        self.reference_ = None
        has_reference = any(line.get_gid() == "reference" for line in ax.get_lines())
        if ref_line and not has_reference:
            (self.reference_,) = ax.plot(
                [0, 1],
                [0, 1],
                linestyle="--",
                color="0.4",
                linewidth=1,
                gid="reference",
                label="perfectly calibrated",
                zorder=1,
            )
        self.consistency_ = None
        if consistency:
            low, high = bins.consistency_band(level)
            self.consistency_ = ax.fill_between(
                x,
                low,
                high,
                color="0.5",
                alpha=0.25,
                linewidth=0,
                zorder=0,
                label=f"{level:.0%} consistency band",
            )
        (self.line_,) = ax.plot(x, y, **style)
        colour = self.line_.get_color()
        self.interval_ = None
        if interval is not None:
            low, high = bins.confidence_interval(level, interval_method)
            if interval == "bar":
                self.interval_ = ax.vlines(x, low, high, color=colour, linewidth=1, alpha=0.8)
            else:
                self.interval_ = ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        self.marks_ = None
        if marks:
            # Marks of several curves stand in rows of their own below one another.
            row = getattr(ax, "_sklearn_calib_rows", 0)
            ax._sklearn_calib_rows = row + 1
            self.marks_ = ax.vlines(
                x,
                row * 0.02,
                row * 0.02 + 0.015,
                color=colour,
                linewidth=1,
                transform=ax.get_xaxis_transform(),
            )
        ax.set(
            xlabel="Mean predicted probability",
            ylabel="Observed frequency",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            aspect="equal",
        )
        if legend:
            title = None
            if self.result is not None:
                title = f"Calibration error [{self.result.confidence_level:.0%} interval]"
            ax.legend(loc="upper left", fontsize="small", title=title, title_fontsize="small")
        if despine:
            despine_axes(ax)
        return self

    @classmethod
    def from_queries(
        cls,
        queries: Queries,
        *,
        bin_size: Any = "auto",
        n_bins: int | None = None,
        strategy: str = "adaptive",
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> AdaptiveCalibrationDisplay:
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
        bins = calibration_bins(queries, bin_size=bin_size, n_bins=n_bins, strategy=strategy)
        result = None
        if len(queries) >= 4:
            result = calibration_error_interval(queries, confidence_level=confidence_level)
        display = cls(bins, result=result, name=name, confidence_level=confidence_level)
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
    ) -> AdaptiveCalibrationDisplay:
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
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        average: str = "micro",
        unit: str = "tag",
        pairs: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> AdaptiveCalibrationDisplay:
        """Draw the curve of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            With `predict_proba` and `classes_`, or with `calibration_queries`.
        X, y : array-like
            Data to predict, and the truth.
        average : {"micro", "macro", "top_label"}, default="micro"
            As in `AdaptiveBinCalibrationError`; "macro" draws what "micro" does.
        unit : {"tag", "pair"}, default="tag"
            As in `AdaptiveBinCalibrationError`.
        pairs : int or list, default=None
            As in `AdaptiveBinCalibrationError`.
        pos_label : object, default=None
            As in `AdaptiveBinCalibrationError`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        name : str, default=None
            Name in the legend; by default that of the class.
        **options
            Keywords of `from_queries` and `plot`.

        Returns
        -------
        AdaptiveCalibrationDisplay
            The drawn display.
        """
        scorer = AdaptiveBinCalibrationError(
            average=average, unit=unit, pairs=pairs, pos_label=pos_label
        )
        queries = scorer.queries(estimator, X, y, sample_weight=sample_weight)
        name = type(estimator).__name__ if name is None else name
        return cls.from_queries(queries, name=name, **options)
