"""Answers drawn from the predictions, at the cost of those that go against them."""

import numpy as np
import pytest

from sklearn_calib.metrics._inference._surprises import draw_surprises, expected_surprises


def test_each_query_is_surprised_as_often_as_it_should():
    rng = np.random.default_rng(0)
    q = np.array([0.0, 0.001, 0.02, 0.3, 0.5, 0.8, 0.999, 1.0])
    hits, draws = np.zeros((20_000, len(q)), dtype=int), 0
    for size, row, column in draw_surprises(q, 20_000, rng):
        np.add.at(hits, (draws + row, column), 1)
        draws += size
    assert draws == 20_000
    assert hits.max() == 1
    chance = np.minimum(q, 1 - q)
    se = np.sqrt(chance * (1 - chance) / draws)
    assert (np.abs(hits.mean(axis=0) - chance) <= 4 * se).all()
    # Queries are drawn on their own.
    assert abs(np.corrcoef(hits[:, 3], hits[:, 4])[0, 1]) < 0.03
    assert expected_surprises(q) == pytest.approx(chance.sum())


def test_rare_events_fall_on_distinct_draws():
    rng = np.random.default_rng(1)
    for _, row, column in draw_surprises(np.full(50, 0.02), 500, rng):
        assert len(set(zip(row.tolist(), column.tolist(), strict=True))) == len(row)
