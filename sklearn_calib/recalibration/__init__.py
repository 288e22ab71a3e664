"""Recalibration of models with structure: taggers and coreference."""

from sklearn_calib.recalibration._calibrated_structure import CalibratedStructureCV

__all__ = ["CalibratedStructureCV"]
