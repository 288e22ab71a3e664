"""Displays: they store results and draw them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sklearn_calib.display._bin_size import BinSizeDisplay
from sklearn_calib.display._calibration import AdaptiveCalibrationDisplay
from sklearn_calib.display._counts import CountDisplay
from sklearn_calib.display._labels import LabelCalibrationDisplay
from sklearn_calib.explore import CountPosterior
from sklearn_calib.metrics import (
    BinSizeCurve,
    CalibrationBand,
    CalibrationBins,
    CalibrationCurve,
    CalibrationErrorResult,
    LabelCalibration,
    SampleSizeCurve,
)
from sklearn_calib.metrics._bins import join_bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "AdaptiveCalibrationDisplay",
    "BinSizeDisplay",
    "CountDisplay",
    "LabelCalibrationDisplay",
]

Display = AdaptiveCalibrationDisplay | BinSizeDisplay | CountDisplay | LabelCalibrationDisplay


def _display_error(result: CalibrationErrorResult) -> AdaptiveCalibrationDisplay:
    return AdaptiveCalibrationDisplay(
        join_bins(result.bins), result=result, confidence_level=result.confidence_level
    )


def _display_curve(curve: CalibrationCurve) -> AdaptiveCalibrationDisplay:
    return AdaptiveCalibrationDisplay(curve=curve)


def _display_band(band: CalibrationBand) -> AdaptiveCalibrationDisplay:
    return AdaptiveCalibrationDisplay(band=band)


# How each result that has a picture becomes a display.
_MAKERS: dict[type, Callable[[Any], Any]] = {
    BinSizeCurve: BinSizeDisplay,
    CalibrationBand: _display_band,
    CalibrationBins: AdaptiveCalibrationDisplay,
    CalibrationCurve: _display_curve,
    CalibrationErrorResult: _display_error,
    LabelCalibration: LabelCalibrationDisplay,
    SampleSizeCurve: BinSizeDisplay,
}


def draw(result: object, ax: Axes | None = None, **options: Any) -> Display:
    """Draw a result; this is what its `plot` calls.

    Parameters
    ----------
    result : CalibrationBins, CalibrationErrorResult, LabelCalibration, CountPosterior, ...
        Any result that has a picture. The many narrow bins behind an interval
        are joined to as many as a calibration curve has.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    **options
        Further keywords of the display's `plot`, or for counts of
        `CountDisplay.from_posterior`.

    Returns
    -------
    display
        The drawn display.
    """
    if isinstance(result, CountPosterior):
        return CountDisplay.from_posterior(result, ax=ax, **options)
    for kind, make in _MAKERS.items():
        if isinstance(result, kind):
            return make(result).plot(ax=ax, **options)
    names = ", ".join(sorted(kind.__name__ for kind in (*_MAKERS, CountPosterior)))
    raise TypeError(f"There is no picture of a {type(result).__name__}; there is one of {names}.")
