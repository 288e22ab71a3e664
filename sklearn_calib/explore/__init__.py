"""Explore a corpus: rules, counts and their posterior."""

from sklearn_calib.explore._agents import AgentRule
from sklearn_calib.explore._corpus import count_corpus
from sklearn_calib.explore._count import count_documents, rule_queries
from sklearn_calib.explore._difference import CountDifference
from sklearn_calib.explore._lexicon import Lexicon, LexiconMatch, country_lexicon
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._tags import count_tags
from sklearn_calib.explore._uncertain import SkippedDocument, UncertainDocument

__all__ = [
    "AgentRule",
    "CountDifference",
    "CountPosterior",
    "Lexicon",
    "LexiconMatch",
    "SkippedDocument",
    "UncertainDocument",
    "count_corpus",
    "count_documents",
    "count_tags",
    "country_lexicon",
    "rule_queries",
]
