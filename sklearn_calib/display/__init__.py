"""Displays: they store results and draw them."""

from sklearn_calib.display._bin_size import BinSizeDisplay
from sklearn_calib.display._calibration import AdaptiveCalibrationDisplay
from sklearn_calib.display._counts import CountDisplay
from sklearn_calib.display._labels import LabelCalibrationDisplay

__all__ = [
    "AdaptiveCalibrationDisplay",
    "BinSizeDisplay",
    "CountDisplay",
    "LabelCalibrationDisplay",
]
