"""A report on predictions: from Python, and from the command line for people without a notebook."""

from sklearn_calib.report._report import Report, calibration_report

__all__ = ["Report", "calibration_report"]
