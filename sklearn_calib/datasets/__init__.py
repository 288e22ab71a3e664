"""Data with a known truth, and loaders."""

from sklearn_calib.datasets._events import EventCorpus, make_event_corpus
from sklearn_calib.datasets._queries import SimulatedQueries, make_queries

__all__ = ["EventCorpus", "SimulatedQueries", "make_event_corpus", "make_queries"]
