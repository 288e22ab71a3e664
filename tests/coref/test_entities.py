"""Entities with probabilities, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.coref import Entity, entity_probability, link_probabilities
from sklearn_calib.coref._entities import likely_entities
from tests.coref.antecedents import enumerated_entities, random_proba

SEEDS = st.integers(0, 2**32 - 1)


@given(n=st.integers(1, 6), seed=SEEDS, spread=st.sampled_from([0.1, 1, 5]))
@settings(max_examples=40, deadline=None)
def test_every_entity_equals_enumeration(n, seed, spread):
    proba = random_proba(n, seed, spread)
    for mentions, expected in enumerated_entities(proba).items():
        found = entity_probability(proba, mentions)
        assert found == pytest.approx(expected, rel=0, abs=1e-12)


@given(
    n=st.integers(1, 6),
    seed=SEEDS,
    spread=st.sampled_from([0.1, 1, 5]),
    least=st.sampled_from([1e-9, 0.01, 0.3]),
)
@settings(max_examples=40, deadline=None)
def test_all_probable_entities_are_found(n, seed, spread, least):
    proba = random_proba(n, seed, spread)
    expected = enumerated_entities(proba)
    found = {entity.mentions: entity.proba for entity in likely_entities(proba, least)}
    for mentions, p in expected.items():
        # On the threshold itself rounding may decide.
        if abs(p - least) > 1e-12:
            assert (mentions in found) == (p >= least)
    for mentions, p in found.items():
        assert p == pytest.approx(expected[mentions], rel=0, abs=1e-12)


def test_entities_are_ordered_and_sum_to_one_for_each_mention():
    proba = random_proba(7, seed=3)
    found = likely_entities(proba, 1e-12)
    assert [entity.proba for entity in found] == sorted((e.proba for e in found), reverse=True)
    for mention in range(7):
        total = sum(entity.proba for entity in found if mention in entity.mentions)
        assert total == pytest.approx(1.0, abs=1e-9)
    # Two mentions share an entity if some entity holds both.
    both = sum(entity.proba for entity in found if {2, 5} <= set(entity.mentions))
    assert both == pytest.approx(link_probabilities(proba)[2, 5], abs=1e-9)


def test_from_one_half_on_entities_do_not_overlap():
    found = likely_entities(random_proba(20, seed=1, spread=20.0, window=4), 0.5)
    mentions = [mention for entity in found for mention in entity.mentions]
    assert len(mentions) == len(set(mentions)) > 10


def test_certain_choices():
    proba = np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 0, 1.0]])
    assert likely_entities(proba, 0.01) == [Entity((0, 1), 1.0), Entity((2,), 1.0)]
    assert entity_probability(proba, [1, 0]) == 1.0
    assert entity_probability(proba, [0]) == 0.0
    assert likely_entities(np.empty((0, 0)), 0.01) == []


@pytest.mark.parametrize(
    ("mentions", "message"),
    [
        ([], "one mention or more"),
        ([0.5], "numbers of one mention or more"),
        ([0, 2], "mentions has 2, but the 2 mentions are numbered from 0"),
        ([-1], "mentions has -1"),
        ([1, 1], r"names a mention twice: \[1, 1\]"),
    ],
)
def test_bad_mentions(mentions, message):
    with pytest.raises(ValueError, match=message):
        entity_probability([[1.0, 0.0], [0.5, 0.5]], mentions)
