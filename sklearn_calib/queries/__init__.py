"""Queries, and how the predictions of models become queries."""

from sklearn_calib.queries._classifier import AVERAGES, classifier_queries
from sklearn_calib.queries._links import LinkQuestions, link_queries
from sklearn_calib.queries._options import check_query_options
from sklearn_calib.queries._queries import Queries, as_queries
from sklearn_calib.queries._tags import UNITS, TagQuestions, tag_queries

__all__ = [
    "AVERAGES",
    "UNITS",
    "LinkQuestions",
    "Queries",
    "TagQuestions",
    "as_queries",
    "check_query_options",
    "classifier_queries",
    "link_queries",
    "tag_queries",
]
