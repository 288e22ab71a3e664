"""Displays: they store results and draw them."""

from sklearn_calib.display._calibration import AdaptiveCalibrationDisplay

__all__ = ["AdaptiveCalibrationDisplay"]
