"""Recursions in log space: the slow way that never loses a path."""

import numpy as np
import pytest

from sklearn_calib.sequence import forward_backward
from sklearn_calib.sequence._log_recursions import log_backward, log_forward, softmax
from tests.sequence.chains import long_chains, sequences


def test_long_sequences_equal_log_space():
    potentials, transitions, lengths = long_chains()
    result = forward_backward(potentials, transitions, lengths)
    for i, (part, proba) in enumerate(
        zip(sequences(potentials, lengths), sequences(result.proba, lengths), strict=True)
    ):
        alpha, log_z = log_forward(part, transitions, i)
        expected = [softmax(row) for row in alpha + log_backward(part, transitions)]
        np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(result.log_normalizer[i], log_z, rtol=1e-13)


@pytest.mark.parametrize("size", [1.0, 1e4, 1e6])
def test_log_space_keeps_its_digits_in_long_sentences(size):
    # A forbidden transition and two large scores send the sentence to log space.
    rng = np.random.default_rng(0)
    potentials = rng.normal(size=(5000, 3)) + size * rng.normal(size=(5000, 1))
    potentials[2000, 0] = potentials[2000].max() - 700.0
    transitions = rng.normal(size=(3, 3))
    transitions[0, 1] = -np.inf
    result = forward_backward(potentials, transitions, pairs="all")
    pairs = result.pair_proba.reshape(-1, 3, 3)
    # A score of 1e6 itself has ten digits after the point.
    tolerance = max(1e-12, 1e-15 * size)
    np.testing.assert_allclose(pairs.sum(axis=(1, 2)), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(pairs.sum(axis=1), result.proba[1:], rtol=0, atol=tolerance)
    np.testing.assert_allclose(pairs.sum(axis=2), result.proba[:-1], rtol=0, atol=tolerance)
