"""Queries, and how the predictions of models become queries."""

from sklearn_calib.queries._classifier import classifier_queries
from sklearn_calib.queries._cross_val_scan import cross_val_scan
from sklearn_calib.queries._entities import EntityQuestions
from sklearn_calib.queries._estimator import estimator_queries, fold_queries
from sklearn_calib.queries._estimator_scan import scan_estimator
from sklearn_calib.queries._links import LinkQuestions, link_queries
from sklearn_calib.queries._predict_in_batches import predict_in_batches
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan, scan_queries
from sklearn_calib.queries._spans import SpanQuestions, span_queries
from sklearn_calib.queries._tags import TagQuestions, tag_queries

__all__ = [
    "EntityQuestions",
    "LinkQuestions",
    "Queries",
    "QueryScan",
    "SpanQuestions",
    "TagQuestions",
    "classifier_queries",
    "cross_val_scan",
    "estimator_queries",
    "fold_queries",
    "link_queries",
    "predict_in_batches",
    "scan_estimator",
    "scan_queries",
    "span_queries",
    "tag_queries",
]
