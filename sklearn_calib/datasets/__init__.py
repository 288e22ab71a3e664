"""Data with a known truth, and loaders."""

from sklearn_calib.datasets._document_corpora import (
    DocumentCorpus,
    load_amalgum_news,
    load_gum,
    load_litbank,
)
from sklearn_calib.datasets._make_chunked_sequences import make_chunked_sequences
from sklearn_calib.datasets._make_coref_documents import SimulatedDocuments, make_coref_documents
from sklearn_calib.datasets._make_event_corpus import EventCorpus, make_event_corpus
from sklearn_calib.datasets._make_queries import SimulatedQueries, make_queries
from sklearn_calib.datasets._make_tagged_sequences import TaggedSequences, make_tagged_sequences
from sklearn_calib.datasets._sentiment140 import TweetCorpus, load_sentiment140
from sklearn_calib.datasets._tagged_corpora import (
    TaggedCorpus,
    load_ark_tweets,
    load_conll2000,
    load_ud_ewt,
)
from sklearn_calib.datasets._wikinews import NewsCorpus, load_wikinews

__all__ = [
    "DocumentCorpus",
    "EventCorpus",
    "NewsCorpus",
    "SimulatedDocuments",
    "SimulatedQueries",
    "TaggedCorpus",
    "TaggedSequences",
    "TweetCorpus",
    "load_amalgum_news",
    "load_ark_tweets",
    "load_conll2000",
    "load_gum",
    "load_litbank",
    "load_sentiment140",
    "load_ud_ewt",
    "load_wikinews",
    "make_chunked_sequences",
    "make_coref_documents",
    "make_event_corpus",
    "make_queries",
    "make_tagged_sequences",
]
