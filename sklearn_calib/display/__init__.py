"""Displays: they store results and draw them."""

from collections.abc import Callable
from typing import Any

from sklearn_calib.display._bin_size import BinSizeDisplay
from sklearn_calib.display._calibration import AdaptiveCalibrationDisplay
from sklearn_calib.display._counts import CountDisplay
from sklearn_calib.display._labels import LabelCalibrationDisplay
from sklearn_calib.explore import CountPosterior

__all__ = [
    "AdaptiveCalibrationDisplay",
    "BinSizeDisplay",
    "CountDisplay",
    "LabelCalibrationDisplay",
]

# How each result is drawn.
_DISPLAYS: dict[type, Callable[..., Any]] = {CountPosterior: CountDisplay.from_posterior}


def draw(result: Any, ax: Any = None, **options: Any) -> Any:
    """Draw a result; `PlottedResult.plot` calls this."""
    return _DISPLAYS[type(result)](result, ax=ax, **options)
