"""Data with a known truth, and loaders."""

from sklearn_calib.datasets._queries import SimulatedQueries, make_queries
from sklearn_calib.datasets._simulated_tags import TaggedSequences, make_tagged_sequences
from sklearn_calib.datasets._tagged import (
    TaggedCorpus,
    load_ark_tweets,
    load_conll2000,
    load_ud_ewt,
)
from sklearn_calib.datasets._tweets import TweetCorpus, load_sentiment140

__all__ = [
    "SimulatedQueries",
    "TaggedCorpus",
    "TaggedSequences",
    "TweetCorpus",
    "load_ark_tweets",
    "load_conll2000",
    "load_sentiment140",
    "load_ud_ewt",
    "make_queries",
    "make_tagged_sequences",
]
