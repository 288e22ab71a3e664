"""Coreference: documents, link probabilities, sampled entities and the antecedent model."""

from sklearn_calib.coref._align_mentions import align_mentions, transfer_entities
from sklearn_calib.coref._antecedent_model import AntecedentModel
from sklearn_calib.coref._antecedent_scores import antecedent_proba_from_scores
from sklearn_calib.coref._clusters import (
    SampledLinks,
    link_probabilities,
    sample_entities,
    sampled_link_probabilities,
)
from sklearn_calib.coref._conll2012 import read_conll2012
from sklearn_calib.coref._conllu import read_conllu
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._entities import Entity, entity_probability
from sklearn_calib.coref._extended_features import extended_features
from sklearn_calib.coref._find_mentions import find_mentions
from sklearn_calib.coref._model_file import load_antecedent_model, save_antecedent_model
from sklearn_calib.coref._parse_texts import parse_texts
from sklearn_calib.coref._parsers import document_from_spacy, document_from_stanza
from sklearn_calib.coref._score_ranker import ScoreRanker
from sklearn_calib.coref._scores import (
    BlancScore,
    CoreferenceScores,
    PrecisionRecall,
    coreference_scores,
)
from sklearn_calib.coref._surface_features import MentionFeatures, surface_features
from sklearn_calib.coref._text_readers import read_jsonl, read_text_folder
from sklearn_calib.coref._write_conllu import write_conllu

__all__ = [
    "AntecedentModel",
    "BlancScore",
    "CoreferenceScores",
    "Document",
    "Entity",
    "MentionFeatures",
    "PrecisionRecall",
    "SampledLinks",
    "ScoreRanker",
    "align_mentions",
    "antecedent_proba_from_scores",
    "coreference_scores",
    "document_from_spacy",
    "document_from_stanza",
    "entity_probability",
    "extended_features",
    "find_mentions",
    "link_probabilities",
    "load_antecedent_model",
    "parse_texts",
    "read_conll2012",
    "read_conllu",
    "read_jsonl",
    "read_text_folder",
    "sample_entities",
    "sampled_link_probabilities",
    "save_antecedent_model",
    "surface_features",
    "transfer_entities",
    "write_conllu",
]
