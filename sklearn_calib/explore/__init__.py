"""Explore a corpus: rules, counts and their posterior."""

from sklearn_calib.explore._agent_rule import AgentRule
from sklearn_calib.explore._corrected import CorrectedPosterior
from sklearn_calib.explore._correction_summary import CorrectionSummary
from sklearn_calib.explore._count_corpus import count_corpus
from sklearn_calib.explore._count_documents import count_documents
from sklearn_calib.explore._count_spans import SpanCounts, count_spans
from sklearn_calib.explore._count_tags import count_tags
from sklearn_calib.explore._counts_from_probabilities import counts_from_probabilities
from sklearn_calib.explore._difference import CountDifference
from sklearn_calib.explore._documents import SkippedDocument, UncertainDocument
from sklearn_calib.explore._expected_width import ExpectedWidth
from sklearn_calib.explore._lexicon import Lexicon, LexiconMatch, country_lexicon
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._reading_plan import ReadingPlan, reading_plan
from sklearn_calib.explore._rule_match import RuleMatch
from sklearn_calib.explore._rule_queries import rule_queries

__all__ = [
    "AgentRule",
    "CorrectedPosterior",
    "CorrectionSummary",
    "CountDifference",
    "CountPosterior",
    "ExpectedWidth",
    "Lexicon",
    "LexiconMatch",
    "ReadingPlan",
    "RuleMatch",
    "SkippedDocument",
    "SpanCounts",
    "UncertainDocument",
    "count_corpus",
    "count_documents",
    "count_spans",
    "count_tags",
    "country_lexicon",
    "counts_from_probabilities",
    "reading_plan",
    "rule_queries",
]
