"""How much the bin size and the sample size matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from sklearn_calib._results import percent
from sklearn_calib._validation import RandomState, check_option
from sklearn_calib.display._axes import (
    despine_axes,
    draw_band,
    drawings_on,
    free_colours,
    line_options,
    new_axes,
    plain_text,
    pyplot,
    remember,
)
from sklearn_calib.display._keywords import known_keywords
from sklearn_calib.display._query_display import QueryDisplay
from sklearn_calib.metrics._bin_sizes import BinSizeCurve, bin_size_curve
from sklearn_calib.metrics._sample_sizes import SampleSizeCurve, sample_size_curve
from sklearn_calib.queries._as_queries import as_queries
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from pandas import DataFrame

__all__ = ["BinSizeDisplay"]


@dataclass(eq=False)
class SizeDrawing:
    """One display on its axes: what the next one must know."""

    against: str
    colours: tuple[Any, Any]


class BinSizeDisplay(QueryDisplay):
    """Calibration error against bin size, or against sample size.

    It is recommended to use `from_predictions`, `from_estimator` or
    `from_cv_results`.

    Parameters
    ----------
    curve : BinSizeCurve or SampleSizeCurve
        The numbers.
    name : str, default=None
        Name of the model, shown in the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.
    plug_in_ : matplotlib Line2D
        The plug-in errors.
    debiased_ : matplotlib Line2D
        The debiased errors.
    null_ : matplotlib artist
        Where the plug-in error of a perfectly calibrated model would fall.
    selected_ : matplotlib Line2D or None
        The bin size that `select_bin_size` chooses.
    interval_ : matplotlib artist or None
        The intervals of the debiased errors, against sample size.
    truth_ : matplotlib Line2D or None
        The true error.

    See Also
    --------
    bin_size_curve : The numbers against bin size.
    sample_size_curve : The numbers against sample size.

    Examples
    --------
    >>> from sklearn_calib import BinSizeDisplay
    >>> from sklearn_calib.datasets import make_queries
    >>> sample = make_queries(3000, distortion="slope", random_state=0)
    >>> display = BinSizeDisplay.from_predictions(sample.y_true, sample.y_prob)
    >>> display.ax_.get_xlabel()
    'Bin size (queries)'
    """

    figure_: Figure | SubFigure
    ax_: Axes
    plug_in_: Line2D
    debiased_: Line2D
    null_: Collection
    selected_: Line2D | None
    interval_: Collection | None
    truth_: Line2D | None

    def __init__(self, curve: BinSizeCurve | SampleSizeCurve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    def to_frame(self) -> DataFrame:
        """Return the errors as a pandas DataFrame, one row per size."""
        return self.curve.to_frame()

    def _summary(self) -> str:
        curve = self.curve
        if isinstance(curve, BinSizeCurve):
            text = f"calibration error in bins of {len(curve.bin_size)} sizes"
        else:
            text = f"calibration error of samples of {len(curve.sample_size)} sizes"
        return text if self.name is None else f"{self.name}, {text}"

    @known_keywords()
    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        truth: float | None = None,
        legend: bool = True,
        despine: bool = False,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the errors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            Name in the legend; by default the stored one.
        truth : float, default=None
            The true error, where it is known; drawn as a line.
        legend : bool, default=True
            Draw a legend.
        despine : bool, default=False
            Remove the top and right spines.
        curve_kwargs : dict, default=None
            Keywords for `Axes.plot` of both lines.

        Returns
        -------
        BinSizeDisplay
            The object itself, with the artists as attributes.
        """
        self.figure_, self.ax_ = new_axes(ax, figsize=(6.4, 4.2))
        ax, curve = self.ax_, self.curve
        sizes = isinstance(curve, BinSizeCurve)
        x = curve.bin_size if isinstance(curve, BinSizeCurve) else curve.sample_size
        against = "Bin size" if sizes else "Sample size"
        others = drawings_on(ax, SizeDrawing)
        for other in others:
            if other.against != against:
                raise ValueError(
                    f"These axes show errors against {other.against.lower()}, not against "
                    f"{against.lower()}; draw on other axes."
                )
        taken = [colour for other in others for colour in other.colours]
        first, second = free_colours(taken, 2)
        name = self.name if name is None else name
        start = "" if name is None else f"{plain_text(name)}: "
        style: dict[str, Any] = {"marker": "o", "markersize": 3.5, "linewidth": 1.3}
        style |= line_options(curve_kwargs)
        (self.plug_in_,) = ax.plot(
            x, curve.error, **{"color": second, "label": f"{start}plug-in error", **style}
        )
        (self.debiased_,) = ax.plot(
            x, curve.debiased_error,
            **{"color": first, "label": f"{start}debiased error", **style},
        )  # fmt: skip
        debiased, plug_in = self.debiased_.get_color(), self.plug_in_.get_color()
        remember(self.debiased_, SizeDrawing(against, (debiased, plug_in)))
        # The shades of a second display need no words of their own: their colours tell.
        level = percent(curve.confidence_level)
        low, high = curve.null_interval
        self.null_ = draw_band(
            ax, x, low, high, color=plug_in, alpha=0.2, zorder=0,
            label=None if others else f"plug-in error if calibrated ({level})",
        )  # fmt: skip
        self.selected_ = self.interval_ = None
        if isinstance(curve, BinSizeCurve):
            self.selected_ = ax.axvline(
                curve.selected, color=debiased, linestyle=":", linewidth=1.5,
                label=f"{start}selected by select_bin_size: {curve.selected:g}",
            )  # fmt: skip
        else:
            bounds = curve.confidence_interval
            self.interval_ = ax.vlines(
                x, bounds.low, bounds.high, color=debiased, linewidth=1,
                label="_interval" if others else f"{level} interval",
            )  # fmt: skip
        self.truth_ = None
        if truth is not None:
            self.truth_ = ax.axhline(
                truth, color=debiased, linestyle="--", linewidth=1, label=f"{start}true error"
            )
        ax.set_xscale("log")
        ax.set(xlabel=f"{against} (queries)", ylabel="Calibration error")
        # The axis begins at no error, and holds all that is drawn on it.
        ax.update_datalim([(x[0], 0.0)])
        ax.autoscale_view()
        if legend:
            ax.legend(fontsize="small")
        if despine:
            despine_axes(ax)
        return self

    @classmethod
    @known_keywords("plot")
    def from_queries(
        cls,
        queries: Queries | QueryScan,
        *,
        against: str = "bin_size",
        bin_sizes: ArrayLike | None = None,
        sample_sizes: ArrayLike | None = None,
        confidence_level: float = 0.95,
        random_state: RandomState = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the errors of queries.

        Parameters
        ----------
        queries : Queries or QueryScan
            What to draw.
        against : {"bin_size", "sample_size"}, default="bin_size"
            What the error is drawn against.
        bin_sizes : array-like of int, default=None
            As in `bin_size_curve`; only against bin size.
        sample_sizes : array-like of int, default=None
            As in `sample_size_curve`; only against sample size.
        confidence_level : float, default=0.95
            Level of the band and the intervals.
        random_state : int, RandomState, Generator or None, default=None
            Seed of the subsamples; only against sample size.
        name : str, default=None
            Name in the legend.
        ax : matplotlib Axes, default=None
            Where to draw.
        **plot_options
            Further keywords of `plot`.

        Returns
        -------
        BinSizeDisplay
            The drawn display.
        """
        pyplot()
        check_option(against, "against", ("bin_size", "sample_size"))
        curve: BinSizeCurve | SampleSizeCurve
        if against == "bin_size":
            _refuse(against, sample_sizes=sample_sizes, random_state=random_state)
            curve = bin_size_curve(queries, bin_sizes=bin_sizes, confidence_level=confidence_level)
        else:
            rows = as_queries(queries)
            _refuse(against, bin_sizes=bin_sizes, sample_weight=rows.sample_weight)
            curve = sample_size_curve(
                rows, sample_sizes=sample_sizes, confidence_level=confidence_level,
                random_state=random_state,
            )  # fmt: skip
        return cls(curve, name=name).plot(ax=ax, **plot_options)


def _refuse(against: str, **options: object) -> None:
    """Refuse options that have no meaning for what the error is drawn against."""
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"{name} has no meaning with against={against!r}.")
