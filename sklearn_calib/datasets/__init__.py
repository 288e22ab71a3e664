"""Data with a known truth, and loaders."""

from sklearn_calib.datasets._queries import SimulatedQueries, make_queries

__all__ = ["SimulatedQueries", "make_queries"]
