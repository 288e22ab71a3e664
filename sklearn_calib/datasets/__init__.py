"""Data with a known truth, and loaders."""

from sklearn_calib.datasets._queries import SimulatedQueries, make_queries
from sklearn_calib.datasets._simulated_tags import TaggedSequences, make_tagged_sequences

__all__ = ["SimulatedQueries", "TaggedSequences", "make_queries", "make_tagged_sequences"]
