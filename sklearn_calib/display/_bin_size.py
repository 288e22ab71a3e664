"""How much the bin size and the sample size matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_calib._results import percent
from sklearn_calib._validation import check_option
from sklearn_calib.display._matplotlib import (
    COLOURS,
    despine_axes,
    line_options,
    new_axes,
    pyplot,
)
from sklearn_calib.metrics import BinSizeCurve, SampleSizeCurve, bin_size_curve, sample_size_curve

__all__ = ["BinSizeDisplay"]


class BinSizeDisplay:
    """Calibration error against bin size, or against sample size.

    It is recommended to use `from_predictions`.

    Parameters
    ----------
    curve : BinSizeCurve or SampleSizeCurve
        The numbers.

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
        The automatic choice of the bin size.
    interval_ : matplotlib artist or None
        The intervals of the debiased errors, against sample size.

    See Also
    --------
    bin_size_curve : The numbers against bin size.
    sample_size_curve : The numbers against sample size.

    Examples
    --------
    >>> from sklearn_calib import BinSizeDisplay, make_queries
    >>> sample = make_queries(3000, distortion="slope", random_state=0)
    >>> display = BinSizeDisplay.from_predictions(sample.y_true, sample.y_prob)
    >>> display.ax_.get_xlabel()
    'Bin size (queries)'
    """

    def __init__(self, curve: BinSizeCurve | SampleSizeCurve) -> None:
        self.curve = curve

    def plot(
        self,
        ax: Any = None,
        *,
        truth: float | None = None,
        legend: bool = True,
        despine: bool = False,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> BinSizeDisplay:
        """Draw the errors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
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
        by_size = isinstance(curve, BinSizeCurve)
        x = curve.bin_size if isinstance(curve, BinSizeCurve) else curve.sample_size
        style = {"marker": "o", "markersize": 3.5, "linewidth": 1.3}
        style |= line_options(curve_kwargs)
        low, high = curve.null_interval
        self.null_ = ax.fill_between(
            x, low, high, color="0.5", alpha=0.3, linewidth=0,
            label=f"plug-in error of a calibrated model ({percent(curve.confidence_level)})",
        )  # fmt: skip
        (self.plug_in_,) = ax.plot(
            x, curve.error, **{"color": COLOURS[1], "label": "plug-in error", **style}
        )
        (self.debiased_,) = ax.plot(
            x, curve.debiased_error, **{"color": COLOURS[0], "label": "debiased error", **style}
        )
        self.selected_ = self.interval_ = None
        if isinstance(curve, BinSizeCurve):
            self.selected_ = ax.axvline(
                curve.selected, color=COLOURS[3], linestyle=":", linewidth=1.5,
                label=f'bin_size="auto": {curve.selected:g}',
            )  # fmt: skip
        else:
            bounds = curve.confidence_interval
            self.interval_ = ax.vlines(x, bounds.low, bounds.high, color=COLOURS[0], linewidth=1)
        if truth is not None:
            ax.axhline(truth, color="black", linestyle="--", linewidth=1, label="true error")
        ax.set_xscale("log")
        ax.set(
            xlabel="Bin size (queries)" if by_size else "Sample size (queries)",
            ylabel="Calibration error",
        )
        tops = [curve.error, curve.debiased_error, high]
        if isinstance(curve, SampleSizeCurve):
            tops.append(curve.confidence_interval.high)
        top = np.nanmax(np.concatenate(tops))
        ax.set_ylim(-0.02 * top, 1.08 * top)
        if legend:
            ax.legend(fontsize="small")
        if despine:
            despine_axes(ax)
        return self

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any = None,
        *,
        against: str = "bin_size",
        bin_sizes: Any = None,
        sample_sizes: Any = None,
        confidence_level: float = 0.95,
        sample_weight: Any = None,
        pos_label: Any = None,
        random_state: Any = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> BinSizeDisplay:
        """Draw the errors of given predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_queries,) or Queries
            Binary labels, or queries in place of both arrays.
        y_prob : array-like of shape (n_queries,)
            Predicted probabilities.
        against : {"bin_size", "sample_size"}, default="bin_size"
            What the error is drawn against.
        bin_sizes : array-like of int, default=None
            As in `bin_size_curve`.
        sample_sizes : array-like of int, default=None
            As in `sample_size_curve`.
        confidence_level : float, default=0.95
            Level of the band and the intervals.
        sample_weight : array-like of shape (n_queries,), default=None
            Non-negative weights; only against bin size.
        pos_label : object, default=None
            The label whose probability `y_prob` gives.
        random_state : int, RandomState, Generator or None, default=None
            Seed of the subsamples, against sample size.
        ax : matplotlib Axes, default=None
            Where to draw.
        **plot_options
            Keywords of `plot`.

        Returns
        -------
        BinSizeDisplay
            The drawn display.
        """
        pyplot()
        check_option(against, "against", ("bin_size", "sample_size"))
        curve: BinSizeCurve | SampleSizeCurve
        if against == "bin_size":
            curve = bin_size_curve(
                y_true, y_prob, bin_sizes, confidence_level=confidence_level,
                sample_weight=sample_weight, pos_label=pos_label,
            )  # fmt: skip
        else:
            if sample_weight is not None:
                raise ValueError("sample_weight has no meaning for subsamples of the queries.")
            curve = sample_size_curve(
                y_true, y_prob, sample_sizes, confidence_level=confidence_level,
                pos_label=pos_label, random_state=random_state,
            )  # fmt: skip
        return cls(curve).plot(ax=ax, **plot_options)
