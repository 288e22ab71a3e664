"""Queries about a rule: its probabilities are right if the model's are."""

import numpy as np
import pytest

from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, country_lexicon, rule_queries
from tests.explore.pairs import document, linked, samples

RULE = AgentRule(country_lexicon())


def test_rule_queries():
    docs = [document("a", entities=[0, 0]), document("b", entities=[0, 1])]
    queries = rule_queries(docs, [samples(0.3), samples(0.0)], linked)
    assert queries.y_prob.tolist() == [30.5 / 101]
    assert queries.y_true.tolist() == [True]
    every = rule_queries(docs, [samples(0.3), samples(0.0)], linked, keys=["yes"])
    assert every.y_true.tolist() == [True, False]
    assert every.y_prob.tolist() == [30.5 / 101, 0.5 / 101]
    # What is asked does not depend on the answer.
    missed = [docs[0].replace(id="c"), docs[0]]
    assert len(rule_queries(missed, [samples(0.0), samples(0.3)], linked)) == 1
    with pytest.raises(ValueError, match="'d' has no entities"):
        rule_queries([document()], [samples(0.3)], linked)
    with pytest.raises(ValueError, match="no queries"):
        rule_queries(docs[1:], [samples(0.0)], linked)


def test_queries_of_a_model_that_knows_are_calibrated_at_the_ends():
    # 2,000 documents, 100 samples: the events that all samples have, or one of them. Shares of
    # samples as they are would promise that the former cannot fail.
    corpus = make_event_corpus(2000, random_state=0)
    drawn = corpus.model.sample(corpus.X, 100, random_state=0)
    queries = rule_queries(corpus.X, drawn, AgentRule(country_lexicon()))
    assert 0.0 < queries.y_prob.min() < queries.y_prob.max() < 1.0
    for end in (queries.y_prob.max(), queries.y_prob.min()):
        chosen = queries.y_prob == end
        assert chosen.sum() > 30
        slack = 3 * np.sqrt(end * (1 - end) / chosen.sum())
        assert abs(queries.y_true[chosen].mean() - end) < slack


def test_rule_of_a_model_that_knows_is_calibrated():
    corpus = make_event_corpus(500, random_state=5)
    samples = corpus.model.sample(corpus.X, 200, random_state=5)
    queries = rule_queries(corpus.X, samples, RULE)
    gap = queries.y_prob - queries.y_true
    assert abs(gap.mean()) < 3 * gap.std() / np.sqrt(len(gap))
