"""Coreference: documents, link probabilities, sampled entities and the antecedent model."""

from sklearn_calib.coref._adapters import (
    document_from_spacy,
    document_from_stanza,
    find_mentions,
)
from sklearn_calib.coref._conll2012 import read_conll2012
from sklearn_calib.coref._conllu import read_conllu
from sklearn_calib.coref._document import Document

__all__ = [
    "Document",
    "document_from_spacy",
    "document_from_stanza",
    "find_mentions",
    "read_conll2012",
    "read_conllu",
]
