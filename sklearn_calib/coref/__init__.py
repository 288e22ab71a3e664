"""Coreference: documents, link probabilities, sampled entities and the antecedent model."""

from sklearn_calib.coref._document import Document

__all__ = ["Document"]
