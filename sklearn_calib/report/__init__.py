"""A report on a file of predictions, for people without a notebook."""

from sklearn_calib.report._command import main

__all__ = ["main"]
